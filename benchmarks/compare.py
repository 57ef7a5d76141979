"""Comparisons: 50 edits of real documents, one at a time; does ``compare`` find each, and nothing else?

Run with ``python -m benchmarks.compare [SEED…]``. Words and numbers are changed, sections retitled, moved and inserted
(with and without shifting the numbers of those that follow), clauses deleted.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import eval_dir, save
from loccit.answers.verbatim.compare import Compared, compare
from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare_text
from loccit.model import Comparison, Place
from loccit.read import convert

# Not where a link leads: that is not compared.
_NUMBER = re.compile(r"(?<= )\d{1,3}(?=[ ,;])")
_PLAIN = re.compile(r"(?<= )[a-z]{4,}(?= )")
_ARTICLE = re.compile(r"^(#+ Article )(\d+)", re.MULTILINE)
_EDITS = 50
_INSERTED = "Everybody who keeps zebras feeds them twice a day, and writes down how much they ate."


class Edit(NamedTuple):
    """A changed text, and what must be found in it: the kind, and words that are in the difference."""

    text: str
    kind: str
    says: str
    others: frozenset[str] = frozenset()


def leaves(document: Compared) -> list[Place]:
    """Return places with text of their own and nothing below them."""
    parents = {place.parent for place in document.places}
    return [
        place
        for place in document.places
        if place.ordinal
        and place.ordinal not in parents
        and len(document.text[place.body : place.end].split()) > 15
    ]


def change_word(document: Compared, chance: random.Random) -> Edit | None:
    place = chance.choice(leaves(document))
    words = list(_PLAIN.finditer(document.text, place.body, place.end))
    if not words:
        return None
    word = chance.choice(words)
    return Edit(document.text[: word.start()] + "zebra" + document.text[word.end() :], "changed", "zebra")


def change_number(document: Compared, chance: random.Random) -> Edit | None:
    place = chance.choice(leaves(document))
    number = _NUMBER.search(document.text, place.body + 20, place.end)
    if number is None:
        return None
    changed = str(int(number[0]) + 7)
    return Edit(document.text[: number.start()] + changed + document.text[number.end() :], "changed", changed)


def retitle(document: Compared, chance: random.Random) -> Edit | None:
    place = chance.choice(
        [place for place in document.places if place.title and place.is_heading and place.ordinal]
    )
    line_end = document.text.find("\n", place.start)
    at = document.text.rfind(place.title.split()[-1], place.start, line_end)
    if at < 0 or len(place.title.split()) < 2:
        return None
    end = at + len(place.title.split()[-1])
    return Edit(document.text[:at] + "zebras" + document.text[end:], "changed", "zebras")


def delete_clause(document: Compared, chance: random.Random) -> Edit | None:
    """The last of its kind, so that no number is missing."""
    last = {
        place.parent: place
        for place in sorted(document.places, key=lambda place: place.start)
        if place.ordinal
    }
    chosen = [place for place in leaves(document) if last.get(place.parent) is place]
    if not chosen:
        return None
    place = chance.choice(chosen)
    said = " ".join(document.text[place.body : place.end].split()[:3])
    return Edit(document.text[: place.start] + document.text[place.end :], "removed", said)


def insert_section(document: Compared, chance: random.Random) -> Edit | None:
    place = chance.choice([place for place in document.places if place.is_heading and place.ordinal])
    marks = re.match(r"#+ ", document.text[place.start : place.start + 8])
    if marks is None:
        return None
    section = f"{marks[0]}Keeping of zebras\n\n{_INSERTED}\n\n"
    return Edit(document.text[: place.start] + section + document.text[place.start :], "added", "zebras")


def shift_numbers(document: Compared, chance: random.Random) -> Edit | None:
    articles = list(_ARTICLE.finditer(document.text))
    if len(articles) < 10:
        return None
    at = chance.choice(articles[2:-3])
    number = int(at[2])
    rest = _ARTICLE.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", document.text[at.start() :])
    section = f"{at[1]}{number}\n\n{_INSERTED}\n\n"
    return Edit(document.text[: at.start()] + section + rest, "added", "zebras", frozenset({"renumbered"}))


def move_section(document: Compared, chance: random.Random) -> Edit | None:
    """A section changes places with the one after it."""
    headings = [place for place in document.places if place.is_heading and place.ordinal]
    pairs = [
        (first, second)
        for first in headings
        for second in headings
        if first.parent == second.parent
        and second.start == first.end
        and document.text[first.start] == "#"
        and document.text[second.start] == "#"
        and second.end - first.start < 20_000
        and len(document.text[first.body : first.end].split()) > 15
        and len(document.text[second.body : second.end].split()) > 15
    ]
    if not pairs:
        return None
    first, second = chance.choice(pairs)
    text = document.text
    swapped = (
        text[second.start : second.end].rstrip() + "\n\n" + text[first.start : first.end].rstrip() + "\n\n"
    )
    return Edit(text[: first.start] + swapped + text[second.end :], "moved", "")


EDITS: tuple[Callable[[Compared, random.Random], Edit | None], ...] = (
    change_word,
    change_number,
    retitle,
    delete_clause,
    insert_section,
    shift_numbers,
    move_section,
)


def judge(found: Comparison, edit: Edit) -> str:
    """Return what is wrong with a comparison; nothing if the edit was found and nothing else."""
    meant = [item for item in found.differences if item.kind == edit.kind]
    others = [
        item.kind for item in found.differences if item.kind != edit.kind and item.kind not in edit.others
    ]
    if len(meant) != 1 or others:
        return f"expected one {edit.kind}, found {[item.kind for item in found.differences]}"
    item = meant[0]
    said = " ".join(
        [change.old + " " + change.new for change in item.changes if not change.same]
        or [place.text for place in (item.old, item.new) if place]
    )
    return (
        "" if edit.says in " ".join(said.split()) else f"{edit.says!r} is not in the difference: {said[:200]}"
    )


def read_here(path: Path) -> Compared:
    """Read a file as a worker process does, but in this one: it is ours, and there are many to read."""
    file_type, converted = convert(path)
    return Compared.of_file(prepare_text(str(path), file_type, converted, IndexSettings(), 256))


def main() -> int:
    """Measure, and print one line of JSON."""
    seeds = [int(seed) for seed in sys.argv[1:]] or [5]
    results = [_measure(seed) for seed in seeds]
    wrong = [{"seed": seed, **one} for seed, (found, _) in zip(seeds, results, strict=True) for one in found]
    seconds = sum(seconds for _, seconds in results) / len(seeds) / _EDITS
    result = {
        "seeds": seeds,
        "edits": _EDITS * len(seeds),
        "wrong": len(wrong),
        "seconds_each": round(seconds, 2),
    }
    save("compare", result)
    print(json.dumps({**result, "which": wrong}, ensure_ascii=False, indent=1))
    return 1 if wrong else 0


def _measure(seed: int) -> tuple[list[dict[str, str]], float]:
    """Return what was judged wrongly with the edits of a seed, and the seconds that all took."""
    gdpr, far = eval_dir("gdpr"), eval_dir("far")
    chance = random.Random(seed)
    wrong, edits, seconds = [], 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        bases: list[Compared] = []
        for source in (gdpr / "docs" / "gdpr.md", *(far / "docs" / f"Part{n}.docx" for n in (3, 33, 49))):
            base = Path(folder) / f"{source.stem}.md"
            base.write_text(read_here(source).text, encoding="utf-8")
            bases.append(read_here(base))
            if compare(bases[-1], bases[-1]).differences:
                wrong.append({"document": base.name, "edit": "none", "reason": "differs from itself"})
        while edits < _EDITS:
            document = bases[edits % len(bases)] if edits % 7 != 5 else bases[0]
            make = EDITS[edits % len(EDITS)]
            edit = make(document, chance)
            if edit is None:
                document = bases[0]
                edit = make(document, chance)
            if edit is None or edit.text == document.text:
                continue
            changed = Path(folder) / "changed.md"
            changed.write_text(edit.text, encoding="utf-8")
            began = time.perf_counter()
            reason = judge(compare(document, read_here(changed)), edit)
            seconds += time.perf_counter() - began
            if reason:
                name = Path(document.source_path).name
                wrong.append({"document": name, "edit": make.__name__, "reason": reason})
            edits += 1
    return wrong, seconds


if __name__ == "__main__":
    sys.exit(main())
