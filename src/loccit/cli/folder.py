"""The index that a command uses, and documents as they are named in a shell."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from loccit.errors import IndexNotFoundError

if TYPE_CHECKING:
    from loccit.library import Library

FOLDER = ".loccit"


def meant(name: str) -> str:
    """Return a document's path or folder as the index knows it when it is written as ``../notes``."""
    return os.path.abspath(Path(name).expanduser()) if {"..", "~"} & set(Path(name).parts) else name


def index_path(given: Path | None) -> Path | None:
    """Return the index folder that is meant: the one given (or the ``.loccit`` in it), else the nearest upwards."""
    if given is not None:
        inner = given / FOLDER
        return inner if given.name != FOLDER and inner.is_dir() else given
    from loccit.library import find_index

    return find_index()


def open_library(given: Path | None) -> Library:
    """Open an index that is there already."""
    path = index_path(given)
    if path is None and (former := former_index()) is not None:
        raise IndexNotFoundError(
            f"There is no index here or in a folder above, but {former} is one that Loccit made under its former "
            f"name. To go on with it, rename it: mv {shlex.quote(str(former))} "
            f"{shlex.quote(str(former.with_name(FOLDER)))}"
        )
    if path is None:
        raise IndexNotFoundError(
            "There is no index here or in a folder above. Make one first with: loccit index PATH"
            + _other_way()
        )
    if not path.exists():
        raise IndexNotFoundError(
            f"There is no index at {path}. Make one first with: loccit index PATH --index {path}{_other_way()}"
        )
    from loccit.library import Library

    return Library(path, create=False)


def former_index() -> Path | None:
    """Return an index under the project's former name, here or in a folder above; others use that name too."""
    here = Path.cwd()
    from loccit.index.folder.schema import is_ours

    for folder in (here, *here.parents):
        record = folder / ".pinakes" / "record.sqlite3"
        if record.is_file() and is_ours(record):
            return record.parent
    return None


def _other_way() -> str:
    """Mention the database that the environment names."""
    from loccit.index.settings import PROVIDER_VARIABLE

    return (
        ", or use the library in the database with: loccit connect"
        if os.environ.get(PROVIDER_VARIABLE)
        else ""
    )
