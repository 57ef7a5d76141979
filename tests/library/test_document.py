"""A whole document, asked for by its name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import NotFoundError

from .conftest import ACT


@pytest.mark.parametrize("name", ("act.md", "act", "Harbour Act", "docs/act.md"))
def test_a_document_is_one_section(library: Library, folder: Path, name: str) -> None:
    view = library.document(name)
    assert view.source_path == str(folder / "docs" / "act.md")
    assert view.document_title == "Harbour Act"
    assert view.text == ACT.strip()
    assert view.lines == (1, len(ACT.splitlines()))
    below = [(node.heading, [child.heading for child in node.children]) for node in view.children]
    assert below == [("Harbour Act", ["Section 1. Arrival", "Section 2. Lights"])]


def test_the_twin_that_can_be_awaited_gives_the_same(library: Library) -> None:
    assert asyncio.run(library.adocument("act.md")) == library.document("act.md")


def test_a_name_of_two_documents_asks_for_the_path(library: Library, folder: Path) -> None:
    with pytest.raises(NotFoundError, match="Several documents are called 'notes'") as refused:
        library.document("notes")
    assert str(folder / "docs" / "old" / "notes.md") in str(refused.value)
    assert library.document(str(folder / "docs" / "notes.md")).text.endswith("Notes on vessels.")


def test_an_unknown_name_says_what_is_near(library: Library) -> None:
    with pytest.raises(NotFoundError, match=r"no document 'acts\.md'.*Did you mean: act\.md"):
        library.document("acts.md")


def test_a_document_is_read_as_another_process_left_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    note = tmp_path / "docs" / "note.md"
    note.write_text("# Note\n\nBefore.\n", encoding="utf-8")
    with Library(tmp_path / ".loccit") as reader, Library(tmp_path / ".loccit") as writer:
        writer.index(tmp_path / "docs")
        assert reader.document("note").text.endswith("Before.")
        note.write_text("# Note\n\nAfterwards.\n", encoding="utf-8")
        writer.index()
        assert reader.document("note").text.endswith("Afterwards.")
