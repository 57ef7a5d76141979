"""Schedule: which question is put when.

Questions come in groups that share a cached part. The first of a group goes alone, because it fills the cache that
the others read from; different groups run side by side. The very first of all goes alone too: if the model cannot be
used at all, one question is enough to find out.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pinakes.llm.protocol import ModelError, PromptError

Q = TypeVar("Q")
A = TypeVar("A")

# A group whose first prompts are all refused (too long, most likely) is given up.
_REFUSALS = 3
_HEARTBEAT = 1.0


@dataclass(slots=True)
class _Group(Generic[Q]):
    waiting: deque[Q]
    cached: bool = False
    refusals: int = 0


@dataclass(slots=True)
class _Helpers(Generic[Q, A]):
    """Threads that put questions; they end with the program, so that nobody waits for a service that hangs."""

    ask: Callable[[Q], A]
    questions: queue.SimpleQueue[tuple[_Group[Q], Q] | None] = field(default_factory=queue.SimpleQueue)
    answers: queue.SimpleQueue[tuple[_Group[Q], Q, A | ModelError | BaseException]] = field(
        default_factory=queue.SimpleQueue
    )
    busy: int = 0
    started: int = 0

    def put(self, group: _Group[Q], question: Q) -> None:
        self.busy += 1
        if self.busy > self.started:
            self.started += 1
            threading.Thread(target=self._work, daemon=True, name=f"pinakes-context-{self.started}").start()
        self.questions.put((group, question))

    def get(self) -> tuple[_Group[Q], Q, A | ModelError]:
        while True:
            try:
                # With a time, because some systems do not hear Ctrl-C while they wait without one.
                group, question, answer = self.answers.get(timeout=_HEARTBEAT)
            except queue.Empty:
                continue
            self.busy -= 1
            if isinstance(answer, BaseException) and not isinstance(answer, ModelError):
                raise answer
            return group, question, answer

    def dismiss(self) -> None:
        for _ in range(self.started):
            self.questions.put(None)

    def _work(self) -> None:
        while (item := self.questions.get()) is not None:
            group, question = item
            answer: A | ModelError | BaseException
            try:
                answer = self.ask(question)
            except BaseException as error:
                answer = error
            self.answers.put((group, question, answer))


def put_questions(
    groups: Iterator[Sequence[Q]], ask: Callable[[Q], A], concurrency: int, stopped: Callable[[], bool]
) -> Iterator[tuple[Q, A | ModelError]]:
    """Put the questions of all groups, at most ``concurrency`` at once; yield the answers as they come.

    Groups are taken one by one as there is room for them. When ``stopped`` says so, no more questions are put, and
    those that are under way are still waited for. Questions that are given up come back with the error that ended
    them.
    """
    ready: deque[tuple[_Group[Q], Q]] = deque()
    helpers: _Helpers[Q, A] = _Helpers(ask)
    limit = 1
    try:
        while True:
            while helpers.busy < limit and not stopped() and _fill(ready, groups):
                helpers.put(*ready.popleft())
            if not helpers.busy:
                return
            group, question, answer = helpers.get()
            given_up: list[Q] = []
            if isinstance(answer, ModelError):
                given_up = _after_failure(ready, group, answer)
            else:
                limit = concurrency
                if not group.cached:
                    group.cached = True
                    # Before new groups: a cache does not last long.
                    ready.extendleft((group, one) for one in reversed(group.waiting))
                    group.waiting.clear()
            yield question, answer
            for one in given_up:
                yield one, answer
    finally:
        helpers.dismiss()


def _fill(ready: deque[tuple[_Group[Q], Q]], groups: Iterator[Sequence[Q]]) -> bool:
    """Make sure that a question is ready, if there are any left."""
    while not ready:
        questions = next(groups, None)
        if questions is None:
            return False
        if questions:
            group = _Group(deque(questions))
            ready.append((group, group.waiting.popleft()))
    return True


def _after_failure(ready: deque[tuple[_Group[Q], Q]], group: _Group[Q], error: ModelError) -> list[Q]:
    """Let the next of a group try to fill the cache, or return those that there is no hope for."""
    if group.cached or not group.waiting:
        return []
    group.refusals += isinstance(error, PromptError)
    if group.refusals >= _REFUSALS:
        hopeless = list(group.waiting)
        group.waiting.clear()
        return hopeless
    ready.appendleft((group, group.waiting.popleft()))
    return []
