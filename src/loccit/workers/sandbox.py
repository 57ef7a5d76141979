"""A pool of worker processes that can be killed, for code that reads untrusted files.

A converter may hang, exhaust memory or crash its process. Here it does so in a process of its own: the pool reports
what happened to that input and continues with the next.

>>> with Sandbox("loccit.workers.sandbox_worker:echo", workers=1, limits=Limits(seconds=30)) as sandbox:
...     [outcome.value for _, outcome in sandbox.run([{"n": 1}])]
[{'n': 1}]

Parent and worker communicate over pipes, in frames of JSON. What a call returns has a frame of its own, which the
parent reads as the type that it expects.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Literal, cast

import msgspec

from loccit.errors import LoccitError
from loccit.workers.processes import command, read_frame, write_frame
from loccit.workers.sandbox_worker import Limits, decode, encode

__all__ = ["Limits", "Outcome", "Sandbox"]

log: logging.Logger = logging.getLogger(__name__)

Kind = Literal["ok", "failed", "timeout", "memory", "crashed"]

_START_SECONDS = 60.0
_STDERR_KEPT = 8192
_OUT_OF_MEMORY = ("bad_alloc", "out of memory", "cannot allocate memory", "memoryerror", "memory allocation")
# Nothing is downloaded, and address space, which the memory limit counts, is not reserved by the gigabyte.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "MALLOC_ARENA_MAX": "2",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one payload: ``value`` if ``kind`` is ``ok``, otherwise ``error``, which can be shown to users.

    ``again`` says that another attempt may succeed with the same input: something was not installed.
    """

    value: Any
    error: str | None
    kind: Kind
    again: bool = False


class _Run:
    """One call of ``Sandbox.run``: where its outcomes go, and whether they are still wanted."""

    def __init__(self) -> None:
        self.done: queue.Queue[tuple[dict[str, Any], Outcome | Exception]] = queue.Queue()
        self.cancelled = False


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    payload: dict[str, Any]
    run: _Run


_ONE_AT_A_TIME = threading.Lock()


def decoder_of(result: type[Any]) -> msgspec.json.Decoder[Any]:
    """Return a decoder of a type: two threads that make the first one of a type at once end the process in msgspec."""
    with _ONE_AT_A_TIME:
        return msgspec.json.Decoder(result)


class Sandbox:
    """Calls ``function`` ("package.module:callable") on payloads, each call in a worker with limits.

    The function takes ``(payload, setup)`` and returns a ``result``, a type that msgspec writes as JSON; ``setup`` is
    ``initializer_payload``. Workers start on demand and live until ``close``.
    """

    def __init__(
        self,
        function: str,
        *,
        workers: int,
        limits: Limits,
        initializer_payload: dict[str, Any] | None = None,
        result: type[Any] = dict,
    ) -> None:
        self._config = {"function": function, "setup": initializer_payload or {}, "limits": asdict(limits)}
        self._limits = limits
        self._results = decoder_of(result)
        self._workers = max(1, workers)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._keepers: list[_Keeper] = []
        self._lock = threading.Lock()
        self._closed = False
        self._finalizer = weakref.finalize(self, _shut, self._keepers, self._tasks)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill every worker; running calls are lost."""
        self._closed = True
        self._finalizer()

    def run(self, payloads: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Outcome]]:
        """Yield every payload with its outcome, as they finish.

        Payloads are pulled as needed: at most two per worker are in progress, so that workers stay busy while the
        caller handles an outcome.
        """
        run = _Run()
        source = iter(payloads)
        more = True
        under_way = 0
        try:
            while True:
                while more and under_way < 2 * self._workers:
                    payload = next(source, None)
                    if payload is None:
                        more = False
                    else:
                        self._submit(_Task(payload, run))
                        under_way += 1
                if not under_way:
                    return
                try:
                    # With a timeout so that Ctrl-C gets through on every platform.
                    payload, outcome = run.done.get(timeout=1.0)
                except queue.Empty:
                    if self._closed:
                        return
                    continue
                under_way -= 1
                if isinstance(outcome, Exception):
                    raise outcome
                yield payload, outcome
        finally:
            run.cancelled = True
            for keeper in list(self._keepers):
                keeper.abandon(run)

    def _submit(self, task: _Task) -> None:
        with self._lock:
            if self._closed:
                raise LoccitError("the worker pool is closed")
            self._tasks.put(task)
            busy = sum(keeper.busy for keeper in self._keepers)
            if len(self._keepers) < self._workers and self._tasks.qsize() + busy > len(self._keepers):
                self._keepers.append(_Keeper(self._config, self._limits, self._results, self._tasks))


def _shut(keepers: list[_Keeper], tasks: queue.SimpleQueue[_Task | None]) -> None:
    for keeper in keepers:
        keeper.stop()
    for _ in keepers:
        tasks.put(None)
    for keeper in keepers:
        keeper.thread.join(timeout=5)


class _Keeper:
    """A thread that owns one worker process: feeds it, kills it when overdue, replaces it when dead."""

    def __init__(
        self,
        config: dict[str, Any],
        limits: Limits,
        results: msgspec.json.Decoder[Any],
        tasks: queue.SimpleQueue[_Task | None],
    ) -> None:
        self._config, self._limits, self._results, self._tasks = config, limits, results, tasks
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._task: _Task | None = None
        self._stopped = self._overdue = self._killed = False
        self._patience = 0.0
        self._exchanges = 0
        self._stderr = b""
        self._drainer: threading.Thread | None = None
        self.thread = threading.Thread(target=self._loop, name="loccit-sandbox", daemon=True)
        self.thread.start()

    @property
    def busy(self) -> bool:
        return self._task is not None

    def abandon(self, run: _Run) -> None:
        """Kill the worker if it is working for ``run``."""
        with self._lock:
            if self._task is not None and self._task.run is run:
                self._kill()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._kill()

    def _loop(self) -> None:
        while not self._stopped:
            task = self._tasks.get()
            if task is None:
                break
            with self._lock:
                if task.run.cancelled:
                    continue
                self._task = task
            outcome: Outcome | Exception
            try:
                outcome = self._call(task.payload)
            except Exception as error:
                self._discard()
                outcome = error
            with self._lock:
                self._task = None
            task.run.done.put((task.payload, outcome))
        self._discard()

    def _call(self, payload: dict[str, Any]) -> Outcome:
        limits = self._limits
        if self._killed:
            # It had already answered when its run was abandoned.
            self._discard()
        if self._process is None:
            self._start()
        answer = self._exchange(payload, limits.seconds)
        if isinstance(answer, dict):
            if trace := answer.get("trace"):
                log.debug("%s on %s:\n%s", answer["kind"], payload, trace)
            if answer["kind"] == "memory":
                # The state of its memory is unknown.
                self._discard()
                return Outcome(None, f"needs more than {limits.memory_mb} MB to read", "memory")
            return Outcome(
                answer.get("value"), answer.get("error"), answer["kind"], bool(answer.get("again"))
            )
        overdue = self._overdue
        status, noise = self._discard()
        log.debug("worker ended with status %s on %s; it last wrote:\n%s", status, payload, noise)
        if answer == "too big":
            return Outcome(None, f"converts to more than {limits.result_mb} MB", "failed")
        if overdue:
            return Outcome(None, f"took longer than {round(self._patience, 1):g} seconds to read", "timeout")
        if any(mark in noise.lower() for mark in _OUT_OF_MEMORY):
            return Outcome(None, f"needs more than {limits.memory_mb} MB to read", "memory")
        return Outcome(None, f"reading it crashed the worker ({_describe(status)})", "crashed")

    def _exchange(
        self, message: dict[str, Any], seconds: float
    ) -> dict[str, Any] | Literal["gone", "too big"]:
        """Send one frame and wait for the answer; a timer kills the worker, which ends the wait."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        self._overdue = False
        self._patience, begun = seconds, time.monotonic()
        timer = self._alarm(seconds)
        try:
            write_frame(cast(BinaryIO, process.stdin), encode(message))
            replies = cast(BinaryIO, process.stdout)
            # The worker enforces the limit; twice as much can only be garbage or malice.
            limit = (2 * self._limits.result_mb) << 20
            while True:
                answer = decode(read_frame(replies, limit))
                if answer is None:
                    return "gone"
                if answer["kind"] == "ok":
                    value = read_frame(replies, limit)
                    return "gone" if value is None else {**answer, "value": self._results.decode(value)}
                if answer["kind"] != "time":
                    return answer
                passed = time.monotonic() - begun
                asked = min(passed + answer["seconds"], self._limits.most_seconds)
                if asked > self._patience:
                    timer.cancel()
                    self._patience = asked
                    timer = self._alarm(asked - passed)
        except (ValueError, msgspec.MsgspecError):
            return "too big"
        except OSError:
            return "gone"
        finally:
            timer.cancel()
            with self._lock:
                self._exchanges += 1

    def _alarm(self, seconds: float) -> threading.Timer:
        """Kill the worker after some seconds."""
        timer = threading.Timer(max(seconds, 0.0), self._expire, [self._exchanges])
        timer.daemon = True
        timer.start()
        return timer

    def _start(self) -> None:
        env = os.environ | _ENVIRONMENT
        with self._lock:
            if self._stopped:
                raise LoccitError("the worker pool is closed")
            self._process = subprocess.Popen(
                command("loccit.workers.sandbox_worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                # Ctrl-C is for the parent, and a separate process group can be killed with all it started.
                start_new_session=True,
            )
        self._stderr = b""
        self._drainer = threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True)
        self._drainer.start()
        answer = self._exchange(self._config, max(_START_SECONDS, self._limits.seconds))
        if not isinstance(answer, dict) or answer["kind"] != "ready":
            status, noise = self._discard()
            if self._stopped:
                raise LoccitError("the worker pool is closed")
            reason = answer["error"] if isinstance(answer, dict) else noise.strip() or _describe(status)
            raise LoccitError(f"the conversion worker could not start: {reason}")

    def _drain(self, stream: Any) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while data := stream.read1(65536):
                self._stderr = (self._stderr + data)[-_STDERR_KEPT:]

    def _expire(self, exchange: int) -> None:
        with self._lock:
            # A timer that is cancelled too late must not affect the next exchange.
            if exchange == self._exchanges:
                self._overdue = True
                self._kill()

    def _kill(self) -> None:
        """Kill the worker and its children; the caller holds the lock.

        Only ``_discard`` reaps the worker, so its pid cannot have been reused by now.
        """
        if self._process is None:
            return
        self._killed = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _discard(self) -> tuple[int | None, str]:
        """End the worker; return its exit status and the end of its stderr."""
        process = self._process
        if process is None:
            return None, ""
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        # A dying worker gets a moment, so that the status is its own and not that of our kill.
        _await_death(process.pid, 1.0)
        with self._lock:
            self._kill()
            self._process, self._killed = None, False
        status = process.wait()
        if process.stdout is not None:
            process.stdout.close()
        if self._drainer is not None:
            self._drainer.join(timeout=1)
        return status, self._stderr.decode("utf-8", "replace")


def _await_death(pid: int, seconds: float) -> None:
    """Wait for a child to die without reaping it: until then its process group is safe to signal."""
    if not hasattr(os, "waitid"):
        return
    deadline = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)


def _describe(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit status {status}"
    if status == -9:
        return "killed by the system, perhaps out of memory"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"
