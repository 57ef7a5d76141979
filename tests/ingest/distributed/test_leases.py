"""Tasks in a database: each is taken by one worker at a time, and none is lost."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.index.providers.faiss import FaissStore
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Entry, Store
from loccit.ingest.distributed.worker import CLAIMED, FINISHED, MOST_ATTEMPTS, OPEN, Task, TaskLeases


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def tasks(count: int) -> list[Task]:
    return [Task(f"/docs/{number}.md", number, 1, "settings") for number in range(count)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with FaissStore(DatabaseSettings("faiss", connection_string=str(tmp_path / "faiss"))) as store:
        store.create(4)
        yield store


def test_each_task_goes_to_one_worker(store: Store) -> None:
    leases = TaskLeases(store)
    leases.post(tasks(60))
    claimed: dict[str, list[str]] = {}

    def work(name: str) -> None:
        mine = claimed.setdefault(name, [])
        for task in leases.claims(name):
            mine.append(task.path)
            assert leases.finish(task, {"owner": name})

    threads = [threading.Thread(target=work, args=(f"worker{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = Counter(path for paths in claimed.values() for path in paths)
    assert counts == Counter(task.path for task in tasks(60))
    assert all(task.state == FINISHED for task in leases.tasks())


def test_a_claim_that_has_run_out_is_taken_over_and_the_first_result_no_longer_counts(store: Store) -> None:
    clock = Clock()
    leases = TaskLeases(store, lease=30, clock=clock)
    leases.post(tasks(1))
    (slow,) = leases.claims("slow")
    assert list(leases.claims("quick")) == []
    clock.now += 31
    (taken,) = leases.claims("quick")
    assert (taken.owner, taken.attempts) == ("quick", 2)
    assert leases.renew(slow) is None
    assert not leases.finish(slow, {"owner": "slow"})
    assert leases.finish(taken, {"owner": "quick"})
    assert [task.outcome for task in leases.tasks()] == [{"owner": "quick"}]


def test_a_claim_that_is_renewed_lasts(store: Store) -> None:
    clock = Clock()
    leases = TaskLeases(store, lease=30, clock=clock)
    leases.post(tasks(1))
    (task,) = leases.claims("steady")
    for _ in range(5):
        clock.now += 20
        renewed = leases.renew(task)
        assert renewed is not None
        task = renewed
        assert list(leases.claims("other")) == []
    assert leases.finish(task, {})


def test_the_tasks_of_a_dead_worker_are_free_at_once(store: Store) -> None:
    leases = TaskLeases(store)
    leases.post(tasks(3))
    assert len(list(leases.claims("dead"))) == 3
    leases.release("somebody else")
    assert list(leases.claims("heir")) == []
    leases.release("dead")
    assert {task.owner for task in leases.claims("heir")} == {"heir"}


def test_a_document_that_ends_every_worker_is_given_up(store: Store) -> None:
    leases = TaskLeases(store)
    leases.post(tasks(1))
    for number in range(MOST_ATTEMPTS):
        assert len(list(leases.claims(f"victim{number}"))) == 1
        leases.release(f"victim{number}")
    assert list(leases.claims("last")) == []
    (task,) = leases.tasks()
    assert task.state == FINISHED
    assert "crashed 3 workers" in (task.outcome or {})["error"]


def test_posting_leaves_alone_what_is_under_way_and_renews_what_is_old(store: Store) -> None:
    leases = TaskLeases(store)
    leases.post(tasks(3))
    claims = {task.path: task for task in leases.claims("worker")}
    assert leases.finish(claims["/docs/0.md"], {})
    changed = Task("/docs/1.md", 99, 2, "settings")
    leases.post([*tasks(1), changed, tasks(3)[2]])
    states = {task.path: (task.state, task.size) for task in leases.tasks()}
    assert states == {
        "/docs/0.md": (OPEN, 0),
        "/docs/1.md": (OPEN, 99),
        "/docs/2.md": (CLAIMED, 2),
    }
    # The claim on the file as it was is lost with it.
    assert not leases.finish(claims["/docs/1.md"], {})


class Counting(FaissStore):
    """Counts the entries that it hands out, and has a clock of its own."""

    read = 0

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        for batch in super().entries(kind, group):
            self.read += len(batch)
            yield batch

    def now(self) -> float:
        return 5000.0


def test_looking_for_work_and_for_outcomes_does_not_read_the_whole_list(tmp_path: Path) -> None:
    store = Counting(DatabaseSettings("faiss", connection_string=str(tmp_path / "faiss")))
    with store:
        store.create(4)
        leases = TaskLeases(store)
        leases.post(tasks(3000))
        claims = leases.claims("worker")
        for _ in range(3):
            assert leases.finish(next(claims), {})
        store.read = 0
        assert leases.free()
        assert store.read <= 500
        store.read = 0
        assert len(list(leases.tasks(FINISHED))) == 3
        assert store.read == 3


def test_claims_go_by_the_clock_of_the_store(tmp_path: Path) -> None:
    with Counting(DatabaseSettings("faiss", connection_string=str(tmp_path / "faiss"))) as store:
        store.create(4)
        TaskLeases(store, lease=30).post(tasks(1))
        (task,) = TaskLeases(store, lease=30).claims("worker")
        assert task.until == pytest.approx(5030, abs=5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), lease=st.floats(1, 60))
def test_whatever_happens_every_task_is_finished_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int, lease: float
) -> None:
    """Workers claim, renew, finish, dawdle and die in any order."""
    chance, clock = random.Random(seed), Clock()
    folder = tmp_path_factory.mktemp("leases") / "faiss"
    with FaissStore(DatabaseSettings("faiss", connection_string=str(folder))) as store:
        store.create(4)
        leases = TaskLeases(store, lease=lease, clock=clock)
        leases.post(tasks(6))
        held: list[Task] = []
        credited: Counter[str] = Counter()
        for _ in range(400):
            if all(task.state == FINISHED for task in leases.tasks()):
                break
            step = chance.random()
            if step < 0.4:
                held += [
                    task for task, _ in zip(leases.claims(f"w{chance.randrange(3)}"), range(1), strict=False)
                ]
            elif step < 0.7 and held:
                task = held.pop(chance.randrange(len(held)))
                credited[task.path] += leases.finish(task, {"ok": True})
            elif step < 0.8 and held:
                at = chance.randrange(len(held))
                if renewed := leases.renew(held[at]):
                    held[at] = renewed
            else:
                clock.now += chance.random() * 2 * lease
        done = {task.path: task.outcome for task in leases.tasks() if task.state == FINISHED}
        assert len(done) == 6
        given_up = {path for path, outcome in done.items() if outcome and "error" in outcome}
        assert credited == Counter(dict.fromkeys(done.keys() - given_up, 1))
