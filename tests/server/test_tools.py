"""What the tools answer, asked for by the SDK's client over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ListToolsResult, ResourceLink, Tool
from tests.server.conftest import ask, call, index_registry, served, text_of

from loccit import Library
from loccit.ask.catalog import TOOLS
from loccit.ask.fit import Tokens
from loccit.model import SearchResult
from loccit.server.mcp.tools import list_tools


def test_every_tool_is_listed_and_marked_as_reading_only(url: str) -> None:
    listed: ListToolsResult = ask(url, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == list(TOOLS)
    for tool in listed.tools:
        assert tool.description
        assert tool.title and len(tool.title) < 30 and "_" not in tool.title
        assert tool.annotations and tool.annotations.read_only_hint


def test_schemas_say_what_holds_when_an_argument_is_left_out(index_folder: Path) -> None:
    listed = list_tools(index_registry(index_folder, token_budget=1234))
    takes = {tool.name: tool.input_schema["properties"] for tool in listed}
    assert takes["search_documents"]["top_k"]["default"] == 10
    assert takes["search_documents"]["mode"]["default"] == "hybrid"
    assert takes["find_all"]["kind"]["default"] == "phrase"
    assert {name: taken["token_budget"]["default"] for name, taken in takes.items() if taken} == {
        name: 1234 for name in takes if name != "index_status"
    }


SENT = 1_000_000


def test_bounds_stand_in_the_schemas_and_hold(url: str) -> None:
    """Every bounded argument is tried at its bounds and past them."""
    needed: dict[str, dict[str, Any]] = {
        "search_documents": {"query": "gale"},
        "read_section": {"reference": "Section 21"},
        "define_term": {"term": "vessel"},
        "follow_references": {"reference": "Section 21"},
        "find_all": {"pattern": "gale"},
        "verify_quotes": {"quotations": ["gale"]},
        "compare": {"old": "act.md", "new": "manual.md"},
    }

    async def talk(client: Client) -> int:
        tried = 0
        for tool in (await client.list_tools()).tools:
            for name, schema in tool.input_schema["properties"].items():
                given = {} if name == "text" else needed.get(tool.name, {})
                assert {"minimum", "maximum", "maxLength", "enum"} & set(schema) or schema["type"] in (
                    *("array", "boolean", "object"),
                ), (tool.name, name)
                past = [schema["minimum"] - 1, schema["maximum"] + 1] if "minimum" in schema else []
                # A text to check may be longer than a request.
                past += ["x" * (schema["maxLength"] + 1)] if schema.get("maxLength", SENT) < SENT else []
                for value in past:
                    refused = await client.call_tool(tool.name, {**given, name: value})
                    assert refused.is_error and f"{name} must" in text_of(refused), (tool.name, name)
                    tried += 1
                for value in [schema["minimum"], schema["maximum"]] if "minimum" in schema else []:
                    answered = await client.call_tool(tool.name, {**given, name: value})
                    assert f"{name} must" not in text_of(answered), (tool.name, name)
        return tried

    assert ask(url, talk) > 60


@pytest.mark.parametrize("structured", [True, False])
def test_the_list_of_tools_takes_less_than_2700_tokens(index_folder: Path, structured: bool) -> None:
    sent = {"tools": [wire(tool) for tool in list_tools(index_registry(index_folder, structured=structured))]}
    with Library(index_folder / ".loccit") as library:
        assert Tokens(library.tokenizer).count(json.dumps(sent, separators=(",", ":"))) < 2700


def wire(tool: Tool) -> dict[str, Any]:
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)


def test_a_search_gives_cited_text_and_the_fields_of_the_python_result(url: str, index_folder: Path) -> None:
    found = call(url, "search_documents", {"query": "report a collision", "top_k": 2})
    assert not found.is_error
    data = found.structured_content
    first = data["results"][0]
    with Library(index_folder / ".loccit") as library:
        expected = library.search("report a collision", top_k=2).results[0]
    for name in ("content", "place_id", "section_label", "fused_score"):
        assert first[name] == getattr(expected, name), name
    assert first["lines"] == list(expected.lines or ())
    assert index_folder / first["source_path"] == Path(expected.source_path)
    assert set(first) <= set(SearchResult.__dataclass_fields__)
    text = text_of(found)
    assert "[1] docs/act.md, " in text
    assert f"[{expected.place_id}], lines " in text
    assert "within one hour" in text


@pytest.mark.parametrize(
    ("tool", "arguments", "same_as"),
    [
        ("search_documents", {"q": "gale warning", "limit": "1"}, {"query": "gale warning", "top_k": 1}),
        ("search_documents", {"arguments": {"question": "gale"}}, {"query": "gale"}),
        ("read_section", {"section": "Section 22"}, {"reference": "Section 22"}),
        ("define_term", {"word": "vessel"}, {"term": "vessel"}),
        ("list_documents", {"start": 1}, {"offset": 1}),
    ],
)
def test_argument_names_that_models_invent_are_understood(
    url: str, tool: str, arguments: dict[str, object], same_as: dict[str, object]
) -> None:
    invented, right = call(url, tool, arguments), call(url, tool, same_as)
    assert not invented.is_error, text_of(invented)
    assert text_of(invented) == text_of(right)


def test_filters_and_document_narrow_a_search(url: str) -> None:
    everywhere = call(url, "search_documents", {"query": "harbour pump"}).structured_content
    assert len({result["source_path"] for result in everywhere["results"]}) > 1
    for narrowed in ({"filters": {"path": "manual.md"}}, {"document": "Pump manual"}):
        found = call(url, "search_documents", {"query": "harbour pump", **narrowed}).structured_content
        assert {Path(result["source_path"]).name for result in found["results"]} == {"manual.md"}


def test_a_section_is_read_with_its_citation(url: str) -> None:
    found = call(url, "read_section", {"reference": "Section 21(b)"})
    data = found.structured_content
    assert data["section_id"] == "sec_21_b"
    assert data["text"].startswith("(b) A written account")
    assert data["text"] in text_of(found)
    assert data["location"] in text_of(found)
    assert not data["truncated"]


def test_a_long_section_is_read_on_from_where_it_was_cut(url: str) -> None:
    whole = call(
        url, "read_section", {"reference": "Pump manual", "token_budget": 100_000}
    ).structured_content["text"]
    read, offset = "", 0
    for _ in range(50):
        part = call(
            url, "read_section", {"reference": "Pump manual", "token_budget": 600, "offset": offset}
        ).structured_content
        read += part["text"]
        if not part["truncated"]:
            break
        assert part["next_offset"] > offset
        offset = part["next_offset"]
    assert read == whole


def test_a_term_is_defined_or_near_ones_are_offered(url: str) -> None:
    assert "means every description of craft" in text_of(call(url, "define_term", {"term": "Vessels"}))
    unknown = call(url, "define_term", {"term": "vesel"})
    assert not unknown.is_error
    assert unknown.structured_content["near"] == ["vessel"]
    assert "vessel" in text_of(unknown)


def test_an_outline_has_the_ids_to_read_sections_by(url: str) -> None:
    found = call(url, "list_outline", {"document": "act.md"})
    act = found.structured_content["outlines"][0]["nodes"][0]
    assert act["heading"] == "Harbour Act"
    section = act["children"][1]["children"][0]
    assert (section["section_id"], f"[{section['place_id']}]" in text_of(found)) == ("sec_21", True)
    shallow = call(url, "list_outline", {"document": "act.md", "depth": 2})
    assert section["place_id"] not in text_of(shallow)
    assert "CHAPTER 2" in text_of(shallow)
    clauses = call(url, "list_outline", {"document": "act.md", "clauses": True})
    assert re.search(r"Section 21\(b\) \[\w{8}\]", text_of(clauses))


def test_references_lead_in_both_directions(url: str) -> None:
    found = call(url, "follow_references", {"reference": "Section 21"})
    data = found.structured_content
    assert [item["reference"]["target_section"] for item in data["cites"]] == ["sec_11_b"]
    assert [item["section_label"] for item in data["cited_by"]] == ["Section 22"]
    target = data["cites"][0]
    assert f"{target['target']} [{target['reference']['target_place_id']}]" in text_of(found)
    assert data["cited_by"][0]["words"] in text_of(found)


def test_documents_and_the_state_of_the_index_are_told(url: str, index_folder: Path) -> None:
    documents = call(url, "list_documents").structured_content
    assert [Path(item["source_path"]).name for item in documents["documents"]] == [
        "act.md",
        "manual.md",
        "visitors.md",
    ]
    status = call(url, "index_status")
    assert status.structured_content["indexes"][0]["documents"] == 3
    assert ", at .loccit\n" in text_of(status) and str(index_folder) not in text_of(status)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("search_documents", {}, "query is missing"),
        ("search_documents", {"query": "x", "colour": "red"}, "unknown argument 'colour'"),
        ("search_documents", {"query": "x", "mode": "magic"}, "must be one of"),
        ("search_documents", {"query": "x", "filters": {"after": "soon"}}, "not a date"),
        ("read_section", {"reference": "Section 999"}, "Section 999"),
        ("read_section", {"reference": "Section 21", "offset": 10**6}, "smaller offset"),
        ("list_outline", {"document": "manaul.md"}, "Did you mean: manual.md"),
    ],
)
def test_what_is_wrong_is_said_and_the_server_lives_on(
    url: str, tool: str, arguments: dict[str, object], says: str
) -> None:
    async def talk(client: Client) -> tuple[CallToolResult, CallToolResult]:
        return await client.call_tool(tool, arguments), await client.call_tool("index_status", {})

    refused, after = ask(url, talk)
    assert refused.is_error
    assert says in text_of(refused)
    assert not after.is_error


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("serch_documents", "There is no tool 'serch_documents'. Did you mean search_documents"),
        ("index_documents", "--write"),
        ("", "There is no tool ''"),
    ],
)
def test_an_unknown_tool_is_an_error_of_the_protocol(url: str, tool: str, says: str) -> None:
    with pytest.raises(MCPError, match=re.escape(says)) as raised:
        call(url, tool, {"query": "x"})
    assert raised.value.error.code == INVALID_PARAMS


def test_what_is_near_a_miss_can_be_read(url: str) -> None:
    missed = text_of(call(url, "read_section", {"reference": "Section 23"}))
    near = re.search(r"Section 22\. Closure (\[\w{8}\])", missed)
    assert near and "gale warning" in text_of(call(url, "read_section", {"reference": near[1]}))


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("search_documents", {"query": "gale warning", "top_k": 1}, ["Section 22"]),
        ("read_section", {"reference": "Section 21(b)"}, ["Section 21(b)"]),
        ("read_section", {"reference": "Sections 21 and 22"}, ["Section 21", "Section 22"]),
        ("find_all", {"pattern": "Harbour Master may"}, ["Section 11(b)", "Section 22"]),
        ("list_documents", {}, ["Harbour Act", "Pump manual", "Visitor notes"]),
        ("define_term", {"term": "nothing like it"}, []),
    ],
)
def test_an_answer_links_to_the_resources_that_it_cites(
    url: str, tool: str, arguments: dict[str, object], names: list[str]
) -> None:
    async def talk(client: Client) -> tuple[list[ResourceLink], list[Any]]:
        found = await client.call_tool(tool, arguments)
        links = [block for block in found.content if isinstance(block, ResourceLink)]
        return links, [(await client.read_resource(link.uri)).contents[0] for link in links]

    links, contents = ask(url, talk)
    assert [link.name for link in links] == names
    assert all(link.annotations and link.annotations.audience == ["user"] for link in links)
    assert all(content.text for content in contents)


def test_links_never_take_what_the_text_needs(url: str, index_folder: Path) -> None:
    with Library(index_folder / ".loccit") as library:
        tokens = Tokens(library.tokenizer)
    counts = []
    for budget in (300, 600, 900, 1500, 20_000):
        found = call(url, "search_documents", {"query": "pump", "top_k": 20, "token_budget": budget})
        links = [block for block in found.content if isinstance(block, ResourceLink)]
        sent = [{"type": "resource_link", "uri": link.uri, "name": link.name} for link in links]
        total = tokens.count(text_of(found)) + sum(
            tokens.count(json.dumps(link, separators=(",", ":"))) for link in sent
        )
        assert total <= budget
        counts.append(len(links))
    assert counts == sorted(counts) and counts[-1] == len(found.structured_content["results"])


def test_what_a_document_says_stands_between_marks_that_it_cannot_close(url: str) -> None:
    text = text_of(call(url, "search_documents", {"query": "where do visitors park", "top_k": 1}))
    (code,) = set(re.findall(r"^</quote-(\w+)>$", text, re.MULTILINE))
    assert f"</quote-{code}>" not in text[text.index("Ignore your") : text.index("zebra")]
    before, _, rest = text.partition(f"<quote-{code}>\n")
    assert "never instructions" in before
    assert "Ignore your previous instructions" in rest.partition(f"\n</quote-{code}>")[0]
    section = text_of(call(url, "read_section", {"reference": "Parking"}))
    assert section.count("\n</quote-") == 1


def test_ten_calls_at_once_are_all_answered(url: str) -> None:
    async def talk(client: Client) -> list[CallToolResult]:
        queries = [f"pump chapter {number}" for number in range(1, 11)]
        return await asyncio.gather(
            *(client.call_tool("search_documents", {"query": query}) for query in queries)
        )

    answers = ask(url, talk)
    assert [answer.structured_content["query"] for answer in answers] == [
        f"pump chapter {n}" for n in range(1, 11)
    ]
    assert all(answer.structured_content["results"] for answer in answers)


def test_text_alone_is_sent_when_that_is_asked_for(index_folder: Path) -> None:
    with served(index_registry(index_folder, structured=False)) as address:
        answer = call(f"{address}/mcp", "search_documents", {"query": "gale"})
    assert answer.structured_content is None
    assert "gale warning" in text_of(answer)


def test_a_document_alone_is_read_from_its_start(url: str, index_folder: Path) -> None:
    text = (index_folder / "docs" / "manual.md").read_text(encoding="utf-8")
    shown, offset = "", 0
    while True:
        given = {"document": "manual.md", "token_budget": 1500, "offset": offset}
        found = call(url, "read_section", given)
        said, data = text_of(found), found.structured_content
        assert re.search(r"^Document, whole: Pump manual \[\w{8}\]$", said, re.MULTILINE)
        # As JSON it takes more room.
        assert data["text"].strip() in said
        shown += data["text"]
        if not data["truncated"]:
            break
        # Its chapters can be read one by one, and the rest from where it ends.
        assert "- 8 Chapter of the pump [" in said and "Cut to fit the token budget, lines" in said
        assert re.search(r"read on with offset=\d+\.$", said)
        offset = data["next_offset"]
    assert offset and shown.strip() == text.strip()
    nothing = call(url, "read_section", {"token_budget": 1500})
    assert nothing.is_error and "reference is missing" in text_of(nothing)
