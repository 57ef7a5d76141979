"""Shows a running job on standard error: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from loccit.cli.output import console, duration, message, one_line, plural

if TYPE_CHECKING:
    from loccit.model import Progress

STAGES = {
    "fetch": ("Downloading", "megabyte"),
    "scan": ("Finding", "file"),
    "read": ("Reading", "file"),
    "context": ("Contextualizing", "chunk"),
    "embed": ("Embedding", "passage"),
    "ask": ("Asking", "question"),
    "copy": ("Copying", "document"),
    "concepts": ("Gathering concepts", "term"),
}
EVERY = 3.0
_ITEM_WIDTH = 40


class Silent:
    """Shows nothing; what the others do, without the showing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, step: Progress) -> None:
        """Take note of a step."""


class Lines(Silent):
    """One line a stage every few seconds, for logs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: dict[str, tuple[float, int]] = {}
        self._last = time.monotonic()

    def __call__(self, step: Progress) -> None:
        """Print the step when the last one was a while ago."""
        now = time.monotonic()
        with self._lock:
            start, first = self._begun.setdefault(step.stage, (now, step.done))
            if now - self._last < EVERY:
                return
            self._last = now
        verb, noun = STAGES.get(step.stage, (step.stage, "step"))
        text = (
            f"{verb}: {step.done:,} of {plural(step.total, noun)}" if step.total else f"{verb}: {step.done:,}"
        )
        done, seconds = step.done - first, now - start
        if done > 0 and seconds > 0:
            rate = done / seconds
            text += f", {rate:.1f} a second"
            if step.total > step.done:
                text += f", {duration((step.total - step.done) / rate)} left"
        message(text)


class Bars(Silent):
    """A bar for each stage."""

    def __init__(self) -> None:
        from rich import progress as bars
        from rich.text import Text

        class Rate(bars.ProgressColumn):
            """Steps a second."""

            def render(self, task: bars.Task) -> Text:
                """Show the rate of a task."""
                speed = task.finished_speed or task.speed
                return Text(f"{speed:,.1f}/s" if speed else "", style="dim")

        self._bars = bars.Progress(
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=24),
            bars.MofNCompleteColumn(),
            Rate(),
            bars.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            bars.TextColumn("{task.fields[item]}", style="dim", markup=False),
            console=console(stderr=True),
            transient=True,
        )
        self._tasks: dict[str, Any] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def __call__(self, step: Progress) -> None:
        """Move the bar of the step's stage."""
        with self._lock:
            if step.stage not in self._tasks:
                if "scan" in self._tasks:
                    self._bars.update(self._tasks["scan"], visible=False)
                verb, noun = STAGES.get(step.stage, (step.stage, "step"))
                self._tasks[step.stage] = self._bars.add_task(f"{verb} {noun}s", total=None, item="")
            task = self._tasks[step.stage]
        item = "" if step.done >= step.total else step.item.replace("\\", "/").rpartition("/")[2]
        self._bars.update(
            task, completed=step.done, total=step.total or None, item=one_line(item, _ITEM_WIDTH)
        )


def reporter(quiet: bool) -> Silent:
    """Return what fits where standard error goes."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()
