"""The two Weaviate collections of a library: their names, their shape, and whether they are ours."""

from __future__ import annotations

import re
from collections.abc import Callable

from weaviate import WeaviateClient
from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)
from weaviate.exceptions import UnexpectedStatusCodeError

from pinakes.errors import StoreSchemaError
from pinakes.stores.settings import DatabaseSettings

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
