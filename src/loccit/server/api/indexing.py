"""Indexing: updates a library while a client watches, one run at a time.

A run continues if the client that started it disconnects; it ends early only if the server does, and then keeps what
was read.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from loccit.errors import UsageError
from loccit.model import Progress
from loccit.server.api.endpoints import read_arguments
from loccit.server.api.operations import LIBRARY, Call, Catalogs, Operation, Reply, to_json
from loccit.server.api.params import Param
from loccit.server.api.problems import ProblemError, as_problem
from loccit.server.api.schemas import INDEXING, STRING
from loccit.server.services import LibraryService, check_paths

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry

_BETWEEN = 0.1
# A line now and then keeps proxies from closing a silent connection.
_HEARTBEAT = 10.0
_PATHS = Param(
    "paths",
    "Files and folders below those indexed before; default: all of these.",
    {
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 500},
        "minItems": 1,
        "maxItems": 20,
    },
)


class _Stopped(BaseException):
    """Leaves a run when the server closes."""


class Run:
    """One indexing run: its progress, and its listener."""

    def __init__(self, library: str, loop: asyncio.AbstractEventLoop) -> None:
        self.library = library
        self.started_at: str = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.step: Progress | None = None
        self._loop = loop
        self._stop = threading.Event()
        self._last = ("", 0.0)
        self.events: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue(maxsize=1000)

    def hear(self, step: Progress) -> None:
        """Take a pipeline step, in the pipeline's thread; only a few per second are reported."""
        if self._stop.is_set():
            raise _Stopped
        self.step = step
        stage, then = self._last
        now = time.monotonic()
        if stage == step.stage and step.done < step.total and now - then < _BETWEEN:
            return
        self._last = (step.stage, now)
        self.tell("progress", asdict(step))

    def tell(self, event: str, data: dict[str, Any]) -> None:
        """Pass an event to the listener, from any thread."""
        self._from_thread((event, data))

    def end(self) -> None:
        """Signal the end of the events."""
        self._from_thread(None)

    def _from_thread(self, item: tuple[str, dict[str, Any]] | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._put, item)
        except RuntimeError:
            # The server is gone; the run ends with its next step.
            self._stop.set()

    def _put(self, item: tuple[str, dict[str, Any]] | None) -> None:
        if self.events.full():
            # Nobody is listening, or too slowly: older steps are obsolete by now.
            self.events.get_nowait()
        self.events.put_nowait(item)

    def stop(self) -> None:
        """Stop the run at its next step."""
        self._stop.set()

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as JSON values."""
        step = asdict(self.step) if self.step else {"stage": "scan", "done": 0, "total": 0, "item": ""}
        return {"library": self.library, "started_at": self.started_at, **step}


class Indexing:
    """The current run, and how to start one."""

    def __init__(self, registry: LibraryRegistry) -> None:
        self._registry = registry
        self._catalogs = Catalogs()
        self._run: Run | None = None

    def now(self, _: Call) -> Reply:
        """Answer with the current run, or null."""
        return Reply(self._run.to_dict() if self._run is not None else None)

    async def _respond(self, request: Request) -> Response:
        try:
            if request.method != "POST":
                return Response(
                    self.now(Call(self._registry, self._catalogs, {})).body(), media_type="application/json"
                )
            if not self._registry.write:
                raise ProblemError(403, "This server is read-only. Start it with --write to allow indexing.")
            arguments = await read_arguments(self.operations()[1], request)
            call = Call(self._registry, self._catalogs, arguments)
            service, paths = call.service, call["paths"]
            if paths and self._registry.configured:
                raise UsageError("The server reads the sources of its configuration; leave paths out.")
            if paths:
                await asyncio.to_thread(check_paths, service, paths)
            return self._start(service, paths)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            return as_problem(error).response()

    def _start(self, service: LibraryService, paths: list[str] | None) -> Response:
        if self._run is not None:
            raise ProblemError(409, "Indexing is already running; see GET /api/index.", {"Retry-After": "5"})
        run = self._run = Run(service.name, asyncio.get_running_loop())
        threading.Thread(
            target=self._index, args=(run, service, paths), name="loccit-api-index", daemon=True
        ).start()
        headers = {
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
        }
        return StreamingResponse(_events(run), media_type="text/event-stream", headers=headers)

    def _index(self, run: Run, service: LibraryService, paths: list[str] | None) -> None:
        try:
            report = service.index(paths, run.hear)
            self._run = None
            run.tell("report", report.to_dict())
        except _Stopped:
            run.tell("error", {"message": "The server is closing. What was read so far is kept."})
        except Exception as error:
            run.tell("error", {"message": as_problem(error).detail})
        finally:
            self._run = None
            run.end()

    def close(self) -> None:
        """Stop the run at its next step."""
        if self._run is not None:
            self._run.stop()

    @property
    def route(self) -> Route:
        """The route of both operations."""
        return Route("/api/index", partial(Indexing._respond, self), methods=["GET", "POST"])

    def operations(self) -> tuple[Operation, ...]:
        """Return both operations with their descriptions."""
        return (
            Operation(
                "GET",
                "/api/index",
                "readIndexing",
                "What is being indexed now, or null.",
                (),
                self.now,
                {"application/json": INDEXING},
                may=(),
            ),
            Operation(
                "POST",
                "/api/index",
                "index",
                "Bring a library up to date; progress comes as server-sent events. Needs --write.",
                (_PATHS, LIBRARY),
                self.now,
                {"text/event-stream": STRING},
                in_body=True,
                may=(403, 404, 409),
            ),
        )


async def _events(run: Run) -> AsyncIterator[bytes]:
    while True:
        try:
            item = await asyncio.wait_for(run.events.get(), _HEARTBEAT)
        except asyncio.TimeoutError:
            yield b": still at it\n\n"
            continue
        if item is None:
            return
        event, data = item
        yield f"event: {event}\n".encode() + b"data: " + to_json(data) + b"\n\n"
