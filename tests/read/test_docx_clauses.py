"""Clauses in heading styles, titles that run into their text, and the pages that a Word file tells."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.model.document import Converted, PageStart
from loccit.read.docx import convert_docx
from loccit.read.docx.body import is_clause
from loccit.read.docx.markdown import EXPLICIT, RENDERED, page_starts

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STYLES = (
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
    '<w:numId w:val="1"/></w:numPr></w:pPr><w:rPr><w:b/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr>'
    '<w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/><w:rPr><w:u w:val="single"/>'
    "</w:rPr></w:style>"
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    '<w:pStyle w:val="Heading1"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/>'
    '<w:numFmt w:val="decimal"/><w:pStyle w:val="Heading2"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
)
BREAK = "<w:lastRenderedPageBreak/>"
PAGE = "<w:r><w:br w:type='page'/></w:r>"
HIDDEN = "<w:rPr><w:vanish/><w:specVanish/></w:rPr>"


def r(text: str, look: str = "", before: str = "") -> str:
    return f"<w:r><w:rPr>{look}</w:rPr>{before}<w:t xml:space='preserve'>{text}</w:t></w:r>"


def p(runs: str, style: str = "", properties: str = "") -> str:
    named = f"<w:pStyle w:val='{style}'/>" if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{runs}</w:p>"


def converted(folder: Path, body: str, pages: int | None = None) -> Converted:
    path = folder / "made.docx"
    with zipfile.ZipFile(path, "w") as package:
        for name, root, inside in (
            ("document", "document", f"<w:body>{body}</w:body>"),
            ("styles", "styles", STYLES),
            ("numbering", "numbering", NUMBERING),
        ):
            package.writestr(f"word/{name}.xml", f'<w:{root} xmlns:w="{W}">{inside}</w:{root}>')
        if pages is not None:
            package.writestr("docProps/app.xml", f'<Properties xmlns="x"><Pages>{pages}</Pages></Properties>')
    return convert_docx(path)


def lines(folder: Path, body: str) -> list[str]:
    return converted(folder, body).text.strip().split("\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "Support. During the Subscription Period, Provider will provide support.",
        "any sale or transfer;",
        "The Supplier shall deliver the goods within the agreed period.",
        "The parties may agree otherwise; and",
        "word " * 50,
        "Fees and payment shall be due as stated in the order form, and the customer pays them in full and on time.",
    ],
)
def test_sentences_in_heading_styles_are_clauses(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, p(r("Terms"), "Heading1") + p(r(text), "Heading2")) == [
        "# 1. Terms",
        f"1.1 {text.strip()}",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Fees",
        "Restrictions on Customer.",
        "Closing[s]; Delivery.",
        "ARTICLE XII. AMENDMENT OF THESE RULES.",
        "What is the basic requirement for parental involvement under Title I, Part A, for schools and for agencies?",
        "Rights of the Parties to the Agreement and of Others.",
        "Eine Untersuchung der Wirkung langer Überschriften auf das Verständnis technischer Texte im Unterricht",
    ],
)
def test_names_in_heading_styles_are_headings(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, p(r(text), "Heading1")) == [f"# 1. {text}"]


def test_a_heading_with_a_typed_number_may_end_in_a_full_stop(tmp_path: Path) -> None:
    text = "50.104-3 Special procedures for unusually hazardous or nuclear risks."
    off = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    assert lines(tmp_path, p(r(text), "Heading2", off)) == [f"## {text}"]


def test_the_style_of_numbered_paragraphs_makes_no_headings_of_short_ones(tmp_path: Path) -> None:
    """A judgment numbers its paragraphs with a heading style; some of them only introduce a quotation."""
    long = "The claimant says that the agreement was never made, and that no money was due under it."
    body = "".join(p(r(text), "Heading2") for text in (long, "Section 4 provides:", *[long] * 8, "Costs."))
    assert lines(tmp_path, p(r("Facts"), "Heading1") + body) == [
        "# 1. Facts",
        f"1.1 {long}",
        "1.2 Section 4 provides:",
        *(f"1.{number} {long}" for number in range(3, 11)),
        "## 1.11 Costs.",
    ]


@given(st.text(max_size=400), st.booleans())
def test_any_text_is_a_heading_or_a_clause(text: str, numbered: bool) -> None:
    assert is_clause(text, numbered) or len(text) <= 300


def test_a_title_in_a_clause_keeps_its_emphasis(tmp_path: Path) -> None:
    text = r(" The customer will pay the fees that the order form states.")
    underlined, bold = '<w:u w:val="single"/>', "<w:b/>"
    plain = r(" The customer will pay the fees that the order form states.", '<w:b w:val="0"/>')
    assert lines(
        tmp_path,
        p(r("Fees.", bold) + text, "Heading2")
        + p(r("Fees", underlined) + r(".", underlined) + text, "Heading2")
        + p(r("Fees.") + plain, "Heading1")
        + p(r("Recitals", underlined))
        + p(r("see ") + r("this", underlined))
        + p(r("a link", '<w:rStyle w:val="Hyperlink"/>') + text),
    ) == [
        "1.1 **Fees.** The customer will pay the fees that the order form states.",
        "1.2 *Fees*. The customer will pay the fees that the order form states.",
        "2. **Fees.** The customer will pay the fees that the order form states.",
        "*Recitals*",
        "see this",
        "a link The customer will pay the fees that the order form states.",
    ]


def test_a_style_separator_joins_a_heading_and_its_text(tmp_path: Path) -> None:
    assert lines(
        tmp_path,
        p(r("Fees."), "Heading2", HIDDEN)
        + p(r("The customer will pay the fees."))
        + p(r("Term"), "Heading2", HIDDEN)
        + p(r("Notices"), "Heading2")
        + p(r("Last"), "Heading2", HIDDEN),
    ) == [
        "1.1 **Fees.** The customer will pay the fees.",
        "## 1.2 Term",
        "## 1.3 Notices",
        "## 1.4 Last",
    ]


def test_pages_are_those_that_the_file_tells(tmp_path: Path) -> None:
    body = (
        p(r("First"), "Heading1")
        + p(r("one ", "<w:b/>") + r("two", "<w:b/>", BREAK) + r(" three"))
        + p(PAGE)
        + p(r("Second", "", BREAK), "Heading1")
        + p(r("four") + PAGE)
        + p(r("# five"))
    )
    made = converted(tmp_path, body, pages=4)
    assert made.text == "# 1. First\n\n**one two** three\n\n# 2. Second\n\nfour\n\n\\# five\n"
    found = [made.text[start.offset :].split()[0] for start in made.pages]
    assert (found, [start.page for start in made.pages]) == (["#", "two**", "#", "\\#"], [1, 2, 3, 4])
    assert made.pages[2].offset == made.text.index("# 2.")


@pytest.mark.parametrize("pages", [None, 1, 2, 5])
def test_pages_that_do_not_agree_with_their_number_are_left_out(tmp_path: Path, pages: int | None) -> None:
    body = p(r("one")) + p(r("two", "", BREAK)) + p(r("three", "", BREAK))
    assert converted(tmp_path, body, pages).pages == ()
    assert converted(tmp_path, p(r("one") + PAGE) + p(r("two")), 2).pages == (), "no page was rendered"


def test_pages_of_a_table_of_contents_are_counted(tmp_path: Path) -> None:
    field = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
    contents = field.format("begin") + "<w:r><w:instrText>TOC</w:instrText></w:r>" + field.format("separate")
    body = p(contents + r("a 1")) + p(r("b 9", "", BREAK) + field.format("end")) + p(r("text", "", BREAK))
    assert converted(tmp_path, body, 3).pages == (PageStart(0, 3),)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a", "b\n", RENDERED, EXPLICIT, "c"]), max_size=30))
def test_page_starts_are_in_order_and_leave_the_text(pieces: list[str]) -> None:
    marked = "".join(pieces)
    for pages in range(1, len(pieces) + 2):
        text, starts = page_starts(marked, pages)
        assert text == re.sub(f"[{RENDERED}{EXPLICIT}]", "", marked)
        offsets = [start.offset for start in starts]
        assert offsets == sorted(set(offsets))
        assert not starts or (offsets[0] == 0 and starts[-1].page == pages)
