"""Files that are damaged or meant to do harm: always a reason, never a traceback."""

from __future__ import annotations

import io
import random
import re
import zipfile
import zlib
from pathlib import Path

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.errors import ConversionError
from loccit.read.docx import convert_docx
from loccit.read.docx import package as docx_package

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
TEXT = "<w:p><w:r><w:t>text</w:t></w:r></w:p>"


def package(tmp_path: Path, body: str | None = TEXT, **parts: str | bytes) -> Path:
    """A minimal package; further parts are named by their file, ``styles="<w:styles …/>"``."""
    path = tmp_path / "made.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        if body is not None:
            file.writestr(
                "word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
            )
        for name, data in parts.items():
            file.writestr(f"word/{name}.xml", data)
    return path


def good_file() -> bytes:
    made = docx.Document()
    made.add_heading("Scope", 1)
    for index in range(40):
        made.add_paragraph(f"paragraph {random.Random(index).random()}", style="List Number")
    table = made.add_table(2, 2)
    table.cell(0, 0).text = "cell"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


GOOD = good_file()


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="cannot be read"):
        convert_docx(tmp_path / "no.docx")


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    path = tmp_path / "cut.docx"
    path.write_bytes(GOOD[: int(len(GOOD) * share)])
    with pytest.raises(ConversionError, match="damaged or cut short"):
        convert_docx(path)


def test_protected_files(tmp_path: Path) -> None:
    path = tmp_path / "locked.docx"
    path.write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "EncryptedPackage".encode("utf-16-le")
    )
    with pytest.raises(ConversionError, match="the file is password protected"):
        convert_docx(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512))
    with pytest.raises(ConversionError, match=r"old binary Office file.*save it as \.docx"):
        convert_docx(path)


def test_an_encrypted_zip(tmp_path: Path) -> None:
    data = bytearray(package(tmp_path).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    (tmp_path / "made.docx").write_bytes(data)
    with pytest.raises(ConversionError, match="password protected"):
        convert_docx(tmp_path / "made.docx")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="too large"):
        convert_docx(package(tmp_path, None, document=b" " * (20 * 2**20)))


def test_a_package_of_absurd_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_package, "MAX_TOTAL_BYTES", 2**20)
    with pytest.raises(ConversionError, match="more than 1 MB"):
        convert_docx(package(tmp_path, picture=b" " * 2 * 2**20))


def test_a_size_that_lies_is_noticed(tmp_path: Path) -> None:
    path = package(tmp_path, "<w:p><w:r><w:t>" + "x" * 5000 + "</w:t></w:r></w:p>")
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ConversionError, match="damaged"):
        convert_docx(path)


ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("declared", [ENTITIES, '<!ENTITY l9 SYSTEM "file:///etc/hostname">'])
def test_entities_are_refused(tmp_path: Path, declared: str, encoding: str) -> None:
    xml = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE d [{declared}]>'
        f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>'
    )
    with pytest.raises(ConversionError, match=r"document type|well-formed"):
        convert_docx(package(tmp_path, None, document=xml.encode(encoding)))


def test_missing_parts(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="not a Word document"):
        convert_docx(package(tmp_path, None))
    styled = f'<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>H</w:t></w:r></w:p>{TEXT}'
    converted = convert_docx(package(tmp_path, styled))
    assert (converted.text, converted.warnings) == ("## H\n\ntext\n", ())


def test_a_broken_body_fails_and_broken_extras_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"word/document\.xml is not well-formed"):
        convert_docx(package(tmp_path, "<w:p>"))
    converted = convert_docx(package(tmp_path, styles="<w:styles", footnotes=""))
    assert converted.text == "text\n"
    assert [warning.split(":")[0] for warning in converted.warnings] == [
        "read without its footnotes",
        "read without its styles",
    ]


def test_strict_files_are_read(tmp_path: Path) -> None:
    xml = f'<w:document xmlns:w="{STRICT}"><w:body>{TEXT}</w:body></w:document>'
    assert convert_docx(package(tmp_path, None, document=xml)).text == "text\n"


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("depth", [30, 5000])
def test_nested_tables(tmp_path: Path, depth: int, cells: int) -> None:
    more = f"<w:tc>{TEXT}</w:tc>" * (cells - 1)
    opening, closing = "<w:tbl><w:tr><w:tc>", f"</w:tc>{more}</w:tr></w:tbl>"
    path = package(tmp_path, opening * depth + TEXT + closing * depth)
    if depth == 30:
        assert "text" in convert_docx(path).text
    else:
        with pytest.raises(ConversionError, match=r"nested too deeply|not well-formed"):
            convert_docx(path)


@pytest.mark.parametrize("name", ["smartTag", "ins", "sdt", "hyperlink"])
def test_nested_wrappers(tmp_path: Path, name: str) -> None:
    inside = f"<w:{name}>" * 240 + "<w:r><w:t>x</w:t></w:r>" + f"</w:{name}>" * 240
    try:
        convert_docx(package(tmp_path, f"<w:p>{inside}</w:p>{TEXT}"))
    except ConversionError as error:
        assert "deep" in str(error) or "well-formed" in str(error)


def test_absurd_values_are_bounded(tmp_path: Path) -> None:
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="99999999"/></w:tcPr>' + TEXT + "</w:tc>"
    listed = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="-7"/><w:numId w:val="1"/></w:numPr></w:pPr>'
        "<w:r><w:t>a</w:t></w:r></w:p>"
        '<w:p><w:pPr><w:outlineLvl w:val="many"/></w:pPr><w:r><w:t>b</w:t></w:r></w:p>'
    )
    level = (
        '<w:lvl w:ilvl="0"><w:start w:val="999999999999"/><w:numFmt w:val="lowerLetter"/>'
        '<w:lvlText w:val="%1"/></w:lvl><w:lvl w:ilvl="99"/>'
    )
    numbering = (
        f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="1">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="77"/></w:num></w:numbering>'
    )
    text = convert_docx(
        package(tmp_path, f"<w:tbl><w:tr>{cell}{cell}</w:tr></w:tbl>{listed}", numbering=numbering)
    ).text
    assert len(text) < 2000
    assert text.endswith("32767 a\n\nb\n")


def test_numbers_stay_short_whatever_defines_them(tmp_path: Path) -> None:
    levels = "".join(
        f"<w:lvl w:ilvl='{index}'><w:start w:val='{10**12}'/><w:numFmt w:val='{style}'/>"
        f"<w:lvlText w:val='{'%1%2' * 100_000}'/></w:lvl>"
        for index, style in enumerate(("chicago", "lowerLetter", "hebrew2"))
    )
    numbering = (
        f"<w:numbering xmlns:w='{W}'><w:abstractNum w:abstractNumId='1'>{levels}</w:abstractNum>"
        "<w:num w:numId='1'><w:abstractNumId w:val='1'/></w:num></w:numbering>"
    )
    numbered = "<w:p><w:pPr><w:numPr><w:ilvl w:val='{}'/><w:numId w:val='1'/></w:numPr></w:pPr>{}</w:p>"
    body = "".join(numbered.format(index, "<w:r><w:t>x</w:t></w:r>") for index in (0, 1, 2, 8, 9, 10**9, -5))
    lines = convert_docx(package(tmp_path, body, numbering=numbering)).text.strip().split("\n\n")
    assert len(lines) == 7
    assert all(line.endswith("x") and len(line) < 2000 for line in lines)


@pytest.mark.parametrize(
    "paragraph",
    [
        "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
        "<w:p><w:r><w:lastRenderedPageBreak/><w:br w:type='page'/></w:r></w:p>",
        "<w:p><w:pPr><w:pStyle w:val='Title'/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
    ],
)
def test_many_paragraphs_that_lead_into_the_next(tmp_path: Path, paragraph: str) -> None:
    converted = convert_docx(package(tmp_path, paragraph * 5_000 + TEXT))
    assert converted.text.strip().endswith("text")
    assert converted.text.count("x") in (1, 5_000, 5_001)
    assert converted.pages == ()


def test_fields_without_end_are_refused(tmp_path: Path) -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/><w:fldChar w:fldCharType="separate"/></w:r>'
    with pytest.raises(ConversionError, match="fields too deeply"):
        convert_docx(package(tmp_path, f"<w:p>{begin * 1000}</w:p>{TEXT}"))


def test_long_paragraphs_and_long_chains_of_styles_are_read(tmp_path: Path) -> None:
    runs = "<w:r><w:t>x</w:t></w:r>" * 50_000
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="s{n}"><w:basedOn w:val="s{n + 1}"/></w:style>'
        for n in range(5000)
    )
    uses = "".join(f'<w:p><w:pPr><w:pStyle w:val="s{n}"/></w:pPr></w:p>' for n in range(5000))
    dashes = "<w:p><w:r><w:t>" + "- " * 50_000 + "x</w:t></w:r></w:p>"
    path = package(
        tmp_path, f"<w:p>{runs}</w:p>{uses}{dashes}", styles=f'<w:styles xmlns:w="{W}">{styles}</w:styles>'
    )
    assert convert_docx(path).text.startswith("x" * 50_000)


ATTRIBUTE = re.compile(rb'(w:(?:val|styleId|ilvl|numId|abstractNumId|type|fldCharType)=")[^"]*"')
EMPTY_ELEMENT = re.compile(rb"<w:\w+(?: [^<>]*)?/>")


def mutated(data: bytes, seed: int) -> bytes:
    """The good file, still well-formed, with values changed and elements gone."""
    chance = random.Random(seed)

    def value(match: re.Match[bytes]) -> bytes:
        if chance.random() > 0.05:
            return match[0]
        return match[1] + chance.choice([b"", b"-1", b"x", b"Heading1", b"99999", b"3"]) + b'"'

    def element(match: re.Match[bytes]) -> bytes:
        return match[0] if chance.random() > 0.05 else b""

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.startswith("word/") and name.endswith(".xml"):
                content = EMPTY_ELEMENT.sub(element, ATTRIBUTE.sub(value, content))
            target.writestr(name, content)
    return out.getvalue()


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
def test_damage_is_reported_or_survived(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.mktemp("mutated") / "made.docx"
    path.write_bytes(mutated(GOOD, seed))
    try:
        assert convert_docx(path).text
    except ConversionError as error:
        assert str(error)


@settings(max_examples=120, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
def test_a_changed_byte_is_reported_or_survived(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int
) -> None:
    data = bytearray(GOOD)
    data[at] = value
    path = tmp_path_factory.mktemp("changed") / "made.docx"
    path.write_bytes(data)
    try:
        assert convert_docx(path).text
    except ConversionError as error:
        assert str(error)


def test_the_checksum_of_the_good_file_is_right() -> None:
    with zipfile.ZipFile(io.BytesIO(GOOD)) as file:
        assert zlib.crc32(file.read("word/document.xml")) == file.getinfo("word/document.xml").CRC
