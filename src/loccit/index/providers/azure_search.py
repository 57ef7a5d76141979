"""Azure AI Search, through its own client: an index of points and an index of entries."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from azure.core import MatchConditions
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import AzureError, DecodeError, HttpResponseError, ResourceNotFoundError
from azure.core.rest import HttpRequest
from azure.search.documents import SearchClient
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

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import Link, read_address
from loccit.index.providers.tables import (
    Documents,
    SizeWatch,
    TableStore,
    Weights,
    numbers,
    read_vector,
    text_only,
)
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

PROVIDER = "azure-ai-search"
_EXAMPLE = "https://NAME.search.windows.net"
# For documents; what is sent and answered has been the same since.
_API = "2024-07-01"
# Status of a document in a batch: write conflict, index being changed, or throttled.
_PASSING = (408, 409, 422, 429)


class _Clients:
    """The client for the indexes themselves, and one for the documents of each."""

    def __init__(self, settings: DatabaseSettings, url: str) -> None:
        # We retry requests ourselves, in the same way for all databases.
        self._options: dict[str, Any] = {
            "connection_timeout": settings.timeout,
            "read_timeout": settings.timeout,
            "retry_total": 0,
        }
        self._url, self._credential = url, AzureKeyCredential(settings.api_key)
        self.indexes = SearchIndexClient(url, self._credential, **self._options)
        self._documents: dict[str, SearchClient] = {}

    def documents(self, index: str) -> SearchClient:
        # Two threads may both create one: the second is kept, and the first serves its call.
        if index not in self._documents:
            self._documents[index] = SearchClient(self._url, index, self._credential, **self._options)
        return self._documents[index]

    def close(self) -> None:
        self.indexes.close()
        for client in self._documents.values():
            client.close()


class AzureSearchLink(Link[_Clients]):
    """The clients of a service."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (AzureError,)

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._url = read_address(settings, _EXAMPLE).url
        if not settings.api_key:
            raise UsageError(
                f"The database provider {PROVIDER} needs an api_key: an admin key of the search service, which its "
                "page in the Azure portal shows under Keys."
            )

    def _connect(self) -> _Clients:
        return _Clients(self.settings, self._url)

    def _translated(self, error: Any) -> StoreError:
        if isinstance(error, DecodeError):
            return self.stranger()
        if isinstance(error, HttpResponseError) and error.status_code is not None:
            return self.status_error(error.status_code, error.message)
        # No answer: refused, reset, or too slow. The client's own text names the host.
        return StoreUnavailableError(
            f"{PROVIDER} does not answer: check connection_string and that the network lets it through. The timeout "
            "setting says how long to wait."
        )

    def status_error(self, status: int, detail: str) -> StoreError:
        """Return our error for the status of an answer, or of a document in it."""
        if status in (401, 403):
            return StoreAccessError(
                f"{PROVIDER} refuses the api_key (status {status}): check that it is an admin key of this service and "
                "that the service allows keys and this network."
            )
        if status in _PASSING or status >= 500:
            return StoreUnavailableError(
                f"{PROVIDER} is busy or not ready (status {status}); try again later."
            )
        if status == 404:
            return self.error("there is no such index; it was deleted, or collection names another one")
        if "vector" in detail and ("dimension" in detail or "length" in detail):
            return StoreSchemaError(str(self.error(detail)))
        return self.error(f"status {status}: {detail}")

    def stranger(self) -> StoreError:
        """Return the error for an answer that is not from a search service."""
        return self.error("the answer is not from a search service; check connection_string")

    def error(self, detail: str) -> StoreError:
        """Return an error with the service's message."""
        return StoreError(f"{PROVIDER} could not complete the request: {self.shown(detail)}")


_KEPT = ("source_path", "heading", "text")
_POINT_FIELDS = ("document", *PAYLOAD)
_ALGORITHM = "hnsw"
_PROFILE = "cosine"
_TEXT = SearchFieldDataType.STRING
# Per answer; more are requested page by page. And for whole documents.
_PAGE, _FULL_PAGE = 1_000, 100
_MOST = 10_000


def index_names(collection: str) -> tuple[str, str]:
    """Return the names of the points and of the entries.

    Underscores are not allowed: they become hyphens, and a number at the end encodes which of them were underscores.

    >>> index_names("tax-law"), index_names("tax_law")[0]
    (('tax-law-points', 'tax-law-entries'), 'tax-law-points-u1')
    """
    separators = [letter for letter in collection if letter in "-_"]
    mask = sum(1 << at for at, letter in enumerate(separators) if letter == "_")
    name, mark = collection.replace("_", "-"), f"-u{mask:x}" if mask else ""
    return f"{name}-points{mark}", f"{name}-entries{mark}"


class AzureSearchStore(TableStore[str, Mapping[str, Any]]):
    """Vectors by HNSW or exhaustively, words by BM25, both fused by the service's reciprocal ranks."""

    provider = PROVIDER
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, eventual=True, max_results=_MOST, max_filter=1_000, batch=1_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "m": "Connections of a vector in the HNSW index, 4 to 10; set when the index is made (8).",
        "ef_construction": "How carefully the HNSW index is built, 100 to 1000 (400).",
        "ef_search": "How many candidates the HNSW index keeps while it searches, 100 to 1000 (1000).",
        "exact_below": "Below this many passages every vector is compared (10000).",
        "tls": "false allows api_key over http:// to another machine.",
    }

    # A request may have 16 MB; smaller ones are stored sooner.
    entries_at_once = 1_000
    page = _FULL_PAGE

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._link = AzureSearchLink(settings)
        self._points, self._entries = index_names(settings.collection)
        self._watch = SizeWatch(self.count, settings.option("exact_below", 10_000))

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, as the index states it."""
        if (fields := self._fields(self._points)) is None:
            return None
        ours = {"id", "vector", *_POINT_FIELDS} <= fields.keys() and bool(fields["id"].key)
        dimension = fields["vector"].vector_search_dimensions if ours else None
        if not dimension or fields["terms"].analyzer_name != "whitespace":
            raise _foreign(self._points)
        return int(dimension)

    def _has_entries(self) -> bool:
        fields = self._fields(self._entries)
        if fields is not None and (not set(Entry._fields) <= fields.keys() or not fields["key"].key):
            raise _foreign(self._entries)
        return fields is not None

    def _fields(self, index: str) -> dict[str, SearchField] | None:
        def look(clients: _Clients) -> dict[str, SearchField] | None:
            try:
                found = clients.indexes.get_index(index)
            except ResourceNotFoundError:
                return None
            if not isinstance(found, SearchIndex) or not found.fields:
                raise StoreSchemaError(
                    "azure-ai-search: the answer is not from a search service; check connection_string."
                )
            return {field.name: field for field in found.fields}

        return self._link.call(look)

    def _make(self, dimension: int) -> None:
        """Create both indexes, the points last: once these exist, everything does."""
        if self.dimension() is None:
            if not self._has_entries():
                self._make_one(_entries_index(self._entries))
            self._make_one(_points_index(self._points, dimension, self.settings))

    def _make_one(self, index: SearchIndex) -> None:
        def make(clients: _Clients) -> None:
            try:
                # Only if there is none: an existing index, and its owner, were checked before.
                clients.indexes.create_or_update_index(index, match_condition=MatchConditions.IfMissing)
            except HttpResponseError as error:
                if error.status_code != 412:
                    raise

        self._link.call(make)

    def drop(self) -> None:
        """Delete both indexes, if they are ours."""
        there = {self._points: self.dimension() is not None, self._entries: self._has_entries()}
        for name in (name for name, found in there.items() if found):
            self._link.call(lambda clients, name=name: clients.indexes.delete_index(name))  # type: ignore[misc]
        self._watch.forget()

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._link.close()

    def count(self) -> int:
        """Return the number of points."""
        return self._link.call(lambda clients: clients.documents(self._points).get_document_count())

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: Iterable[Mapping[str, Any]]) -> None:
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows)
        self._post(where, "search.index", b'{"value":[' + b",".join(lines) + b"]}", self._check_written)

    def _check_written(self, results: Any) -> None:
        """Raise if part of a batch failed; if temporarily, all of it is sent again."""
        for result in results:
            if not result["status"]:
                raise self._link.status_error(result["statusCode"], result.get("errorMessage") or "")

    def _delete(self, where: str, keys: list[str]) -> None:
        self._write(where, ({"@search.action": "delete", self._key(where): key} for key in keys))

    def _key(self, where: str) -> str:
        return "id" if where == self._points else "key"

    def _read(self, where: str, keys: list[str]) -> list[dict[str, Any]]:
        wanted = _one_of(self._key(where), keys)
        return self._ask(where, {"filter": wanted, "select": self._select(where), "top": _FULL_PAGE})

    def _select(self, where: str) -> str:
        return ",".join(["id", *_POINT_FIELDS, "vector"] if where == self._points else Entry._fields)

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[dict[str, Any]]]:
        """Yield all keys in order."""
        key, top = self._key(where), _FULL_PAGE if whole else _PAGE
        asked: dict[str, Any] = {"orderby": key, "select": self._select(where) if whole else key, "top": top}
        some = [f"{name} eq '{_quoted(value)}'" for name, value in wanted.items()]
        last: list[str] = []
        while True:
            parts = {"filter": " and ".join([*some, *last])} if some or last else {}
            page = self._ask(where, {**asked, **parts})
            if page:
                yield page
            if len(page) < top:
                return
            last = [f"{key} gt '{_quoted(page[-1][key])}'"]

    def _ask(self, index: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Search an index, and return the documents found; the service may need several answers for them."""
        found: list[dict[str, Any]] = []
        more: Mapping[str, Any] | None = asked
        while more is not None:
            answer = self._post(index, "search.post.search", json.dumps(more).encode())
            found += answer["value"]
            more = answer.get("@search.nextPageParameters")
        return found

    def _post(
        self, index: str, what: str, body: bytes, check: Callable[[Any], None] = lambda _: None
    ) -> dict[str, Any]:
        # Through the client, with its connections and key, but bypassing its models: they inspect every
        # number of every vector, which took six times as long as everything else.
        def send(clients: _Clients) -> dict[str, Any]:
            request = HttpRequest(
                "POST",
                f"/indexes('{index}')/docs/{what}?api-version={_API}",
                content=body,
                headers={"Content-Type": "application/json", "Accept": "application/json"},
            )
            response = clients.documents(index).send_request(request)
            response.raise_for_status()
            try:
                answer: dict[str, Any] = response.json()
                check(answer["value"])
            except (ValueError, KeyError, TypeError) as error:
                raise self._link.stranger() from error
            return answer

        return self._link.call(send)

    def _row(self, point: Point) -> dict[str, Any]:
        fields = {name: text_only(getattr(point, name)) for name in _POINT_FIELDS}
        # Such a number has seven digits; printed in full, it would be three times as long.
        vector = None if point.vector is None else numbers(point.vector, 8)
        return {"id": point.id, **fields, "vector": vector}

    def _point(self, row: Mapping[str, Any]) -> Point:
        fields = {name: row.get(name) or "" for name in _POINT_FIELDS}
        # The id contains its document.
        fields["document"] = fields["document"] or row["id"].replace("-", "")[:16]
        return Point(row["id"], vector=read_vector(row.get("vector") or None), **fields)

    def _entry_row(self, entry: Entry) -> dict[str, Any]:
        return entry._asdict()

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        return Entry(*(row[field] or "" for field in Entry._fields))

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Search by vector: exhaustively while the index is small, by HNSW beyond."""
        found = self._pages(limit, documents, self._near(vector, limit))
        # The score is 1 / (1 + distance), the distance 1 - cosine.
        return [Found(name, 2.0 - 1.0 / score) for name, score in found]

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        """Search the terms by BM25; one of the words is enough."""
        words = query_words(terms)
        return self._pages(limit, documents, _by_words(words)) if words else []

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Fuse both searches by their ranks, as the service does.

        It adds up 1 / (60 + rank) times the weight. Ranks differ so little that what both find comes before the best
        semantic hits, however much these are to weigh: the square of the ratio comes closer to our own fusion of scores
        (of the ten best of Cranfield .92 instead of .88 are the same, at the default weights).
        """
        words = query_words(terms)
        if not words or weights[1] <= 0:
            return self._nearest(vector, limit, documents)
        if weights[0] <= 0:
            return self._worded(terms, limit, documents)
        ratio = weights[0] / weights[1]
        near = self._near(vector, limit, ratio**2 if ratio > 1 else ratio)
        return self._pages(limit, documents, {**near, **_by_words(words)})

    def _near(self, vector: Vectors, limit: int, weight: float = 1.0) -> dict[str, Any]:
        query = {
            "kind": "vector",
            "vector": vector.tolist(),
            "k": min(limit, _MOST),
            "fields": "vector",
            "exhaustive": self._watch.small(),
            "weight": weight,
        }
        return {"vectorQueries": [query], "vectorFilterMode": "preFilter"}

    def _pages(self, limit: int, documents: Documents, asked: dict[str, Any]) -> list[Found]:
        """Return the best hits of a search, in as many answers as necessary."""
        if documents is not None:
            asked["filter"] = _one_of("document", documents)
        limit = min(limit, _MOST)
        if limit > _PAGE:
            # The same replica for all pages: others may rank slightly differently.
            asked["sessionId"] = uuid.uuid4().hex
        best: dict[str, float] = {}
        for skip in range(0, limit, _PAGE):
            top = min(_PAGE, limit - skip)
            page = self._ask(self._points, {**asked, "select": "id", "top": top, "skip": skip})
            for found in page:
                best.setdefault(found["id"], found["@search.score"])
            if len(page) < top:
                break
        return [Found(name, score) for name, score in best.items()]


def _by_words(words: str) -> dict[str, Any]:
    return {
        "search": words,
        "queryType": "simple",
        "searchMode": "any",
        "searchFields": "terms",
        # IDF over the whole index, not a part of it.
        "scoringStatistics": "global",
    }


def _points_index(name: str, dimension: int, settings: DatabaseSettings) -> SearchIndex:
    vectors = SearchField(
        name="vector",
        type="Collection(Edm.Single)",
        searchable=True,
        hidden=False,
        vector_search_dimensions=dimension,
        vector_search_profile_name=_PROFILE,
    )
    # The words are already analysed: they only have to be split at spaces.
    words = SearchField(name="terms", type=_TEXT, searchable=True, hidden=False, analyzer_name="whitespace")
    parameters = HnswParameters(
        m=settings.option("m", 8),
        ef_construction=settings.option("ef_construction", 400),
        ef_search=settings.option("ef_search", 1_000),
        metric=VectorSearchAlgorithmMetric.COSINE,
    )
    fields = [
        SimpleField(name="id", type=_TEXT, key=True, filterable=True, sortable=True),
        *(SimpleField(name=field, type=_TEXT) for field in _KEPT),
        *(
            SimpleField(name=field, type=_TEXT, filterable=True)
            for field in ("document", "language", "file_type")
        ),
    ]
    return SearchIndex(
        name=name,
        fields=[*fields, words, vectors],
        similarity=BM25SimilarityAlgorithm(),
        vector_search=VectorSearch(
            algorithms=[HnswAlgorithmConfiguration(name=_ALGORITHM, parameters=parameters)],
            profiles=[VectorSearchProfile(name=_PROFILE, algorithm_configuration_name=_ALGORITHM)],
        ),
    )


def _entries_index(name: str) -> SearchIndex:
    fields = [
        SimpleField(name="key", type=_TEXT, key=True, filterable=True, sortable=True),
        SimpleField(name="kind", type=_TEXT, filterable=True),
        SimpleField(name="group", type=_TEXT, filterable=True),
        SimpleField(name="value", type=_TEXT),
    ]
    return SearchIndex(name=name, fields=fields)


def _foreign(name: str) -> StoreSchemaError:
    return StoreSchemaError(
        f"azure-ai-search has an index {name} with other fields than Loccit makes: choose another name in the setting "
        "collection, or remove it."
    )


# 3,000 clauses and 100,000 characters are allowed, and 32,766 bytes for a word.
_CLAUSES = 1_000
_QUERY = 90_000
_WORD = 8_000


def _one_of(field: str, values: Collection[str]) -> str:
    """Return the filter for some values, none of which contains a comma."""
    return f"search.in({field}, '{_quoted(','.join(values))}', ',')"


def _quoted(value: str) -> str:
    return value.replace("'", "''")


def query_words(terms: Sequence[str]) -> str:
    r"""Return a query of plain words; a word with a space is none of ours.

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
