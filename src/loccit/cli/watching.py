"""``loccit index --watch``: goes on until it is told to stop, and shows each run that changed something."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from loccit.cli.errors import exit_code
from loccit.cli.logs import encode
from loccit.cli.output import display_path, message, one_line, plural, show
from loccit.errors import LoccitError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.library import Library
    from loccit.model import IndexReport, Progress
    from loccit.watch import WatchRun

_NAMED = 5


def keep_current(
    library: Library,
    paths: Sequence[Path] | None,
    *,
    quiet: bool,
    as_json: bool,
    summary: Callable[[IndexReport], list[RenderableType]],
    **options: Any,
) -> None:
    """Index, then watch until Ctrl-C or a request to end, which both leave with exit code 0."""
    from loccit.cli.progress import reporter
    from loccit.watch import watch

    shown: Callable[[Progress], None] | None = None
    with _stoppable() as stopper:
        runs = watch(
            library,
            paths,
            stop=stopper.event,
            progress=lambda step: shown(step) if shown else None,
            **options,
        )
        try:
            # Bars for the first run; the others are mostly over before one could be read.
            with reporter(quiet) as shown:
                run = stopper.awaited(lambda: next(runs, None))
            shown = None
            if run is not None and not quiet:
                message(f"Watching {_places(library, paths)}. Stop with Ctrl-C.")
            while run is not None:
                _print(run, as_json, summary)
                run = stopper.awaited(lambda: next(runs, None))
        except KeyboardInterrupt:
            pass
        except LoccitError as error:
            if not as_json:
                raise
            # One line here too, where a program reads line by line.
            _print_line({"run": 1, "error": {"type": type(error).__name__, "message": str(error)}})
            message(f"error: {error}")
            raise typer.Exit(exit_code(error)) from None
    if not quiet:
        message("Stopped watching.")


class _Stopper:
    """Ends the watching on a signal: at once while waiting or indexing, but never amid a line of output."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._waiting = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.event.set()
        if self._waiting:
            raise KeyboardInterrupt

    def awaited(self, step: Callable[[], WatchRun | None]) -> WatchRun | None:
        """Run a step that a signal may cut short."""
        self._waiting = True
        try:
            return None if self.event.is_set() else step()
        finally:
            self._waiting = False


@contextmanager
def _stoppable() -> Iterator[_Stopper]:
    stopper = _Stopper()
    before = {number: signal.signal(number, stopper) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopper
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print(run: WatchRun, as_json: bool, summary: Callable[[IndexReport], list[RenderableType]]) -> None:
    if as_json:
        _print_line(run.to_dict())
    elif run.report is None:
        message(f"error: {run.error} Trying again.")
    else:
        show(*summary(run.report), *(_changed(run.report) if run.number > 1 else ()))
        sys.stdout.flush()


def _print_line(data: dict[str, Any]) -> None:
    sys.stdout.write(encode(data) + "\n")
    sys.stdout.flush()


def _changed(report: IndexReport) -> Iterator[RenderableType]:
    from rich.text import Text

    for verb, paths in (("added", report.added), ("updated", report.updated)):
        for path in paths[:_NAMED]:
            yield Text(f"  {verb} {one_line(display_path(path))}", style="dim")
        if len(paths) > _NAMED:
            yield Text(f"  {verb} {plural(len(paths) - _NAMED, 'more file')}", style="dim")


def _places(library: Library, paths: Sequence[Path] | None) -> str:
    return ", ".join(display_path(str(path)) for path in paths or library.status().roots)
