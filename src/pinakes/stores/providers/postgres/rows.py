"""Values as PostgreSQL's wire takes them in binary: many rows in one statement, without a text form of each number."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from psycopg.adapt import Dumper, PyFormat
from psycopg.pq import Format

from pinakes.embedding.protocol import Vectors
from pinakes.stores.store import Found

# The numbers that PostgreSQL has for its own types, and for arrays of them.
_UUID, _TEXT, _TSVECTOR = 2950, 25, 3614
_UUIDS, _TEXTS, _TSVECTORS = 2951, 1009, 3643
# Bounds of tsvector: places in a text, places of one word, bytes of one word and of all.
_LAST_PLACE = 16_383
_MOST_PLACES = 255
_LONGEST_WORD = 2_000
_MOST_BYTES = 500_000
# What text in PostgreSQL cannot hold, and the sign that we write in its stead.
_UNFIT = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class Raw:
    """A value that is in the form of the wire already; ``oid`` is its type."""

    oid: int
    data: bytes


class RawDumper(Dumper):
    """Hands a ``Raw`` on as it is."""

    format = Format.BINARY

    @classmethod
    def register(cls, connection: psycopg.Connection[Any]) -> None:
        """Let a connection take ``Raw`` values."""
        connection.adapters.register_dumper(Raw, cls)

    def get_key(self, obj: Raw, format: PyFormat) -> Any:
        """Tell values of different types apart."""
        return (self.cls, obj.oid)

    def upgrade(self, obj: Raw, format: PyFormat) -> RawDumper:
        """Return the dumper for the type of a value."""
        dumper = RawDumper(self.cls)
        dumper.oid = obj.oid
        return dumper

    def dump(self, obj: Raw) -> bytes:
        """Return the bytes."""
        return obj.data


def _array(array_oid: int, oid: int, items: Sequence[bytes | None]) -> Raw:
    if not items:
        return Raw(array_oid, struct.pack(">iiI", 0, 0, oid))
    head = struct.pack(">iiIii", 1, int(None in items), oid, len(items), 1)
    null = b"\xff\xff\xff\xff"
    return Raw(
        array_oid,
        head + b"".join(null if item is None else len(item).to_bytes(4, "big") + item for item in items),
    )


def uuids(ids: Iterable[str]) -> Raw:
    """Return ids as an array of uuid."""
    return _array(_UUIDS, _UUID, [UUID(name).bytes for name in ids])


def texts(values: Iterable[str]) -> Raw:
    """Return texts as an array of text."""
    return _array(_TEXTS, _TEXT, [value.encode("utf-8") for value in values])


def vectors(values: Iterable[Vectors | None], oid: int, array_oid: int) -> Raw:
    """Return vectors as an array of pgvector's type, whose numbers each database gives itself."""
    return _array(array_oid, oid, [None if value is None else _vector(value) for value in values])


def vector(value: Vectors, oid: int) -> Raw:
    """Return a vector as pgvector's type."""
    return Raw(oid, _vector(value))


def _vector(value: Vectors) -> bytes:
    return struct.pack(">HH", len(value), 0) + value.astype(">f4").tobytes()


def half_vector(value: Vectors, oid: int) -> Raw:
    """Return a vector as pgvector's type of half precision."""
    return Raw(oid, struct.pack(">HH", len(value), 0) + value.astype(">f2").tobytes())


def read_vector(data: bytes) -> Vectors:
    """Read a vector as ``vector_send`` writes it."""
    return np.frombuffer(data, ">f4", offset=4).astype(np.float32)


def tsvectors(values: Iterable[str]) -> Raw:
    """Return texts of words as an array of tsvector, each word as it is; a text without words is null."""
    return _array(_TSVECTORS, _TSVECTOR, [_tsvector(value) if value.strip() else None for value in values])


def _tsvector(terms: str) -> bytes:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(readable(terms).split()[:_LAST_PLACE], 1):
        found = places.get(word)
        if found is None:
            places[word] = [place]
        elif len(found) < _MOST_PLACES:
            found.append(place)
    parts = []
    size = 0
    for word, found in places.items():
        data = _cut(word.encode("utf-8"))
        size += len(data)
        if size > _MOST_BYTES:
            break
        parts.append(data + b"\0" + struct.pack(f">{len(found) + 1}H", len(found), *found))
    return struct.pack(">i", len(parts)) + b"".join(parts)


def lexeme(word: str) -> str:
    """Return a word as a tsvector keeps it."""
    return _cut(readable(word).encode("utf-8")).decode("utf-8")


def _cut(word: bytes) -> bytes:
    """Return a word without the end of an overlong one."""
    if len(word) <= _LONGEST_WORD:
        return word
    return word[:_LONGEST_WORD].decode("utf-8", "ignore").encode("utf-8")


def tsquery_word(word: str) -> str:
    """Return a word as the text form of a tsquery quotes it."""
    text = lexeme(word).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"


def readable(text: str) -> str:
    """Return a text for people's eyes as the database can hold it."""
    return _UNFIT.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Return any text as the database can hold it, so that ``unescaped`` gives it back exactly."""
    return _UNFIT.sub(lambda found: f"\x1a{ord(found[0]):04x}", text)


def unescaped(text: str) -> str:
    """Return the text that was given to ``escaped``."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\x1a" in text else text


def read_found(ids: str | None, scores: bytes | None) -> list[Found]:
    """Read an answer that the database packed into two values: all the ids, and all the scores."""
    if not ids or not scores:
        return []
    return list(map(Found, ids.split(" "), np.frombuffer(scores, ">f4").tolist()))
