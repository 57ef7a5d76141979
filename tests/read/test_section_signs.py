"""Section signs that were read as other signs are mended where the document tells, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.read.pdf.page import PageText
from loccit.read.pdf.scan_type import RawLine, RawPage, RawWord, mend_section_signs


def mended(text: str, german: bool = False) -> str:
    lines = [
        RawLine([RawWord(word, 0.0, 1.0, 0.0) for word in line.split()], 10.0 * n, 10.0)
        for n, line in enumerate(text.split("\n"))
    ]
    half = len(lines) // 2
    pages = [RawPage(PageText(0, 600, 800), lines[:half]), RawPage(PageText(1, 600, 800), lines[half:])]
    mend_section_signs(pages, german)
    return "\n".join(" ".join(word.text for word in line.words) for line in lines)


@pytest.mark.parametrize("sign", ["8", "$", "&"])
def test_a_citation_tells_the_sign(sign: str) -> None:
    assert mended(f"nach {sign} 12 Abs. 1 und {sign} 14a Satz 2") == "nach § 12 Abs. 1 und § 14a Satz 2"


def test_one_citation_speaks_for_the_rest_of_the_document() -> None:
    text = "Auf Grund des $ 43 Abs. 3 des Gesetzes\nund nach 8 12 BGB\nsowie 88 3 bis 5"
    assert mended(text) == "Auf Grund des § 43 Abs. 3 des Gesetzes\nund nach § 12 BGB\nsowie §§ 3 bis 5"


def test_section_after_section_tells_it_in_german() -> None:
    text = "8 1 Zweck\nDas Amt führt ein Register.\n8 2 Register\nEs ist öffentlich.\n8 3 Gebühren\n8 3a Fristen\n8 4 Ende"
    assert mended(text, german=True) == text.replace("8 ", "§ ")
    assert mended(text) == text, "lines of a table would look the same"
    assert mended("Siehe § 9.\n" + text) == "Siehe § 9.\n" + text.replace("8 ", "§ ")


def test_a_sign_that_is_glued_to_its_number_is_set_off() -> None:
    assert mended("nach $43 Abs. 3 und &7 Satz 1") == "nach § 43 Abs. 3 und § 7 Satz 1"


@pytest.mark.parametrize(
    "text",
    [
        "8 12 14 16\n8 13 15 17\n8 14 16 18",
        "The price is $ 12 per ton\nand $ 14 for two",
        "8 1 Schraube\n8 90 Mutter\n8 4 Ring\n8 77 Blech",
        "Kapitel 8 1\nam 8 12 1999",
    ],
)
@pytest.mark.parametrize("german", [False, True])
def test_numbers_and_prices_stay(text: str, german: bool) -> None:
    if german and text.startswith("8 12"):
        text = text.replace("8 1", "7 1")
    assert mended(text, german) == text


@given(
    st.lists(
        st.sampled_from(["8", "88", "$", "&", "§", "12", "3a", "Abs.", "nach", "bis", "\n"]), max_size=40
    )
)
def test_numbers_and_words_are_never_lost(words: list[str]) -> None:
    text = " ".join(words)
    result = mended(text, german=True)
    assert [w for w in result.split() if w not in {"8", "88", "$", "&", "§", "§§", "$$", "&&"}] == [
        w for w in text.split() if w not in {"8", "88", "$", "&", "§"}
    ]
    assert len(result.split()) == len(text.split())
