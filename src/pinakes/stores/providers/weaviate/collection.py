"""The two Weaviate collections of a library: their shape, their objects, and what is done with them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from weaviate import WeaviateClient
from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter
from weaviate.collections import Collection as WeaviateCollection
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateInsertManyAllFailedError

from pinakes.errors import StoreError, StoreSchemaError
from pinakes.stores.providers.batches import batches, sized_batches
from pinakes.stores.providers.weaviate.connection import Result, TooLargeError, WeaviateLink
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Entry, Point

POINT_FIELDS = ("document", "source_path", "heading", "language", "file_type", "text", "terms")
ENTRY_FIELDS = ("key", "kind", "group", "value")
# What every point has in ``kind``: a filter that all pass makes the server compare every vector.
PASSAGE = "passage"
VECTOR = "default"
_POINTS = "Pinakes passages with vectors of length {}; see the collection of entries beside it."
_POINTS_OURS = re.compile(r"Pinakes passages with vectors of length (\d+);")
_ENTRIES = "Pinakes entries: what the library knows of its documents."


def class_names(collection: str) -> tuple[str, str]:
    """Return the names of the points and of the entries; a hyphen becomes two underscores, so all stay apart.

    >>> class_names("tax-law_2024")
    ('Tax__law_2024Points', 'Tax__law_2024Entries')
    """
    name = collection.replace("-", "__")
    name = name[0].upper() + name[1:]
    return f"{name}Points", f"{name}Entries"


def read_dimension(client: WeaviateClient, name: str) -> int | None:
    """Return the length of the vectors of a collection of points; None when there is none."""
    description = _description(client, name)
    if description is None:
        return None
    found = _POINTS_OURS.match(description)
    if found is None:
        raise _foreign(name)
    return int(found[1])


def has_entries(client: WeaviateClient, name: str) -> bool:
    """Whether the collection of entries is there."""
    description = _description(client, name)
    if description is not None and description != _ENTRIES:
        raise _foreign(name)
    return description is not None


def make_points(client: WeaviateClient, name: str, dimension: int, settings: DatabaseSettings) -> None:
    """Make the collection of points; no harm is done if another made it just now."""
    replicas = settings.option("replicas", 0)
    _unless_there(
        client,
        name,
        lambda: client.collections.create(
            name,
            description=_POINTS.format(dimension),
            properties=[
                _exact("kind"),
                _exact("document"),
                _kept("source_path"),
                _kept("heading"),
                _exact("language"),
                _exact("file_type"),
                _kept("text"),
                Property(
                    name="terms",
                    data_type=DataType.TEXT,
                    tokenization=Tokenization.WHITESPACE,
                    index_filterable=False,
                    index_searchable=True,
                ),
            ],
            vector_config=Configure.Vectors.self_provided(
                name=VECTOR,
                vector_index_config=Configure.VectorIndex.hnsw(
                    distance_metric=VectorDistances.COSINE,
                    ef=settings.option("ef", 512),
                    ef_construction=settings.option("ef_construction", 256),
                    max_connections=settings.option("max_connections", 32),
                    flat_search_cutoff=max(settings.option("exact_below", 40_000), 0),
                ),
            ),
            # The words were analysed before: none of them is to be left out.
            inverted_index_config=Configure.inverted_index(stopwords_preset=StopwordsPreset.NONE),
            replication_config=Configure.replication(factor=replicas) if replicas else None,
        ),
    )


def make_entries(client: WeaviateClient, name: str, settings: DatabaseSettings) -> None:
    """Make the collection of entries."""
    replicas = settings.option("replicas", 0)
    _unless_there(
        client,
        name,
        lambda: client.collections.create(
            name,
            description=_ENTRIES,
            properties=[_exact("key"), _exact("kind"), _exact("group"), _kept("value")],
            vector_config=Configure.Vectors.self_provided(name=VECTOR),
            replication_config=Configure.replication(factor=replicas) if replicas else None,
        ),
    )


def delete_class(client: WeaviateClient, name: str) -> None:
    """Delete a collection, also when it is gone already."""
    try:
        client.collections.delete(name)
    except UnexpectedStatusCodeError as error:
        if error.status_code not in (400, 404) or _description(client, name) is not None:
            raise


def _exact(name: str) -> Property:
    return Property(
        name=name,
        data_type=DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_filterable=True,
        index_searchable=False,
    )


def _kept(name: str) -> Property:
    """Return a text that is only kept: an index of it would cost room and serve nobody."""
    return Property(name=name, data_type=DataType.TEXT, index_filterable=False, index_searchable=False)


def _description(client: WeaviateClient, name: str) -> str | None:
    """Return the description of a collection; None when it does not exist."""
    try:
        return client.collections.export_config(name).description or ""
    except UnexpectedStatusCodeError as error:
        if error.status_code == 404:
            return None
        raise
    except (KeyError, ValueError):
        # The client cannot read it: it has parts that we do not make.
        return ""


def _unless_there(client: WeaviateClient, name: str, make: Callable[[], object]) -> None:
    try:
        make()
    except UnexpectedStatusCodeError as error:
        # Two who make it at once: the second is refused, and has what it wanted.
        if error.status_code != 422 or _description(client, name) is None:
            raise


def _foreign(name: str) -> StoreSchemaError:
    return StoreSchemaError(
        f"weaviate has a collection {name} that Pinakes did not make: choose another name in the setting collection, "
        "or remove it."
    )


Object = DataObject[Any, Any]

# A message may have 10 MB on older servers, 100 MB on newer ones.
_BATCH_BYTES = 6_000_000
_ENTRY_IDS = uuid.UUID("6a0e3f4e-9f0b-5c61-8a51-0f1c3c2d7b11")


def object_of(point: Point) -> Object:
    """Return a point as an object to store."""
    fields = {name: getattr(point, name) for name in POINT_FIELDS}
    # Without the field, not with an empty one: a point without terms takes no part in the ranking by words.
    # Names of files may hold what is no text; nothing but text can be sent.
    kept = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items() if value}
    vector = None if point.vector is None else {VECTOR: point.vector.tolist()}
    return DataObject(properties={"kind": PASSAGE, **kept}, uuid=point.id, vector=vector)


def point_of(item: Any) -> Point:
    """Return an object as the point it is; its document is in its id."""
    fields = {name: value for name in POINT_FIELDS if (value := item.properties.get(name))}
    fields.setdefault("document", item.uuid.hex[:16])
    held = item.vector.get(VECTOR)
    return Point(str(item.uuid), vector=np.asarray(held, np.float32) if held else None, **fields)


def entry_object(entry: Entry) -> Object:
    """Return an entry as an object to store."""
    return DataObject(properties=entry._asdict(), uuid=entry_id(entry.key))


def entry_of(item: Any) -> Entry:
    """Return an object as the entry it is."""
    return Entry(*(item.properties.get(field) or "" for field in ENTRY_FIELDS))


def entry_id(key: str) -> str:
    """Return the id of the entry with a key: Weaviate takes nothing but UUIDs."""
    return str(uuid.uuid5(_ENTRY_IDS, key))


def of_documents(documents: Collection[str] | None) -> Any:
    """Return the filter for some documents; None for all."""
    return None if documents is None else Filter.by_property("document").contains_any(list(documents))


def query_words(terms: Sequence[str]) -> str:
    """Return a query of words; what has a space in it is no word of ours, and would be read as several."""
    return " ".join(term for term in terms if len(term.split()) == 1)


def _weight(item: Object) -> int:
    numbers = item.vector[VECTOR] if isinstance(item.vector, dict) else ()
    # Four bytes are the most that a character takes, and what a number of a vector takes.
    return 4 * (sum(map(len, item.properties.values())) + len(numbers))


# QUERY_MAXIMUM_RESULTS of a server as it comes.
WINDOW = 10_000
PAGE = 1_000
# Of objects with what is in them.
FULL_PAGE = 250
_DELETES = 1_000
FIRST = uuid.UUID(int=0)


class WeaviateTable:
    """A collection by its name."""

    def __init__(self, link: WeaviateLink, name: str) -> None:
        self._link = link
        self.name = name

    def run(self, call: Callable[[WeaviateCollection[Any, Any]], Result]) -> Result:
        """Return what a call of the collection returns."""
        return self._link.run(lambda client: call(client.collections.use(self.name)))

    def insert(self, objects: Sequence[Object], most: int) -> None:
        """Store objects in place of those with the same ids, so many at a time."""
        for batch in sized_batches(objects, _weight, most=most, total=_BATCH_BYTES):
            try:
                done = self.run(lambda table, batch=batch: table.data.insert_many(batch))  # type: ignore[misc]
            except StoreError as error:
                if isinstance(error.__cause__, WeaviateInsertManyAllFailedError):
                    raise self._refused(str(error.__cause__)) from error
                raise
            if done.has_errors:
                raise self._refused(next(iter(done.errors.values())).message)

    def _refused(self, why: str) -> StoreError:
        told = str(self._link.error(f"the collection {self.name} refused an object: {why}"))
        return StoreSchemaError(told) if "vector" in why and "length" in why else StoreError(told)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete objects by id."""
        for named in batches(ids, _DELETES):
            some = Filter.by_id().contains_any(named)
            done = self.run(lambda table, some=some: table.data.delete_many(where=some))  # type: ignore[misc]
            if done.failed:
                raise self._link.error(f"{done.failed} objects of {self.name} could not be deleted.")

    def by_id(self, ids: Sequence[str], fields: Sequence[str], *, vectors: bool = False) -> Iterator[Any]:
        """Return the objects that exist of some ids."""
        for some in batches(ids, FULL_PAGE):
            yield from self._named(some, list(fields), vectors)

    def _named(self, ids: list[str], fields: list[str], vectors: bool) -> list[Any]:
        try:
            found = self.run(
                lambda table: table.query.fetch_objects(
                    filters=Filter.by_id().contains_any(ids),
                    limit=len(ids),
                    return_properties=fields,
                    include_vector=vectors,
                )
            )
        except TooLargeError:
            if len(ids) == 1:
                raise
            half = len(ids) // 2
            return self._named(ids[:half], fields, vectors) + self._named(ids[half:], fields, vectors)
        return list(found.objects)

    def walk(self, after: uuid.UUID, fields: Sequence[str], *, vectors: bool = False) -> Iterator[list[Any]]:
        """Return all objects behind an id, in pages and in the order of their ids."""
        size = FULL_PAGE if vectors else PAGE
        while True:
            try:
                found = self.run(
                    lambda table, after=after, size=size: table.query.fetch_objects(  # type: ignore[misc]
                        limit=size, after=after, return_properties=list(fields), include_vector=vectors
                    )
                )
            except TooLargeError:
                if size == 1:
                    raise
                size //= 2
                continue
            page = list(found.objects)
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1].uuid

    def matching(self, wanted: Any) -> list[str] | None:
        """Return the ids of the objects that pass a filter; None when there are more than one answer can hold."""
        found = self.run(
            lambda table: table.query.fetch_objects(filters=wanted, limit=WINDOW, return_properties=False)
        )
        ids = [str(item.uuid) for item in found.objects]
        return ids if len(ids) < WINDOW else None
