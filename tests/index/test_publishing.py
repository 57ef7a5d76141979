"""Several publish the same documents at once: whatever the order of their calls, what counts is whole."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.effort import tries
from tests.index.providers.postgres_place import PostgresPlace, running_server
from tests.index.stepping import Scheduler, SteppedStore

from loccit.index.shared.catalogue import Catalogue, Publication
from loccit.index.shared.ids import PointId, content_of, document_key, edition_of, new_version, version_of
from loccit.index.store import Point, Store

DOCUMENTS = [document_key("a.md"), document_key("b.md")]
INTERLEAVINGS = tries(2_000, 10_000)
# Each round of the test runs so many of them.
ROUNDS = 20


def version(document: str, content: str, size: int = 3) -> Publication:
    """Make a version of a document, as reading and embedding it would."""
    name = new_version(version_of([content.encode()]))
    points = [
        Point(str(PointId(document, edition_of(name), number, 0)), document, np.ones(2, np.float32))
        for number in range(size)
    ]
    return Publication(document, name, content.encode() * 10, points)


def check_whole(store: Store) -> None:
    """See that every version that counts has all its points and its text."""
    catalogue = Catalogue(store, "reader")
    heads = catalogue.heads()
    assert catalogue.bodies(list(heads.values())).keys() == heads.keys(), "a text is not whole"
    for head in heads.values():
        assert len(catalogue.vectors(head)) == head.points, "points are lost"


def check_nothing_else(store: Store) -> None:
    """See that nothing is there but the versions that count."""
    heads = Catalogue(store, "reader").heads()
    owners = {(key, edition_of(head.version)) for key, head in heads.items()}
    found = [PointId.parse(point.id) for batch in store.points() for point in batch]
    assert {(place.document, place.version) for place in found} == owners
    parts = [entry.key.split("-") for batch in store.entries("part") for entry in batch]
    assert {(key, edition_of(name)) for _, key, name, _ in parts} == owners
    assert not [entry for batch in store.entries("intent") for entry in batch]


def jobs(
    store: Store, chance: random.Random, writers: int, *, withdraw: float = 0.1
) -> list[Callable[[], object]]:
    """Make what two or three writers do at once: mostly publish, also the same content, sometimes take out."""

    def job(number: int) -> Callable[[], object]:
        catalogue = Catalogue(store, f"writer{number}")
        if chance.random() < withdraw:
            gone = chance.sample(DOCUMENTS, 1)
            return lambda: catalogue.withdraw(gone)
        documents = chance.sample(DOCUMENTS, chance.choice((1, 1, 2)))
        runs = [
            [version(key, f"text {chance.randrange(3)}", chance.randint(1, 4)) for key in documents]
            for _ in range(chance.choice((1, 1, 2)))
        ]
        return lambda: [catalogue.publish(items) for items in runs]

    return [job(number) for number in range(writers)]


def stepped(
    seed: int, *, known: bool = True, kill: float = 0.0, repeat: float = 0.0
) -> tuple[SteppedStore, Scheduler, random.Random]:
    """Make a store in which every call is a step; after each, what counts must be whole."""
    chance, store = random.Random(seed), SteppedStore()
    if known:
        Catalogue(store, "before").publish([version(key, "text 0") for key in DOCUMENTS])

    scheduler = Scheduler(chance, store.check_whole, kill=kill, repeat=repeat)
    store.scheduler = scheduler
    return store, scheduler, chance


@pytest.mark.randomised
@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_no_order_of_calls_loses_a_point_or_leaves_one_behind(round_number: int) -> None:
    each = INTERLEAVINGS // ROUNDS
    for seed in range(round_number * each, (round_number + 1) * each):
        store, scheduler, chance = stepped(seed)
        scheduler.run(jobs(store, chance, 2 + seed % 2, withdraw=0.0))
        store.scheduler = None
        check_nothing_else(store)


@pytest.mark.randomised
def test_documents_that_are_new_to_all_or_taken_out_lose_nothing() -> None:
    """What two leave behind who both saw no document before them has no head, and is cleared by the doctor."""
    behind = 0
    histories = tries(600, 3_000)
    for seed in range(histories):
        store, scheduler, chance = stepped(seed, known=seed % 3 > 0)
        scheduler.run(jobs(store, chance, 2 + seed % 2))
        store.scheduler = None
        before = store.count()
        doctor = Catalogue(store, "doctor")
        doctor.clear_strays(doctor.heads())
        behind += store.count() != before
        check_whole(store)
        assert store.count() == sum(head.points for head in doctor.heads().values())
    assert behind < 0.05 * histories


@pytest.mark.randomised
def test_calls_that_are_made_twice_because_their_answer_was_lost_lose_nothing() -> None:
    for seed in range(tries(400, 2_000)):
        store, scheduler, chance = stepped(seed, repeat=0.1)
        scheduler.run(jobs(store, chance, 3))


@pytest.mark.randomised
def test_what_writers_left_who_were_killed_is_cleared_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed, histories = 0, tries(300, 1_500)
    for seed in range(histories):
        store, scheduler, chance = stepped(seed, known=seed % 3 > 0, kill=0.03)
        scheduler.run(jobs(store, chance, 3))
        killed += scheduler.killed
        store.scheduler = None
        later = time.time() + 3600
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda later=later: later)
            doctor = Catalogue(store, "doctor")
            doctor.clear_strays(doctor.heads())
            doctor.publish([version(key, "text 9") for key in DOCUMENTS])
        check_whole(store)
        check_nothing_else(store)
    assert killed > histories // 3


@pytest.mark.randomised
def test_clearing_what_is_left_over_spares_what_is_being_written() -> None:
    for seed in range(tries(300, 1_500)):
        store, scheduler, chance = stepped(seed)
        doctor = Catalogue(store, "doctor")
        scheduler.run([*jobs(store, chance, 2), lambda d=doctor: d.clear_strays(d.heads())])  # type: ignore[misc]
        store.scheduler = None
        doctor.clear_strays(doctor.heads())
        check_whole(store)
        assert store.count() == sum(head.points for head in doctor.heads().values())


@pytest.mark.randomised
def test_a_writer_that_others_took_for_dead_publishes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine sleeps in the middle of a publication, another clears what it had written, it wakes up."""
    monkeypatch.setattr("loccit.index.shared.intents._ABANDONED", -1.0)
    again, histories = 0, tries(300, 1_500)
    for seed in range(histories):
        chance, store = random.Random(seed), SteppedStore()
        scheduler = Scheduler(chance, lambda: None)
        store.scheduler = scheduler
        slow, doctor = Catalogue(store, "slow"), Catalogue(store, "doctor")
        item, stored = version(DOCUMENTS[0], "text"), list[Publication]()
        scheduler.run(
            [
                lambda s=slow, i=item, out=stored: out.extend(s.publish([i])),  # type: ignore[misc]
                lambda d=doctor: d.clear_strays(d.heads()),  # type: ignore[misc]
            ]
        )
        store.scheduler = None
        again += stored[0].version != item.version
        assert content_of(stored[0].version) == content_of(item.version)
        check_whole(store)
        check_nothing_else(store)
    assert again > histories // 15


@pytest.fixture(scope="module")
def place() -> Iterator[PostgresPlace]:
    with running_server() as server:
        yield PostgresPlace(server)


def test_a_race_on_a_real_server(place: PostgresPlace) -> None:
    """Two machines publish different versions of two hundred documents, each in an order of its own."""
    keys = [document_key(f"{number}.md") for number in range(200)]
    with place.store("race") as store:
        store.drop()
        store.create(2)
        Catalogue(store, "before").publish([version(key, "old", 5) for key in keys])

        def run(name: str) -> None:
            order = random.Random(name).sample(keys, len(keys))
            catalogue = Catalogue(store, name)
            for start in range(0, len(order), 10):
                catalogue.publish([version(key, name, 5) for key in order[start : start + 10]])

        threads = [threading.Thread(target=run, args=(name,)) for name in ("ann", "bob", "carol")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_whole(store)
        check_nothing_else(store)
        assert store.count() == 5 * len(keys)
        store.drop()
