"""Home: which database an index folder belongs to, and the index that comes of it.

The folder remembers the provider and the collection, so that they are named once. It does not remember anything
secret: an address with a password in it, or a key, is given each time, mostly by the environment.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pinakes.errors import DamagedIndexError, IndexStateError, UsageError
from pinakes.stores.embedded.files import read_json, write_json
from pinakes.stores.embedded.index import RECORD, EmbeddedIndex
from pinakes.stores.settings import EMBEDDED, DatabaseSettings

HOME = "database.json"
# A folder, or an address in which there is no room for a name, a password or a key.
_HARMLESS = re.compile(r"(?:https?://)?[^@;=?&]*")
# Files of these providers lie beside the record, unless they are to lie elsewhere.
_BESIDE = {"faiss": "faiss"}


def read_home(folder: Path) -> DatabaseSettings:
    """Return the database that a folder belongs to; embedded when it is on its own."""
    try:
        data = read_json(folder / HOME)
        return DatabaseSettings.from_dict(data) if data else DatabaseSettings()
    except (DamagedIndexError, TypeError, AttributeError) as error:
        raise IndexStateError(
            f"{folder / HOME} cannot be read ({error}). It says which database the index belongs to: name that again "
            "with --database, after you have moved the file away."
        ) from error


def write_home(folder: Path, settings: DatabaseSettings) -> None:
    """Remember the database of a folder, without what is secret."""
    if settings.provider == EMBEDDED:
        (folder / HOME).unlink(missing_ok=True)
        return
    data = settings.to_dict()
    if settings.connection_string and _HARMLESS.fullmatch(settings.connection_string):
        data["connection_string"] = settings.connection_string
    write_json(folder / HOME, data)


def open_index(folder: Path, *, create: bool, database: DatabaseSettings | None) -> EmbeddedIndex:
    """Open the index in a folder, with its database where it has one.

    ``database`` must be the one that the folder belongs to; an index does not change its home by being opened.
    """
    home = read_home(folder)
    exists = (folder / RECORD).exists()
    wanted = database or home
    if exists and (wanted.provider, wanted.collection) != (home.provider, home.collection):
        raise UsageError(
            f"The index at {folder} belongs to {_name(home)}, not to {_name(wanted)}. Move it with pinakes migrate, or "
            "use another folder."
        )
    if wanted.provider == EMBEDDED:
        return EmbeddedIndex(folder, create=create)
    index = connected(folder, create=create, settings=complete(folder, wanted, home))
    if database is not None and not index.read_only:
        write_home(folder, database)
    return index


def complete(folder: Path, wanted: DatabaseSettings, home: DatabaseSettings) -> DatabaseSettings:
    """Return settings with the address that they leave open: what the folder remembers, or beside the record."""
    address = wanted.connection_string or home.connection_string
    if not address and wanted.provider in _BESIDE:
        address = str(folder / _BESIDE[wanted.provider])
    return replace(wanted, connection_string=address)


def connected(folder: Path, *, create: bool, settings: DatabaseSettings) -> EmbeddedIndex:
    """Open the index in a folder with a database."""
    from pinakes.stores.shared.index import StoredIndex

    return StoredIndex(folder, create=create, settings=settings)


def _name(settings: DatabaseSettings) -> str:
    if settings.provider == EMBEDDED:
        return "no database"
    return f"the database {settings.provider} (collection {settings.collection})"
