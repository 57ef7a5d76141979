"""A model's calls for complete lists: every hit, quotation, difference and obligation, as text within the budget."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.tools.conftest import ENGLISH, MakeTool

from loccit.tools import HierarchicalDocumentTool


def test_every_hit_is_listed(tool: HierarchicalDocumentTool) -> None:
    found = tool.library.find_all("harbour master", limit=1000)
    answer = tool.call_sync("handbook_find_all", {"phrase": "harbour master", "token_budget": 50_000})
    assert answer.startswith(f"{found.total} hits in {found.documents} ")
    assert answer.count("\n<quote-") == answer.count("\n</quote-") == 1
    for hit in found.hits:
        assert f"\n{hit.line}: " in answer and hit.text in answer
    none = tool.call_sync("find_all", {"phrase": "no such words"})
    assert none.startswith("0 hits in 0 documents. Search may find it in other words.")


@pytest.mark.parametrize("budget", (150, 300, 1000))
@pytest.mark.parametrize(
    ("name", "arguments", "go_on"),
    [
        ("find_all", {"pattern": "the"}, r'cursor="([\w-]+)"'),
        ("list_obligations", {}, r"offset=(\d+)"),
        (
            "verify_quotes",
            {"quotes": [f"a vessel of {n} feet moored twice" for n in range(100)]},
            r"offset=(\d+)",
        ),
        ("compare", {"old": "harbour-safety-act.md", "new": "hafenordnung.md"}, r"offset=(\d+)"),
    ],
)
def test_a_list_fits_and_says_how_to_go_on(
    tool: HierarchicalDocumentTool, name: str, arguments: dict[str, Any], go_on: str, budget: int
) -> None:
    answer = tool.call_sync(name, {**arguments, "token_budget": budget})
    assert tool.count_tokens(answer) <= budget
    assert "ut to fit the token budget" in answer or "larger token_budget" in answer
    following = re.search(f"continue with {go_on}", answer)
    if following:
        option = {"cursor": following[1]} if "cursor" in go_on else {"offset": int(following[1])}
        second = tool.call_sync(name, {**arguments, **option, "token_budget": budget})
        assert second != answer and not second.startswith("Error")
    else:
        assert "larger token_budget" in answer or "Long entries are cut" in answer


def test_quotations_are_checked(tool: HierarchicalDocumentTool) -> None:
    quotations = '["The pump must never run without water", "The pump must never run without oil"]'
    answer = tool.call_sync("handbook_verify_quotes", {"quotations": quotations})
    assert answer.startswith("2 quotations checked: 1 exact, 1 altered, 0 absent.")
    assert "[-oil-] {+water+}" in answer
    cited = [
        "“The pump must never run without water” (pump-manual.md)",
        "“never run without water” (harbour-safety-act.md)",
    ]
    answer = tool.call_sync("handbook_verify_quotes", {"quotations": cited})
    assert answer.startswith("2 quotations checked: 2 exact, 0 altered, 0 absent; 1 not in the cited place.")


def test_what_is_not_there_says_where_to_look(tool: HierarchicalDocumentTool) -> None:
    answer = tool.call_sync("handbook_verify_quotes", {"quotations": ["Zebras graze on the quay at noon"]})
    assert "1 absent" in answer and "in other words: search for it" in answer
    rows = tool.call_sync("handbook_obligations", {"who": "zebra", "kind": "deadline"})
    assert rows.startswith("0 rows.") and " without bearer." in rows
    deadlines = tool.library.obligations(kind="deadline").total
    assert f"{deadlines:,} without bearer" in tool.library.obligations(bearer="zebra", kind="deadline").note


def test_documents_are_compared_and_nothing_else(make: MakeTool, docs: Path, tmp_path: Path) -> None:
    (docs / "lamps-2.md").write_text((docs / "lamps.md").read_text().replace("nine", "ten"))
    (tmp_path / "secret.md").write_text("# Secret\n\nThe code is 4711.\n")
    tool = make()
    assert "[-nine-] {+ten+}" in tool.call_sync("notes_compare", {"a": "lamps.md", "b": "lamps-2.md"})
    refused = tool.call_sync("notes_compare", {"a": "lamps.md", "b": str(tmp_path / "secret.md")})
    assert refused.startswith("Not found.") and "4711" not in refused


def test_only_documents_of_the_tool_are_looked_at(make: MakeTool, docs: Path) -> None:
    (docs / "rules.md").write_text(
        f"{ENGLISH}# Rules\n\n## 1\n\nThe keeper shall trim the wick within two days.\n"
    )
    tool = make(filters={"path": "lamps.md"})
    assert tool.call_sync("notes_find_all", {"pattern": "wick"}).startswith("1 hit in 1 document.")
    assert "absent" in tool.call_sync("notes_verify_quotes", {"quotes": ["Paint the hull every spring"]})
    assert tool.call_sync("notes_obligations", {"who": "keeper"}).startswith("0 rows.")
    missing = tool.call_sync("notes_find_all", {"pattern": "hull"})
    assert missing.endswith("Looked for in 1 document only.")
    assert "called 'rules.md'" in tool.call_sync("notes_obligations", {"document": "rules.md"})
    everything = make(name="all")
    assert "time: within 2 day" in everything.call_sync("all_obligations", {"who": "keeper"})


def test_a_section_is_read_by_path_and_id(tool: HierarchicalDocumentTool) -> None:
    view = tool.get_section_sync("pump-manual.md#sec_4_2_2")
    assert view.section_id == "sec_4_2_2" and view.source_path.endswith("pump-manual.md")
    assert tool.get_section_sync(f"{view.source_path}#sec_4_2_2") == view
