"""Numbering that restarts, repeats, jumps or contradicts itself, and texts that were made to do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library
from loccit.model import Converted, Place
from loccit.structure import parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places import find_places
from loccit.structure.places.tree import build_sections

BODY = (
    "The parties act in good faith and do what is needed to give effect to this agreement, as they always have. "
    * 3
)


def sections(text: str) -> list[Place]:
    parsed = find_places(parse(Converted(text, markdown=False)), ".txt")
    found = build_sections(parsed)
    ids = [section.section_id for section in found]
    assert len(ids) == len(set(ids)), "ids are unique"
    extract_clauses(parsed, found)
    return found[1:]


def numbered(titles: str) -> str:
    return "".join(f"{number}. {title}. {BODY}\n\n" for number, title in enumerate(titles.split(), 1))


def test_an_exhibit_that_begins_anew_is_below_its_exhibit() -> None:
    text = (
        f"LOAN AGREEMENT\n\n{numbered('Loan Interest Default')}As Section 2 and Section 3 say.\n\n"
        f"EXHIBIT A\nGUARANTY\n\n{numbered('Guaranty Waiver')}"
    )
    found = [(section.heading, section.level) for section in sections(text)]
    assert [words for words, _ in found][:3] == ["1. Loan", "2. Interest", "3. Default"]
    levels = dict(found)
    assert levels["EXHIBIT A GUARANTY"] < levels["1. Guaranty"] == levels["2. Waiver"]


def test_several_agreements_in_one_file_keep_their_numbers() -> None:
    text = "".join(
        f"{name} AGREEMENT\n\nSection 1. Term. {BODY}\n\nSection 2. Price. See Section 1. {BODY}\n\n"
        f"Section 3. Law. See Section 2. {BODY}\n\n"
        for name in ("FIRST", "SECOND", "THIRD")
    )
    found = [section.heading for section in sections(text)]
    assert found == ["Section 1. Term", "Section 2. Price", "Section 3. Law"] * 3


def test_pages_between_sections_are_no_places() -> None:
    pages = "".join(
        f"Section {n}. Title{chr(64 + n)}. {BODY}\n\n                  -{n}-\n<PAGE>\n\fACME CORP. CREDIT AGREEMENT\n\n"
        for n in range(1, 8)
    )
    assert [section.heading for section in sections(pages)] == [
        f"Section {n}. Title{chr(64 + n)}" for n in range(1, 8)
    ]


@pytest.mark.parametrize("leader", [" ........ ", "      ", "\t"])
def test_a_contents_page_lists_places_and_is_none(leader: str) -> None:
    titles = ["Definitions", "The Loan", "Conditions", "Covenants", "Default"]
    listed = "".join(f"Section {n}. {title}{leader}{n}\n" for n, title in enumerate(titles, 1))
    body = "".join(f"Section {n}. {title}. {BODY}\n\n" for n, title in enumerate(titles, 1))
    found = sections(f"TABLE OF CONTENTS\n\n{listed}\n\n{body}")
    assert [section.title for section in found] == titles
    assert found[0].start > len(listed)


def test_a_contents_page_without_pages_and_one_without_a_body() -> None:
    titles = ["Definitions", "The Loan", "Conditions", "Covenants", "Default", "Law"]
    listed = "".join(f"Section {n}. {title}\n" for n, title in enumerate(titles, 1))
    body = "".join(f"Section {n}. {title}. {BODY}\n\n" for n, title in enumerate(titles, 1))
    assert [section.title for section in sections(f"CONTENTS\n\n{listed}\n{body}")] == titles
    dotted = "".join(f"Section {n}. {title} ........ {n}\n" for n, title in enumerate(titles, 1))
    assert sections(f"CONTENTS\n\n{dotted}") == []


def test_numbers_that_contradict_the_contents_are_doubtful(tmp_path: Path) -> None:
    titles = ["Definitions", "Loan", "Conditions", "Covenants", "Default", "Law"]
    listed = "".join(f"Section {n}. {title} ........ {n}\n" for n, title in enumerate(titles, 11))
    body = "".join(f"Section {n}. {title}. {BODY}\n\n" for n, title in enumerate(titles, 1))
    (tmp_path / "loan.txt").write_text(f"CONTENTS\n\n{listed}\n\n{body}")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        (outline,) = library.outline("loan.txt")
        assert outline.self_check.contents == 6
        assert outline.self_check.doubtful


def test_numbers_that_repeat_or_jump_have_ids_of_their_own(tmp_path: Path) -> None:
    order = [1, 2, 2, 3, 7, 8, 3, 9, 9, 40, 10]
    text = "".join(f"Section {n}. Matter{chr(65 + i)}. {BODY}\n\n" for i, n in enumerate(order))
    assert len(sections(text)) >= 6
    (tmp_path / "odd.txt").write_text(text)
    with Library(tmp_path / "index") as library:
        report = library.index([tmp_path], embed=False)
        assert not report.failed
        assert library.section("Section 2", document="odd.txt").text.startswith("Section 2. Matter")


@pytest.mark.parametrize(
    "text",
    [
        "1." * 500_000,
        "1.1" + "." * 1_000_000 + " Title",
        "Section " + "1" * 1_000_000 + ". Title",
        "Section " + "I" * 1_000_000 + ". Title",
        "\n".join(["A"] * 60_000),
        "\n\n".join(["I."] * 30_000),
        "\n\n".join(["I. Title", "A. Title", "1. Title"] * 8_000),
        "Section 4 (" * 20_000,
        "Section 4, 5, " * 20_000,
        "§" * 1_000_000,
        "(" * 1_000_000,
        " " * 1_000_000 + "1. Title",
        "1. " + "Title " * 200_000,
    ],
    ids=range(13),
)
def test_a_million_characters_of_labels_do_no_harm(text: str) -> None:
    parsed = find_places(parse(Converted(text, markdown=False)), ".txt")
    assert len(parsed.headings) <= 20_000
    assert all(len(heading.text) < 1_000 for heading in parsed.headings)


CLUB = (
    "CHARTER OF THE HARBOUR CLUB\n\n"
    + "".join(
        f"{number}. {title}\n\n  {number}.1. Powers\n\n   The {title.lower()} may\n"
        "    1. buy boats that are fit for the harbour;\n    2. sell boats that are not;\n    3. lend the rest.\n\n"
        f"  {number}.2. Procedure\n\n    1. Votes are counted by hand.\n    2. See §{number}.1(3) for what is lent.\n\n"
        for number, title in enumerate(("Members", "Board", "Officers", "Auditors"), 1)
    )
    + "A. Rules of debate\n\n  A.0. Motions\n\n   They are written down.\n\n  A.1. Speakers\n\n   They stand up.\n\n"
    "  A.2. Votes\n\n   They are counted.\n"
)


def test_lists_below_numbers_of_several_parts_do_not_number_the_document() -> None:
    parsed = find_places(parse(Converted(CLUB, markdown=False)), ".txt")
    found = build_sections(parsed)
    numbers = [label for n in range(1, 5) for label in (f"{n}", f"{n}.1", f"{n}.2")]
    assert [place.label for place in found[1:]] == [*numbers, "A", "A.0", "A.1", "A.2"]
    clauses = {clause.label: clause for clause in extract_clauses(parsed, found)}
    assert CLUB[clauses["2.1(2)"].start :].startswith("2. sell boats")


@pytest.mark.parametrize(
    "label", ["Tikle{}", "རྩ་ཚན་{}པ།", "Tikle {}།"], ids=["joined", "joined and closed", "closed"]
)
def test_a_word_may_be_joined_to_its_number(label: str) -> None:
    text = "KODU\n\n" + "".join(f"{label.format(number)}\n\n{BODY}\n\n" for number in range(1, 9))
    assert [place.heading for place in sections(text)] == [label.format(number) for number in range(1, 9)]


def test_numbers_in_brackets_are_no_pages_where_paragraphs_end_without_a_stop() -> None:
    words = "juq iskay kinsa tawa phisqa soqta qanchis pusaq isqon chunka".split()
    text = "".join(
        f"{word.upper()} ÑIQEN ({number})\n\n{BODY.strip(' .')} {word}\n\n"
        for number, word in enumerate(words, 1)
    )
    assert [place.number for place in sections(f"KODU\n\n{text}")] == [(str(n),) for n in range(1, 11)]


@pytest.mark.parametrize(
    "form", ["Dɔn ŋoo {} {}", "Tsalap {} (art. {}).", "Ku mɛinaan a ku bouhwweelɛ a {} ({})"]
)
def test_the_number_behind_words_that_count_is_that_of_the_part(form: str) -> None:
    words = "toloo veelɛ zaaɓa naan nɔɔlu mɛita mɛiveelɛ mɛizaaɓa mɛinaan puu".split()
    text = "".join(f"{form.format(word, number)}\n\n{BODY}\n\n" for number, word in enumerate(words, 1))
    assert [place.number for place in sections(f"KODU\n\n{text}")] == [(str(n),) for n in range(1, 11)]


def test_running_feet_with_the_same_words_are_no_places() -> None:
    pages = "".join(f"{BODY}\n\nLoan Agreement of the Harbour Bank {number}\n\n" for number in range(1, 12))
    assert not sections(f"LOAN AGREEMENT\n\n{pages}")


@pytest.mark.parametrize("label", ["L-Artiklu {}.", "Rak’ik {}"])
def test_words_may_have_signs_inside(label: str) -> None:
    text = "KODU\n\n" + "".join(f"{label.format(number)}\n\n{BODY}\n\n" for number in range(1, 9))
    assert [place.heading for place in sections(text)] == [
        label.format(number).rstrip(".") for number in range(1, 9)
    ]
