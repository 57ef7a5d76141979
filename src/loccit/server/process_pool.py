"""A process pool: additional processes that answer under load.

A Python process answers on one core, however many threads it has. When requests pile up, further processes are started
that open the same index; they end when idle. A single user never pays for them, and requests that they cannot answer
are answered here.
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

from loccit.server.api.operations import Answer, Question
from loccit.workers.processes import command, read_frame, write_frame

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("loccit")

# A page makes four requests at once; more than this is a crowd.
CROWD = 6
_AGAIN_SECONDS = 10.0
_START_SECONDS = 60.0
# Less than a request may take, so that the server can still answer if a process hangs.
_ANSWER_SECONDS = 20.0
_LOOK_SECONDS = 1.0
_END_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker needs to answer like this process: what opens the same libraries there.

    ``idle_seconds`` is how long it waits for work.
    """

    open: Callable[[], LibraryRegistry]
    idle_seconds: float = 120.0

    def encode(self) -> bytes:
        """Return the setup as bytes, which only processes started by this one read."""
        return pickle.dumps(self)


class WorkerGoneError(Exception):
    """The process exited, never became ready, or took too long and was killed."""


class PoolWorker:
    """A process that answers one request at a time, once it is ready."""

    def __init__(self, setup: Setup) -> None:
        self.ready = False
        self._due = math.inf
        self._process = subprocess.Popen(
            command("loccit.server.pool_worker"),
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
        """Return its answer; if that takes too long, the watcher kills it, which ends the wait."""
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
            raise WorkerGoneError("it exited before it answered")
        return data

    def watch(self) -> None:
        """Wait until it exits, and kill it if an answer is overdue: it may be stopped or hang."""
        # One thread polls: starting one per answer would delay the answers.
        while self._process.poll() is None:
            if time.monotonic() > self._due:
                logger.warning("A search process did not answer in time and was stopped.")
                self.kill()
            time.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """Kill it. It only reads, so there is nothing to finish."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it and release its resources."""
        self.kill()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            # The system itself is waiting, perhaps for a disk; so does whoever reads from it.
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
    """Additional processes, at most ``most``. ``setup`` is what they open, or None if nothing can be shared."""

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
        """The ids of the running processes."""
        with self._guard:
            return sorted(worker.pid for worker in self._workers if worker.ready)

    def gather(self, waiting: int) -> None:
        """Start another process if this many requests wait and there are not enough yet."""
        with self._guard:
            wanted = waiting >= CROWD and len(self._workers) < self._most and not self._closed
            if not wanted or self._starting or time.monotonic() < self._not_before:
                return
            self._starting = True
        try:
            threading.Thread(target=self._keep, name="loccit-pool", daemon=True).start()
        except RuntimeError as error:
            # The system gives no more threads, and would give no process either.
            self._put_off(error)

    def _keep(self) -> None:
        """Start a worker, and clean up when it exits: it may have been idle, or been killed."""
        worker = None
        try:
            setup = self._setup()
            if setup is None:
                self._put_off()
                return
            worker = PoolWorker(setup)
            self._enlist(worker)
        except Exception as error:
            # Whatever the error, the server answers alone, and tries again under the next load.
            self._put_off(error)
        else:
            with self._guard:
                self._starting = False
            worker.watch()
        if worker is not None:
            self._dismiss(worker)

    def _enlist(self, worker: PoolWorker) -> None:
        with self._guard:
            # Registered before it is ready, so that it is not left behind if the server exits meanwhile.
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
            logger.warning("Another search process could not be started: %s", error)

    def answer(self, question: Question, here: Callable[[], T]) -> Answer | T:
        """Return the answer of a free worker, or else compute it here."""
        with self._guard:
            worker = self._idle.pop() if self._idle else None
        if worker is None:
            return here()
        try:
            found = worker.answer(question)
        except WorkerGoneError:
            # It was idle for long and ended, or was killed. Nothing is lost: requests only read.
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
