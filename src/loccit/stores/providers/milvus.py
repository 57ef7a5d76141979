"""Milvus: a server or cluster, Zilliz Cloud, or a path that Milvus Lite serves in this process.

Milvus itself ranks words by BM25, from a text that it tokenises by its own rules. To keep words whole, the text only
has words that every analyzer leaves intact: those of plain letters and digits as they are, others as a hash. Texts have
a maximum size in bytes; the long value of an entry is stored in two fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, WeightedRanker
from pymilvus.exceptions import MilvusException

from loccit.embedding.protocol import Vectors
from loccit.errors import StoreError, StoreSchemaError
from loccit.stores.providers.link import Result
from loccit.stores.providers.milvus_link import MilvusLink
from loccit.stores.providers.tables import Documents, TableStore, Weights, read_vector
from loccit.stores.settings import DatabaseSettings
from loccit.stores.shared.ids import PointId
from loccit.stores.store import Capabilities, Entry, Found, Point

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
