"""Structure of Word files: headings, titles, tables, contents, notes, properties."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml

from loccit.errors import ConversionError
from loccit.model.document import Converted
from loccit.read.docx import convert_docx

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def convert(made: Any, tmp_path: Path, **parts: str) -> Converted:
    """Save, with parts such as ``footnotes="<w:footnote …>"`` added, and convert."""
    path = tmp_path / "made.docx"
    made.save(path)
    with zipfile.ZipFile(path, "a") as package:
        for name, xml in parts.items():
            package.writestr(f"word/{name}.xml", f'<w:{name} xmlns:w="{W}">{xml}</w:{name}>')
    return convert_docx(path)


def text_of(made: Any, tmp_path: Path) -> str:
    return convert(made, tmp_path).text


def add_xml(made: Any, xml: str) -> None:
    body = parse_xml(f'<w:body xmlns:w="{W}">{xml}</w:body>')
    section = made.element.body.sectPr
    for child in list(body):
        section.addprevious(child)


def p(text: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def styled(made: Any, name: str, base: str | None = None, outline: int | None = None) -> None:
    style = made.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = made.styles[base] if base else None
    if outline is not None:
        style.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl xmlns:w="{W}" w:val="{outline}"/>'))


def test_headings_keep_their_levels(tmp_path: Path) -> None:
    made = docx.Document()
    for depth in range(1, 10):
        made.add_heading(f"H{depth}", depth)
    assert text_of(made, tmp_path).split("\n\n") == [
        *(f"{'#' * depth} H{depth}" for depth in range(1, 7)), "###### H7", "###### H8", "###### H9\n",
    ]  # fmt: skip


def test_a_title_goes_above_the_headings(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("Master", style="Title")
    made.add_paragraph("Agreement", style="Title")
    made.add_paragraph("between two", style="Subtitle")
    made.add_heading("Scope", 1)
    made.add_heading("Deep", 5)
    assert text_of(made, tmp_path) == "# Master Agreement\n\n**between two**\n\n## Scope\n\n###### Deep\n"


def test_headings_do_not_move_below_a_title_when_there_is_no_room(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("Report", style="Title")
    made.add_heading("Scope", 1)
    made.add_heading("Deepest", 6)
    assert text_of(made, tmp_path) == "# Report\n\n# Scope\n\n###### Deepest\n"


def test_a_title_below_the_first_heading_moves_nothing(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_heading("Notice", 1)
    made.add_paragraph("Report", style="Title")
    made.add_heading("Scope", 2)
    assert text_of(made, tmp_path) == "# Notice\n\n# Report\n\n## Scope\n"


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("Überschrift 2", 2), ("Titre 3", 3), ("Título 1", 1), ("Titolo 2", 2), ("Kop 4", 4), ("Rubrik 1", 1),
        ("見出し 2", 2), ("标题 1", 1), ("Заголовок 3", 3), ("Annex Heading 2", 2), ("Heading2 bare", 2),
    ],
)  # fmt: skip
def test_heading_styles_are_known_by_name(tmp_path: Path, name: str, level: int) -> None:
    made = docx.Document()
    styled(made, name)
    made.add_paragraph("Umfang", style=name)
    assert text_of(made, tmp_path) == f"{'#' * level} Umfang\n"


def test_heading_styles_are_known_by_base_and_outline(tmp_path: Path) -> None:
    made = docx.Document()
    styled(made, "Clause", base="Heading 2")
    styled(made, "Subclause", base="Clause")
    styled(made, "Abschnitt", outline=2)
    styled(made, "Clause text", base="Heading 2", outline=9)
    styled(made, "Heading 2 body", base=None)
    for name in ("Clause", "Subclause", "Abschnitt", "Clause text", "Heading 2 body"):
        made.add_paragraph(name, style=name)
    assert text_of(made, tmp_path).split("\n\n") == [
        "## Clause", "## Subclause", "### Abschnitt", "Clause text", "Heading 2 body\n",
    ]  # fmt: skip


def test_outline_levels_of_paragraphs_win_over_their_style(tmp_path: Path) -> None:
    made = docx.Document()
    add_xml(made, p("Part", '<w:outlineLvl w:val="0"/>'))
    add_xml(made, p("Not this", '<w:pStyle w:val="Heading1"/><w:outlineLvl w:val="9"/>'))
    assert text_of(made, tmp_path) == "# Part\n\nNot this\n"


def test_an_outline_level_of_the_default_style_says_nothing(tmp_path: Path) -> None:
    made = docx.Document()
    outline = f'<w:outlineLvl xmlns:w="{W}" w:val="0"/>'
    made.styles["Normal"].element.get_or_add_pPr().append(parse_xml(outline))
    made.add_heading("Berths", 1)
    made.add_paragraph("This agreement is made between the port and the owner.")
    assert text_of(made, tmp_path) == "# Berths\n\nThis agreement is made between the port and the owner.\n"


def test_numbered_titles_among_numbered_headings_are_headings(tmp_path: Path) -> None:
    """Whoever wrote it styled some of them only; steps that are numbered below a heading are none."""
    made = docx.Document()
    for line in ("#1. Port", "#1.1 Berths", "*1.2 Dues", "1. Moor the vessel", "2. Pay the dues", "3. Go"):
        paragraph = (
            made.add_heading(line[1:], 1 + line[3].isdigit()) if line[0] == "#" else made.add_paragraph()
        )
        if line[0] != "#":
            paragraph.add_run(line.lstrip("*")).bold = line[0] == "*"
    made.add_paragraph("2. Lights")
    made.add_heading("2.1 Red", 2)
    made.add_paragraph(
        "3. The council keeps a register of the lights and of those who keep them, and reads it out."
    )
    made.add_heading("4. Law", 1)
    found = [line for line in text_of(made, tmp_path).split("\n") if line.startswith("#")]
    assert found == ["# 1. Port", "## 1.1 Berths", "## 1.2 Dues", "# 2. Lights", "## 2.1 Red", "# 4. Law"]


def test_headings_are_one_plain_line(tmp_path: Path) -> None:
    made = docx.Document()
    heading = made.add_heading("", 1)
    heading.add_run("Chapter 1").add_break()
    heading.add_run("The\tbeginning #").bold = True
    made.add_heading("", 2)
    made.add_heading("   ", 2)
    made.add_paragraph("text")
    assert text_of(made, tmp_path) == "# Chapter 1 The beginning \\#\n\ntext\n"


def test_a_clause_in_a_heading_style_is_text(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_heading("The Supplier shall " + "deliver " * 60, 2)
    assert text_of(made, tmp_path).startswith("The Supplier shall deliver")


def test_cyclic_styles_end(tmp_path: Path) -> None:
    made = docx.Document()
    styled(made, "A")
    styled(made, "B", base="A")
    made.styles["A"].base_style = made.styles["B"]
    made.add_paragraph("round", style="A")
    assert text_of(made, tmp_path) == "round\n"


def test_tables(tmp_path: Path) -> None:
    made = docx.Document()
    table = made.add_table(3, 3)
    for index, text in enumerate(["Region", "a|b", "Total", "North", "1", "2", "", "3", "line\nbreak"]):
        table.cell(index // 3, index % 3).text = text
    table.cell(0, 0).paragraphs[0].runs[0].bold = True
    table.cell(1, 0).merge(table.cell(2, 0))
    assert text_of(made, tmp_path) == (
        "| Region | a\\|b | Total |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | line<br>break |\n"
    )


def test_spanned_columns_keep_the_grid(tmp_path: Path) -> None:
    made = docx.Document()
    table = made.add_table(2, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    for index, text in enumerate("xyz"):
        table.cell(1, index).text = text
    assert text_of(made, tmp_path) == "| wide |  |  |\n| --- | --- | --- |\n| x | y | z |\n"


def test_layout_tables_are_text_and_nested_tables_are_flat(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_table(1, 1).cell(0, 0).paragraphs[0].add_run("framed")
    layout = made.add_table(2, 1)
    layout.cell(0, 0).paragraphs[0].style = "Heading 1"
    layout.cell(0, 0).paragraphs[0].add_run("Cover")
    layout.cell(1, 0).text = "below"
    outer = made.add_table(1, 2)
    outer.cell(0, 0).text = "left"
    inner = outer.cell(0, 1).add_table(2, 2)
    for index, text in enumerate("abcd"):
        inner.cell(index // 2, index % 2).text = text
    made.add_table(2, 2)
    assert text_of(made, tmp_path) == (
        "framed\n\n# Cover\n\nbelow\n\n| left | a, b<br>c, d |\n| --- | --- |\n"
    )


def test_lists_in_cells_stay_in_their_cells(tmp_path: Path) -> None:
    made = docx.Document()
    table = made.add_table(1, 2)
    table.cell(0, 0).text = "left"
    cell = table.cell(0, 1)
    cell.paragraphs[0].text = "first"
    cell.add_paragraph("item", style="List Bullet")
    cell.add_paragraph("step", style="List Number")
    assert "| left | first<br>• item<br>1. step |" in text_of(made, tmp_path)


def test_notes_are_marked_and_defined_at_the_end(tmp_path: Path) -> None:
    made = docx.Document()
    add_xml(
        made,
        "<w:p><w:r><w:t>Fees</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r>"
        "<w:r><w:t> apply</w:t></w:r><w:r><w:endnoteReference w:id='1'/></w:r>"
        "<w:r><w:footnoteReference w:id='9'/></w:r></w:p>" + p("Last"),
    )
    converted = convert(
        made,
        tmp_path,
        footnotes="<w:footnote w:type='separator' w:id='0'><w:p/></w:footnote><w:footnote w:id='2'>"
        f"<w:p><w:r><w:footnoteRef/></w:r><w:r><w:t> # net</w:t></w:r></w:p>{p('of tax')}</w:footnote>",
        endnotes=f"<w:endnote w:id='1'>{p('see law')}</w:endnote>",
    )
    assert converted.text == "Fees[^1] apply[^2]\n\nLast\n\n[^1]: \\# net\nof tax\n\n[^2]: see law\n"
    assert converted.warnings == ("note missing for 1 reference",)


def test_tables_of_contents_are_left_out(tmp_path: Path) -> None:
    made = docx.Document()
    styled(made, "toc 1")
    made.add_paragraph("Scope\t3", style="toc 1")
    field = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
    add_xml(
        made,
        "<w:p>" + field.format("begin") + '<w:r><w:instrText> TOC \\o "1-3" </w:instrText></w:r>'
        + field.format("separate") + "<w:r><w:t>First 1</w:t></w:r></w:p>" + p("Second 2")
        + "<w:p><w:r><w:t>Third 3</w:t></w:r>" + field.format("end") + "</w:p>"
        + "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj>"
        + f"</w:sdtPr><w:sdtContent>{p('Contents')}{p('Scope 4')}</w:sdtContent></w:sdt>",
    )  # fmt: skip
    made.add_paragraph("kept")
    assert text_of(made, tmp_path) == "kept\n"


def test_contents_made_of_links_are_left_out_but_cross_references_stay(tmp_path: Path) -> None:
    made = docx.Document()
    names = ["Scope", "Terms", "Fees"]
    for name in [*names, "Gone"]:
        add_xml(made, f"<w:p><w:hyperlink w:anchor='{name}'><w:r><w:t>{name}</w:t></w:r></w:hyperlink></w:p>")
    for name in names:
        made.add_heading(name, 1)
    add_xml(made, "<w:p><w:hyperlink w:anchor='Scope'><w:r><w:t>Scope</w:t></w:r></w:hyperlink></w:p>")
    assert text_of(made, tmp_path) == "# Scope\n\n# Terms\n\n# Fees\n\nScope\n"


def test_headers_footers_and_comments_are_left_out(tmp_path: Path) -> None:
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "Confidential"
    made.sections[0].footer.paragraphs[0].text = "Page 1"
    add_xml(
        made,
        "<w:p><w:commentRangeStart w:id='0'/><w:r><w:t>body</w:t></w:r><w:commentRangeEnd w:id='0'/>"
        "<w:r><w:commentReference w:id='0'/></w:r></w:p>",
    )
    assert convert(made, tmp_path, comments=f"<w:comment w:id='0'>{p('remark')}</w:comment>").text == "body\n"


def test_properties_become_metadata(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("text")
    core = made.core_properties
    core.title, core.author, core.subject, core.keywords = "Terms", "Ada", "Sales", "fees; terms"
    core.comments, core.language, core.category = "A draft", "en-GB", "Contracts"
    core.created = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    core.modified = datetime.datetime(2025, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    converted = convert(made, tmp_path)
    assert converted.metadata == {
        "title": "Terms", "author": "Ada", "subject": "Sales", "keywords": "fees; terms",
        "description": "A draft", "language": "en-GB", "category": "Contracts",
        "created": "2024-01-02T03:04:05Z", "modified": "2025-01-02T03:04:05Z",
    }  # fmt: skip
    assert converted.pages == ()
    assert converted.markdown


def test_a_document_without_text_fails(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="contains no text"):
        convert(docx.Document(), tmp_path)
