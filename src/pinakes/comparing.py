"""Comparing documents that are in a library, or files that are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.config import IndexSettings
from pinakes.errors import NotFoundError

if TYPE_CHECKING:
    from pinakes.model.comparison import Comparison
    from pinakes.port.index import SearchIndex
    from pinakes.search.verbatim.compare import Compared

# How much a model would read at once says nothing about where places are.
_MODEL_TOKENS = 256


def compare_files(old: Path, new: Path, settings: IndexSettings | None = None) -> Comparison:
    """Return what differs between two files of any type that can be indexed."""
    from pinakes.search.verbatim.compare import compare

    used = settings or IndexSettings()
    return compare(read_file(old, used), read_file(new, used))


def read_file(path: Path, settings: IndexSettings) -> Compared:
    """Read a file as it would be indexed."""
    from pinakes.ingest.convert import convert
    from pinakes.ingest.prepare import prepare_text
    from pinakes.search.verbatim.compare import Compared

    file_type, converted = convert(path)
    return Compared.of_file(prepare_text(str(path), file_type, converted, settings, _MODEL_TOKENS))


def find_compared(index: SearchIndex, name: str, settings: IndexSettings | None) -> Compared:
    """Return the document of a library that a name means, or else, with settings to read by, the file of that path."""
    from pinakes.search.links.questions import find_documents
    from pinakes.search.verbatim.compare import Compared

    path = Path(name).expanduser()
    known = index.names.at([str(path.absolute())])
    if not known and settings is not None and path.is_file():
        return read_file(path, settings)
    found, *others = list(known.values()) or find_documents(index.names, name)
    if others:
        paths = ", ".join(entry.source_path for entry in (found, *others))
        raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
    return Compared.of_library(index, found.id)
