"""Qdrant: a server, a cluster, or a folder that its client library searches itself.

A passage has a dense vector and, if it carries the words of its chunk, a sparse one. The sparse one has the part of
BM25 that is known when it is written, the saturated frequency of each word; the server adds the IDF when it searches.
Words are numbers there: hashes.

The library's local mode is made for one client and one thread: stores on the same folder in this process share one
client, and take turns.
"""

from __future__ import annotations

import atexit
import json
import math
import re
import sqlite3
import threading
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, ClassVar

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from loccit.errors import (
    LoccitError,
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.providers.link import Link, Result, split_address
from loccit.index.providers.tables import Documents, SizeWatch, TableStore, Weights, numbers, read_vector
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
MEMORY = ":memory:"
# The first version with fusion weights and conditional updates.
SERVER = (1, 17)
_GOOD = (
    "use the address of a server such as http://localhost:6333 or https://xyz.cloud.qdrant.io:6333, "
    "a folder such as ./qdrant, or :memory:"
)
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")
_VERSION = re.compile(r"(\d+)\.(\d+)")


class _Local:
    """A folder open in this process, and the number of stores that use it."""

    def __init__(self, client: QdrantClient) -> None:
        self.client = client
        self.guard = threading.RLock()
        self.users = 0
        self.eased: set[str] = set()

    def ease(self, name: str) -> None:
        """Avoid the two disk syncs that local mode makes for every point.

        The library keeps points in SQLite, one transaction each. With a write-ahead log none is lost if a process dies.
        The database is not part of its interface: if it is no longer found, everything works as before, only slower.
        """
        if name not in self.eased:
            self.eased.add(name)
            collections = getattr(getattr(self.client, "_client", None), "collections", {})
            storage = getattr(collections.get(name), "storage", None)
            database = getattr(storage, "storage", None)
            if isinstance(database, sqlite3.Connection):
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")


_folders: dict[str, _Local] = {}
_folders_guard = threading.RLock()


@atexit.register
def _close_folders() -> None:
    with _folders_guard:
        while _folders:
            _folders.popitem()[1].client.close()


class QdrantLink(Link[QdrantClient]):
    """A server, or a folder in which stores take turns."""

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.folder: str | None = _check(settings)
        self._local: _Local | None = None
        self._version: tuple[int, int] | None = None

    def once(self, work: Callable[[QdrantClient], Result]) -> Result:
        """Call a function with the client; in a folder, when it is this store's turn."""

        def in_turn(client: QdrantClient) -> Result:
            with nullcontext() if self._local is None else self._local.guard:
                return work(client)

        return super().once(in_turn)

    def ease(self, name: str) -> None:
        """Make writes to a collection in a folder fast; to be called with the client."""
        if self._local is not None:
            self._local.ease(name)

    def forget(self, name: str) -> None:
        """Record that a collection is gone; one with the same name may follow."""
        if self._local is not None:
            self._local.eased.discard(name)

    def require(self, version: tuple[int, int], what: str) -> None:
        """Refuse what an older server would silently do differently."""
        if self.folder is not None:
            return
        if self._version is None:
            found = _VERSION.match(self.call(lambda client: client.info()).version)
            self._version = (int(found[1]), int(found[2])) if found else (0, 0)
        if self._version < version:
            raise StoreError(
                f"qdrant: {what} needs a server of version {version[0]}.{version[1]} or later; this one is "
                f"{self._version[0]}.{self._version[1]}. Update it."
            )

    def _connect(self) -> QdrantClient:
        settings = self.settings
        if self.folder is not None:
            with _folders_guard:
                held = _folders.get(self.folder) or _Local(_open_folder(self.folder))
                _folders[self.folder] = held
                held.users += 1
            self._local = held
            return held.client
        with warnings.catch_warnings():
            # It warns of a key on a plain connection; we have refused that where it matters.
            warnings.simplefilter("ignore", UserWarning)
            return QdrantClient(
                url=settings.connection_string.strip(),
                api_key=settings.api_key or None,
                timeout=max(1, math.ceil(settings.timeout)),
                check_compatibility=False,
            )

    def _disconnect(self, client: QdrantClient) -> None:
        held, self._local = self._local, None
        if held is None:
            client.close()
            return
        with _folders_guard:
            held.users -= 1
            # The last store of a folder frees it for other processes; what is in memory stays until the process ends.
            if held.users == 0 and self.folder is not None and self.folder != MEMORY:
                del _folders[self.folder]
                with held.guard:
                    client.close()

    def _translated(self, error: Any) -> BaseException:
        if isinstance(error, LoccitError):
            return error
        if isinstance(error, UnexpectedResponse):
            return self._answered(error.status_code or 0, _reason(error))
        if isinstance(error, ResourceExhaustedResponse):
            return StoreUnavailableError(
                "qdrant: the server has too many requests right now. Try again later."
            )
        source = error.source if isinstance(error, ResponseHandlingException) else None
        if isinstance(source, httpx.TimeoutException):
            return StoreUnavailableError(
                f"qdrant: no answer within {self.settings.timeout:g} seconds. Check the server at "
                "connection_string, or raise timeout."
            )
        if isinstance(source, httpx.HTTPError | OSError):
            return StoreUnavailableError(
                "qdrant: the server at connection_string cannot be reached. Check that it is running and that the "
                "address, its port and http or https are right."
            )
        if isinstance(error, ResponseHandlingException | json.JSONDecodeError):
            return StoreError(
                "qdrant: the server's answer cannot be read. Check that connection_string is the address of "
                "Qdrant."
            )
        if isinstance(error, OSError):
            return StoreError(
                f"qdrant: the folder of connection_string cannot be used: {error.strerror or 'read or write failed'}."
            )
        return StoreError(f"qdrant: {self.shown(error)}")

    def _answered(self, status: int, reason: str) -> StoreError:
        if status in (401, 403):
            return StoreAccessError(
                f"qdrant: the server refuses the key in api_key ({status}). Check that it is the right one, and "
                "that it may write."
            )
        kind = StoreUnavailableError if status in _BUSY else StoreError
        return kind(f"qdrant: the server answered {status}: {self.shown(reason)}")


def is_missing(error: BaseException) -> bool:
    """Whether the server said that the collection does not exist."""
    cause = error.__cause__
    return isinstance(cause, UnexpectedResponse) and cause.status_code == 404


def _reason(error: UnexpectedResponse) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(error.content)["status"]["error"])
    return error.reason_phrase or "no reason given"


def _check(settings: DatabaseSettings) -> str | None:
    """Return the folder in a connection string, None if it is an address; refuse anything else."""
    text = settings.connection_string.strip()
    if not text:
        raise UsageError(f"The database provider qdrant needs a connection_string: {_GOOD}.")
    if text == MEMORY:
        return text
    if "://" not in text:
        if _HOST_AND_PORT.fullmatch(text):
            raise UsageError(
                f"The connection_string of qdrant looks like a host without http:// or https://: {_GOOD}."
            )
        path = Path(text).expanduser().absolute()
        if path.exists() and not path.is_dir():
            raise UsageError(f"The connection_string of qdrant names a file, not a folder: {_GOOD}.")
        return str(path)
    split_address(settings, f"with an address: {_GOOD}")
    return None


def _open_folder(folder: str) -> QdrantClient:
    try:
        if folder == MEMORY:
            return QdrantClient(location=MEMORY)
        return QdrantClient(path=folder, force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise StoreUnavailableError(
            f"qdrant: the folder {folder} of connection_string is locked, another process has it open. Close that "
            "one, or run a Qdrant server, which many can use at once."
        ) from error
    except PermissionError as error:
        raise StoreAccessError(
            f"qdrant: the folder {folder} of connection_string may not be written to. Change its permissions."
        ) from error
    except OSError as error:
        raise StoreError(
            f"qdrant: the folder {folder} of connection_string cannot be used: {error.strerror}."
        ) from error


DENSE = "passage"
SPARSE = "terms"
# BM25 parameters: how fast repetitions saturate, and how much long chunks are penalised.
_K1 = 1.2
_B = 0.75
_SCROLL = 1000
# How many writes of an entry are remembered in it: more than can happen between a write and its check.
_PAST = 32
# Vector numbers have only seven digits, in half as many bytes.
_DECIMALS = 8


def frequencies(terms: str, average: int) -> models.SparseVector:
    """Return the words of a chunk, each with its BM25 frequency."""
    words = terms.split()
    weigh_down = _K1 * (1 - _B + _B * len(words) / average)
    values: dict[int, float] = {}
    for word, count in Counter(words).items():
        number = word_number(word)
        values[number] = values.get(number, 0.0) + round(count * (_K1 + 1) / (count + weigh_down), 5)
    return models.SparseVector(indices=list(values), values=list(values.values()))


def asked(terms: Sequence[str]) -> models.SparseVector:
    """Return the words of a query."""
    counts = Counter(word_number(word) for word in terms)
    return models.SparseVector(indices=list(counts), values=[float(count) for count in counts.values()])


def word_number(word: str) -> int:
    """Return the dimension of a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big")


def entry_id(key: str) -> str:
    """Return the id of an entry; Qdrant only accepts UUIDs and numbers."""
    return str(uuid.UUID(bytes=sha256(key.encode()).digest()[:16]))


class QdrantStore(TableStore[str, Any]):
    """Two collections: passages under the name of the library, and entries."""

    provider = "qdrant"
    capabilities: ClassVar[Capabilities] = Capabilities(keyword=True, hybrid=True, claims=True)
    known_options: ClassVar[Mapping[str, str]] = {
        "hnsw_ef": "How many candidates a search of a large collection looks at, at least what it returns (256).",
        "exact_below": "Up to this many points every one is compared, so that results are exact (20000).",
        "average_terms": "How many words a chunk has on average, for the keyword ranking (200).",
        "rrf_k": "How slowly ranks lose weight in the native fusion; larger is slower (2, Qdrant's own).",
        "shards": "Number of shards of a new collection; 0 leaves it to the server (0).",
        "replicas": "Number of replicas of a new collection; 0 leaves it to the server (0).",
        "on_disk": "Whether vectors of a new collection stay on disk instead of in memory (false).",
        "quantization": "Whether a new collection keeps vectors as bytes too, and searches those first (false).",
        "tls": "Set to false to allow api_key on an http:// address that is not this machine (true).",
    }
    # The server refuses requests of more than 32 MB.
    page = 1000

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._hnsw_ef = settings.number("hnsw_ef", 256)
        exact_below = settings.number("exact_below", 20_000, 0)
        self._average = settings.number("average_terms", 200)
        self._rrf_k = settings.number("rrf_k", 2)
        self._shards = settings.number("shards", 0, 0)
        self._replicas = settings.number("replicas", 0, 0)
        self._on_disk = bool(settings.option("on_disk", False))
        self._quantized = bool(settings.option("quantization", False))
        self._link = QdrantLink(settings)
        # No collection of a library can have a dot in its name.
        self._points, self._entries = settings.collection, f"{settings.collection}.entries"
        self._watch = SizeWatch(lambda: self._count(exact=False), exact_below + 1)

    @property
    def alone(self) -> bool:
        """Whether it is a folder, which the client library opens for one process only."""
        return self._link.folder is not None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None if there is no such collection."""
        if (info := self._info(self._points)) is None:
            return None
        vectors, sparse = info.config.params.vectors, info.config.params.sparse_vectors or {}
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if dense is None or dense.distance != models.Distance.COSINE or SPARSE not in sparse:
            raise self._foreign(self._points, "is not a Loccit library")
        return dense.size

    def _has_entries(self) -> bool:
        info = self._info(self._entries)
        if info is not None and (info.config.params.vectors or info.config.params.sparse_vectors):
            raise self._foreign(self._entries, "holds vectors instead of entries")
        return info is not None

    def _foreign(self, name: str, what: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"qdrant: there is a collection {name} that {what}. Choose another name in collection."
        )

    def _info(self, name: str) -> models.CollectionInfo | None:
        def look(client: QdrantClient) -> models.CollectionInfo | None:
            return client.get_collection(name) if client.collection_exists(name) else None

        try:
            return self._link.call(look)
        except StoreError as error:
            if is_missing(error):
                return None
            raise

    def _make(self, dimension: int) -> None:
        if self._info(self._points) is None:
            self._make_one(self._points, lambda client: self._make_points(client, dimension))
        if not self._has_entries():
            self._make_one(
                self._entries,
                lambda client: client.create_collection(
                    self._entries,
                    vectors_config={},
                    replication_factor=self._replicas or None,
                    on_disk_payload=True,
                ),
            )
        # Indexed fields; local mode scans everything anyway.
        fields = [(self._points, "document"), *((self._entries, name) for name in ("kind", "group", "mark"))]
        for where, field in [] if self.alone else fields:
            self._index(where, field)

    def _make_one(self, name: str, work: Callable[[QdrantClient], object]) -> None:
        try:
            self._link.call(work)
        except StoreError:
            # Another process may have done so at the same moment.
            if self._info(name) is None:
                raise

    def _make_points(self, client: QdrantClient, dimension: int) -> None:
        dense = models.VectorParams(
            size=dimension, distance=models.Distance.COSINE, on_disk=self._on_disk or None
        )
        as_bytes = models.ScalarQuantizationConfig(
            type=models.ScalarType.INT8, quantile=0.99, always_ram=True
        )
        client.create_collection(
            self._points,
            vectors_config={DENSE: dense},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            shard_number=self._shards or None,
            replication_factor=self._replicas or None,
            quantization_config=models.ScalarQuantization(scalar=as_bytes) if self._quantized else None,
        )

    def _index(self, where: str, field: str) -> None:
        kind = models.PayloadSchemaType.KEYWORD
        self._link.call(
            lambda client: client.create_payload_index(where, field, field_schema=kind, wait=True)
        )

    def drop(self) -> None:
        """Delete both collections, if they are ours."""
        there = {self._points: self.dimension() is not None, self._entries: self._has_entries()}
        for name in (name for name, found in there.items() if found):
            self._link.call(lambda client, name=name: client.delete_collection(name))  # type: ignore[misc]
            self._link.forget(name)
        self._watch.forget()

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._link.close()

    def count(self) -> int:
        """Return the number of points."""
        return self._count(exact=True)

    def _count(self, *, exact: bool) -> int:
        return self._link.call(lambda client: client.count(self._points, exact=exact)).count

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[models.PointStruct]) -> None:
        def send(client: QdrantClient) -> None:
            self._link.ease(where)
            client.upsert(where, rows, wait=True)

        self._link.call(send)

    def _delete(self, where: str, keys: list[str]) -> None:
        chosen = models.PointIdsList(points=[*keys])
        self._link.call(lambda client: client.delete(where, chosen, wait=True))

    def _read(self, where: str, keys: list[str]) -> list[models.Record]:
        vectors = [DENSE] if where == self._points else False
        return self._link.call(lambda client: client.retrieve(where, keys, with_vectors=vectors))

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[models.Record]]:
        condition = models.Filter(must=[_is(name, value) for name, value in wanted.items()])
        vectors: list[str] | bool = [DENSE] if whole and where == self._points else False
        start: models.ExtendedPointId | None = None
        while True:
            found, start = self._link.call(
                lambda client, start=start: client.scroll(  # type: ignore[misc]
                    where,
                    condition if wanted else None,
                    limit=_SCROLL,
                    offset=start,
                    with_payload=whole,
                    with_vectors=vectors,
                )
            )
            if found:
                yield found
            if start is None:
                return

    def _row(self, point: Point) -> models.PointStruct:
        vectors: dict[str, Any] = {}
        if point.vector is not None:
            vectors[DENSE] = numbers(point.vector, _DECIMALS)
        if point.terms.strip():
            vectors[SPARSE] = frequencies(point.terms, self._average)
        payload = {"document": point.document, **{name: getattr(point, name) for name in PAYLOAD}}
        return models.PointStruct(id=point.id, vector=vectors, payload=payload)

    def _point(self, row: models.Record) -> Point:
        payload, name = row.payload or {}, str(row.id)
        vectors = row.vector if isinstance(row.vector, dict) else {}
        # The id contains its document, if nothing else was requested.
        document = payload.get("document") or PointId.parse(name).document
        return Point(
            name, document, read_vector(vectors.get(DENSE)), *(payload.get(field) or "" for field in PAYLOAD)
        )

    def _entry_row(self, entry: Entry) -> models.PointStruct:
        return self._marked(entry, uuid.uuid4().hex)

    def _marked(self, entry: Entry, mark: str, past: Sequence[str] = ()) -> models.PointStruct:
        """Return an entry as stored. Every write has a mark, and knows those before it."""
        payload = {**entry._asdict(), "mark": mark, "past": list(past)}
        return models.PointStruct(id=entry_id(entry.key), vector={}, payload=payload)

    def _entry(self, row: models.Record) -> Entry:
        return Entry(*(str((row.payload or {}).get(name, "")) for name in Entry._fields))

    def _entry_key(self, key: str) -> str:
        return entry_id(key)

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        return self._query(
            limit,
            query=numbers(vector, _DECIMALS),
            using=DENSE,
            query_filter=_among(documents),
            search_params=self._effort(limit),
        )

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        return self._query(limit, query=asked(terms), using=SPARSE, query_filter=_among(documents))

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Fuse both searches by reciprocal rank in the server; a weight divides the ranks of its side."""
        self._link.require(SERVER, "native: hybrid")
        some = _among(documents)
        meaning = models.Prefetch(
            query=numbers(vector, _DECIMALS),
            using=DENSE,
            filter=some,
            limit=limit,
            params=self._effort(limit),
        )
        words = models.Prefetch(query=asked(terms), using=SPARSE, filter=some, limit=limit)
        legs = [meaning, words] if terms else [meaning]
        fusion = models.Rrf(k=self._rrf_k, weights=list(weights[: len(legs)]))
        return self._query(limit, query=models.RrfQuery(rrf=fusion), prefetch=legs)

    def _query(self, limit: int, **how: Any) -> list[Found]:
        answer = self._link.call(
            lambda client: client.query_points(
                self._points, limit=limit, with_payload=False, with_vectors=False, **how
            )
        )
        return [Found(str(hit.id), hit.score) for hit in answer.points]

    def _effort(self, limit: int) -> models.SearchParams | None:
        """Return the search effort for the server; local mode always compares everything."""
        if self.alone:
            return None
        if self._watch.small():
            return models.SearchParams(exact=True)
        return models.SearchParams(hnsw_ef=max(self._hnsw_ef, limit))

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Write only over the exact write of the entry that was read, then check whether it succeeded.

        The server does not say whether a conditional update did anything. But a successful write has left its mark in
        the entry, even if others have written over it since.
        """
        self._link.require(SERVER, "sharing the work of indexing")
        mark = uuid.uuid4().hex
        return self._link.call(lambda client: self._swap(client, entry, expected, mark))

    def _swap(self, client: QdrantClient, entry: Entry, expected: str | None, mark: str) -> bool:
        value, marks = self._writing(client, entry.key)
        if mark in marks:
            # An earlier attempt whose answer was lost.
            return True
        if value != expected:
            return False
        client.upsert(
            self._entries,
            [self._marked(entry, mark, marks[: _PAST - 1])],
            wait=True,
            ordering=models.WriteOrdering.STRONG,
            update_filter=models.Filter(must=[_is("mark", marks[0])]) if marks else None,
            update_mode=models.UpdateMode.UPDATE_ONLY if marks else models.UpdateMode.INSERT_ONLY,
        )
        return mark in self._writing(client, entry.key)[1]

    def _writing(self, client: QdrantClient, key: str) -> tuple[str | None, list[str]]:
        """Return the value of an entry and the marks of its last writes, the latest first."""
        found = client.retrieve(
            self._entries, [entry_id(key)], consistency=models.ReadConsistencyType.MAJORITY
        )
        if not found:
            return None, []
        payload = found[0].payload or {}
        return str(payload["value"]), [str(payload["mark"]), *payload["past"]]


def _is(name: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=name, match=models.MatchValue(value=value))


def _among(documents: Documents) -> models.Filter | None:
    if documents is None:
        return None
    match = models.MatchAny(any=documents)
    return models.Filter(must=[models.FieldCondition(key="document", match=match)])
