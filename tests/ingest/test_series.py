"""Numberings that no lexicon knows: the document shows them by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import NotFoundError

WORDS = "Text of this part, which goes on for long enough that it is more than a caption or a row of figures."


def library_of(folder: Path, name: str, text: str) -> Library:
    (folder / name).write_text(text, encoding="utf-8")
    library = Library(folder / ".loccit")
    library.index([folder / name], embed=False)
    return library


def has_place(library: Library, reference: str) -> bool:
    try:
        return library.section(reference).exact
    except NotFoundError:
        return False


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ("{} straipsnis. Paskirtis", ["{} straipsnis", "straipsnis {}", "{}"]),
        ("Điều {}. Phạm vi", ["Điều {}", "điều {}", "{}"]),
        ("**Pasal {}**", ["Pasal {}", "{}"]),
        ("Članak {}. – Opseg", ["Članak {}", "{}"]),
        ("### Wāhanga {} – Ngā here", ["Wāhanga {}", "{}"]),
        ("## › {} Model", ["{}", "section {}"]),
        # Vowel signs, words of two parts, numbers behind or before a hyphen, words behind the number.
        ("ข้อ {}", ["ข้อ {}", "{}"]),
        ("Kifungu cha {}.", ["Kifungu cha {}", "{}"]),
        ("Inqaku le-{}", ["Inqaku le-{}", "{}"]),
        ("{}-modda", ["{}-modda", "{}"]),
        ("{}-nci madde", ["{}-nci madde", "{}"]),
        ("Qodobka {} naad", ["Qodobka {} naad", "{}"]),
        ("ਆਰਟੀਕਲ: {}", ["ਆਰਟੀਕਲ: {}", "{}"]),
    ],
)
def test_a_word_or_sign_beside_rising_numbers_names_the_parts(
    tmp_path: Path, form: str, asked: list[str]
) -> None:
    text = "# Rules\n\n" + "".join(
        f"{form.format(number)}\n\n{number}st. {WORDS}\n\n" for number in range(1, 8)
    )
    with library_of(tmp_path, "rules.md", text) as library:
        for number in (1, 4, 7):
            for question in asked:
                place = library.section(question.format(number))
                assert form.format(number).strip("*#› ")[:6] in place.heading
                assert f"{number}st. {WORDS}" in place.text and f"{number + 1}st." not in place.text


def test_a_rarer_word_names_what_contains_them(tmp_path: Path) -> None:
    text = "# Įstatymas\n\n"
    for chapter, numeral in enumerate(("I", "II", "III")):
        text += f"**{numeral} SKYRIUS**\n\n"
        for number in range(3 * chapter + 1, 3 * chapter + 4):
            text += f"**{number} straipsnis. Nuostatos**\n\n{WORDS}\n\n"
    with library_of(tmp_path, "a.md", text) as library:
        second = library.section("II SKYRIUS")
        assert [word in second.text for word in ("4 straipsnis", "6 straipsnis", "7 straipsnis")] == [
            True,
            True,
            False,
        ]
        assert library.section("2 straipsnis").lines != second.lines


@pytest.mark.parametrize(
    "line",
    [
        "Table {}. Yields of the year",
        "{} apples were sold, and more would have been",
        "In {} there was a storm over the whole of the harbour",
        "Round {} went to the visitors",
    ],
)
def test_what_is_no_numbering_makes_no_places(tmp_path: Path, line: str) -> None:
    text = "# Report\n\n" + "".join(
        f"{line.format(number)}\n\n{WORDS}\n\n" for number in (3, 1, 9, 4, 2, 12, 7)
    )
    with library_of(tmp_path, "report.md", text) as library:
        assert not has_place(library, "4")


def test_requirements_in_tables_are_found_by_their_number(tmp_path: Path) -> None:
    text = "# V4 Access Control\n\n"
    for section in (1, 2):
        text += f"## V4.{section} Design\n\n| # | Description | L1 |\n| --- | --- | --- |\n"
        text += (
            "".join(f"| **4.{section}.{n}** | Verify thing {section}-{n}. | x |\n" for n in range(1, 5))
            + "\n"
        )
    with library_of(tmp_path, "v4.md", text) as library:
        for asked in ("4.2.3", "Requirement 4.2.3"):
            place = library.section(asked)
            assert (
                place.text.strip().startswith("| **4.2.3** | Verify thing 2-3.") and "2-4" not in place.text
            )


CODES = [f"TC-{area}-{number:03}" for area in ("API", "LOGIN", "STORE") for number in (1, 2, 3)] + [
    "TC-WEB-001"
]


@pytest.mark.parametrize(
    "form",
    [
        "| {code} | {text} |\n",
        "| [{code}](cases/{code}.md) | {text} |\n",
        "- [ ] **{code}**: {text}\n",
        "* [{code}](#x) {text}\n",
        '<div class="requirement">{code}<span>SHALL</span></div>\n\n{text}\n\n',
    ],
)
def test_codes_of_several_parts_are_found_wherever_they_begin(tmp_path: Path, form: str) -> None:
    text = "# Plan\n\n"
    for code in CODES:
        if form.startswith("|") and code.endswith("001"):
            text += f"\n## Tests {code[3:-4]}\n\n| Case | What it tests |\n|---|---|\n"
        text += form.format(code=code, text=f"the case {code.lower()} {WORDS}")
    with library_of(tmp_path, "plan.md", text) as library:
        for code in CODES:
            place = library.section(code)
            assert place.exact and f"the case {code.lower()}" in place.text


def test_a_list_of_links_to_what_follows_is_no_place(tmp_path: Path) -> None:
    rules = [f"ES.{number}" for number in range(1, 9)]
    text = "# Rules\n\n" + "".join(f"* [{rule}: Do {rule}](#{rule})\n" for rule in rules)
    text += "".join(f"\n### {rule}: Do {rule}\n\n{WORDS}\n" for rule in rules)
    with library_of(tmp_path, "rules.md", text) as library:
        assert all(WORDS in library.section(rule).text for rule in rules)


def test_a_code_of_letters_alone_leads_to_the_heading_that_begins_with_it(tmp_path: Path) -> None:
    text = f"# Rules\n\n## CP.par: Parallelism\n\n{WORDS}\n\n### CP.1: Assume threads\n\n{WORDS}\n"
    with library_of(tmp_path, "rules.md", text) as library:
        assert library.section("CP.par").heading == "CP.par: Parallelism"
        assert not has_place(library, "CP.mess")


def test_a_table_of_figures_has_no_places(tmp_path: Path) -> None:
    rows = "".join(f"| {a}.{b} | value | x |\n" for a, b in ((3, 1), (1, 9), (2, 2), (8, 4), (1, 1)))
    text = f"# Report\n\n| x | y | z |\n| --- | --- | --- |\n{rows}\n{WORDS}\n"
    with library_of(tmp_path, "report.md", text) as library:
        assert not has_place(library, "2.2")


def test_rules_with_codes_are_found_with_what_is_below_them(tmp_path: Path) -> None:
    text = (
        "# Regulations\n\n## Article 1: Officials\n\n- 1a) A delegation.\n- 1b) Responsibilities:\n    - 1b1) Reporting.\n"
        "    - 1b2) Ensuring.\n- 1c) Judges.\n\n## Article A: Solving\n\n- A1) Regulations:\n    - A1a) Timer.\n"
        "    - A1b) Mat.\n- A2) Scrambling:\n    - A2a) Scrambler.\n    - A2b) Once.\n"
    )
    with library_of(tmp_path, "rules.md", text) as library:
        assert "1b2) Ensuring." in library.section("1b").text and "1c)" not in library.section("1b").text
        for asked in ("A2a", "A2a)", "Regulation A2a"):
            assert library.section(asked).text.strip().endswith("A2a) Scrambler.")


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ("{}. člen\n", ["{}. člen", "{} člen", "{}"]),
        ("มาตรา {} พระราชา\n", ["มาตรา {}", "{}"]),
        ("{}.¹ pants. Tiesības\n", ["{}.¹ pants"]),
        ("IR-{} Incident Handling\n\n", ["IR-{}", "ir-{}"]),
        ("Goal {}: Know Your Duties\n\n", ["Goal {}"]),
        ("**R{}: Use the rope**\n\n", ["R{}"]),
    ],
)
def test_lines_set_in_plain_type_are_places_by_their_order(
    tmp_path: Path, form: str, asked: list[str]
) -> None:
    text = "Rules of the harbour\n\n" + "".join(
        f"{form.format(number)}{number}st. {WORDS}\n\n" for number in range(1, 8)
    )
    with library_of(tmp_path, "rules.md", text) as library:
        for number in (1, 4, 7):
            for question in asked:
                place = library.section(question.format(number))
                assert f"{number}st. {WORDS}" in place.text and f"{number + 1}st." not in place.text


def test_roman_heads_in_plain_type_are_headings_beside_headings_of_the_format(tmp_path: Path) -> None:
    text = "# Guidance\n\n" + "".join(
        f"{numeral}. {title}\n\n{WORDS} {WORDS}\n\n"
        for numeral, title in (("I", "INTRODUCTION"), ("II", "BACKGROUND"), ("III", "DISCUSSION"))
    )
    with library_of(tmp_path, "guidance.md", text + f"## Annex of words\n\n{WORDS}\n") as library:
        (outline,) = library.outline("guidance.md")
        inner = outline.nodes[0].children
        assert [node.label for node in inner] == ["I", "II", "III", ""]


def test_a_heading_among_numbered_paragraphs_does_not_hide_them(tmp_path: Path) -> None:
    paragraphs = [f"{number}. The court heard point {number}. {WORDS}" for number in range(1, 21)]
    paragraphs[11] = "# 12. The Convention provides:"
    text = "# Judgment\n\nJane Doe v Harbour Board\n\n" + "\n\n".join(paragraphs) + "\n"
    with library_of(tmp_path, "judgment.md", text) as library:
        for number in (3, 11, 13, 20):
            assert f"point {number}." in library.section(str(number)).text


def test_a_contents_list_is_not_taken_for_what_it_lists(tmp_path: Path) -> None:
    titles = ["Accounting Terms", "Term Loan", "Default Rate", "Prepayments", "Taxes"]
    listed = "".join(
        f"2.{number}\n\n\n{title}.\n\n{number + 7}\n\n\n" for number, title in enumerate(titles, 1)
    )
    body = "".join(f"2.{number}  {title}. {WORDS} {number}th\n\n" for number, title in enumerate(titles, 1))
    with library_of(tmp_path, "loan.txt", f"LOAN\n\nSECTION 2\n\n{listed}\nSECTION 2\n\n{body}") as library:
        assert "4th" in library.section("2.4").text


@pytest.mark.parametrize("form", ["{}", "{}.", "Mellad nav ({})"])
def test_numbers_on_lines_of_their_own_number_the_parts(tmp_path: Path, form: str) -> None:
    text = "Diskleriadur\n\n" + "".join(
        f"{form.format(n)}\n\nMatter {n}th. {WORDS}\n\n" for n in range(1, 13)
    )
    with library_of(tmp_path, "a.txt", text) as library:
        for number in (1, 7, 12):
            place = library.section(str(number))
            assert (
                place.exact
                and f"Matter {number}th." in place.text
                and f"Matter {number + 1}th" not in place.text
            )


def test_numbers_of_pages_number_no_parts(tmp_path: Path) -> None:
    text = "The harbour\n\n" + "".join(
        f"{WORDS} {WORDS} And so it went on through\n\n{page}\n\nthe whole of that year.\n\n"
        for page in range(1, 20)
    )
    with library_of(tmp_path, "book.txt", text) as library:
        assert not any(outline.nodes for outline in library.outline("book.txt"))


def test_captions_number_no_parts(tmp_path: Path) -> None:
    text = "# Report\n\n" + "".join(f"TABLE D-{n}: FEES OF PIER {n}\n\n{WORDS}\n\n" for n in range(1, 8))
    with library_of(tmp_path, "report.md", text) as library:
        assert not library.outline("report.md")[0].nodes[0].children


def test_a_part_of_a_place_whose_word_is_behind_its_number_is_not_another_place(tmp_path: Path) -> None:
    text = "# Закон\n\n" + "".join(
        f"{n}-статья\n\n(1) Первое правило {n}. {WORDS}\n\n(2) Второе правило {n}. {WORDS}\n\n"
        for n in range(1, 8)
    )
    with library_of(tmp_path, "law.txt", text) as library:
        assert "Второе правило 6." in library.section("6-статья(2)").text


def test_codes_with_letters_behind_their_numbers_label_each_heading(tmp_path: Path) -> None:
    text = "# Baseline\n\n" + "".join(
        f"## {n}. Area {n}\n\n"
        + "".join(f"### MS.AAD.{n}.{k}v1\n\nAccounts of sort {n}{k} are blocked. {WORDS}\n\n" for k in (1, 2))
        + "".join(
            f"### MS.AAD.{n}.{k}v1 Instructions\n\nWhoever blocks sort {n}{k} signs in. {WORDS}\n\n"
            for k in (1, 2)
        )
        for n in range(1, 5)
    )
    with library_of(tmp_path, "baseline.md", text) as library:
        assert "sort 32 are blocked" in library.section("MS.AAD.3.2v1").text
        area = library.outline("baseline.md")[0].nodes[0].children[2]
        assert [node.label for node in area.children] == [f"MS.AAD.3.{k}v1" for k in (1, 2, 1, 2)]


def test_codes_that_begin_like_an_abbreviated_word_are_not_cut(tmp_path: Path) -> None:
    text = "# APP.1.2: Webbrowser\n\n" + "".join(
        f"## APP.1.2.A{n} Schutz {n}\n\n{WORDS}\n\n" for n in range(1, 6)
    )
    with library_of(tmp_path, "app.md", text) as library:
        place = library.section("APP.1.2.A4")
        assert place.heading == "APP.1.2.A4 Schutz 4" and place.section_label == "APP.1.2.A4"


def test_a_first_part_that_is_counted_in_a_word_is_found(tmp_path: Path) -> None:
    labels = ["Tikle kikli", *(f"Tikle {number}" for number in range(2, 8))]
    text = "MMLA\n\n" + "".join(f"{label}\n\n{n}st. {WORDS}\n\n" for n, label in enumerate(labels, 1))
    with library_of(tmp_path, "rules.txt", text) as library:
        for question in ("Tikle kikli", "Tikle 1"):
            assert library.section(question).text.strip().endswith(f"1st. {WORDS}")


def test_verses_are_places_and_times_are_none(tmp_path: Path) -> None:
    verses = "\n".join(f"{chapter}:{verse} {WORDS}" for chapter in range(1, 5) for verse in range(1, 12))
    times = "\n".join(f"10:{minute} ann: {WORDS}" for minute in range(11, 50))
    hours = "\n".join(f"{hour}:00 {WORDS}" for hour in range(8, 19))
    (tmp_path / "chat.txt").write_text(times, encoding="utf-8")
    (tmp_path / "agenda.txt").write_text(hours, encoding="utf-8")
    with library_of(tmp_path, "book.txt", f"THE BOOK\n\n{verses}\n") as library:
        library.index([tmp_path / "chat.txt", tmp_path / "agenda.txt"], embed=False)
        place = library.section("3:7", document="book.txt")
        assert place.exact and place.text == f"3:7 {WORDS}"
        for document in ("chat.txt", "agenda.txt"):
            assert not any(library.outline(document, clauses=True)[0].nodes)
