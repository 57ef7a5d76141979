"""Azure Cosmos DB for NoSQL, by Microsoft's own client, against a double of the service that speaks its protocol."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest
from tests.stores.providers.cosmos_nosql_double import KEY
from tests.stores.providers.cosmos_nosql_double_account import Container
from tests.stores.providers.cosmos_nosql_place import CosmosPlace

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.stores.registry import load_store
from loccit.stores.settings import DatabaseSettings
from loccit.stores.store import Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, make_point, unit
from loccit.testing.stores import StoreConformance


@pytest.fixture
def place() -> Iterator[CosmosPlace]:
    place = CosmosPlace()
    yield place
    place.stop()


@pytest.fixture
def store(place: CosmosPlace) -> Iterator[Store]:
    with place.store() as store:
        store.create(DIMENSION)
        yield store


class TestCosmosNoSql(StoreConformance):
    """It does what every store does."""


# -- where it is ---------------------------------------------------------------------------------------------------


def test_the_key_may_come_apart(place: CosmosPlace) -> None:
    address = f"http://127.0.0.1:{place.double.port}/"
    with load_store(place.settings(connection_string=address, api_key=KEY)) as store:
        assert store.dimension() is None


def test_certificates_are_looked_at() -> None:
    text = f"AccountEndpoint=https://ann.documents.azure.com:443/;AccountKey={KEY};"
    settings = DatabaseSettings("azure-cosmos-nosql", text, options={"verify": False})
    with pytest.raises(UsageError, match="verify"):
        load_store(settings)


def test_nothing_secret_is_said(place: CosmosPlace, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store = place.store()
    store.create(DIMENSION)
    place.stop()
    with pytest.raises(StoreUnavailableError) as gone:
        store.count()
    for text in (str(gone.value), repr(gone.value), caplog.text, store.describe(), repr(place.settings())):
        assert KEY not in text
    place.start()
    with pytest.raises(StoreAccessError) as refused:
        load_store(place.wrong()).dimension()
    assert "x-ms-date" not in str(refused.value) and "payload to sign" not in str(refused.value)


# -- what is there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "most"), [("flat", 505), ("diskANN", 4096)])
def test_too_long_vectors_are_refused(place: CosmosPlace, index: str, most: int) -> None:
    with place.store(options={"vector_index": index}) as store:
        with pytest.raises(StoreError, match=f"{most:,}"):
            store.create(most + 1)
        store.create(most)
        assert store.dimension() == most


def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    with pytest.raises(StoreSchemaError, match="8 numbers, and the model makes 3"):
        store.upsert([make_point("a.md", 0, unit(1)), make_point("a.md", 1, np.ones(3, np.float32))])
    assert store.count() == 0


@pytest.mark.parametrize("name", ["laws-points", "laws-entries"])
def test_a_container_of_somebody_else_is_left_alone(place: CosmosPlace, name: str) -> None:
    theirs = Container({"id": name, "partitionKey": {"paths": ["/customer"], "kind": "Hash"}}, features=set())
    place.double.account.databases["loccit"] = {name: theirs}
    with place.store() as store:
        with pytest.raises(StoreSchemaError, match=name):
            store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match=name):
            store.drop()
    assert place.container(name) is theirs


def test_a_container_without_our_vectors(place: CosmosPlace) -> None:
    theirs = Container({"id": "laws-points", "partitionKey": {"paths": ["/document"]}}, features=set())
    place.double.account.databases["loccit"] = {"laws-points": theirs}
    with place.store() as store, pytest.raises(StoreSchemaError, match="laws-points"):
        store.dimension()


def test_containers_that_were_dropped_meanwhile(place: CosmosPlace, store: Store) -> None:
    place.store().drop()
    for call in (store.count, lambda: store.search(unit(1), 1), lambda: store.get(["a"])):
        with pytest.raises(StoreSchemaError, match="is missing a container"):
            call()
    with pytest.raises(StoreSchemaError, match="is missing a container"):
        store.upsert([make_point("a.md", 0, unit(1))])
    with pytest.raises(StoreSchemaError, match="is missing a container"):
        store.swap(Entry("task-1", "task", "", "ann"), "bob")


def test_containers_that_were_made_anew_meanwhile(place: CosmosPlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with place.store() as other:
        other.drop()
        other.create(DIMENSION)
    store.upsert([make_point("b.md", 0, unit(1))])
    assert store.count() == 1


def test_an_account_without_vector_search(place: CosmosPlace) -> None:
    place.double.account.features = set()
    with place.store(native="none") as store, pytest.raises(StoreError, match="EnableNoSQLVectorSearch"):
        store.create(DIMENSION)


def test_an_account_without_full_text_search(place: CosmosPlace) -> None:
    place.double.account.features = {"vector"}
    with place.store() as store, pytest.raises(StoreError, match="native"):
        store.create(DIMENSION)
    with place.store(native="none") as store:
        store.create(DIMENSION)
        with pytest.raises(StoreError, match="native"):
            store.keyword(["word"], 10)


def test_words_are_indexed_when_they_are_asked_for(place: CosmosPlace) -> None:
    point = make_point("a.md", 0, unit(1), terms="word")
    with place.store(native="none") as store:
        store.create(DIMENSION)
        store.upsert([point])
        assert "fullTextIndexes" not in place.container("laws-points").definition["indexingPolicy"]
    with place.store(native="keyword") as store:
        store.create(DIMENSION)
        assert [hit.id for hit in store.keyword(["word"], 10)] == [point.id]
        assert store.dimension() == DIMENSION


def test_only_what_is_looked_for_is_indexed(place: CosmosPlace, store: Store) -> None:
    policy = place.container("laws-points").definition["indexingPolicy"]
    assert [path["path"] for path in policy["includedPaths"]] == ["/document/?"]
    assert policy["vectorIndexes"] == [{"path": "/vector", "type": "diskANN"}]


class TestCosmosNoSqlLibrary(LibraryConformance):
    """A library in it does what every library does."""
