"""How many references of real documents are found, and how many of them lead somewhere.

Reads the data protection regulation and the Federal Acquisition Regulation below ``LOCCIT_EVAL_DIR`` (default
``../shared/eval``). Prints, for each kind of reference, how many lead to a place of the document, how many only part
of the way, how many name another document and how many lead nowhere, and the reasons of the last. ``--sample N``
prints N references with the words around them and the beginning of what they lead to, for reading; ``--seed`` draws
another sample, ``--set`` keeps to one set, ``--list`` prints every reference that leads nowhere.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import eval_dir, save
from loccit.extract.references import extract_references
from loccit.model import Place, Reference
from loccit.read import convert
from loccit.structure import Parsed, parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places.tree import build_sections

OUTCOMES = ("resolved", "partly", "elsewhere", "nowhere")


@dataclass(frozen=True, slots=True)
class Read:
    """A document with its references."""

    name: str
    parsed: Parsed
    places: dict[str, Place]
    found: Sequence[Reference]
    seconds: float


def outcome(reference: Reference) -> str:
    if reference.target_section:
        return "partly" if reference.reason else "resolved"
    return "elsewhere" if reference.document else "nowhere"


def read(paths: Sequence[Path]) -> Iterator[Read]:
    for path in paths:
        _, converted = convert(path)
        parsed = parse(converted)
        sections = build_sections(parsed)
        places = [*sections, *extract_clauses(parsed, sections)]
        started = time.perf_counter()
        found = extract_references(parsed, places)
        seconds = time.perf_counter() - started
        yield Read(path.name, parsed, {place.section_id: place for place in places}, found, seconds)


def excerpt(text: str, start: int, end: int) -> str:
    return " ".join(text[max(0, start) : end].split())


def show(document: Read, reference: Reference) -> None:
    text = document.parsed.text
    before = excerpt(text, reference.start - 70, reference.start)
    after = excerpt(text, reference.end, reference.end + 50)
    print(
        f"- {document.name}:{document.parsed.position.line(reference.start)} {before} [{reference.text}] {after}"
    )
    place = document.places.get(reference.target_section)
    if place is not None:
        print(f"    {place.section_id}: {excerpt(text, place.start, place.start + 90)}")
    if reference.document:
        print(f"    {reference.document} {reference.number_kind} {reference.number_key}")
    if reference.reason:
        print(f"    {reference.reason}")


def report(name: str, documents: Sequence[Read]) -> dict[str, object]:
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    for document in documents:
        for reference in document.found:
            counts[reference.kind, outcome(reference)] += 1
            if outcome(reference) == "nowhere":
                reasons[reference.reason] += 1
    seconds = sum(document.seconds for document in documents)
    size = sum(len(document.parsed.text) for document in documents)
    print(f"{name}: {counts.total()} references in {size / 1e6:.2f} MB, {seconds:.2f} s")
    print(f"  {'':14}" + "".join(f"{each:>11}" for each in OUTCOMES))
    kinds = sorted({kind for kind, _ in counts})
    for kind in kinds:
        print(f"  {kind:14}" + "".join(f"{counts[kind, each]:11}" for each in OUTCOMES))
    for reason, count in reasons.most_common(12):
        print(f"  {count:5} {reason}")
    inside = sum(count for (_, how), count in counts.items() if how != "elsewhere")
    resolved = sum(count for (_, how), count in counts.items() if how == "resolved")
    print(
        f"  of {inside} that name no other document, {resolved / max(1, inside):.1%} lead to the very place\n"
    )
    table = {kind: {each: counts[kind, each] for each in OUTCOMES} for kind in kinds}
    return {"references": counts.total(), "seconds": round(seconds, 3), "characters": size, "kinds": table}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", choices=("gdpr", "far"))
    parser.add_argument("--list", action="store_true", help="print every reference that leads nowhere")
    options = parser.parse_args()
    figures: dict[str, object] = {}
    for name, pattern in (("gdpr", "*.md"), ("far", "*.docx")):
        if options.set not in (None, name):
            continue
        documents = list(read(sorted((eval_dir(name) / "docs").glob(pattern))))
        figures[name] = report(name, documents)
        every = [(document, reference) for document in documents for reference in document.found]
        if options.list:
            for document, reference in every:
                if outcome(reference) == "nowhere":
                    show(document, reference)
        if options.sample:
            inside = [pair for pair in every if outcome(pair[1]) != "elsewhere"]
            drawn = random.Random(options.seed).sample(inside, min(options.sample, len(inside)))
            for document, reference in sorted(drawn, key=lambda pair: (pair[0].name, pair[1].start)):
                show(document, reference)
    if options.set is None:
        save("references", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
