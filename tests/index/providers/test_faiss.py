"""The store that is FAISS and SQLite in a folder."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loccit.errors import StoreSchemaError
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.ids import document_key
from loccit.index.store import Entry, Point, Store
from loccit.testing.libraries import LibraryConformance
from loccit.testing.places import DIMENSION, Place, make_point, random_units, unit
from loccit.testing.stores import StoreConformance, all_points, ids

# Another process that writes for ever, one batch a line; every batch is one document of ten points.
WRITER = """
import sys
from loccit.testing.places import make_point, random_units
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
store = load_store(DatabaseSettings(provider="faiss", connection_string=sys.argv[1], collection="laws",
                                    options={"exact_below": 50}))
for number in range(int(sys.argv[2])):
    vectors = random_units(10, seed=number)
    store.upsert([make_point(f"{number}.md", at, vector) for at, vector in enumerate(vectors)])
    print(number, flush=True)
store.close()
"""


class _Folder(Place):
    guarded = stoppable = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        made = DatabaseSettings(
            provider="faiss", connection_string=str(self.folder / "faiss"), collection=collection
        )
        return replace(made, **changes)


@pytest.fixture
def place(tmp_path: Path) -> _Folder:
    return _Folder(tmp_path)


class TestFaiss(StoreConformance):
    """It does what every store does."""


class TestFaissGraph(StoreConformance):
    """It does the same where nearly everything is in a graph."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        class Small(_Folder):
            def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
                changes["options"] = {"exact_below": 2, **changes.get("options", {})}
                return super().settings(collection, **changes)

        return Small(tmp_path)


def made(place: Place, **options: int) -> Store:
    """Return an empty collection with options."""
    store = place.store(options=options)
    store.create(DIMENSION)
    return store


def numbered(count: int, seed: int = 1, version: str = "1") -> list[Point]:
    """Return points of many documents, ten in each."""
    return [
        make_point(f"{at // 10}.md", at % 10, vector, version=version)
        for at, vector in enumerate(random_units(count, seed))
    ]


def exact(points: list[Point], query: Any, limit: int) -> list[str]:
    """Return the ids that a comparison with every point gives."""
    scores = np.array([float(point.vector @ query) for point in points if point.vector is not None])
    return [points[at].id for at in np.argsort(-scores, kind="stable")[:limit]]


def start(place: _Folder, batches: int) -> subprocess.Popen[str]:
    """Start the other process."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, place.settings().connection_string, str(batches)],
        stdout=subprocess.PIPE,
        text=True,
    )


def files(place: _Folder, pattern: str = "index-*.faiss") -> list[str]:
    """Return the index files."""
    return sorted(path.name for path in (place.folder / "faiss" / "laws").glob(pattern))


# -- settings ------------------------------------------------------------------------------------------------


def test_asking_makes_no_files(place: _Folder) -> None:
    with place.store() as store:
        assert store.dimension() is None
        store.drop()
        with pytest.raises(StoreSchemaError, match=r"faiss: there is no collection laws"):
            store.count()
    assert not (place.folder / "faiss").exists()


def test_another_dimension_is_refused(place: Place) -> None:
    with made(place) as store:
        store.upsert(numbered(3))
        with pytest.raises(StoreSchemaError, match=r"8 numbers, and the model makes 4"):
            store.create(4)
        with pytest.raises(StoreSchemaError, match=r"8 numbers, and the model makes 4"):
            store.upsert([make_point("x.md", 0, np.ones(4, np.float32))])
        with pytest.raises(StoreSchemaError, match=r"8 numbers, and the model makes 4"):
            store.search(np.ones(4, np.float32), 1)
        assert store.count() == 3


def test_somebody_elses_database_is_left_alone(place: _Folder) -> None:
    folder = place.folder / "faiss" / "laws"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "ledger.sqlite3") as foreign:
        foreign.execute("CREATE TABLE recipes (name TEXT)")
    with place.store() as store, pytest.raises(StoreSchemaError, match="of something else"):
        store.create(DIMENSION)
    (folder / "ledger.sqlite3").write_bytes(b"no database at all" * 100)
    with place.store() as store, pytest.raises(StoreSchemaError, match="not ours or is damaged"):
        store.dimension()


def test_another_version_is_refused(place: _Folder) -> None:
    made(place).close()
    with sqlite3.connect(place.folder / "faiss" / "laws" / "ledger.sqlite3") as file:
        file.execute("PRAGMA user_version = 9")
    with place.store() as store, pytest.raises(StoreSchemaError, match=r"format 9, not 1"):
        store.dimension()


# -- the index -----------------------------------------------------------------------------------------------


def test_a_graph_finds_what_comparing_finds(place: _Folder) -> None:
    points = numbered(3000)
    with made(place, exact_below=500) as store:
        for first in range(0, 3000, 300):
            store.upsert(points[first : first + 300])
        assert files(place)
        query = unit(0.1, 0.7, -0.3, 0.2)
        for limit in (10, 1500, 2500):
            found = ids(store.search(query, limit))
            assert len(found) == limit
            assert len(set(found) & set(exact(points, query, limit))) >= 0.98 * limit
        some = [document_key(f"{number}.md") for number in range(0, 300, 7)]
        wanted = [point for point in points if point.document in some]
        assert ids(store.search(query, 50, some)) == exact(wanted, query, 50)


def test_many_that_are_the_same_are_all_found(place: Place) -> None:
    points = [make_point("same.md", at, unit(1, 2, 3)) for at in range(2000)]
    points += [make_point("other.md", at, vector) for at, vector in enumerate(random_units(200))]
    with made(place, exact_below=100) as store:
        store.upsert(points)
        assert len(set(ids(store.search(unit(1), 2150)))) == 2150


def test_what_is_deleted_in_a_graph_is_gone(place: _Folder) -> None:
    points = numbered(1000)
    with made(place, exact_below=100) as store:
        store.upsert(points)
        store.delete([point.id for point in points[:150]])
        assert len(store.search(unit(1), 1000)) == 850
        assert not set(ids(store.search(unit(1), 1000))) & {point.id for point in points[:150]}
        assert len(store.search(unit(1), 1000, [document_key("20.md")])) == 10
        assert store.search(unit(1), 1000, [document_key("2.md")]) == []
    # A new store reads the graph with the deleted points in it.
    with place.store(options={"exact_below": 100}) as again:
        assert set(ids(again.search(unit(1), 1000))) == {point.id for point in points[150:]}
        again.delete([point.id for point in points[150:700]])
        again.upsert(numbered(150, seed=5, version="2"))
        assert len(again.search(unit(1), 1000)) == 450
    # By now most of it was dead, and it was made anew.
    with place.store(options={"exact_below": 100}) as last:
        assert len(last.search(unit(1), 1000)) == 450
        assert len(all_points(last)) == 450


def test_a_graph_that_became_small_is_searched_exactly(place: _Folder) -> None:
    points = numbered(400)
    with made(place, exact_below=100) as store:
        store.upsert(points)
        store.delete([point.id for point in points[:380]])
        store.upsert(points[:110])
        store.delete([point.id for point in points[:110]])
        query = unit(0.5, 0.1, 0.9)
        assert ids(store.search(query, 50)) == exact(points[380:], query, 50)


def test_the_file_is_not_written_for_every_batch(place: _Folder) -> None:
    with made(place) as store:
        for point in numbered(300):
            store.upsert([point])
        assert files(place) == []
        store.upsert(numbered(1200))
    assert len(files(place)) == 1


def test_a_damaged_index_file_is_made_up_for(place: _Folder) -> None:
    points = numbered(1200)
    with made(place) as store:
        store.upsert(points)
    (name,) = files(place)
    (place.folder / "faiss" / "laws" / name).write_bytes(b"junk")
    with place.store() as store:
        assert ids(store.search(unit(1), 5)) == exact(points, unit(1), 5)
        store.upsert(points)
        store.delete([point.id for point in points[:100]])
    assert len(files(place)) == 1
    # Without any file, after deletions were forgotten.
    (place.folder / "faiss" / "laws" / files(place)[0]).unlink()
    with place.store() as store:
        assert len(store.search(unit(1), 2000)) == 1100


def test_a_collection_made_again_has_nothing_of_the_old_one(place: _Folder) -> None:
    with made(place) as first, place.store() as second:
        first.upsert(numbered(1500))
        first.put([Entry("meta-x", "meta", "", "1")])
        assert len(second.search(unit(1), 10)) == 10
        first.drop()
        with pytest.raises(StoreSchemaError, match="was dropped"):
            second.search(unit(1), 10)
        first.create(4)
        first.upsert([make_point("new.md", 0, np.array([1, 0, 0, 0], np.float32))])
        assert len(second.search(np.array([1, 0, 0, 0], np.float32), 10)) == 1
        assert second.get(["meta-x"]) == {}


# -- several processes ---------------------------------------------------------------------------------------


def test_processes_see_what_others_write(place: _Folder) -> None:
    with made(place, exact_below=50) as store:
        store.upsert([make_point("mine.md", 0, unit(1))])
        assert len(store.search(unit(1), 500)) == 1
        first, second = start(place, 20), start(place, 15)
        while first.poll() is None or second.poll() is None:
            # Whole batches only, whatever the others are doing.
            assert store.count() % 10 == 1
            assert len(store.search(unit(1), 500)) % 10 == 1
        assert (first.returncode, second.returncode) == (0, 0)
        assert store.count() == 201
        assert set(ids(store.search(unit(1), 500))) == all_points(store).keys()
        for process in (first, second):
            process.communicate()


def test_a_killed_writer_leaves_whole_batches(place: _Folder) -> None:
    made(place).close()
    for attempt in range(5):
        writer = start(place, 10_000)
        assert writer.stdout is not None
        for _ in range(3 + 5 * attempt):
            last = int(writer.stdout.readline())
        time.sleep(0.003 * attempt)
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split()
        last = int(rest[-1]) if rest else last
        with place.store(options={"exact_below": 50}) as store:
            found = all_points(store, vectors=True)
            assert len(found) % 10 == 0
            assert len(found) >= 10 * (last + 1)
            assert set(ids(store.search(unit(1), 100_000))) == found.keys()
            # Halves of index files do no harm, and it can be written to.
            store.upsert([make_point("after.md", 0, unit(1))])
            assert store.search(unit(1), 1)[0].id == make_point("after.md", 0, unit(1)).id
            store.delete([make_point("after.md", 0, unit(1)).id])


class TestFaissLibrary(LibraryConformance):
    """A library in it does what every library does."""
