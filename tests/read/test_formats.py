"""Every other format, from real files."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pytest
from tests.read.task import result, run

import loccit.read as package
from loccit.errors import ConversionError
from loccit.model.document import Converted, PageStart
from loccit.read import SUPPORTED_EXTENSIONS, convert, supported_extensions


def converted(tmp_path: Path, name: str, data: bytes | str) -> Converted:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return convert(path)[1]


def zip_of(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def book(**sheets: list[list[Any]]) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def test_xlsx(tmp_path: Path) -> None:
    data = book(
        Prices=[
            ["Price list 2024"],
            [],
            [None, "Item", "Price", None, "Since"],
            [None, "Pen | blue", 1.5, None, datetime.datetime(2024, 1, 2)],
            [],
            [None, "Ink\nblack", 3.0, None, True],
        ],
        Empty=[],
        Notes=[["only one column"], ["second"]],
    )
    path = tmp_path / "a.xlsx"
    path.write_bytes(data)
    file_type, found = convert(path)
    assert file_type == ".xlsx"
    assert found.text == (
        "## Prices\n\nPrice list 2024\n\n"
        "| Item | Price | Since |\n| --- | --- | --- |\n"
        "| Pen \\| blue | 1.5 | 2024-01-02 |\n| Ink black | 3 | TRUE |\n\n"
        "## Notes\n\n| only one column |\n| --- |\n| second |\n"
    )
    assert found.warnings == ()


def test_xlsx_hidden_sheets_and_title(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["shown"])
    hidden = workbook.create_sheet("Secret")
    hidden.append(["not shown"])
    hidden.sheet_state = "hidden"
    workbook.properties.title = "Budget"
    workbook.save(tmp_path / "a.xlsx")
    _, found = convert(tmp_path / "a.xlsx")
    assert "not shown" not in found.text
    assert found.metadata == {"title": "Budget"}


def test_large_sheets_are_cut_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.read.data.MAX_ROWS", 10)
    found = converted(tmp_path, "a.xlsx", book(Big=[["n"]] + [[n] for n in range(50)]))
    assert found.text.count("\n|") == 11
    assert found.warnings == ("sheet “Big” was cut after 10 rows",)
    monkeypatch.setattr("loccit.read.data.MAX_CELLS", 4)
    found = converted(tmp_path, "a.xlsx", book(A=[[1, 2], [3, 4]], B=[[5]]))
    assert "## B" not in found.text and "left out" in found.warnings[0]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.csv", "Name,Age\nAnn,5\n\nBob,6\n"),
        ("a.csv", "Name;Age\r\nAnn;5\r\nBob;6\r\n"),
        ("a.csv", "\ufeffName\tAge\nAnn\t5\nBob\t6\n"),
        ("a.tsv", "Name\tAge\nAnn\t5\nBob\t6"),
        ("a.csv", '"Name","Age"\n"Ann","5"\n"Bob","6"\n'),
    ],
)
def test_csv(tmp_path: Path, name: str, source: str) -> None:
    assert (
        converted(tmp_path, name, source).text == "| Name | Age |\n| --- | --- |\n| Ann | 5 |\n| Bob | 6 |\n"
    )


def test_csv_details(tmp_path: Path) -> None:
    text = converted(tmp_path, "a.csv", 'Name,Text\nAnn,"said ""hi"", | left\nand came back"\nBob\n').text
    assert text.endswith('| Ann | said "hi", \\| left and came back |\n| Bob |  |\n')
    assert converted(tmp_path, "b.csv", "single\ncolumn\n").text == "| single |\n| --- |\n| column |\n"
    found = converted(tmp_path, "c.csv", "Straße,Größe\nKöln,5\n".encode("cp1252"))
    assert "| Straße | Größe |" in found.text and found.warnings


def presentation() -> Any:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Annual\vReport"
    first.placeholders[1].text = "By the board"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Results"
    frame = second.placeholders[1].text_frame
    frame.text = "Sales up"
    below = frame.add_paragraph()
    below.text, below.level = "in the north", 1
    second.notes_slide.notes_text_frame.text = "Mention the weather"
    third = deck.slides.add_slide(deck.slide_layouts[6])
    size = pptx.util.Inches(2)
    table = third.shapes.add_table(2, 2, size, size, size, size).table
    for row, values in enumerate([("Year", "Sum"), ("2024", "7|8")]):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    box = third.shapes.add_textbox(size, 0, size, size)
    box.text_frame.text = "# Above"
    deck.core_properties.title = "Report"
    deck.core_properties.author = "Ann"
    return deck


def test_pptx(tmp_path: Path) -> None:
    presentation().save(tmp_path / "a.pptx")
    file_type, found = convert(tmp_path / "a.pptx")
    assert file_type == ".pptx"
    assert found.text == (
        "# Annual Report\n\nBy the board\n\n"
        "## Results\n\n- Sales up\n  - in the north\n\n**Notes:**\n\nMention the weather\n\n"
        "## Slide 3\n\n\\# Above\n\n| Year | Sum |\n| --- | --- |\n| 2024 | 7\\|8 |\n\n"
    )
    starts = [found.text.index(title) for title in ("# Annual", "## Results", "## Slide 3")]
    assert found.pages == tuple(PageStart(start, page) for page, start in enumerate(starts, start=1))
    assert found.metadata["title"] == "Report" and found.metadata["author"] == "Ann"


def test_slide_shows_are_presentations_too(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    presentation().save(buffer)
    show = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(show, "w") as new:
        for name in old.namelist():
            data = old.read(name).replace(b"presentation.main+xml", b"slideshow.main+xml")
            new.writestr(name, data)
    assert "## Results" in converted(tmp_path, "a.ppsx", show.getvalue()).text


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
OPF = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The Book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>
<dc:language>en</dc:language></metadata>
<manifest><item id="two" href="two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="ch%20one.xhtml" media-type="application/xhtml+xml"/>
<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/></spine>
</package>"""
EPUB = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": OPF,
    "OEBPS/ch one.xhtml": "<body><header><h1>One</h1></header><p>First</p><h2>Inner</h2><p>é</p></body>",
    "OEBPS/two.xhtml": "<html><body><p>No heading here</p></body></html>",
    "OEBPS/nav.xhtml": '<html xmlns="urn:x"><body><nav><a href="two.xhtml#x">Two</a></nav></body></html>',
}


def test_epub(tmp_path: Path) -> None:
    found = converted(tmp_path, "a.epub", zip_of(EPUB))
    assert found.text == "# One\n\nFirst\n\n## Inner\n\né\n\n# Two\n\nNo heading here\n"
    assert found.metadata == {"title": "The Book", "author": "Ann, Bob", "language": "en"}
    assert found.warnings == ("chapter OEBPS/gone.xhtml is missing from the file",)


NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style")
)
ODT = f"""<office:document-content {NAMES}><office:automatic-styles>
<style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles>
<office:body><office:text>
<text:p text:style-name="P1">My Title</text:p><text:h text:outline-level="1">Part</text:h>
<text:p>Some <text:span>styled</text:span><text:s text:c="2"/>text<office:annotation><text:p>no</text:p>
</office:annotation></text:p><text:section><text:h text:outline-level="2">Inner</text:h></text:section>
<text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list>
</text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>H</text:p></table:table-cell>
<table:table-cell><text:p>I</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell>
</table:table-row></table:table></office:text></office:body></office:document-content>"""
META = """<o:m xmlns:o="urn:o" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>
<dc:creator>Ann</dc:creator></o:m>"""


def test_odt(tmp_path: Path) -> None:
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ODT, "meta.xml": META}
    found = converted(tmp_path, "a.odt", zip_of(parts))
    assert found.text == (
        "# My Title\n\n# Part\n\nSome styled text\n\n## Inner\n\n- a\n  - b\n\n"
        "| H | I |\n| --- | --- |\n| x | x |\n"
    )
    assert found.metadata == {"title": "T", "author": "Ann"}
    parts["META-INF/manifest.xml"] = "<m><encryption-data/></m>"
    with pytest.raises(ConversionError, match="password"):
        converted(tmp_path, "b.odt", zip_of(parts))


def test_rtf(tmp_path: Path) -> None:
    source = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\f0 Caf\'e9 {\b bold}\par Second \u8364?\par}"
    found = converted(tmp_path, "a.rtf", source)
    assert found.text == "Café bold\nSecond €\n"
    assert not found.markdown


def test_json(tmp_path: Path) -> None:
    data = {
        "name": "Ann",
        "tags": ["a", "b"],
        "home": {"city": "Köln", "zip": None},
        "items": [{"n": 1}, {"n": True}],
    }
    assert converted(tmp_path, "a.json", json.dumps(data)).text == (
        "- name: Ann\n- tags: a, b\n- home:\n  - city: Köln\n  - zip:\n"
        "- items:\n  - ·\n    - n: 1\n  - ·\n    - n: true\n"
    )
    with pytest.raises(ConversionError, match="not valid JSON"):
        converted(tmp_path, "b.json", '{"a": ')


def test_jsonl(tmp_path: Path) -> None:
    found = converted(tmp_path, "a.jsonl", '{"title": "One", "text": "x"}\n\nbroken\n{"text": "y"}\n')
    assert found.text == "## One\n\n- title: One\n- text: x\n\n## Record 4\n\n- text: y\n"
    assert found.warnings == ("1 lines are not valid JSON and were left out",)


def test_yaml_and_xml(tmp_path: Path) -> None:
    source = "# comment\na:\n  - b\n"
    assert converted(tmp_path, "a.yaml", source) == Converted(source, markdown=False)
    text = converted(
        tmp_path, "a.xml", "<?xml version='1.0'?><r><t>Title</t><p>one <b>two</b> three</p></r>"
    ).text
    assert text == "t: Title\n\none two three\n"


def test_notebook(tmp_path: Path) -> None:
    notebook = {
        "metadata": {"language_info": {"name": "julia"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
            {"cell_type": "code", "source": "# code\nx = 1", "outputs": [{"text": ["out\n"]}, {"data": {}}]},
            {"cell_type": "code", "source": []},
            {"cell_type": "raw", "source": "```"},
        ],
    }
    assert converted(tmp_path, "a.ipynb", json.dumps(notebook)).text == (
        "# Title\ntext\n\n```julia\n# code\nx = 1\n```\n\n```\nout\n```\n\n````\n```\n````\n"
    )
    with pytest.raises(ConversionError, match="not a valid notebook"):
        converted(tmp_path, "b.ipynb", "[1]")


def test_mail(tmp_path: Path) -> None:
    source = (
        "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
        "Date: Tue, 02 Jan 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="x"\r\n\r\n'
        "--x\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        "Sch=F6ne Gr=FC=DFe\r\n# no heading\r\n"
        '--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n'
        "x\r\n--x--\r\n"
    )
    found = converted(tmp_path, "a.eml", source)
    assert found.text == (
        "# Grüße\n\nFrom: Ann <ann@example.org>  \nTo: bob@example.org  \n"
        "Date: Tue, 02 Jan 2024 10:00:00 +0000  \n\n"
        "Schöne Grüße\n\\# no heading\n\nAttachments: a.pdf\n"
    )
    assert found.metadata["title"] == "Grüße"
    assert found.metadata["date"] == "2024-01-02T10:00:00+00:00"


def test_mail_in_html_and_web_archives(tmp_path: Path) -> None:
    source = "From: a@b.c\nSubject: S\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n"
    source += "<h2>Head</h2><p>é</p>"
    assert converted(tmp_path, "a.eml", source).text == "# S\n\nFrom: a@b.c  \n\n## Head\n\né\n"
    assert converted(tmp_path, "a.mhtml", source).text == "## Head\n\né\n"


def test_third_party_converters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("dwg", "test_plugin_for_formats:read", "loccit.converters")
    monkeypatch.setattr(package, "_third_party", lambda: {".dwg": entry})
    monkeypatch.setattr(EntryPoint, "load", lambda self: lambda path: Converted("# From a plugin\n"))
    path = tmp_path / "a.DWG"
    path.write_bytes(b"AC1027\x00\x00")
    assert convert(path) == (".dwg", Converted("# From a plugin\n"))
    assert ".dwg" in supported_extensions() and ".dwg" not in SUPPORTED_EXTENSIONS


def test_extensions() -> None:
    assert {
        ".md",
        ".txt",
        ".html",
        ".pdf",
        ".docx",
        ".pptx",
        ".xlsx",
        ".epub",
        ".csv",
        ".odt",
    } <= SUPPORTED_EXTENSIONS
    assert {".py", ".png", ".zip", ".doc"}.isdisjoint(SUPPORTED_EXTENSIONS)
    assert all(extension == extension.lower() and extension[0] == "." for extension in SUPPORTED_EXTENSIONS)


def test_task_for_the_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\f two")
    value = run({"path": str(path)}, {})
    assert result(json.loads(json.dumps(value))) == convert(path)
