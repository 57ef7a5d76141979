"""Azure Cosmos DB for NoSQL, by Microsoft's own client, against a double of the service that speaks its protocol."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest
from tests.index.providers.cosmos_nosql_double import KEY
from tests.index.providers.cosmos_nosql_double_account import LARGEST, Container, RefusedError
from tests.index.providers.cosmos_nosql_double_query import BadQueryError, parse
from tests.index.providers.cosmos_nosql_place import CosmosPlace

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError, UsageError
from loccit.index.providers.cosmos_nosql import shard
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, make_point, random_units, unit
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


def sent(place: CosmosPlace, name: str) -> list[int]:
    """Return the sizes of what was posted to a container."""
    return [
        size
        for method, path, size in place.double.requests
        if method == "POST" and path.endswith(f"{name}/docs")
    ]


def test_a_document_goes_in_few_requests(place: CosmosPlace, store: Store) -> None:
    points = [
        make_point("a.md", at, vector, terms=f"word{at}") for at, vector in enumerate(random_units(250))
    ]
    place.double.requests.clear()
    store.upsert([points[0], *points])
    assert len(sent(place, "laws-points")) == 3
    place.double.requests.clear()
    store.delete([point.id for point in points])
    assert len(sent(place, "laws-points")) == 4
    assert store.count() == 0


def test_large_items_go_in_smaller_batches(place: CosmosPlace, store: Store) -> None:
    points = [make_point("a.md", at, unit(1), text="☃" * 50_000) for at in range(40)]
    place.double.requests.clear()
    store.upsert(points)
    sizes = sent(place, "laws-points")
    assert sum(sizes) > 6_000_000
    assert max(sizes) < LARGEST


def test_many_entries_go_in_few_requests(place: CosmosPlace, store: Store) -> None:
    place.double.requests.clear()
    store.put([Entry(f"part-{number:04}", "part", "", "x") for number in range(1_000)])
    assert len(sent(place, "laws-entries")) <= 32
    assert {shard(f"part-{number}") for number in range(1_000)} == {f"{shard:02}" for shard in range(32)}


def test_points_come_back_whole(store: Store) -> None:
    point = make_point("a.md", 0, random_units(1)[0], terms="c++ straße", text="bad \udc80 name")
    store.upsert([point])
    (found,) = store.fetch([point.id])
    assert (found.source_path, found.heading, found.language) == ("a.md", "Part I > Scope", "en")
    assert (found.file_type, found.terms, found.text) == ("markdown", "c++ straße", "bad � name")
    assert found.vector is not None and point.vector is not None
    assert np.array_equal(found.vector, point.vector)


def test_terms_are_not_analysed_again(store: Store) -> None:
    """The service stems, splits and drops words; none of that may happen to ours."""
    terms = ["the", "retention", "retent", "c++", "c", "1.5", "runs", "run", "Straße", "x" * 300]
    points = {term: make_point("a.md", at, unit(1), terms=term) for at, term in enumerate(terms)}
    store.upsert(list(points.values()))
    for term, point in points.items():
        assert [hit.id for hit in store.keyword([term], 20)] == [point.id]


def test_who_is_told_to_slow_down_does(place: CosmosPlace, store: Store) -> None:
    place.double.throttled = 3
    store.upsert([make_point("a.md", 0, unit(1))])
    assert place.double.throttled == 0
    assert store.count() == 1


def test_who_is_told_so_for_too_long_says_so(place: CosmosPlace, store: Store) -> None:
    place.double.throttled = 10_000
    with pytest.raises(StoreUnavailableError, match="throughput"):
        store.count()


def test_a_service_in_trouble_is_asked_again(place: CosmosPlace, store: Store) -> None:
    left = [2]

    def trouble(method: str, path: str) -> None:
        if path.rstrip("/").endswith("docs") and left[0]:
            left[0] -= 1
            raise RefusedError(503, "ServiceUnavailable", "The service is currently unavailable.")

    place.double.fault = trouble
    store.upsert([make_point("a.md", 0, unit(1))])
    assert left == [0]
    assert store.count() == 1


def test_a_key_that_may_not_write(place: CosmosPlace, store: Store) -> None:
    def forbid(method: str, path: str) -> None:
        raise RefusedError(403, "Forbidden", "The given request cannot be authorized: the key may only read.")

    place.double.fault = forbid
    with pytest.raises(StoreAccessError, match="read-only"):
        store.upsert([make_point("a.md", 0, unit(1))])


def test_answers_of_partitions_are_put_together(store: Store) -> None:
    vectors = random_units(400)
    points = [
        make_point(f"{at}.md", 0, vector, terms="apple " + "pear " * (at % 7))
        for at, vector in enumerate(vectors)
    ]
    store.upsert(points)
    best = [points[at].id for at in np.argsort(-(vectors @ unit(1)))]
    assert [hit.id for hit in store.search(unit(1), 400)] == best
    found = store.keyword(["apple"], 300)
    assert len({hit.id for hit in found}) == 300
    assert len(store.hybrid(unit(1), ["apple"], (0.5, 0.5), 250)) == 250
    assert [hit.id for hit in store.hybrid(unit(1), [], (0.5, 0.5), 3)] == best[:3]


def test_large_limits(store: Store) -> None:
    store.upsert(
        [make_point("a.md", at, vector, terms="apple") for at, vector in enumerate(random_units(1_600))]
    )
    assert len(store.search(unit(1), 1_500)) == 1_500
    assert len(store.keyword(["apple"], 2_500)) == 1_000


def test_exact_search_and_knobs(place: CosmosPlace) -> None:
    for options in (
        {"exact": True},
        {"search_list_multiplier": 20},
        {"vector_index": "quantizedFlat", "search_list_multiplier": 9},
    ):
        with place.store(options=options) as store:
            store.drop()
            store.create(DIMENSION)
            store.upsert([make_point("a.md", 0, unit(1), terms="apple")])
            assert len(store.search(unit(1), 5)) == 1
            assert len(store.hybrid(unit(1), ["apple"], (0.5, 0.5), 5)) == 1


def test_a_value_at_its_longest(store: Store) -> None:
    entries = [Entry(f"part-{number:03}", "part", "", "☃" * MAX_VALUE) for number in range(60)]
    store.put(entries)
    assert store.get(["part-059"]) == {"part-059": "☃" * MAX_VALUE}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM c ORDER BY c.id",
        "SELECT c.id FROM c ORDER BY VectorDistance(c.vector, [1])",
        "DELETE FROM c",
        "SELECT TOP 3 c.id FROM c",
    ],
)
def test_the_double_refuses_what_it_does_not_know(text: str) -> None:
    with pytest.raises(BadQueryError):
        parse(text, {})
