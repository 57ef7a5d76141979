"""Many workers read documents into one database; any of them may be killed."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.effort import tries
from tests.index.providers.postgres_place import running_server
from tests.index.providers.postgres_server import PostgresServer

from loccit import Library
from loccit.errors import LoccitError, UsageError
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.catalogue import Catalogue
from loccit.index.shared.ids import PointId, content_of, edition_of
from loccit.ingest.distributed import runners
from loccit.ingest.distributed.worker import KIND
from loccit.model import Progress

KILLS, WORKERS = tries(4, 20), tries(2, 4)
kills: list[bool] = []
DOCUMENTS = 10


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    # Not below pytest's own folder, which only its owner may enter: a server that root starts runs as nobody.
    with tempfile.TemporaryDirectory(prefix="loccit-postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for number in range(DOCUMENTS):
        sections = "".join(
            f"## {number}.{part} Duty {part}\n\nThe keeper of house {number} shall see to matter {part}.\n\n"
            for part in range(1, 4)
        )
        (folder / f"house{number}.md").write_text(f"# House {number}\n\n{sections}", encoding="utf-8")
    return folder


def database(server: PostgresServer, collection: str) -> DatabaseSettings:
    return DatabaseSettings("postgres", connection_string=server.url, collection=collection)


def contents(settings: DatabaseSettings) -> tuple[set[object], dict[str, tuple[str, int]]]:
    """Return the places of all points, and the content and size of every document that counts."""
    with load_store(settings) as store:
        points = [PointId.parse(point.id) for batch in store.points() for point in batch]
        assert len(points) == len(set(points)) == store.count()
        for kind in (KIND, "intent"):
            assert not [entry for batch in store.entries(kind) for entry in batch]
        heads = Catalogue(store, "test").heads()
        assert {(point.document, point.version) for point in points} == {
            (key, edition_of(head.version)) for key, head in heads.items()
        }
        return (
            {point._replace(version="") for point in points},
            {key: (content_of(head.version), head.points) for key, head in heads.items()},
        )


@pytest.fixture(scope="module")
def undisturbed(
    server: PostgresServer, documents: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[set[object], dict[str, tuple[str, int]]]:
    """What one process puts into the database."""
    settings = database(server, "undisturbed")
    with Library(tmp_path_factory.mktemp("one") / "index", database=settings) as library:
        assert len(library.index([documents]).added) == DOCUMENTS
    return contents(settings)


class Watched(runners.LocalRunner):
    """Starts processes, and lets one of them be killed."""

    def __init__(self) -> None:
        self.started: list[runners.LocalHandle] = []

    def start(self, setup: dict[str, Any]) -> runners.Handle:
        handle = runners.LocalHandle(setup)
        self.started.append(handle)
        return handle

    def kill_one(self, chance: random.Random) -> bool:
        """Kill a worker that is alive; say whether there was one."""
        alive = [handle for handle in self.started if handle.alive]
        if alive:
            os.kill(chance.choice(alive).pid, signal.SIGKILL)
        return bool(alive)


class Killer:
    """Waits until so many documents are done, and a moment longer, then kills a worker."""

    def __init__(self, runner: Watched, chance: random.Random) -> None:
        self.runner = runner
        self.chance = chance
        self.killed = False
        self._wanted = chance.randrange(DOCUMENTS - 2)
        # Before the first document is done, workers are still starting: that is a longer moment.
        self._moment = chance.uniform(0.0, 0.2 if self._wanted else 2.5)
        self._thread: threading.Thread | None = None

    def __call__(self, step: Progress) -> None:
        if step.stage == "read" and step.done >= self._wanted and self.runner.started and not self._thread:
            self._thread = threading.Thread(target=self._kill, daemon=True)
            self._thread.start()

    def _kill(self) -> None:
        time.sleep(self._moment)
        self.killed = self.runner.kill_one(self.chance)

    def join(self) -> None:
        """Wait until it is done; it never began where everything was over at the first look."""
        if self._thread is not None:
            self._thread.join()


def test_workers_put_in_what_one_process_puts_in(
    server: PostgresServer, documents: Path, undisturbed: object, tmp_path: Path
) -> None:
    settings = database(server, "several")
    with Library(tmp_path / "index", database=settings) as library:
        report = library.index([documents], workers=4)
        assert (len(report.added), report.chunks, report.failed) == (DOCUMENTS, 4 * DOCUMENTS, [])
        assert contents(settings) == undisturbed
        assert library.doctor(repair=False).healthy
        assert library.search("keeper of house 7").results[0].source_path.endswith("house7.md")
        again = library.index([documents], workers=4)
        assert (again.unchanged, again.added) == (DOCUMENTS, [])


def test_changes_removals_and_files_that_cannot_be_read(server: PostgresServer, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_text(f"# {name}\n\nText of {name}.\n", encoding="utf-8")
    settings = database(server, "changing")
    with Library(tmp_path / "index", database=settings) as library:
        library.index([folder], workers=2)
        (folder / "a.md").write_text("# a\n\nText of a, and more of it.\n", encoding="utf-8")
        (folder / "b.md").unlink()
        (folder / "broken.pdf").write_bytes(b"%PDF-1.7 not really")
        report = library.index([folder], workers=2)
        assert [Path(path).name for path in report.updated] == ["a.md"]
        assert [Path(path).name for path in report.removed] == ["b.md"]
        assert [Path(failure.path).name for failure in report.failed] == ["broken.pdf"]
        assert library.doctor(repair=False).healthy
    _, heads = contents(settings)
    assert len(heads) == 2


@pytest.mark.randomised
@pytest.mark.parametrize("seed", range(KILLS))
def test_killing_a_worker_loses_and_repeats_nothing(
    seed: int,
    server: PostgresServer,
    documents: Path,
    undisturbed: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance, runner = random.Random(seed), Watched()
    monkeypatch.setattr(runners, "load_runner", lambda name: runner)
    killer = Killer(runner, chance)
    settings = database(server, f"killed{seed}")
    with Library(tmp_path / "index", database=settings) as library:
        report = library.index([documents], workers=WORKERS, progress=killer)
        killer.join()
        kills.append(killer.killed)
        assert sorted(report.added) == sorted(str(path) for path in documents.iterdir())
        assert (report.chunks, report.failed) == (4 * DOCUMENTS, [])
        assert contents(settings) == undisturbed
        assert library.doctor(repair=False).healthy
    assert not any(handle.alive for handle in runner.started)


@pytest.mark.randomised
def test_most_of_the_kills_came_in_time() -> None:
    """Where the work is done too quickly there is nobody left to kill; a test that never kills shows nothing."""
    if len(kills) < KILLS:
        pytest.skip("not all of the kills were tried")
    assert sum(kills) >= 0.6 * KILLS


def test_two_machines_share_the_work(
    server: PostgresServer, documents: Path, undisturbed: object, tmp_path: Path
) -> None:
    settings = database(server, "machines")
    reports: list[Any] = []

    def run(machine: str) -> None:
        with Library(tmp_path / machine, database=settings) as library:
            reports.append(library.index([documents], workers=2))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("here", "there")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 2
    assert contents(settings) == undisturbed


def test_workers_that_cannot_do_anything_are_not_started_for_ever(
    server: PostgresServer, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hopeless(runners.LocalRunner):
        def start(self, setup: dict[str, Any]) -> runners.Handle:
            broken = json.loads(json.dumps(setup))
            broken["index"]["embedding_model"] = str(tmp_path / "no-such-model")
            return runners.LocalHandle(broken)

    monkeypatch.setattr(runners, "load_runner", lambda name: Hopeless())
    with (
        Library(tmp_path / "index", database=database(server, "hopeless")) as library,
        pytest.raises(Exception, match=r"before they have finished anything.*no-such-model"),
    ):
        library.index([documents], workers=2)


def test_a_cluster_that_cannot_be_reached_is_refused(
    server: PostgresServer, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound, but nobody listens.
        monkeypatch.setenv("RAY_ADDRESS", f"ray://127.0.0.1:{taken.getsockname()[1]}")
        with (
            Library(tmp_path / "index", database=database(server, "unreachable")) as library,
            pytest.raises(LoccitError, match=r"Ray cluster at .* cannot be reached.*RAY_ADDRESS"),
        ):
            library.index([documents], workers=2, runner="ray")


def test_a_server_that_restarts_does_not_end_a_run(
    documents: Path, undisturbed: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running_server() as own:
        settings = database(own, "restarted")
        gone = threading.Event()

        def restart(progress: Progress) -> None:
            if progress.stage == "read" and progress.done >= 2 and not gone.is_set():
                gone.set()
                own.stop()
                threading.Timer(3.0, own.start).start()

        with Library(tmp_path / "index", database=settings) as library:
            report = library.index([documents], workers=2, progress=restart)
            assert (len(report.added), report.failed) == (DOCUMENTS, [])
            assert library.doctor(repair=False).healthy
        assert gone.is_set()
        assert contents(settings) == undisturbed
    assert "Waiting up to 300 seconds for the database" in caplog.text
    assert "answers again" in caplog.text


def test_ray(server: PostgresServer, documents: Path, undisturbed: object, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    settings = database(server, "on-ray")
    with Library(tmp_path / "index", database=settings) as library:
        report = library.index([documents], workers=2, runner="ray")
        assert (len(report.added), report.failed) == (DOCUMENTS, [])
        assert library.doctor(repair=False).healthy
    assert contents(settings) == undisturbed


def test_a_runner_needs_a_database_that_can_be_shared(documents: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "index") as library, pytest.raises(UsageError, match="database"):
        library.index([documents], runner="ray")


def test_an_unknown_runner_is_named(server: PostgresServer, documents: Path, tmp_path: Path) -> None:
    with (
        Library(tmp_path / "index", database=database(server, "unknown")) as library,
        pytest.raises(UsageError, match=r"local, ray"),
    ):
        library.index([documents], runner="cloud")
