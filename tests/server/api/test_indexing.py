"""Indexing over HTTP: only with --write, one run at a time, told as it goes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.server.api.conftest import detail
from tests.server.conftest import ACT, index_registry, served

from loccit.model import IndexReport, Progress
from loccit.server.http import build_app
from loccit.server.services import IndexService, LibraryRegistry


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in text.split("\n\n"):
        if block.startswith("event: "):
            name, data = block.split("\n", 1)
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "act.md").write_text(ACT, encoding="utf-8")
    return tmp_path


def test_a_server_that_only_reads_does_not_index(client: TestClient) -> None:
    assert "--write" in detail(client.post("/api/index", json={}), 403)
    assert client.get("/api/index").json() is None


def test_indexing_is_told_as_it_goes(library: Path) -> None:
    with served(index_registry(library, write=True)) as address:
        answer = httpx.post(f"{address}/api/index", json={"paths": [str(library / "documents")]}, timeout=120)
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = events(answer.text)
        assert [name for name, _ in told][-1] == "report"
        assert told[-1][1]["added"] == [str(library / "documents" / "act.md")]
        steps = [data for name, data in told if name == "progress"]
        assert {"read", "embed"} <= {step["stage"] for step in steps}
        assert set(steps[0]) == {"stage", "done", "total", "item"}
        found = httpx.get(f"{address}/api/search", params={"q": "collision"}).json()
        assert found["results"][0]["section_id"] == "sec_21"
        # The page asks for what it has seen before, and sees what is new.
        (library / "documents" / "more.md").write_text("# More\n\nA walrus.\n", encoding="utf-8")
        assert events(httpx.post(f"{address}/api/index", json={}, timeout=120).text)[-1][1]["chunks"] == 1
        assert len(httpx.get(f"{address}/api/documents").json()["documents"]) == 2


def test_only_folders_that_were_offered_are_read(
    library: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.md").write_text("# Secret\n", encoding="utf-8")
    registry = index_registry(library, write=True)
    with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
        for path in (
            str(elsewhere),
            "/etc/passwd",
            str(library / "documents" / ".." / ".." / elsewhere.name),
        ):
            assert "not below" in detail(client.post("/api/index", json={"paths": [path]}), 422)
        bodies: list[dict[str, Any]] = [
            {"paths": []},
            {"paths": "x"},
            {"paths": [""]},
            {"paths": [1]},
            {"rebuild": True},
        ]
        for body in bodies:
            detail(client.post("/api/index", json=body), 400)
        missing = client.post("/api/index", json={"paths": [str(library / "documents" / "nothing.md")]})
        assert events(missing.text)[-1][0] == "error"
    registry.close()


class SlowShelf(IndexService):
    """An index that takes as long to read as a test wants."""

    def __init__(self, path: Path) -> None:
        super().__init__(lambda: path, create_at=path)
        self.began = threading.Event()
        self.go_on = threading.Event()

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        progress(Progress("read", 1, 2, "act.md"))
        self.began.set()
        assert self.go_on.wait(60)
        return super().index(paths, progress)


def test_one_run_at_a_time_and_searching_goes_on(library: Path) -> None:
    registry = index_registry(library, write=True)
    with served(registry) as address:
        httpx.post(f"{address}/api/index", json={"paths": [str(library / "documents")]}, timeout=120)
    service = SlowShelf(library / ".loccit")
    with (
        served(LibraryRegistry([service], write=True)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        with client.stream("POST", "/api/index", json={}) as answer:
            assert answer.status_code == 200 and service.began.wait(60)
            now = client.get("/api/index").json()
            assert (now["library"], now["stage"], now["done"], now["total"]) == ("library", "read", 1, 2)
            assert "already" in detail(client.post("/api/index", json={}), 409)
            assert client.get("/api/search", params={"q": "collision"}).json()["results"]
        # Whoever started it has gone; it goes on.
        service.go_on.set()
        while client.get("/api/index").json() is not None:
            pass
        assert client.get("/api/status").json()["libraries"][0]["documents"] == 1
