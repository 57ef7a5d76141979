"""What a server says, and what its log says, of a request that cannot be answered."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from loccit import Library
from loccit.cli.logs import LogFormat, configure
from loccit.errors import DamagedIndexError, UsageError
from loccit.server.http import build_app
from loccit.server.mcp.calls import INDEX
from loccit.server.services import IndexService, LibraryRegistry


@pytest.fixture
def writing(folder: Path, library: Library) -> Iterator[TestClient]:
    """A server of the small library that may write."""
    path = folder / ".loccit"
    registry = LibraryRegistry([IndexService(lambda: path, create_at=path)], write=True)
    with TestClient(
        build_app(registry), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client
    registry.close()


@pytest.mark.parametrize(
    ("path", "fault"), [("docs/a\0b.md", "the character NUL"), ("docs/\ud800.md", "half of a surrogate pair")]
)
def test_a_path_that_no_file_has_is_refused_by_name(writing: TestClient, path: str, fault: str) -> None:
    # As JSON writes what no address can hold.
    body = json.dumps({"paths": ["docs", path]}).encode()
    answer = writing.post("/api/index", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"each of paths must not contain {fault}."
    with pytest.raises(UsageError, match=f"paths .* must not contain {fault}"):
        INDEX.read({"paths": [path]})


@pytest.mark.parametrize("error", [RuntimeError("disk on fire"), DamagedIndexError("a bit is wrong")])
def test_the_log_says_where_an_inner_failure_comes_from(
    writing: TestClient, error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    logger = logging.getLogger("loccit")
    before, level = list(logger.handlers), logger.level
    configure(LogFormat.text, None)
    try:
        monkeypatch.setattr(Library, "documents", fail)
        monkeypatch.setattr(Library, "define", fail)
        answer = writing.get("/api/define", params={"term": "vessel"})
    finally:
        logger.handlers[:] = before
        logger.setLevel(level)
    assert answer.status_code in (500, 503) and "log" in answer.json()["detail"]
    assert str(error) not in answer.text
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said and str(error) in said and "in fail" in said
