"""Rebuild: a new index is built next to the old one, and replaces it when it is complete.

Until then the old one answers, whatever ends the run. The new record begins as an emptied copy of the old one, so that
ids and generations continue and no reader confuses the two states.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from loccit.errors import IndexStateError
from loccit.stores.embedded.database import explain_errors
from loccit.stores.embedded.index import EmbeddedIndex
from loccit.stores.embedded.local import (
    BESIDE,
    COLUMNS,
    CONCEPTS,
    KEYWORD,
    RECORD,
    TEXTS,
    VECTORS,
    LocalIndex,
)

_PURPOSE = "rebuild"


def begin_rebuild(index: LocalIndex, purpose: str) -> EmbeddedIndex:
    """Return an empty index next to another; or the remains of an interrupted one for the same purpose.

    The caller holds the writer lock of ``index``.
    """
    folder = index.folder / BESIDE
    wanted = f"{index.record.generation()} {purpose}"
    if (left := _left(folder, wanted, index.folder)) is not None:
        return left
    shutil.rmtree(folder, ignore_errors=True)
    with explain_errors(index.database.path):
        folder.mkdir(mode=index.folder.stat().st_mode & 0o777)
        with closing(sqlite3.connect(folder / RECORD)) as copy:
            index.database.connection.backup(copy)
    built = EmbeddedIndex(folder, create=False, part_of=index.folder)
    try:
        built.record.clear()
        # Written last: without it, this is not known to be empty.
        built.record.set_meta({"model": "", "dimension": "0", _PURPOSE: wanted})
    except BaseException:
        built.close()
        raise
    return built


def _left(folder: Path, wanted: str, home: Path) -> EmbeddedIndex | None:
    if not (folder / RECORD).exists():
        return None
    try:
        left = EmbeddedIndex(folder, create=False, part_of=home)
    except IndexStateError:
        return None
    if left.record.meta(_PURPOSE) == wanted:
        return left
    left.close()
    return None


def finish_rebuild(index: LocalIndex, built: EmbeddedIndex) -> None:
    """Replace an index by the one built next to it. The caller holds the writer lock of ``index``."""
    built.record.set_meta({_PURPOSE: ""})
    with explain_errors(index.database.path):
        # One SQLite transaction: others read the old record until it is done, and then the new one.
        built.database.connection.backup(index.database.connection)
    built.close()
    names = (
        (COLUMNS, KEYWORD, TEXTS, CONCEPTS, VECTORS)
        if isinstance(index, EmbeddedIndex)
        else (COLUMNS, KEYWORD, TEXTS, CONCEPTS)
    )
    index.replace_derived(built.folder, names)
    shutil.rmtree(built.folder, ignore_errors=True)
