"""Milvus: a server or cluster, Zilliz Cloud, or a path that Milvus Lite serves in this process.

Milvus itself ranks words by BM25, from a text that it tokenises by its own rules. To keep words whole, the text only
has words that every analyzer leaves intact: those of plain letters and digits as they are, others as a hash. Texts have
a maximum size in bytes; the long value of an entry is stored in two fields.

Milvus Lite lets one process open a path, and one writer at a time change a collection: stores with the same path in
this process share its server, and take turns writing.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import grpc
import numpy as np
from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, WeightedRanker
from pymilvus.exceptions import ConnectionConfigException, MilvusException

from loccit.errors import (
    LoccitError,
    MissingExtraError,
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.providers.link import LONGEST_REASON, Link, Result, split_address, without_secrets
from loccit.index.providers.tables import Documents, TableStore, Weights, read_vector
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId
from loccit.index.store import Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

# Milvus's own codes: not ready, unavailable, too many requests, temporarily denied.
_BUSY = frozenset({2, 3, 4, 5, 8, 9})
_FORBIDDEN = frozenset({1400, 1401, 1402, 1403})
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


def translate(error: Exception, settings: DatabaseSettings, path: str | None) -> LoccitError:
    """Return our error for one of the client's."""
    if isinstance(error, LoccitError):
        return error
    if isinstance(error, ConnectionConfigException) and path is not None:
        return StoreUnavailableError(
            f"milvus: the path {path} of connection_string is locked, another process has it open (or it cannot be "
            "read). Close that one, or run a Milvus server, which many can use at once."
        )
    status = _status(error)
    code = getattr(error, "code", None)
    message = _message(error, settings)
    if status in _REFUSED or code in _FORBIDDEN or "permission deny" in message.lower():
        return StoreAccessError(
            "milvus: the server refuses the token, or user:password, in api_key. Check that it is the right one, "
            "and that it may do this."
        )
    if status is grpc.StatusCode.DEADLINE_EXCEEDED:
        return StoreUnavailableError(
            f"milvus: no answer within {settings.timeout:g} seconds. Check the server at connection_string, or "
            "raise timeout."
        )
    if status in _AWAY or isinstance(error, grpc.FutureTimeoutError):
        return StoreUnavailableError(
            "milvus: the server at connection_string cannot be reached. Check that it is running and that the address, "
            "its port and http or https are right."
        )
    if code in _BUSY or getattr(error, "retriable", False):
        return StoreUnavailableError(f"milvus: the server cannot do this right now: {message}")
    return StoreError(f"milvus: {message}")


def _status(error: BaseException) -> Any:
    """Return the gRPC status of the call; the client wraps errors in errors, and some in themselves."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        code = getattr(link, "code", None)
        found = code() if isinstance(link, grpc.RpcError) and callable(code) else code
        if isinstance(found, grpc.StatusCode):
            return found
        link = link.__cause__
    return None


def _message(error: Exception, settings: DatabaseSettings) -> str:
    text = error.message if isinstance(error, MilvusException) else str(error)
    _, _, password = settings.api_key.partition(":")
    text = without_secrets(text, settings.api_key, password, settings.connection_string)
    return " ".join(text.split())[:LONGEST_REASON] or type(error).__name__


_GOOD = (
    "use the address of a server such as http://localhost:19530 or https://xyz.zillizcloud.com:443, or a path that "
    "ends in .db such as ./milvus.db"
)
_VERSION = re.compile(r"(\d+)\.(\d+)")

# After a server was gone, retry soon: by default the delays grow to two minutes. In between every call fails at once,
# so they are shorter than the attempts of one call take together, .7 seconds at least.
_RECONNECT = {"grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 400}

# Both also log what they raise, in many lines; the errors are enough.
for _logger in ("pymilvus", "milvus_lite"):
    logging.getLogger(_logger).setLevel(logging.CRITICAL)
# And the client tries calls that Milvus Lite lacks, and does without them.
logging.getLogger("grpc._server").addFilter(
    lambda record: "Method not implemented" not in record.getMessage()
)


class _Served:
    """A path served by this process: the number of stores that use it, and the lock for writing."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self.users = 0


_paths: dict[str, _Served] = {}
_paths_guard = threading.RLock()


class MilvusLink(Link[Any]):
    """A server, or a path served by this process."""

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self.path: str | None = _check(settings)
        self._database: str = settings.option("database", "")
        self._served: _Served | None = None

    def writing(self) -> AbstractContextManager[object]:
        """Wait for the turn to write, if there are turns."""
        served = self._served
        return nullcontext() if served is None else served.turn

    def version(self) -> tuple[int, int]:
        """Return the version of the server; that of Milvus Lite counts as its own."""
        timeout = self.settings.timeout
        found = _VERSION.search(self.call(lambda client: client.get_server_version(timeout=timeout)))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def _connect(self) -> Any:
        if self.path is None:
            return self._open(self.settings.connection_string.strip(), self.settings.api_key)
        # Two processes starting the server of one path at once would lock each other out.
        with _paths_guard:
            _prepare(self.path)
            client = self._open(self.path, "")
            self._served = _paths.setdefault(self.path, _Served())
            self._served.users += 1
        return client

    def _open(self, uri: str, token: str) -> Any:
        return MilvusClient(
            uri,
            token=token,
            db_name=self._database,
            timeout=self.settings.timeout,
            grpc_options=_RECONNECT,
        )

    def _disconnect(self, client: Any) -> None:
        client.close()
        served, self._served = self._served, None
        if served is not None and self.path is not None:
            # The last store of a path frees it for other processes.
            _leave(self.path, served)

    def _translated(self, error: Any) -> BaseException:
        return translate(error, self.settings, self.path)


def _prepare(path: str) -> None:
    try:
        import milvus_lite  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError("Milvus Lite, for a path in connection_string,", "milvus") from error
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreAccessError(
            f"milvus: the path {path} of connection_string cannot be created: {error.strerror}. Change it, or the "
            "permissions of the folder it is in."
        ) from error


def _leave(path: str, served: _Served) -> None:
    from milvus_lite.server_manager import server_manager_instance

    with _paths_guard:
        served.users -= 1
        if served.users == 0:
            del _paths[path]
            server_manager_instance.release_server(path)


def _check(settings: DatabaseSettings) -> str | None:
    """Return the path in a connection string, None if it is an address; refuse anything else."""
    text = settings.connection_string.strip()
    if not text:
        raise UsageError(f"The database provider milvus needs a connection_string: {_GOOD}.")
    if "://" not in text:
        if not text.endswith(".db"):
            raise UsageError(
                f"The connection_string of milvus is neither an address nor a path that ends in .db: {_GOOD}."
            )
        path = Path(text).expanduser().absolute()
        if path.is_file():
            raise UsageError(
                "The connection_string of milvus names a file; Milvus Lite keeps a folder, and cannot read files of "
                "its versions before 3. Choose another path."
            )
        return str(path)
    split_address(settings, f"with an address: {_GOOD}", "the token, or user:password,")
    return None


DENSE = "passage"
SPARSE = "bm25"
# The first versions with BM25, and with inverted indexes for fields.
WITH_WORDS = (2, 5)
_WITH_INVERTED = (2, 4)
_MOST_BYTES = 65_535
# Characters of a value in the first of its two fields: four bytes each at most.
_HALF = 16_000
_TEXTS = {
    "terms": _MOST_BYTES,
    "source_path": 4_096,
    "heading": 16_384,
    "language": 64,
    "file_type": 64,
    "text": _MOST_BYTES,
}
_WHOLE = re.compile(r"[a-y0-9][a-z0-9]{0,39}")


def collection_name(name: str, suffix: str = "") -> str:
    """Return the name of a collection in Milvus, which allows no hyphens; unique for each collection."""
    return name.replace("-", "__") + (f"___{suffix}" if suffix else "")


def points_schema(dimension: int, *, words: bool) -> Any:
    """Return the fields of passages; without those for keyword search if the server is too old."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=36)
    schema.add_field("document", DataType.VARCHAR, max_length=64)
    for name, size in _TEXTS.items():
        schema.add_field(name, DataType.VARCHAR, max_length=size)
    schema.add_field(DENSE, DataType.FLOAT_VECTOR, dim=dimension)
    if words:
        analyzer = {"tokenizer": "standard"}
        schema.add_field(
            "words", DataType.VARCHAR, max_length=_MOST_BYTES, enable_analyzer=True, analyzer_params=analyzer
        )
        schema.add_field(SPARSE, DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("words_to_bm25", FunctionType.BM25, ["words"], [SPARSE]))
    return schema


def entries_schema() -> Any:
    """Return the fields of entries. Milvus wants a vector in everything: theirs is a dummy."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=64)
    for name in ("kind", "group"):
        schema.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ("value", "more"):
        schema.add_field(name, DataType.VARCHAR, max_length=_MOST_BYTES)
    schema.add_field("unused", DataType.FLOAT_VECTOR, dim=2)
    return schema


def points_indexes(dense: Mapping[str, Any], version: tuple[int, int]) -> dict[str, dict[str, Any]]:
    """Return the indexes of passages, by field."""
    indexes = {DENSE: {"metric_type": "COSINE", **dense}, "document": _scalar(version)}
    if version >= WITH_WORDS:
        indexes[SPARSE] = {
            "index_type": "SPARSE_INVERTED_INDEX",
            "metric_type": "BM25",
            "params": {"bm25_k1": 1.2, "bm25_b": 0.75},
        }
    return indexes


def entries_indexes(version: tuple[int, int]) -> dict[str, dict[str, Any]]:
    """Return the indexes of entries, by field."""
    nothing = {"index_type": "FLAT", "metric_type": "COSINE"}
    return {"unused": nothing, "kind": _scalar(version), "group": _scalar(version)}


def _scalar(version: tuple[int, int]) -> dict[str, Any]:
    return {"index_type": "INVERTED" if version >= _WITH_INVERTED else "Trie"}


def whole_words(terms: Iterable[str]) -> str:
    """Return words as a text that any analyzer splits into exactly these words."""
    return " ".join(term if _WHOLE.fullmatch(term) else f"z{_hash(term)}" for term in terms)


def _hash(term: str) -> str:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def cut(text: str, most: int) -> str:
    """Return as much of a text as fits into a number of bytes."""
    if 4 * len(text) > most or not text.isascii():
        return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
    return text


# The largest ef that Milvus takes.
_MOST_EF = 32_768
_CONSISTENCIES = ("Strong", "Session", "Bounded", "Eventually")


_NOT_LOADED = 101
# Milvus Lite scans unflushed rows one by one; from this many rows on flushing is worth it.
_UNSORTED = 2000
_ENTRY_FIELDS = [*Entry._fields, "more"]


@dataclass
class _Table:
    """A collection, whether it exists, and whether the server has loaded it."""

    name: str
    key: str
    consistency: str
    page: int
    loaded: bool = False
    unsorted: int = 0


class MilvusStore(TableStore[_Table, Mapping[str, Any]]):
    """Two collections: passages under the name of the library, and entries."""

    provider = "milvus"
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, max_results=16_384, batch=1000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "index": "Index of a new collection: flat compares all points; hnsw is for more than some 200,000 (flat).",
        "ef": "How many candidates a search by hnsw looks at, at least twice what it returns (256).",
        "m": "How many neighbours a point has in the graph of a new hnsw index (16).",
        "ef_construction": "How many candidates are looked at for each neighbour in a new hnsw index (200).",
        "consistency": "What a search sees: all writes (Strong), or fewer (Session, Bounded, Eventually).",
        "database": "The database of the server that holds the collection (the default one).",
        "tls": "Set to false to allow api_key on an http:// address that is not this machine (true).",
    }

    # The server refuses requests of more than 64 MB.
    bytes_at_once = 16_000_000

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._index = settings.choice("index", ("flat", "hnsw"))
        self._ef = settings.number("ef", 256)
        self._m = settings.number("m", 16)
        self._ef_construction = settings.number("ef_construction", 200)
        consistency = settings.choice("consistency", _CONSISTENCIES)
        self._link = MilvusLink(settings)
        self._timeout = {"timeout": settings.timeout}
        self._points = _Table(collection_name(settings.collection), "id", consistency, 1000)
        # Entries have to be visible at once to all, whatever a search may miss; and values can be large.
        self._entries = _Table(collection_name(settings.collection, "entries"), "key", "Strong", 200)
        self._words: bool | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors; None if there is no such collection."""
        if (fields := self._fields(self._points)) is None:
            return None
        dense = fields.get(DENSE, {"type": None})
        if dense["type"] != DataType.FLOAT_VECTOR or not {"id", "document", *_TEXTS} <= fields.keys():
            raise self._foreign(self._points, "is not a Loccit library")
        return int(dense["params"]["dim"])

    def _has_entries(self) -> bool:
        fields = self._fields(self._entries)
        if fields is not None and not set(_ENTRY_FIELDS) <= fields.keys():
            raise self._foreign(self._entries, "does not hold Loccit entries")
        return fields is not None

    def _foreign(self, where: _Table, what: str) -> StoreSchemaError:
        return StoreSchemaError(
            f"milvus: there is a collection {where.name} that {what}. Choose another name in collection."
        )

    def _fields(self, where: _Table) -> dict[str, Any] | None:
        def look(client: Any) -> dict[str, Any] | None:
            if not client.has_collection(where.name, **self._timeout):
                return None
            found = client.describe_collection(where.name, **self._timeout)
            return {field["name"]: field for field in found["fields"]}

        return self._link.call(look)

    def _make(self, dimension: int) -> None:
        version = self._link.version()
        if self._fields(self._points) is None:
            self._make_one(self._points, points_schema(dimension, words=version >= WITH_WORDS))
        if not self._has_entries():
            self._make_one(self._entries, entries_schema())
        graph = {"M": self._m, "efConstruction": self._ef_construction}
        dense = {"index_type": "HNSW", "params": graph} if self._index == "hnsw" else {"index_type": "FLAT"}
        self._finish(self._points, points_indexes(dense, version))
        self._finish(self._entries, entries_indexes(version))

    def _make_one(self, where: _Table, schema: Any) -> None:
        try:
            self._alone(
                lambda client: client.create_collection(
                    where.name, schema=schema, consistency_level=where.consistency, **self._timeout
                )
            )
        except StoreError:
            # Another process may have done so at the same moment.
            if self._fields(where) is None:
                raise

    def _finish(self, where: _Table, indexes: Mapping[str, Mapping[str, Any]]) -> None:
        """Create missing indexes, and load the collection."""
        for field, index in indexes.items():
            if field not in self._indexed(where):
                self._make_index(where, field, index)
        self._ready(where, lambda client: None)

    def _indexed(self, where: _Table) -> list[str]:
        return self._link.call(lambda client: list(client.list_indexes(where.name)))

    def _make_index(self, where: _Table, field: str, index: Mapping[str, Any]) -> None:
        def add(client: Any) -> None:
            wanted = client.prepare_index_params()
            wanted.add_index(field, index_name=field, **index)
            # There is nothing in it yet that would be worth waiting for.
            client.create_index(where.name, wanted, sync=False, **self._timeout)

        try:
            self._alone(add)
        except StoreError:
            # Another made it a moment before.
            if field not in self._indexed(where):
                raise

    def drop(self) -> None:
        """Delete both collections, if they are ours."""
        if self.dimension() is not None:
            self._drop(self._points)
        if self._has_entries():
            self._drop(self._entries)
        self._words = None

    def _drop(self, where: _Table) -> None:
        self._alone(lambda client: client.drop_collection(where.name, **self._timeout))
        where.loaded = False

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._link.close()

    def _alone(self, work: Callable[[Any], Result]) -> Result:
        """Call a function while no other store of this process writes."""

        def in_turn(client: Any) -> Result:
            with self._link.writing():
                return work(client)

        return self._link.call(in_turn)

    def _ready(self, where: _Table, work: Callable[[Any], Result]) -> Result:
        """Call a function with the collection loaded; a restarted server has to load it first."""

        def attempt(client: Any) -> Result:
            if where.loaded:
                try:
                    return work(client)
                except MilvusException as error:
                    if error.code != _NOT_LOADED and "not loaded" not in error.message:
                        raise
            with self._link.writing():
                client.load_collection(where.name, **self._timeout)
            where.loaded = True
            return work(client)

        return self._link.call(attempt)

    def _has_words(self) -> bool:
        if self._words is None:
            self._words = SPARSE in (self._fields(self._points) or {})
        return self._words

    def _need_words(self, what: str) -> None:
        if not self._has_words():
            raise StoreError(
                f"milvus: {what} needs a server of version 2.5 or later, and a collection that was made there. "
                "Set native to none, or index again."
            )

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: _Table, rows: list[Mapping[str, Any]]) -> None:
        def send(client: Any) -> None:
            with self._link.writing():
                client.upsert(where.name, rows, **self._timeout)
                where.unsorted += len(rows)
                if where.unsorted >= _UNSORTED and self._link.path is not None:
                    client.flush(where.name, **self._timeout)
                    where.unsorted = 0

        self._ready(where, send)

    def _delete(self, where: _Table, keys: list[str]) -> None:
        def send(client: Any) -> None:
            with self._link.writing():
                client.delete(where.name, ids=keys, **self._timeout)

        self._ready(where, send)

    def _read(self, where: _Table, keys: list[str]) -> list[Mapping[str, Any]]:
        return self._query(where, one_of(where.key, keys), self._wanted(where, whole=True))

    def _query(self, where: _Table, condition: str, fields: list[str]) -> list[Mapping[str, Any]]:
        return self._ready(
            where,
            lambda client: list(
                client.query(
                    where.name,
                    filter=condition,
                    output_fields=fields,
                    consistency_level=where.consistency,
                    **self._timeout,
                )
            ),
        )

    def _scan(
        self, where: _Table, wanted: Mapping[str, str], *, whole: bool
    ) -> Iterator[list[Mapping[str, Any]]]:
        pages = self._ready(
            where,
            lambda client: client.query_iterator(
                where.name,
                batch_size=where.page,
                filter=" and ".join(f"{name} == {_quoted(value)}" for name, value in wanted.items()),
                output_fields=self._wanted(where, whole=whole),
                consistency_level=where.consistency,
                **self._timeout,
            ),
        )
        try:
            while batch := self._link.call(lambda _: list(pages.next())):
                yield batch
        finally:
            pages.close()

    def _wanted(self, where: _Table, *, whole: bool) -> list[str]:
        if where is self._entries:
            return _ENTRY_FIELDS
        return ["id", "document", *_TEXTS, DENSE] if whole else ["id"]

    def count(self) -> int:
        """Return the number of points."""
        return int(self._query(self._points, "", ["count(*)"])[0]["count(*)"])

    def _row(self, point: Point) -> dict[str, Any]:
        row: dict[str, Any] = {"id": point.id, "document": point.document, DENSE: point.vector}
        for name, size in _TEXTS.items():
            row[name] = cut(getattr(point, name), size)
        if self._has_words():
            row["words"] = cut(whole_words(point.terms.split()), _MOST_BYTES)
        return row

    def _point(self, row: Mapping[str, Any]) -> Point:
        # The id contains its document, if nothing else was requested.
        document = row.get("document") or PointId.parse(str(row["id"])).document
        return Point(
            str(row["id"]), document, read_vector(row.get(DENSE)), *(row.get(name) or "" for name in _TEXTS)
        )

    def _entry_row(self, entry: Entry) -> dict[str, Any]:
        first, more = entry.value[:_HALF], entry.value[_HALF:]
        return {**entry._asdict(), "value": first, "more": more, "unused": [1.0, 0.0]}

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        return Entry(row["key"], row["kind"], row["group"], row["value"] + row["more"])

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        return self._search(np.asarray(vector, np.float32), DENSE, self._effort(limit), limit, documents)

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        self._need_words("native: keyword")
        found = self._search(whole_words(terms), SPARSE, {"metric_type": "BM25"}, limit, documents)
        # Milvus Lite returns them as negative distances.
        return [Found(name, abs(score)) for name, score in found]

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Add up the scores of both searches in the server, each normalised to 0 to 1 and weighted."""
        if not terms:
            return self._nearest(vector, limit, documents)
        self._need_words("native: hybrid")
        total = sum(weights) or 1.0
        dense, some = np.asarray(vector, np.float32), _among(documents)
        legs = [
            AnnSearchRequest([dense], DENSE, self._effort(limit), limit, expr=some),
            AnnSearchRequest([whole_words(terms)], SPARSE, {"metric_type": "BM25"}, limit, expr=some),
        ]
        ranker = WeightedRanker(*(weight / total for weight in weights))
        return self._found(
            lambda client, how: client.hybrid_search(self._points.name, legs, ranker, **how), limit
        )

    def _search(
        self, query: Any, field: str, how: dict[str, Any], limit: int, documents: Documents
    ) -> list[Found]:
        return self._found(
            lambda client, common: client.search(
                self._points.name,
                data=[query],
                anns_field=field,
                filter=_among(documents),
                search_params=how,
                **common,
            ),
            limit,
        )

    def _found(self, work: Callable[[Any, Mapping[str, Any]], Any], limit: int) -> list[Found]:
        how = {
            "limit": limit,
            "output_fields": ["id"],
            "consistency_level": self._points.consistency,
            **self._timeout,
        }
        (found,) = self._ready(self._points, lambda client: work(client, how))
        return [Found(str(hit["id"]), float(hit["distance"])) for hit in found]

    def _effort(self, limit: int) -> dict[str, Any]:
        # Recent writes are searched by a coarse index of the server's own until it has built this one; with
        # flat it never builds one, and long lists of results are always complete.
        graph = {"ef": min(max(self._ef, 2 * limit), _MOST_EF)} if self._index == "hnsw" else {}
        return {"metric_type": "COSINE", "params": graph}


def one_of(field: str, values: list[str]) -> str:
    """Return the condition that a field has one of some values."""
    return f"{field} in {_quoted(values)}"


def _quoted(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _among(documents: Documents) -> str:
    return "" if documents is None else one_of("document", documents)
