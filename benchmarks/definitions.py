"""Whether the definitions of real documents are found, each with its own text, and nothing else is.

Reads the sets ``gdpr``, ``chunking`` and ``far`` below ``LOCCIT_EVAL_DIR`` (default ``../shared/eval``). Prints the
share of the GDPR's definitions found, the definitions found in prose (each is printed, to be judged by a reader),
and how many the Federal Acquisition Regulation's Part 2 has.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from benchmarks.common import eval_dir, read_jsonl, save
from loccit.evaluation.judge import is_definition
from loccit.extract.definitions import extract_definitions
from loccit.model import Definition
from loccit.read import convert
from loccit.structure import parse
from loccit.structure.places.tree import build_sections

_PAGE = 3_000  # characters
_FAR_ENTRY = re.compile(r"^\*([^*\n]+?)[,.]?\*", re.MULTILINE)


def definitions_of(path: Path) -> tuple[str, list[Definition], float]:
    _, converted = convert(path)
    parsed = parse(converted)
    sections = build_sections(parsed)
    started = time.perf_counter()
    found = extract_definitions(parsed, sections, path.name)
    return parsed.text, found, time.perf_counter() - started


def gdpr() -> dict[str, Any]:
    folder = eval_dir("gdpr")
    expected = read_jsonl(folder / "definitions.jsonl")
    _, found, seconds = definitions_of(folder / "docs" / "gdpr.md")
    listed = [d for d in found if d.source_section == "sec_4" and d.definition_text.startswith("‘")]
    missed = [
        row["term"]
        for row in expected
        if sum(is_definition(definition, row["term"], row["text"]) for definition in listed) != 1
    ]
    print(f"GDPR Article 4: {len(expected) - len(missed)} of {len(expected)}, missed: {missed or 'none'}")
    return {"expected": len(expected), "missed": missed, "seconds": seconds}


def prose() -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for path in sorted((eval_dir("chunking") / "corpora").glob("*.md")):
        text, found, _ = definitions_of(path)
        pages = len(text) / _PAGE
        per_50 = 50 * len(found) / pages
        rows[path.stem] = {"pages": round(pages), "found": len(found), "per_50_pages": round(per_50, 2)}
        print(f"{path.stem}: {len(found)} in {pages:.0f} pages, {per_50:.2f} per 50")
        for definition in found:
            print(f"    {definition.term}: {' '.join(definition.definition_text.split())[:100]}")
    return rows


def far() -> dict[str, Any]:
    text, found, seconds = definitions_of(eval_dir("far") / "docs" / "Part2.docx")
    terms = {definition.term for definition in found}
    # The contents list before has the same words.
    begin = text.index("# 2.101 Definitions.")
    end = text.index("Subpart 2.2", begin)
    entries = {match[1].strip() for match in _FAR_ENTRY.finditer(text, begin, end)}
    missed = sorted(entries - terms)
    print(
        f"FAR Part 2: {len(found)} definitions; {len(entries)} entries of 2.101, missed: {missed or 'none'}"
    )
    return {"found": len(found), "entries": len(entries), "missed": missed, "seconds": seconds}


def main() -> None:
    save("definitions", {"gdpr": gdpr(), "prose": prose(), "far": far()})


if __name__ == "__main__":
    main()
