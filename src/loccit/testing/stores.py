"""What every store must do the same, whatever database is behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from loccit.errors import StoreAccessError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import PointId, document_key
from loccit.index.store import MAX_VALUE, Entry, Point, Store
from loccit.testing.places import DIMENSION, Place, make_point, random_units, same, unit

TEXTS = {
    "a.md": ("data subject right eras", unit(1, 0.1)),
    "b.md": ("retent period record", unit(0.2, 1)),
    "c.md": ("löschung straße 数据 ☃", unit(0, 0, 1)),
}


def ids(found: object) -> list[str]:
    """Return the ids of hits or points, in their order."""
    return [str(item.id) for item in found]  # type: ignore[attr-defined]


def all_points(store: Store, document: str | None = None, *, vectors: bool = False) -> dict[str, Point]:
    """Return what a scan gives, by id; an id that comes twice is an error."""
    found: dict[str, Point] = {}
    for batch in store.points(document, vectors=vectors):
        for point in batch:
            assert point.id not in found
            found[point.id] = point
    return found


def all_entries(store: Store, kind: str, group: str | None = None) -> dict[str, str]:
    """Return the entries that a scan gives, by key."""
    return {entry.key: entry.value for batch in store.entries(kind, group) for entry in batch}


class StoreConformance:
    """Subclass this in a provider's test module, and give it a fixture ``place``."""

    @pytest.fixture
    def store(self, place: Place) -> Iterator[Store]:
        store = place.store()
        store.drop()
        store.create(DIMENSION)
        yield store
        store.close()

    def filled(self, place: Place, store: Store) -> dict[str, Point]:
        """Put three documents in."""
        points = {path: make_point(path, 0, vector, terms=terms) for path, (terms, vector) in TEXTS.items()}
        store.upsert(list(points.values()))
        place.settle(store)
        return points

    # -- the collection --------------------------------------------------------------------------------------

    def test_a_collection_is_made_once(self, place: Place, store: Store) -> None:
        assert store.dimension() == DIMENSION
        self.filled(place, store)
        store.create(DIMENSION)
        assert store.dimension() == DIMENSION
        assert store.count() == 3

    def test_another_dimension_is_refused(self, place: Place, store: Store) -> None:
        with pytest.raises(StoreSchemaError, match=rf"{DIMENSION}\b.*{DIMENSION + 4}\b"):
            store.create(DIMENSION + 4)
        assert store.dimension() == DIMENSION

    def test_there_is_nothing_before_it_is_made(self, place: Place) -> None:
        with place.store("empty-one") as store:
            store.drop()
            assert store.dimension() is None
            store.drop()

    def test_collections_are_apart(self, place: Place, store: Store) -> None:
        self.filled(place, store)
        with place.store("other-laws") as other:
            other.drop()
            other.create(DIMENSION)
            assert other.count() == 0
            assert all_points(other) == {}
            other.put([Entry("meta-x", "meta", "", "1")])
            assert store.get(["meta-x"]) == {}
            other.drop()
        assert store.count() == 3

    def test_two_create_it_at_once(self, place: Place) -> None:
        stores = [place.store("both-laws") for _ in range(2)]
        stores[0].drop()
        threads = [threading.Thread(target=store.create, args=(DIMENSION,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stores[0].upsert([make_point("a.md", 0, unit(1))])
        place.settle(stores[0])
        assert [store.dimension() for store in stores] == [DIMENSION] * 2
        assert stores[1].count() == 1
        stores[0].drop()
        for store in stores:
            store.close()

    def test_an_unknown_option_is_refused(self, place: Place) -> None:
        with pytest.raises(UsageError, match="no_such_option"):
            place.store(options={**place.settings().options, "no_such_option": 1})

    # -- points ----------------------------------------------------------------------------------------------

    def test_what_is_stored_comes_back(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        wanted = points["c.md"]
        (found,) = store.fetch([wanted.id, make_point("none.md", 0, unit(1)).id])
        assert (found.id, found.document) == (wanted.id, wanted.document)
        assert same(found.vector, wanted.vector)
        assert store.fetch([]) == []

    def test_storing_twice_is_storing_once(self, place: Place, store: Store) -> None:
        self.filled(place, store)
        self.filled(place, store)
        assert store.count() == 3
        assert len(all_points(store)) == 3

    def test_a_point_is_replaced(self, place: Place, store: Store) -> None:
        point = make_point("a.md", 0, unit(1), terms="old")
        store.upsert([point])
        store.upsert([make_point("a.md", 0, unit(0, 1), terms="new")])
        place.settle(store)
        (found,) = store.fetch([point.id])
        assert same(found.vector, unit(0, 1))
        assert store.search(unit(0, 1), 5)[0].score == pytest.approx(1.0, abs=1e-4)

    def test_points_are_deleted(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        store.delete([points["a.md"].id, make_point("none.md", 3, unit(1)).id])
        store.delete([])
        place.settle(store)
        assert all_points(store).keys() == {points["b.md"].id, points["c.md"].id}
        assert store.count() == 2
        assert points["a.md"].id not in ids(store.search(unit(1), 10))

    def test_the_points_of_a_document(self, place: Place, store: Store) -> None:
        mine = [make_point("a.md", chunk, vector) for chunk, vector in enumerate(random_units(5))]
        store.upsert([*mine, make_point("b.md", 0, unit(1))])
        place.settle(store)
        found = all_points(store, document_key("a.md"), vectors=True)
        assert found.keys() == {point.id for point in mine}
        assert all(same(found[point.id].vector, point.vector) for point in mine)
        assert all_points(store, document_key("none.md")) == {}

    def test_scores_are_cosines_best_first(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        found = store.search(unit(1), 10)
        assert ids(found) == [points[path].id for path in ("a.md", "b.md", "c.md")]
        expected = [float(unit(1) @ vector) for _, vector in TEXTS.values()]
        assert [hit.score for hit in found] == pytest.approx(expected, abs=1e-4)
        opposite = store.search(unit(-1), 10)
        assert opposite[-1].score == pytest.approx(-expected[0], abs=1e-4)

    def test_only_some_documents(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        wanted = [document_key("b.md"), document_key("c.md"), document_key("none.md")]
        assert ids(store.search(unit(1), 10, wanted)) == [points["b.md"].id, points["c.md"].id]
        assert ids(store.search(unit(1), 1, wanted)) == [points["b.md"].id]
        assert ids(store.search(unit(1), 10, [])) == []

    def test_an_empty_collection_finds_nothing(self, place: Place, store: Store) -> None:
        assert list(store.search(unit(1), 10)) == []
        assert store.count() == 0
        assert all_points(store) == {}

    def test_a_thousand_points(self, place: Place, store: Store) -> None:
        vectors = random_units(1000)
        points = [make_point(f"{at % 50}.md", at // 50, vector) for at, vector in enumerate(vectors)]
        store.upsert(points)
        place.settle(store)
        assert store.count() == 1000
        found = all_points(store, vectors=True)
        assert found.keys() == {point.id for point in points}
        query = unit(0.3, -0.2, 0.5, 0.1)
        best = [points[at].id for at in np.argsort(-(vectors @ query))[:600]]
        for limit in (10, 500):
            hits = ids(store.search(query, limit))
            assert len(hits) == limit
            assert len(set(hits) & set(best[:limit])) >= 0.98 * limit
        some = [document_key(f"{number}.md") for number in range(25)]
        hits = ids(store.search(query, 400, some))
        assert len(hits) == 400
        assert {PointId.parse(hit).document for hit in hits} <= set(some)

    def test_its_own_keyword_search(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        if not store.capabilities.keyword:
            pytest.skip("the database has no keyword search")
        assert ids(store.keyword(["record", "period"], 10)) == [points["b.md"].id]
        assert ids(store.keyword(["straße"], 10)) == [points["c.md"].id]
        assert ids(store.keyword(["数据"], 10)) == [points["c.md"].id]
        found = store.keyword(["right", "record"], 10)
        assert set(ids(found)) == {points["a.md"].id, points["b.md"].id}
        assert all(hit.score > 0 for hit in found)
        assert ids(store.keyword(["right", "record"], 10, [document_key("b.md")])) == [points["b.md"].id]
        assert list(store.keyword(["nowhere"], 10)) == []
        assert list(store.keyword(["' OR 1=1 --", "a:b AND (", "\\"], 10)) == []
        assert list(store.keyword([], 10)) == []

    def test_more_of_the_words_is_better(self, place: Place, store: Store) -> None:
        if not store.capabilities.keyword:
            pytest.skip("the database has no keyword search")
        both = make_point("a.md", 0, unit(1), terms="apple pear plum plum fig quince melon")
        one = make_point("b.md", 0, unit(1), terms="apple kiwi plum plum fig quince melon")
        store.upsert(
            [one, both, *(make_point("c.md", at, unit(1), terms="plum fig kiwi") for at in range(20))]
        )
        place.settle(store)
        assert ids(store.keyword(["apple", "pear"], 10)) == [both.id, one.id]

    def test_its_own_fusion(self, place: Place, store: Store) -> None:
        points = self.filled(place, store)
        if not store.capabilities.hybrid:
            pytest.skip("the database has no fusion of its own")
        meant = store.hybrid(unit(1), ["retent"], (0.99, 0.01), 10)
        worded = store.hybrid(unit(1), ["retent"], (0.01, 0.99), 10)
        assert ids(meant)[0] == points["a.md"].id
        assert ids(worded)[0] == points["b.md"].id
        assert ids(store.hybrid(unit(1), ["retent"], (0.9, 0.1), 10, [document_key("c.md")])) == [
            points["c.md"].id
        ]

    # -- entries ---------------------------------------------------------------------------------------------

    def test_entries_come_back(self, place: Place, store: Store) -> None:
        long = "é☃\"'\\\n" * (MAX_VALUE // 8)
        entries = [
            Entry("head-1", "head", "doc1", '{"a": 1}'),
            Entry("part-1", "part", "doc1", long),
            Entry("part-2", "part", "doc2", ""),
        ]
        store.put(entries)
        store.put(entries[:1])
        place.settle(store)
        assert store.get(["part-1", "head-1", "part-2", "none"]) == {
            "head-1": '{"a": 1}',
            "part-1": long,
            "part-2": "",
        }
        assert store.get([]) == {}
        assert all_entries(store, "part") == {"part-1": long, "part-2": ""}
        assert all_entries(store, "part", "doc2") == {"part-2": ""}
        assert all_entries(store, "none") == {}
        store.put([Entry("head-1", "head", "doc1", "changed")])
        store.remove(["part-1", "none"])
        store.remove([])
        place.settle(store)
        assert all_entries(store, "head") == {"head-1": "changed"}
        assert store.get(["part-1"]) == {}
        assert store.count() == 0

    def test_many_entries(self, place: Place, store: Store) -> None:
        wanted = {f"head-{number:04}": f"value {number}" for number in range(1200)}
        store.put([Entry(key, "head", key[-2:], value) for key, value in wanted.items()])
        place.settle(store)
        assert all_entries(store, "head") == wanted
        assert store.get(list(wanted)) == wanted
        store.remove(list(wanted))
        place.settle(store)
        assert all_entries(store, "head") == {}

    def test_swap_is_for_one_only(self, place: Place, store: Store) -> None:
        if not store.capabilities.claims:
            pytest.skip("the database cannot compare and set")
        first, second = Entry("task-1", "task", "", "ann"), Entry("task-1", "task", "", "bob")
        assert store.swap(first, None)
        assert not store.swap(second, None)
        assert not store.swap(second, "carol")
        assert store.swap(second, "ann")
        assert store.get(["task-1"]) == {"task-1": "bob"}

    def test_of_many_who_swap_one_wins(self, place: Place, store: Store) -> None:
        if not store.capabilities.claims:
            pytest.skip("the database cannot compare and set")
        for round_number in range(3):
            key = f"task-{round_number}"
            won: list[str] = []

            def claim(name: str, key: str = key, won: list[str] = won) -> None:
                if store.swap(Entry(key, "task", "", name), None):
                    won.append(name)

            threads = [threading.Thread(target=claim, args=(f"worker{number}",)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [store.get([key])[key]] == won

    # -- trouble ---------------------------------------------------------------------------------------------

    def test_a_new_store_sees_what_is_there(self, place: Place, store: Store) -> None:
        if not place.persistent:
            pytest.skip("nothing is kept")
        points = self.filled(place, store)
        store.put([Entry("meta-x", "meta", "", "1")])
        place.settle(store)
        store.close()
        with place.store() as again:
            assert again.dimension() == DIMENSION
            assert again.count() == 3
            assert ids(again.search(unit(1), 1)) == [points["a.md"].id]
            assert again.get(["meta-x"]) == {"meta-x": "1"}

    def test_wrong_credentials_are_said(
        self, place: Place, store: Store, caplog: pytest.LogCaptureFixture
    ) -> None:
        if not place.guarded:
            pytest.skip("nobody is asked who they are")
        caplog.set_level("DEBUG")
        settings = place.wrong()
        with pytest.raises(StoreAccessError, match=settings.provider) as refused:
            load_store(settings).dimension()
        self.keeps_secrets(settings, str(refused.value), repr(settings), caplog.text)

    def test_gone_and_back(self, place: Place, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        if not place.stoppable:
            pytest.skip("it is no server")
        caplog.set_level("DEBUG")
        points = self.filled(place, store)
        place.stop()
        try:
            with pytest.raises(StoreUnavailableError, match=store.provider) as gone:
                store.search(unit(1), 1)
            with pytest.raises(StoreUnavailableError, match=store.provider):
                store.upsert([make_point("d.md", 0, unit(1))])
        finally:
            place.start()
        assert ids(store.search(unit(1), 1)) == [points["a.md"].id]
        assert store.count() == 3
        self.keeps_secrets(place.settings(), str(gone.value), store.describe(), caplog.text)

    def keeps_secrets(self, settings: DatabaseSettings, *told: str) -> None:
        """See that no message repeats a key or a password."""
        secrets = {settings.api_key, "hunter2"} - {""}
        assert not [secret for secret in secrets for text in told if secret in text]
