"""The store on Qdrant: the vendor's local mode, and a double of a server."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import models
from tests.index.providers.qdrant_double import MAX_BODY, QdrantDouble

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
)
from loccit.index.providers.qdrant import QdrantStore, asked, entry_id, frequencies
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Point
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, unit
from loccit.testing.stores import StoreConformance, ids

KEY = "open-sesame"
READ_ONLY = "look-only"


class _Folder(Place):
    """Local mode: one process at a time."""

    shared = guarded = stoppable = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        return DatabaseSettings(
            provider="qdrant", connection_string=str(self._folder), collection=collection, **changes
        )


class _Server(Place):
    def __init__(self) -> None:
        self.double = QdrantDouble(KEY, READ_ONLY)

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        given = {"api_key": KEY, "timeout": 5.0, **changes}
        return DatabaseSettings(
            provider="qdrant", connection_string=self.double.url, collection=collection, **given
        )

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="hunter2")

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()


@pytest.fixture
def server() -> Iterator[_Server]:
    place = _Server()
    yield place
    place.stop()


class TestFolder(StoreConformance):
    """The vendor's local mode does what every store does."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return _Folder(tmp_path / "qdrant")


class TestServer(StoreConformance):
    """So does a server, as far as a double of one can tell."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server


# -- settings ------------------------------------------------------------------------------------------------


def _made(connection_string: str, api_key: str = "", **options: Any) -> QdrantStore:
    settings = DatabaseSettings(
        provider="qdrant", connection_string=connection_string, api_key=api_key, options=options
    )
    return QdrantStore(settings)


# -- what is there -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["laws", "laws.entries"])
def test_a_collection_of_others_is_left_alone(server: _Server, name: str) -> None:
    engine = server.double.engine
    engine.create_collection(name, vectors_config=models.VectorParams(size=3, distance=models.Distance.DOT))
    with server.store() as store:
        with pytest.raises(StoreSchemaError, match=f"collection {name} "):
            store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match="qdrant"):
            store.drop()
    assert engine.collection_exists(name)


def test_what_people_see_in_their_database(server: _Server) -> None:
    point = make_point("a.md", 0, unit(1), terms="data subject", text="The data subject")
    with server.store() as store:
        store.create(DIMENSION)
        store.upsert([point])
        assert store.fetch([point.id])[0].text == "The data subject"
    (record,) = server.double.engine.retrieve("laws", [point.id])
    wanted = {field.name for field in dataclasses.fields(Point)} - {"id", "vector"}
    assert record.payload == {name: getattr(point, name) for name in wanted}
    assert [body["field_name"] for path, body in server.double.asked if path.endswith("/index")] == [
        "document",
        "kind",
        "group",
        "mark",
    ]


# -- trouble -------------------------------------------------------------------------------------------------


def test_a_missing_key_is_said(server: _Server) -> None:
    with pytest.raises(StoreAccessError, match="api_key"):
        load_store(server.settings(api_key="")).dimension()


def test_a_key_that_may_only_read(server: _Server) -> None:
    with server.store() as store:
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
    with load_store(server.settings(api_key=READ_ONLY)) as store:
        assert store.count() == 1
        assert len(store.search(unit(1), 5)) == 1
        with pytest.raises(StoreAccessError, match="may write"):
            store.upsert([make_point("b.md", 0, unit(1))])
        with pytest.raises(StoreAccessError, match="qdrant"):
            store.drop()


def test_a_busy_server_is_asked_again(server: _Server) -> None:
    with server.store() as store:
        store.create(DIMENSION)
        server.double.trouble = [(503, "{}"), (429, '{"status": {"error": "Rate limiting exceeded"}}')]
        store.upsert([make_point("a.md", 0, unit(1))])
        assert store.count() == 1
        server.double.trouble = [(500, '{"status": {"error": "Service internal error"}}')] * 4
        with pytest.raises(StoreUnavailableError, match="500: Service internal error"):
            store.count()


def test_the_key_is_never_repeated(server: _Server) -> None:
    with server.store() as store:
        server.double.trouble = [(400, f'{{"status": {{"error": "bad header {KEY}"}}}}')]
        with pytest.raises(StoreError, match="bad header …"):
            store.dimension()
        assert KEY not in store.describe() + repr(store.settings)


def test_what_is_not_qdrant_is_said(server: _Server) -> None:
    with server.store() as store:
        server.double.trouble = [(200, "<html>welcome</html>")]
        with pytest.raises(StoreError, match="connection_string") as refused:
            store.dimension()
        assert not isinstance(refused.value, StoreUnavailableError)


def test_a_locked_folder_is_said(tmp_path: Path) -> None:
    place = _Folder(tmp_path / "qdrant")
    with place.store() as store:
        store.create(DIMENSION)
        script = (
            "import sys; from loccit.index.registry import load_store;"
            "from loccit.index.settings import DatabaseSettings as D;"
            "import loccit.index.retry as r; r.time.sleep = lambda s: None\n"
            "try: load_store(D(provider='qdrant', connection_string=sys.argv[1])).dimension()\n"
            "except Exception as e: print(type(e).__name__, e)"
        )
        found = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "qdrant")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.startswith("StoreUnavailableError qdrant: the folder")
        assert "locked" in found.stdout
    # And free again when the last store of this process has let go of it.
    found = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "qdrant")], capture_output=True, text=True, check=True
    )
    assert found.stdout == ""


def test_the_largest_batches_fit(server: _Server) -> None:
    """Vectors of 4,096 numbers and long texts of wide characters: no request may be larger than the server takes."""
    vectors = np.random.default_rng(1).normal(size=(250, 4096)).astype(np.float32)
    with server.store("wide-laws") as store:
        store.create(4096)
        store.upsert(
            [
                make_point("a.md", at, vector / np.linalg.norm(vector), text="☃" * 20_000)
                for at, vector in enumerate(vectors)
            ]
        )
        assert store.count() == 250
        store.put([Entry(f"part-{at}", "part", "", "☃" * MAX_VALUE) for at in range(300)])
        assert len(store.get([f"part-{at}" for at in range(300)])) == 300
    assert MAX_BODY == 33_554_432


# -- search --------------------------------------------------------------------------------------------------


def test_few_points_are_searched_exactly_many_by_the_graph(server: _Server) -> None:
    point = make_point("a.md", 0, unit(1), terms="apple")
    for options, wanted in (
        ({}, {"exact": True}),
        ({"exact_below": 0}, {"hnsw_ef": 256}),
        ({"exact_below": 0, "hnsw_ef": 64}, {"hnsw_ef": 100}),
    ):
        with server.store(options=options) as store:
            store.create(DIMENSION)
            store.upsert([point])
            store.search(unit(1), 100)
            body = server.double.asked[-1][1]
            assert {name: value for name, value in body["params"].items() if value is not None} == wanted
            assert (body["with_payload"], body["with_vector"]) == (False, False)


def test_frequencies_grow_less_and_less_and_long_chunks_count_less() -> None:
    once = frequencies("fig plum", 2).values
    often = frequencies("fig fig fig plum", 4).values
    assert once[0] == once[1] < often[0] < 2.2
    assert frequencies("fig " * 50, 10).values[0] < frequencies("fig " * 50, 100).values[0]
    assert asked(["fig", "plum", "fig"]).values == [2.0, 1.0]
    assert asked(["fig"]).indices == [frequencies("fig", 1).indices[0]]


def test_only_passages_with_words_take_part(server: _Server) -> None:
    first = make_point("a.md", 0, unit(1), terms="c++ 4.2 e-mail snake_case")
    second = make_point("a.md", 0, unit(1), passage=1)
    with server.store() as store:
        store.create(DIMENSION)
        store.upsert([first, second])
        for word in first.terms.split():
            assert ids(store.keyword([word], 10)) == [first.id]
        for part in ("c", "4", "mail", "snake"):
            assert list(store.keyword([part], 10)) == []
        assert len(store.search(unit(1), 10)) == 2


def test_fusion_needs_a_server_that_knows_weights(server: _Server) -> None:
    server.double.version = "1.16.3"
    with server.store() as store:
        store.create(DIMENSION)
        with pytest.raises(StoreError, match=r"1\.17 or later; this one is 1\.16"):
            store.hybrid(unit(1), ["fig"], (0.5, 0.5), 5)
        with pytest.raises(StoreError, match="sharing the work"):
            store.swap(Entry("task-1", "task", "", "ann"), None)
        assert store.get(["task-1"]) == {}


def test_fusion_without_words_is_a_search(server: _Server) -> None:
    with server.store() as store:
        store.create(DIMENSION)
        points = [make_point("a.md", 0, unit(1)), make_point("b.md", 0, unit(0, 1))]
        store.upsert(points)
        assert ids(store.hybrid(unit(1), [], (0.5, 0.5), 5)) == ids(points)
        assert list(store.hybrid(unit(1), ["fig"], (0.5, 0.5), 5, [])) == []


# -- claims --------------------------------------------------------------------------------------------------


def test_a_swap_whose_answer_was_lost_is_still_won(server: _Server) -> None:
    with server.store() as store:
        store.create(DIMENSION)
        assert store.swap(Entry("task-1", "task", "", "ann"), None)
        before = len(server.double.asked)
        answer = server.double.answer

        def lose_it(method: str, path: str, parameters: set[str], body: Any) -> Any:
            result = answer(method, path, parameters, body)
            if method == "PUT":
                server.double.answer = answer  # type: ignore[method-assign]
                server.double.trouble = [(502, "{}")]
            return result

        server.double.answer = lose_it  # type: ignore[method-assign]
        assert store.swap(Entry("task-1", "task", "", "bob"), "ann")
        writes = [path for path, _ in server.double.asked[before:] if path.startswith("PUT")]
        assert len(writes) == 1
        assert store.get(["task-1"]) == {"task-1": "bob"}


def test_a_swap_sees_that_another_was_faster(server: _Server) -> None:
    """Between its look and its write another changes the entry, to the same value: still it must lose."""
    with server.store() as store, server.store() as other:
        store.create(DIMENSION)
        store.put([Entry("task-1", "task", "", "free")])
        answer = server.double.answer

        def be_faster(method: str, path: str, parameters: set[str], body: Any) -> Any:
            if method == "PUT":
                server.double.answer = answer  # type: ignore[method-assign]
                assert other.swap(Entry("task-1", "task", "", "bob"), "free")
                assert other.swap(Entry("task-1", "task", "", "free"), "bob")
            return answer(method, path, parameters, body)

        server.double.answer = be_faster  # type: ignore[method-assign]
        assert not store.swap(Entry("task-1", "task", "", "ann"), "free")
        assert store.get(["task-1"]) == {"task-1": "free"}
        (record,) = server.double.engine.retrieve("laws.entries", [entry_id("task-1")])
        assert record.payload is not None
        assert len(record.payload["past"]) == 2


def test_memory_is_shared_in_the_process_only() -> None:
    settings = DatabaseSettings(provider="qdrant", connection_string=":memory:", collection="in-memory-laws")
    with load_store(settings) as store:
        store.drop()
        store.create(DIMENSION)
        store.upsert([make_point("a.md", 0, unit(1))])
    with load_store(settings) as again:
        assert again.count() == 1
        again.drop()


class TestFolderLibrary(LibraryConformance):
    """A library in a folder does what every library does."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return _Folder(tmp_path / "qdrant")


class TestServerLibrary(LibraryConformance):
    """So does one on a server."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server
