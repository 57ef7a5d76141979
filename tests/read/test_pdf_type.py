"""PDF files whose type is set in unusual ways: fonts drawn by the page, scaled, hidden, tiny or without any size."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.model.document import Converted
from loccit.read.pdf import convert_pdf
from loccit.read.pdf.letters import Glyphs

from .test_pdf import PROSE, Page, Pdf, convert, headings

_SMALL = frozenset("acemnorsuvwxzgpqyijt.,")


def drawn_font(unit: float) -> dict[int, bytes]:
    """A Type 3 font: boxes as high as letters at 100 units to the size, while the font says ``unit`` of it each."""
    codes = [0x0B, 0x0C, *range(0x20, 0x7F)]
    widths = {code: 25 if code == 0x20 else 50 for code in codes}
    font = (
        f"<</Type/Font/Subtype/Type3/FontBBox[0 0 0 0]/FontMatrix[{unit} 0 0 {unit} 0 0]/FirstChar 0/LastChar 126"
        f"/Widths[{' '.join(str(widths.get(code, 0)) for code in range(127))}]/Resources<<>>"
        f"/Encoding<</Type/Encoding/Differences[{' '.join(f'{code} /a{code}' for code in codes)}]>>"
        f"/CharProcs<<{' '.join(f'/a{code} {5001 + code} 0 R' for code in codes)}>>>>"
    )
    objects = {5000: font.encode()}
    for code in codes:
        height = 0 if code == 0x20 else 45 if chr(code) in _SMALL else 69
        draw = f"{widths[code]} 0 0 0 45 {height} d1 0 0 45 {height} re f"
        objects[5001 + code] = f"<</Length {len(draw)}>>stream\n{draw}\nendstream".encode()
    return objects


def drawn(tmp_path: Path, unit: float, size: float, scale: float) -> Converted:
    """A page with two headings, set in a drawn font at a size and scaled by the text matrix."""
    page = Page()
    y = 60.0
    for part in ("1 Berths", "2 Moorings"):
        # Letters of one font and one matrix are of one size: a title has a matrix of its own.
        for text, larger in [(part, 1.6), *((line, 1.0) for line in PROSE)]:
            s = scale * larger
            page.operators.append(f"BT /T {size} Tf {s} 0 0 {s} 40 {792 - y} Tm ({text}) Tj ET")
            y += 13 * larger
        y += 10
    return convert_pdf(Pdf([page], more=drawn_font(unit)).write(tmp_path / "drawn.pdf"))


@pytest.mark.parametrize(
    ("unit", "size", "scale"), [(1, 1, 0.11), (0.01, 11, 1), (1, 0.11, 1), (0.12, 1, 11 / 12)]
)
def test_drawn_letters_are_as_large_as_they_measure(
    tmp_path: Path, unit: float, size: float, scale: float
) -> None:
    converted = drawn(tmp_path, unit, size, scale)
    assert " ".join(PROSE) in converted.text
    assert headings(converted) == ["# 1 Berths", "# 2 Moorings"]


def test_ligatures_at_the_codes_of_control_characters(tmp_path: Path) -> None:
    page = Page()
    page.operators.append("BT /T 1 Tf 0.11 0 0 0.11 40 700 Tm (The bene\\014t of e\\013ort) Tj ET")
    converted = convert_pdf(Pdf([page], more=drawn_font(1)).write(tmp_path / "drawn.pdf"))
    assert converted.text == "The benefit of effort\n"


def test_type_larger_than_its_matrix_lets_it_be(tmp_path: Path) -> None:
    page = Page()
    page.operators.append("BT /B 100000 Tf 0.00018 0 0 0.00018 72 720 Tm (Berths) Tj ET")
    page.lines(72, 100, PROSE)
    converted = convert(tmp_path, page)
    assert headings(converted) == ["# Berths"]
    assert " ".join(PROSE) in converted.text


def test_hidden_words_are_read_where_they_are_the_text(tmp_path: Path) -> None:
    scan = Page()
    scan.operators.append("3 Tr")
    scan.lines(72, 100, PROSE)
    scan.operators.append("0 Tr")
    scan.text(72, 700, "Stamped by the office")
    converted = convert(tmp_path, scan)
    assert " ".join(PROSE) in converted.text
    assert "Stamped by the office" in converted.text
    text = Page()
    text.lines(72, 100, PROSE)
    text.operators.append("3 Tr")
    text.text(72, 700, "Nobody sees this")
    assert "Nobody" not in convert(tmp_path, text).text


def test_words_too_small_to_be_seen_are_hidden(tmp_path: Path) -> None:
    page = Page().text(72, 80, "Berths", 18, "B").text(150, 80, "PLACEHOLDER", 1)
    page.lines(72, 110, PROSE)
    converted = convert(tmp_path, page)
    assert headings(converted) == ["# Berths"]
    assert "PLACEHOLDER" not in converted.text


@pytest.mark.parametrize(
    "operators",
    [
        "BT /R 0 Tf 1 0 0 1 72 600 Tm (nothing) Tj ET",
        "BT /R 1e30 Tf 1 0 0 1 72 600 Tm (huge) Tj ET",
        "BT /R 11 Tf 0 0 0 0 72 600 Tm (flat) Tj ET",
        "BT /R 11 Tf 1e38 0 0 1e38 1e38 1e38 Tm (far) Tj (farther) Tj ET",
        "BT /R 11 Tf nan nan nan nan nan nan Tm (none) Tj ET",
        "BT /R -11 Tf 1 0 0 1 72 600 Tm (mirrored) Tj ET",
        "q 1e20 0 0 1e20 0 0 cm BT /R 1e20 Tf 1 0 0 1 72 600 Tm (infinite) Tj ET Q",
    ],
)
def test_type_without_a_sensible_size_does_no_harm(tmp_path: Path, operators: str) -> None:
    page = Page()
    page.lines(72, 80, PROSE)
    page.operators.append(operators)
    assert " ".join(PROSE) in convert(tmp_path, page, Page().text(72, 80, "The second page.")).text


def _as_glyphs(text: str) -> str:
    """A text by the numbers of its glyphs, in fonts that have them in the usual order; spaces are left alone."""
    return "".join(letter if letter == " " else chr(ord(letter) - 29) for letter in text)


def test_letters_that_are_numbers_of_glyphs_are_put_right() -> None:
    text = (
        "This addendum forms part of the agreement between the parties (the Agreement), made in 2018. " * 12
    )
    title = "DATA PROCESSING ADDENDUM, SECTION 14: HOW TO EXECUTE THIS"
    plain = "Revision of May"
    page = _as_glyphs(text) + plain + _as_glyphs(title)
    fonts = [1] * len(text) + [2] * len(plain) + [3] * len(title)
    glyphs = Glyphs()
    assert glyphs.mend(page, lambda at: fonts[at])[0] == text + plain + title
    # What was learned of a font holds for a page that has little of it.
    assert glyphs.mend(_as_glyphs("Clause 7"), lambda at: 3)[0] == "Clause 7"
    assert glyphs.mend("1,234.50", lambda at: 4)[0] == "1,234.50"


@given(st.text(max_size=300), st.integers(0, 3))
def test_putting_letters_right_keeps_their_number(text: str, font: int) -> None:
    assert len(Glyphs().mend(text, lambda at: font)[0]) == len(text)


def test_a_legible_page_stays_as_it_is() -> None:
    text = "The parties agree that prices are stated in EUR, and fees in USD. " * 10
    assert Glyphs().mend(text, lambda at: 1)[0] == text
