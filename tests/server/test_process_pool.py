"""When many ask at once, further processes answer; nobody notices but by the clock."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import httpx
import pytest
from mcp import Client
from tests.server.conftest import SOURCE, index_registry, write_documents

from loccit import Library
from loccit.server import process_pool
from loccit.server.api.operations import Answer, Question
from loccit.server.process_pool import PoolWorker, ProcessPool, Setup, WorkerGoneError
from loccit.server.services import IndexService, LibraryRegistry
from loccit.server.workers import workers_of
from loccit.workers.processes import command as child_command
from loccit.workers.processes import write_frame

PATIENCE = 60
PATHS = [
    "/api/search?q=report+a+collision&explain=1",
    "/api/search?q=seal+3&mode=keyword&top_k=4",
    '/api/search?q=pump&filters={"date":"soon"}',
    "/api/section?ref=Section+21",
    "/api/section?ref=Section+99",
    "/api/define?term=vessel",
    "/api/documents",
    "/api/map",
    "/api/document?doc=0123456789abcdef",
    "/api/export?q=gale&format=csv",
]


def eventually(condition: Callable[[], Any]) -> Any:
    """Return what a condition comes to be."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def setup_of(index: Path, **options: Any) -> Setup:
    """What a worker opens for an index."""
    reader = LibraryRegistry([IndexService(lambda: index)]).reader()
    assert reader
    return Setup(reader, **options)


@pytest.fixture
def setup(index_folder: Path) -> Setup:
    return setup_of(index_folder / ".loccit")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_LOOK_SECONDS", 0.02)


@pytest.fixture
def pool(setup: Setup) -> Iterator[ProcessPool]:
    pool = ProcessPool(lambda: setup, 1)
    yield pool
    pool.close()


@contextmanager
def at_work(setup: Setup) -> Iterator[PoolWorker]:
    """A worker that is ready."""
    worker = PoolWorker(setup)
    try:
        worker.prepare()
        yield worker
    finally:
        worker.end()


@contextmanager
def command(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Serve as anybody does; gives the address and the process."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(SOURCE)]))
    process = subprocess.Popen(
        [sys.executable, "-m", "loccit", "serve", "--port", "0", *options],
        cwd=folder,
        # What is not to be kept is left behind by a server that is killed.
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
        assert found
        yield found[0], process.pid
    finally:
        process.kill()
        process.communicate()


def members_of(server: int) -> list[int]:
    """Return the processes that a server has started."""
    found: list[int] = []
    for thread in Path(f"/proc/{server}/task").iterdir():
        # One may end at any moment.
        with suppress(OSError):
            found += map(int, (thread / "children").read_text().split())
    return found


def files_of(process: int) -> int:
    """Return how many files and pipes a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def busy_workers(server: int) -> list[int]:
    """Return those that have opened the index, as far as their memory tells."""
    return [pid for pid in members_of(server) if ".sqlite3" in Path(f"/proc/{pid}/maps").read_text()]


def crowd(address: str, paths: list[str], rounds: int = 2) -> list[tuple[int, Any]]:
    """Ask for everything at once, several times."""

    with ThreadPoolExecutor(20) as threads, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        return list(threads.map(lambda path: comparable(client.get(path)), paths * rounds))


def comparable(answer: httpx.Response) -> tuple[int, Any]:
    """Return what two answers to the same question have in common."""
    if "json" not in answer.headers["content-type"]:
        return answer.status_code, answer.text
    data = answer.json()
    data.pop("timings_ms", None)
    return answer.status_code, data


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")


@linux
def test_a_crowd_gets_the_answers_that_one_gets(index_folder: Path) -> None:
    with command(index_folder, "--processes", "2") as (address, server):
        eventually(lambda: httpx.get(address + "/ready").status_code == 200)
        alone = [comparable(httpx.get(address + path)) for path in PATHS]
        assert [status for status, _ in alone] == [200, 200, 422, 200, 404, 200, 200, 200, 404, 200]
        assert members_of(server) == []
        eventually(lambda: crowd(address, PATHS) == alone * 2 and busy_workers(server))
        # Also once it has come to work.
        assert crowd(address, PATHS, 4) == alone * 4
        (first,) = members_of(server)
        # What it knows of the state of the index is the same too.
        etags = {httpx.get(address + "/api/documents").headers["etag"] for _ in range(4)}
        assert len(etags) == 1
        # One that is killed costs no answer, and another comes.
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(crowd, address, PATHS[:2], 15)
            os.kill(first, signal.SIGKILL)
            assert {status for status, _ in asked.result()} == {200}
        workers = eventually(lambda: crowd(address, PATHS) and set(members_of(server)) - {first})
        # However the server ends, nobody is left behind.
        os.kill(server, signal.SIGKILL)
        eventually(lambda: not any(map(alive, workers)))


def test_one_that_is_killed_in_the_middle_of_an_answer_costs_none(pool: ProcessPool) -> None:
    made_here = Answer(200, {}, b"here")
    pool.gather(100)
    (first,) = eventually(lambda: pool.workers)
    # A pipe that nobody empties: the question is on its way for as long as the process lives.
    os.kill(first, getattr(signal, "SIGSTOP", signal.SIGTERM))
    with ThreadPoolExecutor(1) as threads:
        long = Question("search", {**_arguments("gale"), "q": "gale" * 100_000})
        asked = threads.submit(pool.answer, long, lambda: made_here)
        eventually(lambda: not pool._idle)
        os.kill(first, getattr(signal, "SIGKILL", signal.SIGTERM))
        assert asked.result(PATIENCE) is made_here
    pool.gather(100)
    assert eventually(lambda: pool.workers) != [first]


def test_with_one_process_there_is_no_other(index_folder: Path) -> None:
    registry = index_registry(index_folder)
    workers = workers_of(registry, processes=1)
    workers.pool.gather(100)
    assert not workers.pool._starting
    workers.close()
    registry.close()


def test_a_member_sees_what_changes(tmp_path: Path) -> None:
    write_documents(tmp_path / "docs")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "docs"])
        question = Question("search", _arguments("walrus"))
        with at_work(setup_of(tmp_path / ".loccit")) as worker:
            assert b"walrus.md" not in worker.answer(question).body
            (tmp_path / "docs" / "walrus.md").write_text("# Walrus\n\nThe walrus sleeps.\n", encoding="utf-8")
            library.index([tmp_path / "docs"])
            assert b"walrus.md" in worker.answer(question).body


@linux
def test_a_member_with_nothing_to_do_ends_and_leaves_nothing(setup: Setup) -> None:
    pool = ProcessPool(lambda: Setup(setup.open, idle_seconds=0.01), 1)
    # Other tests may have left something behind in this process.
    open_files, others = files_of(os.getpid()), set(members_of(os.getpid()))
    made_here = Answer(200, {}, b"here")
    for _ in range(2):
        pool.gather(100)
        eventually(lambda: not pool._starting)
        # Without another request: none may come for hours.
        eventually(lambda: not pool._workers)
        assert pool.answer(Question("search", _arguments("gale")), lambda: made_here) is made_here
    assert set(members_of(os.getpid())) <= others
    eventually(lambda: files_of(os.getpid()) <= open_files)
    pool.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no way to stop a process")
def test_a_member_that_hangs_is_killed_and_the_server_answers(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PoolWorker.answer, "__defaults__", (0.1,))
    pool.gather(100)
    (pid,) = eventually(lambda: pool.workers)
    os.kill(pid, signal.SIGSTOP)
    made_here = Answer(200, {}, b"here")
    assert pool.answer(Question("search", _arguments("gale")), lambda: made_here) is made_here
    assert pool.workers == []


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no way to stop a process")
def test_a_member_that_never_comes_to_work_is_given_up(setup: Setup) -> None:
    worker = PoolWorker(setup)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerGoneError, match="exited before it answered"):
        worker.prepare(0.1)
    worker.end()


def test_one_that_cannot_be_started_does_not_keep_others_from_it(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "_AGAIN_SECONDS", 0.0)
    troubles: list[Exception] = [KeyError("no such thing"), RuntimeError("can't start new thread")]

    def trouble() -> Setup:
        if troubles:
            raise troubles.pop()
        return setup

    pool = ProcessPool(trouble, 1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: trouble())
        # Whoever asks does not hear of it.
        pool.gather(100)
    assert not pool._starting
    pool.gather(100)
    eventually(lambda: not pool._starting)
    assert troubles == []
    pool.gather(100)
    assert eventually(lambda: pool.workers)
    pool.close()


@linux
def test_a_server_that_ends_takes_those_along_that_are_not_ready_yet(pool: ProcessPool) -> None:
    others = set(members_of(os.getpid()))
    pool.gather(100)
    (pid,) = eventually(lambda: set(members_of(os.getpid())) - others)
    pool.close()
    eventually(lambda: not alive(pid))
    eventually(lambda: not pool._starting)
    assert pool._idle == []


def test_a_member_whose_server_is_gone_ends_without_a_word(setup: Setup) -> None:
    process = subprocess.Popen(
        child_command("loccit.server.pool_worker"), stdin=subprocess.PIPE, stdout=-1, stderr=-1
    )
    assert process.stdin and process.stdout and process.stderr
    # Gone before it is ready.
    process.stdout.close()
    write_frame(cast(BinaryIO, process.stdin), setup.encode())
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait(PATIENCE) == 0
    process.stderr.close()


def test_where_there_is_nothing_to_share_it_is_not_tried_for_every_request() -> None:
    asked: list[None] = []
    pool = ProcessPool(lambda: asked.append(None), 1)
    for _ in range(5):
        pool.gather(100)
        eventually(lambda: not pool._starting)
    assert len(asked) == 1


def test_members_come_for_a_crowd_alone_and_no_more_than_allowed(pool: ProcessPool) -> None:
    pool.gather(5)
    assert not pool._starting
    pool.gather(6)
    pool.gather(6)
    eventually(lambda: pool.workers)
    pool.gather(100)
    assert not pool._starting
    assert len(pool.workers) == 1
    answer = pool.answer(Question("search", _arguments("gale")), lambda: pytest.fail("not asked"))
    assert b"gale warning" in answer.body
    (pid,) = pool.workers
    pool.close()
    assert not alive(pid)
    pool.gather(100)
    assert not pool._starting


def test_an_index_that_is_gone_leaves_the_answers_to_the_server(tmp_path: Path) -> None:
    # The problem is the same as the server's own.
    with at_work(setup_of(tmp_path / "nothing")) as worker:
        answer = worker.answer(Question("search", _arguments("gale")))
    assert answer.status == 503
    assert b"There is no index yet" in answer.body
    with pytest.raises(WorkerGoneError):
        worker.answer(Question("search", _arguments("gale")))


# -- agents ------------------------------------------------------------------------------------------------------


AGENT = """name: clerk
tools:
  - name: harbour
    description: Harbour law.
    type: hierarchical_document
    source: docs/act.md
  - name: pumps
    description: Pumps.
    type: hierarchical_document
    source: docs
    defer_loading: true
    database: {provider: in-memory}
    top_k: 2
"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_documents", {"query": "report a collision"}),
    ("read_section", {"reference": "Section 21, Section 22"}),
    ("read_section", {"reference": "Section 99"}),
    ("define_term", {"term": "vessel"}),
    ("find_all", {"pattern": "gale"}),
    ("list_outline", {"depth": "two"}),
]
TOOL_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("harbour", {"query": "report a collision"}),
    ("pumps", {"query": "seal"}),
    *CALLS[1:],
]
Replies = list[dict[str, Any]]


def ask_agents(
    address: str, calls: list[tuple[str, dict[str, Any]]], clients: int, rounds: int = 1
) -> Replies:
    """Have several agents call the same tools, all at once; return what each call was answered with, sorted."""

    async def one() -> Replies:
        found = []
        async with Client(f"{address}/mcp") as client:
            for _ in range(rounds):
                for name, given in calls:
                    answer = await client.call_tool(name, given)
                    found.append(answer.model_dump(mode="json"))
        return found

    async def every() -> Replies:
        return [reply for found in await asyncio.gather(*(one() for _ in range(clients))) for reply in found]

    return asyncio.run(every())


@linux
@pytest.mark.parametrize("agent", [None, AGENT])
def test_a_crowd_of_agents_gets_the_answers_that_one_gets(tmp_path: Path, agent: str | None) -> None:
    write_documents(tmp_path / "docs")
    calls, options = CALLS, ["--processes", "2"]
    if agent is None:
        with Library(tmp_path / ".loccit") as library:
            library.index([tmp_path / "docs"])
    else:
        (tmp_path / "agent.yaml").write_text(agent, encoding="utf-8")
        calls, options = TOOL_CALLS, [*options, "--config", "agent.yaml", "--write"]
    with command(tmp_path, *options) as (address, server):
        eventually(lambda: httpx.get(address + "/ready").status_code == 200)
        alone = ask_agents(address, calls, 1)
        failed = [answer["is_error"] for answer in alone]
        assert failed == ["99" in str(given) or "two" in str(given) for _, given in calls]
        eventually(lambda: ask_agents(address, calls, 10) == alone * 10 and busy_workers(server))
        # Also once it has come to work, and from the API.
        assert ask_agents(address, calls, 10, 2) == alone * 20
        libraries = [""] if agent is None else ["&library=harbour", "&library=pumps"]
        paths = [f"/api/search?q=seal{library}" for library in libraries]
        assert crowd(address, paths, 10) == [comparable(httpx.get(address + path)) for path in paths] * 10
        # One that is killed costs no answer.
        (first,) = members_of(server)
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(ask_agents, address, calls, 10, 2)
            time.sleep(0.1)
            os.kill(first, signal.SIGKILL)
            assert asked.result() == alone * 20
        (second,) = eventually(lambda: ask_agents(address, calls, 10) and busy_workers(server))
        assert second != first
        # What changes is seen by all of them.
        text = "# Walrus Act\n\n## Section 21. Walruses\n\nA walrus in the harbour is to be fed.\n"
        (tmp_path / "docs" / "act.md").write_text(text, encoding="utf-8")
        if agent is None:
            with Library(tmp_path / ".loccit") as library:
                library.index([tmp_path / "docs"])
        else:
            (report,) = ask_agents(address, [("index_documents", {})], 1)
            assert not report["is_error"], report
        changed = ask_agents(address, [("read_section", {"reference": "Section 21"})], 10, 4)
        assert all("fed" in answer["content"][0]["text"] for answer in changed)


def test_a_tool_with_an_embedder_of_its_own_is_not_shared(index_folder: Path) -> None:
    from tests.tools.embedders import WatchedEmbedder

    from loccit.agent import HierarchicalDocumentToolConfig
    from loccit.server.services import ToolService
    from loccit.tools import HierarchicalDocumentTool

    config = HierarchicalDocumentToolConfig(
        name="harbour", description="Law.", source=str(index_folder / "docs"), defer_loading=True
    )
    with HierarchicalDocumentTool(config, embedder=WatchedEmbedder()) as tool:
        assert LibraryRegistry([ToolService(tool)], configured=True).reader() is None
    with HierarchicalDocumentTool(config) as tool:
        assert LibraryRegistry([ToolService(tool)], configured=True).reader() is not None


def _arguments(query: str) -> dict[str, Any]:
    from loccit.server.api.operations import OFFSETS
    from loccit.server.api.params import from_query
    from loccit.server.api.searching import SEARCH_PARAMS

    return from_query((*SEARCH_PARAMS, OFFSETS), [("q", query)])
