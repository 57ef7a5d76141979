"""One collection of Chroma that is ours: its records, and how they are written and read."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from chromadb.api import ServerAPI
from chromadb.api.models.Collection import Collection as ChromaCollection
from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT
from chromadb.errors import ChromaError, NotFoundError
from chromadb.types import Collection as CollectionModel

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError, StoreSchemaError, UsageError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.chroma.connection import Connection, chroma_errors
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Entry, Found, Point

# How much a request carries at most; a server takes 40 MB unless told otherwise.
MAX_REQUEST = 8_000_000
_FIELDS = ("terms", "source_path", "heading", "language", "file_type", "text")

Item = TypeVar("Item")


def from_point(point: Point) -> Record:
    """Return a point as a record. All fields are always in it, because Chroma keeps those that are left out."""
    if point.vector is None:
        # Chroma would try to embed it.
        raise StoreError(f"chromadb: the point {point.id} has no vector.")
    fields = {"document": point.document, **{name: getattr(point, name) for name in _FIELDS}}
    return Record(point.id, np.asarray(point.vector, np.float32), fields)


def to_point(record: Record) -> Point:
    """Read a point with everything that is stored of it."""
    fields = record.fields
    rest = (str(fields.get(name, "")) for name in _FIELDS)
    return Point(record.id, str(fields.get("document", "")), record.vector, *rest)


def from_entry(entry: Entry) -> Record:
    """Return an entry as a record; as Chroma's document, the value would be indexed three letters at a time.

    Everything needs a vector: a different one for each, or the index turns into islands.
    """
    angle = int.from_bytes(hashlib.sha256(entry.key.encode()).digest()[:4], "big") / 2**32 * 2 * math.pi
    vector = np.array([math.cos(angle), math.sin(angle)], np.float32)
    return Record(entry.key, vector, {"kind": entry.kind, "group": entry.group, "value": entry.value})


def to_entry(record: Record) -> Entry:
    """Read an entry."""
    fields = record.fields
    return Entry(record.id, str(fields["kind"]), str(fields["group"]), str(fields["value"]))


def point_size(point: Point) -> int:
    """Return about how many bytes a point takes in a request."""
    vector = 0 if point.vector is None else 6 * int(point.vector.size)
    return vector + 3 * (len(point.text) + len(point.terms) + len(point.heading)) + 300


def entry_size(entry: Entry) -> int:
    """Return about how many bytes an entry takes in a request."""
    return 3 * len(entry.value) + 200


MOST_AT_ONCE = 1000
# How many ids are asked for at once.
_PAGE = 20_000
_HNSW = {"ef_search": 1000, "ef_construction": 128, "max_neighbors": 32}

Result = TypeVar("Result")
Where = Mapping[str, Any]


class Record(NamedTuple):
    """What Chroma keeps of one thing."""

    id: str
    vector: Vectors | None
    fields: Mapping[str, Any]


class OurCollection:
    """A collection that says of itself what it is for, so that no other is taken for it."""

    def __init__(self, settings: DatabaseSettings, connection: Connection, kind: str, name: str) -> None:
        self._settings = settings
        self._connection = connection
        self._kind = kind
        self._name = name
        self._place: dict[str, Any] = {
            "tenant": settings.option("tenant", DEFAULT_TENANT),
            "database": settings.option("database", DEFAULT_DATABASE),
        }
        self._hnsw = {name: _at_least_two(settings, name, default) for name, default in _HNSW.items()}
        self._guard = threading.Lock()
        self._known: CollectionModel | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, which Chroma itself knows only after the first; None without any."""
        found = self._run(self._find)
        return _dimension(found) if found else None

    def make(self, dimension: int) -> int:
        """Make the collection unless it is there; return the length of its vectors."""
        return _dimension(self._run(lambda api: self._make(api, dimension)))

    def unmake(self) -> None:
        """Delete the collection if it is there and ours."""

        def work(api: ServerAPI) -> None:
            try:
                if self._find(api):
                    api.delete_collection(self._name, **self._place)
            except NotFoundError:
                pass
            with self._guard:
                self._known = None

        self._run(work)

    def _make(self, api: ServerAPI, dimension: int) -> CollectionModel:
        found = self._find(api)
        if found is None:
            configuration: Any = {"hnsw": {"space": "cosine", **self._hnsw}, "embedding_function": None}
            facts = {"pinakes": self._kind, "dimension": dimension}
            try:
                api.create_collection(self._name, configuration=configuration, metadata=facts, **self._place)
            except ChromaError:
                # Somebody else may have been faster; if that is not it, the error is for the caller.
                if self._find(api) is None:
                    raise
            found = self._find(api)
        if found is None:
            raise StoreSchemaError(f"chromadb: the collection {self._name} is being dropped.")
        return found

    def _find(self, api: ServerAPI) -> CollectionModel | None:
        """Look the collection up, and check that it is ours."""
        try:
            found = api.get_collection(self._name, **self._place)
        except NotFoundError:
            return None
        facts = found.metadata or {}
        if facts.get("pinakes") != self._kind or not isinstance(facts.get("dimension"), int):
            raise StoreSchemaError(
                f"chromadb: there is a collection {self._name} that is not a library of Pinakes; choose another "
                "name in collection."
            )
        with self._guard:
            self._known = found
        return found

    # -- its records -----------------------------------------------------------------------------------------

    def most(self) -> int:
        """Return how many records a write may have: as many as we want, if the database takes them."""
        return max(1, min(MOST_AT_ONCE, self._run(lambda api: api.get_max_batch_size())))

    def write(self, records: Sequence[Record]) -> None:
        """Store records, each with a vector, in place of those with the same ids."""
        ids, vectors, fields = zip(*records, strict=True)
        matrix: Any = np.stack(vectors)
        self._on(lambda collection: collection.upsert(list(ids), matrix, list(fields)))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete records by id."""
        for batch in _pieces(ids, MOST_AT_ONCE):
            self._on(lambda collection, batch=batch: collection.delete(ids=batch))  # type: ignore[misc]

    def read(self, ids: Sequence[str], *, vectors: bool, most: int = MOST_AT_ONCE) -> Iterator[list[Record]]:
        """Return records by id, in batches."""
        for batch in _pieces(ids, most):
            yield self._on(lambda collection, batch=batch: _records(collection, batch, vectors))  # type: ignore[misc]

    def ids(self, where: Where | None) -> list[str]:
        """Return all ids that fit, each once."""
        chosen: Any = where
        found: dict[str, None] = {}
        while True:
            page = self._on(
                lambda collection: collection.get(where=chosen, limit=_PAGE, offset=len(found), include=[])[
                    "ids"
                ]
            )
            found.update(dict.fromkeys(page))
            if len(page) < _PAGE:
                return list(found)

    def count(self) -> int:
        """Return how many records there are."""
        return int(self._on(lambda collection: collection.count()))

    def nearest(self, vector: Vectors, limit: int, where: Where | None) -> list[Found]:
        """Return what Chroma's index finds: ids and cosines."""
        query: Any = [np.asarray(vector, np.float32)]
        chosen: Any = where

        def work(collection: ChromaCollection) -> list[Found]:
            answer = collection.query(query, n_results=limit, where=chosen, include=["distances"])
            distances = answer["distances"] or [[]]
            pairs = zip(answer["ids"][0], distances[0], strict=True)
            return [Found(name, 1.0 - float(far)) for name, far in pairs]

        return self._on(work)

    def _run(self, work: Callable[[ServerAPI], Result]) -> Result:
        def attempt() -> Result:
            with chroma_errors(self._settings), self._connection.api() as api:
                return work(api)

        return retrying(attempt)

    def _on(self, work: Callable[[ChromaCollection], Result]) -> Result:
        """Work on the collection; look it up again when it was made anew since it was last seen."""

        def attempt(api: ServerAPI) -> Result:
            known = self._known
            if known is not None:
                try:
                    return work(ChromaCollection(api, known, embedding_function=None))
                except NotFoundError:
                    pass
            found = self._find(api)
            if found is None:
                raise StoreSchemaError(f"chromadb: there is no collection {self._name}; create it.")
            return work(ChromaCollection(api, found, embedding_function=None))

        return self._run(attempt)


def _records(collection: ChromaCollection, ids: list[str], vectors: bool) -> list[Record]:
    got = collection.get(ids=ids, include=["metadatas", "embeddings"] if vectors else ["metadatas"])
    matrix = got["embeddings"] if vectors else None
    fields = got["metadatas"] or [{}] * len(got["ids"])
    return [
        Record(name, None if matrix is None else np.asarray(matrix[at], np.float32), known or {})
        for at, (name, known) in enumerate(zip(got["ids"], fields, strict=True))
    ]


def _pieces(ids: Sequence[str], most: int) -> Iterator[list[str]]:
    return batches(list(dict.fromkeys(ids)), most)


def _dimension(found: CollectionModel) -> int:
    return int((found.metadata or {})["dimension"])


def _at_least_two(settings: DatabaseSettings, name: str, default: int) -> int:
    value: int = settings.option(name, default)
    if value < 2:
        raise UsageError(
            f"The option {name} of the database provider chromadb must be at least 2, not {value}."
        )
    return value
