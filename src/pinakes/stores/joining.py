"""Joining: a machine that has no copy yet of a library that a database holds gets one."""

from __future__ import annotations

from pathlib import Path

from pinakes.errors import NotFoundError, UsageError
from pinakes.stores.embedded.local import LocalIndex
from pinakes.stores.home import complete, located, read_home
from pinakes.stores.registry import load_store
from pinakes.stores.settings import EMBEDDED, DatabaseSettings
from pinakes.stores.shared.catalogue import Catalogue
from pinakes.stores.shared.index import StoredIndex
from pinakes.stores.shared.replica import Step


def check_library(folder: Path, database: DatabaseSettings) -> None:
    """Raise ``NotFoundError`` where a database holds no library, before anything is made for a copy of it."""
    if database.provider == EMBEDDED:
        raise UsageError(
            "Name the database that holds the library, such as postgres; embedded is a folder here."
        )
    if database.provider == "in-memory":
        raise UsageError("A library in memory is in one process only; no other can connect to it.")
    with load_store(complete(folder, located(database), read_home(folder))) as store:
        if Catalogue(store, "").about() is None:
            raise NotFoundError(
                f"There is no library in the database ({store.describe()}). Check the collection and the address, or "
                f"make one with: pinakes index PATH --database {database.provider}"
            )


def follow(index: LocalIndex, step: Step = lambda done, total: None) -> bool:
    """Take over what others published, where there is a database; return whether anything was. Needs the lock."""
    if not isinstance(index, StoredIndex):
        return False
    changed = index.replica.follow(step)
    index.catch_up_keyword()
    return changed
