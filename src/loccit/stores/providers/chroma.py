"""Chroma: a server, or a database in a folder on this machine.

Points are records of a collection with the library's name; entries are records of a second one beside it.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from chromadb.api import ServerAPI
from chromadb.api.models.Collection import Collection as ChromaCollection
from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT
from chromadb.errors import ChromaError, NotFoundError
from chromadb.types import Collection as CollectionModel

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreSchemaError
from loccit.stores.providers.chroma_link import chroma_errors, connect
from loccit.stores.providers.link import Result
from loccit.stores.providers.tables import Documents, TableStore, batches
from loccit.stores.retry import retrying
from loccit.stores.settings import DatabaseSettings
from loccit.stores.shared.ids import PointId
from loccit.stores.store import PAYLOAD, Capabilities, Entry, Found, Point

# How many ids are asked for at once.
_PAGE = 20_000
_HNSW = {"ef_search": 1000, "ef_construction": 128, "max_neighbors": 32}
_KINDS = ("points", "entries")


class Record(NamedTuple):
    """A Chroma record."""

    id: str
    vector: Vectors | None
    fields: Mapping[str, Any]


class ChromaStore(TableStore[str, Record]):
    """Two collections, marked with their purpose, so that no other is mistaken for one of them."""

    provider = "chromadb"
    capabilities: ClassVar[Capabilities] = Capabilities(max_filter=1000, batch=1000)
    known_options: ClassVar[Mapping[str, str]] = {
        "tenant": "The tenant on the server (default_tenant).",
        "database": "The database of the tenant (default_database).",
        "token_header": "The header that carries api_key: Authorization (as Bearer) or X-Chroma-Token.",
        "tls": "Set to false to send api_key over plain http:// to another machine.",
        "ca_file": "A file with the certificates to trust for https:// instead of the usual ones.",
        "ef_search": "How many candidates a search looks at, at least; for new collections (1000).",
        "ef_construction": "How many candidates are looked at when a point is stored; for new collections (128).",
        "max_neighbors": "How many neighbours a point has in the graph; for new collections (32).",
    }

    # A server takes requests of 40 MB unless told otherwise.
    page = 1_000

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._connection = connect(settings)
        # A dot is in no library's name, so this is never the name of another.
        self._points, self._entries = settings.collection, f"{settings.collection}.entries"
        self._place: dict[str, Any] = {
            "tenant": settings.option("tenant", DEFAULT_TENANT),
            "database": settings.option("database", DEFAULT_DATABASE),
        }
        self._hnsw = {name: settings.number(name, default, 2) for name, default in _HNSW.items()}
        self._guard = threading.Lock()
        self._known: dict[str, CollectionModel] = {}

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, which Chroma knows only after the first one; None without any."""
        if not self._connection.exists():
            return None
        found = self._run(lambda api: self._find(api, self._points))
        return int((found.metadata or {})["dimension"]) if found else None

    def _make(self, dimension: int) -> None:
        """Create both collections, the points last: once these exist, everything does."""
        self._run(lambda api: self._make_one(api, self._entries, 2))
        self._run(lambda api: self._make_one(api, self._points, dimension))

    def _make_one(self, api: ServerAPI, name: str, dimension: int) -> None:
        if self._find(api, name) is None:
            configuration: Any = {"hnsw": {"space": "cosine", **self._hnsw}, "embedding_function": None}
            facts = {"loccit": self._kind(name), "dimension": dimension}
            try:
                api.create_collection(name, configuration=configuration, metadata=facts, **self._place)
            except ChromaError:
                # Another process may have been faster; if that is not the cause, the caller gets the error.
                if self._find(api, name) is None:
                    raise
            if self._find(api, name) is None:
                raise StoreSchemaError(f"chromadb: the collection {name} is being dropped.")

    def drop(self) -> None:
        """Delete both collections, the points last: until then there is something to drop."""
        for name in (self._entries, self._points) if self._connection.exists() else ():
            self._run(lambda api, name=name: self._drop(api, name))  # type: ignore[misc]

    def _drop(self, api: ServerAPI, name: str) -> None:
        try:
            if self._find(api, name):
                api.delete_collection(name, **self._place)
        except NotFoundError:
            pass
        with self._guard:
            self._known.pop(name, None)

    def close(self) -> None:
        """Disconnect from the server or the folder."""
        self._connection.close()

    def _kind(self, name: str) -> str:
        return _KINDS[name == self._entries]

    def _find(self, api: ServerAPI, name: str) -> CollectionModel | None:
        """Look up a collection, and check that it is ours."""
        try:
            found = api.get_collection(name, **self._place)
        except NotFoundError:
            return None
        facts = found.metadata or {}
        if facts.get("loccit") != self._kind(name) or not isinstance(facts.get("dimension"), int):
            raise StoreSchemaError(
                f"chromadb: there is a collection {name} that is not a Loccit library; choose another name in "
                "collection."
            )
        with self._guard:
            self._known[name] = found
        return found

    def _run(self, work: Callable[[ServerAPI], Result]) -> Result:
        def attempt() -> Result:
            with chroma_errors(self.settings), self._connection.api() as api:
                return work(api)

        return retrying(attempt)

    def _on(self, where: str, work: Callable[[ChromaCollection], Result]) -> Result:
        """Work on a collection; look it up again if it was recreated since it was last seen."""

        def attempt(api: ServerAPI) -> Result:
            if (known := self._known.get(where)) is not None:
                try:
                    return work(ChromaCollection(api, known, embedding_function=None))
                except NotFoundError:
                    pass
            found = self._find(api, where)
            if found is None:
                raise StoreSchemaError(f"chromadb: there is no collection {where}; create it.")
            return work(ChromaCollection(api, found, embedding_function=None))

        return self._run(attempt)

    def count(self) -> int:
        """Return the number of points."""
        return int(self._on(self._points, lambda collection: collection.count()))

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[Record]) -> None:
        most = max(1, self._run(lambda api: api.get_max_batch_size()))
        for some in batches(rows, most):
            ids, vectors, fields = zip(*some, strict=True)
            matrix: Any = np.stack(vectors)
            self._on(
                where,
                lambda collection, ids=ids, matrix=matrix, fields=fields: collection.upsert(  # type: ignore[misc]
                    list(ids), matrix, list(fields)
                ),
            )

    def _delete(self, where: str, keys: list[str]) -> None:
        self._on(where, lambda collection: collection.delete(ids=keys))

    def _read(self, where: str, keys: list[str]) -> list[Record]:
        return self._on(where, lambda collection: _records(collection, keys, where == self._points))

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[Record]]:
        """List the ids first, so that nothing shifts when something is deleted."""
        each = [{name: value} for name, value in wanted.items()]
        names = self._ids(where, {"$and": each} if len(each) > 1 else each[0] if each else None)
        for some in batches(names, self._rows_at_once(where)):
            yield self._read(where, some) if whole else [Record(name, None, {}) for name in some]

    def _ids(self, where: str, chosen: Any) -> list[str]:
        """Return all matching ids, without duplicates."""
        found: dict[str, None] = {}
        while True:
            page = self._on(
                where,
                lambda collection: collection.get(where=chosen, limit=_PAGE, offset=len(found), include=[])[
                    "ids"
                ],
            )
            found.update(dict.fromkeys(page))
            if len(page) < _PAGE:
                return list(found)

    def _row(self, point: Point) -> Record:
        """Return a point as a record. All fields are always set, because Chroma keeps those that are left out."""
        if point.vector is None:
            # Chroma would try to embed it.
            raise self.without_vector(point)
        fields = {"document": point.document, **{name: getattr(point, name) for name in PAYLOAD}}
        return Record(point.id, np.asarray(point.vector, np.float32), fields)

    def _point(self, row: Record) -> Point:
        document = row.fields.get("document") or PointId.parse(row.id).document
        return Point(row.id, str(document), row.vector, *(str(row.fields.get(name, "")) for name in PAYLOAD))

    def _entry_row(self, entry: Entry) -> Record:
        """Return an entry as a record; as Chroma's document, the value would be indexed by trigrams.

        Everything needs a vector: a different one for each, or the index graph falls apart.
        """
        angle = int.from_bytes(hashlib.sha256(entry.key.encode()).digest()[:4], "big") / 2**32 * 2 * math.pi
        vector = np.array([math.cos(angle), math.sin(angle)], np.float32)
        return Record(entry.key, vector, {"kind": entry.kind, "group": entry.group, "value": entry.value})

    def _entry(self, row: Record) -> Entry:
        return Entry(row.id, *(str(row.fields[name]) for name in Entry._fields[1:]))

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search Chroma's index; if it returns too few points, compare the missing ones here."""
        query: Any = [np.asarray(vector, np.float32)]
        where: Any = None if documents is None else {"document": {"$in": documents}}

        def work(collection: ChromaCollection) -> list[Found]:
            answer = collection.query(query, n_results=limit, where=where, include=["distances"])
            distances = answer["distances"] or [[]]
            pairs = zip(answer["ids"][0], distances[0], strict=True)
            return [Found(name, 1.0 - float(far)) for name, far in pairs]

        found = self._on(self._points, work)
        if len(found) < limit and (where is not None or len(found) < self.count()):
            found = self._completed(found, query[0], where)[:limit]
        return found

    def _completed(self, found: list[Found], query: Vectors, where: Any) -> list[Found]:
        """Add what the index does not reach: many identical points make disconnected parts in its graph."""
        reached = {hit.id for hit in found}
        missing = [name for name in self._ids(self._points, where) if name not in reached]
        more = [
            Found(record.id, float(record.vector @ query) / (float(np.linalg.norm(record.vector)) or 1.0))
            for record in self._read_all(self._points, missing)
            if record.vector is not None
        ]
        return sorted([*found, *more], key=lambda hit: -hit.score)


def _records(collection: ChromaCollection, ids: list[str], vectors: bool) -> list[Record]:
    got = collection.get(ids=ids, include=["metadatas", "embeddings"] if vectors else ["metadatas"])
    matrix = got["embeddings"] if vectors else None
    fields = got["metadatas"] or [{}] * len(got["ids"])
    return [
        Record(name, None if matrix is None else np.asarray(matrix[at], np.float32), known or {})
        for at, (name, known) in enumerate(zip(got["ids"], fields, strict=True))
    ]
