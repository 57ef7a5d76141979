"""What lies in the keyword index's folder beside tantivy's own files, and whether those are sound."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.errors import DamagedIndexError
from pinakes.text.analysis import analysis_version

FORMAT = 3
"""Raise when the schema, or what is put into it, changes."""

_NAME = "generation.json"
_SEGMENT_FILES = ("*.term", "*.idx", "*.pos", "*.fast", "*.fieldnorm", "*.store", "*.del")
_FOOTER_MAGIC = 1337


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which generation of the record the index reflects, and a mark that changes whenever it is rewritten."""

    generation: int
    mark: tuple[int, int, int] | None


def manifest_mark(folder: Path) -> tuple[int, int, int] | None:
    """Tells whether the manifest was rewritten, at the price of one ``stat``; None when there is none."""
    try:
        status = (folder / _NAME).stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def read_manifest(folder: Path) -> Manifest:
    """The manifest, or generation 0 when nothing has been committed yet."""
    mark = manifest_mark(folder)
    if mark is None:
        return Manifest(0, None)
    try:
        content = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        found = content["format"], content["analysis"]
        generation = int(content["generation"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedIndexError(
            f"The keyword index in {folder} has an unreadable {_NAME}: {error}"
        ) from error
    if found != (FORMAT, analysis_version()):
        raise DamagedIndexError(
            f"The keyword index in {folder} was made by another version and must be rebuilt"
        )
    return Manifest(generation, mark)


def write_manifest(folder: Path, generation: int) -> None:
    """Replace the manifest in one step, on disk before this returns."""
    content = {"format": FORMAT, "analysis": analysis_version(), "generation": generation}
    temporary = folder / f".{_NAME}.{os.getpid()}"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    _replace(temporary, folder / _NAME)
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replace(source: Path, target: Path) -> None:
    for _ in range(50):
        with contextlib.suppress(PermissionError):  # Windows, while a reader has the target open
            source.replace(target)
            return
        time.sleep(0.01)
    source.replace(target)


@contextlib.contextmanager
def damage_reported(folder: Path) -> Iterator[None]:
    """Turns what tantivy raises over broken files, its panics included, into ``DamagedIndexError``."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise DamagedIndexError(f"The keyword index in {folder} cannot be read: {error}") from error
    except BaseException as error:
        # Rust panics surface as a BaseException whose class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise DamagedIndexError(f"The keyword index in {folder} cannot be read: {error}") from error


def verify_files(folder: Path) -> list[str]:
    """Names of segment files whose content does not match the checksum in their last bytes. Reads everything."""
    broken = []
    for path in sorted(path for pattern in _SEGMENT_FILES for path in folder.glob(pattern)):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue  # merged away meanwhile
        try:
            length, magic = struct.unpack("<II", content[-8:])
            footer = json.loads(content[-8 - length : -8])
            sound = magic == _FOOTER_MAGIC and footer["crc"] == zlib.crc32(content[: -8 - length])
        except (struct.error, ValueError, KeyError):
            sound = False
        if not sound:
            broken.append(path.name)
    return broken
