"""Link: the connection to a service. Its address is checked once, one client serves all threads, errors are translated.

A key is never sent unencrypted to another machine, unless explicitly allowed.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from loccit.errors import UsageError
from loccit.index.retry import ATTEMPTS, retrying
from loccit.index.settings import DatabaseSettings
from loccit.workers.loopback import is_loopback

Client = TypeVar("Client")
Result = TypeVar("Result")
# How much of a server's message goes into ours.
LONGEST_REASON = 300


class Link(ABC, Generic[Client]):
    """A client created on first use, and again after it was closed."""

    # The client's exceptions; the number of attempts; whether its own error may be chained to ours.
    errors: ClassVar[tuple[type[BaseException], ...]] = (Exception,)
    attempts: ClassVar[int] = ATTEMPTS
    traced: ClassVar[bool] = True

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.provider: str = settings.provider
        self._guard = threading.RLock()
        self._client: Client | None = None

    def call(self, work: Callable[[Client], Result]) -> Result:
        """Call a function with the client; temporary failures are retried."""
        return retrying(lambda: self.once(work), attempts=self.attempts)

    def once(self, work: Callable[[Client], Result]) -> Result:
        """Call a function with the client, with errors translated."""
        try:
            return work(self.client())
        except self.errors as error:
            ours = self._translated(error)
            if ours is error:
                raise
            raise ours from (error if self.traced else None)

    def client(self) -> Client:
        """Return the client."""
        with self._guard:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def close(self) -> None:
        """Close the connections."""
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            self._disconnect(client)

    @abstractmethod
    def _connect(self) -> Client:
        """Create a client."""

    @abstractmethod
    def _translated(self, error: Any) -> BaseException:
        """Return our error for one of the client's; the same error if it is to be passed on."""

    def _disconnect(self, client: Any) -> None:
        client.close()

    def shown(self, text: object) -> str:
        """Return a message of a server or client, shortened and without secrets."""
        settings = self.settings
        return without_secrets(str(text), settings.api_key, settings.connection_string)[:LONGEST_REASON]


class WebAddress(NamedTuple):
    """The address of a service."""

    host: str
    port: int
    secure: bool

    @property
    def url(self) -> str:
        """Return it in the form that clients take."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"


def read_address(settings: DatabaseSettings, example: str) -> WebAddress:
    """Parse a connection string that names only a host."""
    if not settings.connection_string:
        raise UsageError(f"{_needs(settings)} such as {example}; none was given.")
    parts = split_address(settings, f"such as {example}")
    if parts.path.strip("/"):
        raise UsageError(f"{_needs(settings)} such as {example}, without anything after the host.")
    secure = parts.scheme == "https"
    return WebAddress(parts.hostname or "", parts.port or (443 if secure else 80), secure)


def split_address(settings: DatabaseSettings, good: str, key: str = "the key") -> SplitResult:
    """Parse a connection string as the address of a server; ``good`` describes valid ones, for the error message."""
    bad = f"{_needs(settings)} {good}"
    try:
        parts = urlsplit(settings.connection_string.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{bad}; this one is not an address.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageError(f"{bad}; this one does not start with http:// or https:// and the name of a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(f"{bad}, an address only: {key} belongs in api_key.")
    refuse_open(settings, parts.scheme, parts.hostname, bool(settings.api_key))
    return parts


def _needs(settings: DatabaseSettings) -> str:
    return f"The database provider {settings.provider} needs a connection_string"


def refuse_open(settings: DatabaseSettings, scheme: str, host: str, secret: bool) -> None:
    """Refuse to send a secret unencrypted to another machine, unless the option ``tls`` allows it."""
    if scheme == "http" and secret and not is_here(host) and settings.option("tls", True):
        raise UsageError(
            f"The database provider {settings.provider} would send its api_key or password unencrypted to another "
            "machine: write https:// in connection_string, or set the option tls to false if the network is trusted."
        )


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    return is_loopback(host) or host.endswith(".localhost")


def without_secrets(text: str, *secrets: str) -> str:
    """Return a client's message without any part of an address or key it may repeat.

    >>> without_secrets("no user ann:sesame here", "ann:sesame")
    'no user … here'
    """
    for secret in secrets:
        # Shorter ones would occur in unrelated words.
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return text
