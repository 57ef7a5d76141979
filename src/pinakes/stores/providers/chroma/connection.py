"""From settings to one of the two ways to Chroma: a server over HTTP, or a folder that this process opens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeAlias

from pinakes.errors import UsageError
from pinakes.stores.providers.chroma.folder import FolderConnection
from pinakes.stores.providers.chroma.server import WANTED, ServerConnection
from pinakes.stores.settings import DatabaseSettings

Connection: TypeAlias = FolderConnection | ServerConnection

# A host and a port without http:// before them would be a fine name for a folder, but is never meant as one.
_LOOKS_LIKE_A_HOST = re.compile(r"[\w.-]+:\d+")


def connect(settings: DatabaseSettings) -> Connection:
    """Return the connection that the settings ask for, after checking them; nothing is opened yet."""
    address = settings.connection_string.strip()
    if not address or _LOOKS_LIKE_A_HOST.fullmatch(address):
        raise UsageError(f"{WANTED}.")
    if "://" in address:
        return ServerConnection(settings)
    folder = Path(address).expanduser()
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            "The connection_string of the database provider chromadb is a file; it must be a folder."
        )
    return FolderConnection(folder, settings.timeout)
