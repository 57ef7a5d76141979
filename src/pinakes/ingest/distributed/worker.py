"""Worker: claims tasks, reads the documents, embeds them and publishes them, until nothing is left.

It needs nothing but the files, the model and the database. Documents pass through a record of its own, in a scratch
folder, so that what it publishes is made by the same steps as everywhere else.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pinakes.config import IndexSettings
from pinakes.embedding import Embedder, load_embedder
from pinakes.ingest.codec import decode
from pinakes.ingest.contextualize import passage_text
from pinakes.ingest.distributed.leases import Task, TaskLeases
from pinakes.ingest.sandbox import Limits, Outcome, Sandbox
from pinakes.stores.embedded.dump import passage_hashes, read_dump
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.registry import load_store
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.shared.catalogue import Catalogue
from pinakes.stores.shared.ids import document_key
from pinakes.stores.shared.points import passage_vectors, publication
from pinakes.stores.store import Store

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
        document = record.put(parsed, mtime_ns=task.mtime_ns, settings=task.settings)
        try:
            self._remember(document_key(task.path))
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

    def _remember(self, key: str) -> None:
        """Take the vectors of texts that the version before had too."""
        head = self._catalogue.head(key)
        body = self._catalogue.bodies([head]).get(key) if head else None
        if head is None or body is None:
            return
        known = passage_vectors(passage_hashes(read_dump(body)), self._catalogue.vectors(head))
        if known:
            self._scratch.record.put_vectors(list(known), np.stack(list(known.values())))

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
            longer = leases.renew(current[0])
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
