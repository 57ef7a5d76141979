"""Watch: keep an index in step with folders while they change.

What to do about a change is found out by the same incremental run that ``Library.index`` always makes. So changes
that are noticed late, twice or not at all one by one do no harm. Folders are watched by the operating system, through
watchfiles. Single files, and whether a folder is still the same one, are looked at every second: editors replace files,
and what replaces them would not be watched.
"""

from __future__ import annotations

import asyncio
import glob
import logging
import os
import stat
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from loccit.errors import LoccitError, MissingExtraError, UsageError
from loccit.ingest.discover import IGNORE_FILES, absolute, is_at_or_below, is_document_by_name, is_source
from loccit.model import IndexReport, Progress
from loccit.read import IMAGE_EXTENSIONS, supported_extensions

if TYPE_CHECKING:
    from watchfiles import Change

    from loccit.library import Library

logger: logging.Logger = logging.getLogger("loccit.watch")

DEBOUNCE = 0.5
"""Seconds of quiet after a change before the index is brought up to date."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_FIRST_RUN_ONLY = ("rebuild", "retry_failed")
# What a path is now: a folder by its identity, a file by its state, or nothing.
Mark: TypeAlias = "tuple[object, ...] | None"
_TICK_SECONDS = 1.0
_POLL_SECONDS = 2.0
# Where something changes all the time, it is not waited for longer than so many times the quiet moment.
_PATIENCE = 10


@dataclass(frozen=True, slots=True)
class WatchRun:
    """One update of the index: the report, or the error that interrupted it.

    ``number`` counts from 1. After an error the run is repeated when something changes, or after a pause.
    """

    number: int
    report: IndexReport | None = None
    error: Exception | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON values: its number, and the report or the error."""
        if self.report is not None:
            return {"run": self.number, **self.report.to_dict()}
        return {"run": self.number, "error": {"type": type(self.error).__name__, "message": str(self.error)}}


def watch(
    library: Library,
    paths: Sequence[str | Path] | str | Path | None = None,
    *,
    debounce: float = DEBOUNCE,
    stop: threading.Event | None = None,
    progress: Callable[[Progress], None] | None = None,
    polling: bool | None = None,
    **options: Any,
) -> Iterator[WatchRun]:
    """Index ``paths`` (or what the library indexed before), then again whenever something changes there.

    Yields the first run, and each later one that changed something. Ends when ``stop`` is set. An error in the
    first run is raised, later ones are yielded. ``options`` go to :meth:`Library.index`; ``rebuild`` and
    ``retry_failed`` apply to the first run only. ``polling`` checks the files repeatedly instead of relying on the
    operating system, which some network drives need; by default ``WATCHFILES_FORCE_POLLING`` decides.
    """
    if isinstance(debounce, bool) or not isinstance(debounce, (int, float)) or not 0.05 <= debounce <= 60:
        raise UsageError(f"debounce must be between 0.05 and 60 seconds, not {debounce!r}.")
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise MissingExtraError("Watching folders", "watch") from None
    given = [str(paths)] if isinstance(paths, (str, Path)) else [str(path) for path in paths or ()]
    watching = _Watching(library, given, debounce, stop or threading.Event(), progress, polling, options)
    return watching.runs()


async def awatch(
    library: Library,
    paths: Sequence[str | Path] | str | Path | None = None,
    *,
    stop: threading.Event | None = None,
    **options: Any,
) -> AsyncGenerator[WatchRun, None]:
    """Like :func:`watch`, without blocking the event loop; also ends when it is closed or cancelled."""
    stop = stop or threading.Event()
    runs = watch(library, paths, stop=stop, **options)
    under_way: asyncio.Future[WatchRun | None] | None = None
    try:
        while True:
            under_way = asyncio.ensure_future(asyncio.to_thread(next, runs, None))
            run = await asyncio.shield(under_way)
            if run is None:
                return
            yield run
    finally:
        stop.set()
        if under_way is not None and not under_way.done():
            # The thread sees the event in a moment; the library must not be closed under it.
            await asyncio.wait([under_way])


class _Stopped(BaseException):
    """Ends a run between two steps; not an ``Exception``, so that no stage takes it for a failure of its own."""


@dataclass(slots=True)
class _Watching:
    library: Library
    paths: list[str]
    debounce: float
    stop: threading.Event
    progress: Callable[[Progress], None] | None
    polling: bool | None
    options: dict[str, Any]
    number: int = 0
    failures: set[tuple[str, str]] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    lost: bool = False

    def runs(self) -> Iterator[WatchRun]:
        try:
            yield self._first()
            yield from self._later()
        except _Stopped:
            return

    def _first(self) -> WatchRun:
        report = self.library.index(self.paths or None, progress=self._step, **self.options)
        self.paths = [os.path.abspath(os.path.expanduser(path)) for path in self.paths]
        self.paths = self.paths or self.library.status().roots
        for name in _FIRST_RUN_ONLY:
            self.options.pop(name, None)
        self.failures = _failures(report)
        return self._numbered(report=report)

    def _later(self) -> Iterator[WatchRun]:

        pause = 0.0
        for changed in changes(
            self.paths, self.library.path, debounce=self.debounce, stop=self.stop, polling=self.polling
        ):
            if not changed and not pause:
                continue
            if not changed and self.stop.wait(pause):
                return
            try:
                report = self._update()
            except Exception as error:
                logger.debug("A run failed", exc_info=True)
                pause = min(2 * pause or _FIRST_PAUSE, _LONGEST_PAUSE)
                yield self._numbered(error=error)
                continue
            pause = 0.0
            if report is not None and self._is_news(report):
                yield self._numbered(report=report)

    def _update(self) -> IndexReport | None:
        """Bring the index up to date with the paths that are there; None when there is nothing to do."""
        there = [path for path in self.paths if os.path.lexists(path) or glob.has_magic(path)]
        missing = set(self.paths).difference(there)
        # What has gone is asked for without naming it: the library knows whether it was deleted or may come back.
        known = missing <= self.missing
        if known and not there:
            return None
        report = self.library.index(there if known else None, progress=self._step, **self.options)
        self.missing, self.lost = missing, not known
        return report

    def _is_news(self, report: IndexReport) -> bool:
        failures, before = _failures(report), self.failures
        self.failures = failures
        done = (
            report.added,
            report.updated,
            report.removed,
            report.renamed,
            report.embedded,
            report.contexts,
        )
        return self.lost or failures != before or any(done)

    def _numbered(self, **outcome: Any) -> WatchRun:
        self.number += 1
        return WatchRun(self.number, **outcome)

    def _step(self, step: Progress) -> None:
        if self.stop.is_set():
            raise _Stopped
        if self.progress is not None:
            self.progress(step)


def _failures(report: IndexReport) -> set[tuple[str, str]]:
    return {(failure.path, failure.reason) for failure in report.failed}


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
                raise LoccitError(f"The folders cannot be watched: {error}") from error
            logger.warning("The system cannot watch the folders (%s); they are polled instead.", error)
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
