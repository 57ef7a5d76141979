"""A pool: more processes that answer when many ask at once.

One process of Python answers on one core, however many threads it has. So when requests pile up, others are started
that open the same index; they end when there is nothing to do. Whoever is alone never pays for them, and a request
that one of them cannot answer is answered here.
"""

from __future__ import annotations

import contextlib
import logging
import math
import pickle
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from pinakes.processes import command, read_frame, write_frame
from pinakes.server.api.operations import Answer, Question

if TYPE_CHECKING:
    from pinakes.server.services import LibraryRegistry

T = TypeVar("T")
logger = logging.getLogger("pinakes")

# A page asks for four things at once; more than this is a crowd.
CROWD = 6
_AGAIN_SECONDS = 10.0
_START_SECONDS = 60.0
# Less than a request may take, so that the server can still answer what a process that hangs did not.
_ANSWER_SECONDS = 20.0
_LOOK_SECONDS = 1.0
_END_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker needs to answer as this process does: what opens the same libraries there.

    ``idle_seconds`` is how long it waits for work.
    """

    open: Callable[[], LibraryRegistry]
    idle_seconds: float = 120.0

    def encode(self) -> bytes:
        """Return the setup as bytes; only a process that this one started reads them."""
        return pickle.dumps(self)


class WorkerGoneError(Exception):
    """The process ended, never came to work, or took too long and was killed."""


class PoolWorker:
    """A process that answers one request at a time, once it is ready."""

    def __init__(self, setup: Setup) -> None:
        self.ready = False
        self._due = math.inf
        self._process = subprocess.Popen(
            command("pinakes.server.pool_worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the server; a worker ends when its input does.
            start_new_session=True,
        )
        self._requests = cast(BinaryIO, self._process.stdin)
        self._replies = cast(BinaryIO, self._process.stdout)
        self._setup = setup

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def prepare(self, seconds: float = _START_SECONDS) -> None:
        """Have it open the index."""
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            with _gone():
                write_frame(self._requests, self._setup.encode())
                self._receive()
        finally:
            timer.cancel()

    def answer(self, question: Question, seconds: float = _ANSWER_SECONDS) -> Answer:
        """Return its answer; whoever watches it kills it when that takes too long, which ends the wait."""
        self._due = time.monotonic() + seconds
        try:
            with _gone():
                write_frame(self._requests, question.encode())
                return Answer.decode(self._receive(), self._receive())
        finally:
            self._due = math.inf

    def _receive(self) -> bytes:
        data = read_frame(self._replies)
        if data is None:
            raise WorkerGoneError("it ended before it answered")
        return data

    def watch(self) -> None:
        """Wait until it ends, and end it when an answer is overdue: it may have been stopped, or hang."""
        # One thread that looks now and then: starting one for every answer would keep that waiting for the others.
        while self._process.poll() is None:
            if time.monotonic() > self._due:
                logger.warning("A process to search with gave no answer in time and is ended.")
                self.kill()
            time.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """Tell the system to end it. It only reads, so there is nothing for it to finish."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it and let go of it."""
        self.kill()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            # The system itself waits, for a disk perhaps; whoever reads from it does too.
            return
        for pipe in (self._requests, self._replies):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()


@contextlib.contextmanager
def _gone() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise WorkerGoneError(str(error)) from error


class ProcessPool:
    """The processes beside this one, ``most`` at once. ``setup`` says what they open, or None for nothing to share."""

    def __init__(self, setup: Callable[[], Setup | None], most: int) -> None:
        self._setup = setup
        self._most = most
        self._guard = threading.Lock()
        self._idle: list[PoolWorker] = []
        self._workers: set[PoolWorker] = set()
        self._starting = False
        self._not_before = 0.0
        self._closed = False

    @property
    def workers(self) -> list[int]:
        """The ids of the processes that work now."""
        with self._guard:
            return sorted(worker.pid for worker in self._workers if worker.ready)

    def gather(self, waiting: int) -> None:
        """Start another process when that many requests wait, and there are not enough yet."""
        with self._guard:
            wanted = waiting >= CROWD and len(self._workers) < self._most and not self._closed
            if not wanted or self._starting or time.monotonic() < self._not_before:
                return
            self._starting = True
        try:
            threading.Thread(target=self._keep, name="pinakes-pool", daemon=True).start()
        except RuntimeError as error:
            # The system gives no more threads, and would give no process either.
            self._put_off(error)

    def _keep(self) -> None:
        """Start a worker, and clear up after it when it ends: it may have waited in vain, or been killed."""
        worker = None
        try:
            setup = self._setup()
            if setup is None:
                self._put_off()
                return
            worker = PoolWorker(setup)
            self._enlist(worker)
        except Exception as error:
            # Whatever it is, the server answers alone, and the next crowd is another chance.
            self._put_off(error)
        else:
            with self._guard:
                self._starting = False
            worker.watch()
        if worker is not None:
            self._dismiss(worker)

    def _enlist(self, worker: PoolWorker) -> None:
        with self._guard:
            # Known before it is ready, so that it is not left behind when the server ends meanwhile.
            self._workers.add(worker)
            closed = self._closed
        if closed:
            worker.kill()
        worker.prepare()
        with self._guard:
            if not self._closed:
                worker.ready = True
                self._idle.append(worker)

    def _put_off(self, error: Exception | None = None) -> None:
        with self._guard:
            self._starting = False
            self._not_before = time.monotonic() + _AGAIN_SECONDS
            closed = self._closed
        if error is not None and not closed:
            logger.warning("Another process to search with could not be started: %s", error)

    def answer(self, question: Question, here: Callable[[], T]) -> Answer | T:
        """Return the answer of a worker that is free, or else the one that is made here."""
        with self._guard:
            worker = self._idle.pop() if self._idle else None
        if worker is None:
            return here()
        try:
            found = worker.answer(question)
        except WorkerGoneError:
            # It was idle for long and ended, or something ended it. Nothing is lost: requests only read.
            self._dismiss(worker)
            return here()
        with self._guard:
            if worker in self._workers:
                self._idle.append(worker)
        return found

    def _dismiss(self, worker: PoolWorker) -> None:
        with self._guard:
            self._workers.discard(worker)
            if worker in self._idle:
                self._idle.remove(worker)
        worker.end()

    def close(self) -> None:
        """End all of them."""
        with self._guard:
            self._closed = True
            workers, self._workers, self._idle = list(self._workers), set(), []
        # All at once: each may take a moment.
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.end()
