"""The two indexes of a library in Azure AI Search: their names, their fields, and whether they are ours."""

from __future__ import annotations

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.search.documents.indexes import SearchIndexClient
from azure.search.documents.indexes.models import (
    BM25SimilarityAlgorithm,
    HnswAlgorithmConfiguration,
    HnswParameters,
    SearchField,
    SearchFieldDataType,
    SearchIndex,
    SimpleField,
    VectorSearch,
    VectorSearchAlgorithmMetric,
    VectorSearchProfile,
)

from pinakes.errors import StoreSchemaError
from pinakes.stores.settings import DatabaseSettings

KEPT_FIELDS = ("source_path", "heading", "text")
POINT_FIELDS = ("document", *KEPT_FIELDS, "language", "file_type", "terms")
ENTRY_FIELDS = ("key", "kind", "group", "value")
_ALGORITHM = "hnsw"
_PROFILE = "cosine"
_TEXT = SearchFieldDataType.STRING


def index_names(collection: str) -> tuple[str, str]:
    """Return the names of the points and of the entries.

    Underscores are not allowed: they become hyphens, and a number at the end says which of them were underscores.

    >>> index_names("tax-law"), index_names("tax_law")[0]
    (('tax-law-points', 'tax-law-entries'), 'tax-law-points-u1')
    """
    separators = [letter for letter in collection if letter in "-_"]
    mask = sum(1 << at for at, letter in enumerate(separators) if letter == "_")
    name, mark = collection.replace("_", "-"), f"-u{mask:x}" if mask else ""
    return f"{name}-points{mark}", f"{name}-entries{mark}"


def read_dimension(client: SearchIndexClient, name: str) -> int | None:
    """Return the length of the vectors of an index of points; None when there is none."""
    index = _find(client, name)
    if index is None:
        return None
    fields = {field.name: field for field in index.fields}
    ours = {"id", "vector", *POINT_FIELDS} <= fields.keys() and bool(fields["id"].key)
    dimension = fields["vector"].vector_search_dimensions if ours else None
    if not dimension or fields["terms"].analyzer_name != "whitespace":
        raise _foreign(name)
    return int(dimension)


def has_entries(client: SearchIndexClient, name: str) -> bool:
    """Whether the index of entries is there."""
    index = _find(client, name)
    if index is not None:
        keys = {field.name: field.key for field in index.fields}
        if not keys.keys() >= set(ENTRY_FIELDS) or not keys["key"]:
            raise _foreign(name)
    return index is not None


def make_points(client: SearchIndexClient, name: str, dimension: int, settings: DatabaseSettings) -> None:
    """Make the index of points; no harm is done if another made it just now."""
    vectors = SearchField(
        name="vector",
        type="Collection(Edm.Single)",
        searchable=True,
        hidden=False,
        vector_search_dimensions=dimension,
        vector_search_profile_name=_PROFILE,
    )
    # The words were analysed before: they are only to be taken apart at the spaces.
    words = SearchField(name="terms", type=_TEXT, searchable=True, hidden=False, analyzer_name="whitespace")
    parameters = HnswParameters(
        m=settings.option("m", 8),
        ef_construction=settings.option("ef_construction", 400),
        ef_search=settings.option("ef_search", 1_000),
        metric=VectorSearchAlgorithmMetric.COSINE,
    )
    _make(
        client,
        SearchIndex(
            name=name,
            fields=[
                SimpleField(name="id", type=_TEXT, key=True, filterable=True, sortable=True),
                *(SimpleField(name=field, type=_TEXT) for field in KEPT_FIELDS),
                *(
                    SimpleField(name=field, type=_TEXT, filterable=True)
                    for field in ("document", "language", "file_type")
                ),
                words,
                vectors,
            ],
            similarity=BM25SimilarityAlgorithm(),
            vector_search=VectorSearch(
                algorithms=[HnswAlgorithmConfiguration(name=_ALGORITHM, parameters=parameters)],
                profiles=[VectorSearchProfile(name=_PROFILE, algorithm_configuration_name=_ALGORITHM)],
            ),
        ),
    )


def make_entries(client: SearchIndexClient, name: str) -> None:
    """Make the index of entries."""
    _make(
        client,
        SearchIndex(
            name=name,
            fields=[
                SimpleField(name="key", type=_TEXT, key=True, filterable=True, sortable=True),
                SimpleField(name="kind", type=_TEXT, filterable=True),
                SimpleField(name="group", type=_TEXT, filterable=True),
                SimpleField(name="value", type=_TEXT),
            ],
        ),
    )


def _find(client: SearchIndexClient, name: str) -> SearchIndex | None:
    try:
        found = client.get_index(name)
    except ResourceNotFoundError:
        return None
    if not isinstance(found, SearchIndex) or not found.fields:
        raise StoreSchemaError(
            "azure-ai-search: the answer is not that of a search service; check connection_string."
        )
    return found


def _make(client: SearchIndexClient, index: SearchIndex) -> None:
    try:
        # Only where there is none: an index that is there, and whose it is, was looked at before.
        client.create_or_update_index(index, match_condition=MatchConditions.IfMissing)
    except HttpResponseError as error:
        if error.status_code != 412:
            raise


def _foreign(name: str) -> StoreSchemaError:
    return StoreSchemaError(
        f"azure-ai-search has an index {name} with other fields than Pinakes makes: choose another name in the setting "
        "collection, or remove it."
    )
