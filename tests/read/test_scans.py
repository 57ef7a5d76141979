"""Pages that are images: read by Tesseract where it is, refused with what to install where it is not."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from tests.read.scans import CHARTER, PROSE, Set, append, needs_tesseract, pictures, scan, typeset

from loccit.errors import ConversionError
from loccit.model import Pages
from loccit.model.document import IMAGE_PAGES, holds_any, write_pages
from loccit.read import convert, ocr
from loccit.read.ocr import Ocr, read_hocr
from loccit.read.pdf import convert_pdf
from loccit.read.pdf.page import PageText
from loccit.read.pdf.scan_type import RawLine, RawPage, RawWord, set_type


@pytest.fixture
def no_tesseract(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(ocr, "_WINDOWS", ())


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program of that name which knows English, and notes how it is called; it reads nothing."""
    if sys.platform == "win32":
        pytest.skip("the program is a shell script")
    folder = tmp_path / "bin"
    folder.mkdir()
    program, calls = folder / "tesseract", tmp_path / "calls"
    program.write_text(
        f'#!/bin/sh\necho "$OMP_THREAD_LIMIT $@" >> {calls}\n'
        'if [ "$1" = --list-langs ]; then echo "List of available languages (1):"; echo eng; fi\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder) + os.pathsep + os.environ["PATH"])
    ocr.installed_languages.cache_clear()
    return calls


# -- what is missing is named ---------------------------------------------------------------------------------


def test_without_tesseract_the_message_says_what_to_install(tmp_path: Path, no_tesseract: None) -> None:
    with pytest.raises(ConversionError) as caught:
        convert_pdf(scan(tmp_path / "scan.pdf", CHARTER, dpi=50))
    for words in (
        "the pages are images",
        "apt-get install tesseract-ocr",
        "brew install tesseract",
        "Windows",
    ):
        assert words in str(caught.value)
    assert caught.value.again, "the next run must try it again"


def test_pages_with_text_are_read_without_tesseract(tmp_path: Path, no_tesseract: None) -> None:
    path = tmp_path / "mixed.pdf"
    append(path, typeset(CHARTER), scan(tmp_path / "scan.pdf", CHARTER, dpi=50).read_bytes())
    converted = convert_pdf(path)
    assert "register of all vessels" in converted.text
    (warning,) = converted.warnings
    assert warning.startswith("page 2 without text: only images there. Tesseract is not installed")
    assert IMAGE_PAGES not in converted.metadata


def test_force_does_not_pass_over_a_missing_program(tmp_path: Path, no_tesseract: None) -> None:
    path = tmp_path / "text.pdf"
    path.write_bytes(typeset(CHARTER))
    assert convert_pdf(path).warnings == ()
    with pytest.raises(ConversionError, match="Tesseract is not installed"):
        convert_pdf(path, Ocr("force"))


def test_a_language_without_data_is_named_with_its_package(tmp_path: Path, fake: Path) -> None:
    path = scan(tmp_path / "scan.pdf", CHARTER, dpi=50)
    with pytest.raises(ConversionError, match="no data for deu, chi_sim: apt-get install") as caught:
        convert_pdf(path, Ocr(languages="eng, de, chi_sim"))
    assert "tesseract-ocr-deu tesseract-ocr-chi-sim" in str(caught.value)


def test_off_reads_no_image(tmp_path: Path, fake: Path) -> None:
    with pytest.raises(ConversionError, match="switched off; --ocr auto"):
        convert_pdf(scan(tmp_path / "scan.pdf", CHARTER, dpi=50), Ocr("off"))
    picture = tmp_path / "page.png"
    pictures(CHARTER, dpi=50)[0].save(picture)
    with pytest.raises(ConversionError, match="switched off; --ocr auto"):
        convert(picture, Ocr("off"))
    assert not fake.exists()


# -- which pages, within which limits -------------------------------------------------------------------------


def test_a_text_layer_is_left_alone(tmp_path: Path, fake: Path) -> None:
    path = tmp_path / "text.pdf"
    path.write_bytes(typeset(CHARTER))
    assert IMAGE_PAGES not in convert_pdf(path).metadata
    assert not fake.exists()


def test_blank_pages_are_not_read(tmp_path: Path, fake: Path) -> None:
    with pytest.raises(ConversionError, match="no text found on the images"):
        convert_pdf(scan(tmp_path / "blank.pdf", (), (), (), dpi=50))
    assert all("--list-langs" in call for call in fake.read_text().splitlines())


def test_so_many_pages_are_read_and_one_core_each(tmp_path: Path, fake: Path) -> None:
    path = tmp_path / "mixed.pdf"
    scanned = scan(tmp_path / "scan.pdf", *[CHARTER] * 6, dpi=50)
    append(path, typeset(CHARTER), scanned.read_bytes())
    converted = convert_pdf(path, Ocr(max_pages=2, processes=2))
    read = [call for call in fake.read_text().splitlines() if call.endswith("hocr")]
    assert len(read) == 2
    assert all(call.startswith("1 stdin stdout --dpi 300 -l eng") for call in read)
    assert converted.warnings == (
        "2 of 7 pages were read from images",
        "pages 4-7 were not read from images: the limit is 2 pages per file (ocr_max_pages); split the file",
    )
    assert converted.metadata[IMAGE_PAGES] == "2-3"


def test_a_page_on_which_tesseract_fails_is_named(tmp_path: Path, fake: Path) -> None:
    (tmp_path / "bin/tesseract").write_text(
        '#!/bin/sh\n[ "$1" = --list-langs ] && echo eng && exit\necho out of ideas >&2; exit 3\n'
    )
    path = tmp_path / "mixed.pdf"
    append(path, typeset(CHARTER), scan(tmp_path / "scan.pdf", CHARTER, dpi=50).read_bytes())
    (warning,) = convert_pdf(path).warnings
    assert warning == "page 2 could not be read from the image: Tesseract failed: out of ideas"


@pytest.mark.parametrize(
    "hocr", [b"", b"<html", b"\x00\xff", b"<html><span class='ocr_line'>a</span></html>"]
)
def test_broken_answers_are_no_words(hocr: bytes) -> None:
    assert read_hocr(hocr) == []


# -- what is read ---------------------------------------------------------------------------------------------


@needs_tesseract
def test_a_scan_gives_its_headings_paragraphs_and_pages(tmp_path: Path) -> None:
    second = (Set("3. Dues", 15, True), *map(Set, PROSE))
    converted = convert_pdf(scan(tmp_path / "scan.pdf", CHARTER, second))
    assert _headings(converted.text) == ["HARBOUR REGULATIONS", "1. Register", "2. Pilotage", "3. Dues"]
    assert " ".join(PROSE) in converted.text
    assert [start.page for start in converted.pages] == [1, 2]
    assert converted.text[converted.pages[1].offset :].lstrip("# ").startswith("3. Dues")
    assert converted.metadata[IMAGE_PAGES] == "1-2"
    assert converted.warnings == ("2 of 2 pages were read from images",)


@needs_tesseract
def test_bold_headings_in_the_size_of_the_text_are_found(tmp_path: Path) -> None:
    page = [
        line
        for n, title in enumerate(("Register", "Pilotage", "Dues"), 1)
        for line in (Set(""), Set(f"{n}. {title} of the harbour", 11, True), *map(Set, PROSE))
    ]
    converted = convert_pdf(scan(tmp_path / "scan.pdf", page))
    assert _headings(converted.text) == [
        "1. Register of the harbour",
        "2. Pilotage of the harbour",
        "3. Dues of the harbour",
    ]


@needs_tesseract
@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_does_not_stand_upright_is_turned(tmp_path: Path, turn: int) -> None:
    converted = convert_pdf(scan(tmp_path / "scan.pdf", CHARTER, turn=turn))
    assert " ".join(PROSE) in converted.text
    assert _headings(converted.text) == ["HARBOUR REGULATIONS", "1. Register", "2. Pilotage"]


@needs_tesseract
def test_without_data_for_orientation_all_ways_up_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loccit.read.pdf.scans.find_turn", lambda picture, dpi: None)
    assert "register of all vessels" in convert_pdf(scan(tmp_path / "scan.pdf", CHARTER, turn=180)).text


@needs_tesseract
def test_force_reads_pages_that_have_text(tmp_path: Path) -> None:
    path = tmp_path / "text.pdf"
    path.write_bytes(typeset(CHARTER))
    converted = convert_pdf(path, Ocr("force"))
    assert converted.metadata[IMAGE_PAGES] == "1"
    assert " ".join(PROSE) in converted.text


@needs_tesseract
def test_a_stamp_on_a_scan_is_no_text_layer(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "court.pdf"), pagesize=(595, 842))
    canvas.drawImage(ImageReader(pictures(CHARTER)[0]), 0, 0, 595, 842)
    canvas.drawString(72, 820, "Case 1:20-cv-00123 Document 1 Page 1 of 9")
    canvas.save()
    converted = convert_pdf(tmp_path / "court.pdf")
    assert "register of all vessels" in converted.text and "Case 1:20" in converted.text


@needs_tesseract
@pytest.mark.parametrize("name", ["page.png", "page.jpg", "page.jpeg", "page.tif", "page.tiff"])
def test_image_files_are_pages(tmp_path: Path, name: str) -> None:
    pictures(CHARTER)[0].save(tmp_path / name)
    file_type, converted = convert(tmp_path / name)
    assert file_type == Path(name).suffix
    assert " ".join(PROSE) in converted.text
    assert _headings(converted.text) == ["HARBOUR REGULATIONS", "1. Register", "2. Pilotage"]
    assert converted.warnings == ("the page was read from an image",)


@needs_tesseract
def test_an_image_file_may_have_pages(tmp_path: Path) -> None:
    first, second = pictures(CHARTER, tuple(map(Set, PROSE)))
    first.save(tmp_path / "fax.tiff", save_all=True, append_images=[second], dpi=(200, 200))
    _, converted = convert(tmp_path / "fax.tiff")
    assert [start.page for start in converted.pages] == [1, 2]
    assert converted.metadata[IMAGE_PAGES] == "1-2"


@needs_tesseract
def test_a_transparent_image_is_on_white_paper(tmp_path: Path) -> None:
    from PIL import Image

    ink = pictures(CHARTER)[0]
    page = Image.new("RGBA", ink.size, (0, 0, 0, 0))
    page.putalpha(ink.point(lambda grey: 255 - grey))
    page.save(tmp_path / "page.png")
    assert "register of all vessels" in convert(tmp_path / "page.png")[1].text


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff garbage", b"II*\x00 garbage"])
def test_a_broken_image_is_a_reason(tmp_path: Path, content: bytes, fake: Path) -> None:
    (tmp_path / "page.png").write_bytes(content)
    with pytest.raises(ConversionError, match="cannot be read as image"):
        convert(tmp_path / "page.png")


def test_an_image_under_another_name_is_refused(tmp_path: Path, fake: Path) -> None:
    pictures(CHARTER, dpi=50)[0].save(tmp_path / "a.md", "PNG")
    with pytest.raises(ConversionError, match="looks like a PNG image, not text"):
        convert(tmp_path / "a.md")


# -- sizes of type --------------------------------------------------------------------------------------------


def test_sizes_that_waver_are_one_and_places_follow_the_body() -> None:
    """A photograph says nothing of paper: the running text becomes ten points, and all else with it."""
    page = PageText(0, 6000, 8000)
    text = [RawLine([RawWord("registered", 100, 900, 0.1)], 100.0 * n, 78 + n % 5) for n in range(20)]
    head = RawLine([RawWord("Heading", 100, 900, 0.1)], 2500, 130)
    set_type([RawPage(page, [*text, head])])
    assert {line.size for line in page.lines[:-1]} == {10.0}
    assert page.lines[-1].size == pytest.approx(16, abs=0.5)
    assert page.width == pytest.approx(6000 / 8, rel=0.02)
    assert page.lines[-1].base == pytest.approx(2500 / 8, rel=0.02)


def test_scanned_pages_take_the_size_of_those_with_text() -> None:
    page = PageText(0, 595, 842)
    set_type([RawPage(page, [RawLine([RawWord("registered", 72, 140, 0.1)], 100, 11.3)])], body=10.0)
    assert page.lines[0].size == 10.0 and page.width == 595


# -- which pages a document says were images ------------------------------------------------------------------


def test_pages_are_written_and_found_again() -> None:
    written = write_pages([7, 1, 3, 2, 2])
    assert written == "1-3, 7"
    found = [number for number in range(9) if holds_any(written, Pages(number, number))]
    assert found == [1, 2, 3, 7]
    assert (
        not holds_any(written, None) and not holds_any([1], Pages(1, 1)) and not holds_any("x-", Pages(1, 1))
    )


def _headings(text: str) -> list[str]:
    return [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
