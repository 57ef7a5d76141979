"""OpenSearch and Elasticsearch, against a double that speaks their REST interface to the vendor's client."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.index.providers.opensearch_double import (
    API_KEY,
    PASSWORD,
    READER,
    READER_PASSWORD,
    USER,
    OpenSearchDouble,
)

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
)
from loccit.index.providers.opensearch import OpenSearchLink, OpenSearchStore, fuse
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, unit
from loccit.testing.stores import StoreConformance, ids


class OpenSearchPlace(Place):
    """The double, on a port of its own."""

    def __init__(self, double: OpenSearchDouble, **options: Any) -> None:
        self.double = double
        self.options = options
        double.start()

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        values: dict[str, Any] = {"options": self.options, **changes}
        return DatabaseSettings(
            provider="opensearch",
            collection=collection,
            **{"connection_string": self.address(USER, PASSWORD), **values},
        )

    def address(self, user: str, password: str) -> str:
        return f"http://{user}:{password}@127.0.0.1:{self.double.port}"

    def wrong(self) -> DatabaseSettings:
        return self.settings(connection_string=self.address(USER, "hunter2"))

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()


def _running(place: OpenSearchPlace) -> Iterator[OpenSearchPlace]:
    yield place
    place.double.stop()


@pytest.fixture
def place() -> Iterator[OpenSearchPlace]:
    yield from _running(OpenSearchPlace(OpenSearchDouble()))


@pytest.fixture
def store(place: OpenSearchPlace) -> Iterator[Store]:
    with place.store() as store:
        store.create(DIMENSION)
        yield store


class TestOpenSearch(StoreConformance):
    """It does what every store does, comparing every point."""


class TestOpenSearchGraph(StoreConformance):
    """So it does when it asks the graph."""

    @pytest.fixture
    def place(self) -> Iterator[OpenSearchPlace]:
        yield from _running(
            OpenSearchPlace(OpenSearchDouble(), exact_below=0, engine="faiss", refresh="wait")
        )


class TestElasticsearch(StoreConformance):
    """Elasticsearch is found out, and spoken to in its own way."""

    @pytest.fixture
    def place(self) -> Iterator[OpenSearchPlace]:
        yield from _running(OpenSearchPlace(OpenSearchDouble(elastic=True)))


class TestElasticsearchGraph(StoreConformance):
    """An older one, by its graph."""

    @pytest.fixture
    def place(self) -> Iterator[OpenSearchPlace]:
        double = OpenSearchDouble(elastic=True, version="8.15.0")
        yield from _running(OpenSearchPlace(double, exact_below=0, flavor="elasticsearch"))


# -- settings ------------------------------------------------------------------------------------------------


def test_several_nodes_and_a_prefix() -> None:
    one, two = "https://ann:p%40ss@a.example/search", "https://b.example:9201"
    connection = OpenSearchLink(DatabaseSettings("opensearch", f"{one}, {two}"))
    assert connection._hosts == [
        {
            "host": "a.example",
            "port": 443,
            "use_ssl": True,
            "http_auth": ("ann", "p@ss"),
            "url_prefix": "search",
        },
        {"host": "b.example", "port": 9201, "use_ssl": True},
    ]


def test_an_api_key_will_do(place: OpenSearchPlace) -> None:
    address = f"http://127.0.0.1:{place.double.port}"
    with place.store(connection_string=address, api_key=API_KEY) as store:
        store.create(DIMENSION)
        assert store.dimension() == DIMENSION
    with pytest.raises(StoreAccessError, match="api_key") as refused:
        place.store(connection_string=address, api_key="hunter2").dimension()
    assert "hunter2" not in "".join(traceback.format_exception_only(refused.value))


# -- what is there already -----------------------------------------------------------------------------------


def test_a_foreign_index_is_left_alone(place: OpenSearchPlace) -> None:
    _make(place, "laws.points", {"mappings": {"properties": {"title": {"type": "keyword"}}}})
    with place.store() as store:
        for use in (store.dimension, lambda: store.create(DIMENSION), store.drop):
            with pytest.raises(StoreSchemaError, match=r"laws\.points"):
                use()
    assert "laws.points" in place.double.indexes


def test_a_vector_of_another_kind_is_said(place: OpenSearchPlace) -> None:
    meta = {"loccit": {"format": 1}}
    _make(place, "laws.points", {"mappings": {"_meta": meta, "properties": {"vector": {"type": "keyword"}}}})
    with place.store() as store, pytest.raises(StoreSchemaError, match="knn_vector"):
        store.dimension()


def test_a_collection_that_is_gone_is_not_made_anew_by_a_write(place: OpenSearchPlace, store: Store) -> None:
    with place.store() as other:
        other.drop()
    with pytest.raises(StoreSchemaError, match="no collection laws"):
        store.upsert([make_point("a.md", 0, unit(1))])
    with pytest.raises(StoreSchemaError, match="no collection laws"):
        store.put([Entry("head-1", "head", "", "1")])
    with pytest.raises(StoreSchemaError, match="no collection laws"):
        store.search(unit(1), 3)
    assert place.double.indexes == {}


def test_a_collection_of_one_half_is_completed(place: OpenSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    del place.double.indexes["laws.entries"]
    store.create(DIMENSION)
    store.put([Entry("head-1", "head", "", "1")])
    assert store.get(["head-1"]) == {"head-1": "1"}
    assert store.count() == 1


def test_who_may_only_read_is_told(place: OpenSearchPlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with place.store(connection_string=place.address(READER, READER_PASSWORD)) as reader:
        assert len(reader.search(unit(1), 3)) == 1
        with pytest.raises(StoreAccessError, match=r"opensearch.*may not.*laws") as refused:
            reader.upsert([make_point("a.md", 0, unit(1))])
    assert READER_PASSWORD not in str(refused.value)


# -- writing -------------------------------------------------------------------------------------------------


def test_large_writes_are_cut(place: OpenSearchPlace, store: Store) -> None:
    long = "wort " * 20_000
    store.upsert([make_point("a.md", at, unit(1), text=long) for at in range(120)])
    sent = [request for request in place.double.seen if request.path[-1:] == ["_bulk"]]
    assert len(sent) == 2
    assert max(len(request.body) for request in sent) <= 8_000_000
    store.upsert([make_point("b.md", at, vector) for at, vector in enumerate(random_units(2_500))])
    assert len([request for request in place.double.seen if request.path[-1:] == ["_bulk"]]) == 5
    assert store.count() == 2_620


def test_one_bad_point_is_said(store: Store) -> None:
    with pytest.raises(StoreError, match=r"opensearch.*dimension mismatch"):
        store.upsert([make_point("a.md", 0, unit(1)), make_point("b.md", 0, np.ones(3, np.float32))])
    with pytest.raises(StoreError, match="zero vector"):
        store.upsert([make_point("a.md", 0, np.zeros(DIMENSION, np.float32))])


def test_a_busy_server_is_asked_again(place: OpenSearchPlace, store: Store) -> None:
    place.double.failures = [429, 503]
    store.upsert([make_point("a.md", 0, unit(1))])
    assert store.count() == 1
    place.double.failures = [429] * 4
    with pytest.raises(StoreUnavailableError, match=r"opensearch.*429"):
        store.count()


def test_half_a_surrogate_pair_in_a_name_is_no_obstacle(store: Store) -> None:
    store.upsert([make_point("bad\udcff.md", 0, unit(1))])
    (found,) = store.fetch([make_point("bad\udcff.md", 0, unit(1)).id])
    assert found.source_path == "bad?.md"


def test_everything_about_a_point_is_kept(store: Store) -> None:
    point = make_point("a.md", 0, unit(1), terms="straße recht", text="Recht der Straße ☃")
    store.upsert([point])
    (found,) = store.fetch([point.id])
    assert (found.terms, found.text, found.source_path) == ("straße recht", "Recht der Straße ☃", "a.md")
    assert (found.heading, found.language, found.file_type) == ("Part I > Scope", "en", "markdown")


def test_a_lost_answer_of_a_swap_is_still_a_win(
    place: OpenSearchPlace, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loccit.index.retry._FIRST_PAUSE", 0.0)
    real = place.double._put
    lost: list[bool] = []

    def put_and_lose(*args: Any) -> tuple[int, Any]:
        answer = real(*args)
        if not lost:
            lost.append(True)
            return 503, place.double.failure(503)
        return answer

    monkeypatch.setattr(place.double, "_put", put_and_lose)
    assert store.swap(Entry("task-1", "task", "", "ann"), None)
    assert not store.swap(Entry("task-1", "task", "", "bob"), None)


# -- searching -----------------------------------------------------------------------------------------------


def test_a_small_collection_is_compared_whole_a_large_one_is_not(place: OpenSearchPlace) -> None:
    with place.store(options={"exact_below": 5}) as store:
        store.create(DIMENSION)
        for count, kind in ((5, "script_score"), (6, "knn")):
            store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(count))])
            store.search(unit(1), 3)
            body = json.loads(place.double.seen[-1].body)
            assert list(body["query"]) == [kind]
            assert body["_source"] is False
        store.search(unit(1), 3, ["0" * 16])
        asked = json.loads(place.double.seen[-1].body)["query"]["knn"]["vector"]
        assert asked["filter"] == {"terms": {"document": ["0" * 16]}}
        assert asked["k"] == 200


def test_more_than_the_window_is_cut_to_it(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    assert len(store.search(unit(1), 50_000)) == 1
    assert len(store.keyword(["nothing"] * 5_000, 50_000)) == 0


def test_a_long_question_keeps_within_the_clauses(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1), terms="w7 w8")])
    assert len(store.keyword([f"w{number}" for number in range(5_000)], 10)) == 1


def test_many_documents_in_a_filter(store: Store) -> None:
    point = make_point("a.md", 0, unit(1))
    store.upsert([point])
    many = [f"{number:016x}" for number in range(OpenSearchStore.capabilities.max_filter - 1)]
    assert ids(store.search(unit(1), 10, [*many, point.document])) == [point.id]


def test_both_fuse_alike() -> None:
    points = [
        make_point("a.md", at, vector, terms=f"wort w{at % 7}") for at, vector in enumerate(random_units(60))
    ]
    found: list[dict[str, float]] = []
    for double in (OpenSearchDouble(), OpenSearchDouble(elastic=True)):
        for place in _running(OpenSearchPlace(double)):
            with place.store() as store:
                store.create(DIMENSION)
                store.upsert(points)
                hits = store.hybrid(unit(1, 2), ["w3", "wort"], (0.6, 0.2), 40)
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
                found.append({hit.id: hit.score for hit in hits})
    assert found[0].keys() == found[1].keys()
    assert [found[0][key] for key in found[0]] == pytest.approx([found[1][key] for key in found[0]], abs=1e-5)


def test_fusion_of_nothing_is_nothing() -> None:
    assert fuse([[], []], (0.5, 0.5), 10) == []


# -- secrets -------------------------------------------------------------------------------------------------


def _make(place: OpenSearchPlace, index: str, body: dict[str, Any]) -> None:
    OpenSearchLink(place.settings()).request("PUT", f"/{index}", body)


class TestOpenSearchLibrary(LibraryConformance):
    """A library in it does what every library does."""
