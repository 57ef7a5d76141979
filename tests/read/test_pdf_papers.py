"""Headings of papers: sections as journals set them, and what stands around them that is none."""

from __future__ import annotations

from pathlib import Path

from .test_pdf import PROSE, Page, convert, headings

AUTHORS = ("Ada Berg, Nils Moen", "Kari Lund")


def text(page: Page, y: float, repeat: int = 2) -> float:
    for _ in range(repeat):
        y = page.lines(72, y, PROSE)
    return y + 12


def test_authors_below_a_title_are_no_headings(tmp_path: Path) -> None:
    first = Page().text(160, 80, "Registers of Small Ports", 20, "B")
    first.text(200, 110, AUTHORS[0], 13, "B").text(230, 126, AUTHORS[1], 13, "B")
    first.text(180, 142, "Institute of Harbours", 13, "I").text(280, 180, "Abstract", 13, "B")
    y = text(first, 200)
    first.text(72, y, "1 Introduction", 13, "B")
    text(first, y + 18)
    second = Page().text(72, 80, "2 Related work", 13, "B")
    text(second, 100)
    converted = convert(tmp_path, first, second)
    assert headings(converted) == [
        "# Registers of Small Ports",
        "## Abstract",
        "## 1 Introduction",
        "## 2 Related work",
    ]
    assert AUTHORS[0] in converted.text


def test_sections_set_in_italics_or_centred(tmp_path: Path) -> None:
    pages = []
    for n, roman in enumerate(("I", "II", "III", "IV")):
        page = Page()
        page.text(218, 80, f"{roman}. Title of part {'ABCD'[n]}", 11)
        y = text(page, 104, 1)
        for letter in "AB":
            page.text(72, y, f"{letter}. Berths of kind {'wxyz'[n]}{letter.lower()}", 11, "I")
            y = text(page, y + 16)
        pages.append(page)
    found = headings(convert(tmp_path, *pages))
    assert [h.lstrip("# ") for h in found] == [
        title
        for n, roman in enumerate(("I", "II", "III", "IV"))
        for title in (
            f"{roman}. Title of part {'ABCD'[n]}",
            f"A. Berths of kind {'wxyz'[n]}a",
            f"B. Berths of kind {'wxyz'[n]}b",
        )
    ]


def test_a_number_apart_from_its_title_is_part_of_the_heading(tmp_path: Path) -> None:
    page = Page()
    y = 80.0
    for number, title in (("3", "Consensus"), ("3.1", "Leader election"), ("3.2", "Log replication")):
        page.text(72, y, number, 13, "B").text(110, y, title, 13, "B")
        y = text(page, y + 18)
    found = headings(convert(tmp_path, page))
    assert [h.lstrip("# ") for h in found] == ["3 Consensus", "3.1 Leader election", "3.2 Log replication"]


def test_theorems_are_no_headings(tmp_path: Path) -> None:
    page = Page().text(72, 80, "1 Proofs", 14, "B")
    y = text(page, 100, 1)
    for n in range(1, 5):
        page.text(72, y, f"Theorem 1.{n} (Order of berths)", 11, "B")
        y = text(page, y + 14, 1)
    assert headings(convert(tmp_path, page)) == ["# 1 Proofs"]


def test_contents_without_leaders_are_no_headings(tmp_path: Path) -> None:
    titles = ("Introduction", "Harbours", "Registers", "Vessels", "Conclusions")
    first = Page().text(72, 80, "Registers of Small Ports", 20, "B").text(72, 120, "Contents", 14, "B")
    y = 140.0
    for n, title in enumerate(titles, 1):
        first.text(72, y, f"{n}. {title} {n + 1}", 11, "B")
        y += 14
    text(first, y + 20)
    pages = [first]
    for n, title in enumerate(titles, 1):
        page = Page().text(72, 80, f"{n}. {title}", 14, "B")
        text(page, 100)
        pages.append(page)
    found = headings(convert(tmp_path, *pages))
    assert [h.lstrip("# ") for h in found if "Contents" not in h] == [
        "Registers of Small Ports",
        *(f"{n}. {title}" for n, title in enumerate(titles, 1)),
    ]


def test_numbered_titles_that_run_into_their_text(tmp_path: Path) -> None:
    page = Page()
    y = 80.0
    for n, title in enumerate(("Driving factors.", "Previous work.", "Conventions."), 1):
        page.text(72, y, f"1.{n}.", 11, "I").text(90, y, title, 11, "I")
        page.text(175, y, "There are many goals of a register, and one is to be true.", 11)
        y = text(page, y + 13, 1)
    converted = convert(tmp_path, page)
    assert [h.lstrip("# ") for h in headings(converted)] == [
        "1.1. Driving factors.",
        "1.2. Previous work.",
        "1.3. Conventions.",
    ]
    assert (
        converted.text.count("\n\nThere are many goals of a register, and one is to be true. The harbour")
        == 3
    )


def test_columns_of_a_paper_are_read_one_after_the_other(tmp_path: Path) -> None:
    page = Page().text(150, 60, "Registers of Small Ports", 20, "B")
    words = " ".join(PROSE).split()
    for column, x in enumerate((50, 320)):
        y = 100.0
        for part in range(2):
            page.text(x, y, f"{2 * column + part + 1} Part {'wxyz'[2 * column + part]}", 12, "B")
            y += 16
            for n in range(0, 60, 6):
                page.text(x, y, " ".join(words[n : n + 6]), 10)
                y += 12
            y += 12
    found = headings(convert(tmp_path, page))
    assert [h.lstrip("# ") for h in found] == [
        "Registers of Small Ports",
        "1 Part w",
        "2 Part x",
        "3 Part y",
        "4 Part z",
    ]
