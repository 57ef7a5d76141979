"""The index over the vectors in PostgreSQL, which only large collections have."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.stores.providers.postgres_place import PostgresPlace, fresh, running_server
from tests.stores.providers.postgres_server import PostgresServer

from loccit.stores.providers import postgres_queries as postgres_search
from loccit.stores.providers import postgres_tables as postgres_index
from loccit.stores.providers.postgres import PostgresStore
from loccit.stores.shared.ids import document_key
from loccit.testing.places import make_point, random_units, unit


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def place(server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(server)


# -- the index over the vectors --------------------------------------------------------------------------------


def _indexed(place: PostgresPlace) -> list[object]:
    return [
        row[0]
        for row in place.server.execute(
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'many__vectors'"
        )
    ]


def _scans(place: PostgresPlace, store: PostgresStore) -> int:
    """Return how often the index over the vectors was used."""
    store.close()  # A session tells what it did at the latest when it ends.
    for _ in range(200):
        if not place.server.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'loccit'"):
            break
        time.sleep(0.01)
    (count,) = _indexed(place)
    assert isinstance(count, int)
    return count


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_index, "_LOOK_EVERY", 50)


def _never(*_: object) -> str:
    raise AssertionError("all points were compared")


def test_beyond_a_size_there_is_an_index_that_finds_all_that_is_asked_for(
    place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_units(3000, seed=3)
    points = [make_point(f"{at % 60}.md", at // 60, vector) for at, vector in enumerate(vectors)]
    with fresh(place, "many", options={"exact_below": 500, "ef_search": 40}) as store:
        store.upsert(points[:400])
        assert _indexed(place) == []
        for start in range(400, 3000, 100):
            store.upsert(points[start : start + 100])
        assert _scans(place, store) == 0
        query = unit(0.3, -0.2, 0.5, 0.1)
        scores = vectors @ query
        for limit in (10, 50, 1500, 2900):
            best = {points[at].id for at in np.argsort(-scores)[:limit]}
            with monkeypatch.context() as only_index:
                only_index.setattr(postgres_search.Searches, "_exact", _never)
                found = store.search(query, limit)
            assert len(found) == limit
            assert len(best & {hit.id for hit in found}) >= 0.98 * limit
            assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        used = _scans(place, store)
        assert used >= 4
        # Half of the documents, more than are compared one by one: through the index, and all fifty of fifty.
        half = [document_key(f"{number}.md") for number in range(30)]
        allowed = [at for at in range(3000) if at % 60 < 30]
        best = {points[at].id for at in sorted(allowed, key=lambda at: -scores[at])[:50]}
        with monkeypatch.context() as only_index:
            only_index.setattr(postgres_search.Searches, "_exact", _never)
            found = store.search(query, 50, half)
        assert len(found) == 50
        assert len(best & {hit.id for hit in found}) >= 49
        assert _scans(place, store) > used
        # A few documents: compared one by one, exactly.
        used = _scans(place, store)
        few = half[:3]
        found = store.search(query, 50, few)
        allowed = [at for at in range(3000) if at % 60 < 3]
        assert [hit.id for hit in found] == [
            points[at].id for at in sorted(allowed, key=lambda at: -scores[at])[:50]
        ]
        assert _scans(place, store) == used
        assert len(store.hybrid(query, ["nowhere"], (1, 0), 50)) == 50
        assert _scans(place, store) > used
        store.drop()


def test_a_filter_that_the_index_hardly_meets_loses_nothing(
    place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_search, "_PASSED", 1)
    monkeypatch.setattr(postgres_search, "_PASSED_FOR_ONE", 1)
    vectors = random_units(2000, seed=4)
    # The rare document is on the far side of where the query looks.
    vectors[:, 0] = np.abs(vectors[:, 0])
    vectors[::10, 0] *= -1
    points = [make_point("rare.md" if at % 10 == 0 else "b.md", at, v) for at, v in enumerate(vectors)]
    with fresh(place, "many", options={"exact_below": 100, "ef_search": 10}) as store:
        store.upsert(points)
        found = store.search(unit(1), 50, [document_key("rare.md")])
        assert len(found) == 50
        store.drop()


def test_a_broken_off_index_is_made_again(place: PostgresPlace) -> None:
    points = [make_point("a.md", at, vector) for at, vector in enumerate(random_units(300))]
    with fresh(place, "many", options={"exact_below": 200}) as store:
        store.upsert(points)
        place.server.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'many__vectors'::regclass"
        )
        with place.store("many", options={"exact_below": 200}) as another:
            assert len(another.search(unit(1), 50)) == 50
            another.upsert(points[:1])
        valid = place.server.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'many__vectors'::regclass"
        )
        assert valid == [(True,)]
        store.drop()


def test_many_who_write_make_one_index(place: PostgresPlace) -> None:
    points = [make_point(f"{at % 8}.md", at, vector) for at, vector in enumerate(random_units(2400))]
    with fresh(place, "many", options={"exact_below": 600}):
        stores = [place.store("many", options={"exact_below": 600}) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda at: stores[at % 4].upsert(points[at * 100 : at * 100 + 100]), range(24)))
        assert place.server.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'many__vectors'::regclass"
        ) == [(True,)]
        found = {hit.id for hit in stores[0].search(unit(1), 2000)}
        assert len(found) == 2000
        for store in stores:
            store.close()
