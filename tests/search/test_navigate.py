from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import NotFoundError
from loccit.model import OutlineNode


def test_a_section_is_read_whole_with_its_children(library: Library) -> None:
    view = library.section("TITLE II", document="harbour-safety-act.md")
    assert view.heading.startswith("TITLE II")
    assert view.section_id == "title_2"
    assert [child.label for child in view.children] == ["CHAPTER 1", "CHAPTER 2"]
    assert "Section 201" in view.text and "Section 301" not in view.text
    source = Path(view.source_path).read_text().splitlines()
    assert view.heading in source[view.lines.first - 1]
    assert view.chunk_ids


@pytest.mark.parametrize(
    "reference", ["Section 403", "sec_403", "Improvement orders and detention", "Section 403(zz)"]
)
def test_a_section_goes_by_many_names(library: Library, reference: str) -> None:
    view = library.section(reference)
    assert view.section_label == "Section 403"
    assert view.exact == (reference != "Section 403(zz)")
    assert [child.label for child in view.children] == [f"Section 403({letter})" for letter in "abcd"]


@pytest.mark.parametrize("reference", ["§ 403(b)", "sec_403_b", "Section 403 (b)"])
def test_a_clause_is_read_with_its_parts(library: Library, reference: str) -> None:
    view = library.section(reference)
    assert (view.section_label, view.section_id, view.exact) == ("Section 403(b)", "sec_403_b", True)
    assert view.text.startswith("(b) ")
    assert [child.label for child in view.children][:2] == ["Section 403(b)(1)", "Section 403(b)(2)"]
    assert view.children[1].children[0].label == "Section 403(b)(2)(A)"
    assert view.heading.startswith("Section 403")


def test_the_outline_shows_clauses_when_asked(library: Library) -> None:
    [plain] = library.outline("service-agreement.docx")
    [whole] = library.outline("service-agreement.docx", clauses=True)

    def labels(nodes: list[OutlineNode]) -> list[str]:
        return [label for node in nodes for label in (node.label, *labels(node.children))]

    assert "4.2(a)" not in labels(plain.nodes) and "4.2(a)" in labels(whole.nodes)


def test_other_documents_with_the_same_number_are_named(library: Library) -> None:
    view = library.section("4.2")
    assert view.alternatives and all("#sec_4_2" in other for other in view.alternatives)


def test_an_unknown_section_says_what_is_near(library: Library) -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean: .*Mooring"):
        library.section("moorin")


def test_the_outline_is_the_tree_of_headings(library: Library) -> None:
    [outline] = library.outline("harbour-safety-act.md")
    [act] = outline.nodes
    assert [node.label for node in act.children] == ["TITLE I", "TITLE II", "TITLE III", "TITLE IV"]
    first = act.children[0].children[0].children[0]
    assert (first.label, first.level) == ("Section 101", 4)
    assert len(library.outline()) == len(library.documents())


@pytest.mark.parametrize("name", ["hafenordnung.md", "hafenordnung", "Hafenordnung der Stadt Norderfleth"])
def test_a_document_goes_by_path_name_or_title(library: Library, name: str) -> None:
    [outline] = library.outline(name)
    assert outline.source_path.endswith("hafenordnung.md")


def test_an_unknown_document_says_what_is_near(library: Library) -> None:
    with pytest.raises(NotFoundError, match=r"hafenordnung\.md"):
        library.outline("hafenordung.md")


def test_hash_signs_in_code_are_not_headings(library: Library) -> None:
    [outline] = library.outline("pump-manual.md")
    stack, headings = list(outline.nodes), []
    while stack:
        node = stack.pop()
        headings.append(node.heading)
        stack += node.children
    assert not any(heading.startswith(("1 Pressure", "2 Sleep", "Lines that start")) for heading in headings)


def test_documents_are_described(library: Library) -> None:
    by_name = {Path(info.source_path).name: info for info in library.documents()}
    assert by_name["annual-report.pdf"].pages == 9
    assert by_name["hafenordnung.md"].language == "de"
    assert by_name["service-agreement.docx"].title == "Service Agreement"
    assert by_name["Authentication.md"].metadata["tags"]


def test_callers_that_await_get_the_same(library: Library) -> None:
    async def ask() -> tuple[str, str, int, int]:
        response, view, outlines, documents = await asyncio.gather(
            library.asearch("Section 403"), library.asection("§ 4"), library.aoutline(), library.adocuments()
        )
        return response.results[0].section_label, view.section_label, len(outlines), len(documents)

    label, section, outlines, documents = asyncio.run(ask())
    assert (label, section) == ("Section 403", "§ 4") and outlines == documents
