"""The catalogue: every tool asks a library and writes what it found, with no server around it."""

from __future__ import annotations

from typing import Any

import pytest

from loccit.ask.catalog import METHODS, TOOLS
from loccit.ask.fit import Limit, Tokens
from loccit.tools import HierarchicalDocumentTool

CALLS: dict[str, dict[str, Any]] = {
    "search_documents": {"q": "dry running", "token_budget": 400},
    "read_section": {"section": "4.2.2"},
    "define_term": {"word": "vessel"},
    "list_outline": {},
    "follow_references": {"ref": "Section 102"},
    "find_all": {"phrase": "Harbour Master"},
    "verify_quotes": {"quotes": ["The pump must never run without water", "never run without oil"]},
    "compare": {"a": "harbour-safety-act.md", "b": "pump-manual.md"},
    "list_obligations": {"who": "master"},
    "list_documents": {},
    "index_status": {},
}


def test_there_is_a_call_for_every_tool() -> None:
    assert list(CALLS) == list(TOOLS)
    assert set(METHODS.values()) == set(TOOLS.values())


@pytest.mark.parametrize("name", CALLS)
def test_a_library_is_asked_and_the_answer_keeps_its_budget(
    tool: HierarchicalDocumentTool, name: str
) -> None:
    known, library = TOOLS[name], tool.library
    given = known.read(CALLS[name])
    limit = Limit(400, Tokens(library.tokenizer))
    answer = known.answer([("", known.ask(library, given))], given, limit)
    assert 0 < limit.tokens.count(answer.text) <= limit.budget


def test_an_answer_of_one_of_several_libraries_says_which(tool: HierarchicalDocumentTool) -> None:
    known, limit = TOOLS["read_section"], Limit(2000, Tokens(tool.library.tokenizer))
    given = known.read({"reference": "4.2.2"})
    answer = known.answer([("handbook", known.ask(tool.library, given))], given, limit)
    assert answer.data["tool"] == "handbook"
