"""The files in the keyword index's folder besides tantivy's own, and the single writer that changes it."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import tantivy

from loccit.errors import DamagedIndexError, IndexLockedError
from loccit.grammar.text.analysis import analysis_version
from loccit.index.folder.digests import checksum, sealed_json, unsealed_json
from loccit.index.folder.keyword_schema import DOCUMENT, KeywordEntry, write_entry

FORMAT = 4
"""Increase when the schema, or what is put into it, changes."""

_NAME = "generation.json"
# Written by tantivy with every commit and merge: which segments count.
_SEGMENTS = "meta.json"
_SEGMENT_FILES = (".term", ".idx", ".pos", ".fast", ".fieldnorm", ".store")
_FOOTER_MAGIC = 1337
_LONGEST_FOOTER = 1 << 10
# What is read to be checked when an index is opened: some ten milliseconds.
_FEW_BYTES = 1 << 25


@dataclass(frozen=True, slots=True)
class Manifest:
    """The generation of the record that the index reflects, and a mark that changes with every rewrite.

    ``segments`` is the checksum of the file that names the segments, ``files`` the checksum of each of their files.
    """

    generation: int
    mark: tuple[int, int, int] | None
    segments: int | None = None
    files: Mapping[str, int] = field(default_factory=dict)


def manifest_mark(folder: Path) -> tuple[int, int, int] | None:
    """Tells whether the manifest was rewritten, at the cost of one ``stat``; None if there is none."""
    try:
        status = (folder / _NAME).stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def read_manifest(folder: Path) -> Manifest:
    """The manifest, or generation 0 if nothing has been committed yet."""
    mark = manifest_mark(folder)
    if mark is None:
        return Manifest(0, None)
    try:
        content = unsealed_json((folder / _NAME).read_text(encoding="utf-8"), _NAME)
        found = content["format"], content["analysis"]
        generation = int(content["generation"])
    except (OSError, ValueError, KeyError, TypeError, DamagedIndexError) as error:
        raise DamagedIndexError(
            f"The keyword index in {folder} has an unreadable {_NAME}: {error}"
        ) from error
    if found != (FORMAT, analysis_version()):
        raise DamagedIndexError(
            f"The keyword index in {folder} was made by another version and must be rebuilt"
        )
    return Manifest(generation, mark, content.get("segments"), content.get("files", {}))


def write_manifest(folder: Path, generation: int) -> None:
    """Replace the manifest atomically and durably."""
    # A segment never changes: what is noted of it stays, so that no other file in its place becomes the right one.
    known = read_manifest(folder).files
    content = {
        "format": FORMAT,
        "analysis": analysis_version(),
        "generation": generation,
        "segments": _segments_checksum(folder),
        "files": {
            path.name: known[path.name] if path.name in known else _noted_checksum(path)
            for path in _expected_files(folder)
        },
    }
    temporary = folder / f".{_NAME}.{os.getpid()}"
    with temporary.open("w", encoding="utf-8") as file:
        file.write(sealed_json(content))
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
    """Turns what tantivy raises over broken files, including panics, into ``DamagedIndexError``."""
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
    """Names of files that are missing, or do not match their checksum. Reads everything."""
    manifest = read_manifest(folder)
    # Nothing notes the segments before there are any.
    changed = manifest.segments != _segments_checksum(folder) and (
        manifest.generation > 0 or bool(_expected_files(folder))
    )
    broken = [path.name for path in _expected_files(folder) if not _is_sound(path, manifest.files)]
    return [_SEGMENTS, *broken] if changed else broken


def check_segments(folder: Path, known: set[str]) -> None:
    """Check the files of segments that are not ``known`` yet, if these are few bytes, and add them.

    Of more, only whether they are there: reading them would take longer than a search.
    """
    noted = read_manifest(folder).files
    for attempt in range(3):
        marked = _segments_checksum(folder)
        if marked is None:
            return
        new = [path for path in _expected_files(folder) if path.name not in known]
        try:
            size = sum(path.stat().st_size for path in new)
            broken = [path.name for path in new if size <= _FEW_BYTES and not _is_sound(path, noted)]
        except FileNotFoundError as error:
            broken = [Path(error.filename).name]
        if not broken:
            known.update(path.name for path in new)
            return
        # A writer that merges segments takes away what was there a moment ago.
        if attempt == 2 or _segments_checksum(folder) == marked:
            raise DamagedIndexError(f"The keyword index in {folder} has damaged files: {', '.join(broken)}")


def _is_sound(path: Path, noted: Mapping[str, int]) -> bool:
    """Whether the content of a segment file matches the checksum at its end, and that the one noted for its name."""
    try:
        content = path.read_bytes()
        length, expected = _footer(content)
    except (OSError, struct.error, ValueError, KeyError, TypeError):
        return False
    return expected == checksum(content[:length]) and expected == noted.get(path.name, expected)


def _footer(content: bytes) -> tuple[int, int]:
    """Where the footer of a segment file begins, and the checksum of what is before it."""
    length, magic = struct.unpack("<II", content[-8:])
    if magic != _FOOTER_MAGIC:
        raise ValueError("not a footer")
    return len(content) - 8 - length, int(json.loads(content[-8 - length : -8])["crc"])


def _noted_checksum(path: Path) -> int | None:
    """The checksum at the end of a segment file; None if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LONGEST_FOOTER))
            return _footer(file.read())[1]
    except (OSError, struct.error, ValueError, KeyError, TypeError):
        return None


def _segments_checksum(folder: Path) -> int | None:
    """The checksum of the file that names the segments; None if there is none."""
    try:
        return checksum((folder / _SEGMENTS).read_bytes())
    except FileNotFoundError:
        return None


def _expected_files(folder: Path) -> list[Path]:
    """The files of the segments in use."""
    found = []
    try:
        for segment in json.loads((folder / _SEGMENTS).read_text(encoding="utf-8"))["segments"]:
            stem = segment["segment_id"].replace("-", "")
            found += [folder / f"{stem}{suffix}" for suffix in _SEGMENT_FILES]
            if segment.get("deletes"):
                found.append(folder / f"{stem}.{segment['deletes']['opstamp']}.del")
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedIndexError(f"{_SEGMENTS} is unreadable: {error}") from error


_HEAP_BYTES = 64_000_000
_THREADS = 1  # analysis, in Python, is the slower half; a second thread would only make more segments


class KeywordWriter:
    """Use as a context manager: entering takes the lock, leaving drops what was not committed.

    Everything is idempotent: adding a document replaces what the index had of it.
    """

    def __init__(
        self, index: tantivy.Index, folder: Path, timeout: float, committed: Callable[[], None]
    ) -> None:
        self._index = index
        self._folder = folder
        self._timeout = timeout
        self._committed = committed
        self._writer: Any = None
        self._pending = False
        self._generation = 0

    @property
    def generation(self) -> int:
        """What the index reflects while nobody else can write: the point to catch up from."""
        return self._generation

    def __enter__(self) -> KeywordWriter:
        self._writer = self._lock()
        try:
            self._generation = read_manifest(self._folder).generation
            if self._generation == 0:
                # A first commit without a manifest is unknown to everybody.
                self._writer.delete_all_documents()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def delete(self, document: int) -> None:
        """Remove a document's entries."""
        self._pending = True
        self._writer.delete_documents_by_term(DOCUMENT, document)

    def add_document(self, document: int, entries: Sequence[KeywordEntry]) -> None:
        """Add a document's entries, replacing existing ones."""
        if any(entry.document != document for entry in entries):
            raise ValueError(f"entries of another document than {document}")
        self.delete(document)
        for entry in entries:
            write_entry(self._writer, entry)

    def commit(self, generation: int) -> None:
        """Make everything so far visible and durable, as the state of that generation."""
        with damage_reported(self._folder):
            self._writer.commit()
        # In this order: after a crash between the two, the index is merely ahead of what it says.
        write_manifest(self._folder, generation)
        self._pending = False
        self._generation = generation
        self._committed()

    def _lock(self) -> Any:
        deadline = time.monotonic() + self._timeout
        pause = 0.01
        while True:
            try:
                return self._index.writer(_HEAP_BYTES, _THREADS)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    with damage_reported(self._folder):
                        raise
                if time.monotonic() >= deadline:
                    raise IndexLockedError(
                        f"Another process has been writing to the keyword index in {self._folder} "
                        f"for {self._timeout:.0f} seconds. Try again when it is done."
                    ) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.25)

    def _release(self) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with damage_reported(self._folder):
            if self._pending:
                writer.rollback()
            # Lets merges finish, so that many small commits do not pile up segments, and releases the lock.
            writer.wait_merging_threads()
            manifest = read_manifest(self._folder)
            if manifest.generation == self._generation > 0 and manifest.segments != _segments_checksum(
                self._folder
            ):
                # Merging names the segments anew.
                write_manifest(self._folder, self._generation)
                self._committed()
