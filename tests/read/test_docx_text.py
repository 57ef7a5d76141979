"""The text of Word paragraphs: runs, fields, links, tracked changes, boxes, symbols."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml

from loccit.read.docx import convert_docx

SPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "v": "urn:schemas-microsoft-com:vml",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    }.items()
)


def convert(xml: str, tmp_path: Path, link: str = "") -> str:
    """The Markdown of a body; ``LINK`` in it stands for the id of an external link."""
    made = docx.Document()
    if link:
        xml = xml.replace("LINK", made.part.relate_to(link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    for child in list(parse_xml(f"<w:body {SPACES}>{xml}</w:body>")):
        made.element.body.sectPr.addprevious(child)
    path = tmp_path / "made.docx"
    made.save(str(path))
    return convert_docx(path).text.removesuffix("\n")


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def code(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([r("Term", "<w:b/>"), r(" means")], "**Term** means"),
        ([r("“Te", "<w:b/>"), r("rm” ", "<w:b/>"), r("means")], "**“Term”** means"),
        ([r("one", "<w:b/>"), r(" "), r("two", "<w:b/>"), r(" three")], "**one two** three"),
        ([r("a"), r("b", "<w:i/>"), r(", c")], "a*b*, c"),
        ([r("both", "<w:b/><w:i/>")], "***both***"),
        ([r("a"), r(",", "<w:b/>"), r(" b")], "a, b"),
        ([r("x"), r("(y)", "<w:b/>"), r("z")], "x(**y**)z"),
        ([r("a", "<w:b/>"), r("b", "<w:i/>")], "**a**b"),
        ([r("off", '<w:b w:val="0"/>')], "off"),
        ([r("strong", '<w:rStyle w:val="Strong"/>')], "**strong**"),
        ([r("5 * 3 = 15")], "5 * 3 = 15"),
        ([r("a*b and c*d")], "a\\*b and c\\*d"),
        ([r("seen*"), r(" x "), r("bold", "<w:b/>")], "seen\\* x **bold**"),
    ],
)
def test_emphasis(tmp_path: Path, runs: list[str], expected: str) -> None:
    assert convert(p(*runs), tmp_path) == expected


def test_links(tmp_path: Path) -> None:
    link = f'<w:hyperlink r:id="LINK">{r("the [site]")}</w:hyperlink>'
    assert convert(p(r("see "), link), tmp_path, "https://a.test/x (1)") == (
        "see [the \\[site\\]](https://a.test/x%20%281%29)"
    )
    bare = f'<w:hyperlink r:id="LINK">{r("https://a.test")}</w:hyperlink>'
    assert convert(p(bare), tmp_path, "https://a.test") == "https://a.test"
    script = f'<w:hyperlink r:id="LINK">{r("click")}</w:hyperlink>'
    assert convert(p(script), tmp_path, "javascript:alert(1)") == "click"
    assert convert(p(f'<w:hyperlink w:anchor="x">{r("clause 4")}</w:hyperlink>'), tmp_path) == "clause 4"


def test_fields_keep_their_result_and_lose_their_code(tmp_path: Path) -> None:
    nested = (
        field("begin"), code(" IF "), field("begin"), code(" MERGEFIELD x "), field("separate"), r("inner"),
        field("end"), code(' = "a" '), field("separate"), r("result"), field("end"),
    )  # fmt: skip
    assert convert(p(r("a "), *nested, r(" b")), tmp_path) == "a result b"
    link = (field("begin"), code(' HYPERLINK "https://a.test/" '), field("separate"), r("here"), field("end"))
    assert convert(p(*link), tmp_path) == "[here](https://a.test/)"
    assert convert(p(f'<w:fldSimple w:instr=" SEQ Table ">{r("7")}</w:fldSimple>'), tmp_path) == "7"
    assert convert(p(f'<w:fldSimple w:instr=" TOC ">{r("7")}</w:fldSimple>', r("x")), tmp_path) == "x"


def test_a_field_that_never_ends_swallows_nothing(tmp_path: Path) -> None:
    assert (
        convert(p(r("a"), field("begin"), code(" TOC ")) + p(r("b")) + p(r("c")), tmp_path) == "a\n\nb\n\nc"
    )


def test_check_boxes(tmp_path: Path) -> None:
    box = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/>'
        "</w:checkBox></w:ffData></w:fldChar></w:r>"
    )
    assert convert(p(box, code(" FORMCHECKBOX "), field("end"), r(" agreed")), tmp_path) == "☒ agreed"


def test_tracked_changes_are_accepted(tmp_path: Path) -> None:
    changed = p(
        r("keep "),
        f'<w:ins w:id="1">{r("new ")}</w:ins>',
        '<w:del w:id="2"><w:r><w:delText>old </w:delText></w:r></w:del>',
        f'<w:moveFrom w:id="3">{r("from ")}</w:moveFrom>',
        f'<w:moveTo w:id="4">{r("to")}</w:moveTo>',
    )
    assert convert(changed, tmp_path) == "keep new to"
    gone = '<w:rPr><w:del w:id="5"/></w:rPr>'
    heading = '<w:pStyle w:val="Heading1"/>'
    assert (
        convert(p(r("joined "), properties=gone) + p(r("here"), properties=heading), tmp_path)
        == "# joined here"
    )
    assert convert(p(r("last"), properties=gone), tmp_path) == "last"
    row = "<w:tr>{}<w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
    kept = row.format("", p(r("a")), p(r("b")))
    deleted = row.format('<w:trPr><w:del w:id="6"/></w:trPr>', p(r("c")), p(r("d")))
    assert convert(f"<w:tbl>{kept}{deleted}</w:tbl>", tmp_path) == "| a | b |\n| --- | --- |"


def test_old_formatting_does_not_count(tmp_path: Path) -> None:
    old = '<w:pPrChange w:id="1"><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:pPrChange>'
    assert convert(p(r("text"), properties=old), tmp_path) == "text"


def test_text_boxes_come_once_after_their_paragraph(tmp_path: Path) -> None:
    box = "<w:txbxContent>" + p(r("boxed")) + "</w:txbxContent>"
    drawing = (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>" + box
        + "</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>" + box
        + "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )  # fmt: skip
    assert convert(p(r("before "), drawing, r("after")), tmp_path) == "before after\n\nboxed"


def test_alternate_content_falls_back_when_the_choice_has_no_text(tmp_path: Path) -> None:
    branches = f"<mc:Choice Requires='x'/><mc:Fallback>{r('plain')}</mc:Fallback>"
    assert convert(p(f"<mc:AlternateContent>{branches}</mc:AlternateContent>"), tmp_path) == "plain"


def test_wrappers_are_looked_through(tmp_path: Path) -> None:
    inline = (
        f"<w:smartTag>{r('a')}<w:sdt><w:sdtContent>{r('b')}</w:sdtContent></w:sdt></w:smartTag>"
        f"<w:customXml>{r('c')}</w:customXml>"
        f"<w:r><w:ruby><w:rt>{r('no')}</w:rt><w:rubyBase>{r('d')}</w:rubyBase></w:ruby></w:r>"
    )
    block = f"<w:sdt><w:sdtContent>{p(r('block'))}</w:sdtContent></w:sdt>"
    wrapped = f"<w:sdt><w:sdtContent><w:tc>{p(r('x'))}</w:tc></w:sdtContent></w:sdt>"
    row = f"<w:tr>{wrapped}<w:tc>{p(r('y'))}</w:tc></w:tr>"
    expected = "abcd\n\nblock\n\n| x | y |\n| --- | --- |"
    assert convert(p(inline) + block + f"<w:tbl>{row}</w:tbl>", tmp_path) == expected


def test_special_characters(tmp_path: Path) -> None:
    runs = (
        r("a"), "<w:r><w:tab/></w:r>", r("b"), "<w:r><w:noBreakHyphen/></w:r>", r("c"),
        "<w:r><w:softHyphen/></w:r>", r("d\u00ad\u00a0e\u2011f   g"),
        "<w:r><w:sym w:font='Wingdings' w:char='F0FC'/></w:r>",
        "<w:r><w:sym w:font='Symbol' w:char='F061'/></w:r>", "<w:r><w:sym w:font='Odd' w:char='F0FF'/></w:r>",
        "<w:r><w:sym w:font='Odd' w:char='no'/></w:r>",
        "<w:r><w:rPr><w:rFonts w:ascii='Symbol'/></w:rPr><w:t>\uf0a3</w:t></w:r>",
    )  # fmt: skip
    assert convert(p(*runs), tmp_path) == "a b-cd e-f g✓α≤"


def test_breaks(tmp_path: Path) -> None:
    runs = (r("one"), "<w:r><w:br/></w:r>", r("  two"), "<w:r><w:br w:type='page'/></w:r>", r(" three"))
    assert convert(p(*runs, "<w:r><w:br/><w:br/></w:r>", r("four")), tmp_path) == "one\ntwo three\nfour"


def test_hidden_text_is_dropped(tmp_path: Path) -> None:
    assert convert(p(r("a"), r("secret", "<w:vanish/>"), r("b", '<w:vanish w:val="0"/>')), tmp_path) == "ab"


def test_equations_are_written_on_one_line(tmp_path: Path) -> None:
    def m(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{m('x')}</m:e><m:sup>{m('2')}</m:sup></m:sSup>"
    fraction = f"<m:f><m:num>{m('a+b')}</m:num><m:den>{m('c')}</m:den></m:f>"
    assert (
        convert(p(r("y = "), f"<m:oMath>{power}{m('+')}{fraction}</m:oMath>"), tmp_path) == "y = x^2+(a+b)/c"
    )


def test_pictures_are_counted(tmp_path: Path) -> None:
    made = docx.Document()
    xml = f"<w:p {SPACES}><w:r><w:t>text</w:t><w:drawing><pic:pic/></w:drawing></w:r></w:p>"
    made.element.body.sectPr.addprevious(parse_xml(xml))
    made.element.body.sectPr.addprevious(parse_xml(f'<w:altChunk {SPACES} r:id="x"/>'))
    made.save(str(tmp_path / "made.docx"))
    warnings = convert_docx(tmp_path / "made.docx").warnings
    assert warnings == ("1 picture left out", "1 embedded document left out")
