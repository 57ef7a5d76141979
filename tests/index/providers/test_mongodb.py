"""MongoDB, against a double that speaks its protocol to the real client."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pymongo.errors import OperationFailure
from tests.index.providers.mongo_double import MongoDouble
from tests.index.providers.mongo_double_atlas import AtlasWarehouse
from tests.index.providers.mongo_place import MongoBehaviour, MongoPlace

from loccit.errors import StoreError, StoreSchemaError, StoreUnavailableError
from loccit.index.shared.ids import document_key
from loccit.index.store import Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, unit
from loccit.testing.stores import StoreConformance, ids


@pytest.fixture(scope="module")
def mongo() -> Iterator[MongoPlace]:
    double = MongoDouble(AtlasWarehouse())
    yield MongoPlace("mongodb", double)
    double.stop()


@pytest.fixture
def place(mongo: MongoPlace) -> Place:
    return mongo


class TestMongo(StoreConformance):
    """It does what every store does."""

    def test_its_own_fusion(self, place: Place, store: Store) -> None:
        # Reciprocal ranks, whose constant the server fixes at 60, lie close together: what both searches find beats
        # what one finds, unless that one weighs nearly everything.
        points = self.filled(place, store)
        meant = store.hybrid(unit(1), ["retent"], (0.99, 0.01), 10)
        worded = store.hybrid(unit(1), ["retent"], (0.01, 0.99), 10)
        assert ids(meant)[0] == points["a.md"].id
        assert ids(worded)[0] == points["b.md"].id
        chosen = store.hybrid(unit(1), ["retent"], (0.99, 0.01), 10, [document_key("c.md")])
        assert ids(chosen) == [points["c.md"].id]


class TestMongoBehaviour(MongoBehaviour):
    """It does what every provider with this protocol does."""


def test_searches_are_behind_and_queries_are_not(mongo: MongoPlace) -> None:
    double = MongoDouble(AtlasWarehouse(lag=60))
    try:
        with MongoPlace("mongodb", double).store() as store:
            store.create(DIMENSION)
            store.upsert([make_point("a.md", 0, unit(1), terms="word")])
            assert store.count() == 1
            assert list(store.search(unit(1), 5)) == []
            assert list(store.keyword(["word"], 5)) == []
    finally:
        double.stop()


def test_a_new_index_is_waited_for_only_so_long() -> None:
    double = MongoDouble(AtlasWarehouse(building=60))
    try:
        with MongoPlace("mongodb", double).store(options={"ready_timeout": 0.2}) as store:
            with pytest.raises(StoreUnavailableError, match="ready_timeout"):
                store.create(DIMENSION)
            with pytest.raises(StoreUnavailableError, match="still being built"):
                store.search(unit(1), 1)
    finally:
        double.stop()


def test_an_index_that_is_gone_is_not_an_empty_library(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        mongo.settle(store)
        assert len(store.search(unit(1), 5)) == 1
        store.held().drop_search_index("loccit_vectors")  # type: ignore[attr-defined]
        store.search(unit(1), 5)
        with pytest.raises(StoreSchemaError, match="loccit_vectors"):
            store.search(unit(1), 5)


def test_a_search_index_of_others_is_refused(mongo: MongoPlace) -> None:
    with mongo.store("odd-index") as store:
        store.drop()
        store.put([Entry("x", "meta", "", "1")])
        link = store.link  # type: ignore[attr-defined]
        link.handle().create_collection("odd-index")
        link.handle()["odd-index"].create_search_index(
            {"name": "loccit_vectors", "type": "search", "definition": {"mappings": {"dynamic": False}}}
        )
        with pytest.raises(StoreSchemaError, match="loccit_vectors"):
            store.create(DIMENSION)


def test_the_word_index_is_made_when_it_is_wanted(mongo: MongoPlace) -> None:
    def names(collection: str) -> set[str]:
        with mongo.store(collection) as store:
            return {index["name"] for index in store.held().list_search_indexes()}  # type: ignore[attr-defined]

    for collection, native in (("no-words", "none"), ("with-words", "keyword")):
        with mongo.store(collection, native=native) as store:
            store.drop()
            store.create(DIMENSION)
    assert names("no-words") == {"loccit_vectors"}
    assert names("with-words") == {"loccit_vectors", "loccit_words"}
    with mongo.store("no-words") as store:
        store.upsert([make_point("a.md", 0, unit(1), terms="word")])
        mongo.settle(store)
        assert len(store.keyword(["word"], 5)) == 1
    assert names("no-words") == {"loccit_vectors", "loccit_words"}


def test_fusion_needs_a_server_that_has_it() -> None:
    double = MongoDouble(AtlasWarehouse(fusion=False))
    try:
        with MongoPlace("mongodb", double).store() as store:
            store.create(DIMENSION)
            with pytest.raises(StoreError, match="native"):
                store.hybrid(unit(1), ["word"], (0.5, 0.5), 5)
    finally:
        double.stop()


def test_fused_scores_are_weighted_reciprocal_ranks(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        near, worded = make_point("a.md", 0, unit(1)), make_point("b.md", 0, unit(0, 1), terms="word")
        store.upsert([near, worded])
        mongo.settle(store)
        found = {hit.id: hit.score for hit in store.hybrid(unit(1), ["word"], (0.7, 0.3), 5)}
        assert found[near.id] == pytest.approx(0.7 / 61)
        assert found[worded.id] == pytest.approx(0.7 / 62 + 0.3 / 61)
        assert [hit.id for hit in store.hybrid(unit(1), [], (0.7, 0.3), 1)] == [near.id]
        assert list(store.hybrid(unit(1), ["word"], (0.7, 0.3), 5, [])) == []


def test_how_many_candidates_are_looked_at(mongo: MongoPlace) -> None:
    with mongo.store(options={"exact_below": 0}) as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        for limit, candidates in ((1, 200), (50, 1000), (2500, 10_000), (20_000, 10_000)):
            store.search(unit(1), limit, [document_key("a.md")])
            stage = mongo.sent("aggregate")[-1]["pipeline"][0]["$vectorSearch"]
            assert (stage["numCandidates"], stage["limit"]) == (candidates, min(limit, 10_000))
            assert stage["filter"] == {"document": {"$in": [document_key("a.md")]}}


def test_answers_are_ids_and_scores_in_one_batch(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([make_point("a.md", at, unit(1, at)) for at in range(600)])
        mongo.settle(store)
        before = len(mongo.sent("getMore"))
        assert len(store.search(unit(1), 600)) == 600
        assert len(mongo.sent("getMore")) == before
        assert mongo.sent("aggregate")[-1]["pipeline"][-1]["$project"].keys() == {"_id", "score"}


def test_vectors_are_four_bytes_a_number(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        (kept,) = store.held().find({})  # type: ignore[attr-defined]
        assert kept["vector"].subtype == 9
        assert len(kept["vector"]) == 2 + 4 * DIMENSION


def test_many_words_are_one_query_that_the_service_takes(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        store.keyword([f"w{number}" for number in range(3000)] * 2, 5)
        stage = mongo.sent("aggregate")[-1]["pipeline"][0]["$search"]
        assert len(stage["text"]["query"].split()) == 1000


def test_a_lost_answer_to_a_write_is_no_second_write(mongo: MongoPlace) -> None:
    with mongo.store() as store:
        store.drop()
        store.create(DIMENSION)
        store.swap(Entry("task-1", "task", "", "ann"), None)
        insert = mongo.sent("insert")[-1]
        again = mongo.double._once("insert", insert)
        assert again["n"] == 1
        assert "writeErrors" not in again


_QUERY = [1.0] * DIMENSION
_GOOD = {"index": "loccit_vectors", "path": "vector", "queryVector": _QUERY, "limit": 5}


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ({"$vectorSearch": {**_GOOD, "numCandidates": 10_001}}, "numCandidates"),
        ({"$vectorSearch": {**_GOOD, "numCandidates": 4}}, "limit"),
        ({"$vectorSearch": _GOOD}, "numCandidates"),
        (
            {"$vectorSearch": {**_GOOD, "exact": True, "queryVector": [1.0]}},
            "8 dimensions but queried with 1",
        ),
        ({"$vectorSearch": {**_GOOD, "exact": True, "filter": {"text": "x"}}}, "indexed as filter"),
        ({"$vectorSearch": {**_GOOD, "exact": True, "filter": {"document": {"$in": []}}}}, "cannot be empty"),
        ({"$vectorSearch": {**_GOOD, "exact": True, "k": 5}}, "unrecognized field"),
        ({"$search": {"index": "loccit_words", "text": {"query": "", "path": "terms"}}}, "cannot be empty"),
        ({"$rankFusion": {"input": {"pipelines": {"a": [{"$match": {}}]}}}}, "ranked"),
        ({"$nowhere": {}}, "Unrecognized pipeline stage"),
    ],
)
def test_the_double_refuses_what_the_service_does(
    mongo: MongoPlace, stage: dict[str, object], said: str
) -> None:
    with mongo.store("refusing", native="keyword") as store:
        store.create(DIMENSION)
        with pytest.raises(OperationFailure, match=said):
            store.held().aggregate([stage]).to_list()  # type: ignore[attr-defined]


def test_a_search_of_other_dimensions_is_said(mongo: MongoPlace) -> None:
    with mongo.store("refusing") as store:
        store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match="8 dimensions"):
            store.search(np.ones(3, np.float32), 5)


class TestMongoLibrary(LibraryConformance):
    """A library in it does what every library does."""
