"""The Azure AI Search store, against a double that speaks the service's REST to the vendor's client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.index.providers.azure_search_double import KEY, MAX_BYTES, QUERY_KEY, AzureSearchDouble
from tests.index.providers.azure_search_double_index import Index
from tests.index.providers.weaviate_azure_http import Answer, HttpDouble

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
)
from loccit.index.providers.azure_search import index_names, query_words
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import document_key
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, unit
from loccit.testing.stores import StoreConformance, all_entries, all_points, ids

SEARCH, WRITE = "/docs/search.post.search", "/docs/search.index"


class AzureSearchPlace(Place):
    """A double of the service."""

    def __init__(self) -> None:
        self.double = AzureSearchDouble()

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        values: dict[str, Any] = {
            "provider": "azure-ai-search",
            "connection_string": self.double.url,
            "api_key": KEY,
            **changes,
        }
        return DatabaseSettings(collection=collection, **values)

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="hunter2")

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def settle(self, store: Store) -> None:
        self.double.settle()

    def store(self, collection: str = "laws", **changes: Any) -> Store:
        """Return a store of a service at rest, as another process would find it later."""
        self.double.settle()
        return super().store(collection, **changes)

    def asked(self, path: str) -> list[Any]:
        """Return what the double was asked on a path."""
        return [body for asked, body in self.double.requests if asked == path]


@pytest.fixture(scope="module")
def place() -> Iterator[AzureSearchPlace]:
    place = AzureSearchPlace()
    yield place
    place.double.stop()


@pytest.fixture
def store(place: AzureSearchPlace) -> Iterator[Store]:
    store = place.store()
    store.drop()
    store.create(DIMENSION)
    place.double.requests.clear()
    yield store
    store.close()


class TestAzureSearch(StoreConformance):
    """It does what every store does."""


def test_names_have_no_underscores_and_stay_apart() -> None:
    names = [index_names(name)[0] for name in ("a-b-c", "a_b-c", "a-b_c", "a_b_c", "abc", "a-b-c-points-u1")]
    assert len(set(names)) == len(names)
    assert all("_" not in name and len(name) <= 128 for name in names)
    assert index_names("x" + "_y" * 23)[0].endswith("-points-u7fffff")


def test_what_is_written_is_found_later(place: AzureSearchPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service says so, the capabilities say so, and the double does so."""
    monkeypatch.setattr(place.double, "delay", 3600.0)
    with place.store("slow-laws") as store:
        assert store.capabilities.eventual
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        assert (store.count(), list(store.search(unit(1), 5))) == (0, [])
        place.settle(store)
        assert (store.count(), len(store.search(unit(1), 5))) == (1, 1)
        store.drop()


def test_underscores_work(place: AzureSearchPlace) -> None:
    with place.store("tax_laws") as store:
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
        place.settle(store)
        assert store.count() == 1
        store.drop()


def test_a_vector_of_another_length(store: Store) -> None:
    short = np.ones(3, np.float32)
    with pytest.raises(StoreSchemaError, match="length of '3'"):
        store.upsert([make_point("a.md", 0, short)])
    with pytest.raises(StoreSchemaError, match="length of 3"):
        store.search(short, 5)


@pytest.mark.parametrize("which", [0, 1])
def test_an_index_of_others_is_left_alone(place: AzureSearchPlace, which: int) -> None:
    name = index_names("foreign")[which]
    field = {"name": "sku", "type": "Edm.String", "key": True}
    place.double.indexes[name] = Index({"name": name, "fields": [field]}, 0.0)
    with place.store("foreign") as store:
        with pytest.raises(StoreSchemaError, match=name):
            store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match=name):
            store.drop()
    assert name in place.double.indexes
    for left in index_names("foreign"):
        place.double.indexes.pop(left, None)


def test_a_query_key_may_only_search(place: AzureSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    place.settle(store)
    with load_store(place.settings(api_key=QUERY_KEY)) as reader:
        assert len(reader.search(unit(1), 5)) == 1
        for refused in (
            reader.dimension,
            reader.drop,
            lambda: reader.upsert([make_point("b.md", 0, unit(1))]),
        ):
            with pytest.raises(StoreAccessError, match="admin key"):
                refused()


def test_what_passes_is_tried_again(place: AzureSearchPlace, store: Store) -> None:
    place.double.troubles[:] = [429, 503]
    store.upsert([make_point("a.md", 0, unit(1))])
    place.settle(store)
    place.double.troubles[:] = [503]
    assert store.count() == 1
    place.double.troubles[:] = [429] * 4
    with pytest.raises(StoreUnavailableError, match="429"):
        store.count()
    assert place.double.troubles == []


def test_a_part_of_a_batch_that_failed_is_sent_again(
    place: AzureSearchPlace, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = place.double.indexes[index_names("laws")[0]]
    write = index.write
    answers = [503, 200]

    def halfway(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        status = answers.pop(0)
        if status == 200:
            return write(actions)
        done = write(actions[:1])
        rest = [
            {"key": a["id"], "status": False, "errorMessage": "busy", "statusCode": status}
            for a in actions[1:]
        ]
        return done + rest

    monkeypatch.setattr(index, "write", halfway)
    store.upsert([make_point("a.md", at, unit(1)) for at in range(5)])
    place.settle(store)
    assert answers == []
    assert store.count() == 5
    answers[:] = [400]
    with pytest.raises(StoreError, match="busy"):
        store.upsert([make_point("b.md", at, unit(1)) for at in range(2)])


def test_batches_are_what_the_service_takes(place: AzureSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(2_500))])
    place.settle(store)
    assert [len(body["value"]) for body in place.asked(WRITE)] == [1000, 1000, 500]
    store.delete([point.id for batch in store.points() for point in batch])
    place.settle(store)
    assert store.count() == 0
    place.double.requests.clear()
    store.upsert([make_point("b.md", at, unit(1), text="☃" * 100_000) for at in range(60)])
    store.put([Entry(f"part-{at:03}", "part", "b", "é\n" * (MAX_VALUE // 2)) for at in range(250)])
    place.settle(store)
    sizes = [len(json.dumps(body, ensure_ascii=False).encode()) for body in place.asked(WRITE)]
    assert len(sizes) > 4
    assert max(sizes) < MAX_BYTES
    assert store.count() == 60
    assert len(all_entries(store, "part")) == 250


def test_more_than_a_page(place: AzureSearchPlace, store: Store) -> None:
    vectors = random_units(2_600)
    points = [make_point(f"{at}.md", 0, vector, terms="word") for at, vector in enumerate(vectors)]
    store.upsert(points)
    place.settle(store)
    found = store.search(unit(1), 2_500)
    best = [points[at].id for at in np.argsort(-(vectors @ unit(1)))[:2_500]]
    assert len(found) == 2_500
    assert len(set(ids(found)) & set(best)) >= 2_498
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    asked = place.asked(SEARCH)
    assert [(body.get("skip", 0), body["top"]) for body in asked] == [(0, 1000), (1000, 1000), (2000, 500)]
    assert len({body["sessionId"] for body in asked}) == 1
    assert all(body["select"] == "id" for body in asked)
    assert len(store.search(unit(1), 50_000)) == 2_600
    assert len(all_points(store, vectors=True)) == 2_600


def test_answers_that_are_cut_short(
    place: AzureSearchPlace, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place.double, "most", 7)
    points = [make_point("a.md", at, vector) for at, vector in enumerate(random_units(50))]
    store.upsert(points)
    place.settle(store)
    assert len(store.search(unit(1), 30)) == 30
    assert all_points(store).keys() == {point.id for point in points}
    assert len(store.fetch([point.id for point in points])) == 50


def test_while_it_is_small_every_vector_is_compared(place: AzureSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(20))])
    place.settle(store)
    store.search(unit(1), 5)
    with place.store(options={"exact_below": 10}) as large:
        large.search(unit(1), 5)
    assert [body["vectorQueries"][0]["exhaustive"] for body in place.asked(SEARCH)] == [True, False]
    (algorithm,) = place.double.indexes[index_names("laws")[0]].definition["vectorSearch"]["algorithms"]
    assert algorithm["hnswParameters"] == {
        "m": 8,
        "efConstruction": 400,
        "efSearch": 1000,
        "metric": "cosine",
    }


def test_words_are_words(place: AzureSearchPlace, store: Store) -> None:
    point = make_point("a.md", 0, unit(1), terms='the c++ a\\b "x" -y c.d-e_f it\'s AND')
    store.upsert([point, make_point("b.md", 0, unit(1), terms="other words")])
    place.settle(store)
    for word in ("the", "c++", "a\\b", '"x"', "-y", "c.d-e_f", "it's", "AND"):
        assert ids(store.keyword([word], 5)) == [point.id]
    assert ids(store.keyword(["The"], 5)) == []
    assert ids(store.keyword(["other words"], 5)) == []
    assert ids(store.keyword(["*"], 5)) == []


def test_a_long_query_is_cut(store: Store) -> None:
    words = query_words([f"word{number}" for number in range(5_000)])
    assert words.count(" ") == 999
    assert len(query_words(["x" * 7_000 + str(number) for number in range(100)])) < 100_000
    assert query_words(["x" * 40_000]) == ""
    assert list(store.keyword([f"word{number}" for number in range(5_000)], 10)) == []


def test_weights_of_one_side_only(place: AzureSearchPlace, store: Store) -> None:
    near, worded = make_point("a.md", 0, unit(1), terms="x"), make_point("b.md", 0, unit(0, 1), terms="word")
    store.upsert([near, worded])
    place.settle(store)
    assert ids(store.hybrid(unit(1), ["word"], (0.0, 1.0), 5)) == [worded.id]
    assert ids(store.hybrid(unit(1), ["word"], (1.0, 0.0), 5)) == [near.id, worded.id]
    assert ids(store.hybrid(unit(1), [], (0.5, 0.5), 5)) == [near.id, worded.id]
    assert ids(store.hybrid(unit(1), ["word"], (0.5, 0.5), 5)) == [worded.id, near.id]


def test_it_works_again_after_it_was_closed(place: AzureSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    place.settle(store)
    store.close()
    assert store.count() == 1
    assert store.dimension() == DIMENSION


def test_an_answer_of_something_else(place: AzureSearchPlace) -> None:
    other = HttpDouble(lambda request: Answer(200, ["Welcome to the hotel"]))
    try:
        with load_store(place.settings(connection_string=f"http://127.0.0.1:{other.port}")) as store:
            for call in (store.dimension, lambda: store.fetch(["x"]), lambda: store.remove(["x"])):
                with pytest.raises(StoreError, match="connection_string"):
                    call()
    finally:
        other.stop()


def test_an_index_that_was_deleted(place: AzureSearchPlace) -> None:
    with place.store("gone-laws") as store, pytest.raises(StoreError, match="no such index"):
        store.count()


def test_quotes_in_filters(place: AzureSearchPlace, store: Store) -> None:
    store.put([Entry("a", "it's", "o'hara' or kind ne '", "1"), Entry("b", "it's", "x", "2")])
    place.settle(store)
    assert all_entries(store, "it's") == {"a": "1", "b": "2"}
    assert all_entries(store, "it's", "o'hara' or kind ne '") == {"a": "1"}


def test_what_people_see_is_there(place: AzureSearchPlace, store: Store) -> None:
    point = make_point("a\udcff.md", 0, unit(1), terms="word", text="The text.")
    store.upsert([point])
    place.settle(store)
    (found,) = store.fetch([point.id])
    assert (found.source_path, found.text, found.terms) == ("a?.md", "The text.", "word")
    assert (found.heading, found.language, found.file_type) == ("Part I > Scope", "en", "markdown")
    assert found.document == point.document == document_key("a\udcff.md")


class TestAzureSearchLibrary(LibraryConformance):
    """A library in it does what every library does."""
