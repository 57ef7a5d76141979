"""Many may search while one indexes, and a second writer waits or is told who is first."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.ingest.fakes import MODES, WordEmbedder, found, holdings
from tests.open_files import needs_proc, open_files

from loccit import Library
from loccit.errors import IndexLockedError

HERE = Path(__file__).parent


def fill(docs: Path, count: int, word: str = "zebra") -> None:
    for number in range(count):
        text = f"# Document {number}\n\n## Section {number}. The {word}\n\nThe {word} eats number {number}.\n"
        (docs / f"{word}-{number}.md").write_text(text, encoding="utf-8")


def start(script: str, *options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def held_run(index: Path, docs: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that indexes, and stops before the first vector until a file is there."""
    go = index.parent / "go"
    process = start("held.py", index, docs, go)
    try:
        yield process, go
    finally:
        go.touch()
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def until(condition: Callable[[], object]) -> None:
    """Wait for another process to get somewhere."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("nothing happened")


def test_documents_can_be_found_before_their_vectors(tmp_path: Path, docs: Path) -> None:
    fill(docs, 6)
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        assert found(library, "zebra") == []
        with held_run(tmp_path / "index", docs) as (process, _):
            until(lambda: len(found(library, "zebra")) == 6)
            assert found(library, "zebra", "semantic") == []
            assert library.section("Section 3").heading == "Section 3. The zebra"
            assert str(process.pid) in library.status().writer
            checks = library.doctor().checks
            assert [check.name for check in checks if str(process.pid) in check.detail] == ["writer"]
            assert all(check.ok for check in checks)
        assert len(set(found(library, "zebra", "semantic"))) == 6
        assert library.status().writer == ""
        assert library.doctor(repair=False).healthy


def test_a_second_writer_waits_or_is_told_who_is_first(tmp_path: Path, docs: Path, quick: None) -> None:
    fill(docs, 2)
    told: list[str] = []
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        with held_run(tmp_path / "index", docs) as (process, go):
            until(lambda: found(library, "zebra"))
            with pytest.raises(IndexLockedError, match=rf"process {process.pid} on .* \(held.py"):
                library.index(docs, wait=False)

            def note(holder: str) -> None:
                told.append(holder)
                go.touch()

            report = library.index(docs, on_wait=note)
            assert len(told) == 1 and str(process.pid) in told[0]
            assert (report.unchanged, report.embedded) == (2, 0)
        assert library.index(docs, wait=False).unchanged == 2


def test_processes_search_while_one_indexes(tmp_path: Path, docs: Path, quick: None) -> None:
    fill(docs, 10)
    stop = tmp_path / "stop"
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        searchers = [start("searching.py", tmp_path / "index", stop) for _ in range(2)]
        try:
            library.index(docs)
            fill(docs, 30)
            library.index(docs)
            for path in sorted(docs.iterdir())[:10]:
                path.write_text(path.read_text() + "\nMore.\n", encoding="utf-8")
            library.index(docs)
            library.index(docs, rebuild=True)
        finally:
            stop.touch()
            results = [(searcher.communicate(timeout=120), searcher.returncode) for searcher in searchers]
        for (output, errors), code in results:
            assert code == 0, errors
            assert int(output.split()[0]) >= 30
        assert library.doctor(repair=False).healthy


def test_threads_share_a_library(tmp_path: Path, docs: Path, quick: None) -> None:
    fill(docs, 10)
    errors: list[BaseException] = []
    done = threading.Event()

    def search(library: Library) -> None:
        try:
            while not done.is_set():
                for mode in MODES:
                    library.search("zebra eats", mode=mode)
                library.outline()
        except BaseException as error:
            errors.append(error)

    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        threads = [threading.Thread(target=search, args=(library,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            library.index(docs)
            fill(docs, 4, "camel")
            library.index(docs)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert not errors
        assert len(found(library, "camel")) == 4
        kept = holdings(library, ["zebra", "camel"])
    with Library(tmp_path / "fresh", embedder=WordEmbedder()) as library:
        library.index(docs)
        assert holdings(library, ["zebra", "camel"]) == kept


def test_two_threads_index_in_turn(tmp_path: Path, docs: Path, quick: None) -> None:
    fill(docs, 5)
    reports = []
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        threads = [threading.Thread(target=lambda: reports.append(library.index(docs))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(len(report.added) for report in reports) == [0, 0, 5]
        assert library.doctor(repair=False).healthy


def test_many_processes_open_a_new_index_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from loccit import Library; sys.stdin.read(); "
        "Library(sys.argv[1]).search('zebra', mode='keyword')"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "index")],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    for process in processes:
        assert process.stderr is not None
        errors = process.stderr.read()
        assert process.wait(timeout=120) == 0, errors.decode()


@needs_proc
def test_threads_that_are_gone_leave_no_connections(tmp_path: Path, docs: Path, quick: None) -> None:
    fill(docs, 1)
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        library.index(docs)
        for _ in range(20):
            thread = threading.Thread(target=lambda: library.search("zebra"))
            thread.start()
            thread.join()
        assert open_files().count(tmp_path / "index" / "record.sqlite3") <= 3
