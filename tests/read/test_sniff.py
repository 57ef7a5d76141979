"""What a file is, whatever it is called."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from loccit.errors import ConversionError
from loccit.read import convert
from loccit.read.sniff import FileType, detect, sniff


def zipped(**parts: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            # With the date of now, the data, and so the names of the tests, would differ from second to second.
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def office(folder: str) -> bytes:
    return zipped(**{"[Content_Types].xml": "<Types/>", f"{folder}/document.xml": "<x/>"})


def ole(*streams: str, sectors: int = 1) -> bytes:
    """A compound file with nothing in it but the names of its streams."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    struct.pack_into("<H", header, 30, 9)
    struct.pack_into("<I", header, 48, 1)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = [0xFFFFFFFD, *range(2, sectors + 1), 0xFFFFFFFE]
    table += [0xFFFFFFFF] * (128 - len(table))
    entries = [""] * (4 * sectors - len(streams)) + list(streams)
    directory = b""
    for name in entries:
        raw = name.encode("utf-16-le")
        directory += raw.ljust(64, b"\0") + struct.pack("<H", len(raw) + 2 if raw else 0) + bytes(62)
    return bytes(header) + struct.pack("<128I", *table) + directory


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.md", b"# Title\n", FileType.MARKDOWN),
        ("a.MARKDOWN", b"# Title\n", FileType.MARKDOWN),
        ("a.txt", b"plain", FileType.TEXT),
        ("a", b"plain", FileType.TEXT),
        ("a.txt", b"ID3 tags, BZh and PAR1 are words too", FileType.TEXT),
        ("a.unknown", b"plain", FileType.TEXT),
        ("a.rst", b"Title\n=====\n", FileType.RST),
        ("a.html", b"<p>no doctype", FileType.HTML),
        ("a.txt", b"<!-- x --><!DOCTYPE html><p>x", FileType.HTML),
        ("a", b"\xef\xbb\xbf  <html lang=en>", FileType.HTML),
        ("a.md", b"<html><h1>HTML all the same</h1>", FileType.HTML),
        ("a.json", b"{}", FileType.JSON),
        ("a.csv", b"a,b\n", FileType.CSV),
        ("a.txt", b"%PDF-1.7\n", FileType.PDF),
        ("a.pdf", b"\r\n\r\n%PDF-1.4\n", FileType.PDF),
        ("a.pdf", b"plain words", FileType.TEXT),
        ("a.doc", b"{\\rtf1 hello}", FileType.RTF),
        ("a.txt", office("word"), FileType.DOCX),
        ("a.docx", office("ppt"), FileType.PPTX),
        ("a.zip", office("xl"), FileType.XLSX),
        ("a.zip", zipped(mimetype="application/epub+zip"), FileType.EPUB),
        ("a.docx", zipped(mimetype="application/vnd.oasis.opendocument.text"), FileType.ODT),
        ("a", b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nbody", FileType.EML),
        ("a.txt", "UTF-16 text without a mark".encode("utf-16-le"), FileType.TEXT),
        ("a.txt", "日本語の文章です。\n".encode("utf-16"), FileType.TEXT),
        ("a.txt", "Größe".encode("latin-1"), FileType.TEXT),
        ("a.xls", ole("Root Entry", "Workbook"), FileType.XLS),
        ("a.txt", b"one stray \x00 zero" + b" in a long text" * 50, FileType.TEXT),
    ],
)
def test_readable(tmp_path: Path, name: str, data: bytes, expected: FileType) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert sniff(path) == (expected, "")
    assert detect(path) is expected


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.md", PNG, "looks like a PNG image, not text"),
        ("a.txt", b"\xff\xd8\xff\xe0" + bytes(100), "JPEG"),
        ("a.docx", b"PK\x03\x04" + b"\x00" * 50, "damaged"),
        ("a.docx", office("word")[:-30], "damaged"),
        ("a.zip", zipped(readme="hello"), "zip archive"),
        ("a.xlsb", zipped(**{"[Content_Types].xml": "", "xl/workbook.bin": "x"}), "save it as .xlsx"),
        ("a.ods", zipped(mimetype="application/vnd.oasis.opendocument.spreadsheet"), "OpenDocument"),
        ("a.txt", b"\x1f\x8b\x08" + bytes(30), "gzip"),
        ("a.txt", bytes(range(256)) * 20, "binary"),
        ("a.md", b"\x01\x02\x03\x04\x05\x06\x07 abc" * 9, "binary"),
        ("a.txt", bytes(1000), "binary"),
        ("a.doc", ole("Root Entry", "WordDocument"), "save it as .docx"),
        ("a.doc", ole("WordDocument", sectors=5), "save it as .docx"),
        ("a.ppt", ole("PowerPoint Document"), "save it as .pptx"),
        ("a.docx", ole("EncryptionInfo", "EncryptedPackage"), "password protected"),
        ("a.msg", ole("__properties_version1.0"), "save it as .eml"),
        ("a.doc", ole("Something"), "older Office"),
        ("a.doc", ole("WordDocument")[:600], "older Office"),
        ("a.txt", b"", "the file is empty"),
    ],
)
def test_refused_with_a_reason(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert reason in sniff(path).refusal
    with pytest.raises(ConversionError, match=reason.replace(".", r"\.")):
        convert(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="cannot be opened: No such file"):
        detect(tmp_path / "nothing.txt")
