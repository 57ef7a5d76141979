"""The store that is Chroma: a real server behind a guard, and a database in a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from tests.index.providers.chroma_server_process import TOKEN, ChromaServer, TokenGuard
from tests.open_files import needs_proc, open_files

from loccit.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnavailableError,
    UsageError,
)
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import document_key
from loccit.index.store import MAX_VALUE, Entry, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, unit
from loccit.testing.stores import StoreConformance, all_entries, all_points, ids

# Another process that stores many points, so many that Chroma writes its index and trims its log.
WRITER = """
import sys
from loccit.testing.places import make_point, random_units
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with load_store(DatabaseSettings(provider="chromadb", connection_string=folder, collection="laws")) as store:
    for first in range(0, count, 100):
        vectors = random_units(100, seed=first + len(name))
        store.upsert([make_point(name, first + at, vector) for at, vector in enumerate(vectors)])
        assert len(store.search(vectors[0], 5)) == 5
"""


class _Server(Place):
    def __init__(self, folder: Path) -> None:
        self.server = ChromaServer(folder)
        self.guard = TokenGuard(self.server)

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        made = DatabaseSettings(
            provider="chromadb", connection_string=self.guard.url, collection=collection, api_key=TOKEN
        )
        return replace(made, **changes)

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="hunter2")

    def stop(self) -> None:
        self.guard.stop()
        self.server.stop()

    def start(self) -> None:
        self.server.start()
        self.guard.start()


class _Folder(Place):
    guarded = stoppable = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "chroma"

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        made = DatabaseSettings(
            provider="chromadb", connection_string=str(self.folder), collection=collection
        )
        return replace(made, **changes)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    place = _Server(tmp_path_factory.mktemp("server"))
    place.start()
    yield place
    place.stop()


@pytest.fixture
def folder(tmp_path: Path) -> _Folder:
    return _Folder(tmp_path)


class TestChromaServer(StoreConformance):
    """A server does what every store does."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server


class TestChromaFolder(StoreConformance):
    """A folder does what every store does."""

    @pytest.fixture
    def place(self, folder: _Folder) -> Place:
        return folder


def made(place: Place) -> Store:
    """Return an empty collection."""
    store = place.store()
    store.drop()
    store.create(DIMENSION)
    return store


# -- settings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["clé-hunter2", "hunter2\r\nX-Evil: 1", "hunter2 hunter2"])
def test_a_key_that_is_no_token(server: _Server, key: str) -> None:
    with pytest.raises(UsageError, match="api_key") as error:
        server.store(api_key=key)
    assert "hunter2" not in str(error.value)


# -- the server ----------------------------------------------------------------------------------------------


def test_the_other_header(server: _Server) -> None:
    made(server).close()
    with server.store(options={"token_header": "X-Chroma-Token"}) as store:
        assert store.dimension() == DIMENSION
    with server.store(api_key="") as store, pytest.raises(StoreAccessError, match="check api_key"):
        store.dimension()


def test_what_passes_is_tried_again(server: _Server) -> None:
    with made(server) as store:
        server.guard.failures = [503, 429]
        store.upsert([make_point("a.md", 0, unit(1))])
        server.guard.failures = [502]
        assert store.count() == 1
        server.guard.failures = [503] * 20
        with pytest.raises(StoreUnavailableError, match="status 503"):
            store.count()
        server.guard.failures = []


def test_a_server_that_does_not_answer(server: _Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            server.store(connection_string=address, timeout=0.1) as store,
            pytest.raises(StoreUnavailableError, match=r"within 0\.1 seconds"),
        ):
            store.dimension()


def test_an_unknown_tenant_is_named(server: _Server) -> None:
    with (
        server.store(options={"tenant": "nobody"}) as store,
        pytest.raises(StoreError, match="chromadb") as error,
    ):
        store.create(DIMENSION)
    assert TOKEN not in str(error.value)


def test_large_points_go_in_several_requests(server: _Server) -> None:
    with made(server) as store:
        tail = "é" * 60_000
        points = [
            make_point("a.md", at, vector, text=f"{at} {tail}") for at, vector in enumerate(random_units(120))
        ]
        server.guard.seen.clear()
        store.upsert(points)
        writes = [request for request in server.guard.seen if request.path[-1] == "upsert"]
        assert len(writes) > 1
        # The server refuses what is longer than 40 MB.
        assert max(len(request.body) for request in writes) < 12_000_000
        assert store.count() == 120
        assert store.fetch([points[7].id])[0].text == f"7 {tail}"
        values = {f"part-{at}": f"{at} {'☃' * (MAX_VALUE - 4)}" for at in range(100)}
        store.put([Entry(key, "part", "", value) for key, value in values.items()])
        assert all_entries(store, "part") == values


def test_answers_carry_no_texts(server: _Server) -> None:
    with made(server) as store:
        store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(50))])
        server.guard.seen.clear()
        store.search(unit(1), 10)
        (request,) = server.guard.seen
        assert request.json()["include"] == ["distances"]


def test_two_stores_on_a_server(server: _Server) -> None:
    with made(server) as first, server.store() as second:
        first.upsert([make_point("a.md", 0, unit(1))])
        assert second.count() == 1
        first.drop()
        with pytest.raises(StoreSchemaError, match="no collection laws"):
            second.count()
        first.create(4)
        first.upsert([make_point("b.md", 0, np.array([1, 0, 0, 0], np.float32))])
        assert len(second.search(np.array([1, 0, 0, 0], np.float32), 5)) == 1


# -- both ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["server", "folder"])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(request.param)
    return found


def test_another_dimension_is_refused(place: Place) -> None:
    with made(place) as store:
        with pytest.raises(StoreSchemaError, match="8 numbers, and the model makes 4"):
            store.create(4)
        store.upsert([make_point("a.md", 0, unit(1))])
        with pytest.raises(StoreSchemaError, match="dimension of 8, got 4"):
            store.upsert([make_point("b.md", 0, np.ones(4, np.float32))])
        with pytest.raises(StoreSchemaError, match="dimension of 8, got 4"):
            store.search(np.ones(4, np.float32), 3)
        assert store.count() == 1


def test_somebody_elses_collection_is_left_alone(server: _Server) -> None:
    theirs = chromadb.HttpClient(
        "127.0.0.1", server.server.port, settings=Settings(anonymized_telemetry=False)
    )
    theirs.get_or_create_collection("recipes", embedding_function=None)
    with server.store("recipes") as store:
        for call in (store.dimension, store.drop, store.count, lambda: store.create(DIMENSION)):
            with pytest.raises(StoreSchemaError, match="not a Loccit library"):
                call()
    theirs.get_collection("recipes", embedding_function=None)


def test_people_find_the_fields_under_their_names(server: _Server) -> None:
    with made(server) as store:
        point = make_point("a.md", 0, unit(1), terms="right eras", text="The right to erasure")
        store.upsert([point])
        (found,) = store.fetch([point.id])
        assert replace(found, vector=None) == replace(point, vector=None)
    theirs = chromadb.HttpClient(
        "127.0.0.1", server.server.port, settings=Settings(anonymized_telemetry=False)
    )
    record = theirs.get_collection("laws", embedding_function=None).get(point.id)
    assert record["metadatas"] == [
        {
            "document": point.document,
            "terms": "right eras",
            "source_path": "a.md",
            "heading": "Part I > Scope",
            "language": "en",
            "file_type": "markdown",
            "text": "The right to erasure",
        }
    ]


def test_many_that_are_the_same_are_all_found(place: Place) -> None:
    points = [make_point("same.md", at, unit(1, 2, 3)) for at in range(1500)]
    points += [make_point("other.md", at, vector) for at, vector in enumerate(random_units(100))]
    with made(place) as store:
        store.upsert(points)
        found = store.search(unit(1), 1590)
        assert len(set(ids(found))) == 1590
        scores = [hit.score for hit in found]
        assert scores == sorted(scores, reverse=True)
        assert len(store.search(unit(1), 2000, [document_key("same.md")])) == 1500


def test_many_documents_in_a_filter(place: Place) -> None:
    points = [make_point(f"{at}.md", 0, vector) for at, vector in enumerate(random_units(1200))]
    with made(place) as store:
        store.upsert([*points, points[0]])
        some = [document_key(f"{number}.md") for number in range(store.capabilities.max_filter)]
        assert set(ids(store.search(unit(1), 2500, some))) == {point.id for point in points[: len(some)]}


def test_deleting_while_reading(place: Place) -> None:
    with made(place) as store:
        store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(2500))])
        seen = 0
        for batch in store.points():
            seen += len(batch)
            store.delete([point.id for point in batch])
        assert seen == 2500
        assert store.count() == 0


# -- the folder ----------------------------------------------------------------------------------------------


def test_asking_makes_no_files(folder: _Folder) -> None:
    with folder.store() as store:
        assert store.dimension() is None
        store.drop()
    assert not folder.folder.exists()


def test_a_folder_of_something_else(folder: _Folder) -> None:
    folder.folder.mkdir()
    (folder.folder / "chroma.sqlite3").write_bytes(b"no database at all" * 500)
    with folder.store() as store, pytest.raises(StoreError, match="chromadb") as error:
        store.dimension()
    assert str(folder.folder) not in str(error.value)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(folder: _Folder) -> None:
    folder.folder.mkdir(mode=0o500)
    with folder.store() as store, pytest.raises(StoreAccessError, match="connection_string cannot be used"):
        store.create(DIMENSION)


@needs_proc
def test_a_folder_needs_no_network(folder: _Folder) -> None:
    def sockets() -> set[str]:
        return {file.name for file in open_files() if file.name.startswith("socket:")}

    # The first one in a process starts a loop for callers that await, which wakes itself through a pair of sockets.
    with made(folder):
        before = sockets()
    with made(folder) as store:
        store.upsert([make_point("a.md", at, vector) for at, vector in enumerate(random_units(1500))])
        store.search(unit(1), 10)
        assert sockets() <= before


def write_elsewhere(folder: _Folder, name: str, count: int) -> subprocess.Popen[bytes]:
    """Start another process that stores points of a document."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder.folder), name, str(count)],
    )


def test_processes_on_a_folder_see_what_others_write(folder: _Folder) -> None:
    with made(folder) as store:
        mine = [make_point("mine.md", at, vector) for at, vector in enumerate(random_units(900))]
        store.upsert(mine)
        assert len(store.search(unit(1), 2000)) == 900
        # More than the thousand after which Chroma writes its index and trims its log.
        assert write_elsewhere(folder, "theirs.md", 1500).wait() == 0
        assert len(set(ids(store.search(unit(1), 5000)))) == 2400
        store.delete([point.id for point in mine])
        assert write_elsewhere(folder, "more.md", 200).wait() == 0
        assert set(ids(store.search(unit(1), 5000))) == all_points(store).keys()
        assert store.count() == 1700


def test_processes_write_to_a_folder_at_once(folder: _Folder) -> None:
    with made(folder) as store:
        others = [write_elsewhere(folder, f"{number}{'x' * number}.md", 600) for number in range(2)]
        for at, vector in enumerate(random_units(40)):
            store.upsert([make_point("mine.md", at, vector)])
            assert store.search(vector, 1)[0].score == pytest.approx(1, abs=1e-4)
        assert [process.wait() for process in others] == [0, 0]
        assert store.count() == 1240
        assert set(ids(store.search(unit(1), 5000))) == all_points(store).keys()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_not_to(folder: _Folder) -> None:
    with made(folder) as store:
        store.upsert([make_point("a.md", 0, unit(1))])
        child = os.fork()
        if not child:
            try:
                store.count()
            except StoreError as error:
                os._exit(0 if "spawn" in str(error) else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert store.count() == 1


class TestChromaServerLibrary(LibraryConformance):
    """A library on a server does what every library does."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server


class TestChromaFolderLibrary(LibraryConformance):
    """So does one in a folder."""

    @pytest.fixture
    def place(self, folder: _Folder) -> Place:
        return folder
