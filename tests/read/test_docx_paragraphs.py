"""Paragraphs: a Word file is cited by the paragraphs of its body."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit import Library
from loccit.model.document import Lines, Pages, span
from loccit.read.docx import convert_docx
from loccit.structure import Positions


def paragraphs_of(path: Path, *words: str) -> list[int]:
    converted = convert_docx(path)
    position = Positions(converted.text, converted.pages, converted.line_starts)
    return [position.line(converted.text.index(word)) for word in words]


def contract(path: Path) -> Document:
    made = docx.Document()
    made.add_heading("Lease", 1)
    made.add_paragraph("")
    made.add_paragraph("The house is let.\nIt has a garden.")
    for word in ("roof", "walls"):
        made.add_paragraph(f"The {word} too.", style="List Bullet")
    table = made.add_table(2, 2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell{number}"
    made.add_heading("Rent", 1)
    made.add_paragraph("The rent is due monthly.")
    made.save(str(path))
    return made


def test_paragraphs_are_counted_as_the_file_has_them(tmp_path: Path) -> None:
    path = tmp_path / "lease.docx"
    contract(path)
    words = ("Lease", "house", "garden", "roof", "walls", "cell0", "cell2", "cell3", "Rent", "monthly")
    assert paragraphs_of(path, *words) == [1, 3, 3, 4, 5, 6, 8, 8, 10, 11]


def test_boxes_and_notes_are_cited_by_the_paragraph_they_belong_to(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("First.")
    box = (
        f'<w:r {nsdecls("w")} xmlns:v="urn:schemas-microsoft-com:vml"><w:pict><v:shape><v:textbox><w:txbxContent>'
        "<w:p><w:r><w:t>In a box.</w:t></w:r></w:p><w:p><w:r><w:t>Still there.</w:t></w:r></w:p>"
        "</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    made.add_paragraph("Anchored.")._p.append(parse_xml(box))
    made.add_paragraph("Last.")
    made.save(str(tmp_path / "box.docx"))
    assert paragraphs_of(tmp_path / "box.docx", "Anchored", "In a box", "Still", "Last") == [2, 2, 2, 3]


def test_results_sections_and_outlines_say_the_paragraph(tmp_path: Path) -> None:
    contract(tmp_path / "lease.docx")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "lease.docx"], embed=False)
        (result,) = library.search("monthly rent", top_k=1).results
        assert result.location.endswith("Rent, paragraphs 10–11")
        assert library.section("Rent").location.endswith("paragraphs 10–11")
        (outline,) = library.outline("lease.docx")
        assert [node.lines for node in outline.nodes] == [Lines(1, 8), Lines(10, 11)]


def test_a_place_is_cited_by_paragraph_and_page_where_the_file_tells() -> None:
    assert span(Lines(3, 5), None, "lease.docx") == "paragraphs 3–5"
    assert span(Lines(3, 3), Pages(2, 2), "lease.docx") == "p. 2, paragraph 3"
    assert span(Lines(3, 5), None, "lease.md") == "lines 3–5"
    assert span(Lines(3, 5), Pages(1, 2), "lease.pdf") == "pp. 1–2"


def test_a_word_file_of_another_name_has_lines_of_what_is_shown(tmp_path: Path) -> None:
    contract(tmp_path / "lease.doc")
    assert paragraphs_of(tmp_path / "lease.doc", "Lease", "house") == [1, 3]
    assert not convert_docx(tmp_path / "lease.doc").line_starts


@settings(max_examples=25, deadline=None)
@given(kinds=st.lists(st.sampled_from(("text", "empty", "bullet", "heading", "lines", "table")), min_size=1))
def test_every_paragraph_keeps_its_number(tmp_path_factory: pytest.TempPathFactory, kinds: list[str]) -> None:
    made = docx.Document()
    for number, kind in enumerate(kinds):
        if kind == "empty":
            made.add_paragraph("")
        elif kind == "table":
            made.add_table(1, 2).rows[0].cells[0].text = f"word{number}x"
        else:
            style = {"bullet": "List Bullet", "heading": "Heading 2"}.get(kind)
            made.add_paragraph(f"word{number}x" + ("\nmore" if kind == "lines" else ""), style=style)
    if all(kind == "empty" for kind in kinds):
        made.add_paragraph("word")
    path = tmp_path_factory.getbasetemp() / "any.docx"
    made.save(str(path))
    body = docx.Document(str(path)).element.body
    texts = ["".join(p.itertext()) for p in body.iter(f"{{{body.nsmap['w']}}}p")]
    converted = convert_docx(path)
    position = Positions(converted.text, converted.pages, converted.line_starts)
    for number, text in enumerate(texts, start=1):
        word = text.split("x")[0] + "x" if text.startswith("word") and "x" in text else ""
        if word:
            assert position.line(converted.text.index(word)) == number
