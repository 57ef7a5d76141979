"""What makes a line of a PDF a heading, and what looks like one: on files of many makers."""

from __future__ import annotations

from pathlib import Path

from .test_pdf import PROSE, Page, convert, headings


def titles(tmp_path: Path, *pages: Page) -> list[str]:
    return [h.lstrip("# ") for h in headings(convert(tmp_path, *pages))]


def text(page: Page, y: float) -> float:
    return page.lines(72, y, PROSE) + 12


def test_headings_whose_only_text_is_a_table(tmp_path: Path) -> None:
    """A specification of registers: some text, then table after table, each below its heading."""
    pages = []
    for number in range(4):
        page = Page()
        page.text(72, 60, f"Register {'WXYZ'[number]} Berths", font="B")
        page.text(72, 76, f"Reads as {'abcd'[number]}.")
        for row in range(4):
            for column in range(4):
                page.rule(72 + 100 * column, 90, 72 + 100 * column, 150)
            page.rule(72, 90 + 20 * row, 372, 90 + 20 * row)
        for row in range(3):
            for column in range(3):
                page.text(76 + 100 * column, 103 + 20 * row, f"value {row} of {column}", 10)
        pages.append(page)
    first = Page()
    text(first, 60)
    assert titles(tmp_path, first, *pages) == [f"Register {letter} Berths" for letter in "WXYZ"]


def test_large_type_may_begin_in_lower_case(tmp_path: Path) -> None:
    names = ("entry of vessels", "a register of berths", "lights at night")
    page, y = Page(), 60.0
    for name in names:
        page.text(72, y, name, 15, "B")
        y = text(page, y + 20)
    page.text(200, y, "north quay", 18)
    assert titles(tmp_path, page) == list(names)


def test_a_formula_in_large_type_is_no_heading(tmp_path: Path) -> None:
    page = Page().text(72, 60, "Berths", 15, "B")
    y = text(page, 80)
    page.text(200, y + 4, "Xm = dn", 14)
    text(page, y + 26)
    assert titles(tmp_path, page) == ["Berths"]


def test_entries_after_a_bullet_are_no_headings(tmp_path: Path) -> None:
    """A bullet needs no space."""
    for sign in ("•", "© "):
        page = Page().text(72, 60, "Berths", 20, "B")
        y = text(page, 80)
        for entry in ("Entry of vessels", "Care of the quay", "Lights at night"):
            page.text(72, y, sign + entry, 15)
            y += 60
        assert titles(tmp_path, page) == ["Berths"], sign


def test_a_sign_may_adorn_a_title(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("Entry of vessels", "Care of the quay", "Lights at night"):
        page.text(72, y, f"¤ {title}", 15, "B")
        y = text(page, y + 20)
    assert len(titles(tmp_path, page)) == 3


def test_numbered_titles_in_a_font_of_their_own(tmp_path: Path) -> None:
    """The name of a font need not say that it is bold; that it is another one is visible."""
    page, y = Page(), 60.0
    for number, title in enumerate(("Harbours", "Registers", "Vessels"), 1):
        page.text(72, y, f"{number} {title} of small ports", font="H")
        y = text(page, y + 16)
    assert titles(tmp_path, page) == [
        f"{n} {t} of small ports" for n, t in enumerate(("Harbours", "Registers", "Vessels"), 1)
    ]


def test_steps_in_a_font_of_their_own_are_no_sections(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for _ in range(3):
        for number, step in enumerate(("Moor the vessel", "Enter her name"), 1):
            page.text(72, y, f"{number}. {step}", font="H")
            y += 16
        y = text(page, y)
    assert titles(tmp_path, page) == []


def test_small_capitals_are_as_large_as_their_capitals(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for number, title in enumerate(("POLICY OF PORTS", "DUES OF VESSELS"), 1):
        page.text(72, y, f"{number}.", 12, "B").text(84, y, title, 9, "B")
        y = text(page, y + 18)
        page.text(72, y, f"{number}.1 Berths", 12, "B")
        y = text(page, y + 18)
    assert headings(convert(tmp_path, page)) == [
        "# 1. POLICY OF PORTS",
        "## 1.1 Berths",
        "# 2. DUES OF VESSELS",
        "## 2.1 Berths",
    ]


def test_letters_that_begin_again_are_below_the_numbers(tmp_path: Path) -> None:
    pages = []
    for roman, words in (("I", "Ports"), ("II", "Dues"), ("III", "Berths")):
        page = Page().text(72, 130, f"{roman}. {words} at large", 13, "B")
        y = text(page, 150)
        for letter in "AB":
            page.text(72, y, f"{letter}. {words} of class {letter}{letter}", 13, "B")
            y = text(page, y + 20)
        pages.append(page)
    found = headings(convert(tmp_path, *pages))
    assert [h.split()[0] for h in found] == ["#", "##", "##"] * 3


def test_whatever_is_beside_the_page_number_is_a_running_head(tmp_path: Path) -> None:
    """Each section has its own running head, too short for it to repeat."""
    pages = []
    for number, word in enumerate(("Harbours", "Registers", "Vessels", "Dues", "Lights", "Quays")):
        page = Page().text(72, 120, f"{number + 1}.{number} {word}", 11, "I").text(500, 120, str(number + 31))
        page.text(72, 160, f"{number + 2}.1 Care of {word.lower()}", 11, "B")
        text(page, 180)
        pages.append(page)
    converted = convert(tmp_path, *pages)
    assert [h.split(maxsplit=2)[2] for h in headings(converted)] == [
        f"Care of {word}" for word in ("harbours", "registers", "vessels", "dues", "lights", "quays")
    ]
    assert "Harbours" in converted.text
    assert "31" not in converted.text


def test_tags_on_the_line_below_each_heading_are_not_believed(tmp_path: Path) -> None:
    names = ("Harbours", "Registers", "Vessels", "Dues")
    page, y = Page(), 60.0
    tags: list[tuple[str, int]] = []
    for name in names:
        page.text(72, y, f"{name} of small ports", 14, "B", mcid=len(tags))
        tags.append(("P", len(tags)))
        for number, line in enumerate(PROSE):
            y += 14
            page.text(72, y, line, mcid=len(tags))
            tags.append(("P" if number else "H1", len(tags)))
        y += 26
    found = headings(convert(tmp_path, page, tags=[tags]))
    assert found == [f"# {name} of small ports" for name in names]


def test_printed_line_numbers_are_no_labels(tmp_path: Path) -> None:
    """A draft counts its lines at the left margin, those of headings and empty ones too."""
    pages: list[Page] = []
    count = 0
    for roman, words in (("I", "HARBOURS"), ("II", "REGISTERS"), ("III", "DUES")):
        page, y = Page(), 60.0 + 5 * len(pages)
        for line in (f"{roman}. {words} AT LARGE", "", *PROSE, "", *PROSE):
            count += 1
            page.text(60 - 6 * len(str(count)), y, str(count))
            page.text(72, y, line, font="B" if "AT LARGE" in line else "R")
            y += 14
        pages.append(page)
    count += 1
    last = Page().text(60 - 6 * len(str(count)), 60, str(count)).text(72, 60, "That is all about ports.")
    converted = convert(tmp_path, *pages, last)
    assert [h.lstrip("# ") for h in headings(converted)] == [
        "I. HARBOURS AT LARGE",
        "II. REGISTERS AT LARGE",
        "III. DUES AT LARGE",
    ]
    assert not any(map(str.isdigit, converted.text))


def test_the_numbers_of_rows_stay_in_their_rows(tmp_path: Path) -> None:
    page = Page()
    for number in range(1, 21):
        page.text(60 - 6 * len(str(number)), 60 + 14 * number, str(number)).text(
            72, 60 + 14 * number, "Vessel"
        )
    converted = convert(tmp_path, page)
    assert all(f"{number} Vessel" in converted.text for number in range(1, 21))


def test_bookmarks_take_their_numbers_from_the_page(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("I. HARBOURS", "II. REGISTERS", "3.1 Dues"):
        page.text(72, y, title, 13, "B")
        y = text(page, y + 20)
    outline = [(1, "I.HARBOURS", 0, None), (1, "II.REGISTERS", 0, None), (2, "Dues", 0, None)]
    found = headings(convert(tmp_path, page, outline=outline))
    assert found == ["# I. HARBOURS", "# II. REGISTERS", "## 3.1 Dues"]


def test_bookmarks_of_cells_are_no_headings(tmp_path: Path) -> None:
    page = Page().text(72, 60, "Harbours", 14, "B")
    y = text(page, 80)
    for n in range(4):
        page.rule(72, y + 20 * n, 372, y + 20 * n)
        page.rule(72 + 100 * n, y, 72 + 100 * n, y + 60)
    cells = ("Berth", "Length", "Depth", "North", "40 m", "5 m", "South", "30 m", "4 m")
    for n, cell in enumerate(cells):
        page.text(76 + 100 * (n % 3), y + 14 + 20 * (n // 3), cell, 10, "B")
    page.text(72, y + 100, "Registers", 14, "B")
    text(page, y + 120)
    outline = [(1, "Harbours", 0, None), *((2, cell, 0, None) for cell in cells), (1, "Registers", 0, None)]
    assert headings(convert(tmp_path, page, outline=outline)) == ["# Harbours", "# Registers"]


def test_a_label_on_the_line_above_a_bookmarked_title(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for label, title in (("CHAPTER ONE", "HARBOURS"), ("APPENDIX A", "REGISTERS")):
        page.text(72, y, label, 10).text(72, y + 20, title, 14, "B")
        y = text(page, y + 44) + 20
    outline = [(1, "Harbours", 0, None), (1, "Registers", 0, None)]
    found = headings(convert(tmp_path, page, outline=outline))
    assert [h.casefold() for h in found] == ["# chapter one harbours", "# appendix a registers"]


def test_numbers_of_bookmarks_give_way_to_those_of_the_page(tmp_path: Path) -> None:
    """A program counts its bookmarks; the page prints another word, another number or none."""
    page, y = Page(), 60.0
    for title in ("History", "Part 1 - HARBOURS", "Part 2 - REGISTERS"):
        page.text(72, y, title, 13, "B")
        y = text(page, y + 20)
    outline = [
        (1, f"{n} {title}", 0, None) for n, title in ((1, "History"), (1, "HARBOURS"), (2, "REGISTERS"))
    ]
    found = headings(convert(tmp_path, page, outline=outline))
    assert found == ["# History", "# Part 1 - HARBOURS", "# Part 2 - REGISTERS"]


def test_the_end_of_a_paragraph_is_no_part_of_the_title_below_it(tmp_path: Path) -> None:
    page = Page().text(72, 60, "2.1. Berths", 12, "B")
    page.text(72, 80, "Vessels are moored as the special rules say, which stand in section", 10)
    page.text(72, 92, "3.8.", 10).text(72, 112, "2.2. Dues", 12, "B")
    text(page, 130)
    outline = [(1, "Berths", 0, 50.0), (1, "Dues", 0, 88.0)]
    assert headings(convert(tmp_path, page, outline=outline)) == ["# 2.1. Berths", "# 2.2. Dues"]


def test_bookmarked_captions_are_no_headings(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("Harbours", "Figure 1: A quay", "Registers"):
        page.text(72, y, title, 13, "B")
        y = text(page, y + 20)
    outline = [(1, title, 0, None) for title in ("Harbours", "Figure 1: A quay", "Registers")]
    assert headings(convert(tmp_path, page, outline=outline)) == ["# Harbours", "# Registers"]


def test_titles_set_like_a_single_bookmarked_one(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title, size in (("Harbours", 16), ("Berths", 12), ("Dues", 12), ("Registers", 16)):
        page.text(72, y, title, size, "B")
        y = text(page, y + 20)
    outline = [(1, "Harbours", 0, None), (2, "Berths", 0, None), (1, "Registers", 0, None)]
    found = headings(convert(tmp_path, page, outline=outline))
    assert found == ["# Harbours", "## Berths", "## Dues", "# Registers"]


def test_a_part_without_a_page_number_on_a_contents_page(tmp_path: Path) -> None:
    """A list goes on, on its second page with a single entry; the last line of the first is a part."""
    first = Page().text(72, 60, "Contents", 14, "B").text(72, 90, "PART ONE HARBOURS", 14, "B")
    for n in range(4):
        first.text(72, 120 + 20 * n, f"Rules of berth {n} . . . . . . . . . . . . {n + 3}", 11)
    first.text(72, 700, "PART TWO REGISTERS", 14, "B")
    second = (
        Page()
        .text(72, 60, "Register of vessels . . . . . . . . . . . . 9", 11)
        .text(72, 200, "Harbours", 14, "B")
    )
    text(second, 220)
    assert titles(tmp_path, first, second) == ["Harbours"]


def test_decisions_below_what_they_decide_are_no_headings(tmp_path: Path) -> None:
    """Minutes: each application ends in a bold line, and space is below it."""
    page, y = Page(), 60.0
    page.text(72, y, "Applications of the day", 14, "B")
    y = text(page, y + 20)
    for decision in ("GRANTED", "REFUSED", "GRANTED", "DEFERRED"):
        page.text(72, y + 20, "The owner of the quay asks for leave to moor a vessel there.", 10)
        page.text(72, y + 32, decision, 12, "B")
        y += 80
    assert titles(tmp_path, page) == ["Applications of the day"]


def test_the_number_of_a_house_numbers_no_part(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for n, name in enumerate(("NORTH QUAY COMPANY", "SOUTH QUAY COMPANY", "WEST QUAY COMPANY"), 1):
        page.text(72, y, f"{n}) {name}", 11)
        page.text(72, y + 40, f"{31 * n} BEACH STREET", 11)
        y = text(page, y + 80) + 20
    found = titles(tmp_path, page)
    assert found == ["1) NORTH QUAY COMPANY", "2) SOUTH QUAY COMPANY", "3) WEST QUAY COMPANY"]


def test_centred_titles_are_judged_apart_from_bold_terms(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("Issue for decision", "Law of quays", "Judgment"):
        page.text(255 - 2.1 * len(title), y, title, 10, "B")
        y = text(page, y + 20)
        page.text(72, y, "Held by the court:", 10, "B")
        y = text(page, y + 14)
    assert titles(tmp_path, page) == ["Issue for decision", "Law of quays", "Judgment"]


def test_a_number_glued_to_its_title_is_a_number(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("9. Harbours", "10.Berths", "11.Dues"):
        page.text(72, y, title, 12, "B")
        y = text(page, y + 20)
    assert titles(tmp_path, page) == ["9. Harbours", "10. Berths", "11. Dues"]


def test_a_numbered_sentence_that_the_next_line_continues_is_no_heading(tmp_path: Path) -> None:
    """An agreement of a typewriter: lines are ragged, and all in one type."""
    page, y = Page(), 60.0
    for section in (1, 2, 3):
        page.text(72, y, f"{section}. BERTHS OF QUAY {section}")
        for clause in (1, 2):
            page.text(72, y + 28, f"{section}.{clause} The master of a vessel shall")
            page.text(100, y + 42, "report to the harbour office of the port within an hour of the arrival")
            page.text(100, y + 56, "and pays the dues.")
            y += 42
        y += 42
    assert titles(tmp_path, page) == [f"{n}. BERTHS OF QUAY {n}" for n in (1, 2, 3)]


def test_the_section_beside_a_running_head_is_no_heading_again(tmp_path: Path) -> None:
    pages = []
    for number, title in enumerate(
        ("1.1 Harbours", "1.2 Berths", "1.3 Dues", "1.4 Registers", "1.5 Lights"), 1
    ):
        page = Page().text(72, 30, "Society of the Port").text(400, 30, title)
        page.text(72, 80, title, 15, "B")
        text(page, 100)
        page.text(300, 760, str(number))
        pages.append(page)
    assert titles(tmp_path, *pages) == [
        "1.1 Harbours",
        "1.2 Berths",
        "1.3 Dues",
        "1.4 Registers",
        "1.5 Lights",
    ]


def test_a_signature_at_the_end_of_its_page_is_no_heading(tmp_path: Path) -> None:
    first, last = Page(), Page()
    y = 60.0
    for title in ("1. Harbours", "2. Berths", "3. Dues"):
        first.text(72, y, title, 12, "B")
        y = text(first, y + 20)
    first.text(200, y + 60, "Vera Nordby", 12, "B").text(180, y + 73, "Master of the Port", 12, "B")
    last.text(72, 60, "APPENDIX A: REGISTERS", 12, "B")
    text(last, 80)
    assert titles(tmp_path, first, last) == ["1. Harbours", "2. Berths", "3. Dues", "APPENDIX A: REGISTERS"]


def test_an_underlined_line_is_set_off_like_a_bold_one(tmp_path: Path) -> None:
    """Words within a line are underlined too, and rules are longer than the words in a table's head."""
    page, y = Page(), 60.0
    for title, end in (("Berths of the port", 149), ("Dues of vessels", 140), ("Lights at night", 136)):
        page.text(72, y, title).rule(72, y + 2, end, y + 2)
        y = text(page, y + 20)
        page.text(72, y, "The master is told by name.").rule(72, y + 2, 110, y + 2)
        page.text(72, y + 26, "What is due").rule(72, y + 28, 200, y + 28)
        y += 52
    assert titles(tmp_path, page) == ["Berths of the port", "Dues of vessels", "Lights at night"]


def test_front_matter_that_a_contents_list_leaves_out_is_no_heading(tmp_path: Path) -> None:
    """Title page, notes of the publisher, contents, text: the title and the text have headings."""
    cover = Page().text(150, 300, "Rules of the Harbour", 24, "B").text(150, 400, "The Port of Lea", 14, "B")
    notes, y = Page(), 60.0
    for title in ("Keywords", "Trademarks", "Thanks to many"):
        notes.text(72, y, title, 14, "B")
        y = text(notes, y + 20) + 10
    contents = Page().text(72, 60, "Contents", 14, "B")
    body, y = Page(), 60.0
    for n, title in enumerate(("Entry of vessels", "Care of the quay", "Lights at night")):
        contents.text(72, 90 + 20 * n, f"{title} . . . . . . . . . . . . 1", 11)
        body.text(72, y, title, 14, "B")
        y = text(body, y + 20) + 10
    later = [Page() for _ in range(8)]
    for n, page in enumerate(later):
        page.lines(
            72,
            60 + 10 * n,
            tuple(f"{'abcdefgh'[n]}, line {k} of a page of text that goes on" for k in range(9)),
        )
    assert titles(tmp_path, cover, notes, contents, body, *later) == [
        "Rules of the Harbour",
        "Entry of vessels",
        "Care of the quay",
        "Lights at night",
    ]


def test_leaders_of_a_form_are_no_contents_list(tmp_path: Path) -> None:
    body, y = Page(), 60.0
    for title in ("I. Entry of vessels", "II. Care of the quay", "III. Lights at night"):
        body.text(72, y, title, 14, "B")
        y = text(body, y + 20) + 10
    form = Page()
    for n, field in enumerate(("Signature", "Name", "Date", "Telephone")):
        form.text(72, 90 + 30 * n, f"{field}: {'_' * 30}", 11)
    assert len(titles(tmp_path, body, form)) == 3


def test_a_contents_list_without_page_numbers(tmp_path: Path) -> None:
    names = ["Entry", "Quays", "Lights", "Pilots"]
    expected = [
        title for n, name in enumerate(names, 1) for title in (f"{n}. {name}", f"{n}.1 When are {name} open?")
    ]
    contents, body, y = Page().text(72, 60, "What is in it", 14, "B"), [Page(), Page()], 60.0
    for k, title in enumerate(expected):
        contents.text(72, 90 + 15 * k, title, 13 - 4 * (k % 2), "R" if k % 2 else "B")
        y = 60.0 if k == 4 else y
        body[k // 4].text(72, y, title, 13, "B")
        y = text(body[k // 4], y + 18) + 6
    found = convert(tmp_path, contents, *body)
    assert [h.lstrip("# ") for h in headings(found) if h[-1] != "t"] == expected
    assert found.text.count("2.1 When are Quays open?") == 2


def test_a_note_and_a_single_sentence_are_no_headings(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in (
        "Entry of vessels",
        "This text is handed out for comments only.",
        "* With leave of the port",
    ):
        page.text(72, y, title, 14, "B")
        y = text(page, y + 20)
    outline = [(1, "Entry of vessels", 0, 50.0), (1, "This text is handed out for comments only.", 0, None)]
    outline.append((1, "* With leave of the port", 0, None))
    found = convert(tmp_path, page, outline=outline)
    assert headings(found) == ["# Entry of vessels"]


def test_headings_that_are_sentences_throughout(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for who in ("Masters", "Pilots", "Owners", "Crews"):
        page.text(72, y, f"{who} must report to the harbour office.", 14, "B")
        y = text(page, y + 20)
    assert len(titles(tmp_path, page)) == 4


def test_bookmarks_that_name_files_are_no_headings(tmp_path: Path) -> None:
    """Files that were put together: their names are printed nowhere."""
    pages = []
    for title in ("Entry of vessels", "Care of the quay", "Lights at night"):
        page = Page().text(72, 60, title, 16, "B")
        text(page, 90)
        pages.append(page)
    outline = [(1, f"Order re Harbour (rev {n}) - Exhibit", n, 50.0) for n in range(3)]
    found = convert(tmp_path, *pages, outline=outline)
    assert [h.lstrip("# ") for h in headings(found)] == [
        "Entry of vessels",
        "Care of the quay",
        "Lights at night",
    ]


def test_a_title_goes_on_below_a_colon(tmp_path: Path) -> None:
    page = (
        Page().text(150, 60, "Lights at Night:", 22, "B").text(120, 86, "Rules of the Port of Lea", 22, "B")
    )
    page.text(72, 140, "1. Entry", 13, "B")
    text(page, 160)
    assert titles(tmp_path, page)[0] == "Lights at Night: Rules of the Port of Lea"


def test_columns_with_a_narrow_gap_between_them(tmp_path: Path) -> None:
    """Two lines of the left column almost reach the right one, as in sheets with narrow gutters."""
    page = Page()
    for n in range(12):
        left = f"left {n} goes on and on, up to here" + ", just so" * (n in (4, 8))
        page.text(72, 60 + 13 * n, left).text(262, 60 + 13 * n, f"right {n} goes on and on and on here")
    found = convert(tmp_path, page).text
    assert found.index("left 11") < found.index("right 0")


def test_lettered_headings_in_bold(tmp_path: Path) -> None:
    """A guideline: `a) Berths` in the type of the text; items of a list in the text are none, and a single one is none."""
    page, y = Page(), 60.0
    for number, letters in ((1, "ab"), (2, "abc")):
        page.text(72, y, f"{number} RULES OF PART {number}", 14, "B")
        y += 20
        for letter in letters:
            page.text(72, y, f"{letter}) Berths of part {number}", 11, "B")
            y = text(page, y + 20) + 10
    page.text(72, y, "(1) Quays, berths and similar places", 9, "B")
    page.text(72, y + 20, "a) a vessel;").text(72, y + 33, "b) a quay.")
    found = headings(convert(tmp_path, page))
    assert [h.lstrip("# ") for h in found] == [
        *("1 RULES OF PART 1", "a) Berths of part 1", "b) Berths of part 1"),
        *("2 RULES OF PART 2", "a) Berths of part 2", "b) Berths of part 2", "c) Berths of part 2"),
    ]
    assert {h.count("#") for h in found if ")" in h} == {2}


def run_ins(page: Page, y: float, names: tuple[str, ...], mark: str = ".") -> float:
    for n, name in enumerate(names, 1):
        page.text(72, y, f"{n}.").text(88, y, f"{name}{mark}", font="B").text(
            190, y, "The master tells the owner of"
        )
        y = page.lines(72, y + 13, PROSE) + 14
    return y


def test_numbered_titles_that_run_into_their_paragraphs(tmp_path: Path) -> None:
    """A contract: plain numbers, bold titles, and the text behind them."""
    page = Page().text(200, 60, "Agreement on a Berth", 16, "B")
    run_ins(page, 90, ("The berth", "Dues", "Term", "Notice"))
    found = convert(tmp_path, page)
    assert [h.lstrip("# ") for h in headings(found)][1:] == [
        "1. The berth.",
        "2. Dues.",
        "3. Term.",
        "4. Notice.",
    ]
    assert "The master tells the owner of" in found.text


def test_steps_below_decimal_headings_are_no_headings(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for number in ("1.1", "1.2", "1.3"):
        page.text(72, y, f"{number} Part of the harbour", 14, "B")
        y = text(page, y + 20) + 10
    run_ins(page, y, ("Open the gate", "Check the lights", "Close the gate"), ":")
    assert titles(tmp_path, page) == [f"{number} Part of the harbour" for number in ("1.1", "1.2", "1.3")]


def test_defined_words_at_the_beginning_of_numbered_sentences_are_no_titles(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    names = [f"{n} {name}" for n, name in enumerate(("Entry", "Quays", "Lights", "Dues"), 1)]
    for name in names:
        page.text(72, y, name, 14, "B").text(72, y + 20, f"{name[0]}.1").text(92, y + 20, "We", font="B")
        page.text(120, y + 20, "tell the owner of each vessel which berth it is given.")
        y = text(page, y + 33) + 10
    assert titles(tmp_path, page) == names


def test_fields_of_a_form_are_no_headings(tmp_path: Path) -> None:
    page = (
        Page()
        .text(72, 60, "Leave to moor", 16, "B")
        .text(72, 90, "Harbour master: ________________", 12, "B")
    )
    y = text(page, 120)
    page.text(72, y, "Telephone ……………………", 12, "B")
    text(page, y + 20)
    assert titles(tmp_path, page) == ["Leave to moor"]


def test_some_titles_may_end_in_a_colon_and_a_measure_is_none(tmp_path: Path) -> None:
    """A package leaflet: bold titles in the type of the text, some of which introduce a list."""
    page, y = Page(), 60.0
    names = (
        "Before you moor",
        "Boats that must wait:",
        "Lights at night",
        "What to bring:",
        "Leaving the quay",
        "Dues and fees",
        "Waste",
    )
    for name in names:
        page.text(72, y, name, 11, "B")
        y = text(page, y + 18) + 8
    page.text(300, y, "5 m", 11, "B")
    text(page, y + 30)
    assert titles(tmp_path, page) == [name for name in names if name[-1] != ":"]


def test_names_emphasised_in_a_paragraph_are_no_headings(tmp_path: Path) -> None:
    """A judgment with wide lines, which prints the names of cases in bold type, across the ends of lines."""
    page = Page().text(72, 60, "The register", 11, "B")
    y = page.lines(72, 90, PROSE, step=22) + 16
    page.text(72, y, "45. As to the dues that are owed for berths at night, the council cited the cases of")
    page.text(
        72,
        y + 22,
        "The Master of the Port of Northquay v The Owners of the Vessel Halcyon and Others",
        11,
        "B",
    )
    page.text(
        72, y + 44, "and another one, where it was held that the dues of a berth are owed by its owner."
    )
    page.lines(72, y + 80, PROSE, step=22)
    assert titles(tmp_path, page) == ["The register"]


def test_bold_words_that_begin_a_paragraph_and_fill_its_first_line_are_no_heading(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in ("Berths", "Dues", "Lights"):
        page.text(72, y, title, 15, "B")
        page.text(
            72,
            y + 24,
            f"Who decides on {title.lower()}, and who tells the owners of vessels of what was",
            11,
            "B",
        )
        page.text(420, y + 24, "decided", 11, "B")
        page.text(72, y + 37, "by the council?", 11, "B").text(
            150, y + 37, "If it was not the council, say who it was, and when"
        )
        page.text(72, y + 50, "it was decided.")
        y = text(page, y + 70)
    assert titles(tmp_path, page) == ["Berths", "Dues", "Lights"]


def test_a_page_that_mostly_quotes_in_smaller_type_has_no_headings_in_the_usual_one(tmp_path: Path) -> None:
    pages = [Page() for _ in range(4)]
    for page in pages:
        y = 60.0
        for _ in range(7):
            y = page.lines(72, y, PROSE, step=22)
    quoting = Page().text(
        72, 60, "9. The register as it was first kept is of another kind and is named by the council"
    )
    y = quoting.lines(72, 82, PROSE[:3], step=22)
    for _ in range(9):
        y = quoting.lines(100, y + 4, PROSE, size=9, step=11) + 4
    assert titles(tmp_path, *pages, quoting) == []


def test_running_heads_that_name_the_section_of_their_page_are_no_headings(tmp_path: Path) -> None:
    """A code of a town: each page says where it begins and ends. `Article 1` may begin a page in every chapter."""
    sections = ("§ 1-1", "§ 1-1", "§ 1-2", "§ 2-1", "§ 2-1", "§ 2-3", "§ 3-1", "§ 3-1")
    pages = []
    for number, section in enumerate(sections):
        page = Page().text(72, 40, section).text(250, 40, "TOWN CODE" if number % 2 else "OF THE PORT")
        page.text(500, 40, sections[min(number + 1, 7)])
        if number in (0, 3, 6):
            page.text(280, 80, "ARTICLE 1", 11, "B").text(270, 94, "Of berths", 11, "B")
            page.text(72, 120, f"Of the {number} berths, the first is the council's.")
        text(page, 300)
        pages.append(page)
    assert titles(tmp_path, *pages) == ["ARTICLE 1 Of berths"] * 3


def test_notes_in_brackets(tmp_path: Path) -> None:
    """They belong to the heading that they end, and are none themselves; a bookmark leaves them out."""
    page, y = Page(), 60.0
    for number, title in enumerate(("Berths.", "Dues.", "Lights."), 1):
        page.text(
            72, y, f"§ {number}. {title} [Amended 5-29-2013 by the council, approved 10-8-2013;", 11, "B"
        )
        page.text(72, y + 13, "4-3-2015]", 11, "B")
        y = text(page, y + 40)
        page.text(72, y, f"[Added in 200{number} by the council]", 11, "B")
        y = text(page, y + 30)
    outline = [(1, f"§ {n} {title}", 0, None) for n, title in enumerate(("Berths.", "Dues.", "Lights."), 1)]
    note = "[Amended 5-29-2013 by the council, approved 10-8-2013; 4-3-2015]"
    expected = [f"# § {n}. {title} {note}" for n, title in enumerate(("Berths.", "Dues.", "Lights."), 1)]
    assert headings(convert(tmp_path, page, outline=outline)) == expected
    assert headings(convert(tmp_path, page)) == expected


def test_bookmarks_that_are_repeated_count_once(tmp_path: Path) -> None:
    pages = [Page().text(250, 60, "Chapter 1", 14, "B").text(240, 80, "BERTHS", 14, "B"), Page(), Page()]
    for page in pages:
        text(page, 120)
    pages[2].text(72, 60, "Chapter 2: Dues", 14, "B")
    outline = [
        (1, "chapter 1: Berths", 0, None),
        (1, "chapter 1: Berths", 0, None),
        (1, "chapter 1: Berths", 1, None),
    ]
    outline += [(1, "chapter 2: Dues", 2, None)]
    found = [h.casefold() for h in headings(convert(tmp_path, *pages, outline=outline))]
    assert len(found) == 2 and "chapter 1" in found[0] and "chapter 2" in found[1]


def test_a_series_that_begins_anew_between_two_of_another_is_below_it(tmp_path: Path) -> None:
    """Numerals, letters and digits in one type; the last part has letters only, and the appendices too."""
    outline = (
        "I. Port",
        "A. Berths",
        "1. North",
        "2. South",
        "B. Dues",
        "II. Lights",
        "A. Red",
        "B. Green",
        "III. Law",
    )
    page, y = Page(), 50.0
    for title in outline:
        page.text(72, y, title, 11, "B")
        y = text(page, y + 18)
    found = headings(convert(tmp_path, page))
    assert found == [f"{'#' * (1 + (t[0] in 'AB') + 2 * t[0].isdigit())} {t}" for t in outline]


def test_what_has_no_number_is_on_the_level_of_numbers_in_its_type(tmp_path: Path) -> None:
    outline = ("ARTICLE I BERTHS", "DUES OF THE PORT", "ARTICLE II LIGHTS", "GREEN LIGHTS", "ARTICLE III LAW")
    page, y = Page().text(72, 50, "By-laws of the port", 20, "B"), 90.0
    for title in outline:
        page.text(72, y, title, 11, "B")
        y = text(page, y + 18)
    assert headings(convert(tmp_path, page)) == [
        "# By-laws of the port",
        *(f"## {title}" for title in outline),
    ]


def test_a_heading_that_goes_on_in_the_line_below_however_far_it_is(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for title in (
        "Berths of the port and of the",
        "Dues that are owed by the",
        "Lights that are kept by the",
    ):
        page.text(72, y, title, 12, "B").text(72, y + 22, "owners of vessels", 12, "B")
        y = text(page, y + 50)
    assert titles(tmp_path, page) == [
        "Berths of the port and of the owners of vessels",
        "Dues that are owed by the owners of vessels",
        "Lights that are kept by the owners of vessels",
    ]


def test_two_sentences_are_no_heading_beside_smaller_text(tmp_path: Path) -> None:
    """Most letters of an agenda are those of a notice in a box."""
    page = Page()
    y = 60.0
    for _ in range(4):
        y = page.lines(72, y, PROSE, size=8, step=10) + 6
    page.text(72, y + 10, "1. Closed session", 11, "B")
    page.text(
        90, y + 23, "Closed sessions are not open to the public. Anyone who wishes to speak to the council"
    )
    page.text(90, y + 36, "on a matter of a closed session may do so before, as item 2 of the agenda says")
    page.text(72, y + 62, "2. Discussion", 11, "B").text(72, y + 88, "3. Adjournment", 11, "B")
    assert titles(tmp_path, page) == ["1. Closed session", "2. Discussion", "3. Adjournment"]


def test_a_numbered_title_of_two_sentences(tmp_path: Path) -> None:
    page = Page()
    page.text(
        72, 60, "§ 6. Transformation of the equations of berths for empty quays. On the nature", 15, "B"
    )
    page.text(72, 78, "of the dues that are owed by the owner of a vessel during its motion", 15, "B")
    text(page, 110)
    (title,) = titles(tmp_path, page)
    assert title.startswith("§ 6. Transformation") and title.endswith("during its motion")
