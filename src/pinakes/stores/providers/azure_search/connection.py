"""The connection to Azure AI Search: its clients, and their errors in our words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import AzureError, DecodeError, HttpResponseError
from azure.core.rest import HttpRequest
from azure.search.documents import SearchClient
from azure.search.documents.indexes import SearchIndexClient

from pinakes.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from pinakes.stores.providers.azure_search.schema import batches
from pinakes.stores.providers.web_address import read_address
from pinakes.stores.retry import retrying
from pinakes.stores.settings import DatabaseSettings

PROVIDER = "azure-ai-search"
_EXAMPLE = "https://NAME.search.windows.net"
_DETAIL = 300
# For documents; what is sent and answered has been the same since.
_API = "2024-07-01"
# Of a document in a batch: another writer was there, the index is being changed, too much to do.
_PASSING = (408, 409, 422, 429)

Result = TypeVar("Result")


class AzureSearchLink:
    """The clients of a service; they connect when they are first used, and share connections between threads."""

    def __init__(self, settings: DatabaseSettings) -> None:
        address = read_address(settings, _EXAMPLE)
        if not settings.api_key:
            raise UsageError(
                f"The database provider {PROVIDER} needs an api_key: an admin key of the search service, which its "
                "page in the Azure portal shows under Keys."
            )
        self._key = settings.api_key
        self._url = address.url
        # Requests are repeated by us, for all databases in the same way.
        self._options: dict[str, Any] = {
            "connection_timeout": settings.timeout,
            "read_timeout": settings.timeout,
            "retry_total": 0,
        }
        self._guard = threading.Lock()
        self._indexes: SearchIndexClient | None = None
        self._documents: dict[str, SearchClient] = {}

    def indexes(self) -> SearchIndexClient:
        """Return the client for the indexes themselves."""
        with self._guard:
            if self._indexes is None:
                self._indexes = SearchIndexClient(self._url, AzureKeyCredential(self._key), **self._options)
            return self._indexes

    def documents(self, index: str) -> SearchClient:
        """Return the client for the documents of an index."""
        with self._guard:
            if index not in self._documents:
                credential = AzureKeyCredential(self._key)
                self._documents[index] = SearchClient(self._url, index, credential, **self._options)
            return self._documents[index]

    def run(self, call: Callable[[], Result]) -> Result:
        """Return what a call returns; again, where it failed for a passing reason."""
        return retrying(lambda: self._once(call))

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        with self._guard:
            indexes, self._indexes = self._indexes, None
            documents, self._documents = self._documents, {}
        if indexes is not None:
            indexes.close()
        for client in documents.values():
            client.close()

    def ask(self, index: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Search an index, and return the documents found; the service may need several answers for them."""
        found: list[dict[str, Any]] = []
        more: Mapping[str, Any] | None = asked
        while more is not None:
            answer = self._post(index, "search.post.search", json.dumps(more).encode())
            found += answer["value"]
            more = answer.get("@search.nextPageParameters")
        return found

    def write(self, index: str, actions: Iterable[Mapping[str, Any]]) -> None:
        """Send what is to be stored and deleted, in as many batches as it takes."""
        for body in batches(actions):
            self._post(index, "search.index", body, self._check_written)

    def _post(
        self, index: str, what: str, body: bytes, check: Callable[[Any], None] = lambda _: None
    ) -> dict[str, Any]:
        # Through the client, with its connections and its key, but past its models: they look at every number of every
        # vector, which took six times as long as all else.
        def send() -> dict[str, Any]:
            request = HttpRequest(
                "POST",
                f"/indexes('{index}')/docs/{what}?api-version={_API}",
                content=body,
                headers={"Content-Type": "application/json", "Accept": "application/json"},
            )
            response = self.documents(index).send_request(request)
            response.raise_for_status()
            try:
                answer: dict[str, Any] = response.json()
                check(answer["value"])
            except (ValueError, KeyError, TypeError) as error:
                raise self._stranger() from error
            return answer

        return self.run(send)

    def _check_written(self, results: Any) -> None:
        """Raise when a part of a batch failed; for a passing reason, so that all of it is sent again."""
        for result in results:
            if not result["status"]:
                raise self._status_error(result["statusCode"], result.get("errorMessage") or "")

    def _once(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except AzureError as error:
            self._translate(error)

    def _translate(self, error: AzureError) -> NoReturn:
        if isinstance(error, DecodeError):
            raise self._stranger() from error
        if isinstance(error, HttpResponseError) and error.status_code is not None:
            raise self._status_error(error.status_code, error.message) from error
        # No answer: refused, reset, or too slow. The client's own text names the host.
        raise StoreUnavailableError(
            f"{PROVIDER} does not answer: check connection_string and that the network lets it through. The timeout "
            "setting says how long to wait."
        ) from error

    def _status_error(self, status: int, detail: str) -> StoreError:
        if status in (401, 403):
            return StoreAccessError(
                f"{PROVIDER} refuses the api_key (status {status}): check that it is an admin key of this service and "
                "that the service allows keys and this network."
            )
        if status in _PASSING or status >= 500:
            return StoreUnavailableError(
                f"{PROVIDER} is too busy or not ready (status {status}); try again later."
            )
        if status == 404:
            return self.error("there is no such index; it was deleted, or collection names another one")
        if "vector" in detail and ("dimension" in detail or "length" in detail):
            return StoreSchemaError(str(self.error(detail)))
        return self.error(f"status {status}: {detail}")

    def _stranger(self) -> StoreError:
        return self.error("the answer is not that of a search service; check connection_string")

    def error(self, detail: str) -> StoreError:
        """Return an error with what the service said, without the key should it be in it."""
        return StoreError(
            f"{PROVIDER} could not do what was asked: {detail.replace(self._key, '***')[:_DETAIL]}"
        )
