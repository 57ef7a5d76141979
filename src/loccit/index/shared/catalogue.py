"""Catalogue: which documents a database holds, in which version, and how a version replaces another.

A database without transactions can still be trusted if things are written in the right order. The points of a version
come first, then the document in parts, and last its head, which makes the version current; what belonged to the
previous version is deleted after that. Whatever a dead writer left behind has no head and is never read.

Any number of writers may do this at once, also with the same document. No two of them ever write under the same name
(``ids.new_version``), and each declares beforehand what it is about to write (``intents``). What is neither current nor
declared can be deleted by anybody: ``_sweep`` reads what is there, then what is declared, then what is current, in that
order, and so never takes a version between its first point and its head for a leftover.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from loccit.errors import (
    DamagedIndexError,
    IndexVersionError,
    ModelMismatchError,
    StoreError,
    StoreSchemaError,
)
from loccit.index.shared.ids import PointId, content_of, edition_of, new_version
from loccit.index.shared.intents import Intents
from loccit.index.store import MAX_VALUE, Entry, Point, Store
from loccit.models.embedding.protocol import Vectors

# 2: the points of a version are named by its edition, which 1 takes for leftovers.
FORMAT = 2
_ABOUT = "meta-library"
_AT_ONCE = 1000
# How often a publication is restarted that others took for abandoned: each time it would have to stall for
# minutes.
_TRIES = 5


class Head(NamedTuple):
    """The current version of a document: the number of parts of its text, and of its points.

    ``version`` is an edition followed by what it is an edition of; in format 1 they are the same.
    """

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

    def reissued(self) -> Publication:
        """Return the same document under another edition."""
        version = new_version(content_of(self.version))
        edition = edition_of(version)
        points = [
            replace(point, id=str(PointId.parse(point.id)._replace(version=edition))) for point in self.points
        ]
        return self._replace(version=version, points=points)


class About(NamedTuple):
    """What a library was made with."""

    model: str
    dimension: int
    settings: str


class Catalogue:
    """The documents of one collection. ``writer`` identifies who changes them, for others to notice."""

    def __init__(self, store: Store, writer: str) -> None:
        self.store = store
        self._writer = writer
        self._intents = Intents(store, writer)

    # -- the library as a whole ------------------------------------------------------------------------------

    def about(self) -> About | None:
        """Return what the library was made with; None if there is none."""
        found = self._about()
        return found[1] if found else None

    def _about(self) -> tuple[int, About] | None:
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
                f"What is in the database ({self.store.describe()}) is not a Loccit library. Choose another "
                "collection."
            ) from error
        if written > FORMAT:
            raise IndexVersionError(
                f"The library in the database ({self.store.describe()}) was written by a newer version of Loccit "
                f"(format {written}, this one reads up to {FORMAT}). Upgrade Loccit, or use another collection."
            )
        return written, about

    def open(self, about: About) -> None:
        """Create the library if there is none; refuse one that was made with another model."""
        found = self._about()
        if found is None:
            self.store.create(about.dimension)
            self._put_about(about)
            # No two libraries have the same stamp, so that a copy of one is never taken for a copy of the
            # other.
            self._put_stamp("library")
            return
        written, there = found
        if there[:2] != about[:2]:
            raise ModelMismatchError(
                f"The library in the database ({self.store.describe()}) was made with the embedding model "
                f"{there.model} ({there.dimension} dimensions), not with {about.model} ({about.dimension}). Use "
                "that model, choose another collection, or rebuild the library with: loccit index --rebuild"
            )
        if written < FORMAT:
            self._put_about(there)

    def _put_about(self, about: About) -> None:
        data = {"format": FORMAT, **about._asdict()}
        self.store.put([Entry(_ABOUT, "meta", "", json.dumps(data))])

    def touch(self) -> None:
        """Let others notice that something changed."""
        self._put_stamp(self._writer)

    def _put_stamp(self, name: str) -> None:
        self.store.put([Entry(f"stamp-{name}", "stamp", "", uuid.uuid4().hex)])

    def stamp(self) -> str:
        """Identify the current state by the changes of others; this writer's own changes do not count."""
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
        """Return the current version of each document, by key."""
        found = (
            _read_head(entry.group, entry.value) for batch in self.store.entries("head") for entry in batch
        )
        return {head.document: head for head in found}

    def head(self, document: str) -> Head | None:
        """Return the current version of a document, if there is one."""
        value = self.store.get([_head_key(document)]).get(_head_key(document))
        return None if value is None else _read_head(document, value)

    def publish(self, publications: Sequence[Publication]) -> list[Publication]:
        """Store versions of documents, replacing existing ones; return them as stored."""
        stored: dict[str, Publication] = {}
        left = list(publications)
        for _ in range(_TRIES):
            revoked = self._publish(left) if left else set()
            stored.update((item.document, item) for item in left if item.document not in revoked)
            left = [item.reissued() for item in left if item.document in revoked]
            if not left:
                return [stored[item.document] for item in publications]
        raise StoreError(
            f"Documents could not be published in the database ({self.store.describe()}): another writer deletes "
            "them before they are complete. Check that the clocks of the machines agree, and run loccit index "
            "again."
        )

    def _publish(self, publications: Sequence[Publication]) -> set[str]:
        """Store versions; return the documents whose points others may have deleted meanwhile as abandoned."""
        intents = self._intents.declare((item.document, item.version) for item in publications)
        self.store.upsert([point for item in publications for point in item.points])
        heads: dict[str, Entry] = {}
        parts = []
        for item in publications:
            pieces = _pieces(item.body)
            checksum = hashlib.sha256(item.body).hexdigest()[:16]
            head = Head(item.document, item.version, len(pieces), len(item.points), checksum)
            heads[item.document] = Entry(_head_key(item.document), "head", item.document, _write_head(head))
            parts += [
                Entry(key, "part", item.document, piece)
                for key, piece in zip(_part_keys(head), pieces, strict=True)
            ]
        self.store.put(parts)
        keys = [_head_key(item.document) for item in publications]
        # Read last: what is replaced is the version that is current now, not when the work began.
        before = self.store.get(keys)
        self.store.put(list(heads.values()))
        if self.store.capabilities.eventual:
            self.store.remove(list(intents))
            self._clear(_read_heads(before))
            return set()
        declared = self._intents.all()
        after = self.store.get(keys)
        self.store.remove(list(intents))
        contested = {intent.document for key, intent in declared.items() if key not in intents}
        # A document that is new to all has nothing to delete, and checking would be most of the work of a
        # first run.
        self._sweep(
            item.document
            for item, key in zip(publications, keys, strict=True)
            if key in before or after.get(key) != heads[item.document].value or item.document in contested
        )
        return {intent.document for key, intent in intents.items() if key not in declared}

    def withdraw(self, documents: Iterable[str]) -> None:
        """Remove documents. The head goes first: what follows is no longer read."""
        heads = self.store.get([_head_key(document) for document in documents])
        self.store.remove(list(heads))
        if self.store.capabilities.eventual:
            self._clear(_read_heads(heads))
        else:
            self._sweep(head.document for head in _read_heads(heads))

    def abandon(self, writer: str) -> None:
        """Delete what a writer known to be dead had begun."""
        begun = {key: intent for key, intent in self._intents.all().items() if intent.writer == writer}
        self.store.remove(list(begun))
        self._sweep({intent.document for intent in begun.values()})

    def _clear(self, heads: Iterable[Head]) -> None:
        """Delete versions that count no longer: all that is certain where a database does not show at once what is
        written. Versions that two writers replaced at the same moment are left to ``clear_strays``.
        """
        for head in heads:
            edition = edition_of(head.version)
            ids = [point for place, point in self._points_of(head.document) if place.version == edition]
            self.store.remove(_part_keys(head))
            self._delete(ids)

    def _sweep(self, documents: Iterable[str]) -> None:
        """Delete all versions of some documents that are neither current nor declared."""
        wanted = list(documents)
        if not wanted:
            return
        points = [found for document in wanted for found in self._points_of(document)]
        parts = [
            (document, entry.key)
            for document in wanted
            for batch in self.store.entries("part", document)
            for entry in batch
        ]
        kept = self._kept(wanted)
        # Points go last: they make the rest findable if this is interrupted.
        self.store.remove(
            [key for document, key in parts if edition_of(key.split("-")[2]) not in kept[document]]
        )
        self._delete([point for place, point in points if place.version not in kept[place.document]])

    def _kept(self, documents: Collection[str]) -> dict[str, set[str]]:
        """Return the editions of documents that are declared or current; in this order, none is missed."""
        kept: dict[str, set[str]] = defaultdict(set)
        for intent in self._intents.living(documents):
            kept[intent.document].add(edition_of(intent.version))
        for head in _read_heads(self.store.get([_head_key(document) for document in documents])):
            kept[head.document].add(edition_of(head.version))
        return kept

    def _points_of(self, document: str) -> Iterator[tuple[PointId, str]]:
        for batch in self.store.points(document):
            yield from ((PointId.parse(point.id), point.id) for point in batch)

    def _delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _AT_ONCE):
            self.store.delete(ids[start : start + _AT_ONCE])

    def bodies(self, heads: Sequence[Head]) -> dict[str, bytes]:
        """Return documents as published, by key, without those that changed a moment ago."""
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
                if place.version == edition_of(head.version) and point.vector is not None:
                    found[place.chunk, place.passage] = point.vector
        return found

    # -- health ----------------------------------------------------------------------------------------------

    def clear_strays(self, heads: dict[str, Head]) -> Counter[str]:
        """Delete what belongs to no current version, left by dead writers; count the points of the others."""
        held: Counter[str] = Counter()
        suspects = {intent.document for intent in self._intents.all().values()}
        for batch in self.store.points():
            for point in batch:
                owner = PointId.parse(point.id)
                head = heads.get(owner.document)
                if head is not None and edition_of(head.version) == owner.version:
                    held[owner.document] += 1
                else:
                    suspects.add(owner.document)
        self._sweep(suspects)
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


def _read_heads(entries: dict[str, str]) -> list[Head]:
    return [_read_head(key.removeprefix("head-"), value) for key, value in entries.items()]


def _read_head(document: str, value: str) -> Head:
    try:
        version, parts, points, checksum = json.loads(value)
        return Head(document, str(version), int(parts), int(points), str(checksum))
    except (ValueError, TypeError) as error:
        raise DamagedIndexError(f"The head of document {document} is unreadable: {value[:80]!r}") from error
