"""How well headings are found in PDFs whose bookmarks were removed, and how fast.

Reads ``pdf_headings/`` under ``LOCCIT_EVAL_DIR`` (default ``../shared/eval``): PDF files, and ``headings.json``
with the bookmarks they had (level, title, page counted from 0, whether the title stands on that page).

A found heading matches a true one when it stands on the same page or the next to it, and the texts, reduced to
lower-case letters and digits, are equal, alike (difflib ratio of .85 or more) or contained one in the other
(the shorter at least five characters and a third of the longer). Each is matched at most once, best texts first.

``recall``     share of the true headings whose title stands on its page that were found
``precision``  share of the found headings that match a true one
``order``      of the pairs of true headings up to ten apart that were both found and whose true levels differ,
               the share whose found levels differ the same way
``parent``     share of the found true headings whose true parent (the nearest true heading before it with a
               smaller level, among those found) is an ancestor of it in the found outline
``equal``      of the neighbouring true headings of the same true level, the share with the same found level.
               Low where bookmarks are flat and numbers are not: `1.1` and `1.1.1` are both level 2 in some files.
``pages/s``    pages converted in a second of processor time, the best of three runs
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import unicodedata
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.common import save
from loccit.model.document import Converted
from loccit.read.pdf import convert_pdf

_WINDOW = 10


@dataclass
class Found:
    level: int
    title: str
    page: int


@dataclass
class Row:
    file: str
    pages: int
    truth: int
    found: int
    matched: int
    recall: float
    precision: float
    order: float
    parent: float
    equal: float
    pages_per_second: float


def normal(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower()))


def headings_of(converted: Converted) -> list[Found]:
    """The ATX headings of converted text, pages counted from 0. The converter writes no fences."""
    starts = list(converted.pages)
    found, page = [], 0
    for match in re.finditer(r"^(#{1,6}) (.+)$", converted.text, re.M):
        while page + 1 < len(starts) and starts[page + 1].offset <= match.start():
            page += 1
        found.append(Found(len(match[1]), match[2], page))
    return found


def likeness(a: str, b: str) -> float:
    if not a or not b:
        return 0.0
    if a == b:
        return 2.0
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    short, long = sorted((a, b), key=len)
    if short in long and len(short) >= 5 and len(short) * 3 >= len(long):
        ratio = max(ratio, 0.9)
    return ratio if ratio >= 0.85 else 0.0


def match(truth: list[dict[str, Any]], found: list[Found]) -> dict[int, int]:
    """True heading to found heading, by position in their lists."""
    left = [normal(h["title"]) for h in truth]
    right = [normal(h.title) for h in found]
    pairs = []
    for i, h in enumerate(truth):
        for j, f in enumerate(found):
            apart = abs(h["page"] - f.page)
            if apart <= 1 and (score := likeness(left[i], right[j])):
                pairs.append((-score, apart, abs(i / len(truth) - j / len(found)), i, j))
    pairs.sort()
    result: dict[int, int] = {}
    used: set[int] = set()
    for *_, i, j in pairs:
        if i not in result and j not in used:
            result[i] = j
            used.add(j)
    return result


def levels(
    truth: list[dict[str, Any]], found: list[Found], matched: dict[int, int]
) -> tuple[float, float, float]:
    """The three measures of level agreement."""
    order = sorted(matched)
    same = differ = equal = pairs_equal = 0
    for n, i in enumerate(order):
        for j in order[n + 1 : n + 1 + _WINDOW]:
            true_step = truth[j]["level"] - truth[i]["level"]
            step = found[matched[j]].level - found[matched[i]].level
            if true_step:
                differ += 1
                same += true_step * step > 0
            elif j == i + 1:
                pairs_equal += 1
                equal += step == 0
    right = 0
    for n, i in enumerate(order):
        parent = next((p for p in reversed(order[:n]) if truth[p]["level"] < truth[i]["level"]), None)
        right += parent is None or matched[parent] in ancestors(found, matched[i])
    return share(same, differ), share(right, len(order)), share(equal, pairs_equal)


def ancestors(found: list[Found], position: int) -> set[int]:
    level, result = found[position].level, set()
    for n in range(position - 1, -1, -1):
        if found[n].level < level:
            result.add(n)
            level = found[n].level
    return result


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def measure(path: Path, truth: list[dict[str, Any]], pages: int, show: bool) -> Row:
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        converted = convert_pdf(path)
        best = min(best, time.process_time() - begun)
    found = headings_of(converted)
    matched = match(truth, found)
    on_page = [i for i, h in enumerate(truth) if h["title_on_page"]]
    hit = sum(1 for i in on_page if i in matched)
    if show:
        used = set(matched.values())
        for i in on_page:
            if i not in matched:
                print(
                    f"  missed p{truth[i]['page']} L{truth[i]['level']} {truth[i]['title']}", file=sys.stderr
                )
        for j, f in enumerate(found):
            if j not in used:
                print(f"  extra  p{f.page} L{f.level} {f.title}", file=sys.stderr)
    order, parent, equal = levels(truth, found, matched)
    return Row(
        path.name, pages, len(on_page), len(found), len(matched), share(hit, len(on_page)),
        share(len(matched), len(found)), order, parent, equal, pages / best,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the headings found in PDFs.")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--show", action="store_true", help="list missed and extra headings on standard error"
    )
    parser.add_argument("--only", default="", help="only files whose name contains this")
    options = parser.parse_args()
    folder = Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval")) / "pdf_headings"
    if not (folder / "headings.json").is_file():
        print(f"skipped: no evaluation set at {folder} (set LOCCIT_EVAL_DIR)", file=sys.stderr)
        return 0
    rows = []
    for entry in json.loads((folder / "headings.json").read_text(encoding="utf-8")):
        if options.only not in entry["file"]:
            continue
        if options.show:
            print(entry["file"], file=sys.stderr)
        path = folder / "docs" / entry["file"]
        rows.append(measure(path, entry["headings"], entry["pages"], options.show))
    total = Row(
        "all", sum(r.pages for r in rows), sum(r.truth for r in rows), sum(r.found for r in rows),
        sum(r.matched for r in rows), share(sum(r.matched for r in rows), sum(r.truth for r in rows)),
        share(sum(r.matched for r in rows), sum(r.found for r in rows)), mean(rows, "order"), mean(rows, "parent"),
        mean(rows, "equal"), sum(r.pages for r in rows) / sum(r.pages / r.pages_per_second for r in rows),
    )  # fmt: skip
    if not options.only:
        save("pdf_headings", {"files": [asdict(r) for r in rows], "all": asdict(total)})
    if options.json:
        print(json.dumps({"files": [asdict(r) for r in rows], "all": asdict(total)}, indent=2))
        return 0
    print(f"{'file':38} pages truth found recall precision order parent equal pages/s")
    for r in [*rows, total]:
        print(
            f"{r.file:38} {r.pages:5} {r.truth:5} {r.found:5} {r.recall:6.1%} {r.precision:9.1%} "
            f"{r.order:5.0%} {r.parent:6.0%} {r.equal:5.0%} {r.pages_per_second:7.0f}"
        )
    return 0


def mean(rows: list[Row], name: str) -> float:
    """Mean over files, weighted by their true headings."""
    total = sum(float(getattr(r, name)) * r.truth for r in rows)
    return total / max(sum(r.truth for r in rows), 1)


if __name__ == "__main__":
    sys.exit(main())
