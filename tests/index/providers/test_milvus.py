"""The store on Milvus: Milvus Lite in a path, the same behind a server's checks, and a real server where there is one."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymilvus import MilvusClient
from tests.index.providers import milvus_server
from tests.index.providers.milvus_double import MAX_TEXT, MilvusDouble

from loccit.errors import StoreAccessError, StoreError, StoreSchemaError
from loccit.index.providers.milvus import MilvusStore, collection_name, cut, translate, whole_words
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import MAX_VALUE, Entry, Point, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, unit
from loccit.testing.stores import StoreConformance, ids

TOKEN = "root:open-sesame"


class _Path(Place):
    """Milvus Lite in this process: one process at a time."""

    shared = guarded = stoppable = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        return DatabaseSettings(
            provider="milvus", connection_string=str(self.path), collection=collection, **changes
        )


class _Server(Place):
    def __init__(self, server: MilvusDouble | milvus_server.MilvusServer, token: str, timeout: float) -> None:
        self.server = server
        self._token = token
        self._timeout = timeout

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        given = {"api_key": self._token, "timeout": self._timeout, **changes}
        return DatabaseSettings(
            provider="milvus", connection_string=self.server.url, collection=collection, **given
        )

    def wrong(self) -> DatabaseSettings:
        return self.settings(api_key="root:hunter2")

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        self.server.start()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    place = _Server(MilvusDouble(tmp_path_factory.mktemp("milvus") / "served.db", TOKEN), TOKEN, 2.0)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    if milvus_server.COMMAND is None:
        pytest.skip("there is no milvus-server here")
    running = milvus_server.MilvusServer(tmp_path_factory.mktemp("real-milvus"))
    yield _Server(running, milvus_server.TOKEN, 20.0)
    running.stop()


@pytest.fixture
def store(server: _Server) -> Iterator[Store]:
    store = server.store()
    store.drop()
    store.create(DIMENSION)
    yield store
    store.close()


class TestPath(StoreConformance):
    """Milvus Lite does what every store does."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return _Path(tmp_path / "new" / "milvus.db")


class TestServer(StoreConformance):
    """So does a server with a token, as far as a double around Milvus Lite can tell."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server


class TestRealServer(StoreConformance):
    """So does a real one, of a version that has no ranking of words."""

    @pytest.fixture
    def place(self, real: _Server) -> Place:
        return real

    def test_its_own_keyword_search(self, place: Place, store: Store) -> None:
        self.filled(place, store)
        with pytest.raises(StoreError, match=r"2\.5 or later"):
            store.keyword(["record"], 10)

    def test_more_of_the_words_is_better(self, place: Place, store: Store) -> None:
        pytest.skip("the version of this server has no keyword search")

    def test_its_own_fusion(self, place: Place, store: Store) -> None:
        self.filled(place, store)
        with pytest.raises(StoreError, match=r"2\.5 or later"):
            store.hybrid(unit(1), ["record"], (0.5, 0.5), 10)


# -- settings ------------------------------------------------------------------------------------------------


def _made(connection_string: str, api_key: str = "", **options: Any) -> MilvusStore:
    settings = DatabaseSettings(
        provider="milvus", connection_string=connection_string, api_key=api_key, options=options
    )
    return MilvusStore(settings)


def test_names_of_collections_never_meet() -> None:
    names = ["a-b", "a_b", "a-b-entries", "a-b_entries", "a_b-entries"]
    made = [collection_name(name) for name in names] + [collection_name(name, "entries") for name in names]
    assert len(set(made)) == len(made)
    assert all(name.replace("_", "").isalnum() for name in made)


# -- what is there -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["taken", "taken___entries"])
def test_a_collection_of_others_is_left_alone(server: _Server, name: str) -> None:
    others = MilvusClient(server.server.url, token=TOKEN, timeout=5)
    others.create_collection(name, dimension=3)
    with server.store("taken") as store:
        with pytest.raises(StoreSchemaError, match=f"collection {name} "):
            store.create(DIMENSION)
        with pytest.raises(StoreSchemaError, match="milvus"):
            store.drop()
    assert others.has_collection(name)
    for made in others.list_collections():
        others.drop_collection(made)
    others.close()


def test_what_people_see_in_their_database(server: _Server, store: Store) -> None:
    point = make_point("a.md", 0, unit(1), terms="data subject", text="The data subject")
    store.upsert([point])
    assert store.fetch([point.id])[0].text == "The data subject"
    people = MilvusClient(server.server.url, token=TOKEN, timeout=5)
    (row,) = people.get("laws", [point.id])
    wanted = {field.name for field in dataclasses.fields(Point)} - {"vector"}
    assert {name: row[name] for name in wanted} == {name: getattr(point, name) for name in wanted}
    people.close()


# -- trouble -------------------------------------------------------------------------------------------------


def test_a_missing_token_is_said(server: _Server) -> None:
    with pytest.raises(StoreAccessError, match="api_key"):
        load_store(server.settings(api_key="")).dimension()


def test_a_server_that_is_unavailable_is_asked_again(server: _Server, store: Store) -> None:
    assert isinstance(server.server, MilvusDouble)
    store.upsert([make_point("a.md", 0, unit(1))])
    server.server.busy = 1
    assert len(store.search(unit(1), 1)) == 1


def test_the_token_is_never_repeated(server: _Server) -> None:
    settings = server.settings()
    error = translate(
        ValueError(f"no such user {TOKEN}, open-sesame at {settings.connection_string}"), settings, None
    )
    assert str(error) == "milvus: no such user …, … at …"
    assert "sesame" not in repr(settings) + load_store(settings).describe()


def test_too_many_results_are_refused_plainly(store: Store) -> None:
    store.upsert([make_point("a.md", 0, unit(1))])
    assert len(store.search(unit(1), store.capabilities.max_results)) == 1
    with pytest.raises(StoreError, match="16384"):
        store.search(unit(1), store.capabilities.max_results + 1)


def test_a_locked_path_is_said(tmp_path: Path) -> None:
    place = _Path(tmp_path / "milvus.db")
    script = (
        "import sys; from loccit.index.registry import load_store;"
        "from loccit.index.settings import DatabaseSettings as D\n"
        "try: load_store(D(provider='milvus', connection_string=sys.argv[1])).dimension()\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    command = [sys.executable, "-c", script, str(place.path)]
    with place.store() as store:
        store.create(DIMENSION)
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        assert found.stdout.startswith("StoreUnavailableError milvus: the path")
        assert "locked" in found.stdout
    # And free again when the last store of this process has let go of it.
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_the_largest_batches_and_texts_fit(server: _Server, store: Store) -> None:
    """Long texts of wide characters are cut to what a field takes; values of entries are kept whole."""
    vectors = np.random.default_rng(1).normal(size=(250, 2048)).astype(np.float32)
    text = "☃" * 70_000
    with server.store("wide-laws") as wide:
        wide.create(2048)
        points = [
            make_point(
                f"{'ä' * 5000}.md", at, vector / np.linalg.norm(vector), text=text, terms="ünïcode " * 9000
            )
            for at, vector in enumerate(vectors)
        ]
        wide.upsert([dataclasses.replace(point, heading=text) for point in points])
        assert wide.count() == 250
        (found,) = wide.fetch([points[0].id])
        assert found.text == "☃" * (MAX_TEXT // 3)
        assert len(wide.keyword(["ünïcode"], 300)) == 250
        wide.drop()
    values = {f"part-{at}": "🜁" * MAX_VALUE for at in range(3)}
    store.put([Entry(key, "part", "", value) for key, value in values.items()])
    assert store.get(list(values)) == values


# -- search --------------------------------------------------------------------------------------------------


def test_words_stay_whole_in_any_analyzer() -> None:
    text = whole_words(["plain", "4.2", "c++", "straße", "zeal", "a" * 60, "x_y"])
    assert text.split()[0] == "plain"
    assert all(word.isascii() and word.isalnum() and word.islower() for word in text.split()[1:])
    assert len(set(text.split())) == 7


def test_only_passages_with_words_take_part(store: Store) -> None:
    first = make_point("a.md", 0, unit(1), terms="c++ 4.2 e-mail snake_case")
    second = make_point("a.md", 0, unit(1), passage=1)
    store.upsert([first, second])
    for word in first.terms.split():
        assert ids(store.keyword([word], 10)) == [first.id]
    for part in ("c", "4", "mail", "snake"):
        assert list(store.keyword([part], 10)) == []
    assert len(store.search(unit(1), 10)) == 2


def test_fusion_without_words_is_a_search(store: Store) -> None:
    points = [make_point("a.md", 0, unit(1)), make_point("b.md", 0, unit(0, 1))]
    store.upsert(points)
    assert ids(store.hybrid(unit(1), [], (0.5, 0.5), 5)) == ids(points)
    assert list(store.hybrid(unit(1), ["fig"], (0.5, 0.5), 5, [])) == []


@pytest.mark.parametrize("index", ["flat", "hnsw"])
def test_both_kinds_of_index_find_the_nearest(server: _Server, index: str) -> None:
    with server.store("indexed-laws", options={"index": index, "ef": 64, "m": 8}) as store:
        store.drop()
        store.create(DIMENSION)
        points = [make_point("a.md", at, unit(1, at / 50)) for at in range(100)]
        store.upsert(points)
        assert ids(store.search(unit(1), 20)) == ids(points[:20])
        store.drop()


def test_texts_are_cut_between_characters() -> None:
    assert cut("äöü", 5) == "äö"
    assert cut("abc", 100) == "abc"
    assert cut("ab\ud800", 100) == "ab?"


class TestPathLibrary(LibraryConformance):
    """A library in Milvus Lite does what every library does."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return _Path(tmp_path / "new" / "milvus.db")


class TestServerLibrary(LibraryConformance):
    """So does one on a server."""

    @pytest.fixture
    def place(self, server: _Server) -> Place:
        return server


class TestRealServerLibrary(LibraryConformance):
    """So does one on a real server."""

    @pytest.fixture
    def place(self, real: _Server) -> Place:
        return real
