"""A library moves from store to store: nothing is embedded again, nothing is lost, whatever happens on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.index.providers.postgres_server import PostgresServer

from loccit import Library
from loccit.errors import IndexStateError, StoreError, StoreSchemaError, UsageError
from loccit.index import moving
from loccit.index.home import read_home
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.store import Entry
from loccit.model import Progress
from loccit.models.embedding.protocol import Vectors
from loccit.testing.libraries import ACT, LEASE, NOTES, HashEmbedder

ROOT = Path(__file__).parents[2]
QUERIES = (
    "when does the master report",
    "ending the lease",
    '"waste oil"',
    "Section 3",
    "tides and the moon",
)


class NoEmbedder(HashEmbedder):
    """Answers questions, and refuses to embed a document."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("nothing has to be embedded again")

    def embed_query(self, text: str) -> Vectors:
        return HashEmbedder().embed_query(text)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="loccit-moving-"))
    with PostgresServer(folder) as started:
        yield started
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOCCIT_CONNECTION_STRING", "LOCCIT_DATABASE", "LOCCIT_DATABASE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (("act.md", ACT), ("lease.md", LEASE), ("tides.md", NOTES)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path, docs: Path) -> Path:
    """An index of three documents in its folder alone."""
    with Library(tmp_path / ".loccit", embedder=HashEmbedder()) as library:
        library.index(docs)
    return tmp_path / ".loccit"


def faiss(tmp_path: Path, collection: str = "laws") -> DatabaseSettings:
    return DatabaseSettings(
        provider="faiss", collection=collection, connection_string=str(tmp_path / "vectors")
    )


def postgres(server: PostgresServer, collection: str, *, patience: float = 300.0) -> DatabaseSettings:
    settings = DatabaseSettings(
        provider="postgres", collection=collection, connection_string=server.url, patience=patience
    )
    with load_store(settings) as store:
        store.drop()
    return settings


def answers(library: Library) -> list[list[tuple[str, str]]]:
    """What a search finds, and where."""
    found = [library.search(query, top_k=5).results for query in QUERIES]
    return [[(Path(result.source_path).name, result.content) for result in results] for results in found]


def count(settings: DatabaseSettings) -> int:
    with load_store(settings) as store:
        return store.count() if store.dimension() is not None else 0


def belongs_to(home: Path) -> str:
    with Library(home, embedder=NoEmbedder(), create=False) as library:
        return library.status().database


# -- there and back --------------------------------------------------------------------------------------------


def test_a_library_moves_there_and_back(home: Path, tmp_path: Path, server: PostgresServer) -> None:
    with Library(home, embedder=NoEmbedder()) as library:
        before, passages = answers(library), library.status().passages
        steps: list[Progress] = []
        for target in (faiss(tmp_path), postgres(server, "there"), DatabaseSettings()):
            report = library.migrate(target, progress=steps.append)
            assert (report.documents, report.passages, report.copied) == (3, passages, 3)
            assert report.target == library.status().database or target.provider == "embedded"
            assert answers(library) == before
            assert library.doctor(repair=False).healthy
            assert library.index().unchanged == 3
    assert [(step.done, step.total) for step in steps if step.stage == "copy"] == [(0, 3), (3, 3)] * 2
    assert count(faiss(tmp_path)) == passages, "the old copies stay"
    with Library(home, embedder=NoEmbedder()) as library:
        assert library.status().database == ""
        assert answers(library) == before


def test_a_moved_library_is_found_by_whoever_opens_the_folder(home: Path, tmp_path: Path, docs: Path) -> None:
    with Library(home, embedder=HashEmbedder()) as library:
        library.migrate(faiss(tmp_path))
        (docs / "new.md").write_text("# New\n\nOysters are landed at the old quay.\n", encoding="utf-8")
        library.index()
    assert belongs_to(home) == "faiss, collection laws"
    with Library.connect(tmp_path / "elsewhere", faiss(tmp_path), embedder=NoEmbedder()) as other:
        assert other.status().documents == 4
        assert Path(other.search("oysters").results[0].source_path).name == "new.md"


def test_what_was_published_by_others_moves_along(tmp_path: Path, docs: Path, server: PostgresServer) -> None:
    shared = postgres(server, "shared")
    with Library(tmp_path / "a", database=shared, embedder=HashEmbedder()) as mine:
        mine.index(docs / "act.md")
        with Library(tmp_path / "b", database=shared, embedder=HashEmbedder()) as theirs:
            theirs.index(docs / "tides.md")
        assert mine.migrate(DatabaseSettings()).documents == 2
        assert Path(mine.search("tides and the moon").results[0].source_path).name == "tides.md"


def test_documents_without_vectors_follow_when_they_have_them(home: Path, tmp_path: Path, docs: Path) -> None:
    (docs / "act.md").write_text(ACT.replace("two hours", "three hours"), encoding="utf-8")
    with Library(home, embedder=HashEmbedder()) as library:
        library.index(embed=False)
        report = library.migrate(faiss(tmp_path))
        assert report.documents == 2
        assert library.status().pending_passages
        library.index()
        status = library.status()
        assert (status.pending_passages, status.unpublished_passages) == (0, 0)
        assert count(faiss(tmp_path)) == status.passages


def test_an_older_version_in_the_old_home_does_not_come_back(
    home: Path, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crash that leaves the rows of the old home with the new one, while a document waits for its vectors."""
    with Library(home, embedder=HashEmbedder()) as library:
        library.migrate(faiss(tmp_path, "old"))
        (docs / "act.md").write_text(ACT.replace("two hours", "three hours"), encoding="utf-8")
        library.index(embed=False)
    monkeypatch.setattr(moving, "_remember_stored", _crash)
    with Library(home, embedder=HashEmbedder()) as library, pytest.raises(KeyboardInterrupt):
        library.migrate(faiss(tmp_path, "new"))
    monkeypatch.undo()
    with Library(home, embedder=HashEmbedder()) as library:
        assert library.status().database == "faiss, collection new"
        library.index()
        assert "three hours" in library.section("2.1").text
        assert count(faiss(tmp_path, "new")) == library.status().passages
        assert library.doctor(repair=False).healthy


def test_an_index_with_nothing_in_it_moves(tmp_path: Path) -> None:
    with Library(tmp_path / ".loccit", embedder=NoEmbedder()) as library:
        assert library.migrate(faiss(tmp_path)).documents == 0
    assert read_home(tmp_path / ".loccit") == faiss(tmp_path)


# -- the old copy ----------------------------------------------------------------------------------------------


def test_the_old_copy_is_deleted_on_request(home: Path, tmp_path: Path, server: PostgresServer) -> None:
    there = postgres(server, "dropped")
    with Library(home, embedder=NoEmbedder()) as library:
        before = answers(library)
        assert library.migrate(there, drop_old=True).dropped
        assert not (home / "vectors").exists()
        assert library.migrate(faiss(tmp_path), drop_old=True).dropped
        assert count(there) == 0
        assert answers(library) == before


def test_an_old_copy_that_cannot_be_deleted_is_mentioned(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loccit.index.providers.faiss import FaissStore

    def refuse(store: FaissStore) -> None:
        raise StoreError("faiss: not allowed.")

    with Library(home, embedder=NoEmbedder()) as library:
        library.migrate(faiss(tmp_path))
        monkeypatch.setattr(FaissStore, "drop", refuse)
        report = library.migrate(DatabaseSettings(), drop_old=True)
    assert not report.dropped
    assert report.warnings == ["The library was moved, but the old copy is still there: faiss: not allowed."]
    assert belongs_to(home) == ""


def test_two_addresses_of_one_place_are_noticed(home: Path, server: PostgresServer) -> None:
    """Else the old copy, deleted, would be the new one."""
    first = postgres(server, "same")
    second = DatabaseSettings(
        provider="postgres",
        collection="same",
        connection_string=server.url.replace("127.0.0.1", "localhost"),
    )
    with Library(home, embedder=NoEmbedder()) as library:
        library.migrate(first)
        held = count(first)
        for wish in (first, second):
            with pytest.raises(UsageError, match="already"):
                library.migrate(wish, replace=True, drop_old=True)
    assert count(first) == held > 0
    with load_store(first) as store:
        assert store.get(["meta-probe", "meta-moving"]) == {}


# -- what is in the way ----------------------------------------------------------------------------------------


def test_another_library_is_not_overwritten_unless_asked(home: Path, tmp_path: Path, docs: Path) -> None:
    with Library(tmp_path / "other", database=faiss(tmp_path), embedder=HashEmbedder()) as other:
        other.index(docs / "tides.md")
        (docs / "tides.md").write_text(f"{NOTES}\nMore of it.\n", encoding="utf-8")
    with Library(home, embedder=HashEmbedder()) as library:
        library.index()
        with pytest.raises(UsageError, match=r"a library \(1 documents\) in .*faiss .*--replace"):
            library.migrate(faiss(tmp_path))
        assert library.status().database == ""
        report = library.migrate(faiss(tmp_path), replace=True)
        assert (report.documents, report.copied) == (3, 3)
        assert count(faiss(tmp_path)) == report.passages


def test_a_library_of_another_model_is_in_the_way(home: Path, tmp_path: Path, docs: Path) -> None:
    with Library(tmp_path / "other", database=faiss(tmp_path), embedder=HashEmbedder(16, "small")) as other:
        other.index(docs)
    with Library(home, embedder=NoEmbedder()) as library:
        with pytest.raises(UsageError, match="a library"):
            library.migrate(faiss(tmp_path))
        library.migrate(faiss(tmp_path), replace=True)
        assert library.search("ending the lease").results


def test_what_is_no_library_is_in_the_way(home: Path, tmp_path: Path) -> None:
    with load_store(faiss(tmp_path)) as store:
        store.create(48)
        store.put([Entry("meta-library", "meta", "", "not ours")])
    with Library(home, embedder=NoEmbedder()) as library:
        with pytest.raises(StoreSchemaError, match="not a Loccit library"):
            library.migrate(faiss(tmp_path))
        assert library.migrate(faiss(tmp_path), replace=True).documents == 3


def test_a_copy_that_is_there_already_is_taken(home: Path, tmp_path: Path) -> None:
    """Back to where it was before: the old copy was left as it is."""
    with Library(home, embedder=NoEmbedder()) as library:
        library.migrate(faiss(tmp_path))
        library.migrate(DatabaseSettings())
        assert library.migrate(faiss(tmp_path)).copied == 0


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (DatabaseSettings(), "in its folder already"),
        (DatabaseSettings(provider="in-memory"), "cannot be moved to in-memory"),
        (DatabaseSettings(provider="nowhere"), "no database provider 'nowhere'"),
        (DatabaseSettings(provider="postgres"), "connection_string"),
        (DatabaseSettings(provider="faiss", native="keyword"), "no keyword search of its own"),
    ],
)
def test_what_cannot_be_meant_is_refused(home: Path, target: DatabaseSettings, message: str) -> None:
    with Library(home, embedder=NoEmbedder()) as library:
        with pytest.raises(UsageError, match=message):
            library.migrate(target)
        assert library.search("ending the lease").results
    assert belongs_to(home) == ""


def test_a_library_in_memory_stays_there(docs: Path) -> None:
    with (
        Library(
            "unused", database=DatabaseSettings(provider="in-memory"), embedder=HashEmbedder()
        ) as library,
        pytest.raises(UsageError, match="in memory cannot be moved"),
    ):
        library.migrate(DatabaseSettings())


def test_who_has_the_old_home_open_does_not_write_to_it(home: Path, tmp_path: Path, docs: Path) -> None:
    with Library(home, embedder=HashEmbedder()) as late:
        with Library(home, embedder=NoEmbedder()) as library:
            library.migrate(faiss(tmp_path))
        (docs / "new.md").write_text("# New\n\nText.\n", encoding="utf-8")
        for write in (late.index, lambda: late.forget(docs / "act.md")):
            with pytest.raises(IndexStateError, match=r"moved to the database faiss .*Open it again"):
                write()


# -- interruptions ---------------------------------------------------------------------------------------------


def _crash(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("start", ["folder", "database"])
@pytest.mark.parametrize(
    ("point", "moved"),
    [
        ("moving._clear_the_way", False),
        ("moving._copy", False),
        ("moving._check", False),
        ("moving._change_home", False),
        ("moving.write_home", False),
        ("moving._remember_stored", None),
    ],
)
def test_an_interruption_leaves_one_home_and_the_next_attempt_completes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, point: str, moved: bool | None
) -> None:
    with Library(home, embedder=NoEmbedder()) as library:
        before = answers(library)
        if start == "database":
            library.migrate(faiss(tmp_path, "old"))
    old = "" if start == "folder" else "faiss, collection old"
    if moved is None:
        # From a folder this comes before the change, from a database after it.
        moved = start == "database"
    with monkeypatch.context() as patch:
        patch.setattr(f"loccit.index.{point}", _crash)
        with Library(home, embedder=NoEmbedder()) as library:
            with pytest.raises(KeyboardInterrupt):
                library.migrate(faiss(tmp_path, "new"))
            assert answers(library) == before
    assert belongs_to(home) == ("faiss, collection new" if moved else old)
    with Library(home, embedder=NoEmbedder()) as library:
        assert answers(library) == before
        assert library.index().unchanged == 3
        assert library.doctor(repair=False).healthy
        if not moved:
            library.migrate(faiss(tmp_path, "new"))
        assert answers(library) == before
        assert library.doctor(repair=False).healthy
        assert count(faiss(tmp_path, "new")) == library.status().passages


KILLED = """
import os, signal, sys
from loccit import Library
from loccit.index.shared import points
from loccit.index.settings import DatabaseSettings
from tests.index.test_moving import NoEmbedder

points._POINTS_AT_ONCE = 1
def step(progress):
    if progress.done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
with Library(sys.argv[1], embedder=NoEmbedder()) as library:
    library.migrate(DatabaseSettings("postgres", sys.argv[2], "killed"), progress=step)
"""


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_a_move_that_is_killed_goes_on(
    home: Path, docs: Path, server: PostgresServer, at: int, tmp_path: Path
) -> None:
    there = postgres(server, "killed")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(home), server.url, str(at)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Library(home, embedder=HashEmbedder()) as library:
        assert library.status().database == ""
        # The library goes on to change where it still is.
        (docs / "act.md").write_text(ACT.replace("12 crowns", "15 crowns"), encoding="utf-8")
        (docs / "tides.md").unlink()
        library.index()
        before = answers(library)
        report = library.migrate(there)
        assert (report.documents, report.copied) == (2, 1 if at > 1 else 2)
        assert answers(library) == before
        assert count(there) == library.status().passages
        assert library.doctor(repair=False).healthy


def test_a_server_that_goes_away_leaves_the_library_where_it_was(home: Path, server: PostgresServer) -> None:
    there = postgres(server, "gone", patience=2.0)

    def stop(progress: Progress) -> None:
        server.stop()

    try:
        with Library(home, embedder=NoEmbedder()) as library:
            before = answers(library)
            with pytest.raises(StoreError) as caught:
                library.migrate(there, progress=stop)
            assert "postgres" in str(caught.value)
            assert "sesame" not in str(caught.value)
            assert answers(library) == before
    finally:
        server.start()
    assert belongs_to(home) == ""
    with Library(home, embedder=NoEmbedder()) as library:
        assert library.migrate(there).documents == 3


def test_nothing_secret_is_written_down(home: Path, server: PostgresServer) -> None:
    with Library(home, embedder=NoEmbedder()) as library:
        library.migrate(postgres(server, "secret"))
    written = json.loads((home / "database.json").read_text(encoding="utf-8"))
    assert written["collection"] == "secret"
    assert "connection_string" not in written
    for path in home.rglob("*"):
        assert not path.is_file() or b"sesame" not in path.read_bytes(), path.name
