"""Numberings that begin anew inside the places of another, and what only looks like a numbering."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loccit import Library

SENTENCE = (
    "The keeper of the harbour sees to it that every boat has a berth and that the fees are paid in time."
)


@contextmanager
def reading(folder: Path, name: str, text: str) -> Iterator[Library]:
    (folder / name).write_text(text)
    with Library(folder / "index") as library:
        library.index([folder / name], embed=False)
        yield library


def test_numbered_paragraphs_of_articles_are_asked_for_below_them(tmp_path: Path) -> None:
    text = "Act on harbours\n\n" + "".join(
        f"Art. {n} Matters\n\n1) Berth {n} is free.\na) for boats;\nb) for rafts.\n2) {SENTENCE}\n\n"
        for n in range(1, 6)
    )
    with reading(tmp_path, "act.txt", text) as library:
        assert library.section("4(2)").text == f"2) {SENTENCE}"
        assert library.section("3(1)(b)").text == "b) for rafts."
        assert [node.label for node in library.outline("act.txt").pop().nodes] == [
            f"Art. {n}" for n in range(1, 6)
        ]


@pytest.mark.parametrize("annex", ["", "\n### Annex\n\n1. One\n2. Two\n"])
def test_paragraphs_of_a_single_article_are_its_clauses_beside_a_list_in_the_annex(
    tmp_path: Path, annex: str
) -> None:
    text = f"""# Act

### Article 1 Scope

1. This act covers boats, as paragraph 2 provides, see Article 2.

2. {SENTENCE}

### Article 2 Words

A berth is a place where a boat lies.

### Article 3 Fees

Fees are set each year.
{annex}"""
    with reading(tmp_path, "act.md", text) as library:
        assert library.section("Article 1(2)").text == f"2. {SENTENCE}"
        assert library.section("Article 1(2)").section_label == "Article 1(2)"


def test_a_word_before_paragraphs_that_begin_anew_counts_clauses(tmp_path: Path) -> None:
    text = "Order on harbours\n\n" + "".join(
        f"§ {n}. {SENTENCE}\n\nStk. 2. Rule {n}.2 holds in winter.\n\nStk. 3. Rule {n}.3 holds at night.\n\n"
        for n in range(1, 7)
    )
    with reading(tmp_path, "order.txt", text) as library:
        assert library.section("5(3)").text == "Stk. 3. Rule 5.3 holds at night."
        assert library.section("§ 2, stk. 2").section_label == "§ 2(2)"


def test_a_clause_beside_the_label_of_a_heading_is_one(tmp_path: Path) -> None:
    text = "# Act\n\n" + "".join(
        f"## Article {n}. § 1er. Berth {n} is open to all.\n\n1° in May;\n\n2° in June.\n\n§ 2. It closes at ten.\n\n"
        for n in range(1, 5)
    )
    with reading(tmp_path, "act.md", text) as library:
        view = library.section("3(1)")
        assert view.text.startswith("§ 1er. Berth 3 is open to all.") and "closes" not in view.text
        assert library.section("3(1)(2)").text == "2° in June."
        assert library.section("4(2)").text == "§ 2. It closes at ten."


def test_paragraphs_of_a_judgment_have_the_lists_below_them(tmp_path: Path) -> None:
    text = "Smith v Jones\n\n" + "".join(
        f"{n}     Ground {n} is this. {SENTENCE}\n\n(a) The berth was taken.\n\n(b) The fee was paid.\n\n"
        for n in range(1, 15)
    )
    with reading(tmp_path, "judgment.txt", text) as library:
        assert library.section("Section 9").text.startswith("9     Ground 9")
        assert library.section("9(b)").text == "(b) The fee was paid."


def test_inserted_letters_of_any_alphabet_keep_articles_apart(tmp_path: Path) -> None:
    numbers = ["1", "2", "2а", "2б", "3", "4", "5"]
    text = "Закон\n\n" + "".join(
        f"Чл. {n}. (1) Правило {n}. {SENTENCE}\n\n(2) Друго към {n}.\n\n" for n in numbers
    )
    with reading(tmp_path, "zakon.txt", text) as library:
        assert library.section("Чл. 2б").text.startswith("Чл. 2б.")
        assert library.section("2а(2)").text == "(2) Друго към 2а."


def test_a_date_is_no_number_of_a_place(tmp_path: Path) -> None:
    text = "# 19 MARS 2012. - Décret\n\n" + "".join(f"## Article {n}. {SENTENCE}\n\n" for n in range(1, 25))
    with reading(tmp_path, "decret.md", text) as library:
        assert library.section("Article 19").text.startswith("## Article 19.")
        assert library.section("19", document="decret.md").section_label == "Article 19"


def test_lines_of_a_log_are_no_places(tmp_path: Path) -> None:
    text = "\n".join(
        f"Jun {14 + n // 40} 15:{n % 60:02}:01 combo sshd: check pass; user unknown" for n in range(500)
    )
    with reading(tmp_path, "sshd.log.txt", text) as library:
        assert library.outline("sshd.log.txt").pop().nodes == []


def test_subsections_of_an_amended_act_come_alone_under_their_label(tmp_path: Path) -> None:
    text = (
        "# Harbour Fees Act 2011\n\n##### 47. **Fees payable**\n\n**47.**—(1) A fee is paid—\n\n(*a*) on application,\n\n"
        "F15[(*aa*) on renewal, and]\n\n(*b*) every year after that—\n\n(i) in January, or\n\n(ii) in June.\n\n"
        "F16[(2) The harbour board may waive a fee.]\n\n(2A) A waiver is in writing.\n\n##### 6C. **Offences**\n\n"
        "**6C.**—(1) A person who moors without leave commits an offence.\n\n(2) Where—\n\n(*a*) a company moors, and\n\n"
        "(*b*) a director consents,\n\nboth commit it.\n\n(3) The fine is a class A fine.\n\n"
        "##### 13AA. **Register**\n\n**13AA.**—(1) The board keeps a register.\n\nF7[(2) An entry is evidence.]\n"
    )
    labels = {
        "47(1)(aa)": "on renewal",
        "47(1)(b)(ii)": "in June",
        "47(2)": "may waive",
        "47(2A)": "in writing",
        "6C(2)(b)": "a director consents",
        "6C(3)": "class A fine",
        "13AA(2)": "is evidence",
    }
    with reading(tmp_path, "act.md", text) as library:
        for label, words in labels.items():
            view = library.section(label)
            assert (view.section_label, view.exact) == (label, True)
            assert words in view.text and len(view.text) < 60
            assert library.search(f"section {label}").results[0].section_label == label
        assert library.section("13AA").heading.endswith("Register")
