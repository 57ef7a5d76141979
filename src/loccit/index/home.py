"""Home: which database an index folder belongs to, and opening the index accordingly.

The folder remembers the provider and the collection, so that they are named once. It does not remember secrets: an
address with a password in it, or a key, is given each time, usually by the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from loccit.errors import DamagedIndexError, IndexStateError, NotFoundError, UsageError
from loccit.index.folder.files import read_json, write_json
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.local import RECORD, LocalIndex
from loccit.index.settings import EMBEDDED, DatabaseSettings

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
    """Return an address that is valid in every working folder; addresses that are not folders are unchanged."""
    if not is_folder(provider, address):
        return address
    return str(((base or Path.cwd()) / Path(address.strip()).expanduser()).absolute())


def is_harmless(provider: str, address: str) -> bool:
    """Whether an address contains no secret, and may be stored.

    >>> is_harmless("postgres", "postgresql://localhost/laws"), is_harmless("postgres", "postgresql://ann:x@localhost")
    (True, False)
    """
    return is_folder(provider, address) or bool(_HARMLESS.fullmatch(address.strip()))


HOME = "database.json"
# Files of these providers lie beside the record, unless they are to lie elsewhere.
_BESIDE = {"faiss": "faiss"}


def read_home(folder: Path) -> DatabaseSettings:
    """Return the database that a folder belongs to; embedded if none."""
    try:
        data = read_json(folder / HOME)
        return DatabaseSettings.from_dict(data) if data else DatabaseSettings()
    except (DamagedIndexError, TypeError, AttributeError, UsageError) as error:
        raise IndexStateError(
            f"{folder / HOME} cannot be read ({error}). It says which database the index belongs to: move the file "
            "away, and name the database again with --database."
        ) from error


def write_home(folder: Path, settings: DatabaseSettings) -> None:
    """Store the database of a folder, without secrets."""
    if settings.provider == EMBEDDED:
        (folder / HOME).unlink(missing_ok=True)
        return
    data = settings.to_dict()
    if is_harmless(settings.provider, settings.connection_string):
        data["connection_string"] = settings.connection_string
    write_json(folder / HOME, data, sealed=False)


def open_index(folder: Path, *, create: bool, database: DatabaseSettings | None) -> LocalIndex:
    """Open the index in a folder, with its database if it has one.

    ``database`` must be the one that the folder belongs to; opening an index does not change its home, unless it is
    still empty.
    """
    home = read_home(folder)
    wanted = located(database) if database else home
    if (wanted.provider, wanted.collection) != (home.provider, home.collection):
        if (folder / RECORD).exists() and _holds_anything(folder):
            raise UsageError(
                f"The index at {folder} belongs to {name_of(home)}, not to {name_of(wanted)}. Move it with loccit "
                "migrate, or use another folder (--index)."
            )
        home = DatabaseSettings()
    if wanted.provider == EMBEDDED:
        index: LocalIndex = EmbeddedIndex(folder, create=create)
        if database is not None and not index.read_only:
            write_home(folder, wanted)
        return index
    index = connected(folder, create=create, settings=complete(folder, wanted, home))
    if database is not None and not index.read_only:
        write_home(folder, _remembered(wanted, home))
    return index


def _holds_anything(folder: Path) -> bool:
    index = EmbeddedIndex(folder, create=False)
    try:
        return index.record.generation() > 0
    finally:
        index.close()


def _remembered(wanted: DatabaseSettings, home: DatabaseSettings) -> DatabaseSettings:
    """Return settings with the address that the folder remembers, unless a new one is given."""
    same = (wanted.provider, wanted.connection_env) == (home.provider, home.connection_env)
    if wanted.connection_string or not same:
        return wanted
    return replace(wanted, connection_string=home.connection_string)


def located(settings: DatabaseSettings, base: Path | None = None) -> DatabaseSettings:
    """Return settings with a folder address made relative to a given folder, or to the working folder."""
    address = absolute_address(settings.provider, settings.connection_string, base)
    return replace(settings, connection_string=address)


def complete(folder: Path, wanted: DatabaseSettings, home: DatabaseSettings) -> DatabaseSettings:
    """Return settings with a missing address filled in: the remembered one, or a folder next to the record."""
    wanted = _remembered(wanted, home)
    given = wanted.with_environment().connection_string
    # What the environment has may be the address of another database.
    beside = not wanted.connection_string and not is_folder(wanted.provider, given)
    if wanted.provider in _BESIDE and beside:
        return replace(wanted, connection_string=str(folder / _BESIDE[wanted.provider]))
    return wanted


def connected(folder: Path, *, create: bool, settings: DatabaseSettings) -> LocalIndex:
    """Open the index in a folder with a database."""
    from loccit.index.shared.index import StoredIndex

    return StoredIndex(folder, create=create, settings=settings)


def name_of(settings: DatabaseSettings) -> str:
    """Name a database in a message, without secrets."""
    if settings.provider == EMBEDDED:
        return "no database"
    return f"the database {settings.provider} (collection {settings.collection})"


def own_settings(index: LocalIndex) -> DatabaseSettings:
    """Return the database of an open index."""
    from loccit.index.shared.index import StoredIndex

    return index.store.settings if isinstance(index, StoredIndex) else DatabaseSettings()


def check_home(index: LocalIndex) -> None:
    """Refuse to write if the folder was moved to another database since it was opened."""
    home, mine = read_home(index.folder), own_settings(index)
    if (home.provider, home.collection) != (mine.provider, mine.collection):
        raise IndexStateError(
            f"The index at {index.folder} was moved to {name_of(home)} while it was open here. Open it again."
        )


def publishing(index: LocalIndex) -> tuple[str, int]:
    """Name the database that holds an index, and count the passages not published there yet."""
    from loccit.index.shared.index import StoredIndex

    if not isinstance(index, StoredIndex):
        return "", 0
    unpublished = index.database.value(
        "SELECT COUNT(*) FROM passages WHERE document NOT IN (SELECT document FROM stored) AND document NOT IN "
        "(SELECT p.document FROM unembedded u JOIN passages p ON p.text_hash = u.text_hash)"
    )
    return index.store.describe(), int(unpublished)


def check_library(folder: Path, database: DatabaseSettings) -> None:
    """Raise ``NotFoundError`` if a database holds no library, before a local copy is created."""
    if database.provider == EMBEDDED:
        raise UsageError(
            "Name the database that holds the library, such as postgres; embedded is a folder here."
        )
    if database.provider == "in-memory":
        raise UsageError("A library in memory exists in one process only; no other can connect to it.")
    from loccit.index.registry import load_store
    from loccit.index.shared.catalogue import Catalogue

    with load_store(complete(folder, located(database), read_home(folder))) as store:
        if Catalogue(store, "").about() is None:
            raise NotFoundError(
                f"There is no library in the database ({store.describe()}). Check the collection and the address, or "
                f"make one with: loccit index PATH --database {database.provider}"
            )


def follow(index: LocalIndex, step: Callable[[int, int], None] = lambda done, total: None) -> bool:
    """Take over what others published, if there is a database; return whether anything changed. Needs the lock."""
    from loccit.index.shared.index import StoredIndex

    if not isinstance(index, StoredIndex):
        return False
    changed = index.replica.follow(step)
    index.catch_up_keyword()
    return changed
