"""A library of our own documents behind the whole application, asked over ASGI and over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import ACT, index_registry, served

from loccit import Library
from loccit.server.http import build_app

EXAMPLES = Path(__file__).parents[3] / "examples"

NOTES = """---
title: Harbour notes
author: A. Ferrer
date: 2024-03-01
---

# Harbour notes

## Reports 🚢

See [the Act](act.md#section-21-duty-to-report-occurrences) and section 21 of the Harbour Act.

"vessel" means a boat.

<script>alert(1)</script>
"""


@pytest.fixture(scope="session")
def api_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of an act, notes about it, and a PDF."""
    folder = tmp_path_factory.mktemp("api")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "act.md").write_text(ACT, encoding="utf-8")
    (documents / "notes.md").write_text(NOTES, encoding="utf-8")
    (documents / "report.pdf").write_bytes((EXAMPLES / "annual-report.pdf").read_bytes())
    with Library(folder / ".loccit") as library:
        library.index(documents)
    return folder


@pytest.fixture(scope="session")
def client(api_index: Path) -> Iterator[TestClient]:
    """The application, called without a socket."""
    registry = index_registry(api_index)
    with TestClient(
        build_app(registry), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client
    registry.close()


@pytest.fixture(scope="session")
def docs(client: TestClient) -> dict[str, str]:
    """The ids of the documents, by file name."""
    return {Path(item["source_path"]).name: item["id"] for item in get(client, "/api/documents")["documents"]}


@pytest.fixture(scope="session")
def address(api_index: Path) -> Iterator[str]:
    """The same on a socket."""
    with served(index_registry(api_index)) as address:
        yield address


def get(client: TestClient, path: str, **params: Any) -> Any:
    """Return the JSON of an answer that must be one."""
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def detail(answer: Any, status: int) -> str:
    """Return what a problem says, having checked that it is one of this status and gives nothing away."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "detail"}
    assert problem["status"] == status
    assert "Traceback" not in problem["detail"]
    return str(problem["detail"])
