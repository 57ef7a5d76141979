"""The two indexes of a library in Azure AI Search: their fields, and what is put into these."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
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
from pinakes.stores.providers.batches import sized_batches
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Point

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


BATCH = 1_000
# A request may have 16 MB; smaller ones are stored sooner.
_BATCH_BYTES = 8_000_000
# 3,000 clauses and 100,000 characters are allowed, and 32,766 bytes for a word.
_CLAUSES = 1_000
_QUERY = 90_000
_WORD = 8_000


def document_of(point: Point) -> dict[str, Any]:
    """Return a point as a document to upload."""
    # Names of files may hold what is no text; nothing but text can be sent.
    fields = {name: getattr(point, name).encode("utf-8", "replace").decode() for name in POINT_FIELDS}
    # Seven digits are what such a number holds; written out, it would be three times as long.
    vector = None if point.vector is None else point.vector.astype(np.float64).round(8).tolist()
    return {"id": point.id, **fields, "vector": vector}


def point_of(found: Mapping[str, Any]) -> Point:
    """Return a document as the point it is; the document it is of is in its id."""
    fields = {name: found.get(name) or "" for name in POINT_FIELDS}
    fields["document"] = fields["document"] or found["id"].replace("-", "")[:16]
    vector = found.get("vector")
    return Point(found["id"], vector=np.asarray(vector, np.float32) if vector else None, **fields)


def equal(field: str, value: str) -> str:
    """Return the filter for a value.

    >>> equal("kind", "it's")
    "kind eq 'it''s'"
    """
    return f"{field} eq '{_quoted(value)}'"


def behind(field: str, value: str) -> str:
    """Return the filter for all values after one."""
    return f"{field} gt '{_quoted(value)}'"


def one_of(field: str, values: Collection[str]) -> str:
    """Return the filter for some values, none of which has a comma in it."""
    return f"search.in({field}, '{_quoted(','.join(values))}', ',')"


def _quoted(value: str) -> str:
    return value.replace("'", "''")


def query_words(terms: Sequence[str]) -> str:
    r"""Return a query of words that are nothing but words; one with a space in it is none of ours.

    >>> query_words(["a-b", 'say"', "no word", "+x"])
    '"a-b" "say\\"" "+x"'
    """
    words: list[str] = []
    room = _QUERY
    for term in dict.fromkeys(terms):
        escaped = term.replace("\\", "\\\\").replace('"', '\\"')
        room -= len(escaped) + 3
        if room < 0 or len(words) == _CLAUSES:
            break
        if len(term.split()) == 1 and len(term) <= _WORD:
            words.append(f'"{escaped}"')
    return " ".join(words)


def batches(actions: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Return the bodies of requests that store and delete documents, each of a size that the service takes."""
    lines = (json.dumps(action, ensure_ascii=False, separators=(",", ":")).encode() for action in actions)
    return map(_body, sized_batches(lines, lambda line: len(line) + 1, most=BATCH, total=_BATCH_BYTES))


def _body(lines: Sequence[bytes]) -> bytes:
    return b'{"value":[' + b",".join(lines) + b"]}"
