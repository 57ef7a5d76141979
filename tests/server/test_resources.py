"""Documents and sections as resources, and prompts that bring them along."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp_types import TextContent, TextResourceContents
from tests.server.conftest import ACT, ask, call

from loccit.errors import NotFoundError
from loccit.model.place_ids import place_id
from loccit.model.uris import Place, document_uri, parse_uri, section_uri


def read(url: str, uri: str) -> str:
    result = ask(url, lambda client: client.read_resource(uri))
    (contents,) = result.contents
    assert isinstance(contents, TextResourceContents)
    return contents.text


def test_documents_and_their_sections_are_listed_and_read(url: str) -> None:
    listed = ask(url, lambda client: client.list_resources())
    by_name = {resource.name: resource for resource in listed.resources}
    assert {"Harbour Act", "CHAPTER 2 — Emergencies", "Pump manual", "Visitor notes"} <= set(by_name)
    (document,) = (
        resource
        for resource in listed.resources
        if resource.uri.startswith("loccit://document/") and resource.name == "Harbour Act"
    )
    assert read(url, document.uri) == ACT.strip()
    chapter = read(url, by_name["CHAPTER 2 — Emergencies"].uri)
    assert chapter == ACT[ACT.index("## CHAPTER 2") :].strip()


def test_addresses_are_made_from_templates_and_come_with_results(url: str) -> None:
    templates = ask(url, lambda client: client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "loccit://document/{document}",
        "loccit://section/{place_id}",
    ]
    assert read(url, "loccit://section/act.md/sec_22").startswith("### Section 22.")
    found = call(url, "search_documents", {"query": "gale warning", "top_k": 1}).structured_content
    assert "gale warning" in read(url, section_uri(found["results"][0]["place_id"]))


@pytest.mark.parametrize(
    "uri", ["loccit://document/nowhere.md", "loccit://section/act.md/sec_99", "loccit://service/3"]
)
def test_an_address_that_leads_nowhere_is_an_error_in_words(url: str, uri: str) -> None:
    with pytest.raises(MCPError, match=r"no document|No section|not an address"):
        read(url, uri)


@given(
    st.text(min_size=1, max_size=40),
    st.text(max_size=20),
    st.one_of(st.none(), st.text(min_size=1, max_size=9)),
)
def test_any_name_survives_in_an_address(document: str, section: str, tool: str | None) -> None:
    if any("\ud800" <= character <= "\udfff" for character in document + section + (tool or "")):
        return
    uri = document_uri(document, tool)
    if section:
        # As answers had it before places had ids of their own.
        uri = uri.replace("://document/", "://section/").partition("?")[0] + f"/{quote(section, safe='')}"
        tool = None
    assert parse_uri(uri) == Place(document, section, tool)


@given(st.text(max_size=20), st.one_of(st.none(), st.text(min_size=1, max_size=9)))
def test_a_section_goes_by_the_id_of_its_place(section: str, tool: str | None) -> None:
    if any("\ud800" <= character <= "\udfff" for character in section + (tool or "")):
        return
    name = place_id("act.md", section)
    assert parse_uri(section_uri(name, tool)) == Place("", name, tool)


def test_other_addresses_are_refused() -> None:
    for uri in ("https://example.org/document/x", "loccit://document/", "loccit://section/x", "nonsense"):
        with pytest.raises(NotFoundError):
            parse_uri(uri)


def prompt(url: str, name: str, arguments: dict[str, str]) -> str:
    async def talk(client: Client) -> Any:
        listed = [item.name for item in (await client.list_prompts()).prompts]
        assert listed == ["answer_with_citations", "compare_two_sections"]
        return await client.get_prompt(name, arguments)

    (message,) = ask(url, talk).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


def test_a_question_comes_with_what_a_first_search_finds(url: str, index_folder: Path) -> None:
    text = prompt(url, "answer_with_citations", {"question": "How soon must a collision be reported?"})
    assert "How soon must a collision be reported?" in text
    assert "citation after every statement" in text
    assert "within one hour" in text
    narrowed = prompt(url, "answer_with_citations", {"question": "collision", "document": "manual.md"})
    assert "within one hour" not in narrowed


def test_two_sections_are_laid_side_by_side(url: str) -> None:
    text = prompt(url, "compare_two_sections", {"first": "Section 21", "second": "Closure"})
    assert text.index("within one hour") < text.index("gale warning")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("answer_with_citations", {}, "question is missing"),
        ("compare_two_sections", {"first": "Section 21", "second": "Section 99"}, "Section 99"),
        ("write_a_poem", {}, "There is no prompt"),
    ],
)
def test_a_prompt_that_cannot_be_filled_says_why(
    url: str, name: str, arguments: dict[str, str], says: str
) -> None:
    with pytest.raises(MCPError, match=says):
        prompt(url, name, arguments)
