"""Leases: the tasks of a run, in the database, each taken by one worker at a time.

A task is one entry that is only ever changed by compare-and-set: open, claimed until some time, finished. A claim
that has run out may be taken over; the worker that was too slow then notices that its result no longer counts.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from pinakes.stores.shared.ids import document_key
from pinakes.stores.store import Entry, Store

KIND = "task"
LEASE_SECONDS = 30.0
# A document that ended this many workers will end the next one too.
MOST_ATTEMPTS = 3

OPEN, CLAIMED, FINISHED = "open", "claimed", "finished"


@dataclass(frozen=True, slots=True)
class Task:
    """One file to be read. ``outcome`` is what the worker has to say of it; ``value`` the entry as it was seen."""

    path: str
    size: int
    mtime_ns: int
    settings: str
    state: str = OPEN
    owner: str = ""
    until: float = 0.0
    attempts: int = 0
    outcome: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """The key of the entry."""
        return f"task-{document_key(self.path)}"

    def entry(self) -> Entry:
        """Write the task as an entry."""
        return Entry(self.key, KIND, "", json.dumps(asdict(self), sort_keys=True))

    @classmethod
    def read(cls, value: str) -> Task:
        """Read what ``entry`` wrote."""
        return cls(**json.loads(value))

    def same_file(self, other: Task) -> bool:
        """Whether two tasks are about the same state of a file, read in the same way."""
        return (self.path, self.size, self.mtime_ns, self.settings) == (
            other.path,
            other.size,
            other.mtime_ns,
            other.settings,
        )


class TaskLeases:
    """The tasks in one store."""

    def __init__(
        self, store: Store, *, lease: float = LEASE_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._lease = lease
        self._clock = clock

    # -- who asks for work -----------------------------------------------------------------------------------

    def post(self, tasks: Iterable[Task]) -> None:
        """Put tasks up. One that somebody else has put up for the same file stays as it is."""
        wanted = {task.key: task for task in tasks}
        known = self._store.get(list(wanted))
        self._store.put([task.entry() for key, task in wanted.items() if key not in known])
        for key, value in known.items():
            if not Task.read(value).same_file(wanted[key]) or Task.read(value).state == FINISHED:
                # Left over from another run, or the file has changed since.
                self._store.swap(wanted[key].entry(), value)

    def tasks(self) -> Iterator[Task]:
        """Return all that is up."""
        for batch in self._store.entries(KIND):
            yield from (Task.read(entry.value) for entry in batch)

    def take_down(self, tasks: Iterable[Task]) -> None:
        """Remove tasks whose outcome is known."""
        self._store.remove([task.key for task in tasks])

    def release(self, owner: str) -> None:
        """Open the tasks of a worker that is known to be gone, without waiting for its claims to run out."""
        for task in list(self.tasks()):
            if task.state == CLAIMED and task.owner == owner:
                self._store.swap(replace(task, state=OPEN, owner="", until=0.0).entry(), task.entry().value)

    # -- who works -------------------------------------------------------------------------------------------

    def claims(self, owner: str) -> Iterator[Task]:
        """Claim tasks, one at a time, until all are taken; begin anywhere, so that workers do not queue up."""
        seen = [task for task in self.tasks() if self.is_free(task)]
        random.shuffle(seen)
        for task in seen:
            if task.attempts >= MOST_ATTEMPTS:
                failed = {"error": f"reading it ended {task.attempts} workers"}
                self._store.swap(
                    replace(task, state=FINISHED, outcome=failed, until=0.0).entry(), task.entry().value
                )
                continue
            claimed = replace(
                task,
                state=CLAIMED,
                owner=owner,
                until=self._clock() + self._lease,
                attempts=task.attempts + 1,
            )
            if self._store.swap(claimed.entry(), task.entry().value):
                yield claimed

    def is_free(self, task: Task) -> bool:
        """Whether a task waits for somebody: nobody has it, or whoever had it is too late."""
        return task.state == OPEN or (task.state == CLAIMED and task.until < self._clock())

    def renew(self, task: Task) -> Task | None:
        """Hold a claim for longer; None when it was lost."""
        longer = replace(task, until=self._clock() + self._lease)
        return longer if self._store.swap(longer.entry(), task.entry().value) else None

    def finish(self, task: Task, outcome: dict[str, Any]) -> bool:
        """Say what came of a task; False when somebody else has taken it over."""
        done = replace(task, state=FINISHED, until=0.0, outcome=outcome)
        return self._store.swap(done.entry(), task.entry().value)

    @property
    def lease(self) -> float:
        """How long a claim lasts."""
        return self._lease
