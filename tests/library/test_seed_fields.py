"""Fields of the data model that programs ask for by name: in Python, as JSON, over HTTP."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import loccit
from loccit import HierarchicalDocumentTool, Library
from loccit.cli.app import app
from loccit.model import Definition

ACT = "# Act\n\n## Section 1\n\n“Force Majeure” means an event beyond control.\n"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    act = tmp_path / "docs" / "act.md"
    act.write_text(ACT, encoding="utf-8")
    os.utime(act, ns=(10**18, 1_234_567_890_500_000_000))
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "docs")
    return tmp_path / "index"


def test_the_tool_is_found_at_the_top() -> None:
    assert HierarchicalDocumentTool is loccit.tools.HierarchicalDocumentTool
    assert "HierarchicalDocumentTool" in dir(loccit)


def test_a_definition_has_its_id_and_a_document_its_mtime(index: Path) -> None:
    path = str(index.parent / "docs" / "act.md")
    with Library(index) as library:
        (document,) = library.documents()
        (found,) = library.define("force majeure").definitions
        (result, *_) = library.search("what is force majeure").results
    assert document.mtime == 1_234_567_890.5 and document.modified == "2009-02-13T23:31:30+00:00"
    expected = f"{path}_def_force_majeure"
    assert found.definition.id == expected
    assert [entry["id"] for entry in result.to_dict()["definitions_context"]] == [expected]

    def printed(*command: str) -> Any:
        return json.loads(CliRunner().invoke(app, [*command, "--index", str(index), "--json"]).stdout)

    assert printed("define", "force majeure")["definitions"][0]["definition"]["id"] == expected
    assert printed("documents")[0]["mtime"] == 1_234_567_890.5


def test_the_id_of_a_definition_follows_from_its_document_and_term() -> None:
    definition = Definition("a.md", "Fee", "fee", "“Fee” means", "sec_1")
    assert definition.id == "a.md_def_fee"
    assert loccit.ask.relative.relative([definition], "")[0].id == "a.md_def_fee"
