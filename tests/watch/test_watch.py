"""Watching from Python: every kind of change is noticed, nothing ends it but being told to."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.errors import IndexLockedError, MissingExtraError, UsageError
from loccit.model import IndexReport, Progress
from loccit.watch import WatchRun, _Relevant, awatch, changes, watch

PATIENCE = 60.0


class Watched:
    """A library that is watched in a thread; ``next`` waits for its next run."""

    def __init__(self, library: Library, paths: Any, **options: Any) -> None:
        self.library = library
        self.stop = threading.Event()
        self._seen: queue.Queue[WatchRun | BaseException | None] = queue.Queue()
        self._runs = watch(library, paths, stop=self.stop, **{"debounce": 0.2, "workers": 1, **options})
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        try:
            for run in self._runs:
                self._seen.put(run)
            self._seen.put(None)
        except BaseException as error:
            self._seen.put(error)

    def run(self) -> WatchRun:
        seen = self._seen.get(timeout=PATIENCE)
        assert isinstance(seen, WatchRun), seen
        return seen

    def next(self) -> IndexReport:
        run = self.run()
        assert run.report is not None, run.error
        return run.report

    def end(self) -> None:
        self.stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    write(tmp_path / "docs" / "first.md", "The first cat.")
    return tmp_path / "docs"


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting worker processes for every run would take most of the time; test_command.py has them."""
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / ".loccit", embedder=WordEmbedder()) as library:
        yield library


@pytest.fixture
def start(library: Library) -> Iterator[Callable[..., Watched]]:
    begun: list[Watched] = []

    def begin(*args: Any, **options: Any) -> Watched:
        begun.append(Watched(library, *args, **options))
        return begun[-1]

    yield begin
    for watched in begun:
        watched.end()


def write(path: Path, text: str) -> str:
    path.write_text(f"# {path.stem}\n\n{text}\n", encoding="utf-8")
    return str(path)


def test_every_kind_of_change_is_noticed(
    folder: Path, library: Library, start: Callable[..., Watched]
) -> None:
    watched = start(folder)
    assert watched.next().added == [str(folder / "first.md")]

    second = write(folder / "second.md", "A dog came.")
    assert watched.next().added == [second]
    assert library.search("dog", mode="keyword").results[0].source_path == second

    write(folder / "second.md", "A dog and a heron came.")
    assert watched.next().updated == [second]
    assert library.search("heron", mode="keyword").results

    (folder / "second.md").rename(folder / "third.md")
    assert watched.next().renamed == [(second, str(folder / "third.md"))]

    (folder / "third.md").unlink()
    assert watched.next().removed == [str(folder / "third.md")]
    assert not library.search("heron", mode="keyword").results


def test_folders_come_and_go(folder: Path, tmp_path: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder)
    watched.next()
    outside = tmp_path / "v1.2"
    outside.mkdir()
    write(outside / "moved.md", "A newt.")
    outside.rename(folder / "v1.2")
    assert watched.next().added == [str(folder / "v1.2" / "moved.md")]
    (folder / "v1.2").rename(outside)
    assert watched.next().removed == [str(folder / "v1.2" / "moved.md")]


def test_a_burst_of_changes_takes_few_runs(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder)
    watched.next()
    written = {write(folder / f"n{number}.md", f"Number {number}.") for number in range(20)}
    added, runs = set[str](), 0
    while added != written:
        added |= set(watched.next().added)
        runs += 1
    assert runs <= 4


def test_files_that_come_and_go_meanwhile_end_in_step(
    folder: Path, library: Library, start: Callable[..., Watched]
) -> None:
    watched = start(folder, debounce=0.05)
    watched.next()
    for number in range(150):
        path = folder / f"n{number % 7}.md"
        if number % 3:
            write(path, f"Version {number}.")
        else:
            path.unlink(missing_ok=True)
    write(folder / "last.md", "The end.")
    expected = {str(path) for path in folder.iterdir()}
    while {item.source_path for item in library.documents()} != expected or library.status().failures:
        watched.run()


def test_a_changed_ignore_file_counts(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder)
    watched.next()
    (folder / ".loccitignore").write_text("first.md\n", encoding="utf-8")
    assert watched.next().removed == [str(folder / "first.md")]


def test_a_document_that_cannot_be_read_is_reported_once(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder)
    watched.next()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert [failure.path for failure in watched.next().failed] == [str(folder / "broken.pdf")]
    second = write(folder / "second.md", "A dog came.")
    assert watched.next().added == [second]
    (folder / "broken.pdf").unlink()
    assert watched.next().failed == []


def test_a_folder_that_is_replaced_is_watched_again(
    folder: Path, tmp_path: Path, start: Callable[..., Watched]
) -> None:
    watched = start([folder])
    watched.next()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    write(fresh / "anew.md", "A new folder.")
    folder.rename(tmp_path / "away")
    fresh.rename(folder)
    while not (report := watched.next()).added:
        assert "is no longer there" in report.warnings[0]
    assert (report.added, report.removed) == ([str(folder / "anew.md")], [str(folder / "first.md")])
    later = write(folder / "later.md", "Watched all the same.")
    assert watched.next().added == [later]


def test_what_a_lost_folder_held_is_kept_until_it_is_back(
    folder: Path, tmp_path: Path, library: Library, start: Callable[..., Watched]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    watched = start([folder, other])
    watched.next()
    folder.rename(tmp_path / "away")
    assert "Its documents (1) are kept until it is back" in watched.next().warnings[0]
    second = write(other / "second.md", "A dog came.")
    assert watched.next().added == [second]
    assert library.search("cat", mode="keyword").results
    (tmp_path / "away").rename(folder)
    third = write(folder / "third.md", "A third.")
    assert watched.next().added == [third]


def test_a_single_file_may_be_replaced_deleted_and_come_back(
    folder: Path, tmp_path: Path, start: Callable[..., Watched]
) -> None:
    single = folder / "first.md"
    write(folder / "neighbour.md", "Not asked for.")
    watched = start(single)
    assert watched.next().added == [str(single)]
    write(tmp_path / "new.md", "Quite another text.")
    (tmp_path / "new.md").replace(single)  # as editors do
    assert watched.next().updated == [str(single)]
    single.unlink()
    assert watched.next().removed == [str(single)]
    write(single, "Here again.")
    assert watched.next().added == [str(single)]


def test_a_pattern_is_watched_from_its_folder(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(str(folder / "*.md"))
    watched.next()
    (folder / "list.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    second = write(folder / "second.md", "A dog came.")
    assert watched.next().added == [second]


def test_without_paths_what_was_indexed_before_is_watched(
    folder: Path, library: Library, start: Callable[..., Watched]
) -> None:
    library.index(folder, workers=1)
    watched = start(None)
    assert watched.next().unchanged == 1
    second = write(folder / "second.md", "A dog came.")
    assert watched.next().added == [second]


def test_polling_notices_too(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder, polling=True)
    watched.next()
    second = write(folder / "second.md", "A dog came.")
    assert watched.next().added == [second]


def test_an_error_is_reported_and_the_run_made_again(
    folder: Path, library: Library, start: Callable[..., Watched]
) -> None:
    watched = start(folder, wait=False)
    watched.next()
    with Library(library.path, embedder=WordEmbedder()) as other, other._index.lock.held(wait=True):
        second = write(folder / "second.md", "A dog came.")
        run = watched.run()
        assert run.report is None
        assert isinstance(run.error, IndexLockedError)
        assert run.to_dict()["error"]["type"] == "IndexLockedError"
    while (run := watched.run()).error is not None:
        assert isinstance(run.error, IndexLockedError)
    assert run.report is not None and run.report.added == [second]


def test_it_stops_amid_a_run_and_nothing_is_lost(folder: Path, library: Library) -> None:
    for number in range(5):
        write(folder / f"n{number}.md", f"Number {number}.")
    stop = threading.Event()

    def halt(step: Progress) -> None:
        if step.stage == "read":
            stop.set()

    assert list(watch(library, folder, stop=stop, progress=halt, workers=1)) == []
    before = library.status().documents
    assert 0 < before < 6
    report = library.index(folder, workers=1)
    assert (len(report.added), report.unchanged) == (6 - before, before)


def test_rebuild_counts_for_the_first_run_only(folder: Path, start: Callable[..., Watched]) -> None:
    watched = start(folder, rebuild=True)
    watched.next()
    write(folder / "second.md", "A dog came.")
    report = watched.next()
    assert (len(report.added), report.unchanged) == (1, 1)


# -- for callers that await ------------------------------------------------------------------------------------


def test_it_can_be_awaited(folder: Path, library: Library) -> None:
    async def follow() -> list[list[str]]:
        seen = []
        runs = awatch(library, folder, debounce=0.2, workers=1)
        async for run in runs:
            assert run.report is not None
            seen.append(run.report.added)
            if len(seen) == 2:
                break
            write(folder / "second.md", "A dog came.")
        await runs.aclose()
        return seen

    assert asyncio.run(follow()) == [[str(folder / "first.md")], [str(folder / "second.md")]]


def test_cancelling_ends_it(folder: Path, library: Library) -> None:
    async def follow(begun: asyncio.Event) -> None:
        async for _ in awatch(library, folder, debounce=0.2, workers=1):
            begun.set()

    async def main() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(follow(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = set(threading.enumerate())
    asyncio.run(main())
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if "asyncio" in thread.name]


# -- what counts as a change -----------------------------------------------------------------------------------


def test_what_nobody_reads_is_no_change(tmp_path: Path) -> None:
    import watchfiles

    root = tmp_path / ".hidden" / "docs"
    (root / "folder.new").mkdir(parents=True)
    relevant = _Relevant([str(root)], str(root / "index"))
    added, deleted = watchfiles.Change.added, watchfiles.Change.deleted
    assert relevant(added, str(root / "a.md"))
    assert relevant(deleted, str(root / "below" / "a.PDF"))
    assert relevant(deleted, str(root / "a.folder"))
    assert relevant(added, str(root / "folder.new"))
    assert relevant(added, str(root / "below" / ".gitignore"))
    assert not relevant(added, str(root / "video.mkv"))
    assert not relevant(added, str(root / ".git" / "a.md"))
    assert not relevant(added, str(root / ".a.md.swp"))
    assert not relevant(added, str(root / ".git" / ".gitignore"))
    assert not relevant(added, str(root / "index" / "a.md"))
    assert not relevant(deleted, str(root / "index"))


def test_the_first_answer_tells_to_look(folder: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    noticed = changes([str(folder)], tmp_path / ".loccit", debounce=0.05, stop=stop)
    assert next(noticed) is True
    assert next(noticed) is False
    stop.set()
    assert list(noticed) == []


def test_it_goes_on_by_polling_where_the_system_cannot_watch(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import watchfiles

    real = watchfiles.watch

    def limited(*paths: str, **options: Any) -> Any:
        if not options["force_polling"]:
            raise OSError("OS file watch limit reached")
        return real(*paths, **options)

    monkeypatch.setattr(watchfiles, "watch", limited)
    stop = threading.Event()
    noticed = changes([str(folder)], tmp_path / ".loccit", debounce=0.05, stop=stop)
    assert next(noticed) is True
    write(folder / "second.md", "A dog came.")
    assert any(noticed)
    assert "watch limit reached" in caplog.text
    stop.set()


# -- refused ---------------------------------------------------------------------------------------------------


def test_a_path_that_is_not_there_is_refused(tmp_path: Path, library: Library) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        next(watch(library, tmp_path / "nowhere"))


@pytest.mark.parametrize("debounce", [0, -1, 61, True, "1"])
def test_a_debounce_that_cannot_be_meant_is_refused(library: Library, debounce: Any) -> None:
    with pytest.raises(UsageError, match="debounce must be between"):
        watch(library, debounce=debounce)


def test_without_the_package_the_extra_is_named(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match=r"loccit\[watch\]"):
        watch(library)
