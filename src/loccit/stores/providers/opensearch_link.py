"""The connection to OpenSearch or Elasticsearch: address, credentials, and error translation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

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
from loccit.stores.providers.link import LONGEST_REASON, Link, is_here, refuse_open, without_secrets
from loccit.stores.retry import ATTEMPTS, retrying
from loccit.stores.settings import DatabaseSettings

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
