"""Comparing documents that are in a library, or files that are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from loccit.config import IndexSettings
from loccit.errors import ConversionError, NotFoundError
from loccit.model import ParsedDocument

if TYPE_CHECKING:
    from loccit.answers.verbatim.compare import Compared
    from loccit.index.port.index import SearchIndex
    from loccit.model.comparison import Comparison

# How much a model would read at once says nothing about where places are.
_MODEL_TOKENS = 256


def read_files(paths: Sequence[Path], settings: IndexSettings) -> list[ParsedDocument]:
    """Read files as they would be indexed: in processes of their own, within limits of time, memory and size."""
    from loccit.workers.sandbox import Limits, Sandbox

    setup = {"settings": asdict(settings), "model_tokens": _MODEL_TOKENS}
    found: dict[str, ParsedDocument] = {}
    with Sandbox(
        "loccit.ingest.prepare:prepare",
        result=ParsedDocument,
        workers=len(paths),
        limits=Limits(),
        initializer_payload=setup,
    ) as sandbox:
        for payload, outcome in sandbox.run([{"path": str(path)} for path in dict.fromkeys(paths)]):
            if outcome.value is None:
                reason = outcome.error or "it could not be read"
                raise ConversionError(f"{payload['path']} cannot be read: {reason}")
            found[payload["path"]] = outcome.value
    return [found[str(path)] for path in paths]


def compare_files(old: Path, new: Path, settings: IndexSettings | None = None) -> Comparison:
    """Return what differs between two files of any type that can be indexed."""
    from loccit.answers.verbatim.compare import Compared, compare

    return compare(*map(Compared.of_file, read_files([old, new], settings or IndexSettings())))


def find_compared(index: SearchIndex, names: Sequence[str], settings: IndexSettings | None) -> list[Compared]:
    """Return the documents that names mean in a library, or else, with settings to read by, files of these paths."""
    from loccit.answers.verbatim.compare import Compared

    files = [] if settings is None else [path for name in names if (path := _file(index, name))]
    read = dict(zip(files, read_files(files, settings), strict=True)) if files and settings else {}
    return [
        Compared.of_file(read[path])
        if (path := Path(name).expanduser()) in read
        else Compared.of_library(index, _document(index, name))
        for name in names
    ]


def _file(index: SearchIndex, name: str) -> Path | None:
    """Return the file of a path, unless the library has it."""
    path = Path(name).expanduser()
    try:
        return path if not index.names.at([str(path.absolute())]) and path.is_file() else None
    except OSError:
        # It is too long for the name of a file.
        return None


def _document(index: SearchIndex, name: str) -> int:
    from loccit.answers.find_places import find_documents

    known = index.names.at([str(Path(name).expanduser().absolute())])
    found, *others = list(known.values()) or find_documents(index, name)
    if others:
        paths = ", ".join(entry.source_path for entry in (found, *others))
        raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
    return found.id
