"""Addresses of databases: which are folders on this machine, and which may be written down."""

from __future__ import annotations

import re
from pathlib import Path

# These keep their files in a folder where they are given one in place of a server.
_IN_FOLDERS = ("faiss", "chromadb", "qdrant", "milvus")
_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")
# An address in which there is no room for a name, a password or a key.
_HARMLESS = re.compile(r"[a-z][a-z0-9+.]*://[^@;=?&]*", re.IGNORECASE)


def is_folder(provider: str, address: str) -> bool:
    """Whether an address is a folder or file on this machine.

    >>> is_folder("qdrant", "./vectors"), is_folder("qdrant", "http://localhost:6333")
    (True, False)
    """
    text = address.strip()
    return (
        provider in _IN_FOLDERS
        and bool(text)
        and not text.startswith(":")
        and "://" not in text
        and not _HOST_AND_PORT.fullmatch(text)
    )


def absolute_address(provider: str, address: str, base: Path | None = None) -> str:
    """Return an address that means the same in every working folder; others than folders stay as they are."""
    if not is_folder(provider, address):
        return address
    return str(((base or Path.cwd()) / Path(address.strip()).expanduser()).absolute())


def is_harmless(provider: str, address: str) -> bool:
    """Whether an address holds nothing secret, and may be written down.

    >>> is_harmless("postgres", "postgresql://localhost/laws"), is_harmless("postgres", "postgresql://ann:x@localhost")
    (True, False)
    """
    return is_folder(provider, address) or bool(_HARMLESS.fullmatch(address.strip()))
