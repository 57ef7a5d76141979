"""The title of a PDF, and what is said about text that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.read.pdf.letters import is_legible

from .test_pdf import PROSE, Page, convert


def report(title: str = "Rules of the Port") -> Page:
    page = (
        Page().text(72, 80, "Harbour Office", 14, "I").text(72, 110, title, 24, "B").text(72, 150, "A. Berg")
    )
    page.lines(72, 200, PROSE)
    return page


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "(anonymous)",
        "untitled",
        "Untitled 2",
        "Microsoft Word - rules final.doc",
        "rules.dvi",
        "rackawareness.eps",
        "Document1",
        "Paper Title (use style: paper title)",
        "Template for proceedings",
    ],
)
def test_a_title_that_is_none_gives_way_to_the_largest_words(tmp_path: Path, stated: str) -> None:
    converted = convert(tmp_path, report(), report("Another"), info={"Title": stated})
    assert converted.metadata["title"] == "Rules of the Port"


def test_a_title_over_two_lines(tmp_path: Path) -> None:
    page = Page().text(72, 80, "Rules of the", 24, "B").text(72, 106, "Port", 24, "B")
    page.lines(72, 200, PROSE)
    assert convert(tmp_path, page).metadata["title"] == "Rules of the Port"


def test_a_title_that_is_printed_is_believed(tmp_path: Path) -> None:
    stated = "Harbour Office: Rules of the Port, Part One"
    assert convert(tmp_path, report(), info={"Title": stated}).metadata["title"] == stated


def test_text_in_one_size_has_no_title_of_its_own(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 80, PROSE)
    assert "title" not in convert(tmp_path, page, info={"Title": "(anonymous)"}).metadata
    assert convert(tmp_path, page, info={"Title": "Port rules"}).metadata["title"] == "Port rules"


def test_letters_that_are_others_are_a_warning(tmp_path: Path) -> None:
    pages = []
    for shift in (0, 3, 0):
        page = Page()
        y = 80.0
        for _ in range(3):
            lines = tuple("".join(chr(ord(c) + shift) if c.isalpha() else c for c in line) for line in PROSE)
            y = page.lines(72, y, lines)
        pages.append(page)
    assert convert(tmp_path, *pages).warnings == (
        "the text of page 2 cannot be read: its fonts do not say which letters they draw; --ocr force reads "
        "the pages as images",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Strč prst skrz krk. " + "Zmrzlina v parku je chladná a sladká, děti ji mají rády. " * 20,
        "Przedsiębiorstwo zobowiązuje się do świadczenia usług zgodnie z umową. " * 20,
        "Die Schülerinnen und Schüler dürfen während des Unterrichts nichts sprechen. " * 20,
        "Công dân có quyền bình đẳng trước pháp luật và được bảo vệ. " * 20,
        "Договор вступает в силу с момента подписания. " * 20,
        "本法自公布之日起施行。" * 40,
    ],
)
def test_texts_in_any_language_can_be_read(text: str) -> None:
    assert is_legible(text)


def test_characters_that_nobody_prints() -> None:
    assert not is_legible("\x01\x02\x03 \x04\x05" * 50)
    assert not is_legible("\ue000\ue001 \ue002" * 50)
    assert is_legible("\uf0b7 An item of a list. " * 50)


@given(st.text(max_size=300))
def test_short_texts_are_never_judged_by_their_vowels(text: str) -> None:
    assert is_legible(text) or sum(not c.isprintable() for c in text) > 0
