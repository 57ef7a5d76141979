"""Ids of points: 128 bits that identify the document, version and passage of a point.

Answers of a database are long lists of ids; what is encoded in the id need not be sent with it. They are written as
UUIDs, because some databases accept nothing else.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from typing import NamedTuple

from loccit.errors import LoccitError

_CHUNKS = 1 << 20
_PASSAGES = 1 << 12


class PointId(NamedTuple):
    """A document's key (16 hex digits), its edition (8), the number of the chunk and of the passage in it."""

    document: str
    version: str
    chunk: int
    passage: int

    def __str__(self) -> str:
        if not (0 <= self.chunk < _CHUNKS and 0 <= self.passage < _PASSAGES):
            raise LoccitError(
                f"A document in a database may have {_CHUNKS:,} chunks of {_PASSAGES:,} passages; this one has more. "
                "Divide it into several files."
            )
        number = self.chunk * _PASSAGES + self.passage
        return str(uuid.UUID(hex=f"{self.document}{self.version}{number:08x}"))

    @classmethod
    def parse(cls, text: str) -> PointId:
        """Parse an id in the form of any of the databases."""
        plain = text.replace("-", "").lower()
        number = int(plain[24:], 16)
        return cls(plain[:16], plain[16:24], number // _PASSAGES, number % _PASSAGES)


def document_key(source_path: str) -> str:
    """Return the key of the document at a path."""
    return hashlib.sha256(source_path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def version_of(parts: Iterable[bytes]) -> str:
    """Identify a state of a document by its content."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:8]


def new_version(content: str) -> str:
    """Create a new version of a document: the same content published twice is two editions, which share no point.

    So deleting one never deletes a point of the other, whichever of them is current by then.
    """
    return secrets.token_hex(4) + content


def edition_of(version: str) -> str:
    """Return the edition, by which the points of a version are named."""
    return version[:8]


def content_of(version: str) -> str:
    """Return what a version is an edition of.

    >>> content_of(new_version("0123abcd")), content_of("0123abcd")
    ('0123abcd', '0123abcd')
    """
    return version[-8:]
