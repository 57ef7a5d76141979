"""OpenSearch, and Elasticsearch through the same client: vectors, BM25, fusion and claims, all in the database."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.opensearch.connection import Connection
from pinakes.stores.providers.opensearch.documents import (
    META,
    WINDOW,
    Dialect,
    ElasticDialect,
    document_of,
    fuse,
    numbers_of,
    point_of,
)
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# Values are up to 30,000 characters: a page stays below some ten megabytes.
_PAGE = 200
_CONFLICT = 409
_NOT_FOUND = 404


class EntryIndex:
    """The half of a store that keeps entries."""

    def __init__(self, connection: Connection, index: str, alias: str, *, wait: bool) -> None:
        self._connection = connection
        self._index = index
        self._alias = alias
        self._wait = wait

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries."""
        self._write(({"index": {"_id": entry.key}}, entry._asdict()) for entry in entries)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._write(({"delete": {"_id": key}}, None) for key in keys)

    def _write(self, actions: Iterator[tuple[dict[str, Any], Any]]) -> None:
        self._connection.bulk(self._alias, actions, wait=self._wait)
        if not self._wait:
            self._connection.call("POST", f"/{self._index}/_refresh")

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        found: dict[str, str] = {}
        for batch in batches(keys, _PAGE):
            answer = self._connection.call(
                "POST", f"/{self._index}/_mget", {"ids": batch}, params={"_source_includes": "value"}
            )
            found.update((doc["_id"], doc["_source"]["value"]) for doc in answer["docs"] if doc.get("found"))
        return found

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches, by key."""
        wanted = [{"term": {"kind": {"value": kind}}}]
        if group is not None:
            wanted.append({"term": {"group": {"value": group}}})
        body: dict[str, Any] = {
            "query": {"bool": {"filter": wanted}},
            "sort": [{"key": "asc"}],
            "size": _PAGE,
            "track_total_hits": False,
        }
        while hits := self._connection.call("POST", f"/{self._index}/_search", body)["hits"]["hits"]:
            yield [Entry(**hit["_source"]) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where its value is as expected."""
        unsure = False

        def attempt() -> bool:
            nonlocal unsure
            try:
                return self._swap(entry, expected)
            except StoreUnavailableError:
                unsure = True
                raise

        won = retrying(attempt)
        # An answer that was lost may have been a yes: then the value that stands in the way is ours.
        return won or (unsure and self.get([entry.key]).get(entry.key) == entry.value)

    def _swap(self, entry: Entry, expected: str | None) -> bool:
        name = quote(entry.key, safe="")
        params: dict[str, Any] = {"require_alias": "true", "refresh": "wait_for" if self._wait else "true"}
        path = f"/{self._alias}/_create/{name}"
        if expected is not None:
            held = self._connection.call(
                "GET", f"/{self._index}/_doc/{name}", ignore=(_NOT_FOUND,), retry=False
            )
            if not held.get("found") or held["_source"]["value"] != expected:
                return False
            path = f"/{self._alias}/_doc/{name}"
            params |= {"if_seq_no": held["_seq_no"], "if_primary_term": held["_primary_term"]}
        answer = self._connection.call(
            "PUT", path, entry._asdict(), params=params, ignore=(_CONFLICT,), retry=False
        )
        return answer.get("result") in ("created", "updated")


_CHOICES = {
    "flavor": ("", "opensearch", "elasticsearch"),
    "engine": ("lucene", "faiss"),
    "refresh": ("now", "wait"),
}
_SCAN = 5_000
_VECTORS = 500
# For how long a count decides between the exact search and the graph, in seconds.
_COUNTED_FOR = 60.0


class OpenSearchStore(Store):
    """Two indexes: one of points, one of entries. Writes go through an alias of each, and are seen when they return."""

    provider = "opensearch"
    capabilities = Capabilities(
        keyword=True, hybrid=True, claims=True, max_results=WINDOW, max_filter=10_000, batch=1_000
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "flavor": "opensearch or elasticsearch; found out from the server when left out.",
        "exact_below": "Up to this many points every search compares all of them (10,000).",
        "engine": "The library that keeps the graph of an OpenSearch index: lucene (as it is) or faiss.",
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

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        for name, known in _CHOICES.items():
            if settings.option(name, known[0]) not in known:
                raise UsageError(
                    f"The option {name} of the database provider {self.provider} must be one of "
                    f"{', '.join(filter(None, known))}, not {settings.option(name, '')!r}."
                )
        self._exact_below: int = settings.option("exact_below", 10_000)
        self._wait = settings.option("refresh", "now") == "wait"
        # A dot cannot be in the name of a collection, so no two collections meet.
        self._points, self._entries = f"{settings.collection}.points", f"{settings.collection}.entries"
        # Options of the wrong kind are said now, not when the collection is made.
        Dialect(settings).points_index(1)
        self._connection = Connection(settings)
        self._ledger = EntryIndex(self._connection, self._entries, _alias(self._entries), wait=self._wait)
        self._dialect: Dialect | None = None
        self._counted: tuple[float, int] | None = None

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, as the mapping says."""
        dialect = self._speak()
        mapping = self._mapping(self._points)
        if mapping is None:
            return None
        field = mapping.get("properties", {}).get("vector", {})
        if field.get("type") != dialect.vector_type:
            raise StoreSchemaError(
                f"{self.provider}: the field vector of {self._points} is no {dialect.vector_type}. Name another "
                "collection, or delete that index."
            )
        return int(field[dialect.dimension_name])

    def create(self, dimension: int) -> None:
        """Make the two indexes where they are missing."""
        dialect = self._speak()
        for index, body in (
            (self._entries, dialect.entries_index()),
            (self._points, dialect.points_index(dimension)),
        ):
            if self._mapping(index) is None:
                body["aliases"] = {_alias(index): {}}
                answer = self._connection.call("PUT", f"/{index}", body, ignore=(400,))
                kind = (answer.get("error") or {}).get("type") if isinstance(answer, dict) else None
                if kind and kind != "resource_already_exists_exception":
                    reason = answer["error"].get("reason", "")
                    raise StoreError(f"{self.provider}: the index {index} cannot be made ({kind}: {reason}).")
        held = self.dimension()
        if held != dimension:
            raise StoreSchemaError(
                f"{self.provider}: the collection {self.settings.collection} holds vectors of {held} numbers, and the "
                f"model makes {dimension}. Name another collection, or use the model it was made with."
            )

    def drop(self) -> None:
        """Delete the two indexes, if they are ours."""
        for index in (self._points, self._entries):
            if self._mapping(index) is not None:
                self._connection.call("DELETE", f"/{index}", ignore=(404,))
        self._counted = None

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _mapping(self, index: str) -> dict[str, Any] | None:
        """Return how an index is laid out; None where there is none, an error where it is not ours."""
        answer = self._connection.call("GET", f"/{index}/_mapping", ignore=(404,))
        if answer.get("status") == 404:
            return None
        found: dict[str, Any] = next(iter(answer.values()))["mappings"]
        if found.get("_meta", {}).get("pinakes") != META["pinakes"]:
            raise StoreSchemaError(
                f"{self.provider}: there is an index {index} that is not a library of this version. Name another "
                "collection, or delete that index."
            )
        return found

    def _speak(self) -> Dialect:
        if self._dialect is None:
            flavor: str = self.settings.option("flavor", "")
            answer = self._connection.call("GET", "/", ignore=(403, 404))
            version = answer.get("version", {}) if isinstance(answer, dict) else {}
            # Those who may not ask (403) and services without this page (404) are taken for OpenSearch.
            elastic = bool(version) and version.get("distribution") != "opensearch"
            number = "9.9" if version.get("build_flavor") == "serverless" else str(version.get("number", ""))
            kind = (
                ElasticDialect
                if (flavor or ("elasticsearch" if elastic else "")) == "elasticsearch"
                else Dialect
            )
            self._dialect = kind(self.settings, number)
        return self._dialect

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, and make them visible."""
        if not points:
            return
        self._write(({"index": {"_id": point.id}}, document_of(point)) for point in points)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        if ids:
            self._write(({"delete": {"_id": name}}, None) for name in ids)

    def _write(self, actions: Iterator[tuple[dict[str, Any], Any]]) -> None:
        self._connection.bulk(_alias(self._points), actions, wait=self._wait)
        if not self._wait:
            self._connection.call("POST", f"/{self._points}/_refresh")
        self._counted = None

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id."""
        found: list[Point] = []
        for batch in batches(ids, _VECTORS):
            answer = self._connection.call("POST", f"/{self._points}/_mget", {"ids": batch})
            found.extend(point_of(doc["_source"]) for doc in answer["docs"] if doc.get("found"))
        return found

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in batches.

        Each page goes on behind the last id, so nothing has to be kept open in the cluster however long a reader
        takes, and no point comes twice.
        """
        body: dict[str, Any] = {
            "query": {"match_all": {}} if document is None else {"term": {"document": {"value": document}}},
            "sort": [{"id": "asc"}],
            "size": _VECTORS if vectors else _SCAN,
            "track_total_hits": False,
            "_source": True if vectors else ["id", "document"],
        }
        while hits := self._search(body):
            yield [point_of(hit["_source"]) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def count(self) -> int:
        """Return how many points there are."""
        return int(self._connection.call("GET", f"/{self._points}/_count")["count"])

    # -- searching -------------------------------------------------------------------------------------------

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Compare every point of a small collection; walk the graph of a large one."""
        if documents is not None and not documents:
            return []
        body, exact = self._vector_leg(vector, limit, documents)
        # The script gives 1 + cos; both graphs give (1 + cos) / 2.
        scale = 1.0 if exact else 2.0
        return [Found(name, scale * score - 1.0) for name, score in self._ranked(body, limit)]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Rank by BM25."""
        if not terms or (documents is not None and not documents):
            return []
        return [Found(*hit) for hit in self._ranked(self._speak().keyword(terms, documents), limit)]

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Fuse both searches by normalised scores: in OpenSearch itself, for Elasticsearch here by the same sum."""
        if documents is not None and not documents:
            return []
        legs = [self._vector_leg(vector, limit, documents)[0]]
        if terms:
            legs.append(self._speak().keyword(terms, documents))
        shares = _shares(weights[: len(legs)])
        if self._speak().fuses:
            return [Found(*hit) for hit in self._ranked(self._speak().fused(legs, shares), limit)]
        return [Found(*hit) for hit in fuse([self._ranked(leg, limit) for leg in legs], shares, limit)]

    def _vector_leg(
        self, vector: Vectors, limit: int, documents: Collection[str] | None
    ) -> tuple[dict[str, Any], bool]:
        dialect, numbers = self._speak(), numbers_of(vector)
        if self._is_small():
            return dialect.exact(numbers, documents), True
        return dialect.nearest(numbers, limit, documents), False

    def _is_small(self) -> bool:
        now = time.monotonic()
        counted = self._counted
        if counted is None or now - counted[0] > _COUNTED_FOR:
            self._counted = counted = (now, self.count())
        return counted[1] <= self._exact_below

    def _ranked(self, body: dict[str, Any], limit: int) -> list[tuple[str, float]]:
        asked = {**body, "size": min(limit, WINDOW), "_source": False}
        return [(hit["_id"], float(hit["_score"])) for hit in self._search(asked, "_id", "_score")]

    def _search(self, body: dict[str, Any], *only: str) -> list[dict[str, Any]]:
        # Half an answer, because a shard is away, must not pass for a whole one.
        params = {"allow_partial_search_results": "false"}
        if only:
            params["filter_path"] = ",".join(f"hits.hits.{name}" for name in only)
        answer = self._connection.call("POST", f"/{self._points}/_search", body, params=params)
        hits: list[dict[str, Any]] = answer.get("hits", {}).get("hits", [])
        return hits

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries, and make them visible."""
        if entries:
            self._ledger.put(entries)

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        return self._ledger.get(keys)

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches."""
        return self._ledger.entries(kind, group)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        if keys:
            self._ledger.remove(keys)

    def swap(self, entry: Entry, expected: str | None) -> bool:
        """Store an entry where it is as expected."""
        return self._ledger.swap(entry, expected)


def _alias(index: str) -> str:
    return f"{index}.write"


def _shares(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)
