"""Convert: from a file to structured text.

``convert`` determines the type of a file and calls the converter for it. Converters for further extensions come from
the entry-point group ``loccit.converters``: the name is the extension, the object a function from a ``Path`` to a
``Converted``.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from loccit.errors import ConversionError, MissingExtraError
from loccit.model.document import Converted
from loccit.read.ocr import Ocr
from loccit.read.sniff import IMAGE_EXTENSIONS, TEXT_EXTENSIONS, FileType, detect, sniff

__all__ = [
    "DATA_EXTENSIONS",
    "IMAGE_EXTENSIONS",
    "SUPPORTED_EXTENSIONS",
    "FileType",
    "convert",
    "detect",
    "supported_extensions",
]

log: logging.Logger = logging.getLogger(__name__)

Converter = Callable[[Path], Converted]

MAX_TEXT_BYTES = 100 << 20
MAX_BYTES = 1 << 30

_BINARY_EXTENSIONS = (
    *(".pdf", ".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".potx", ".xlsx", ".xlsm", ".xls"),
    *(".odt", ".ott", ".epub", ".rtf"),
)
SUPPORTED_EXTENSIONS: frozenset[str] = frozenset((*TEXT_EXTENSIONS, *_BINARY_EXTENSIONS))
_READ_BY_OCR = (FileType.PDF, FileType.IMAGE)
# Supported, but in most folders these are settings and logs rather than documents.
DATA_EXTENSIONS: frozenset[str] = frozenset(
    (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".xml", ".log", ".csv", ".tsv", ".tab")
)


def convert(path: Path, ocr: Ocr | None = None) -> tuple[str, Converted]:
    """Return the type of a file (as an extension: ``.docx``) and its content; ``ocr`` says how images are read.

    Raises ``ConversionError`` with a reason for every file without text.
    """
    path = Path(path)
    check_size(path)
    if entry := _third_party().get(path.suffix.lower()):
        name, file_type = path.suffix.lower().lstrip("."), path.suffix.lower()
        converted = _call(entry.load, path, name)
    else:
        detection = sniff(path)
        if detection.refusal:
            raise ConversionError(detection.refusal)
        name = detection.type.label
        file_type = path.suffix.lower() if detection.type is FileType.IMAGE else detection.type.extension
        converted = _call(partial(_load, detection.type, ocr), path, name)
    if not converted.text.strip("\ufeff \t\r\n\f\v\u200b\u00a0"):
        raise ConversionError(f"no text found in this {name} file")
    return file_type, converted


def supported_extensions() -> frozenset[str]:
    """The extensions of the built-in and of the installed third-party converters."""
    return SUPPORTED_EXTENSIONS | frozenset(_third_party())


def check_size(path: Path) -> None:
    """Refuse a file that is missing, empty or too large, reading at most its first bytes."""
    try:
        if not path.is_file():
            raise ConversionError("is not a file" if path.exists() else "does not exist")
        size = path.stat().st_size
    except OSError as error:
        raise ConversionError(f"cannot be opened: {error.strerror or error}") from error
    if size == 0:
        raise ConversionError("the file is empty")
    if size > MAX_BYTES or (size > MAX_TEXT_BYTES and _is_plain(path)):
        most = MAX_BYTES if size > MAX_BYTES else MAX_TEXT_BYTES
        raise ConversionError(
            f"is {size >> 20} MB, and at most {most >> 20} MB can be read; split it into smaller files"
        )


def _is_plain(path: Path) -> bool:
    """Whether a file is plain text, so that all of it would have to be held in memory."""
    return path.suffix.lower() not in _third_party() and sniff(path).type in TEXT_EXTENSIONS.values()


def _call(load: Callable[[], Converter], path: Path, name: str) -> Converted:
    """Run a converter; any exception of its library becomes a reason that names the format."""
    try:
        return load()(path)
    except (ConversionError, MemoryError):
        raise
    except MissingExtraError as error:
        raise ConversionError(str(error)) from error
    except OSError as error:
        raise ConversionError(f"cannot be read as {name}: {error.strerror or _short(error)}") from error
    except Exception as error:
        log.debug("converting %s failed", path, exc_info=True)
        raise ConversionError(f"cannot be read as {name}: {_short(error)}") from error


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())[:160]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _load(kind: FileType, ocr: Ocr | None) -> Converter:
    module, _, name = kind.reader.partition(":")
    if name.endswith("_to_markdown"):
        module, name = "text", "convert_markup"
    converter: Converter = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return partial(converter, ocr=ocr) if kind in _READ_BY_OCR else converter  # type: ignore[call-arg]


@cache
def _third_party() -> dict[str, EntryPoint]:
    return {f".{entry.name.lower().lstrip('.')}": entry for entry in entry_points(group="loccit.converters")}
