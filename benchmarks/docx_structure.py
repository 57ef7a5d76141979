"""How much of the structure of real Word files survives conversion.

Reads the Federal Acquisition Regulation set below ``LOCCIT_EVAL_DIR`` (default ``../shared/eval``). Prints
the share of looked-up sections that are headings, the share of those whose parents are right, the share of
paragraphs in a heading or title style that come out as headings, and the time taken.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.common import save
from loccit.read.docx import convert_docx
from loccit.read.docx.package import Package, W

_HEADING = re.compile(r"(#{1,6}) (.+)")
_STYLED = re.compile(r"Title|Heading\d")
_SECTION = re.compile(r"(\d+)\.(\d+?)(\d\d)(?:-(\d+))?$")


def outline(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Level, text and parents of every heading of a converted file."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    stack: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _HEADING.fullmatch(line)
        if match is None:
            continue
        level = len(match[1])
        while stack and stack[-1][0] >= level:
            stack.pop()
        found.append((level, match[2], tuple(title for _, title in stack)))
        stack.append((level, match[2]))
    return found


def expected_parents(label: str) -> list[str]:
    """How the headings above a section begin: ``32.706-2`` stands below 32.706, Subpart 32.7 and Part 32."""
    match = _SECTION.match(label)
    if match is None:
        return []
    part, subpart, rest, dash = match.groups()
    parents = [f"Part {part} "]
    if subpart != "0" and rest:
        parents.append(f"Subpart {part}.{subpart} ")
    if dash:
        parents.append(f"{part}.{subpart}{rest} ")
    return parents


def styled_paragraphs(path: Path) -> list[str]:
    """The texts of paragraphs in a heading or title style, straight from the XML."""
    with Package(path) as package:
        root = package.xml(package.main_part())
    assert root is not None
    texts = []
    for paragraph in root.iter(W + "p"):
        style = paragraph.find(f"{W}pPr/{W}pStyle")
        if style is not None and _STYLED.fullmatch(style.get(W + "val", "")):
            texts.append(normal("".join(text.text or "" for text in paragraph.iter(W + "t"))))
    return [text for text in texts if text]


def normal(text: str) -> str:
    """Text without the differences that do not matter here: white space, hyphens, escapes, quotes."""
    text = text.replace("\u2011", "-").replace("\u00ad", "").replace("\\", "")
    return " ".join(text.replace("’", "'").split())


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({part / whole:.1%})" if whole else "none"


def main() -> int:
    folder = Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval")) / "far"
    if not (folder / "lookups.jsonl").is_file():
        print(f"skipped: no evaluation set at {folder} (set LOCCIT_EVAL_DIR)", file=sys.stderr)
        return 0
    files = sorted((folder / "docs").glob("*.docx"))
    headings: list[tuple[int, str, tuple[str, ...]]] = []
    styled = kept = 0
    seconds = 0.0
    for path in files:
        started = time.perf_counter()
        text = convert_docx(path).text
        seconds += time.perf_counter() - started
        found = outline(text)
        headings.extend(found)
        wanted = Counter(styled_paragraphs(path))
        styled += wanted.total()
        kept += (wanted & Counter(normal(title) for _, title, _ in found)).total()
    by_text = {normal(title): parents for _, title, parents in headings}
    lookups = [
        json.loads(line) for line in (folder / "lookups.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    present = placed = 0
    for lookup in lookups:
        parents = by_text.get(normal(lookup["heading"]))
        if parents is None:
            print(f"not a heading: {lookup['heading']}", file=sys.stderr)
            continue
        present += 1
        if all(
            any(parent.startswith(start) for parent in parents) for start in expected_parents(lookup["label"])
        ):
            placed += 1
        else:
            print(f"misplaced: {lookup['heading']} below {' > '.join(parents)}", file=sys.stderr)
    save(
        "docx_structure",
        {
            "asked": len(lookups),
            "present": present,
            "placed": placed,
            "styled": styled,
            "kept": kept,
            "files": len(files),
            "seconds": seconds,
        },
    )
    print(f"looked-up headings found   {share(present, len(lookups))}")
    print(f"with the right parents     {share(placed, present)}")
    print(f"heading paragraphs kept    {share(kept, styled)}")
    print(f"files, seconds             {len(files)}, {seconds:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
