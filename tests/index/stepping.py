"""A store whose calls take turns: a scheduler decides, call by call, who of several threads goes on."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from loccit.index.settings import DatabaseSettings
from loccit.index.store import Entry, Found, Point, Store
from loccit.models.embedding.protocol import Vectors


class Killed(BaseException):
    """Ends a writer in the middle of what it does, as a signal would end its process."""


class Scheduler:
    """Lets one thread run at a time, from one call of a store to the next, in an order that chance gives.

    ``kill`` is how likely a thread is ended before a call, ``repeat`` how likely a call that was carried out is taken
    for lost and made again later. ``check`` is called after every step.
    """

    def __init__(
        self, chance: random.Random, check: Callable[[], None], *, kill: float = 0.0, repeat: float = 0.0
    ) -> None:
        self._chance = chance
        self._check = check
        self._kill = kill
        self._repeat = repeat
        self._turns: dict[int, threading.Lock] = {}
        self._back = threading.Semaphore(0)
        self.killed = 0
        self.errors: list[BaseException] = []

    def run(self, jobs: Sequence[Callable[[], object]]) -> None:
        """Run jobs to their end; raise what any of them raised."""
        waiting = []
        for job in jobs:
            turn = threading.Lock()
            turn.acquire()
            thread = threading.Thread(target=self._work, args=(turn, job), daemon=True)
            thread.start()
            waiting.append((thread, turn))
        while waiting:
            thread, turn = self._chance.choice(waiting)
            turn.release()
            self._back.acquire()
            if self._turns.get(thread.ident or 0) is None:
                thread.join()
                waiting.remove((thread, turn))
            self._check()
        if self.errors:
            raise self.errors[0]

    def _work(self, turn: threading.Lock, job: Callable[[], object]) -> None:
        me = threading.get_ident()
        self._turns[me] = turn
        turn.acquire()
        try:
            job()
        except Killed:
            self.killed += 1
        except BaseException as error:
            self.errors.append(error)
        finally:
            del self._turns[me]
            self._back.release()

    def pause(self) -> None:
        """Give the turn back, and wait for the next."""
        turn = self._turns.get(threading.get_ident())
        if turn is None:
            return
        self._back.release()
        turn.acquire()
        if self._chance.random() < self._kill:
            raise Killed

    def lost(self) -> bool:
        """Whether the answer to a call that was carried out is lost on the way."""
        return self._chance.random() < self._repeat


class SteppedStore(Store):
    """Everything in dictionaries; each call, and each batch of an answer, is one step."""

    provider = "stepped"

    def __init__(self) -> None:
        super().__init__(DatabaseSettings("stepped", collection="laws"))
        self.held: dict[str, Point] = {}
        self.kept: dict[str, Entry] = {}
        self.scheduler: Scheduler | None = None

    def _step(self, change: Callable[[], None] = lambda: None) -> None:
        if self.scheduler is None:
            change()
            return
        self.scheduler.pause()
        change()
        while self.scheduler.lost():
            self.scheduler.pause()
            change()

    def check_whole(self) -> None:
        """See that every version that counts has all its points and parts; without the catalogue, and so quickly."""
        points = Counter(name.replace("-", "")[:24] for name in self.held)
        parts = Counter(key.rpartition("-")[0] for key, entry in self.kept.items() if entry.kind == "part")
        for entry in self.kept.values():
            if entry.kind == "head":
                version, pieces, size, _ = json.loads(entry.value)
                assert points[entry.group + version[:8]] == size, "points are lost"
                assert parts[f"part-{entry.group}-{version}"] == pieces, "a text is not whole"

    def dimension(self) -> int | None:
        return 2

    def create(self, dimension: int) -> None:
        return

    def drop(self) -> None:
        self.held.clear()
        self.kept.clear()

    def upsert(self, points: Sequence[Point]) -> None:
        # In two batches: a document is never there all at once.
        for some in (points[::2], points[1::2]):
            self._step(partial(self.held.update, {point.id: point for point in some}))

    def delete(self, ids: Sequence[str]) -> None:
        for some in (ids[::2], ids[1::2]):
            self._step(partial(_forget, self.held, some))

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        self._step()
        return [self.held[name] for name in ids if name in self.held]

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        self._step()
        found = [point for point in self.held.values() if document is None or point.document == document]
        yield found[::2]
        self._step()
        yield [point for point in found[1::2] if point.id in self.held]

    def count(self) -> int:
        return len(self.held)

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        raise NotImplementedError

    def put(self, entries: Sequence[Entry]) -> None:
        self._step(lambda: self.kept.update((entry.key, entry) for entry in entries))

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        self._step()
        return {key: self.kept[key].value for key in keys if key in self.kept}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        self._step()
        yield [entry for entry in self.kept.values() if entry.kind == kind and group in (None, entry.group)]

    def remove(self, keys: Sequence[str]) -> None:
        self._step(partial(_forget, self.kept, keys))


def _forget(held: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        held.pop(name, None)
