"""Documents without a heading: their bold lines are what they are divided by."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE

from loccit import Library
from loccit.read import convert

TITLES = ("Berths", "Dues of vessels", "Care of the quay")
TEXT = "The harbour master keeps a register of every vessel that enters the port."


def word(tmp_path: Path, *lines: str, heading: str = "") -> list[str]:
    """The headings of a Word file; lines that begin with a star are bold."""
    made = docx.Document()
    if heading:
        made.add_heading(heading, 1)
    for line in lines:
        made.add_paragraph().add_run(line.lstrip("*")).bold = line.startswith("*")
    path = tmp_path / "made.docx"
    made.save(str(path))
    return headings(path)


def headings(path: Path) -> list[str]:
    return [line.rstrip() for line in convert(path)[1].text.split("\n") if line.startswith("#")]


def sections(*titles: str) -> list[str]:
    return [line for title in titles for line in (f"*{title}", TEXT, TEXT)]


def test_bold_paragraphs_of_a_word_file_are_headings(tmp_path: Path) -> None:
    assert word(tmp_path, TEXT, *sections(*TITLES)) == [f"# {title}" for title in TITLES]


def test_capitals_are_above_other_bold_lines(tmp_path: Path) -> None:
    assert word(tmp_path, *sections("GENERAL RULES", "Berths"), "*SPECIAL RULES", "*Dues", TEXT, TEXT) == [
        "# GENERAL RULES",
        "## Berths",
        "# SPECIAL RULES",
        "## Dues",
    ]


def test_bold_paragraphs_are_text_where_there_are_headings(tmp_path: Path) -> None:
    made = docx.Document()
    for title in TITLES[:2]:
        made.add_heading(title, 1)
        made.add_paragraph(TEXT)
    for line in sections(*TITLES):
        made.add_paragraph().add_run(line.lstrip("*")).bold = line.startswith("*")
    made.save(str(tmp_path / "made.docx"))
    assert headings(tmp_path / "made.docx") == [f"# {title}" for title in TITLES[:2]]


def test_bold_paragraphs_are_below_a_title_in_a_heading_style(tmp_path: Path) -> None:
    assert word(tmp_path, *sections(*TITLES), heading="Port rules") == [
        "# Port rules",
        *(f"## {title}" for title in TITLES),
    ]


def test_a_heading_of_a_quoted_statute_is_not_one_of_the_judgment(tmp_path: Path) -> None:
    made = docx.Document()
    for title in TITLES:
        made.add_paragraph().add_run(title).bold = True
        made.add_paragraph(TEXT)
        made.add_paragraph("“Vessels to which this Act applies.", "Heading 3")
        made.add_paragraph("A vessel is a ship or boat.”")
    made.save(str(tmp_path / "made.docx"))
    assert headings(tmp_path / "made.docx") == [f"# {title}" for title in TITLES]


def test_italic_lines_are_below_bold_ones(tmp_path: Path) -> None:
    made = docx.Document()
    for title in TITLES:
        made.add_paragraph().add_run(title).bold = True
        made.add_paragraph(TEXT)
        made.add_paragraph().add_run(f"Law of {title.lower()}").underline = True
        for _ in range(2):
            made.add_paragraph(TEXT)
    made.save(str(tmp_path / "made.docx"))
    assert headings(tmp_path / "made.docx")[:2] == ["# Berths", "## Law of berths"]


def test_who_is_named_before_the_text_heads_nothing(tmp_path: Path) -> None:
    """The parties of a case, the title of a letter, and a bold line within bold text."""
    found = word(
        tmp_path,
        "*Before:",
        "The harbour master",
        "*Between",
        "The port of Moen and others",
        "*JUDGMENT",
        *sections(*TITLES),
        "*Conclusion",
        f"*{TEXT}",
        "*“Dear Sir",
        TEXT,
    )
    assert found == ["# JUDGMENT" if title == "JUDGMENT" else f"# {title}" for title in TITLES]


def test_a_letterhead_and_signatures_are_no_headings(tmp_path: Path) -> None:
    found = word(
        tmp_path,
        "*Port of Moen",
        "*Quay Street 4",
        "*Port rules",
        TEXT,
        *sections(*TITLES),
        "*Ada Berg",
        "*Master",
    )
    assert found == ["# Port rules", *(f"# {title}" for title in TITLES)]


@pytest.mark.parametrize(
    "line",
    [
        "No vessel may stay longer than a day.",
        "Name: ______________",
        "[name of the vessel]",
        "and whoever else is in charge",
    ],
)
def test_emphasised_sentences_and_blanks_are_no_headings(tmp_path: Path, line: str) -> None:
    assert word(tmp_path, *sections(*TITLES, line)) == [f"# {title}" for title in TITLES]


def test_a_text_that_is_mostly_bold_has_no_headings(tmp_path: Path) -> None:
    assert word(tmp_path, *(line for title in TITLES for line in (f"*{title}", TEXT))) == []


def test_numbered_titles_are_left_to_their_numbers(tmp_path: Path) -> None:
    lines = [line for n in "123" for line in (f"*Article {n}", f"*{TITLES[int(n) - 1]}", TEXT, TEXT, TEXT)]
    assert word(tmp_path, *lines) == []
    library = Library(tmp_path / "index")
    library.index([tmp_path / "made.docx"], embed=False)
    assert TITLES[1] in library.section("Article 2").text


def test_the_lines_of_a_document_stay_true(tmp_path: Path) -> None:
    word(tmp_path, *sections(*TITLES))
    library = Library(tmp_path / "index")
    library.index([tmp_path / "made.docx"], embed=False)
    (outline,) = library.outline()
    assert [(node.heading, node.lines.first) for node in outline.nodes if node.lines] == [
        (title, 1 + 3 * number) for number, title in enumerate(TITLES)
    ]


def test_bold_by_the_style_of_an_element(tmp_path: Path) -> None:
    """Filing agents write a page as a word processor prints it: everything is a paragraph with a style."""
    path = tmp_path / "page.html"
    parts = [
        f'<p style="text-align:center;font-weight:bold">{TITLES[0]}</p>',
        '<p><font style="font-size:10pt;font-weight:700">Dues</font><font style="font-weight:bold"> of vessels</font></p>',
        f"<div><b><u>{TITLES[2]}</u></b></div>",
    ]
    path.write_text(
        "<html><body>" + "".join(f"{part}<p>{TEXT}</p><p>{TEXT}</p>" for part in parts) + "</body></html>"
    )
    assert headings(path) == [f"# {title}" for title in TITLES]


def test_a_heading_is_not_made_bold_by_its_style(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        f'<html><body><h1><span style="font-weight:bold">Port rules</span></h1><p>{TEXT}</p></body></html>'
    )
    assert headings(path) == ["# Port rules"]


def test_paragraphs_in_a_bold_style_of_any_name_are_headings_of_a_text_without_others(tmp_path: Path) -> None:
    made = docx.Document()
    style = made.styles.add_style("Clause head", WD_STYLE_TYPE.PARAGRAPH)
    style.font.bold = True
    long = made.styles.add_style("Notice", WD_STYLE_TYPE.PARAGRAPH)
    long.font.bold = long.font.italic = True
    for title in TITLES:
        made.add_paragraph(title, "Clause head")
        made.add_paragraph(TEXT)
        made.add_paragraph(TEXT, "Notice")
    made.save(str(tmp_path / "made.docx"))
    assert headings(tmp_path / "made.docx") == [f"# {title}" for title in TITLES]
    made.add_heading("Lights", 1)
    made.add_heading("Red lights", 2)
    made.add_heading("Green lights", 2)
    made.save(str(tmp_path / "made.docx"))
    assert headings(tmp_path / "made.docx") == ["# Lights", "## Red lights", "## Green lights"]
