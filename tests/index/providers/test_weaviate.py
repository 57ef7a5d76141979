"""The Weaviate store, against a double that speaks the server's REST and gRPC to the vendor's client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.index.providers.weaviate_double import KEY, READER, WeaviateDouble
from tests.index.providers.weaviate_double_data import Table

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError
from loccit.index.providers.link import WebAddress, read_address
from loccit.index.providers.weaviate import class_names, grpc_address
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import document_key
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, unit
from loccit.testing.stores import StoreConformance, all_entries, all_points, ids


class WeaviatePlace(Place):
    """A double of a server."""

    def __init__(self) -> None:
        self.double = WeaviateDouble()

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        values: dict[str, Any] = {
            "provider": "weaviate",
            "connection_string": self.double.url,
            "api_key": KEY,
            "options": {"grpc_port": self.double.grpc_port},
            **changes,
        }
        return DatabaseSettings(collection=collection, **values)

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="hunter2")

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def table(self, collection: str = "laws") -> Table:
        """Return what the double keeps as points."""
        return self.double.tables[class_names(collection)[0]]


@pytest.fixture(scope="module")
def place() -> Iterator[WeaviatePlace]:
    place = WeaviatePlace()
    yield place
    place.double.stop()


@pytest.fixture
def store(place: WeaviatePlace) -> Iterator[Store]:
    store = place.store()
    store.drop()
    store.create(DIMENSION)
    yield store
    store.close()


class TestWeaviate(StoreConformance):
    """It does what every store does."""


def test_where_grpc_is_spoken() -> None:
    def place_of(url: str, **options: Any) -> WebAddress:
        settings = DatabaseSettings(provider="weaviate", connection_string=url, options=options)
        return grpc_address(settings, read_address(settings, ""))

    assert place_of("http://db.example:8080") == ("db.example", 50051, False)
    assert place_of("https://db.example", grpc_port=9000) == ("db.example", 9000, True)
    assert place_of("https://x.c0.weaviate.cloud") == ("grpc-x.c0.weaviate.cloud", 443, True)
    assert place_of("https://db.example", grpc_host="rpc.example", grpc_port=443) == (
        "rpc.example",
        443,
        True,
    )


def test_names_are_capital_and_stay_apart() -> None:
    names = [class_names(name) for name in ("tax-law", "tax_law", "taxlaw")]
    assert names[0] == ("Tax__lawPoints", "Tax__lawEntries")
    assert len({name for pair in names for name in pair}) == 6


def test_a_vector_of_another_length(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    short = np.ones(3, np.float32)
    with pytest.raises(StoreSchemaError, match="length 3"):
        store.upsert([make_point("b.md", 0, short)])
    with pytest.raises(StoreSchemaError, match="length 3"):
        store.upsert([make_point("b.md", 0, unit(1)), make_point("c.md", 0, short)])
    with pytest.raises(StoreError, match="lengths don't match"):
        store.search(short, 5)


@pytest.mark.parametrize("which", [0, 1])
def test_a_collection_of_others_is_left_alone(place: WeaviatePlace, which: int) -> None:
    name = class_names("foreign")[which]
    with place.store() as other:
        other.create(DIMENSION)
    config = {**place.table().config, "class": name, "description": "Pictures of cats"}
    place.double.tables[name] = Table(config)
    try:
        with place.store("foreign") as store:
            with pytest.raises(StoreSchemaError, match=name):
                store.create(DIMENSION)
            with pytest.raises(StoreSchemaError, match=name):
                store.drop()
        assert name in place.double.tables
    finally:
        for left in class_names("foreign"):
            place.double.tables.pop(left, None)


def test_a_key_that_may_only_read(place: WeaviatePlace, store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    with load_store(place.settings(api_key=READER)) as reader:
        assert reader.count() == 1
        with pytest.raises(StoreAccessError, match="api_key"):
            reader.upsert([make_point("b.md", 0, unit(1))])
        with pytest.raises(StoreAccessError, match="api_key"):
            reader.drop()


def test_a_key_that_is_no_longer_taken(place: WeaviatePlace, store: Store) -> None:
    """The connection was made while it was; what refuses it then is the gRPC half."""
    store.count()
    place.double.keys.remove(KEY)
    try:
        with pytest.raises(StoreAccessError, match="UNAUTHENTICATED"):
            store.count()
    finally:
        place.double.keys.add(KEY)
    with pytest.raises(StoreAccessError, match="api_key"):
        load_store(place.settings(api_key="")).count()


def test_an_old_server_is_said_to_be_old(place: WeaviatePlace) -> None:
    place.double.version = "1.23.0"
    try:
        with pytest.raises(StoreError, match=r"1\.27"):
            place.store().dimension()
    finally:
        place.double.version = "1.36.0"


def test_a_new_server_takes_the_weights_elsewhere(place: WeaviatePlace, store: Store) -> None:
    """Since 1.36.7 the share of the vectors is sent in another field."""
    place.double.version = "1.37.0"
    try:
        with place.store() as newer:
            near, worded = (
                make_point("a.md", 0, unit(1), terms="x"),
                make_point("b.md", 0, unit(0, 1), terms="word"),
            )
            newer.upsert([near, worded])
            assert ids(newer.hybrid(unit(1), ["word"], (0.0, 1.0), 1)) == [worded.id]
            assert ids(newer.hybrid(unit(1), ["word"], (1.0, 0.0), 1)) == [near.id]
    finally:
        place.double.version = "1.36.0"


def test_large_points_go_in_several_messages(place: WeaviatePlace, store: Store) -> None:
    points = [make_point("a.md", at, unit(1), text="é" * 100_000) for at in range(120)]
    sent = len(place.double.requests)
    store.upsert(points)
    assert store.count() == 120
    assert len(place.double.requests) - sent > 2
    assert len(store.fetch([point.id for point in points])) == 120
    assert len(all_points(store, vectors=True)) == 120
    store.put([Entry(f"part-{at}", "part", "a", "☃" * MAX_VALUE) for at in range(300)])
    assert len(all_entries(store, "part")) == 300


def test_a_point_that_no_message_holds(store: Store) -> None:
    with pytest.raises(StoreError, match="larger than max"):
        store.upsert([make_point("a.md", 0, unit(1), text="x" * 11_000_000)])


def test_one_batch_may_name_a_point_twice(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1)), make_point("a.md", 0, unit(0, 1))])
    assert store.count() == 1
    assert store.search(unit(0, 1), 1)[0].score == pytest.approx(1.0, abs=1e-4)


def test_entries_beyond_what_one_answer_holds(place: WeaviatePlace, store: Store) -> None:
    wanted = {f"head-{number:05}": str(number) for number in range(10_050)}
    store.put([Entry(key, "head", key[-1:], value) for key, value in wanted.items()])
    store.put([Entry("other", "meta", "", "1")])
    assert all_entries(store, "head") == wanted
    assert len(all_entries(store, "head", "7")) == 1005


def test_a_document_is_a_range_of_ids(store: Store) -> None:
    paths = [f"{number}.md" for number in range(30)]
    store.upsert([make_point(path, at, unit(1)) for path in paths for at in range(40)])
    for path in (min(paths, key=document_key), max(paths, key=document_key), "17.md"):
        found = all_points(store, document_key(path))
        assert found.keys() == {make_point(path, at, unit(1)).id for at in range(40)}
    assert len(all_points(store)) == 1200


def test_below_the_cutoff_every_vector_is_compared(place: WeaviatePlace, store: Store) -> None:
    store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(20))])
    config = place.table().config["vectorConfig"]["default"]["vectorIndexConfig"]
    assert (config["distance"], config["flatSearchCutoff"], config["ef"]) == ("cosine", 40_000, 512)
    store.search(unit(1), 5)
    assert place.table().filtered
    with place.store(options={**place.settings().options, "exact_below": 10}) as large:
        large.search(unit(1), 5)
    assert not place.table().filtered


def test_no_word_is_left_out(store: Store) -> None:
    point = make_point("a.md", 0, unit(1), terms="the rights of a+b and c.d-e_f")
    store.upsert([point, make_point("b.md", 0, unit(1), terms="other words")])
    for word in ("the", "of", "a+b", "c.d-e_f"):
        assert ids(store.keyword([word], 5)) == [point.id]
    assert ids(store.keyword(["rights of"], 5)) == []
    assert ids(store.keyword(["Rights"], 5)) == []


def test_a_limit_beyond_the_servers(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1), terms="word")])
    assert len(store.search(unit(1), 50_000)) == 1
    assert len(store.keyword(["word"], 50_000)) == 1
    assert len(store.hybrid(unit(1), ["word"], (0.5, 0.5), 50_000)) == 1


def test_what_people_see_is_there(place: WeaviatePlace, store: Store) -> None:
    point = make_point("a\udcff.md", 0, unit(1), terms="word", text="The text.")
    store.upsert([point])
    (found,) = store.fetch([point.id])
    assert (found.source_path, found.text, found.terms) == ("a?.md", "The text.", "word")
    assert (found.heading, found.language, found.file_type) == ("Part I > Scope", "en", "markdown")
    (kept,) = place.table().objects.values()
    assert set(kept.properties) == {
        "kind", "document", "source_path", "heading", "language", "file_type", "text", "terms",
    }  # fmt: skip


class TestWeaviateLibrary(LibraryConformance):
    """A library in it does what every library does."""
