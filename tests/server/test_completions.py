"""Completions: documents and places that a user may mean while typing an argument."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Completion, PromptReference, ResourceTemplateReference
from tests.server.conftest import ask, call, index_registry, served

from loccit import Library
from loccit.model.uris import DOCUMENT_TEMPLATE, SECTION_TEMPLATE, document_uri

ANSWER = PromptReference(name="answer_with_citations")
COMPARE = PromptReference(name="compare_two_sections")
DOCUMENT = ResourceTemplateReference(uri=DOCUMENT_TEMPLATE)
RULES = """# Hafenordnung

## § 1 Geltungsbereich

Diese Ordnung gilt im Hafen.

## § 2 Öffnungszeiten

Der Hafen öffnet um sechs Uhr.
"""
NAMES = ("harbour act.md", "bye-laws/harbour.md", "bye-laws/Hafenordnung.md", "notes/第一章.md")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("completions")
    texts = (
        "# Harbour Act\n\n## Section 1. Pilots\n\nText.\n\n## Section 12. Fees\n\nText.\n",
        "# Bye-laws\n\n## Section 2. Moorings\n\nText.\n",
        RULES,
        "# 港口条例\n\n## 第一条 适用范围\n\n本条例适用于港口。\n",
    )
    for name, text in zip(NAMES, texts, strict=True):
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    for number in range(130):
        (folder / "docs" / f"letter {number:03}.md").write_text(f"# Letter {number}\n\nDear all.\n")
    with Library(folder / ".loccit") as library:
        assert not library.index([folder / "docs"], embed=False).failed
    with served(index_registry(folder)) as address:
        yield f"{address}/mcp"


def completed(
    url: str,
    ref: PromptReference | ResourceTemplateReference,
    name: str,
    typed: str,
    given: dict[str, str] | None = None,
) -> Completion:
    async def talk(client: Client) -> Completion:
        return (await client.complete(ref, {"name": name, "value": typed}, given)).completion

    return ask(url, talk)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("harb", ["docs/bye-laws/harbour.md", "docs/harbour act.md"]),
        ("HARBOUR A", ["docs/harbour act.md"]),
        ("docs/bye", ["docs/bye-laws/Hafenordnung.md", "docs/bye-laws/harbour.md"]),
        ("bye-l", ["docs/bye-laws/harbour.md", "docs/bye-laws/Hafenordnung.md"]),
        ("ordnung", ["docs/bye-laws/Hafenordnung.md"]),
        ("act", ["docs/harbour act.md"]),
        ("港口", ["docs/notes/第一章.md"]),
        ("nothing of the kind", []),
    ],
)
def test_documents_are_completed_by_name_title_and_path(url: str, typed: str, found: list[str]) -> None:
    for ref, name in ((ANSWER, "document"), (COMPARE, "second_document"), (DOCUMENT, "document")):
        assert completed(url, ref, name, typed).values == found


def test_a_completion_names_a_document_that_can_be_read(url: str) -> None:
    (name,) = completed(url, DOCUMENT, "document", "hafenordnung").values
    assert not call(url, "read_section", {"document": name}).is_error
    assert ask(url, lambda client: client.read_resource(document_uri(name))).contents


def test_at_most_a_hundred_are_given_and_the_rest_is_counted(url: str) -> None:
    found = completed(url, DOCUMENT, "document", "letter")
    assert (len(found.values), found.total, found.has_more) == (100, 130, True)
    everything = completed(url, ANSWER, "document", "")
    assert (len(everything.values), everything.total, everything.has_more) == (100, 134, True)
    # 120 to 129, and the one with the title "Letter 12".
    few = completed(url, DOCUMENT, "document", "letter 12")
    assert (len(few.values), few.total, few.has_more) == (11, 11, False)


@pytest.mark.parametrize(
    ("typed", "document", "found"),
    [
        ("section 1", None, ["Section 1", "Section 12"]),
        ("fees", "harbour act.md", ["Section 12"]),
        ("", "docs/bye-laws/Hafenordnung.md", ["Hafenordnung", "§ 1", "§ 2"]),
        ("offnung", "Hafenordnung.md", ["§ 2"]),
        ("第一", "第一章.md", ["第一条"]),
        ("section 1", "nowhere.md", []),
    ],
)
def test_places_are_completed_in_the_document_that_was_chosen(
    url: str, typed: str, document: str | None, found: list[str]
) -> None:
    given = {"first_document": document} if document else None
    assert completed(url, COMPARE, "first", typed, given).values == found
    # What was chosen for the other section says nothing about this one.
    if document == "nowhere.md":
        assert completed(url, COMPARE, "second", typed, given).values == ["Section 1", "Section 12"]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (ANSWER, "question"),
        (ANSWER, "first"),
        (COMPARE, "colour"),
        (PromptReference(name="no_such_prompt"), "document"),
        (ResourceTemplateReference(uri="file:///{path}"), "path"),
        (ResourceTemplateReference(uri=SECTION_TEMPLATE), "place_id"),
        (DOCUMENT, "tool"),
    ],
)
def test_where_anything_goes_or_nothing_is_known_there_is_no_completion(
    url: str, ref: PromptReference | ResourceTemplateReference, name: str
) -> None:
    found = completed(url, ref, name, "harbour")
    assert (found.values, found.total, found.has_more) == ([], 0, False)


def test_a_server_without_an_index_completes_nothing(tmp_path: Path) -> None:
    with served(index_registry(tmp_path)) as address:
        assert completed(f"{address}/mcp", DOCUMENT, "document", "h").values == []
