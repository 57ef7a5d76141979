"""Catalogue: which documents a database holds, in which version, and how a version takes the place of another.

A database without transactions can still be trusted if things are written in the right order. The points of a version
come first, then the document in parts, and last its head, which is the moment the version counts; what belonged to the
version before goes after that. Whatever a writer that died left behind has no head and is never looked at, and writing
it again writes the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pinakes.embedding.protocol import Vectors
from pinakes.errors import (
    DamagedIndexError,
    IndexVersionError,
    ModelMismatchError,
    StoreSchemaError,
)
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import MAX_VALUE, Entry, Point, Store

FORMAT = 1
_ABOUT = "meta-library"
_STRAYS = 1000


class Head(NamedTuple):
    """The version of a document that counts: how many parts its text is in, how many points it has."""

    document: str
    version: str
    parts: int
    points: int
    checksum: str


class Publication(NamedTuple):
    """A version of a document, ready to be stored."""

    document: str
    version: str
    body: bytes
    points: list[Point]


class About(NamedTuple):
    """What a library was made with."""

    model: str
    dimension: int
    settings: str


class Catalogue:
    """The documents of one collection. ``writer`` names who changes them, for others to notice."""

    def __init__(self, store: Store, writer: str) -> None:
        self.store = store
        self._writer = writer

    # -- the library as a whole ------------------------------------------------------------------------------

    def about(self) -> About | None:
        """Return what the library was made with; None when there is none."""
        if self.store.dimension() is None:
            return None
        stored = self.store.get([_ABOUT]).get(_ABOUT)
        if stored is None:
            return None
        try:
            data: dict[str, Any] = json.loads(stored)
            written = int(data["format"])
            about = About(str(data["model"]), int(data["dimension"]), str(data["settings"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreSchemaError(
                f"What is in the database ({self.store.describe()}) is no library of Pinakes. Choose another "
                "collection."
            ) from error
        if written > FORMAT:
            raise IndexVersionError(
                f"The library in the database ({self.store.describe()}) was written by a newer version of Pinakes "
                f"(format {written}, this one reads up to {FORMAT}). Upgrade Pinakes, or use another collection."
            )
        return about

    def open(self, about: About) -> None:
        """Make the library where there is none; refuse one that was made with another model."""
        found = self.about()
        if found is None:
            self.store.create(about.dimension)
            data = {"format": FORMAT, **about._asdict()}
            self.store.put([Entry(_ABOUT, "meta", "", json.dumps(data))])
        elif found[:2] != about[:2]:
            raise ModelMismatchError(
                f"The library in the database ({self.store.describe()}) was made with the embedding model "
                f"{found.model} ({found.dimension} dimensions), not with {about.model} ({about.dimension}). Use that "
                "model, choose another collection, or make the library anew with: pinakes index --rebuild"
            )

    def touch(self) -> None:
        """Let others notice that something changed."""
        name = f"stamp-{self._writer}"
        self.store.put([Entry(name, "stamp", "", uuid.uuid4().hex)])

    def stamp(self) -> str:
        """Name the present state as far as others changed it; what this writer did itself does not count."""
        mine = f"stamp-{self._writer}"
        stamps = sorted(
            (entry.key, entry.value)
            for batch in self.store.entries("stamp")
            for entry in batch
            if entry.key != mine
        )
        return hashlib.sha256(repr(stamps).encode()).hexdigest()[:32] if stamps else ""

    # -- documents -------------------------------------------------------------------------------------------

    def heads(self) -> dict[str, Head]:
        """Return the version of each document that counts, by key."""
        found = (
            _read_head(entry.group, entry.value) for batch in self.store.entries("head") for entry in batch
        )
        return {head.document: head for head in found}

    def head(self, document: str) -> Head | None:
        """Return the version of a document that counts, if there is one."""
        value = self.store.get([_head_key(document)]).get(_head_key(document))
        return None if value is None else _read_head(document, value)

    def publish(self, publications: Sequence[Publication]) -> None:
        """Store versions of documents, in place of those that are there."""
        if not publications:
            return
        keys = [_head_key(item.document) for item in publications]
        before = self.store.get(keys)
        self.store.upsert([point for item in publications for point in item.points])
        heads, parts = [], []
        for item in publications:
            pieces = _pieces(item.body)
            checksum = hashlib.sha256(item.body).hexdigest()[:16]
            head = Head(item.document, item.version, len(pieces), len(item.points), checksum)
            heads.append(Entry(_head_key(item.document), "head", item.document, _write_head(head)))
            parts += [
                Entry(key, "part", item.document, piece)
                for key, piece in zip(_part_keys(head), pieces, strict=True)
            ]
        self.store.put(parts)
        self.store.put(heads)
        for item, key in zip(publications, keys, strict=True):
            if key in before:
                old = _read_head(item.document, before[key])
                if old.version != item.version:
                    self._clear(old, keep=item.version)

    def withdraw(self, documents: Iterable[str]) -> None:
        """Take documents out. The head goes first: what follows is no longer looked at."""
        wanted = list(documents)
        heads = self.store.get([_head_key(document) for document in wanted])
        self.store.remove(list(heads))
        for document in wanted:
            value = heads.get(_head_key(document))
            if value is not None:
                self._clear(_read_head(document, value))

    def _clear(self, head: Head, keep: str = "") -> None:
        stray = [
            point.id
            for batch in self.store.points(head.document)
            for point in batch
            if PointId.parse(point.id).version != keep
        ]
        self.store.delete(stray)
        self.store.remove(_part_keys(head))

    def bodies(self, heads: Sequence[Head]) -> dict[str, bytes]:
        """Return documents as they were published, by key, without those that changed a moment ago."""
        found = self.store.get([key for head in heads for key in _part_keys(head)])
        bodies: dict[str, bytes] = {}
        for head in heads:
            keys = _part_keys(head)
            if all(key in found for key in keys):
                body = base64.b64decode("".join(found[key] for key in keys))
                if hashlib.sha256(body).hexdigest()[:16] != head.checksum:
                    raise DamagedIndexError(
                        f"A document in the database ({self.store.describe()}) is damaged. Index it again from where "
                        "its file is."
                    )
                bodies[head.document] = body
        return bodies

    def vectors(self, head: Head) -> dict[tuple[int, int], Vectors]:
        """Return the vectors of a version, by the numbers of chunk and passage."""
        found: dict[tuple[int, int], Vectors] = {}
        for batch in self.store.points(head.document, vectors=True):
            for point in batch:
                place = PointId.parse(point.id)
                if place.version == head.version and point.vector is not None:
                    found[place.chunk, place.passage] = point.vector
        return found

    # -- health ----------------------------------------------------------------------------------------------

    def clear_strays(self, heads: dict[str, Head]) -> Counter[str]:
        """Delete the points that no version that counts owns, left by writers that died; count the others."""
        held: Counter[str] = Counter()
        strays: list[str] = []
        for batch in self.store.points():
            for point in batch:
                owner = PointId.parse(point.id)
                head = heads.get(owner.document)
                if head is not None and head.version == owner.version:
                    held[owner.document] += 1
                else:
                    strays.append(point.id)
        for start in range(0, len(strays), _STRAYS):
            self.store.delete(strays[start : start + _STRAYS])
        return held


def _head_key(document: str) -> str:
    return f"head-{document}"


def _part_keys(head: Head) -> list[str]:
    return [f"part-{head.document}-{head.version}-{number}" for number in range(head.parts)]


def _pieces(body: bytes) -> list[str]:
    text = base64.b64encode(body).decode("ascii")
    return [text[start : start + MAX_VALUE] for start in range(0, len(text), MAX_VALUE)]


def _write_head(head: Head) -> str:
    return json.dumps(head[1:])


def _read_head(document: str, value: str) -> Head:
    try:
        version, parts, points, checksum = json.loads(value)
        return Head(document, str(version), int(parts), int(points), str(checksum))
    except (ValueError, TypeError) as error:
        raise DamagedIndexError(f"The head of document {document} is unreadable: {value[:80]!r}") from error
