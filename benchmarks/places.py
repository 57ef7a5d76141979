"""Are the places of real documents found by their numbers, and cited where they stand?

    python -m benchmarks.places [--kind rfc] [--misses 20] [--most 20] [FOLDER ...]

Reads ``real`` below ``LOCCIT_EVAL_DIR`` and the folders that ``LOCCIT_PLACES_DIRS`` names, separated by colons. A
folder holds one folder of documents a kind, and beside it ``KIND.jsonl``, which says what an independent oracle knows
of them, one place a line: ``doc`` (the file's name) with

- ``label``, and ``line`` or ``text``: a numbered place, and where it begins or what it begins with;
- ``title`` and ``line``: a heading, with or without a label;
- ``label``, ``line`` and ``"place": false``: a number that is no place, such as a step of a list in a manual;
- ``words``: how many words a PDF has.

``kinds.json`` may say of a kind that its oracle is ``complete``: only then entries of the outline that the oracle does
not have are called false. All kinds of a folder are indexed together, without vectors: that is how people mix them.

    reach     asked for by its number, the place is given: its line, or its first words, agree
    titles    headings of the oracle that the outline has
    lines     of all headings of the oracle, those that the outline has at the right line
    false     entries of the outline that are no heading of the oracle, where the oracle is complete
    named     a search for the number and the document's name has the place first
    denied    searches that say there is no such place
    sure      searches whose first result is wrong, at a confidence of .9 or more
    printed   numbers of a Word file that are printed as the oracle prints them
    words     words of PDFs that came through, and files that keep 97 % of theirs
    invented  numbers that are no place, and are given as one
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common import read_jsonl, save
from loccit import Library
from loccit.errors import LoccitError
from loccit.model import Outline, OutlineNode

Row = dict[str, Any]

# Of these the oracle is a parser or the printed contents, whatever a folder says of itself.
COMPLETE = {"rst", "adoc", "rfc"}
_LETTERS = re.compile(r"[A-Za-z]{4,}")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_MARKS = re.compile(r"[*_`\\]")
_MARKDOWN = re.compile(r"[#*_`\\|>\s]")
_SURE = 0.9
_WHOLE = 0.97


@dataclass
class Tally:
    """What was counted for one kind, and examples of what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    misses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def note(self, name: str, good: bool, miss: str = "") -> None:
        """Count one question, and remember it when it failed."""
        self.counts[f"{name} of"] += 1
        self.counts[name] += good
        if not good and miss:
            self.misses[name].append(miss)


def plain(text: str) -> str:
    """Return the words of a text, without marks, signs and case."""
    return re.sub(r"\W+", " ", _MARKS.sub("", text)).strip().lower()


def asked(label: str) -> str:
    """Return how a person asks for a label: a bare number is that of a section."""
    return f"Section {label}" if label[:1].isdigit() else label


def entries(outlines: Iterable[Outline]) -> Iterator[OutlineNode]:
    """Return every entry of the outlines, in the order of the document."""
    waiting = [node for outline in outlines for node in outline.nodes]
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting[:0] = node.children


def agrees(row: Row, first_line: int | None, text: str) -> bool:
    """Say whether something that begins at this line, with this text, is the place of the oracle."""
    if row.get("line"):
        return first_line is not None and abs(first_line - int(row["line"])) <= 1
    return plain(str(row["text"]))[:40] in plain(text)[:260]


def check_words(path: str, text: str, tally: Tally) -> None:
    """Count the words of a PDF that came through; pdfium's own text of the pages says which there are."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    pages = (document[number].get_textpage().get_text_range() for number in range(len(document)))
    want = Counter(word.lower() for page in pages for word in _LETTERS.findall(page.replace("\ufffe", "")))
    have = Counter(word.lower() for word in _LETTERS.findall(text))
    got = (want & have).total()
    tally.counts["words"] += got
    tally.counts["words of"] += want.total()
    tally.note(
        "files",
        got > _WHOLE * want.total() or not want,
        f"{Path(path).name} keeps {got:,} of {want.total():,} words",
    )


def check_printed(name: str, rows: Sequence[Row], text: str, tally: Tally) -> None:
    """Count the numbers of a Word file that stand in front of the paragraphs that the oracle names."""
    lines = [(plain(line), line) for line in text.splitlines() if line.strip()]
    for row in rows:
        key = plain(str(row.get("text", "")))[:36]
        line = next((line for words, line in lines if key and key in words[:120]), None)
        if line is None:
            continue
        label = re.sub(r"\s", "", str(row["label"])).rstrip(".").lower()
        good = _MARKDOWN.sub("", line).lower().startswith(label)
        tally.note("printed", good, f"{name} want {row['label']!r} have {line.strip()[:60]!r}")


def check_outline(
    name: str, rows: Sequence[Row], found: Sequence[OutlineNode], complete: bool, tally: Tally
) -> None:
    """Count the headings of the oracle that the outline has, and the entries of the outline that it has not."""
    titled: dict[str, list[OutlineNode]] = defaultdict(list)
    for node in found:
        titled[plain(node.heading)].append(node)
        titled[plain(f"{node.label} {node.heading}")].append(node)
    right: set[int] = set()
    lined = {int(row["line"]) for row in rows if row.get("line")}
    for row in rows:
        title, label = str(row["title"]), str(row.get("label", ""))
        spellings = (f"{label} {title}", f"{asked(label)} {title}", title)
        same = next((titled[plain(words)] for words in spellings if plain(words) in titled), [])
        near = [node for node in same if node.lines and abs(node.lines.first - int(row["line"])) <= 1]
        at = f"{name}:{row['line']} {label} {title}"
        tally.note("titles", bool(same), at)
        tally.note("lines", bool(near), f"{at} -> {same[0].lines}" if same else "")
        right.update(id(node) for node in same)
    if not complete:
        return
    labelled = any(row.get("label") for row in rows)
    for node in found:
        if id(node) in right or (node.level <= 1 and not labelled):
            # Parsers of markup do not count the title of the document among its headings.
            good = True
        else:
            good = bool(node.lines) and node.lines.first in lined
        tally.note("true", good, f"{name} {node.heading[:70]}")


def check_place(library: Library, path: str, row: Row, tally: Tally) -> None:
    """Ask for one numbered place: in its document, and in a search that names the document."""
    name, label = Path(path).name, str(row["label"]).rstrip(".")
    begins = str(row.get("text", row.get("title", "")))[:30]
    at = f"{name} {asked(label)} (line {row.get('line')} {begins!r})"
    try:
        view = library.section(asked(label), document=path)
    except LoccitError as error:
        tally.note("reach", False, f"{at} -> {type(error).__name__} {str(error)[:70]}")
    else:
        good = agrees(row, view.lines.first if view.lines else None, view.text)
        tally.note("reach", good, f"{at} -> {view.lines} {view.text[:50]!r}")
    response = library.search(f"{asked(label)} of {Path(name).stem}", top_k=1)
    first = response.results[0] if response.results else None
    right = (
        first is not None
        and Path(first.source_path).name == name
        and agrees(row, first.lines.first if first.lines else None, first.content)
    )
    shown = first.location if first else "nothing"
    tally.note("named", right, f"{at} -> {shown}")
    tally.note("not denied", "There is no" not in (response.note or ""), f"{at} -> {response.note}")
    tally.note("not sure", right or response.confidence < _SURE, f"{at} -> {response.confidence:.2f} {shown}")


def check_no_place(library: Library, path: str, row: Row, tally: Tally) -> None:
    """Ask for a number that is no place."""
    label = str(row["label"]).rstrip(".")
    try:
        view = library.section(asked(label), document=path)
    except LoccitError:
        good, where = True, ""
    else:
        good = not agrees(row, view.lines.first if view.lines else None, view.text)
        where = f"{view.lines} {view.text[:50]!r}"
    tally.note("not invented", good, f"{Path(path).name} {asked(label)} -> {where}")


def some(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """Return at most so many rows, from all over the document; all of them for 0."""
    return rows[:: -(-len(rows) // most)] if most and len(rows) > most else rows


def measure(library: Library, folder: Path, kind: str, complete: bool, most: int) -> Tally:
    """Compare the documents of one kind with their oracle, asking for so many places of each."""
    tally = Tally()
    paths = [info.source_path for info in library.documents()]
    by_name = {Path(path).name: path for path in paths if Path(path).parent.name == kind}
    documents: dict[str, list[Row]] = defaultdict(list)
    for row in read_jsonl(folder / f"{kind}.jsonl"):
        documents[str(row["doc"])].append(row)
    for name, rows in documents.items():
        path = by_name.get(name)
        tally.note("indexed", path is not None, name)
        if path is None:
            continue
        if any("words" in row for row in rows):
            check_words(path, library.document(path).text, tally)
        headings = [row for row in rows if row.get("title") and row.get("line")]
        if headings:
            found = list(entries(library.outline(path)))
            check_outline(name, headings, found, complete, tally)
        numbered = [row for row in rows if row.get("label") and ("line" in row or "text" in row)]
        if path.lower().endswith(".docx"):
            check_printed(name, numbered, library.document(path).text, tally)
            numbered = [row for row in numbered if _NUMBER.fullmatch(str(row["label"]).rstrip("."))]
        times = Counter(str(row["label"]).rstrip(".") for row in numbered)
        for row in some(numbered, most):
            if row.get("place", True) is False:
                check_no_place(library, path, row, tally)
            elif times[str(row["label"]).rstrip(".")] == 1:
                check_place(library, path, row, tally)
    return tally


# A column, what is counted for it, and whether the share of what failed is shown.
COLUMNS = (
    ("reach", "reach", False),
    ("titles", "titles", False),
    ("lines", "lines", False),
    ("false", "true", True),
    ("named", "named", False),
    ("denied", "not denied", True),
    ("sure", "not sure", True),
    ("printed", "printed", False),
    ("words", "words", False),
    ("invented", "not invented", True),
)


def figures(tally: Tally) -> dict[str, float]:
    """Return the shares of one kind, and how many documents and places they are of."""
    counts = tally.counts
    shares: dict[str, float] = {
        "documents": counts["indexed of"],
        "places": counts["reach of"] or counts["titles of"] or counts["not invented of"],
    }
    for column, name, failed in COLUMNS:
        of = counts[f"{name} of"]
        if of:
            shares[column] = (of - counts[name] if failed else counts[name]) / of
    if counts["files of"]:
        shares["files whole"] = counts["files"] / counts["files of"]
    shares["not indexed"] = counts["indexed of"] - counts["indexed"]
    return shares


def show_head() -> None:
    """Print the names of the columns."""
    titles = "".join(f"{column:>9}" for column, _, _ in COLUMNS)
    print(f"{'kind':18}{'docs':>5}{'places':>7}{titles}")


def show(kind: str, shares: dict[str, float]) -> None:
    """Print one line of the table."""
    cells = "".join(f"{shares[column]:9.3f}" if column in shares else " " * 9 for column, _, _ in COLUMNS)
    remark = f"  {shares['not indexed']:.0f} not indexed" if shares["not indexed"] else ""
    if "files whole" in shares:
        remark += f"  {shares['files whole']:.1%} of files keep 97 % of their words"
    print(f"{kind:18}{shares['documents']:5.0f}{shares['places']:7.0f}{cells}{remark}", flush=True)


def folders(given: Sequence[str]) -> list[Path]:
    """Return the folders to measure: those given, else those that the environment names."""
    if given:
        return [Path(name) for name in given]
    named = os.environ.get("LOCCIT_PLACES_DIRS", "").split(":")
    root = Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval"))
    return [root / "real", *(Path(name) for name in named if name)]


def run(folder: Path, wanted: Sequence[str], misses: int, most: int) -> dict[str, dict[str, float]]:
    """Measure the kinds of one folder, in one library."""
    kinds = sorted(path.stem for path in folder.glob("*.jsonl") if path.with_suffix("").is_dir())
    kinds = [kind for kind in kinds if not wanted or kind in wanted]
    if not kinds:
        print(f"skipped: {folder} has no documents with an oracle (see LOCCIT_EVAL_DIR, LOCCIT_PLACES_DIRS)")
        return {}
    about = folder / "kinds.json"
    said: dict[str, Any] = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
    results = {}
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch, Library(scratch) as library:
        library.index([folder / kind for kind in kinds], embed=False)
        print(f"\n{folder}: indexed in {time.perf_counter() - started:.0f} s", flush=True)
        show_head()
        for kind in kinds:
            complete = kind in COMPLETE or bool(said.get(kind, {}).get("complete"))
            tally = measure(library, folder, kind, complete, most)
            results[kind] = figures(tally)
            show(kind, results[kind])
            for name, examples in tally.misses.items():
                for example in examples[:misses]:
                    print(f"    {name}: {example}")
    return results


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folder", nargs="*", help="instead of those that the environment names")
    arguments.add_argument("--kind", action="append", default=[], help="index and measure only this kind")
    arguments.add_argument("--misses", type=int, default=0, metavar="N", help="show N failures of each sort")
    arguments.add_argument(
        "--most", type=int, default=0, metavar="N", help="ask for at most N places of a document"
    )
    options = arguments.parse_args()
    results = {
        folder.name: run(folder, options.kind, options.misses, options.most)
        for folder in folders(options.folder)
    }
    if not (options.kind or options.folder or options.most) and any(results.values()):
        save("places", {"folders": {name: kinds for name, kinds in results.items() if kinds}})


if __name__ == "__main__":
    main()
