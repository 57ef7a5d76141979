"""Notices that something changed below some paths, and waits until it has been quiet again for a moment.

Folders are watched by the operating system, through watchfiles. Single files, and whether a folder is still the same
one, are looked at every second: editors replace files, and what replaces them would not be watched.
"""

from __future__ import annotations

import glob
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pinakes.errors import PinakesError
from pinakes.ingest.convert import IMAGE_EXTENSIONS, supported_extensions
from pinakes.ingest.discover import IGNORE_FILES, absolute, is_at_or_below
from pinakes.ingest.skipped import is_document_by_name
from pinakes.ingest.source_files import is_source

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger("pinakes.watch")

# What a path is now: a folder by its identity, a file by its state, or nothing.
Mark: TypeAlias = "tuple[object, ...] | None"

_TICK_SECONDS = 1.0
_POLL_SECONDS = 2.0
# Where something changes all the time, it is not waited for longer than so many times the quiet moment.
_PATIENCE = 10


def changes(
    paths: Sequence[str], index: Path, *, debounce: float, stop: threading.Event, polling: bool | None = None
) -> Iterator[bool]:
    """Yield True when something changed, and False now and then when nothing did, until ``stop`` is set.

    The first answer is True, as soon as everything is watched: what was before was not seen. What happens in
    ``index``, the folder of the index, does not count.
    """
    watched = [_base(path) for path in map(absolute, paths)]
    marks = [_mark(path) for path in watched]
    while not stop.is_set():
        folders = sorted(path for path, mark in zip(watched, marks, strict=True) if _is_folder(mark))
        begun = False
        try:
            for noticed in _listen(folders, _Relevant(folders, absolute(index)), debounce, stop, polling):
                before, marks = marks, [_mark(path) for path in watched]
                yield noticed or marks != before or not begun
                begun = True
                if any(old != new and _is_folder(old, new) for old, new in zip(before, marks, strict=True)):
                    break  # a folder came, went or was replaced: what is watched is no longer what is meant
        except FileNotFoundError:  # it was there a moment ago
            stop.wait(_TICK_SECONDS)
            marks = [_mark(path) for path in watched]
        except (OSError, RuntimeError) as error:
            if polling:
                raise PinakesError(f"The folders cannot be watched: {error}") from error
            logger.warning(
                "The system cannot watch the folders (%s); they are looked at now and then.", error
            )
            polling = True


def _listen(
    folders: Sequence[str],
    relevant: Callable[[Change, str], bool],
    debounce: float,
    stop: threading.Event,
    polling: bool | None,
) -> Iterator[bool]:
    if not folders:
        yield False
        while not stop.wait(_TICK_SECONDS):
            yield False
        return
    from watchfiles import watch

    step = round(1000 * debounce)
    for found in watch(
        *folders,
        watch_filter=relevant,
        step=step,
        debounce=_PATIENCE * step,
        rust_timeout=round(1000 * _TICK_SECONDS),
        yield_on_timeout=True,
        stop_event=stop,
        force_polling=polling,
        poll_delay_ms=round(1000 * _POLL_SECONDS),
        ignore_permission_denied=True,
    ):
        yield bool(found)


class _Relevant:
    """Says whether a change may matter: not one in the index, in hidden files, or in files that nobody reads."""

    def __init__(self, folders: Sequence[str], index: str) -> None:
        # Some systems report the real path of a folder that was named by a link.
        self._folders = sorted({*folders, *map(os.path.realpath, folders)}, key=len, reverse=True)
        self._index = {index, os.path.realpath(index)}
        self._extensions = supported_extensions() | IMAGE_EXTENSIONS

    def __call__(self, change: Change, path: str) -> bool:
        if any(is_at_or_below(path, index) for index in self._index):
            return False
        folder = next((folder for folder in self._folders if is_at_or_below(path, folder)), "")
        parts = Path(path[len(folder) :].lstrip(os.sep)).parts
        if parts and parts[-1] in IGNORE_FILES:
            parts = parts[:-1]
        elif any(part.startswith(".") for part in parts):
            return False
        elif (
            Path(path).suffix.lower() not in self._extensions
            and not is_document_by_name(Path(path).name)
            and not is_source(path)
        ):
            # What is gone may have been a folder, and what is new may be one that was moved here.
            return change.name == "deleted" or Path(path).is_dir()
        return not any(part.startswith(".") for part in parts)


def _base(path: str) -> str:
    """Return the folder from which a pattern is searched; any other path as it is."""
    if not glob.has_magic(path) or os.path.lexists(path):
        return path
    parts = Path(path).parts
    return str(Path(*parts[: next(number for number, part in enumerate(parts) if glob.has_magic(part))]))


def _mark(path: str) -> Mark:
    try:
        state = Path(path).stat()
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(state.st_mode):
        return "folder", state.st_dev, state.st_ino
    return "file", state.st_ino, state.st_size, state.st_mtime_ns


def _is_folder(*marks: Mark) -> bool:
    return any(mark is not None and mark[0] == "folder" for mark in marks)
