"""A double of Azure AI Search: not the service, but what its client sees of it, over HTTP on loopback.

It answers the vendor's own client with the service's paths, statuses and bodies, and refuses what the service
refuses: wrong keys, names and keys with other letters, unknown fields, vectors of other lengths, batches of more than
1,000 documents or 16 MB, more than 1,000 documents a page, filters and orders on fields that were not made for it.
What is written is found a little later. It compares every vector where the service would use HNSW, reads only the
queries and filters that are asked here, and knows nothing of partitions and replicas.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.index.providers.azure_search_double_index import Index, RefusedError, check_index
from tests.index.providers.azure_search_double_query import answer
from tests.index.providers.weaviate_azure_http import Answer, HttpDouble, Request

KEY = "an-admin-key-that-works"
QUERY_KEY = "a-query-key-that-may-only-search"
MAX_BYTES = 16 * 1024 * 1024
_PATH = re.compile(r"/indexes\('(?P<name>[^']*)'\)(?P<rest>/.*)?")


class AzureSearchDouble:
    """The service, with its indexes."""

    def __init__(self, delay: float = 0.03) -> None:
        self.indexes: dict[str, Index] = {}
        self.delay = delay
        # Documents of an answer: the service may cut one short and say how to go on.
        self.most = 1_000
        self.requests: list[tuple[str, Any]] = []
        # Statuses to answer with instead, one by one, as a service that has too much to do.
        self.troubles: list[int] = []
        self._http = HttpDouble(self._serve)
        self.start, self.stop = self._http.start, self._http.stop

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.port}"

    def settle(self) -> None:
        """Let all that was written be found."""
        for index in list(self.indexes.values()):
            index.settle()

    def _serve(self, request: Request) -> Answer:
        try:
            return self._route(request)
        except RefusedError as refused:
            return Answer(refused.status, {"error": {"code": "", "message": str(refused)}})

    def _route(self, request: Request) -> Answer:
        parts = urlsplit(request.target)
        key = request.headers.get("api-key")
        if key not in (KEY, QUERY_KEY):
            raise RefusedError(403, "The api-key provided is not valid for this service.")
        if not re.fullmatch(r"20\d\d-\d\d-\d\d", parse_qs(parts.query).get("api-version", [""])[0]):
            raise RefusedError(400, "The query string parameter 'api-version' is required.")
        if self.troubles:
            raise RefusedError(self.troubles.pop(0), "You are sending too many requests.")
        if len(request.body) > MAX_BYTES:
            raise RefusedError(413, "The request is too large.")
        found = _PATH.fullmatch(unquote(parts.path))
        if found is None:
            raise RefusedError(404, "The requested resource was not found.")
        name, rest = found["name"], found["rest"] or ""
        if key == QUERY_KEY and rest not in ("/docs/$count", "/docs/search.post.search"):
            raise RefusedError(403, "A query key cannot be used for this.")
        if request.method == "PUT" and not rest:
            return self._make(name, request)
        if name not in self.indexes:
            raise RefusedError(404, f"No index with the name '{name}' was found in the service.")
        return self._of_index(name, request, rest)

    def _make(self, name: str, request: Request) -> Answer:
        definition = request.json()
        if definition["name"] != name:
            raise RefusedError(400, "The index name in the URL does not match that in the request body.")
        check_index(definition)
        if request.headers.get("if-none-match") != "*":
            raise RefusedError(400, "the double makes an index only where there is none")
        made = Index(definition, self.delay)
        if self.indexes.setdefault(name, made) is not made:
            raise RefusedError(
                412, "The precondition given in one of the request headers evaluated to false."
            )
        return Answer(201, definition)

    def _of_index(self, name: str, request: Request, rest: str) -> Answer:
        index = self.indexes[name]
        if not rest:
            if request.method == "DELETE":
                del self.indexes[name]
                return Answer(204)
            return Answer(200, index.definition)
        if rest == "/docs/$count":
            return Answer(200, len(index.documents()))
        body = request.json()
        self.requests.append((rest, body))
        if rest == "/docs/search.index":
            return Answer(200, {"value": index.write(body["value"])})
        if rest == "/docs/search.post.search":
            return Answer(200, answer(index, body, self.most))
        raise RefusedError(404, "The requested resource was not found.")
