"""Random damage to the files of an index, and what the index says afterwards."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from loccit import Library
from loccit.errors import LoccitError

RECORD = "record.sqlite3"
MODES = ("hybrid", "semantic", "keyword", "exact")

DOCUMENTS = {
    "supply.md": """# Supply Agreement

## 1. Definitions

"Goods" means the machines listed in Annex 3. "Buyer" means Brook Ltd.

## 2. Delivery

2.1 The Seller shall deliver the Goods within 24 hours of an order, as described in Section 4.

2.2 The Buyer may refuse Goods that arrive more than 72 hours late, unless Section 3 applies.

## 3. Storms

If a storm closes the harbour, the time in Section 2.1 is 96 hours.

## 4. Orders

An order must be in writing. The Buyer shall pay 5,400 euro for each machine within 30 days.
""",
    "harbour.md": """# Harbour Rules

## Article 1 Lights

A vessel at anchor shall show a white light from dusk to dawn. See [the agreement](supply.md).

## Article 2 Fees

(1) The master shall pay 120 euro for each night.

(2) The fee under paragraph (1) is doubled after 14 nights.

## Article 3 Notice

The master must report within 48 hours. Article 2 applies.
""",
    "mietvertrag.md": """# Mietvertrag

## § 1 Mietsache

Der Vermieter muss die Wohnung bis zum 15. März 2027 übergeben.

## § 2 Kündigung

(1) Die Frist beträgt 3 Monate. Sie darf nicht verkürzt werden; § 1 gilt.

(2) Der Mieter hat 850 Euro zu zahlen.
""",
    "notes.txt": "Notes on the harbour.\n\nThe pier was rebuilt in 1987 for 64 boats, and again in 2011 for 90 boats.\n",
}
LATER = "# Lights\n\n## 1. Buoys\n\nEach buoy shall flash every 6 seconds. Article 1 of the Harbour Rules applies.\n"

QUERIES = ("harbour fee", "Section 2.1", '"white light"')


class Made(NamedTuple):
    """An index with an earlier state of it, and what it answers."""

    folder: Path
    expected: dict[str, Any]

    @property
    def docs(self) -> Path:
        return self.folder / "docs"


def make(folder: Path) -> Made:
    """Write documents and index them: ``old``, then one file more, one less and one changed, ``new``."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (docs / name).write_text(text, encoding="utf-8")
    (docs / "gone.md").write_text("# Gone\n\nThe ferry leaves at 7.\n")
    with Library(folder / "old") as library:
        library.index(docs)
    shutil.copytree(folder / "old", folder / "new")
    (docs / "gone.md").unlink()
    (docs / "lights.md").write_text(LATER)
    (docs / "notes.txt").write_text((docs / "notes.txt").read_text() + "\nThe crane lifts 40 tons.\n")
    with Library(folder / "new") as library:
        library.index(docs)
        return Made(folder, answers(library))


def answers(library: Library) -> dict[str, Any]:
    """Return what an index says to questions of every kind, without what may differ when it is made again."""
    asked: dict[str, Callable[[], Any]] = {}
    for mode in MODES:
        for query in QUERIES:
            asked[f"search {mode} {query}"] = partial(_found, library, query, mode)
    for pattern in ("hours", "euro", "gilt"):
        asked[f"grep {pattern}"] = partial(library.find_all, pattern)
    asked["regex"] = partial(library.find_all, r"[0-9]+ (?:hours|days)", kind="regex")
    for name in ("supply.md", "harbour.md", "lights.md"):
        asked[f"outline {name}"] = partial(library.outline, name, clauses=True)
    for place, name in (("2.1", "supply.md"), ("Article 2", "harbour.md"), ("§ 2", "mietvertrag.md")):
        asked[f"section {place}"] = partial(library.section, place, document=name)
    asked["refs"] = partial(library.references, "Section 2.1", document="supply.md")
    asked["define"] = partial(library.define, "Goods")
    asked["obligations"] = library.obligations
    asked["documents"] = library.documents
    return {name: _answer(question) for name, question in asked.items()}


def _found(library: Library, query: str, mode: str) -> list[tuple[str, str, str]]:
    # In no order: what an index holds of deleted documents counts when words are weighed.
    return sorted(
        (Path(one.source_path).name, one.content, str(one.lines))
        for one in library.search(query, mode=mode, top_k=50).results
    )


def _answer(question: Callable[[], Any]) -> Any:
    try:
        return _plain(question())
    except LoccitError as error:
        return f"refused: {error}"


_OWN = {"ingested_at", "indexed_at", "seconds", "cursor", "place_id", "id", "mtime", "mtime_ns"}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in _OWN
        }
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items() if key not in _OWN}
    return str(value) if isinstance(value, Path) else value


# -- damage ------------------------------------------------------------------------------------------------------


def _bit(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def _digit(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    """Change a number in a text: what no structure notices."""
    places = [found.start() for found in re.finditer(rb"(?<=[a-z] )[0-9]+(?= [a-z])", data)]
    if not places:
        return _bit(data, chance, other)
    place = chance.choice(places)
    data[place] = chance.choice([digit for digit in b"123456789" if digit != data[place]])
    return bytes(data)


def _block(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    size = min(len(data), chance.choice((1, 8, 64, 512, 4096)))
    place = chance.randrange(len(data) - size + 1)
    data[place : place + size] = chance.randbytes(size)
    return bytes(data)


def _zeros(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    size = min(len(data), chance.choice((8, 64, 512, 4096)))
    place = chance.randrange(len(data) - size + 1)
    data[place : place + size] = bytes(size)
    return bytes(data)


def _cut(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    return bytes(data[: chance.randrange(len(data))])


def _empty(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    return b""


def _longer(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    return bytes(data) + chance.randbytes(chance.choice((1, 64, 4096)))


def _swapped(data: bytearray, chance: random.Random, other: bytes) -> bytes:
    return other


KINDS = {
    "bit": _bit,
    "digit": _digit,
    "block": _block,
    "zeros": _zeros,
    "cut": _cut,
    "empty": _empty,
    "longer": _longer,
    "other file": _swapped,
    "older": _swapped,
    "missing": _swapped,
}
# What disks do most often comes most often.
_WEIGHTS = (8, 6, 4, 3, 2, 1, 1, 2, 2, 1)


def damage(index: Path, old: Path, chance: random.Random) -> tuple[str, str]:
    """Damage one file of an index; return its name and the kind of damage."""
    files = sorted(path for path in index.rglob("*") if path.is_file() and path.suffix != ".lock")
    files = [path for path in files if path.stat().st_size and path.name not in (".gitignore", "writer.json")]
    # What everything else is derived from is hit as often as all the rest.
    path = index / RECORD if chance.random() < 0.5 else chance.choice(files)
    kind = chance.choices(list(KINDS), _WEIGHTS)[0]
    other, data = b"", bytearray(path.read_bytes())
    if kind == "missing":
        path.unlink()
        return path.relative_to(index).as_posix(), kind
    if kind == "older":
        before = old / path.relative_to(index)
        other = before.read_bytes() if before.exists() else b""
    elif kind == "other file":
        other = chance.choice([one for one in files if one != path]).read_bytes()
    path.write_bytes(KINDS[kind](data, chance, other))
    return path.relative_to(index).as_posix(), kind


# -- what came of it ---------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What one damage led to. ``verdict``: the same, repaired, named or refused; anything else is a fault."""

    file: str
    kind: str
    verdict: str
    detail: str = ""
    before: str = ""
    """What was answered before the doctor came: the same, refused, or something else."""


FINE = ("the same", "repaired", "named", "refused")


def judge(made: Made, index: Path, hit: tuple[str, str]) -> Outcome:
    """Ask a damaged index, have it examined, ask it again, and have it read what it lost."""
    before = _asked(index, made.expected)
    try:
        with Library(index) as library:
            report = library.doctor()
            found = answers(library)
    except LoccitError as error:
        return Outcome(*hit, "refused", str(error), before)
    except Exception as error:
        return Outcome(*hit, f"crash: {type(error).__name__}", str(error), before)
    said = [f"{check.name}: {check.detail} > {check.repaired}" for check in report.checks if not check.ok]
    if found == made.expected:
        return Outcome(*hit, "repaired" if said else "the same", "; ".join(said), before)
    different = [name for name in found if found[name] != made.expected[name]]
    if not said:
        return Outcome(*hit, "WRONG: undetected", ", ".join(different), before)
    if wrong := _misquoted(made, found):
        return Outcome(*hit, "WRONG: misquoted", wrong, before)
    return Outcome(*hit, *_read_again(made, index, said), before)


def _asked(index: Path, expected: dict[str, Any]) -> str:
    """What the index says before anybody repairs it; asked of a copy, since a search repairs on its way."""
    copy = index.with_name(f"{index.name}-asked")
    shutil.copytree(index, copy)
    try:
        with Library(copy) as library:
            found = answers(library)
    except LoccitError:
        return "refused"
    except Exception as error:
        return f"crash: {type(error).__name__}"
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    different = [name for name in found if found[name] != expected[name]]
    if not different:
        return "the same"
    return "refused" if all(str(found[name]).startswith("refused: ") for name in different) else "other"


def _read_again(made: Made, index: Path, said: list[str]) -> tuple[str, str]:
    """After what the doctor says is done, everything must be as before; or it says to delete the index."""
    detail = "; ".join(said)
    if "Delete " in detail:
        return "named", detail
    try:
        with Library(index) as library:
            library.index(made.docs)
            found = answers(library)
            healthy = library.doctor(repair=False).healthy
    except LoccitError as error:
        return "WRONG: cannot be read again", f"{error} after {detail}"
    except Exception as error:
        return f"crash: {type(error).__name__}", f"{error} after {detail}"
    if found != made.expected:
        different = [name for name in found if found[name] != made.expected[name]]
        return "WRONG: after reading again", f"{different} after {detail}"
    return ("named", detail) if healthy else ("WRONG: unhealthy after reading again", detail)


def _misquoted(made: Made, found: dict[str, Any]) -> str:
    """Return a text that is quoted from a file and does not stand in it."""
    texts = {path.name: _words(path.read_text(encoding="utf-8")) for path in made.docs.iterdir()}
    for name, answer in found.items():
        if name.startswith("search "):
            for file, content, *_ in answer if isinstance(answer, list) else ():
                # What stands in front of a chunk is the heading of its section.
                parts = [_words(part) for part in content.split("\n\n")]
                # An older record may have a file that is gone.
                if file in texts and not all(part in texts[file] for part in parts):
                    return f"{name}: {content!r}"
        elif name.startswith(("grep", "regex")) and isinstance(answer, dict):
            for hit in answer["hits"]:
                file = Path(hit["source_path"]).name
                if file in texts and _words(hit["text"]) not in texts[file]:
                    return f"{name}: {json.dumps(hit)}"
    return ""


def _words(text: str) -> str:
    return " ".join(re.sub(r"[#*\[\]()]|\(supply\.md\)", " ", str(text)).split())


def try_damages(made: Made, folder: Path, seeds: range) -> Iterator[Outcome]:
    """Damage an index in as many ways as there are seeds."""
    for seed in seeds:
        index = Path(shutil.copytree(made.folder / "new", folder / f"damaged-{seed}"))
        hit = damage(index, made.folder / "old", random.Random(seed))
        try:
            yield judge(made, index, hit)
        finally:
            shutil.rmtree(index, ignore_errors=True)
