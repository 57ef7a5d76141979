"""A Chroma server over HTTP: which addresses and keys are accepted, and the client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from chromadb.api import ServerAPI
from chromadb.api.fastapi import FastAPI

from pinakes.errors import UsageError
from pinakes.loopback import is_loopback
from pinakes.stores.providers.chroma.client import quiet_system
from pinakes.stores.providers.chroma.errors import check_status
from pinakes.stores.settings import DatabaseSettings

WANTED = (
    "The database provider chromadb needs connection_string: the address of a server, such as "
    "https://chroma.example:8000, or a folder on this machine, such as ./chroma"
)
_HEADERS = ("Authorization", "X-Chroma-Token")


class ServerConnection:
    """A server over HTTP or HTTPS; one pool of connections for all threads."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._url = _checked_address(settings)
        self._headers = _checked_headers(settings, self._url)
        self._timeout = settings.timeout
        self._verify = _certificates(settings)
        self._guard = threading.Lock()
        self._opened: FastAPI | None = None

    def exists(self) -> bool:
        """Whether there is a database to ask: a server always is one."""
        return True

    @contextmanager
    def api(self) -> Iterator[ServerAPI]:
        """Give the client, which threads share."""
        with self._guard:
            if self._opened is None:
                self._opened = self._open()
            opened = self._opened
        yield opened

    def _open(self) -> FastAPI:
        # The client that the package offers asks the server three things first, without any limit of time.
        system = quiet_system(
            chroma_server_host=self._url,
            chroma_server_http_port=urlsplit(self._url).port or 443,
            chroma_server_ssl_enabled=self._url.startswith("https:"),
            chroma_server_ssl_verify=self._verify,
            chroma_server_headers=dict(self._headers),
        )
        client = system.instance(FastAPI)
        client._session.timeout = httpx.Timeout(self._timeout)
        client._session.event_hooks = {"response": [check_status]}
        system.start()
        return client

    def close(self) -> None:
        """Close the pool."""
        with self._guard:
            if self._opened is not None:
                self._opened._session.close()
            self._opened = None


def _checked_address(settings: DatabaseSettings) -> str:
    """Return the address without a slash at its end; the message about a bad one does not repeat it."""
    try:
        parts = urlsplit(settings.connection_string.strip())
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        raise UsageError(f"{WANTED}; this address cannot be read.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise UsageError(f"{WANTED}; this is no http:// or https:// address.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"{WANTED}, without a name, password or query in it; the server's token goes to api_key."
        )
    plain = parts.scheme == "http" and not is_loopback(parts.hostname)
    if plain and settings.api_key and settings.option("tls", True):
        raise UsageError(
            "The database provider chromadb would send api_key over plain http:// to another machine. Write "
            "https:// in connection_string, or set the option tls to false if the network is trusted."
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _checked_headers(settings: DatabaseSettings, url: str) -> dict[str, str]:
    cloud = (urlsplit(url).hostname or "").endswith("trychroma.com")
    header = settings.option("token_header", _HEADERS[1] if cloud else _HEADERS[0])
    if header not in _HEADERS:
        raise UsageError(
            f"The option token_header of the database provider chromadb must be {' or '.join(_HEADERS)}."
        )
    if not settings.api_key:
        return {}
    if not settings.api_key.isascii() or not settings.api_key.isprintable() or " " in settings.api_key:
        raise UsageError(
            "The api_key of the database provider chromadb has characters that a token cannot have; "
            "letters, digits and punctuation are allowed."
        )
    return {header: f"Bearer {settings.api_key}" if header == _HEADERS[0] else settings.api_key}


def _certificates(settings: DatabaseSettings) -> str | None:
    path: str = settings.option("ca_file", "")
    if path and not Path(path).is_file():
        raise UsageError(f"The option ca_file of the database provider chromadb is no file: {path}.")
    return path or None
