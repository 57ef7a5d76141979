"""Finds the index that a command is about, and opens it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.errors import IndexNotFoundError

if TYPE_CHECKING:
    from pinakes.library import Library

FOLDER = ".pinakes"


def index_path(given: Path | None) -> Path | None:
    """Return the index folder that is meant: the one given (or the ``.pinakes`` in it), else the nearest upwards."""
    if given is not None:
        inner = given / FOLDER
        return inner if given.name != FOLDER and inner.is_dir() else given
    from pinakes.library import find_index

    return find_index()


def open_library(given: Path | None) -> Library:
    """Open an index that is there already."""
    path = index_path(given)
    if path is None:
        raise IndexNotFoundError(
            "There is no index here or in a folder above. Make one first with: pinakes index PATH"
            + _other_way()
        )
    if not path.exists():
        raise IndexNotFoundError(
            f"There is no index at {path}. Make one first with: pinakes index PATH --index {path}{_other_way()}"
        )
    from pinakes.library import Library

    return Library(path, create=False)


def _other_way() -> str:
    """Mention the database that the environment names."""
    from pinakes.stores.settings import PROVIDER_VARIABLE

    return (
        ", or use the library in the database with: pinakes connect"
        if os.environ.get(PROVIDER_VARIABLE)
        else ""
    )
