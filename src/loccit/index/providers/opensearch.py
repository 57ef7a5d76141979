"""OpenSearch, and Elasticsearch through the same client: vectors, BM25, fusion and leases, all in the database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlsplit

from opensearchpy import OpenSearch
from opensearchpy.exceptions import (
    ConnectionError as NoConnectionError,
)
from opensearchpy.exceptions import (
    ConnectionTimeout,
    OpenSearchException,
    SSLError,
    TransportError,
)

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.link import LONGEST_REASON, Link, is_here, refuse_open, without_secrets
from loccit.index.providers.tables import (
    Documents,
    SizeWatch,
    TableStore,
    Weights,
    numbers,
    read_vector,
    text_only,
)
from loccit.index.retry import ATTEMPTS, retrying
from loccit.index.settings import DatabaseSettings
from loccit.index.store import PAYLOAD, Capabilities, Entry, Found, Point
from loccit.models.embedding.protocol import Vectors

_EXAMPLE = "https://name:password@search.example.com:9200"
_PASSING = frozenset({408, 429, 500, 502, 503, 504})


class OpenSearchLink(Link[OpenSearch]):
    """Requests to one cluster. Connects on the first request; threads share the pool."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (OpenSearchException,)

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._hosts = [_host(settings, part) for part in settings.connection_string.split(",")]
        self._secrets = [settings.api_key, *(str(host.get("http_auth", ("", ""))[1]) for host in self._hosts)]
        self._verify: bool = settings.option("verify", True)
        self._ca_certs: str = settings.option("ca_certs", "")

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        ignore: Collection[int] = (),
        retry: bool = True,
    ) -> Any:
        """Return the answer to a request; a temporary failure is retried unless told not to."""
        headers = {"content-type": "application/x-ndjson"} if isinstance(body, str) else None

        def send(client: OpenSearch) -> Any:
            return client.transport.perform_request(
                method, path, params=dict(params or {}), body=body, ignore=tuple(ignore), headers=headers
            )

        return retrying(lambda: self.once(send), attempts=ATTEMPTS if retry else 1)

    def bulk(self, target: str, lines: str, params: Mapping[str, Any]) -> None:
        """Send actions, each with its document.

        ``target`` must be an alias: a write to a deleted name would otherwise create an index with a guessed mapping.
        """
        shown = {"require_alias": "true", "filter_path": "errors,items.*.error,items.*.status", **params}

        def send() -> None:
            answer = self.request("POST", f"/{target}/_bulk", lines, params=shown, retry=False)
            if answer.get("errors"):
                failed = [item for action in answer["items"] for item in action.values() if "error" in item]
                raise self._refused(failed[0]["status"], failed[0]["error"], len(failed))

        retrying(send)

    def _connect(self) -> OpenSearch:
        settings = self.settings
        key = {"Authorization": f"ApiKey {settings.api_key}"} if settings.api_key else None
        return OpenSearch(
            self._hosts,
            timeout=settings.timeout,
            # We retry ourselves, in the same way for all databases.
            max_retries=0,
            pool_maxsize=16,
            http_compress=not all(is_here(host["host"]) for host in self._hosts),
            headers=key,
            verify_certs=self._verify,
            ssl_show_warn=False,
            ca_certs=self._ca_certs or None,
        )

    def _translated(self, error: Any) -> StoreError:
        name = self.settings.provider
        if isinstance(error, SSLError):
            return StoreUnavailableError(
                f"{name}: the certificate of the server in connection_string cannot be verified. Name the authority "
                "that signed it in the option ca_certs."
            )
        if isinstance(error, ConnectionTimeout):
            return StoreUnavailableError(
                f"{name}: the server in connection_string did not answer within {self.settings.timeout:g} seconds. "
                "Check its load, or raise timeout."
            )
        if isinstance(error, NoConnectionError):
            return StoreUnavailableError(
                f"{name}: the server in connection_string cannot be reached ({type(error.info).__name__}). "
                "Check the address, and that it runs."
            )
        if isinstance(error, TransportError) and isinstance(error.status_code, int):
            info = error.info if isinstance(error.info, dict) else {}
            return self._refused(error.status_code, info.get("error", error.error))
        return StoreError(f"{name}: the request failed ({type(error).__name__}).")

    def _refused(self, status: int, cause: Any, count: int = 1) -> StoreError:
        name, where = self.settings.provider, self.settings.collection
        kind, reason = _reason(cause)
        reason = without_secrets(reason, *self._secrets)[:LONGEST_REASON]
        said = f"{kind}: {reason}" if reason else kind
        if status == 401:
            return StoreAccessError(
                f"{name}: the server refuses these credentials. Check the name and password in connection_string, or "
                "api_key."
            )
        if status == 403 and kind != "cluster_block_exception":
            return StoreAccessError(
                f"{name}: these credentials may not do this with the collection {where}. Give the user of "
                f"connection_string (or api_key) the rights to create, read and write {where}.* ({said})"
            )
        if status in _PASSING:
            return StoreUnavailableError(
                f"{name}: the server is busy or not ready, status {status} ({said})."
            )
        if kind == "index_not_found_exception":
            return StoreSchemaError(
                f"{name}: there is no collection {where}. Check the setting collection, or index your documents first."
            )
        more = f", and {count - 1:,} more" if count > 1 else ""
        return StoreError(f"{name}: the server refused a request for the collection {where} ({said}){more}.")


def _reason(cause: Any) -> tuple[str, str]:
    """Return the type of an error and its message, from the innermost cause with one."""
    if not isinstance(cause, dict):
        return str(cause or "no reason given")[:LONGEST_REASON], ""
    kind, reason = str(cause.get("type", "error")), str(cause.get("reason") or "")
    roots = cause.get("root_cause") or cause.get("failed_shards") or []
    if roots and kind == "search_phase_execution_exception":
        inner = roots[0].get("reason", roots[0]) if isinstance(roots[0], dict) else roots[0]
        return _reason(inner if isinstance(inner, dict) else roots[0])
    deeper = cause.get("caused_by")
    if isinstance(deeper, dict) and deeper.get("reason"):
        reason = f"{reason}; {deeper['reason']}"
    return kind, reason


def _host(settings: DatabaseSettings, address: str) -> dict[str, Any]:
    """Parse one address of the connection string, and refuse to send a secret unencrypted."""
    name = settings.provider
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(
            f"The database provider {name} needs a connection_string such as {_EXAMPLE} (several nodes are separated "
            "by commas)."
        )
    refuse_open(settings, parts.scheme, host, bool(settings.api_key or parts.password))
    found: dict[str, Any] = {"host": host, "port": port or (443 if parts.scheme == "https" else 9200)}
    if parts.scheme == "https":
        found["use_ssl"] = True
    if parts.username and not settings.api_key:
        found["http_auth"] = (unquote(parts.username), unquote(parts.password or ""))
    if parts.path.strip("/"):
        found["url_prefix"] = parts.path.strip("/")
    return found


# Marks an index as ours, so that no foreign one is read as a library or dropped.
META = {"loccit": {"format": 1}}
# The largest answer of an index, unless index.max_result_window was changed.
WINDOW = 10_000
# A query may have 1,024 clauses.
_CLAUSES = 1_000

_ANALYSIS = {
    # The words are already analysed: they are only split, and long ones are kept whole.
    "tokenizer": {"words": {"type": "whitespace", "max_token_length": 1024}},
    "analyzer": {"words": {"type": "custom", "tokenizer": "words"}},
}
_SHOWN = {"type": "text", "index": False}
_POINT_FIELDS: dict[str, Any] = {
    "id": {"type": "keyword"},
    "document": {"type": "keyword"},
    "terms": {"type": "text", "analyzer": "words", "index_options": "freqs"},
    "source_path": {"type": "keyword", "ignore_above": 4096},
    "heading": _SHOWN,
    "language": {"type": "keyword"},
    "file_type": {"type": "keyword"},
    "text": _SHOWN,
}
_ENTRY_FIELDS: dict[str, Any] = {
    "key": {"type": "keyword"},
    "kind": {"type": "keyword"},
    "group": {"type": "keyword"},
    "value": _SHOWN,
}


class Dialect:
    """Requests in the form of OpenSearch."""

    # The name of the vector type, and of its dimension setting.
    vector_type = "knn_vector"
    dimension_name = "dimension"
    # Whether it fuses two searches itself.
    fuses = True
    # Shifted, because a score may not be negative, not even by rounding.
    exact_script = "Math.max(0.0, 1.0 + cosineSimilarity(params.query, doc['vector']))"

    def __init__(self, settings: DatabaseSettings, version: str = "") -> None:
        self._settings = settings
        self._version = version
        self._wide: int = settings.option("ef_search", 200)

    # -- indexes ---------------------------------------------------------------------------------------------

    def points_index(self, dimension: int) -> dict[str, Any]:
        """Return the body that creates the index of points."""
        fields = {**_POINT_FIELDS, "vector": self.vector_field(dimension)}
        return self._index(fields, {"analysis": _ANALYSIS, **self.vector_settings()})

    def entries_index(self) -> dict[str, Any]:
        """Return the body that creates the index of entries."""
        return self._index(_ENTRY_FIELDS, {})

    def _index(self, fields: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        shape = dict(settings)
        for option, name in (("shards", "number_of_shards"), ("replicas", "number_of_replicas")):
            wanted: int = self._settings.option(option, -1)
            if wanted >= 0:
                shape[name] = wanted
        return {
            "settings": {"index": shape},
            "mappings": {"dynamic": "strict", "_meta": META, "properties": dict(fields)},
        }

    def vector_field(self, dimension: int) -> dict[str, Any]:
        """Return the mapping of the vector field."""
        method = {
            "name": "hnsw",
            "engine": self._settings.option("engine", "lucene"),
            "space_type": "cosinesimil",
            "parameters": self._graph(),
        }
        return {"type": "knn_vector", "dimension": dimension, "method": method}

    def vector_settings(self) -> dict[str, Any]:
        """Return the settings that an index with vectors needs."""
        return {"knn": True}

    def _graph(self) -> dict[str, int]:
        return {
            "m": self._settings.option("m", 16),
            "ef_construction": self._settings.option("ef_construction", 128),
        }

    # -- queries ---------------------------------------------------------------------------------------------

    def exact(self, vector: list[float], documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search that compares every point."""
        some: dict[str, Any] = {"match_all": {}} if documents is None else _among(documents)
        script = {"source": self.exact_script, "params": {"query": vector}}
        return {"query": {"script_score": {"query": some, "script": script}}, "track_total_hits": False}

    def nearest(self, vector: list[float], limit: int, documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search of the graph: asking for more than is wanted makes it look further and miss less."""
        asked: dict[str, Any] = {"vector": vector, "k": self.width(limit)}
        if documents is not None:
            asked["filter"] = _among(documents)
        return {"query": {"knn": {"vector": asked}}, "track_total_hits": False}

    def width(self, limit: int) -> int:
        """Return how many candidates a search of the graph keeps."""
        return min(max(limit, self._wide), WINDOW)

    @staticmethod
    def keyword(terms: Sequence[str], documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search for words by BM25. Each is a separate term, so nothing in it can be syntax."""
        should = [
            {"term": {"terms": {"value": term, "boost": float(count)}}}
            for term, count in Counter(terms).most_common(_CLAUSES)
        ]
        wanted: dict[str, Any] = {"should": should, "minimum_should_match": 1}
        if documents is not None:
            wanted["filter"] = [_among(documents)]
        return {"query": {"bool": wanted}, "track_total_hits": False}

    @staticmethod
    def fused(legs: Sequence[Mapping[str, Any]], weights: Sequence[float]) -> dict[str, Any]:
        """Return a search that combines several, their scores normalised to 0..1 and averaged by weight."""
        processor = {
            "normalization": {"technique": "min_max"},
            "combination": {"technique": "arithmetic_mean", "parameters": {"weights": list(weights)}},
        }
        return {
            "query": {"hybrid": {"queries": [leg["query"] for leg in legs]}},
            # Sent with the search, so that no permission for pipelines in the cluster is needed.
            "search_pipeline": {"phase_results_processors": [{"normalization-processor": processor}]},
        }


class ElasticDialect(Dialect):
    """Requests in the form of Elasticsearch."""

    vector_type = "dense_vector"
    dimension_name = "dims"
    # Its own fusion is not in the free license.
    fuses = False
    exact_script = "Math.max(0.0, 1.0 + cosineSimilarity(params.query, 'vector'))"

    def vector_field(self, dimension: int) -> dict[str, Any]:
        """Return the mapping of the vector field; without the default quantization, which rounds scores."""
        return {
            "type": "dense_vector",
            "dims": dimension,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "hnsw", **self._graph()},
        }

    def vector_settings(self) -> dict[str, Any]:
        """Return the setting that makes it return vectors: since 9.2 they are left out by default."""
        return {"mapping.exclude_source_vectors": False} if _number(self._version) >= (9, 2) else {}

    def nearest(self, vector: list[float], limit: int, documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search of the graph."""
        asked: dict[str, Any] = {
            "field": "vector",
            "query_vector": vector,
            "k": min(limit, WINDOW),
            "num_candidates": self.width(limit),
        }
        if documents is not None:
            asked["filter"] = _among(documents)
        return {"knn": asked, "track_total_hits": False}


_CONFLICT = 409
_NOT_FOUND = 404
# Rows per page if read whole: values and vectors stay below some ten megabytes. And for ids alone.
_PAGE, _SCAN = 200, 5_000


class OpenSearchStore(TableStore[str, dict[str, Any]]):
    """Two indexes: points and entries. Writes go through an alias of each, and are visible when they return."""

    provider = "opensearch"
    capabilities: ClassVar[Capabilities] = Capabilities(
        keyword=True, hybrid=True, claims=True, max_results=WINDOW, max_filter=10_000, batch=1_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "flavor": "opensearch or elasticsearch; detected from the server by default.",
        "exact_below": "Up to this many points every search compares all of them (10,000).",
        "engine": "The library that keeps the graph of an OpenSearch index: lucene (default) or faiss.",
        "m": "Neighbours of a point in the graph (16); set when the collection is made.",
        "ef_construction": "Candidates looked at when a point is put into the graph (128); set when it is made.",
        "ef_search": "Candidates looked at in a search of the graph, at least as many as results (200).",
        "shards": "Shards of each index; the server's own default when left out.",
        "replicas": "Copies of each shard; the server's own default when left out.",
        "refresh": "now (each write is made visible at once) or wait (the server's next refresh is waited for, better "
        "for many writers).",
        "ca_certs": "A file with the certificate authorities to trust.",
        "verify": "Whether the server's certificate is verified (true).",
        "tls": "false allows credentials over http:// beyond this machine.",
    }
    # A request stays far below the 100 MB limit of a node, and is large enough to be efficient.
    entries_at_once = 1_000
    page = _PAGE

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        settings.choice("flavor", ("", "opensearch", "elasticsearch"))
        settings.choice("engine", ("lucene", "faiss"))
        wait = settings.choice("refresh", ("now", "wait")) == "wait"
        self._refresh = {"refresh": "wait_for" if wait else "true"}
        exact_below: int = settings.option("exact_below", 10_000)
        self._watch = SizeWatch(self.count, exact_below + 1)
        # A dot cannot be in the name of a collection, so no two collections collide.
        self._points, self._entries = f"{settings.collection}.points", f"{settings.collection}.entries"
        # Options of the wrong type are reported now, not when the collection is created.
        Dialect(settings).points_index(1)
        self._link = OpenSearchLink(settings)
        self._dialect: Dialect | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors from the mapping."""
        dialect = self._speak()
        mapping = self._mapping(self._points)
        if mapping is None:
            return None
        field = mapping.get("properties", {}).get("vector", {})
        if field.get("type") != dialect.vector_type:
            raise StoreSchemaError(
                f"{self.provider}: the field vector of {self._points} is not a {dialect.vector_type}. Name another "
                "collection, or delete that index."
            )
        return int(field[dialect.dimension_name])

    def _make(self, dimension: int) -> None:
        dialect = self._speak()
        for index, body in (
            (self._entries, dialect.entries_index()),
            (self._points, dialect.points_index(dimension)),
        ):
            if self._mapping(index) is None:
                body["aliases"] = {_alias(index): {}}
                answer = self._link.request("PUT", f"/{index}", body, ignore=(400,))
                kind = (answer.get("error") or {}).get("type") if isinstance(answer, dict) else None
                if kind and kind != "resource_already_exists_exception":
                    reason = answer["error"].get("reason", "")
                    raise StoreError(f"{self.provider}: the index {index} cannot be made ({kind}: {reason}).")

    def drop(self) -> None:
        """Delete the two indexes, if they are ours."""
        for index in (self._points, self._entries):
            if self._mapping(index) is not None:
                self._link.request("DELETE", f"/{index}", ignore=(404,))
        self._watch.forget()

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _mapping(self, index: str) -> dict[str, Any] | None:
        """Return the mapping of an index; None if there is none, an error if it is not ours."""
        answer = self._link.request("GET", f"/{index}/_mapping", ignore=(404,))
        if answer.get("status") == 404:
            return None
        found: dict[str, Any] = next(iter(answer.values()))["mappings"]
        if found.get("_meta", {}).get("loccit") != META["loccit"]:
            raise StoreSchemaError(
                f"{self.provider}: there is an index {index} that is not a Loccit library of this version. Name "
                "another collection, or delete that index."
            )
        return found

    def _speak(self) -> Dialect:
        if self._dialect is None:
            flavor: str = self.settings.option("flavor", "")
            answer = self._link.request("GET", "/", ignore=(403, 404))
            version = answer.get("version", {}) if isinstance(answer, dict) else {}
            # Users who may not ask (403) and services without this page (404) are taken for OpenSearch.
            elastic = bool(version) and version.get("distribution") != "opensearch"
            number = "9.9" if version.get("build_flavor") == "serverless" else str(version.get("number", ""))
            kind = (
                ElasticDialect
                if (flavor or ("elasticsearch" if elastic else "")) == "elasticsearch"
                else Dialect
            )
            self._dialect = kind(self.settings, number)
        return self._dialect

    def count(self) -> int:
        """Return the number of points."""
        return int(self._link.request("GET", f"/{self._points}/_count")["count"])

    # -- rows ------------------------------------------------------------------------------------------------

    def _write(self, where: str, rows: list[dict[str, Any]]) -> None:
        key = "id" if where == self._points else "key"
        self._bulk(where, (part for row in rows for part in ({"index": {"_id": row[key]}}, row)))

    def _delete(self, where: str, keys: list[str]) -> None:
        self._bulk(where, ({"delete": {"_id": key}} for key in keys))

    def _bulk(self, where: str, parts: Iterator[dict[str, Any]]) -> None:
        lines = (json.dumps(part, ensure_ascii=False, separators=(",", ":")) + "\n" for part in parts)
        self._link.bulk(_alias(where), "".join(lines), self._refresh)
        if where == self._points:
            self._watch.forget()

    def _read(self, where: str, keys: list[str]) -> list[dict[str, Any]]:
        answer = self._link.request("POST", f"/{where}/_mget", {"ids": keys})
        return [doc["_source"] for doc in answer["docs"] if doc.get("found")]

    def _scan(self, where: str, wanted: Mapping[str, str], *, whole: bool) -> Iterator[list[dict[str, Any]]]:
        """Continue after the last id of each page.

        So nothing has to be kept open in the cluster however long a reader takes, and no row comes twice.
        """
        body: dict[str, Any] = {
            "query": {
                "bool": {"filter": [{"term": {name: {"value": value}}} for name, value in wanted.items()]}
            },
            "sort": [{"id" if where == self._points else "key": "asc"}],
            "size": _PAGE if whole else _SCAN,
            "track_total_hits": False,
            "_source": True if whole else ["id", "document"],
        }
        while hits := self._search(where, body):
            yield [hit["_source"] for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def _row(self, point: Point) -> dict[str, Any]:
        """Return the document for a point, without empty fields."""
        if point.vector is None:
            raise self.without_vector(point)
        shown = {name: text_only(getattr(point, name)) for name in PAYLOAD if getattr(point, name)}
        return {"id": point.id, "document": point.document, "vector": numbers(point.vector), **shown}

    def _point(self, row: dict[str, Any]) -> Point:
        return Point(**{**row, "vector": read_vector(row.get("vector"))})

    def _entry_row(self, entry: Entry) -> dict[str, Any]:
        return entry._asdict()

    def _entry(self, row: dict[str, Any]) -> Entry:
        return Entry(**row)

    # -- searches --------------------------------------------------------------------------------------------

    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> list[Found]:
        """Compare every point of a small collection; search the graph of a large one."""
        exact = self._watch.small()
        # The script gives 1 + cos; both graphs give (1 + cos) / 2.
        scale = 1.0 if exact else 2.0
        body = self._vector_leg(vector, limit, documents, exact)
        return [Found(name, scale * score - 1.0) for name, score in self._ranked(body, limit)]

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> list[Found]:
        return self._ranked(self._speak().keyword(terms, documents), limit)

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> list[Found]:
        """Fuse both searches by normalised scores:

        OpenSearch does it itself, for Elasticsearch the same sum is computed here.
        """
        dialect = self._speak()
        legs = [self._vector_leg(vector, limit, documents, self._watch.small())]
        if terms:
            legs.append(dialect.keyword(terms, documents))
        counted = weights[: len(legs)]
        total = sum(counted)
        shares = [weight / total if total > 0 else 1 / len(counted) for weight in counted]
        if dialect.fuses:
            return self._ranked(dialect.fused(legs, shares), limit)
        return [Found(*hit) for hit in fuse([self._ranked(leg, limit) for leg in legs], shares, limit)]

    def _vector_leg(self, vector: Vectors, limit: int, documents: Documents, exact: bool) -> dict[str, Any]:
        dialect, asked = self._speak(), numbers(vector)
        return dialect.exact(asked, documents) if exact else dialect.nearest(asked, limit, documents)

    def _ranked(self, body: dict[str, Any], limit: int) -> list[Found]:
        asked = {**body, "size": min(limit, WINDOW), "_source": False}
        hits = self._search(self._points, asked, "_id", "_score")
        return [Found(hit["_id"], float(hit["_score"])) for hit in hits]

    def _search(self, where: str, body: dict[str, Any], *only: str) -> list[dict[str, Any]]:
        # A partial answer, because a shard is away, must not pass for a complete one.
        params = {"allow_partial_search_results": "false"}
        if only:
            params["filter_path"] = ",".join(f"hits.hits.{name}" for name in only)
        answer = self._link.request("POST", f"/{where}/_search", body, params=params)
        hits: list[dict[str, Any]] = answer.get("hits", {}).get("hits", [])
        return hits

    # -- claims ----------------------------------------------------------------------------------------------

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry if its value is as expected."""
        unsure = False

        def attempt() -> bool:
            nonlocal unsure
            try:
                return self._swap(entry, expected)
            except StoreUnavailableError:
                unsure = True
                raise

        won = retrying(attempt)
        # A lost answer may have been a success: then the conflicting value is ours.
        return won or (unsure and self.get([entry.key]).get(entry.key) == entry.value)

    def _swap(self, entry: Entry, expected: str | None) -> bool:
        name = quote(entry.key, safe="")
        params: dict[str, Any] = {"require_alias": "true", **self._refresh}
        path = f"/{_alias(self._entries)}/_create/{name}"
        if expected is not None:
            held = self._link.request(
                "GET", f"/{self._entries}/_doc/{name}", ignore=(_NOT_FOUND,), retry=False
            )
            if not held.get("found") or held["_source"]["value"] != expected:
                return False
            path = f"/{_alias(self._entries)}/_doc/{name}"
            params |= {"if_seq_no": held["_seq_no"], "if_primary_term": held["_primary_term"]}
        answer = self._link.request(
            "PUT", path, entry._asdict(), params=params, ignore=(_CONFLICT,), retry=False
        )
        return answer.get("result") in ("created", "updated")


def _alias(index: str) -> str:
    return f"{index}.write"


def fuse(
    legs: Sequence[Sequence[tuple[str, float]]], weights: Sequence[float], limit: int
) -> list[tuple[str, float]]:
    """Do what the normalization processor does: scores to 0..1 within a search, then the weighted mean.

    >>> fuse([[("a", 3.0), ("b", 1.0)], [("b", 9.0)]], (0.5, 0.5), 2)
    [('b', 0.5005), ('a', 0.5)]
    """
    total: dict[str, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        scores = [score for _, score in leg]
        low, span = (min(scores), max(scores) - min(scores)) if scores else (0.0, 0.0)
        for name, score in leg:
            # The last of a list is still better than what is not in it.
            part = max((score - low) / span, 0.001) if span else 1.0
            total[name] = total.get(name, 0.0) + weight * part
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))[:limit]


def _among(documents: Collection[str]) -> dict[str, Any]:
    return {"terms": {"document": list(documents)}}


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdigit())
