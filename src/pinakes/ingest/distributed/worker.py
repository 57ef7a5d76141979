"""Worker: claims tasks, reads the documents, embeds them and publishes them, until nothing is left.

It needs nothing but the files, the model and the database, in which the tasks lie: each is claimed for a while, and the
claim renewed as long as the work on it takes. Documents pass through a record of its own, in a scratch folder, so that
what it publishes is made by the same steps as everywhere else.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pinakes.config import IndexSettings
from pinakes.embedding import Embedder, load_embedder
from pinakes.errors import StoreUnavailableError
from pinakes.ingest.codec import decode
from pinakes.ingest.contextualize import passage_text
from pinakes.ingest.sandbox import Limits, Outcome, Sandbox
from pinakes.stores.embedded.dump import passage_hashes, place_ids, read_dump
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.registry import load_store
from pinakes.stores.retry import patient
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.shared.catalogue import Catalogue
from pinakes.stores.shared.ids import document_key
from pinakes.stores.shared.intents import StoreClock
from pinakes.stores.shared.points import passage_vectors, publication
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
        """Write the task as an entry; its group is its state, so that nobody has to look at all to find some."""
        return Entry(self.key, KIND, self.state, json.dumps(asdict(self), sort_keys=True))

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
    """The tasks in one store. Whoever looks for some reads one batch of those in that state, however many there are."""

    def __init__(
        self, store: Store, *, lease: float = LEASE_SECONDS, clock: Callable[[], float] | None = None
    ) -> None:
        self._store = store
        self._lease = lease
        self._clock = clock or StoreClock(store)

    # -- who asks for work -----------------------------------------------------------------------------------

    def post(self, tasks: Iterable[Task]) -> None:
        """Put tasks up. One that somebody works on for the same file stays as it is."""
        wanted = {task.key: task for task in tasks}
        known = self._store.get(list(wanted))
        self._store.put([task.entry() for key, task in wanted.items() if key not in known])
        for key, value in known.items():
            if not Task.read(value).same_file(wanted[key]) or Task.read(value).state != CLAIMED:
                # Left over from another run, or the file has changed since.
                self._swap(wanted[key], value)

    def tasks(self, state: str | None = None) -> Iterator[Task]:
        """Return all that is up, or what is in a state."""
        for batch in self._store.entries(KIND, state):
            yield from (Task.read(entry.value) for entry in batch)

    def some(self, state: str) -> list[Task]:
        """Return a batch of the tasks in a state; none when there are none."""
        batch = next(iter(self._store.entries(KIND, state)), [])
        return [Task.read(entry.value) for entry in batch]

    def free(self) -> list[Task]:
        """Return some of the tasks that wait for somebody."""
        return self.some(OPEN) or [task for task in self.tasks(CLAIMED) if self.is_free(task)]

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return those of some tasks that are not up any more."""
        wanted = list(tasks)
        there = self._store.get([task.key for task in wanted])
        return [task for task in wanted if task.key not in there]

    def take_down(self, tasks: Iterable[Task]) -> None:
        """Remove tasks whose outcome is known."""
        self._store.remove([task.key for task in tasks])

    def release(self, owner: str) -> None:
        """Open the tasks of a worker that is known to be gone, without waiting for its claims to run out."""
        for task in list(self.tasks(CLAIMED)):
            if task.owner == owner:
                self._swap(replace(task, state=OPEN, owner="", until=0.0), task.entry().value)

    # -- who works -------------------------------------------------------------------------------------------

    def claims(self, owner: str) -> Iterator[Task]:
        """Claim tasks, one at a time, until all are taken; begin anywhere, so that workers do not queue up."""
        while seen := self.free():
            random.shuffle(seen)
            won = False
            for task in seen:
                if task.attempts >= MOST_ATTEMPTS:
                    failed = {"error": f"reading it ended {task.attempts} workers"}
                    won |= self._swap(
                        replace(task, state=FINISHED, outcome=failed, until=0.0), task.entry().value
                    )
                    continue
                claimed = replace(
                    task,
                    state=CLAIMED,
                    owner=owner,
                    until=self._clock() + self._lease,
                    attempts=task.attempts + 1,
                )
                if self._swap(claimed, task.entry().value):
                    won = True
                    yield claimed
            if not won:
                # Others were quicker everywhere, or the database shows a state that is past.
                return

    def _swap(self, task: Task, expected: str) -> bool:
        """Change a task that is still as expected. One whose answer was lost was changed if it is as wanted now."""
        entry = task.entry()
        try:
            return self._store.swap(entry, expected)
        except StoreUnavailableError:
            found = self._store.get([entry.key]).get(entry.key)
            return found == entry.value or (found == expected and self._store.swap(entry, expected))

    def is_free(self, task: Task) -> bool:
        """Whether a task waits for somebody: nobody has it, or whoever had it is too late."""
        return task.state == OPEN or (task.state == CLAIMED and task.until < self._clock())

    def renew(self, task: Task) -> Task | None:
        """Hold a claim for longer; None when it was lost."""
        longer = replace(task, until=self._clock() + self._lease)
        return longer if self._swap(longer, task.entry().value) else None

    def finish(self, task: Task, outcome: dict[str, Any]) -> bool:
        """Say what came of a task; False when somebody else has taken it over."""
        done = replace(task, state=FINISHED, until=0.0, outcome=outcome)
        return self._swap(done, task.entry().value)

    @property
    def lease(self) -> float:
        """How long a claim lasts."""
        return self._lease


# -- the work ------------------------------------------------------------------------------------------------

_EMBED_WINDOW = 512
# An entry has room for some; a document with more is in a state that these show as well.
_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """All that a worker has to know; plain values, to be sent to another process or machine."""

    database: DatabaseSettings
    index: IndexSettings
    lease: float

    def to_dict(self, owner: str) -> dict[str, Any]:
        """Return plain values. They hold what is secret: for a pipe, not for a command line or a log."""
        return {
            "owner": owner,
            "database": {
                **self.database.to_dict(),
                "connection_string": self.database.connection_string,
                "api_key": self.database.api_key,
            },
            "index": asdict(self.index),
            "lease": self.lease,
        }


def work(setup: dict[str, Any], *, stop: Callable[[], bool] = lambda: False) -> int:
    """Work until no task is left that is free; return how many documents were finished."""
    settings = DatabaseSettings(**setup["database"])
    with (
        patient(settings.patience, answered=True),
        load_store(settings) as store,
        tempfile.TemporaryDirectory(prefix="pinakes-worker-", ignore_cleanup_errors=True) as folder,
    ):
        worker = Worker(
            store, IndexSettings(**setup["index"]), setup["owner"], Path(folder) / "record", setup["lease"]
        )
        try:
            return worker.run(stop)
        finally:
            worker.close()


class Worker:
    """One who works."""

    def __init__(self, store: Store, settings: IndexSettings, owner: str, folder: Path, lease: float) -> None:
        self._store = store
        self._settings = settings
        self._owner = owner
        self._leases = TaskLeases(store, lease=lease)
        self._catalogue = Catalogue(store, owner)
        self._scratch = EmbeddedIndex(folder, create=True)
        self._embedder: Embedder = load_embedder(settings.embedding_model or None)

    def close(self) -> None:
        """Let go of the scratch record."""
        self._scratch.close()

    def run(self, stop: Callable[[], bool]) -> int:
        """Work on whatever is free, and look again when that is done: claims of others may have run out."""
        finished = 0
        setup = {"settings": asdict(self._settings), "model_tokens": self._embedder.max_tokens}
        with Sandbox(
            "pinakes.ingest.prepare:prepare", workers=1, limits=Limits(), initializer_payload=setup
        ) as sandbox:
            while not stop():
                claimed = 0
                for task in self._leases.claims(self._owner):
                    claimed += 1
                    finished += self._do(task, sandbox)
                    if stop():
                        break
                if not claimed:
                    break
                self._catalogue.touch()
        return finished

    def _do(self, task: Task, sandbox: Sandbox) -> bool:
        with _held(self._leases, task) as held:
            ((_, outcome),) = sandbox.run([{"path": task.path}])
            done = self._publish(task, outcome)
        return self._leases.finish(held(), done)

    def _publish(self, task: Task, outcome: Outcome) -> dict[str, Any]:
        """Publish what was read; return what is to be told of it."""
        if outcome.value is None:
            return {"error": outcome.error or "it could not be read", "again": outcome.again}
        parsed = decode(outcome.value)
        if not parsed.chunks:
            return {"error": "no text found"}
        content_hash = str(outcome.value["content_hash"])
        parsed = replace(parsed, document=replace(parsed.document, size=task.size, content_hash=content_hash))
        record = self._scratch.record
        known = self._remember(document_key(task.path))
        document = record.put(parsed, mtime_ns=task.mtime_ns, settings=task.settings, place_ids=known)
        try:
            self._embed()
            item = publication(
                record,
                self._scratch.lookup,
                document,
                self._embedder.dimension,
                terms=self._store.capabilities.keyword,
            )
            self._catalogue.publish([item])
        finally:
            record.remove([task.path])
            record.drop_orphan_vectors()
        return {
            "chunks": len(parsed.chunks),
            "content_hash": content_hash,
            "warnings": list(parsed.document.warnings)[:_WARNINGS],
            "owner": self._owner,
        }

    def _remember(self, key: str) -> dict[str, str]:
        """Take the vectors of texts that the version before had too, and return the ids that its places have."""
        head = self._catalogue.head(key)
        body = self._catalogue.bodies([head]).get(key) if head else None
        if head is None or body is None:
            return {}
        data = read_dump(body)
        if known := passage_vectors(passage_hashes(data), self._catalogue.vectors(head)):
            self._scratch.record.put_vectors(list(known), np.stack(list(known.values())))
        return place_ids(data)

    def _embed(self) -> None:
        record = self._scratch.record
        while pending := record.pending(_EMBED_WINDOW):
            unique = list({passage.text_hash: passage for passage in pending}.values())
            texts = [passage_text(passage.context, passage.text) for passage in unique]
            vectors = np.asarray(self._embedder.embed(texts), dtype=np.float32)
            record.put_vectors([passage.text_hash for passage in unique], vectors)


@contextmanager
def _held(leases: TaskLeases, task: Task) -> Iterator[Callable[[], Task]]:
    """Renew the claim on a task in the background for as long as the work on it takes."""
    current, ended = [task], threading.Event()

    def renew() -> None:
        while not ended.wait(leases.lease / 3):
            try:
                longer = leases.renew(current[0])
            except StoreUnavailableError:
                # The work waits for the server as well; whether the claim is lost meanwhile shows at its end.
                continue
            if longer is None:
                # Somebody took it over; what is published here all the same is the same.
                return
            current[0] = longer

    thread = threading.Thread(target=renew, name="pinakes-lease", daemon=True)
    thread.start()
    try:
        yield lambda: current[0]
    finally:
        ended.set()
        thread.join()
