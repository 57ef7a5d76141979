"""Tools of an agent file: each is a library, and shows only its own documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.server.api.conftest import NOTES, detail, get
from tests.server.conftest import ACT

from loccit.answers.reading import DocumentView, TermPlace, UsedDefinition, UsedTerms
from loccit.model import Lines
from loccit.server.api.operations import Catalog, document_id
from loccit.server.api.reading import used_terms
from loccit.server.http import build_app
from loccit.server.services import LibraryRegistry, tool_services

AGENT = """
name: clerk
tools:
  - name: law
    type: hierarchical_document
    description: What the law says.
    source: documents
    filters:
      path: act.md
    defer_loading: false
  - name: everything
    type: hierarchical_document
    description: All documents.
    source: documents
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "documents").mkdir()
    (folder / "documents" / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "documents" / "notes.md").write_text(NOTES, encoding="utf-8")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    registry = LibraryRegistry(tool_services(folder / "agent.yaml"), configured=True, write=True)
    for service in registry.services.values():
        service.ask(lambda scope: scope.documents(), 300)
    with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
        yield client, folder / "documents"
    registry.close()


def test_each_tool_is_a_library(tools: tuple[TestClient, Path]) -> None:
    client, folder = tools
    act, notes = (document_id(str(folder / name)) for name in ("act.md", "notes.md"))
    assert [item["id"] for item in get(client, "/api/documents")["documents"]] == [act]
    everything = get(client, "/api/documents", library="everything")["documents"]
    assert [item["id"] for item in everything] == [act, notes]
    assert [item["name"] for item in get(client, "/api/status")["libraries"]] == ["law", "everything"]
    assert get(client, "/ready")["status"] == "ready"


def test_what_a_tool_does_not_show_is_not_there(tools: tuple[TestClient, Path]) -> None:
    client, folder = tools
    act, notes = (document_id(str(folder / name)) for name in ("act.md", "notes.md"))
    for path in ("/api/document", "/api/terms", "/api/map", "/api/outline", "/api/cite"):
        detail(client.get(path, params={"doc": notes}), 404)
        assert client.get(path, params={"doc": notes, "library": "everything"}).status_code == 200
    detail(client.get("/api/search", params={"q": "vessel", "doc": notes}), 404)
    assert {item["doc"] for item in get(client, "/api/search", q="boat")["results"]} <= {act}
    document = get(client, "/api/document", doc=act)
    assert {item["from_doc"] for item in document["back_references"]} == {act}
    assert "boat" not in client.get("/api/suggest", params={"q": "vessel"}).text
    assert [item["doc"] for item in get(client, "/api/map")["documents"]] == [act]
    assert "Harbour notes" not in client.get("/api/suggest", params={"q": "harbour"}).text


def test_terms_are_left_out_that_only_a_hidden_document_defines() -> None:
    definitions = [
        UsedDefinition(term, f"{term} means something", path, "terms", Lines(3, 3), False)
        for term, path in (("barge", "hidden.md"), ("vessel", "act.md"))
    ]
    used = UsedTerms(definitions, [TermPlace(0, 5, 0), TermPlace(6, 12, 1), TermPlace(20, 26, 1)])
    view = DocumentView(
        "act.md", "Act", ".md", "en", {}, "barge vessel and so on vessel", 0, find_terms=lambda: used
    )
    shown = used_terms(view, Catalog(1, {"a1": "act.md"}, {"act.md": "a1"}))
    assert [item["term"] for item in shown["definitions"]] == ["vessel"]
    assert [(item["start"], item["definition"]) for item in shown["terms"]] == [(6, 0), (20, 0)]


def test_the_sources_are_those_of_the_configuration(tools: tuple[TestClient, Path]) -> None:
    client, folder = tools
    assert "configuration" in detail(client.post("/api/index", json={"paths": [str(folder)]}), 422)
    answer = client.post("/api/index", json={"library": "everything"})
    assert "event: report" in answer.text
    detail(client.post("/api/index", json={"library": "nothing"}), 404)
