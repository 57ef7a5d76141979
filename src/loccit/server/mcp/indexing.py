"""index_documents: reads files into the index, reports progress, and can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread

from loccit.ask.answers import Answer
from loccit.ask.fit import Limit, fit_by, fit_quoted, lean, without
from loccit.ask.relative import relative
from loccit.ask.render import report_text
from loccit.errors import LoccitError, UsageError
from loccit.model import Progress
from loccit.server.mcp.calls import INDEX, read_call, tokens_of
from loccit.server.services import check_paths

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from loccit.server.services import LibraryRegistry, LibraryService

# Each stage's share of the whole, so that one number can show the progress.
_PARTS = {"scan": (0, 5), "read": (5, 50), "context": (50, 60), "embed": (60, 98), "concepts": (98, 100)}
_BETWEEN_REPORTS = 0.2


class Stopped(BaseException):
    """Leaves an indexing run; nothing stored is lost, and the next run continues from there."""


async def index_documents(
    registry: LibraryRegistry, context: ServerRequestContext[Any], given: Mapping[str, object]
) -> Answer:
    """Index in a thread; cancelling the request stops it at the next step."""
    services, arguments = read_call(registry, INDEX, given)
    stop = threading.Event()
    work = partial(_index, registry, services, arguments.get("paths"), _reporter(context, stop))
    async with anyio.create_task_group() as group:
        group.start_soon(_set_when_cancelled, stop)
        # The thread is always waited for: a library must not be closed while it is being written to.
        outcome = await anyio.to_thread.run_sync(partial(_attempt, work))
        group.cancel_scope.cancel()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def _attempt(work: Callable[[], Answer]) -> Answer | Exception:
    """Return an error as a value: raised beside the watching task, it would become an exception group."""
    try:
        return work()
    except Exception as error:
        return error
    except Stopped:
        return LoccitError("Indexing was cancelled. What was read so far is kept.")


def _index(
    registry: LibraryRegistry,
    services: list[LibraryService],
    paths: list[str] | None,
    report: Callable[[Progress], None],
) -> Answer:
    if paths and registry.configured:
        raise UsageError("index_documents reads the sources of the configuration; leave paths out.")
    if paths:
        check_paths(services[0], paths)
    lines: list[str] = []
    data: dict[str, Any] = {}
    for service in services:
        found = relative(service.index(paths, report), service.ask(lambda library: library.root))
        of = f"{service.name}: " if registry.several else ""
        lines += [of + line for line in report_text(found).splitlines()]
        data = lean(found) if not data else _added(data, lean(found))
    limit = Limit(registry.token_budget, tokens_of(services[0]))
    fitted = fit_quoted(limit.tokens, limit.budget, "The index is up to date.", lines)
    steps = [
        without(name) for name in ("stage_seconds", "added", "updated", "removed", "renamed", "warnings")
    ]
    return Answer(fitted.text, lambda: fit_by(data, limit, *steps, without("failed")))


def _added(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return two reports as one: numbers and lists are added."""
    whole = dict(first)
    for name, value in second.items():
        if name == "stage_seconds":
            continue
        whole[name] = whole[name] + value if name in whole else value
    return whole


def _reporter(context: ServerRequestContext[Any], stop: threading.Event) -> Callable[[Progress], None]:
    """Return a function that reports steps as notifications: a few per second, with increasing numbers."""
    last = {"time": 0.0, "value": -1.0}

    def report(step: Progress) -> None:
        if stop.is_set():
            raise Stopped
        low, high = _PARTS.get(step.stage, (0, 100))
        value = low + (high - low) * (step.done / step.total if step.total else 1.0)
        now = time.monotonic()
        if value <= last["value"] or (now - last["time"] < _BETWEEN_REPORTS and step.done < step.total):
            return
        last["time"], last["value"] = now, value
        name = f": {Path(step.item).name}" if step.item else ""
        said = f"{step.stage} {step.done} of {step.total}{name}"
        try:
            anyio.from_thread.run(context.session.report_progress, round(value, 1), 100.0, said)
        except BaseException:
            # The request was cancelled, the client is gone, or the server is closing.
            raise Stopped from None

    return report
