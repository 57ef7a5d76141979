"""Worker: leases tasks, reads the documents, embeds and publishes them, until nothing is left.

It needs only the files, the model and the database, which has the tasks: each is leased for a while, and the lease
renewed while the work takes. Documents pass through a record of the worker's own, in a scratch folder, so that they are
published by the same steps as everywhere else.
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

from loccit.config import IndexSettings
from loccit.errors import StoreUnavailableError
from loccit.index.folder.dump import passage_hashes, place_ids, read_dump
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.registry import load_store
from loccit.index.retry import patient
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.catalogue import Catalogue
from loccit.index.shared.ids import document_key
from loccit.index.shared.intents import StoreClock
from loccit.index.shared.points import passage_vectors, publication
from loccit.index.store import Entry, Store
from loccit.ingest.contextualize import passage_text
from loccit.model import ParsedDocument
from loccit.models.embedding import Embedder, load_embedder
from loccit.workers.sandbox import Limits, Outcome, Sandbox

KIND = "task"
LEASE_SECONDS = 30.0
# A document that crashed this many workers will crash the next one too.
MOST_ATTEMPTS = 3

OPEN, CLAIMED, FINISHED = "open", "claimed", "finished"


@dataclass(frozen=True, slots=True)
class Task:
    """One file to read. ``outcome`` is the worker's result; ``value`` the entry as last seen."""

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
        """The key of its entry."""
        return f"task-{document_key(self.path)}"

    def entry(self) -> Entry:
        """Return the task as an entry; its group is its state, so that tasks in a state are found directly."""
        return Entry(self.key, KIND, self.state, json.dumps(asdict(self), sort_keys=True))

    @classmethod
    def read(cls, value: str) -> Task:
        """Parse what ``entry`` wrote."""
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
    """The tasks in a store. Looking for some reads one batch of those in a state, however many there are."""

    def __init__(
        self, store: Store, *, lease: float = LEASE_SECONDS, clock: Callable[[], float] | None = None
    ) -> None:
        self._store = store
        self._lease = lease
        self._clock = clock or StoreClock(store)

    # -- posting tasks ---------------------------------------------------------------------------------------

    def post(self, tasks: Iterable[Task]) -> None:
        """Post tasks. One in progress for the same file is left as it is."""
        wanted = {task.key: task for task in tasks}
        known = self._store.get(list(wanted))
        self._store.put([task.entry() for key, task in wanted.items() if key not in known])
        for key, value in known.items():
            if not Task.read(value).same_file(wanted[key]) or Task.read(value).state != CLAIMED:
                # Left over from another run, or the file has changed since.
                self._swap(wanted[key], value)

    def tasks(self, state: str | None = None) -> Iterator[Task]:
        """Return all tasks, or those in a state."""
        for batch in self._store.entries(KIND, state):
            yield from (Task.read(entry.value) for entry in batch)

    def some(self, state: str) -> list[Task]:
        """Return a batch of the tasks in a state."""
        batch = next(iter(self._store.entries(KIND, state)), [])
        return [Task.read(entry.value) for entry in batch]

    def free(self) -> list[Task]:
        """Return some of the waiting tasks."""
        return self.some(OPEN) or [task for task in self.tasks(CLAIMED) if self.is_free(task)]

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return those of these tasks that no longer exist."""
        wanted = list(tasks)
        there = self._store.get([task.key for task in wanted])
        return [task for task in wanted if task.key not in there]

    def take_down(self, tasks: Iterable[Task]) -> None:
        """Remove tasks whose outcome is known."""
        self._store.remove([task.key for task in tasks])

    def release(self, owner: str) -> None:
        """Release the tasks of a worker that is known to be gone, without waiting for its leases to expire."""
        for task in list(self.tasks(CLAIMED)):
            if task.owner == owner:
                self._swap(replace(task, state=OPEN, owner="", until=0.0), task.entry().value)

    # -- working on tasks ------------------------------------------------------------------------------------

    def claims(self, owner: str) -> Iterator[Task]:
        """Lease tasks, one at a time, until all are taken; start anywhere, so that workers do not queue up."""
        while seen := self.free():
            random.shuffle(seen)
            won = False
            for task in seen:
                if task.attempts >= MOST_ATTEMPTS:
                    failed = {"error": f"reading it crashed {task.attempts} workers"}
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
                # Others were faster everywhere, or the database shows an outdated state.
                return

    def _swap(self, task: Task, expected: str) -> bool:
        """Change a task if it is as expected. If the answer was lost, it counts as changed if it is now as wanted."""
        entry = task.entry()
        try:
            return self._store.swap(entry, expected)
        except StoreUnavailableError:
            found = self._store.get([entry.key]).get(entry.key)
            return found == entry.value or (found == expected and self._store.swap(entry, expected))

    def is_free(self, task: Task) -> bool:
        """Whether a task is waiting: nobody has leased it, or the lease has expired."""
        return task.state == OPEN or (task.state == CLAIMED and task.until < self._clock())

    def renew(self, task: Task) -> Task | None:
        """Renew a lease; None if it was lost."""
        longer = replace(task, until=self._clock() + self._lease)
        return longer if self._swap(longer, task.entry().value) else None

    def finish(self, task: Task, outcome: dict[str, Any]) -> bool:
        """Store the outcome of a task; False if another worker has taken it over."""
        done = replace(task, state=FINISHED, until=0.0, outcome=outcome)
        return self._swap(done, task.entry().value)

    @property
    def lease(self) -> float:
        """How long a lease lasts."""
        return self._lease


# -- the work ------------------------------------------------------------------------------------------------

_EMBED_WINDOW = 512
# An entry has room for some; they also represent a document with more.
_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """Everything that a worker needs; plain values, to send to another process or machine."""

    database: DatabaseSettings
    index: IndexSettings
    lease: float

    def to_dict(self, owner: str) -> dict[str, Any]:
        """Return plain values. They include secrets: for a pipe, not for a command line or a log."""
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
    """Work until no task is waiting; return how many documents were finished."""
    settings = DatabaseSettings(**setup["database"])
    with (
        patient(settings.patience, answered=True),
        load_store(settings) as store,
        tempfile.TemporaryDirectory(prefix="loccit-worker-", ignore_cleanup_errors=True) as folder,
    ):
        worker = Worker(
            store, IndexSettings(**setup["index"]), setup["owner"], Path(folder) / "record", setup["lease"]
        )
        try:
            return worker.run(stop)
        finally:
            worker.close()


class Worker:
    """One worker."""

    def __init__(self, store: Store, settings: IndexSettings, owner: str, folder: Path, lease: float) -> None:
        self._store = store
        self._settings = settings
        self._owner = owner
        self._leases = TaskLeases(store, lease=lease)
        self._catalogue = Catalogue(store, owner)
        self._scratch = EmbeddedIndex(folder, create=True)
        self._embedder: Embedder = load_embedder(settings.embedding_model or None)

    def close(self) -> None:
        """Remove the scratch record."""
        self._scratch.close()

    def run(self, stop: Callable[[], bool]) -> int:
        """Work on all waiting tasks, then look again: leases of others may have expired."""
        finished = 0
        setup = {"settings": asdict(self._settings), "model_tokens": self._embedder.max_tokens}
        with Sandbox(
            "loccit.ingest.prepare:prepare",
            result=ParsedDocument,
            workers=1,
            limits=Limits(),
            initializer_payload=setup,
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
        """Publish what was read; return what to report about it."""
        if outcome.value is None:
            return {"error": outcome.error or "it could not be read", "again": outcome.again}
        parsed: ParsedDocument = outcome.value
        if not parsed.chunks:
            return {"error": "no text found"}
        parsed = replace(parsed, document=replace(parsed.document, size=task.size))
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
            "content_hash": parsed.document.content_hash,
            "warnings": list(parsed.document.warnings)[:_WARNINGS],
            "owner": self._owner,
        }

    def _remember(self, key: str) -> dict[str, str]:
        """Reuse vectors of texts that the previous version had, and return the ids of its places."""
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
    """Renew the lease on a task in the background while the work on it takes."""
    current, ended = [task], threading.Event()

    def renew() -> None:
        while not ended.wait(leases.lease / 3):
            try:
                longer = leases.renew(current[0])
            except StoreUnavailableError:
                # The work waits for the server as well; whether the lease was lost meanwhile shows at its
                # end.
                continue
            if longer is None:
                # Another worker took it over; publishing the same document twice is harmless.
                return
            current[0] = longer

    thread = threading.Thread(target=renew, name="loccit-lease", daemon=True)
    thread.start()
    try:
        yield lambda: current[0]
    finally:
        ended.set()
        thread.join()
