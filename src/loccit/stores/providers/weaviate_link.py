"""The connection to a Weaviate server: REST and gRPC behind one client, and error translation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import grpc
import httpx
from pydantic import PrivateAttr
from weaviate import WeaviateClient
from weaviate.auth import Auth
from weaviate.config import AdditionalConfig, GrpcConfig, Timeout
from weaviate.connect.base import ConnectionParams, ProtocolParams
from weaviate.exceptions import (
    AuthenticationFailedError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from loccit.errors import StoreAccessError, StoreError, StoreUnavailableError, UsageError
from loccit.stores.providers.link import LONGEST_REASON, Link, WebAddress, read_address
from loccit.stores.settings import DatabaseSettings

PROVIDER = "weaviate"
_EXAMPLE = "http://localhost:8080 or https://NAME.weaviate.cloud"
_GRPC_PORT = 50051
# A server that comes back is noticed within half a second; gRPC would wait up to two minutes.
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
]
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
)
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_AWAY = (
    WeaviateConnectionError,
    WeaviateTimeoutError,
    WeaviateStartUpError,
    WeaviateClosedClientError,
    httpx.HTTPError,
)


class TooLargeError(StoreError):
    """A message is larger than the server or its client accepts."""


class WeaviateLink(Link[WeaviateClient]):
    """REST and gRPC behind one client."""

    errors: ClassVar[tuple[type[BaseException], ...]] = (WeaviateBaseError, httpx.HTTPError)

    def __init__(self, settings: DatabaseSettings) -> None:
        super().__init__(settings)
        self._address = read_address(settings, _EXAMPLE)
        self._grpc = grpc_address(settings, self._address)

    def _connect(self) -> WeaviateClient:
        key, wait = self.settings.api_key, self.settings.timeout
        client = WeaviateClient(
            connection_params=_Params.over(self._address, self._grpc, self._grpc_error),
            auth_client_secret=Auth.api_key(key) if key else None,
            additional_config=AdditionalConfig(
                timeout=Timeout(query=wait, insert=wait, init=wait),
                grpc_config=GrpcConfig(channel_options=_CHANNEL),
            ),
            # Those checks query the package index on the internet for a newer client.
            skip_init_checks=True,
        )
        try:
            client.connect()
        except BaseException:
            client.close()
            raise
        return client

    def _translated(self, error: Any) -> StoreError:
        if isinstance(error, UnexpectedStatusCodeError):
            return self._status_error(error.status_code, str(error.error or ""))
        if isinstance(error, AuthenticationFailedError):
            return _access("asks for credentials")
        if isinstance(error, WeaviateStartUpError) and error.__cause__ is None:
            return StoreError(
                f"{PROVIDER}: the server is older than its client can use; Weaviate 1.27 or newer is needed."
            )
        return _gone() if isinstance(error, _AWAY) else self.error(str(error))

    def _status_error(self, status: int, detail: str) -> StoreError:
        if status in (401, 403):
            return _access(f"refuses them with status {status}")
        if status in (408, 429) or status >= 500:
            return _gone(f" (status {status})")
        return self.error(f"status {status}: {detail}")

    def _grpc_error(self, error: Any) -> StoreError:
        code, detail = error.code(), str(error.details() or "")
        if code in _REFUSED:
            return _access(f"refuses them with {code.name}")
        if "larger than max" in detail:
            return TooLargeError(
                f"{PROVIDER}: {detail[:LONGEST_REASON]}; GRPC_MAX_MESSAGE_SIZE of the server sets it."
            )
        if code in _PASSING:
            return _gone(f" ({code.name})")
        return self.error(f"{code.name}: {detail}")

    def error(self, detail: str) -> StoreError:
        """Return an error with the server's message, without the key."""
        return StoreError(f"{PROVIDER} could not complete the request: {self.shown(detail)}")


def _gone(why: str = "") -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{PROVIDER} does not answer{why}: check that the server runs, and the connection_string and the options "
        "grpc_host and grpc_port. The timeout setting says how long to wait."
    )


def _access(how: str) -> StoreAccessError:
    return StoreAccessError(
        f"{PROVIDER}: the server {how}: check api_key, and that it may read and write the collection."
    )


def grpc_address(settings: DatabaseSettings, http: WebAddress) -> WebAddress:
    """Return the gRPC address of the server: the cloud has a separate host for it."""
    cloud = http.host.endswith(".weaviate.cloud")
    host = settings.option("grpc_host", f"grpc-{http.host}" if cloud else http.host)
    port = settings.option("grpc_port", 443 if cloud else _GRPC_PORT)
    if not 0 < port < 65536:
        raise UsageError(f"The option grpc_port of the database provider {PROVIDER} cannot be {port}.")
    if (host, port) == (http.host, http.port):
        raise UsageError(
            f"The option grpc_port of the database provider {PROVIDER} is the port of the connection_string: the "
            "server speaks gRPC on another one, 50051 unless it was changed."
        )
    return WebAddress(host, port, http.secure)


class _Params(ConnectionParams):
    """Connection parameters whose gRPC calls fail with our errors.

    The client turns the status of a failed call into text, and retries an unavailable one for more than a minute,
    whatever the timeout; errors that are not gRPC's own pass through unchanged.
    """

    _translate: Callable[[Any], StoreError] = PrivateAttr()

    @classmethod
    def over(cls, http: WebAddress, rpc: WebAddress, translate: Callable[[Any], StoreError]) -> _Params:
        params = cls(
            http=ProtocolParams(host=_bracketed(http.host), port=http.port, secure=http.secure),
            grpc=ProtocolParams(host=_bracketed(rpc.host), port=rpc.port, secure=rpc.secure),
        )
        params._translate = translate
        return params

    def _grpc_channel(self, *args: Any, **kwargs: Any) -> Any:
        channel = super()._grpc_channel(*args, **kwargs)
        return grpc.intercept_channel(channel, _Interceptor(self._translate))


class _Interceptor(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc]
    def __init__(self, translate: Callable[[Any], StoreError]) -> None:
        self._translate = translate

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        outcome = continuation(client_call_details, request)
        if isinstance(outcome, grpc.RpcError):
            raise self._translate(outcome) from outcome
        return outcome


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
