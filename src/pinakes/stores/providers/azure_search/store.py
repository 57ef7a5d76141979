"""Azure AI Search, through its own client: an index of points and an index of entries."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreSchemaError
from pinakes.stores.providers.azure_search.connection import AzureSearchLink
from pinakes.stores.providers.azure_search.schema import (
    BATCH,
    ENTRY_FIELDS,
    POINT_FIELDS,
    behind,
    document_of,
    equal,
    has_entries,
    index_names,
    make_entries,
    make_points,
    one_of,
    point_of,
    query_words,
    read_dimension,
)
from pinakes.stores.providers.batches import batches
from pinakes.stores.providers.size_watch import SizeWatch
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Capabilities, Entry, Found, Point, Store

# Of an answer; more are asked for page by page.
_PAGE = 1_000
# Of documents with all that is in them.
_FULL_PAGE = 100
_MOST = 10_000


class AzureSearchStore(Store):
    """Vectors by HNSW or one by one, words by BM25, both together by the service's reciprocal ranks."""

    provider = "azure-ai-search"
    capabilities = Capabilities(
        keyword=True, hybrid=True, eventual=True, max_results=_MOST, max_filter=1_000, batch=BATCH
    )
    known_options: ClassVar[Mapping[str, str]] = {
        "m": "Connections of a vector in the HNSW index, 4 to 10; set when the index is made (8).",
        "ef_construction": "How carefully the HNSW index is built, 100 to 1000 (400).",
        "ef_search": "How many candidates the HNSW index keeps while it searches, 100 to 1000 (1000).",
        "exact_below": "Below this many passages every vector is compared (10000).",
        "tls": "false allows api_key over http:// to another machine.",
    }

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._link = AzureSearchLink(settings)
        self._points, self._entries = index_names(settings.collection)
        self._size = SizeWatch(self.count, settings.option("exact_below", 10_000))

    # -- the collection --------------------------------------------------------------------------------------

    def dimension(self) -> int | None:
        """Return the length of the vectors, which the index says."""
        return self._link.run(lambda: read_dimension(self._link.indexes(), self._points))

    def create(self, dimension: int) -> None:
        """Make both indexes, the points last: where they are, all is there."""
        present = self.dimension()
        if present is None:
            if not self._link.run(lambda: has_entries(self._link.indexes(), self._entries)):
                self._link.run(lambda: make_entries(self._link.indexes(), self._entries))
            self._link.run(lambda: make_points(self._link.indexes(), self._points, dimension, self.settings))
            present = self.dimension()
        if present != dimension:
            raise StoreSchemaError(
                f"The azure-ai-search index {self._points} has vectors of length {present}, the embedding model "
                f"makes {dimension}: use the model it was made with, or another collection."
            )

    def drop(self) -> None:
        """Delete both indexes, if they are ours."""
        if self.dimension() is not None:
            self._link.run(lambda: self._link.indexes().delete_index(self._points))
        if self._link.run(lambda: has_entries(self._link.indexes(), self._entries)):
            self._link.run(lambda: self._link.indexes().delete_index(self._entries))
        self._size.forget()

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._link.close()

    # -- points ----------------------------------------------------------------------------------------------

    def upsert(self, points: Sequence[Point]) -> None:
        """Upload points in batches."""
        last = {point.id: point for point in points}
        self._link.write(self._points, (document_of(point) for point in last.values()))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id."""
        self._delete(self._points, "id", ids)

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id with all there is."""
        return [point_of(found) for found in self._named(self._points, "id", ids, [*POINT_FIELDS, "vector"])]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Walk through the ids in their order."""
        wanted = None if document is None else equal("document", document)
        fields = [*POINT_FIELDS, "vector"] if vectors else []
        for page in self._walk(self._points, "id", wanted, fields):
            yield [point_of(found) for found in page]

    def count(self) -> int:
        """Return how many points there are."""
        return self._link.run(lambda: self._link.documents(self._points).get_document_count())

    # -- search ----------------------------------------------------------------------------------------------

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search by vector: every one is compared while the index is small, by HNSW beyond."""
        found = self._pages(limit, documents, self._near(vector, limit))
        # The score is 1 / (1 + distance), the distance 1 - cosine.
        return [Found(name, 2.0 - 1.0 / score) for name, score in found]

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search the terms by BM25; one of the words is enough."""
        words = query_words(terms)
        return self._pages(limit, documents, _by_words(words)) if words else []

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Fuse both searches by their ranks, as the service does.

        It adds up 1 / (60 + rank) times the weight. Ranks differ so little there that what both find comes before the
        best by meaning, however much meaning is to weigh: the square of the ratio gives nearer to what our own fusion
        of scores gives (of the ten best of Cranfield .92 instead of .88 are the same, at the default weights).
        """
        words = query_words(terms)
        if not words or weights[1] <= 0:
            return self.search(vector, limit, documents)
        if weights[0] <= 0:
            return self.keyword(terms, limit, documents)
        ratio = weights[0] / weights[1]
        near = self._near(vector, limit, ratio**2 if ratio > 1 else ratio)
        return self._pages(limit, documents, {**near, **_by_words(words)})

    def _near(self, vector: Vectors, limit: int, weight: float = 1.0) -> dict[str, Any]:
        query = {
            "kind": "vector",
            "vector": vector.tolist(),
            "k": min(limit, _MOST),
            "fields": "vector",
            "exhaustive": self._size.small(),
            "weight": weight,
        }
        return {"vectorQueries": [query], "vectorFilterMode": "preFilter"}

    def _pages(self, limit: int, documents: Collection[str] | None, asked: dict[str, Any]) -> list[Found]:
        """Return the best of a search, in as many answers as that takes."""
        if documents is not None:
            if not documents:
                return []
            asked["filter"] = one_of("document", documents)
        limit = min(limit, _MOST)
        if limit > _PAGE:
            # The same replica for all pages: others may rank a little differently.
            asked["sessionId"] = uuid.uuid4().hex
        best: dict[str, float] = {}
        for skip in range(0, limit, _PAGE):
            top = min(_PAGE, limit - skip)
            page = self._link.ask(self._points, {**asked, "select": "id", "top": top, "skip": skip})
            for found in page:
                best.setdefault(found["id"], found["@search.score"])
            if len(page) < top:
                break
        return [Found(name, score) for name, score in best.items()]

    # -- entries ---------------------------------------------------------------------------------------------

    def put(self, entries: Sequence[Entry]) -> None:
        """Upload entries."""
        last = {entry.key: entry for entry in entries}
        self._link.write(self._entries, (entry._asdict() for entry in last.values()))

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        found = self._named(self._entries, "key", keys, ["value"])
        return {item["key"]: item["value"] for item in found}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in batches, by key."""
        wanted = (
            equal("kind", kind) if group is None else f"{equal('kind', kind)} and {equal('group', group)}"
        )
        for page in self._walk(self._entries, "key", wanted, ENTRY_FIELDS[1:]):
            yield [Entry(*(found[field] or "" for field in ENTRY_FIELDS)) for found in page]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._delete(self._entries, "key", keys)

    # -- what both have --------------------------------------------------------------------------------------

    def _delete(self, index: str, key: str, names: Sequence[str]) -> None:
        self._link.write(index, ({"@search.action": "delete", key: name} for name in names))

    def _named(
        self, index: str, key: str, names: Sequence[str], fields: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        for some in batches(names, _FULL_PAGE):
            wanted = one_of(key, some)
            yield from self._link.ask(
                index, {"filter": wanted, "select": ",".join([key, *fields]), "top": _FULL_PAGE}
            )

    def _walk(
        self, index: str, key: str, wanted: str | None, fields: Sequence[str]
    ) -> Iterator[list[dict[str, Any]]]:
        asked: dict[str, Any] = {
            "orderby": key,
            "select": ",".join([key, *fields]),
            "top": _FULL_PAGE if fields else _PAGE,
        }
        parts = [wanted] if wanted else []
        while True:
            page = self._link.ask(index, {**asked, "filter": " and ".join(parts)} if parts else asked)
            if page:
                yield page
            if len(page) < asked["top"]:
                return
            parts = [*([wanted] if wanted else []), behind(key, page[-1][key])]


def _by_words(words: str) -> dict[str, Any]:
    return {
        "search": words,
        "queryType": "simple",
        "searchMode": "any",
        "searchFields": "terms",
        # How rare a word is in the whole index, not in a part of it.
        "scoringStatistics": "global",
    }
