"""Azure Cosmos DB for MongoDB vCore, against a double that speaks its protocol to the real client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from bson.binary import Binary, BinaryVectorDtype
from pymongo.errors import AutoReconnect, OperationFailure
from tests.index.providers.mongo_double import MongoDouble
from tests.index.providers.mongo_double_cosmos import CosmosWarehouse
from tests.index.providers.mongo_place import MongoBehaviour, MongoPlace

from loccit.errors import StoreError, StoreSchemaError
from loccit.index.providers.cosmos_mongo import CosmosMongoStore
from loccit.index.registry import load_store
from loccit.index.shared.ids import document_key
from loccit.index.store import Entry
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, unit
from loccit.testing.stores import StoreConformance


@pytest.fixture(scope="module")
def mongo() -> Iterator[MongoPlace]:
    double = MongoDouble(CosmosWarehouse(), retryable_writes=False)
    yield MongoPlace("azure-cosmos-mongo", double)
    double.stop()


@pytest.fixture
def place(mongo: MongoPlace) -> Place:
    return mongo


class TestCosmosMongo(StoreConformance):
    """It does what every store does."""


class TestCosmosMongoBehaviour(MongoBehaviour):
    """It does what every provider with this protocol does."""


def last_search(mongo: MongoPlace) -> dict[str, Any]:
    """Return the last search that was sent."""
    found: dict[str, Any] = mongo.sent("aggregate")[-1]["pipeline"][0]["$search"]["cosmosSearch"]
    return found


@pytest.mark.parametrize("kind", ["hnsw", "diskann", "ivf"])
def test_every_kind_of_index(mongo: MongoPlace, kind: str) -> None:
    points = [make_point("a.md", at, unit(1, at / 50)) for at in range(100)]
    with mongo.store(options={"index": kind, "exact_below": 0}) as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert(points)
        assert [hit.id for hit in store.search(unit(1), 50)] == [point.id for point in points[:50]]
        knob = {"hnsw": "efSearch", "diskann": "lSearch"}.get(kind)
        assert last_search(mongo).get(knob or "nProbes") == (200 if knob else None)
        assert store.held().index_information().keys() >= {"loccit_vectors", "loccit_documents"}  # type: ignore[attr-defined]
    # Options that came later do not change what kind the index is.
    with mongo.store(options={"index": "ivf", "exact_below": 0}) as store:
        store.search(unit(1), 5)
        assert (last_search(mongo).keys() & {"efSearch", "lSearch"}) == ({knob} if knob else set())


def test_more_than_a_graph_gives_is_compared(mongo: MongoPlace) -> None:
    points = [make_point("a.md", at, unit(1, at / 500)) for at in range(1500)]
    with mongo.store(options={"exact_below": 0}) as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert(points)
        assert len(store.search(unit(1), 1000)) == 1000
        assert last_search(mongo)["efSearch"] == 1000
        assert len(store.search(unit(1), 1400)) == 1400
        assert last_search(mongo)["exact"] is True


def test_a_few_far_points_of_a_document_are_found(mongo: MongoPlace) -> None:
    near = [make_point("a.md", at, unit(1, at / 5000)) for at in range(1200)]
    far = [make_point("b.md", at, unit(-1, at / 10)) for at in range(3)]
    with mongo.store(options={"exact_below": 0}) as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([*near, *far])
        found = store.search(unit(1), 10, [document_key("b.md")])
        assert {hit.id for hit in found} == {point.id for point in far}


def test_a_small_cluster_has_no_hnsw() -> None:
    double = MongoDouble(CosmosWarehouse(small=True), retryable_writes=False)
    place = MongoPlace("azure-cosmos-mongo", double)
    try:
        with place.store() as store, pytest.raises(StoreError, match="option index"):
            store.create(DIMENSION)
        with place.store(options={"index": "ivf"}) as store:
            store.create(DIMENSION)
            assert store.dimension() == DIMENSION
    finally:
        double.stop()


def test_an_index_of_another_measure_is_refused(mongo: MongoPlace) -> None:
    with mongo.store("by-length") as store:
        store.drop()
        options = {"kind": "vector-ivf", "similarity": "L2", "dimensions": DIMENSION}
        index = {"name": "theirs", "key": {"vector": "cosmosSearch"}, "cosmosSearchOptions": options}
        store.link.handle().command({"createIndexes": "by-length", "indexes": [index]})  # type: ignore[attr-defined]
        with pytest.raises(StoreSchemaError, match="cosine"):
            store.create(DIMENSION)


@pytest.mark.parametrize("expected", [None, "before"])
def test_a_claim_whose_answer_was_lost_is_kept(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch, expected: str | None
) -> None:
    with mongo.store() as store:
        assert isinstance(store, CosmosMongoStore)
        store.drop()
        store.create(DIMENSION)
        if expected:
            store.put([Entry("task-1", "task", "", expected)])
        sent = store._swap
        lost: list[bool] = []

        def lose_the_first(entry: Entry, wanted: str | None) -> bool:
            done = sent(entry, wanted)
            if not lost:
                lost.append(done)
                raise AutoReconnect("connection closed")
            return done

        monkeypatch.setattr(store, "_swap", lose_the_first)
        assert store.swap(Entry("task-1", "task", "", "mine"), expected)
        assert lost == [True]
        assert not store.swap(Entry("task-1", "task", "", "yours"), expected)


_GOOD = {"path": "vector", "vector": [1.0] * DIMENSION, "k": 5}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({**_GOOD, "efSearch": 1001}, "less than or equal to 1000"),
        ({**_GOOD, "vector": [1.0]}, "expected 8 dimensions, not 1"),
        ({**_GOOD, "filter": {"text": "x"}}, "index for filter path 'text' was not found"),
        ({**_GOOD, "path": "text"}, "Similarity index was not found"),
        ({**_GOOD, "k": 0}, "positive integer"),
        ({**_GOOD, "vector": Binary.from_vector([1.0], BinaryVectorDtype.FLOAT32)}, "array of numbers"),
    ],
)
def test_the_double_refuses_what_the_service_does(
    mongo: MongoPlace, wanted: dict[str, Any], said: str
) -> None:
    with mongo.store("refusing") as store:
        store.create(DIMENSION)
        with pytest.raises(OperationFailure, match=said):
            store.held().aggregate([{"$search": {"cosmosSearch": wanted}}]).to_list()  # type: ignore[attr-defined]


def test_writes_that_repeat_themselves_are_refused_and_not_sent(mongo: MongoPlace) -> None:
    text = mongo.address(mongo.double.user, mongo.double.password)
    with mongo.store("refusing") as store:
        store.put([Entry("x", "meta", "", "1")])
    with (
        load_store(mongo.settings("refusing", connection_string=f"{text}?retryWrites=true")) as store,
        pytest.raises(StoreError, match="retryWrites"),
    ):
        store.put([Entry("x", "meta", "", "2")])


class TestCosmosMongoLibrary(LibraryConformance):
    """A library in it does what every library does."""
