"""A crew: more processes that answer when many ask at once.

One process of Python answers on one core, however many threads it has. So when requests pile up, others are started
that open the same index; they end when there is nothing to do. Whoever is alone never pays for them, and a request
that one of them cannot answer is answered here.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import BinaryIO, cast

from pinakes.processes import command, read_frame, write_frame
from pinakes.server.api.answers import Answer, Question

logger = logging.getLogger("pinakes")

# A page asks for four things at once; more than this is a crowd.
CROWD = 6
_AGAIN_SECONDS = 10.0
_END_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What a member needs to answer as this process does. ``idle_seconds`` is how long it waits for work."""

    index: str
    mark: str
    idle_seconds: float = 120.0

    def encode(self) -> bytes:
        """Return the setup as bytes."""
        return json.dumps(asdict(self)).encode()


class MemberGoneError(Exception):
    """The process ended, or never came to work."""


class Member:
    """A process that answers one request at a time."""

    def __init__(self, setup: Setup) -> None:
        self._process = subprocess.Popen(
            command("pinakes.server.crew_member"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the server; a member ends when its input does.
            start_new_session=True,
        )
        self._requests = cast(BinaryIO, self._process.stdin)
        self._replies = cast(BinaryIO, self._process.stdout)
        try:
            with _gone():
                write_frame(self._requests, setup.encode())
                self._receive()
        except MemberGoneError:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def answer(self, question: Question) -> Answer:
        """Return its answer."""
        with _gone():
            write_frame(self._requests, question.encode())
            return Answer.decode(self._receive(), self._receive())

    def _receive(self) -> bytes:
        data = read_frame(self._replies)
        if data is None:
            raise MemberGoneError
        return data

    def end(self) -> None:
        """Close its input, and kill it when it does not end."""
        with contextlib.suppress(OSError, ValueError):
            self._requests.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            self._replies.close()


@contextlib.contextmanager
def _gone() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise MemberGoneError from error


class Crew:
    """The processes beside this one, ``most`` at once. ``setup`` says what they open, or None for nothing to share."""

    def __init__(self, setup: Callable[[], Setup | None], most: int) -> None:
        self._setup = setup
        self._most = most
        self._guard = threading.Lock()
        self._idle: list[Member] = []
        self._members: set[Member] = set()
        self._starting = False
        self._not_before = 0.0
        self._closed = False

    @property
    def members(self) -> list[int]:
        """The ids of the processes that work now."""
        with self._guard:
            return sorted(member.pid for member in self._members)

    def gather(self, waiting: int) -> None:
        """Start another process when that many requests wait, and there are not enough yet."""
        with self._guard:
            wanted = waiting >= CROWD and len(self._members) < self._most and not self._closed
            if not wanted or self._starting or time.monotonic() < self._not_before:
                return
            self._starting = True
        threading.Thread(target=self._start, name="pinakes-crew", daemon=True).start()

    def _start(self) -> None:
        member = None
        try:
            setup = self._setup()
            member = Member(setup) if setup is not None else None
        except (MemberGoneError, OSError) as error:
            logger.warning("Another process to search with could not be started: %s", error)
        with self._guard:
            self._starting = False
            if member is None:
                self._not_before = time.monotonic() + _AGAIN_SECONDS
                return
            if not self._closed:
                self._members.add(member)
                self._idle.append(member)
                return
        member.end()

    def answer(self, question: Question, here: Callable[[], Answer]) -> Answer:
        """Return the answer of a member that is free, or else the one that is made here."""
        with self._guard:
            member = self._idle.pop() if self._idle else None
        if member is None:
            return here()
        try:
            found = member.answer(question)
        except MemberGoneError:
            # It was idle for long and ended, or something ended it. Nothing is lost: requests only read.
            self._dismiss(member)
            return here()
        with self._guard:
            if not self._closed:
                self._idle.append(member)
        return found

    def _dismiss(self, member: Member) -> None:
        with self._guard:
            self._members.discard(member)
        member.end()

    def close(self) -> None:
        """End all of them."""
        with self._guard:
            self._closed = True
            members, self._members, self._idle = list(self._members), set(), []
        for member in members:
            member.end()
