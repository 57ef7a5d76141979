"""Pinecone, against a double that speaks its REST interface to the vendor's client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.index.providers.pinecone_double import API_KEY, READER_KEY, PineconeDouble

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.providers.pinecone import (
    ENTRIES,
    POINTS,
    PineconeStore,
    batches,
    entry_records,
    point_record,
)
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, same, unit
from loccit.testing.stores import StoreConformance, all_entries, all_points, ids


class PineconePlace(Place):
    """The double, on a port of its own."""

    def __init__(self, double: PineconeDouble) -> None:
        self.double = double
        double.start()

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        values: dict[str, Any] = {"api_key": API_KEY, "connection_string": self.double.url, **changes}
        return DatabaseSettings(provider="pinecone", collection=collection, **values)

    def store(self, collection: str = "laws", **changes: Any) -> Store:
        # Who opens a store anew does so later than the last write by more than the service needs.
        self.double.settle()
        return super().store(collection, **changes)

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="pcsk_hunter2")

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def settle(self, store: Store) -> None:
        self.double.settle()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client try again as often as it does, only sooner."""
    monkeypatch.setattr("pinecone._internal.http_client._retry_sleep", lambda delay: time.sleep(delay / 20))


@pytest.fixture
def place() -> Iterator[PineconePlace]:
    place = PineconePlace(PineconeDouble())
    yield place
    place.double.stop()


@pytest.fixture
def store(place: PineconePlace) -> Iterator[Store]:
    with place.store() as store:
        store.create(DIMENSION)
        yield store


class TestPinecone(StoreConformance):
    """It does what every store does, some milliseconds later."""


# -- settings ------------------------------------------------------------------------------------------------


def test_an_index_in_the_open_is_refused_too(place: PineconePlace, store: Store) -> None:
    place.double.indexes["laws"]["host"] = "http://laws.example.com"
    with place.store() as other, pytest.raises(UsageError, match="unencrypted"):
        other.count()


def test_names_that_pinecone_does_not_take(place: PineconePlace) -> None:
    with place.store("my_laws") as store:
        store.create(DIMENSION)
        assert list(place.double.indexes) == ["my--laws"]
    with pytest.raises(UsageError, match="too long"):
        place.store("a" * 46)


def test_a_region_that_is_not_there_is_said(place: PineconePlace) -> None:
    with place.store(options={"region": "mars-1"}) as store, pytest.raises(StoreError, match="mars-1"):
        store.create(DIMENSION)


# -- what is there already -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"_sparse_values": {"type": "sparse_vector"}},
        {"_values": {"type": "dense_vector", "dimension": 8, "metric": "euclidean"}},
        {"body": {"type": "dense_vector", "dimension": 8, "metric": "cosine"}},
    ],
)
def test_an_index_of_another_kind_is_left_alone(place: PineconePlace, fields: dict[str, Any]) -> None:
    place.double.add("laws", {"fields": fields}, tags={"made-by": "loccit"})
    with place.store() as store:
        for use in (store.dimension, lambda: store.create(DIMENSION), store.drop):
            with pytest.raises(StoreSchemaError, match="laws"):
                use()
    assert "laws" in place.double.indexes


def test_an_index_with_other_things_in_it_is_left_alone(place: PineconePlace) -> None:
    field = {"type": "dense_vector", "dimension": DIMENSION, "metric": "cosine"}
    place.double.add("laws", {"fields": {"_values": field}})
    with place.store() as store:
        assert store.dimension() == DIMENSION
        place.double.data["laws"].write(
            "movies", lambda held: held.update(x={"id": "x", "values": [1.0] * 8})
        )
        place.double.settle()
        for use in (store.dimension, lambda: store.create(DIMENSION), store.drop):
            with pytest.raises(StoreSchemaError, match="movies"):
                use()
    assert "laws" in place.double.indexes


def test_a_protected_index_is_not_dropped(place: PineconePlace) -> None:
    with place.store(options={"deletion_protection": True}) as store:
        store.create(DIMENSION)
        with pytest.raises(StoreAccessError, match="protection"):
            store.drop()


def test_a_collection_that_is_gone_is_said(place: PineconePlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with place.store() as other:
        other.drop()
    with pytest.raises(StoreSchemaError, match="no collection laws"):
        store.upsert([make_point("a.md", 0, unit(1))])
    with pytest.raises(StoreSchemaError, match="no collection laws"):
        store.search(unit(1), 3)


def test_who_may_only_read_is_told(place: PineconePlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with place.store(api_key=READER_KEY) as reader:
        assert len(reader.search(unit(1), 3)) == 1
        with pytest.raises(StoreAccessError, match=r"pinecone.*api_key.*laws") as refused:
            reader.upsert([make_point("a.md", 0, unit(1))])
    assert READER_KEY not in str(refused.value)


# -- limits of the service -----------------------------------------------------------------------------------


def test_writes_keep_within_the_limits(place: PineconePlace, store: Store) -> None:
    points = [make_point("a.md", at, vector) for at, vector in enumerate(random_units(2_300))]
    store.upsert(points)
    store.upsert([make_point("b.md", at, unit(1), text="wort " * 5_000) for at in range(100)])
    place.settle(store)
    assert store.count() == 2_400
    place.double.seen.clear()
    store.delete([point.id for point in points])
    place.settle(store)
    assert len([request for request in place.double.seen if request.path[-1] == "delete"]) == 3
    assert store.count() == 100


def test_a_wide_vector_is_counted_too() -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 3072)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cut = list(batches(point_record(make_point("a.md", at, vector)) for at, vector in enumerate(vectors)))
    assert sum(len(batch) for batch in cut) == 300
    assert max(len(str(batch)) for batch in cut) < 2_000_000
    assert len(cut) < 10


def test_a_point_that_says_too_much_is_cut_short(place: PineconePlace, store: Store) -> None:
    long = make_point("a.md", 0, unit(1), terms="straße ☃ " * 4_000, text='"quoted" \n' * 9_000)
    store.upsert([long])
    place.settle(store)
    (found,) = store.fetch([long.id])
    assert same(found.vector, long.vector)
    assert found.text == ""
    assert len(found.terms) > 10_000
    assert long.terms.startswith(found.terms)


@pytest.mark.parametrize("character", ["\x01", "☃", "🏛", "a", '"'])
def test_the_longest_value_of_any_kind(place: PineconePlace, store: Store, character: str) -> None:
    value = character * MAX_VALUE
    store.put([Entry("part-1", "part", "doc1", value), Entry("part-2", "part", "doc1", "short")])
    place.settle(store)
    assert store.get(["part-1", "part-2"]) == {"part-1": value, "part-2": "short"}
    assert all_entries(store, "part", "doc1") == {"part-1": value, "part-2": "short"}
    store.remove(["part-1", "part-2"])
    place.settle(store)
    assert place.double.data["laws"].read(ENTRIES) == {}


def test_a_value_that_becomes_shorter(place: PineconePlace, store: Store) -> None:
    for value in ("☃" * MAX_VALUE, "short", "🏛" * 20_000):
        store.put([Entry("part-1", "part", "", value)])
        place.settle(store)
        assert store.get(["part-1"]) == {"part-1": value}
        assert all_entries(store, "part") == {"part-1": value}


def test_half_a_change_is_noticed(
    place: PineconePlace, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loccit.index.retry._FIRST_PAUSE", 0.001)
    store.put([Entry("part-1", "part", "", "☃" * 20_000)])
    place.settle(store)
    _, rest = entry_records(Entry("part-1", "part", "", "🏛" * 20_000), DIMENSION)
    place.double.data["laws"].write(ENTRIES, lambda held: held.update({rest[0]["id"]: rest[0]}))
    place.settle(store)
    with pytest.raises(StoreUnavailableError, match="being written"):
        store.get(["part-1"])
    with pytest.raises(StoreUnavailableError, match="being written"):
        all_entries(store, "part")


def test_a_question_for_many(place: PineconePlace, store: Store) -> None:
    point = make_point("a.md", 0, unit(1))
    store.upsert([point])
    place.settle(store)
    many = [f"{number:016x}" for number in range(PineconeStore.capabilities.max_filter - 1)]
    assert ids(store.search(unit(1), 50_000, [*many, point.document])) == [point.id]


def test_a_list_asks_for_no_vectors(place: PineconePlace, store: Store) -> None:
    point = make_point("a.md", 0, unit(1), text="Recht")
    store.upsert([point])
    place.settle(store)
    place.double.seen.clear()
    assert all_points(store)[point.id].document == point.document
    assert [request.path[-1] for request in place.double.seen] == ["list"]
    found = all_points(store, vectors=True)[point.id]
    assert (found.text, found.source_path, found.heading) == ("Recht", "a.md", "Part I > Scope")


def test_of_two_with_one_id_the_last_is_kept(place: PineconePlace, store: Store) -> None:
    old, new = make_point("a.md", 0, unit(1)), make_point("a.md", 0, unit(0, 1))
    store.upsert([old, *(make_point("b.md", at, unit(1)) for at in range(1_500)), new])
    place.settle(store)
    assert same(store.fetch([old.id])[0].vector, unit(0, 1))


def test_bad_points_are_said(store: Store) -> None:
    with pytest.raises(StoreError, match=r"pinecone.*dimension 3"):
        store.upsert([make_point("a.md", 0, np.ones(3, np.float32))])
    with pytest.raises(StoreError, match="non-zero"):
        store.upsert([make_point("a.md", 0, np.zeros(DIMENSION, np.float32))])


# -- trouble -------------------------------------------------------------------------------------------------


def test_what_is_written_is_seen_later(place: PineconePlace, store: Store) -> None:
    place.double.data["laws"]._delay = 3600
    store.upsert([make_point("a.md", 0, unit(1))])
    assert store.capabilities.eventual
    assert store.count() == 0
    assert place.double.data["laws"].read(POINTS) == {}


def test_too_many_requests_are_waited_for(place: PineconePlace, store: Store) -> None:
    place.double.failures = [429, 503]
    store.upsert([make_point("a.md", 0, unit(1))])
    place.settle(store)
    assert store.count() == 1
    place.double.failures = [429] * 8
    with pytest.raises(StoreUnavailableError, match=r"pinecone.*429"):
        store.count()
    place.double.failures = []


class TestPineconeLibrary(LibraryConformance):
    """A library in it does what every library does."""
