"""Runners: where workers run: as processes on this machine, or in a Ray cluster."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from typing import Any, Protocol

from loccit.errors import LoccitError, MissingExtraError, UsageError
from loccit.workers.processes import command

RUNNERS = ("local", "ray")


class Handle(Protocol):
    """A worker that was started."""

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        ...

    @property
    def error(self) -> str:
        """Its error message; empty if it did not fail."""
        ...

    def stop(self) -> None:
        """Stop it."""
        ...


class Runner(Protocol):
    """Starts workers."""

    def start(self, setup: dict[str, Any]) -> Handle:
        """Start one."""
        ...

    def close(self) -> None:
        """Release what workers needed."""
        ...


def load_runner(name: str) -> Runner:
    """Return a runner by name."""
    if name == "local":
        return LocalRunner()
    if name == "ray":
        return RayRunner()
    raise UsageError(f"There is no runner {name!r}; available: {', '.join(RUNNERS)}.")


# -- processes of this machine ---------------------------------------------------------------------------------


class LocalRunner:
    """Workers as processes on this machine."""

    def start(self, setup: dict[str, Any]) -> Handle:
        """Start a process."""
        return LocalHandle(setup)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class LocalHandle:
    """A process. It exits when its standard input ends, and so does not outlive its parent."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            command(__name__),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._said = bytearray()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        assert self._process.stdin is not None
        # By a pipe: anybody could read a connection string on a command line.
        self._process.stdin.write(json.dumps(setup).encode() + b"\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said[:] = (self._said + line)[-8192:]

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None

    @property
    def error(self) -> str:
        """The last line of its error output; empty if it did not fail."""
        if self._process.poll() in (None, 0):
            return ""
        self._listener.join(timeout=1)
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with code {self._process.returncode}"

    def stop(self) -> None:
        """Close its input, and kill it if it does not exit."""
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(timeout=1)
        if self._process.stderr is not None:
            self._process.stderr.close()


def serve() -> int:
    """Run as a worker: read the setup from standard input, work, and stop after the current document when it ends."""
    from loccit.ingest.distributed.worker import work

    setup = json.loads(sys.stdin.readline())
    gone = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        gone.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        work(setup, stop=gone.is_set)
    except LoccitError as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        return 1
    return 0


# -- Ray -------------------------------------------------------------------------------------------------------


class RayRunner:
    """Workers as tasks in a Ray cluster: the one that ``RAY_ADDRESS`` names, or else one on this machine."""

    def __init__(self) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise MissingExtraError("The runner ray", "ray") from error
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            _join_cluster(ray)
        from loccit.ingest.distributed.worker import work

        # Not retried by Ray: the database gives the remaining tasks to another worker.
        self._work = ray.remote(max_retries=0)(work)

    def start(self, setup: dict[str, Any]) -> Handle:
        """Submit a worker to the cluster."""
        return RayHandle(self._ray, self._work.remote(setup))

    def close(self) -> None:
        """Disconnect from the cluster, unless this process also uses it otherwise."""
        if self._ours:
            self._ray.shutdown()


# Deadlines for a cluster: that something listens there at all, and that it is Ray.
_CONNECT_SECONDS = 5.0
_JOIN_SECONDS = 12.0
_CLUSTER = re.compile(r"(?:ray://)?(?P<host>[^/:]+|\[[^]]+\]):(?P<port>\d+)/?")


def _join_cluster(ray: Any) -> None:
    """Join the cluster that ``RAY_ADDRESS`` names, or start one here. Ray itself would try for minutes."""
    address = os.environ.get("RAY_ADDRESS", "").strip()
    options = {"log_to_driver": False, "include_dashboard": False, "configure_logging": False}
    if not (named := _CLUSTER.fullmatch(address)):
        ray.init(**options)
        return
    advice = "Check that it is running (ray status), correct RAY_ADDRESS, or index on this machine with --runner local."
    try:
        host = named["host"].strip("[]")
        socket.create_connection((host, int(named["port"])), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise LoccitError(f"The Ray cluster at {address} cannot be reached ({error}). {advice}") from error
    failed: list[Exception] = []

    def join() -> None:
        try:
            ray.init(**options)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=join, name="loccit-ray", daemon=True)
    thread.start()
    thread.join(_JOIN_SECONDS)
    if thread.is_alive():
        raise LoccitError(f"What listens at {address} does not answer as a Ray cluster. {advice}")
    if failed:
        said = str(failed[0]).strip().splitlines() or [type(failed[0]).__name__]
        raise LoccitError(f"The Ray cluster at {address} refuses: {said[0]}. {advice}") from failed[0]


class RayHandle:
    """A task in a Ray cluster."""

    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray = ray
        self._reference = reference

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        ready, _ = self._ray.wait([self._reference], timeout=0)
        return not ready

    @property
    def error(self) -> str:
        """The exception it raised; empty if none."""
        if self.alive:
            return ""
        try:
            self._ray.get(self._reference)
        except Exception as error:
            cause = getattr(error, "cause", None) or error
            return str(cause).strip().splitlines()[-1] if str(cause).strip() else type(cause).__name__
        return ""

    def stop(self) -> None:
        """Cancel it if it has not ended."""
        if self.alive:
            self._ray.cancel(self._reference, force=True)
