"""Files that are broken, mislabelled or meant to do harm: a reason each time, never a traceback or a hang."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import openpyxl
import pytest
from tests.read.task import TASK

import loccit.read as package
from loccit.errors import ConversionError
from loccit.read import convert
from loccit.read.html import html_to_markdown
from loccit.workers.sandbox import Limits, Sandbox


def refused(tmp_path: Path, name: str, data: bytes | str) -> str:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(ConversionError) as caught:
        convert(path)
    return str(caught.value)


def zip_of(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


BOMB = b"<a>" + b" " * (40 << 20)


def test_empty_and_missing(tmp_path: Path) -> None:
    for name in ("a.md", "a.docx", "a.pdf", "a.html", "a.xlsx"):
        assert refused(tmp_path, name, b"") == "the file is empty"
    with pytest.raises(ConversionError, match="does not exist"):
        convert(tmp_path / "nothing.md")
    with pytest.raises(ConversionError, match="is not a file"):
        convert(tmp_path)


@pytest.mark.parametrize("name", ["a.html", "a.csv", "a.json", "a.epub", "a.eml", "a.tex", "a.txt"])
def test_nothing_but_white_space(tmp_path: Path, name: str) -> None:
    refused(tmp_path, name, " \n \n")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", "<html><body><script>x</script></body></html>"),
        ("a.csv", ",,,\n,,\n"),
        ("a.ipynb", '{"cells": []}'),
        ("a.json", "[]"),
        ("a.xml", "<a><b/></a>"),
        ("a.eml", "From: a@b.c\nTo: x@y.z\nSubject: s\n\n"),
    ],
)
def test_no_text(tmp_path: Path, name: str, data: str) -> None:
    assert refused(tmp_path, name, data).startswith("no text found in this")


def test_no_text_in_a_workbook(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    openpyxl.Workbook().save(buffer)
    assert refused(tmp_path, "a.xlsx", buffer.getvalue()) == "no text found in this Excel file"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(ConversionError, match="cannot be opened: Permission denied"):
        convert(path)


def test_unreadable_for_root_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ConversionError, match="cannot be opened: Permission denied"):
        convert(path)


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_TEXT_BYTES", 1 << 20)
    assert refused(tmp_path, "a.md", "x" * (2 << 20)) == (
        "is 2 MB, and at most 1 MB can be read; split it into smaller files"
    )


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.xlsx", {"[Content_Types].xml": b"<a/>", "xl/workbook.xml": BOMB}),
        ("a.pptx", {"[Content_Types].xml": b"<a/>", "ppt/presentation.xml": BOMB}),
        ("a.epub", {"mimetype": b"application/epub+zip", "META-INF/container.xml": BOMB}),
        ("a.odt", {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": BOMB}),
        ("a.txt", {"[Content_Types].xml": b"<a/>", "xl/workbook.xml": BOMB}),
    ],
)
def test_zip_bombs(tmp_path: Path, name: str, parts: dict[str, bytes]) -> None:
    assert "zip bomb" in refused(tmp_path, name, zip_of(parts))


def test_too_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.read.zips.MAX_ENTRIES", 100)
    parts = {"mimetype": b"application/epub+zip"} | {f"p{n}": b"" for n in range(200)}
    assert "201 parts" in refused(tmp_path, "a.epub", zip_of(parts))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_truncated_archives(tmp_path: Path, share: float) -> None:
    data = workbook()
    assert "damaged" in refused(tmp_path, "a.xlsx", data[: int(share * len(data))])


def test_damage_inside_an_archive(tmp_path: Path) -> None:
    data = bytearray(workbook())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        start = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 60
    data[start : start + 60] = b"\xff" * 60
    assert refused(tmp_path, "a.xlsx", bytes(data))
    parts = {"[Content_Types].xml": b"<Types/>", "ppt/x.xml": b"not xml"}
    assert refused(tmp_path, "a.pptx", zip_of(parts)).startswith("cannot be read as PowerPoint: ")
    parts = {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<<<"}
    assert refused(tmp_path, "a.xlsx", zip_of(parts)).startswith("cannot be read as Excel: ")
    assert "damaged" in refused(tmp_path, "a.epub", zip_of({"mimetype": b"application/epub+zip"}))
    parts = {"mimetype": b"application/epub+zip", "META-INF/container.xml": b"<a/>"}
    assert "damaged" in refused(tmp_path, "b.epub", zip_of(parts))


def test_damaged_old_workbook(tmp_path: Path) -> None:
    pytest.importorskip("xlrd")
    header = bytearray(1536)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30], header[48] = 9, 1
    header[80:512] = b"\xff" * 432
    header[1024:1040] = "Workbook".encode("utf-16-le")
    header[1088] = 18
    assert refused(tmp_path, "a.xls", bytes(header)).startswith("cannot be read as Excel: ")


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    lol = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "' + b"&x;" * 1000 + b'">'
    lol += b'<!ENTITY f SYSTEM "file:///etc/hostname">]>'
    path = tmp_path / "a.xml"
    path.write_bytes(lol + b"<a><p>text &y;&f; end</p></a>")
    _, found = convert(path)
    assert "haha" not in found.text and len(found.text) < 100


@pytest.mark.parametrize("tag", ["div", "span", "ul><li", "blockquote", "table><tr><td", "b", "section"])
def test_deeply_nested_html(tag: str) -> None:
    for depth in (50, 150, 1000, 50_000):
        page = f"<p>before</p>{f'<{tag}>' * depth}deep"
        try:
            text = html_to_markdown(page)[0]
        except ConversionError as error:
            assert "too deeply" in str(error)
            assert depth >= 1000
        else:
            assert "before" in text and "deep" in text


def test_deeply_nested_json(tmp_path: Path) -> None:
    assert "deeply" in refused(tmp_path, "a.json", "[" * 500 + "[{}]" + "]" * 500)
    refused(tmp_path, "b.json", "[" * 200_000)


def test_hostile_html_attributes() -> None:
    text = html_to_markdown(
        '<ol start="99999999999999999999" type="a"><li value="1e9">x</ol>'
        '<div role="heading" aria-level="0">h</div>'
        '<a href="http://[bad">link</a><table><tr><td colspan="-1" rowspan="x">c</td><td>d</td></tr></table>'
    )[0]
    assert "x" in text and "link" in text and "| c | d |" in text


def test_patterns_meet_long_input() -> None:
    html_to_markdown("<!-- x -->" * 5000 + "<p>text</p>")
    html_to_markdown("<meta " * 5000 + "<p>text</p>")
    assert "a" in html_to_markdown("<p>" + "a " * 200_000 + "</p>")[0]


def test_in_the_sandbox(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.html", tmp_path / "bad.md"
    good.write_text("<h1>Title</h1><p>text</p>")
    bad.write_bytes(b"\x89PNG\r\n\x1a\n")
    with Sandbox(TASK, workers=2, limits=Limits(seconds=60)) as pool:
        found = {
            Path(payload["path"]).name: outcome
            for payload, outcome in pool.run([{"path": str(good)}, {"path": str(bad)}])
        }
    assert found["good.html"].value is not None
    assert found["good.html"].value["text"] == "# Title\n\ntext\n"
    assert (found["bad.md"].kind, found["bad.md"].error) == ("failed", "looks like a PNG image, not text")
