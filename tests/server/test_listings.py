"""Answers that are complete lists, asked for over HTTP: every hit, quotation, difference and obligation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.server.conftest import ACT, MANUAL, call, index_registry, served, text_of, write_documents
from tests.server.test_config import AGENT

from loccit import Library
from loccit.cli.mcp import make_registry
from loccit.model.uris import section_uri

NEW_ACT = ACT.replace("within one hour", "within two hours").replace(
    "## CHAPTER 2", "### Section 12. Fees\n\nThe fee of a berth is EUR 500.\n\n## CHAPTER 2"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listings")
    write_documents(folder / "docs", manual=MANUAL)
    (folder / "docs" / "act-2.md").write_text(NEW_ACT, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        assert not library.index([folder / "docs"]).failed
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[str]:
    with served(index_registry(home)) as address:
        yield f"{address}/mcp"


def quoted(text: str) -> str:
    """What stands between the marks."""
    found = re.search(r"<quote-(\w+)>\n(.*)\n</quote-\1>", text, re.DOTALL)
    assert found and "never instructions" in text[: found.start()]
    return found[2]


# -- find_all --------------------------------------------------------------------------------------------------


def test_every_hit_is_listed_under_its_document(server: str, home: Path) -> None:
    found = call(server, "find_all", {"phrase": "harbour master may"})
    assert text_of(found).startswith("4 hits in 2 documents.")
    lines = quoted(text_of(found)).splitlines()
    assert lines[0] == "docs/act-2.md"
    assert re.match(r"15: Section 11\(b\) \[\w{8}\]: \(b\) A Harbour Master may give any direction", lines[1])
    data = found.structured_content
    assert (data["total"], data["complete"], data["truncated"]) == (4, True, False)
    assert [hit["section_id"] for hit in data["hits"]] == ["sec_11_b", "sec_22"] * 2


@pytest.mark.parametrize("budget", [200, 500, 4000])
@pytest.mark.parametrize("shown", ["text", "values"])
def test_hits_are_complete_however_often_one_has_to_ask_on(server: str, budget: int, shown: str) -> None:
    asked: dict[str, Any] = {"pattern": r"seal \d+", "kind": "regex", "token_budget": budget}
    lines: list[str] = []
    for _ in range(100):
        answer = call(server, "find_all", asked)
        text, data = text_of(answer), answer.structured_content
        assert "96 hits in 1 document" in text and data["total"] == 96
        if shown == "text":
            lines += quoted(text).splitlines()[1:]
            found = re.search(r'continue with cursor="([\w-]+)"', text)
            cursor = found[1] if found else None
        else:
            lines += [f"{hit['line']}: {hit['section_label']}: {hit['text']}" for hit in data["hits"]]
            cursor = data.get("cursor")
        if cursor is None:
            break
        asked["cursor"] = cursor
    assert len(lines) == len(set(lines)) == 96
    assert "…" not in "".join(lines)


def test_a_limit_is_kept_and_gone_on_from(server: str) -> None:
    first = call(server, "find_all", {"pattern": "seal", "limit": 2})
    assert "2 of 96 hits" in text_of(first) and "There are more: continue" in text_of(first)
    assert "Cut to fit" not in text_of(first)
    assert len(first.structured_content["hits"]) == 2
    cursor = first.structured_content["cursor"]
    second = call(server, "find_all", {"pattern": "seal", "limit": 2, "cursor": cursor}).structured_content
    assert [hit["line"] for hit in second["hits"]] == [9, 11]


def test_filters_and_documents_narrow_what_is_found(server: str) -> None:
    for narrowed in ({"document": "act.md"}, {"filters": {"path": "*act.md"}}):
        assert (
            call(server, "find_all", {"pattern": "gale warning", **narrowed}).structured_content["total"] == 1
        )


def test_an_expression_that_matches_everything_is_bounded(server: str) -> None:
    found = call(server, "find_all", {"pattern": ".", "kind": "regex", "token_budget": 1000})
    assert not found.is_error
    assert found.structured_content["total"] > 5000 and found.structured_content["truncated"]
    assert "Cut to fit the token budget: continue with cursor=" in text_of(found)


def test_a_cursor_of_an_older_state_is_refused(tmp_path: Path) -> None:
    write_documents(tmp_path / "docs")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "docs"])
        with served(index_registry(tmp_path)) as address:
            asked = {"pattern": "harbour", "limit": 1}
            cursor = call(f"{address}/mcp", "find_all", asked).structured_content["cursor"]
            (tmp_path / "docs" / "more.md").write_text("# More\n\nA harbour.\n")
            library.index([tmp_path / "docs"])
            refused = call(f"{address}/mcp", "find_all", {**asked, "cursor": cursor})
    assert refused.is_error and "has changed since" in text_of(refused)


# -- verify_quotes ---------------------------------------------------------------------------------------------


def test_quotations_are_exact_altered_or_absent(server: str, home: Path) -> None:
    quotations = [
        "The Authority shall appoint a Harbour Master",
        "while a storm warning is in force under section 21",
        "purple cows fly over seven hills",
    ]
    found = call(server, "verify_quotes", {"quotes": quotations, "document": "act.md"})
    text, data = text_of(found), found.structured_content
    assert text.startswith("3 quotations checked: 1 exact, 1 altered, 1 absent.")
    assert "[-storm-] {+gale+}" in quoted(text)
    assert "docs/act.md, Section 11(a) [" in quoted(text)
    assert "], line 13" in quoted(text)
    assert [check["status"] for check in data["checks"]] == ["altered", "absent", "exact"]
    assert not data["ok"] and data["checks"][2]["places"][0]["section_id"] == "sec_11_a"


def test_the_quotations_of_an_answer_are_found_in_it(server: str) -> None:
    answer = "It says “a gale warning is in force” and\n\n> The Authority shall appoint\n> a Harbour Master."
    found = call(server, "verify_quotes", {"answer": answer})
    assert found.structured_content["ok"] and found.structured_content["exact"] == 2
    nothing = call(server, "verify_quotes", {"text": "Nothing is quoted."})
    assert text_of(nothing).startswith("No quotation was found.")


def test_thousands_of_quotations_are_bounded_and_said_page_by_page(server: str) -> None:
    quotations = ["check seal 1 before every start"] * 1000
    found = call(server, "verify_quotes", {"quotations": quotations, "token_budget": 800})
    text, data = text_of(found), found.structured_content
    assert data["exact"] == 1000 and data["left_out"] == 0 and data["truncated"]
    (following,) = re.findall(r"of 1000 shown; continue with offset=(\d+)", text)
    assert 0 < int(following) < 1000
    rest = call(server, "verify_quotes", {"quotations": quotations, "offset": 999})
    assert len(rest.structured_content["checks"]) == 1


# -- compare ---------------------------------------------------------------------------------------------------


def test_two_versions_are_compared(server: str, home: Path) -> None:
    found = call(server, "compare", {"old": "act.md", "new": "act-2.md"})
    text, data = text_of(found), found.structured_content
    assert text.startswith("1 added, 1 changed;")
    assert "old: docs/act.md\nnew: docs/act-2.md" in quoted(text)
    assert "within [-one hour-] {+two hours+}" in quoted(text)
    assert [item["kind"] for item in data["differences"]] == ["added", "changed"]
    assert data["differences"][1]["changes"] == [["one hour", "two hours"]]
    assert data["differences"][0]["new"]["section_id"] == "sec_12"
    after = call(server, "compare", {"old": "act.md", "new": "act-2.md", "offset": 1}).structured_content
    assert [item["kind"] for item in after["differences"]] == ["changed"]


def test_only_documents_of_the_library_are_compared(server: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe code is 4711.\n")
    refused = call(server, "compare", {"old": "act.md", "new": str(secret)})
    assert refused.is_error and "4711" not in text_of(refused)
    assert "There is no document" in text_of(refused)


# -- list_obligations ------------------------------------------------------------------------------------------


def test_obligations_are_listed_with_counts(server: str) -> None:
    found = call(server, "list_obligations", {"document": "act-2.md"})
    text, data = text_of(found), found.structured_content
    assert text.startswith("6 rows. All kinds: 2 duty, 2 permission, 2 statement, 2 deadline, 1 amount.")
    assert "duty: The master of a vessel | shall | report a collision" in quoted(text)
    assert data["total"] == 6 and data["kinds"]["duty"] == 2
    duty = data["rows"][3]["obligation"]
    assert (duty["bearer"], duty["deadlines"][0]["unit"]) == ("The master of a vessel", "hour")
    money = call(server, "list_obligations", {"kind": "amount", "unit": "euro"})
    assert not money.structured_content["total"]
    assert (
        call(server, "list_obligations", {"kind": "amount", "unit": "EUR"}).structured_content["total"] == 1
    )


@pytest.mark.parametrize("options", [{"token_budget": 220}, {"limit": 2}])
def test_obligations_go_on_where_an_answer_ended(server: str, options: dict[str, int]) -> None:
    lines: list[str] = []
    rows: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"document": "act-2.md", **options}
    for _ in range(10):
        answer = call(server, "list_obligations", asked)
        lines += quoted(text_of(answer)).splitlines()[1:]
        following = re.search(r"continue with offset=(\d+)", text_of(answer))
        if not following:
            break
        asked["offset"] = int(following[1])
    assert len(lines) == len(set(lines)) == 6
    asked["offset"] = 0
    for _ in range(10):
        data = call(server, "list_obligations", asked).structured_content
        rows += data["rows"]
        if "next_offset" not in data:
            break
        asked["offset"] = data["next_offset"]
    assert len(rows) == 6


# -- bad input -------------------------------------------------------------------------------------------------


# -- references as they are printed ----------------------------------------------------------------------------


def test_a_section_is_read_by_what_the_server_prints(server: str, home: Path) -> None:
    path = str(home / "docs" / "act-2.md")
    searched = call(server, "search_documents", {"query": "master report collision", "document": "act-2.md"})
    references = [section_uri(result["place_id"]) for result in searched.structured_content["results"]]
    references += [
        f"loccit://section/{quote(path, safe='')}/sec_21_a",
        f"{path}#sec_21_a",
        "act-2.md#sec_21_a",
    ]
    references += [result["place_id"] for result in searched.structured_content["results"]]
    known = {result["place_id"] for result in searched.structured_content["results"]}
    for tool in ("read_section", "follow_references"):
        for reference in references:
            found = call(server, tool, {"reference": reference})
            assert not found.is_error, text_of(found)
            data = found.structured_content
            data = data.get("section", data)
            assert str(home / data["source_path"]) == path
            assert data["section_id"] in reference or data["place_id"] in known
    other = call(server, "read_section", {"reference": "Section 21(a)"})
    for printed in other.structured_content["alternatives"]:
        assert f"{printed}".startswith(
            call(server, "read_section", {"reference": printed}).structured_content["source_path"]
        )


# -- several libraries -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("several")
    write_documents(folder / "docs", manual=MANUAL)
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    registry = make_registry(None, folder / "agent.yaml", write=False, token_budget=None, output="both")
    with served(registry) as address:
        yield f"{address}/mcp"


def test_all_libraries_are_asked_or_the_one_that_is_named(agent: str) -> None:
    found = call(agent, "find_all", {"pattern": "start|collision", "kind": "regex", "token_budget": 800})
    text, data = text_of(found), found.structured_content
    assert "harbour_law: 1 hit in 1 document." in text and "pump_manual: " in text
    assert data["total"] == 97 and {hit["tool"] for hit in data["hits"]} == {"harbour_law", "pump_manual"}
    following = {"pattern": "start|collision", "kind": "regex", "cursor": data["cursors"]["pump_manual"]}
    refused = call(agent, "find_all", following)
    assert refused.is_error and "belongs to one library" in text_of(refused)
    more = call(agent, "find_all", {**following, "tool": "pump_manual"})
    assert more.structured_content["hits"] and more.structured_content["tool"] == "pump_manual"

    quotes = {"quotations": ["shall report a collision", "check seal 1 before every start"]}
    assert call(agent, "verify_quotes", quotes).structured_content["exact"] == 2
    law = call(agent, "verify_quotes", {**quotes, "tool": "harbour_law"}).structured_content
    assert (law["exact"], law["absent"]) == (1, 1)

    rows = call(agent, "list_obligations", {"kind": "duty"})
    assert rows.structured_content["rows"][0]["tool"] == "harbour_law"
    assert "harbour_law: 2 rows." in text_of(rows)
    compared = call(agent, "compare", {"old": "act.md", "new": "act.md"}).structured_content
    assert compared["tool"] == "harbour_law" and not compared["differences"]


def test_documents_that_are_not_shown_are_not_named(agent: str) -> None:
    refused = call(agent, "find_all", {"pattern": "zebra", "document": "visitor.md"})
    assert refused.is_error and "visitors.md" not in text_of(refused)
    near = call(agent, "read_section", {"reference": "1", "document": "manaul.md", "tool": "pump_manual"})
    assert near.is_error and "Did you mean: manual.md" in text_of(near)
    assert not call(agent, "find_all", {"pattern": "zebra"}).structured_content["total"]
