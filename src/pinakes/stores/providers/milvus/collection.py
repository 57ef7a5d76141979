"""How passages and entries look in Milvus, and requests of a size that the server takes.

Milvus ranks words by BM25 itself, from a text that it takes apart by its own rules. So that no word is taken apart,
the text has only words that every analyzer leaves whole: those of plain letters and digits as they are, others by a
hash. Texts have a largest size in bytes; the long value of an entry is kept in two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from pymilvus import DataType, Function, FunctionType, MilvusClient
from pymilvus.exceptions import MilvusException

from pinakes.errors import StoreError, StoreSchemaError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.milvus.connection import MilvusConnection
from pinakes.stores.shared.ids import PointId
from pinakes.stores.store import Entry, Point

DENSE = "passage"
SPARSE = "bm25"
# From here on Milvus has BM25, from there on an inverted index for fields.
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
    """Return the name of a collection in Milvus, which takes no hyphens; no other collection has the same."""
    return name.replace("-", "__") + (f"___{suffix}" if suffix else "")


def points_schema(dimension: int, *, words: bool) -> Any:
    """Return the fields of passages; without those for the ranking of words where the server is too old for it."""
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
    """Return the fields of entries. Milvus wants a vector in everything: theirs says nothing."""
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
    """Return words as a text that any analyzer takes apart into just them."""
    return " ".join(term if _WHOLE.fullmatch(term) else f"z{_hash(term)}" for term in terms)


def _hash(term: str) -> str:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def to_row(point: Point, *, words: bool) -> dict[str, Any]:
    """Return a passage as Milvus takes it."""
    row: dict[str, Any] = {"id": point.id, "document": point.document, DENSE: point.vector}
    for name, size in _TEXTS.items():
        row[name] = cut(getattr(point, name), size)
    if words:
        row["words"] = cut(whole_words(point.terms.split()), _MOST_BYTES)
    return row


def to_point(row: Mapping[str, Any]) -> Point:
    """Read what Milvus returns for a passage; its document is in its id where nothing else was asked for."""
    vector = row.get(DENSE)
    return Point(
        str(row["id"]),
        row.get("document") or PointId.parse(str(row["id"])).document,
        None if vector is None else np.asarray(vector, np.float32),
        *(row.get(name) or "" for name in _TEXTS),
    )


def point_fields(*, vectors: bool) -> list[str]:
    """Return the fields of a passage to ask for."""
    return ["id", "document", *_TEXTS, DENSE] if vectors else ["id"]


def size_of(point: Point) -> int:
    """Return about how many bytes of a request a passage takes at most."""
    numbers = 0 if point.vector is None else 4 * len(point.vector)
    return numbers + 4 * (len(point.text) + 2 * len(point.terms) + len(point.heading)) + 500


def entry_row(entry: Entry) -> dict[str, Any]:
    """Return an entry as Milvus takes it."""
    first, more = entry.value[:_HALF], entry.value[_HALF:]
    return {**entry._asdict(), "value": first, "more": more, "unused": [1.0, 0.0]}


def to_entry(row: Mapping[str, Any]) -> Entry:
    """Read an entry."""
    return Entry(row["key"], row["kind"], row["group"], row["value"] + row["more"])


def one_of(field: str, values: Collection[str]) -> str:
    """Return the condition that a field has one of some values."""
    return f"{field} in {json.dumps(list(values), ensure_ascii=False)}"


def is_just(field: str, value: str) -> str:
    """Return the condition that a field has a value."""
    return f"{field} == {json.dumps(value, ensure_ascii=False)}"


def cut(text: str, most: int) -> str:
    """Return as much of a text as fits into a number of bytes."""
    if 4 * len(text) > most or not text.isascii():
        return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
    return text


def check_points(name: str, found: Mapping[str, Any]) -> int:
    """Return the dimension of a collection of passages; refuse one that is something else."""
    fields = {field["name"]: field for field in found["fields"]}
    dense = fields.get(DENSE)
    if (
        dense is None
        or dense["type"] != DataType.FLOAT_VECTOR
        or not {"id", "document", *_TEXTS} <= fields.keys()
    ):
        raise StoreSchemaError(
            f"milvus: there is a collection {name} that is no library of Pinakes. Choose another name in collection."
        )
    return int(dense["params"]["dim"])


def check_entries(name: str, found: Mapping[str, Any]) -> None:
    """Refuse a collection of entries that is something else."""
    if not {"key", "kind", "group", "value", "more"} <= {field["name"] for field in found["fields"]}:
        raise StoreSchemaError(
            f"milvus: there is a collection {name} that is not for entries of Pinakes. Choose another name in "
            "collection."
        )


def has_words(found: Mapping[str, Any]) -> bool:
    """Whether a collection of passages has the fields for the ranking of words."""
    return SPARSE in {field["name"] for field in found["fields"]}


_NOT_LOADED = 101
_IDS = 1000
# Milvus Lite compares what is not yet on disk row by row; from this many rows on it is worth writing them there.
_UNSORTED = 2000

Result = TypeVar("Result")


class MilvusCollection:
    """A collection by its name, whether it is there or not."""

    def __init__(
        self, connection: MilvusConnection, name: str, key: str, consistency: str, batch: int
    ) -> None:
        self.connection = connection
        self.name = name
        self._key = key
        self._consistency = consistency
        self._batch = batch
        self._loaded = False
        self._unsorted = 0

    def info(self) -> Mapping[str, Any] | None:
        """Return what the collection is made of; None when it is not there."""

        def look(client: Any) -> Mapping[str, Any] | None:
            if not client.has_collection(self.name, timeout=self.connection.timeout):
                return None
            found: Mapping[str, Any] = client.describe_collection(self.name, timeout=self.connection.timeout)
            return found

        return self.connection.call(look)

    def make(self, schema: Any) -> None:
        """Make the collection, unless another does so at the same moment."""

        def add(client: Any) -> None:
            with self.connection.writing():
                client.create_collection(
                    self.name,
                    schema=schema,
                    consistency_level=self._consistency,
                    timeout=self.connection.timeout,
                )

        try:
            self.connection.call(add)
        except StoreError:
            if self.info() is None:
                raise

    def finish(self, indexes: Mapping[str, Mapping[str, Any]]) -> None:
        """Make the indexes that are missing, and load the collection."""
        for field, index in indexes.items():
            if field not in self._indexed():
                self._index(field, index)
        self.ready(lambda client: None)

    def _indexed(self) -> list[str]:
        def look(client: Any) -> list[str]:
            names: list[str] = client.list_indexes(self.name)
            return names

        return self.connection.call(look)

    def _index(self, field: str, index: Mapping[str, Any]) -> None:
        def add(client: Any) -> None:
            wanted = client.prepare_index_params()
            wanted.add_index(field, index_name=field, **index)
            with self.connection.writing():
                # There is nothing in it yet that would be worth waiting for.
                client.create_index(self.name, wanted, timeout=self.connection.timeout, sync=False)

        try:
            self.connection.call(add)
        except StoreError:
            # Another made it a moment before.
            if field not in self._indexed():
                raise

    def drop(self) -> None:
        """Delete the collection."""

        def remove(client: Any) -> None:
            with self.connection.writing():
                client.drop_collection(self.name, timeout=self.connection.timeout)

        self.connection.call(remove)
        self._loaded = False

    def ready(self, work: Callable[[Any], Result]) -> Result:
        """Do something with the collection in memory; a server that was started again has to load it first."""

        def attempt(client: Any) -> Result:
            if self._loaded:
                try:
                    return work(client)
                except MilvusException as error:
                    if error.code != _NOT_LOADED and "not loaded" not in error.message:
                        raise
            with self.connection.writing():
                client.load_collection(self.name, timeout=self.connection.timeout)
            self._loaded = True
            return work(client)

        return self.connection.call(attempt)

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store things, in one request."""
        # The last of a key counts; the server wants each only once.
        unique = list({row[self._key]: dict(row) for row in rows}.values())

        def send(client: Any) -> None:
            with self.connection.writing():
                client.upsert(self.name, unique, timeout=self.connection.timeout)
                self._unsorted += len(unique)
                if self._unsorted >= _UNSORTED and self.connection.path is not None:
                    client.flush(self.name, timeout=self.connection.timeout)
                    self._unsorted = 0

        if unique:
            self.ready(send)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete things by key."""
        for some in batches(keys, _IDS):
            self._delete(some)

    def _delete(self, keys: list[str]) -> None:
        def send(client: Any) -> None:
            with self.connection.writing():
                client.delete(self.name, ids=keys, timeout=self.connection.timeout)

        self.ready(send)

    def fetch(self, keys: Sequence[str], fields: list[str]) -> Iterator[Mapping[str, Any]]:
        """Return things by key."""
        for some in batches(keys, self._batch):
            yield from self.query(one_of(self._key, some), fields)

    def query(self, condition: str, fields: list[str]) -> list[Mapping[str, Any]]:
        """Return what meets a condition, all at once."""
        return self.ready(
            lambda client: list(
                client.query(
                    self.name,
                    filter=condition,
                    output_fields=fields,
                    consistency_level=self._consistency,
                    timeout=self.connection.timeout,
                )
            )
        )

    def scan(self, condition: str, fields: list[str]) -> Iterator[list[Mapping[str, Any]]]:
        """Return what meets a condition, in batches."""
        pages = self.ready(
            lambda client: client.query_iterator(
                self.name,
                batch_size=self._batch,
                filter=condition,
                output_fields=fields,
                consistency_level=self._consistency,
                timeout=self.connection.timeout,
            )
        )
        try:
            while batch := self.connection.call(lambda _: list(pages.next())):
                yield batch
        finally:
            pages.close()

    def count(self) -> int:
        """Return how many things there are."""
        return int(self.query("", ["count(*)"])[0]["count(*)"])

    def search(self, work: Callable[[Any, Mapping[str, Any]], Any], limit: int) -> list[tuple[str, float]]:
        """Return the keys and scores that a search gives."""
        common = {
            "limit": limit,
            "output_fields": [self._key],
            "consistency_level": self._consistency,
            "timeout": self.connection.timeout,
        }
        (found,) = self.ready(lambda client: work(client, common))
        return [(str(hit[self._key]), float(hit["distance"])) for hit in found]
