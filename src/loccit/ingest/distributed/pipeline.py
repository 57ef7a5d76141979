"""The pipeline of a distributed run: plan as usual, post the tasks, wait, and take over what was published."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from loccit.errors import LoccitError
from loccit.index.shared.catalogue import About, Catalogue
from loccit.index.shared.index import StoredIndex
from loccit.ingest.discover import FoundFile
from loccit.ingest.distributed.runners import Handle, Runner
from loccit.ingest.distributed.worker import FINISHED, LEASE_SECONDS, Task, TaskLeases, WorkerSetup
from loccit.ingest.pipeline import Pipeline, Plan
from loccit.model import Progress

_POLL_SECONDS = 0.25


class DistributedPipeline(Pipeline):
    """Reads, embeds and publishes through workers. The caller holds the writer lock of the local folder."""

    def __init__(self, *arguments: Any, runner: Runner, lease: float = LEASE_SECONDS, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.runner = runner
        self.lease = lease

    def _read(self, plan: Plan) -> None:
        index = self._index
        assert isinstance(index, StoredIndex)
        # Removed and moved files are taken out first; workers only add.
        index.replica.push()
        moved = plan.moved()
        files = {file.path: file for file in plan.read if self._check_readable(file)}
        if files:
            about = About(self._embedder.name, self._embedder.dimension, self._record.meta("settings"))
            index.replica.catalogue.open(about)
            leases = TaskLeases(index.store, lease=self.lease)
            tasks = {
                path: Task(path, file.size, file.mtime_ns, self._fingerprint) for path, file in files.items()
            }
            with self._timed("read"):
                leases.post(tasks.values())
                outcomes = self._wait(index, leases, tasks)
                index.replica.catalogue.touch()
                index.replica.follow(anyway=True)
            for path, outcome in outcomes.items():
                self._tell(files[path], outcome, path in plan.known, moved)
        self.report.removed = sorted(plan.gone.keys() - {old for old, _ in self.report.renamed})
        with self._timed("keyword"):
            index.catch_up_keyword()

    def _wait(
        self, index: StoredIndex, leases: TaskLeases, tasks: dict[str, Task]
    ) -> dict[str, dict[str, Any]]:
        """Keep workers running until every task has an outcome."""
        setup = WorkerSetup(index.store.settings, self._settings, self.lease)
        pool = WorkerPool(self.runner, setup, leases, index.replica.catalogue)
        name = index.record.meta("replica")[:8]
        outcomes: dict[str, dict[str, Any]] = {}
        try:
            while True:
                before = len(outcomes)
                free = self._collect(leases, tasks, outcomes)
                self._progress(Progress("read", len(outcomes), len(tasks)))
                if len(outcomes) == len(tasks):
                    return outcomes
                pool.keep(
                    [f"{name}-{number}" for number in range(self._workers)], free, len(outcomes) > before
                )
                time.sleep(_POLL_SECONDS)
        finally:
            pool.stop()

    def _collect(
        self, leases: TaskLeases, tasks: dict[str, Task], outcomes: dict[str, dict[str, Any]]
    ) -> int:
        """Record and remove finished tasks; return the number of waiting ones, as far as it matters."""
        finished = [task for task in leases.tasks(FINISHED) if task.path in tasks]
        for task in finished:
            outcomes[task.path] = task.outcome or {}
        leases.take_down(finished)
        free = leases.free()
        if not finished and not free:
            # All tasks are in progress, or were removed by another run that wanted the same files.
            left = (task for path, task in tasks.items() if path not in outcomes)
            outcomes.update((task.path, {}) for task in leases.missing(left))
        return len(free)

    def _tell(
        self, file: FoundFile, outcome: dict[str, Any], known: bool, moved: dict[str, list[str]]
    ) -> None:
        if error := outcome.get("error"):
            self._fail(file, str(error), retry=bool(outcome.get("again")))
            return
        self.report.chunks += int(outcome.get("chunks", 0))
        self.report.embedded += int(outcome.get("chunks", 0))
        self.report.warnings += [f"{file.path}: {warning}" for warning in outcome.get("warnings", ())]
        self._count(file, str(outcome.get("content_hash", "")), known, moved)


class WorkerPool:
    """The workers of a run: one that exits too early is replaced."""

    def __init__(self, runner: Runner, setup: WorkerSetup, leases: TaskLeases, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._runner = runner
        self._setup = setup
        self._leases = leases
        self._handles: dict[str, Handle] = {}
        self._barren = 0

    def keep(self, names: Sequence[str], free: int, progress: bool) -> None:
        """Start workers for waiting tasks; leases of a dead worker are released at once."""
        if progress:
            self._barren = 0
        for name in names:
            handle = self._handles.get(name)
            if handle is not None and not handle.alive:
                self._bury(name, handle, most=3 * len(names))
                handle = None
            if handle is None and free > 0:
                self._handles[name] = self._runner.start(self._setup.to_dict(name))
                free -= 1

    def _bury(self, name: str, handle: Handle, most: int) -> None:
        error = handle.error
        handle.stop()
        del self._handles[name]
        if error:
            self._barren += 1
            self._catalogue.abandon(name)
            self._leases.release(name)
            if self._barren > most:
                raise LoccitError(f"Workers exit before they have finished anything: {error}")

    def stop(self) -> None:
        """Stop all of them."""
        for name, handle in self._handles.items():
            dead = not handle.alive and bool(handle.error)
            handle.stop()
            if dead:
                self._catalogue.abandon(name)
        self._runner.close()
