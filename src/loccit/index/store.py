"""The Store protocol: what a database must support to hold a library.

A database keeps two kinds of things in one collection. Points are passages with their vectors. Entries are small
records by key: which documents there are, the documents themselves in parts, and the leases of workers. Everything
beyond that (versions, replicas, keyword search, fusion) is built on these few calls, once for all databases.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from loccit.errors import StoreSchemaError, UsageError
from loccit.models.embedding.protocol import Vectors

if TYPE_CHECKING:
    from loccit.index.settings import DatabaseSettings

# What a point says of itself, for the database's keyword search and for people.
PAYLOAD = ("terms", "source_path", "heading", "language", "file_type", "text")
# The longest value of an entry, in characters: what the smallest of the databases takes, with room to spare.
MAX_VALUE = 30_000


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as a database stores it.

    ``id`` is a UUID that encodes the document, its version and the passage (see ``shared.ids``). ``terms`` are the
    words of the whole chunk from our analysis, separated by spaces, for the database's own keyword search; only the
    first passage of a chunk has them. The rest is for people who look into their database.
    """

    id: str
    document: str
    vector: Vectors | None = None
    terms: str = ""
    source_path: str = ""
    heading: str = ""
    language: str = ""
    file_type: str = ""
    text: str = ""


class Entry(NamedTuple):
    """A small record.

    Keys are up to 64 letters, digits and hyphens; ``group`` is the document it belongs to, if any.
    """

    key: str
    kind: str
    group: str
    value: str


class Found(NamedTuple):
    """The id of a point and its score."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a database can do beyond the minimum, and its limits.

    ``claims``: ``swap`` works, so that several machines can share the work of indexing. ``eventual``: recent writes may
    be missing from an answer for some seconds.
    """

    keyword: bool = False
    hybrid: bool = False
    claims: bool = False
    eventual: bool = False
    max_results: int = 10_000
    max_filter: int = 1_000
    batch: int = 200


class Store(ABC):
    """One collection in a database. Safe to share between threads.

    Errors are ``StoreError`` and its subclasses, and name the provider and the setting to check; temporary failures are
    retried before they raise.
    """

    provider: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    # Names that ``options`` may have, each with what it does.
    known_options: ClassVar[Mapping[str, str]] = {}

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        if unknown := sorted(settings.options.keys() - self.known_options.keys()):
            known = ", ".join(sorted(self.known_options)) or "there are none"
            raise UsageError(
                f"Unknown option {', '.join(unknown)} for the database provider {self.provider}; known: {known}."
            )

    @property
    def missing(self) -> str:
        """What ``native`` asks for but the database lacks; empty if nothing."""
        native = self.settings.native
        if native == "none" or getattr(self.capabilities, native):
            return ""
        return "keyword search" if native == "keyword" else "fusion"

    @property
    def alone(self) -> bool:
        """Whether only one process at a time can use the collection."""
        return False

    def describe(self) -> str:
        """Name the store in a message, without secrets."""
        return f"{self.provider}, collection {self.settings.collection}"

    def check_dimension(self, found: int, wanted: int) -> None:
        """Refuse a collection that was created for vectors of another length."""
        if found != wanted:
            raise StoreSchemaError(
                f"{self.provider}: the collection {self.settings.collection} has vectors of {found} numbers, and the "
                f"model makes {wanted}. Use the model it was made with, or another collection."
            )

    # -- the collection --------------------------------------------------------------------------------------

    @abstractmethod
    def dimension(self) -> int | None:
        """Return the length of the collection's vectors; None if it does not exist yet."""

    @abstractmethod
    def create(self, dimension: int) -> None:
        """Create what is missing of the collection; idempotent, also if two processes do it at once."""

    @abstractmethod
    def drop(self) -> None:
        """Delete the collection and everything in it; harmless if it does not exist."""

    def close(self) -> None:
        """Close connections."""
        return

    # -- points ----------------------------------------------------------------------------------------------

    @abstractmethod
    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, replacing those with the same ids; any number, in batches that the database accepts."""

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id; unknown ids are not an error."""

    @abstractmethod
    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id with their vectors, in any order, without missing ones."""

    @abstractmethod
    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return all points, or those of a document, in batches; with id and document, with vectors on request."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of points."""

    @abstractmethod
    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Return the points nearest to a unit vector by cosine, best first; only of some documents if any are named."""

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Return the points whose terms contain any of the words, best first, by the database's own ranking."""
        raise NotImplementedError

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Return the database's own fusion of both searches, with the weights of vector and words."""
        raise NotImplementedError

    async def asearch(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search without blocking an event loop."""
        return await asyncio.to_thread(self.search, vector, limit, documents)

    # -- entries ---------------------------------------------------------------------------------------------

    @abstractmethod
    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries, replacing those with the same keys."""

    @abstractmethod
    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of existing entries, by key."""

    @abstractmethod
    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return the entries of a kind, or those of a kind and a group, in batches."""

    @abstractmethod
    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries by key; unknown keys are not an error."""

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry if its current value is ``expected`` (None: it does not exist); return whether it was."""
        raise NotImplementedError

    def now(self) -> float:
        """Return the database's own time in seconds since 1970; this machine's if it has none."""
        return time.time()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
