"""Link: the way to a service. Its address is checked once, one client serves all threads, errors come as ours.

A key is never sent in the clear to another machine, unless that is asked for.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from pinakes.errors import UsageError
from pinakes.loopback import is_loopback
from pinakes.stores.retry import ATTEMPTS, retrying
from pinakes.stores.settings import DatabaseSettings

Client = TypeVar("Client")
Result = TypeVar("Result")
# How much of what a server said goes into a message.
LONGEST_REASON = 300


class Link(ABC, Generic[Client]):
    """A client that is made when it is first used, and again after it was closed."""

    # What the client raises; how often a call is tried; whether its own error may be seen behind ours.
    errors: ClassVar[tuple[type[BaseException], ...]] = (Exception,)
    attempts: ClassVar[int] = ATTEMPTS
    traced: ClassVar[bool] = True

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.provider = settings.provider
        self._guard = threading.RLock()
        self._client: Client | None = None

    def call(self, work: Callable[[Client], Result]) -> Result:
        """Do something with the client; what failed for a passing reason is tried again."""
        return retrying(lambda: self.once(work), attempts=self.attempts)

    def once(self, work: Callable[[Client], Result]) -> Result:
        """Do something with the client, with errors in our words."""
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
        """Let go of the connections."""
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            self._disconnect(client)

    @abstractmethod
    def _connect(self) -> Client:
        """Make a client."""

    @abstractmethod
    def _translated(self, error: Any) -> BaseException:
        """Return the error of ours that one of the client stands for; the same where it is to be passed on."""

    def _disconnect(self, client: Any) -> None:
        client.close()

    def shown(self, text: object) -> str:
        """Return what a server or client said, fit for a message: short, and without what is secret."""
        settings = self.settings
        return without_secrets(str(text), settings.api_key, settings.connection_string)[:LONGEST_REASON]


class WebAddress(NamedTuple):
    """Where a service listens."""

    host: str
    port: int
    secure: bool

    @property
    def url(self) -> str:
        """Return it as a client takes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"


def read_address(settings: DatabaseSettings, example: str) -> WebAddress:
    """Read a connection string that names a host and no more."""
    if not settings.connection_string:
        raise UsageError(f"{_needs(settings)} such as {example}; none was given.")
    parts = split_address(settings, f"such as {example}")
    if parts.path.strip("/"):
        raise UsageError(f"{_needs(settings)} such as {example}, without anything after the host.")
    secure = parts.scheme == "https"
    return WebAddress(parts.hostname or "", parts.port or (443 if secure else 80), secure)


def split_address(settings: DatabaseSettings, good: str, key: str = "the key") -> SplitResult:
    """Read a connection string as the address of a server; ``good`` says what can be used, and is said if it is not."""
    bad = f"{_needs(settings)} {good}"
    try:
        parts = urlsplit(settings.connection_string.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{bad}; this one is no address.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageError(f"{bad}; this one does not start with http:// or https:// and the name of a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(f"{bad}, an address only: {key} belongs in api_key.")
    refuse_open(settings, parts.scheme, parts.hostname, bool(settings.api_key))
    return parts


def _needs(settings: DatabaseSettings) -> str:
    return f"The database provider {settings.provider} needs a connection_string"


def refuse_open(settings: DatabaseSettings, scheme: str, host: str, secret: bool) -> None:
    """Refuse to send a secret unencrypted to another machine, unless the option ``tls`` says that it may be."""
    if scheme == "http" and secret and not is_here(host) and settings.option("tls", True):
        raise UsageError(
            f"The database provider {settings.provider} would send its api_key or password unencrypted to another "
            "machine: write https:// in connection_string, or set the option tls to false if the network is trusted."
        )


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    return is_loopback(host) or host.endswith(".localhost")


def without_secrets(text: str, *secrets: str) -> str:
    """Return a message of a client without what it may repeat of an address or a key.

    >>> without_secrets("no user ann:sesame here", "ann:sesame")
    'no user … here'
    """
    for secret in secrets:
        # What is shorter would be found in words that have nothing to do with it.
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return text
