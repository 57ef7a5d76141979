"""Addresses of services that are spoken to over HTTP: read once, and never with a key in the clear."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.errors import UsageError
from pinakes.loopback import is_loopback
from pinakes.stores.settings import DatabaseSettings


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
    """Read the connection string; a key goes unencrypted to another machine only where ``tls`` says it may."""
    bad = f"The database provider {settings.provider} needs a connection_string such as {example}"
    if not settings.connection_string:
        raise UsageError(f"{bad}; none was given.")
    try:
        parts = urlsplit(settings.connection_string.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UsageError(f"{bad}; this one cannot be read as an address.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{bad}; this one does not start with https:// and the name of a host.")
    if parts.username or parts.password or parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(f"{bad}, without anything before or after the host; the key goes into api_key.")
    address = WebAddress(host, port or (443 if parts.scheme == "https" else 80), parts.scheme == "https")
    if not address.secure and settings.api_key and settings.option("tls", True) and not is_loopback(host):
        raise UsageError(
            f"The database provider {settings.provider} would send its api_key unencrypted to another machine: use "
            "https:// in the connection_string, or set the option tls to false if that is meant."
        )
    return address


def check_server(settings: DatabaseSettings, good: str, key: str = "the key") -> None:
    """Refuse what is no address of a server, where a folder could be given too; ``good`` says what can be used."""
    named = f"The connection_string of {settings.provider}"
    try:
        parts = urlsplit(settings.connection_string.strip())
        parts.port  # noqa: B018  (reading it is what checks it)
    except ValueError as error:
        raise UsageError(f"{named} is no address: {good}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{named} is not an http or https address: {good}.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(f"{named} is an address only; {key} belongs in api_key. For it, {good}.")
    plain = parts.scheme == "http" and not is_loopback(parts.hostname)
    if plain and settings.api_key and settings.option("tls", True):
        raise UsageError(
            f"{settings.provider} would send api_key over an unencrypted connection. Write https:// in "
            "connection_string, or set the option tls to false where the network between is trusted."
        )


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
