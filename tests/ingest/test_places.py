from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.model import Converted, Place
from loccit.structure import Parsed, parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places import find_places
from loccit.structure.places.chain import Step, best_chain, number_key
from loccit.structure.places.tree import build_sections
from loccit.structure.quotations import quotations

TYPED = """LEASE

ARTICLE I
DEFINITIONS

1.1 "Rent" means the sum due.

ARTICLE II - RENT

2.1 The tenant pays monthly.

2.2 Late rent:

(a) bears interest; and

(b) may end the lease.

EXHIBIT A

A plan of the house.
"""

WRAPPED = """                           CREDIT AGREEMENT

                          TABLE OF CONTENTS

                                                             Page
ARTICLE I   DEFINITIONS......................................   1
Section 1.01  Defined Terms..................................   1
Section 1.02  Other Rules....................................   2
ARTICLE II  THE LOANS........................................   3
Section 2.01  Commitments....................................   3
Section 2.02  Repayment......................................   4

                              ARTICLE I

                             DEFINITIONS

     Section 1.01  Defined Terms.  Words in capitals have the meaning that
Section 2.02 gives them, except as
Section 2.01 or 2.02 provides otherwise; see
Section 2.01.

     Section 1.02  Other Rules.  The singular includes the plural.

                                  -1-
<PAGE>   2
                              ARTICLE II

                              THE LOANS

     Section 2.01  Commitments.  Each Lender lends

          (a)  on the first day; and

          (b)  on the last.

     Section 2.02  Repayment.  The Borrower repays all of it under
1.02 of the Notes.
"""

RFC = """Network Working Group                                          A. Writer
Request for Comments: 9999                                    March 2021


                     The Harbour Light Protocol

Abstract

   Lights talk to each other.

Table of Contents

   1. Introduction ....................................................2
      1.1. Terms ......................................................2
   2. Messages ........................................................3
   3. Security Considerations .........................................3
   Appendix A. Examples ...............................................4
      A.1. A Short One ................................................4

1.  Introduction

   A light does three things:

   1.  It shines.

   2.  It blinks.

   3.  It says what it saw.

1.1.  Terms

   A lamp is a light.




Writer                       Informational                      [Page 2]

RFC 9999                     Harbour Lights                   March 2021


2.  Messages

   There are two messages, see Section 3.

3.  Security Considerations

   None.

Appendix A.  Examples

A.1.  A Short One

   Blink.
"""


def read(text: str, *, markdown: bool = False, file_type: str = ".txt") -> Parsed:
    return find_places(parse(Converted(text, markdown=markdown)), file_type)


def sections(text: str, *, markdown: bool = False, file_type: str = ".txt") -> list[Place]:
    return build_sections(read(text, markdown=markdown, file_type=file_type))[1:]


def test_a_contract_typed_without_styles_has_structure() -> None:
    parsed = read(TYPED)
    found = build_sections(parsed)
    assert [(s.label, s.title, s.level) for s in found[1:]] == [
        ("ARTICLE I", "DEFINITIONS", 1),
        ("ARTICLE II", "RENT", 1),
        ("EXHIBIT A", "", 1),
    ]
    labels = [clause.label for clause in extract_clauses(parsed, found)]
    assert labels == ["1.1", "2.1", "2.2", "2.2(a)", "2.2(b)"]
    assert "".join(TYPED[block.start : block.end] for block in parsed.blocks) == TYPED


def test_a_filed_contract_has_places_where_its_contents_page_says() -> None:
    found = sections(WRAPPED)
    assert [(s.label, s.title) for s in found] == [
        ("ARTICLE I", "DEFINITIONS"),
        ("Section 1.01", "Defined Terms"),
        ("Section 1.02", "Other Rules"),
        ("ARTICLE II", "THE LOANS"),
        ("Section 2.01", "Commitments"),
        ("Section 2.02", "Repayment"),
    ]
    by_label = {s.label: s for s in found}
    assert [s.parent for s in found] == [0, 1, 1, 0, 4, 4]
    lines = WRAPPED.splitlines()
    assert (
        lines[by_label["Section 2.01"].lines.first - 1].strip().startswith("Section 2.01  Commitments.  Each")
    )
    assert WRAPPED[by_label["Section 1.02"].body :].strip().startswith("The singular includes")


def test_an_rfc_has_the_sections_of_its_contents_page_and_no_others() -> None:
    found = sections(RFC)
    assert [s.heading for s in found] == [
        "1. Introduction",
        "1.1. Terms",
        "2. Messages",
        "3. Security Considerations",
        "Appendix A. Examples",
        "A.1. A Short One",
    ]
    assert [s.level for s in found] == [1, 2, 1, 1, 1, 2]


def numbered_report(listed: str, body: str) -> list[str]:
    """The headings of a report with a contents page of three sections and what is put in."""
    text = (
        "A Report\n\nTable of Contents\n\n   1.  Introduction  . . . . . . . . . . .  2\n"
        "   2.  Messages  . . . . . . . . . . . . .  3\n   3.  Security Considerations . . . . . .  4\n"
        f"{listed}\n\n1.  Introduction\n\n   This is a report.\n\n2.  Messages\n\n   Messages are sent.\n\n"
        f"3.  Security Considerations\n\n   There are some.\n\n{body}"
    )
    return [s.heading for s in sections(text)]


SECTIONS = ["1. Introduction", "2. Messages", "3. Security Considerations"]


def test_letters_that_the_contents_page_lists_are_places() -> None:
    found = numbered_report(
        "   A.  Scenarios . . . . . . . . . . . . .  5\n   B.  Source Routes . . . . . . . . . . .  6\n",
        "A.  Scenarios\n\n   One may think of many.\n\nA. Author wrote them down.\n\nB.  Source Routes\n\n   None.\n",
    )
    assert found == [*SECTIONS, "A. Scenarios", "B. Source Routes"]


def test_lists_are_no_places_where_the_contents_page_lists_the_numbers_elsewhere() -> None:
    steps = (
        "   1.  Let X be the Key\n\n   2.  Let Y be the Sum\n\n   3.  Send Both\n\n   40  Reserved Numbers\n"
    )
    assert numbered_report("", f"Appendix A.  Key Wrap\n\n{steps}") == [*SECTIONS, "Appendix A. Key Wrap"]


def test_an_entry_without_room_for_dots_is_one() -> None:
    title = "The Names and Numbers of All Messages that Anybody Sends"
    found = numbered_report(f"   4.  {title}  . 4\n", f"4.  {title}\n\n   Many.\n")
    assert found == [*SECTIONS, f"4. {title}"]


def test_titles_may_begin_with_a_small_letter_or_a_quotation_mark() -> None:
    body = '3.1.  f8 Keystream Generation\n\n   Streams.\n\n3.2.  "*-type" Subfields\n\n   Types.\n'
    assert numbered_report("", body) == [*SECTIONS, "3.1. f8 Keystream Generation", '3.2. "-type" Subfields']


def test_what_a_list_of_figures_counts_is_no_heading() -> None:
    names = ("Acknowledgements", "Figure 1: Berths", "Figure 2: Lights")
    listed = "\n".join(f"   {name}  . . . . . . . . . . .  {n}" for n, name in enumerate(names, 5))
    body = "".join(f"{name}\n\n   There is one.\n\n" for name in names)
    assert numbered_report(listed, body) == [*SECTIONS, "Acknowledgements"]


def test_a_list_that_is_repeated_is_no_contents_page() -> None:
    parts = "".join(f"{n}. Vessel {n} of Steel\n\n" for n in range(1, 7))
    body = "".join(f"{n}. Duty {n}. The supplier shall do what section {n} says.\n\n" for n in range(1, 9))
    found = sections(f"SUPPLY AGREEMENT\n\n{body}EXHIBIT A\n\n{parts}EXHIBIT B\n\n{parts}")
    assert [s.label for s in found][:8] == [str(n) for n in range(1, 9)]


QUAY_TITLES = ["Moorings", "Fees of boats", "Appeals against a fee", "Lost property"]


@pytest.mark.parametrize("label", ["Section {}. ", "§ {} ", "Chapter {}: ", "Article {} — "])
@pytest.mark.parametrize(("before", "heading"), [("", ""), ("- *", ""), ("", "## "), ("- ", "## ")])
@pytest.mark.parametrize("titles", [QUAY_TITLES[:2], QUAY_TITLES])
def test_a_short_list_of_the_places_that_follow_makes_no_places(
    label: str, before: str, heading: str, titles: list[str]
) -> None:
    named = [f"{label.format(number)}{title}" for number, title in enumerate(titles, 1)]
    listed = "\n".join(f"{before}{line}{'*' if '*' in before else ''}" for line in named)
    body = "\n\n".join(f"{heading}{line}\n\nWhoever moors here shall heed the notices." for line in named)
    text = f"{heading and '# '}Rules of the Quay\n\n{listed}\n\nThe council decides:\n\n{body}\n"
    found = [place for place in sections(text, markdown=bool(heading)) if place.label]
    assert [place.title for place in found] == titles
    assert all("Whoever moors" in text[place.body : place.end] for place in found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["Scope", "Fees"], ["Scope of the schedule", "Fees of tugs"]),
        (["Boats pay by length.", "Rafts pay nothing."], ["Boats pay by length.", "Rafts pay nothing."]),
        (["Scope\n\nIt holds for boats.", "Fees"], ["Scope\n\nIt holds for rafts.", "Fees\n\nNone."]),
    ],
)
def test_sections_that_an_annex_has_too_are_places(first: list[str], second: list[str]) -> None:
    groups = [
        "\n\n".join(f"Section {n}. {text}" for n, text in enumerate(texts, 1)) for texts in (first, second)
    ]
    text = "RULES OF THE QUAY\n\n" + "\n\n".join(groups) + "\n"
    found = sections(text)
    assert [place.label for place in found][:2] == ["Section 1", "Section 2"]
    assert found[0].start == text.index("Section 1")


def test_lists_that_count_ones_alone_are_no_places() -> None:
    items = "1. Boats pay by length.\n   1. Rafts pay nothing;\n   1. Ferries pay twice.\n1. Fees are due at once.\n"
    text = "".join(f"## {title}\n{items}\n" for title in QUAY_TITLES)
    assert [place.heading for place in sections(f"# Rules\n\n{text}", markdown=True)] == [
        "Rules",
        *QUAY_TITLES,
    ]


def test_run_in_titles_end_where_the_text_begins() -> None:
    text = "AGREEMENT\n\n4.1 Fees. The customer pays.\n\n4.2 **Taxes.** The customer pays these too.\n\n**4.3** ***Late payment***\n\nInterest runs.\n\n4.4 The customer may not set off.\n"
    found = sections(text, markdown=True)
    assert [(s.label, s.title) for s in found] == [
        ("4.1", "Fees"),
        ("4.2", "Taxes"),
        ("4.3", "Late payment"),
        ("4.4", ""),
    ]
    assert text[found[0].body : found[0].end].strip() == "The customer pays."


UNDERLINED = """                         LOAN AGREEMENT

This Agreement is made on 3 May 2019 between the parties named
below, who agree as follows about the loan and its use.

Purpose of the Loan
===================

General
-------

The borrower shall use the loan for the purchase of the vessel and
for no other purpose without consent of the lender.

Name       Sum
--------------
Ann        100
Ben        200

Repayment
=========

The loan is repaid in ten parts, each on the first day of a month.
"""

CENTRED = """                          BYLAWS OF THE
                         HARBOUR SOCIETY

                             Members

     Any person who has paid the yearly fee is a member of the
society, and remains so until the end of the year for which the
fee was paid.

                        Meetings of Members

     Members meet once a year in the month of March, at the place
that the board names in its notice, which is sent four weeks
before the day of the meeting.

                              - 2 -

                             OFFICERS

     The officers are a president, a treasurer and a secretary,
who are elected for two years by the members at their meeting.
"""


def test_titles_without_numbers_are_told_by_the_rule_below_or_the_middle_of_the_page() -> None:
    assert [(s.heading, s.level, s.lines.first) for s in sections(UNDERLINED)] == [
        ("Purpose of the Loan", 1, 6),
        ("General", 2, 9),
        ("Repayment", 1, 20),
    ]
    assert [(s.heading, s.level, s.lines.first) for s in sections(CENTRED)] == [
        ("Members", 1, 4),
        ("Meetings of Members", 1, 10),
        ("OFFICERS", 1, 18),
    ]
    once = CENTRED.replace("                             Members\n", "").replace("OFFICERS", "- 3 -")
    assert sections(once) == []


def test_lists_of_an_article_are_its_clauses_whatever_the_text_refers_to() -> None:
    text = """# Soil Act

## Article 1 Object

Soil is kept fertile, as Article 2 and Article 3 say.

## Article 2 Definitions

1. "holder" means the person who farms the land;
2. "agency" means the office that Article 4 names;
3. "seed" means what is sown.

## Article 3 Duties

1. The holder keeps the soil covered.
2. The agency may look at the land.
"""
    parsed = read(text, markdown=True, file_type=".md")
    found = build_sections(parsed)
    assert [s.label for s in found[2:]] == ["Article 1", "Article 2", "Article 3"]
    labels = [clause.label for clause in extract_clauses(parsed, found)]
    assert labels == [f"Article {n}({m})" for n, most in ((2, 3), (3, 2)) for m in range(1, most + 1)]


def test_a_short_sentence_makes_no_title_of_a_clause() -> None:
    text = """# Lease

## 1. Terms

1.1 In this lease:

- “Rent” means the sum due.

1.2 Headings do not affect the meaning. They help the reader.
"""
    found = sections(text, markdown=True, file_type=".md")
    assert [s.label for s in found[1:]] == ["1"]


def test_numbered_paragraphs_of_a_word_file_are_places() -> None:
    text = "# Service Agreement\n\n1. **Services**\n\n1.1 The provider serves.\n\n1.2 The customer helps.\n\n2. **Fees**\n\nThe customer pays.\n"
    parsed = read(text, markdown=True, file_type=".docx")
    found = build_sections(parsed)
    assert [(s.label, s.title, s.level) for s in found[1:]] == [
        ("", "Service Agreement", 1),
        ("1", "Services", 2),
        ("2", "Fees", 2),
    ]
    assert [clause.label for clause in extract_clauses(parsed, found)] == ["1.1", "1.2"]


def test_clauses_between_numbered_headings_are_places() -> None:
    text = "# 1. Definitions\n\nWords.\n\n# 2. Grant\n\nYou grant a licence.\n\n3. You say that you may grant it.\n\nAll of it.\n\n# 4. Support\n\nThere is none:\n\n1. by day;\n\n2. by night.\n\n5. You tell us what changes.\n"
    found = sections(text, markdown=True, file_type=".docx")
    assert [s.label for s in found] == ["1", "2", "3", "4", "5"]
    assert "by night" in text[found[3].start : found[3].end]


def test_a_list_that_reaches_the_next_number_is_no_place() -> None:
    text = "# 1. Opening\n\nDo this:\n\n1. Turn off the power.\n\n2. Open the case.\n\n3. Look inside.\n\n# Closing\n\nShut it.\n"
    found = sections(text, markdown=True, file_type=".docx")
    assert [s.heading for s in found] == ["1. Opening", "Closing"]


def test_a_clause_behind_a_heading_without_a_number_is_found() -> None:
    text = "# 3. Terms\n\n3.1 Work begins at once.\n\n3.2 It may take longer in case of:\n\n## more work,\n\n## bad weather.\n\n3.3 The parties write down what they change.\n\n# 4. Fees\n\n4.1 None.\n"
    parsed = read(text, markdown=True, file_type=".docx")
    found = build_sections(parsed)
    labels = {s.label: s for s in found[1:]} | {c.label: c for c in extract_clauses(parsed, found)}
    assert text[labels["3.3"].start :].startswith("3.3 The parties")


def test_a_number_and_its_first_part_on_one_line_are_two_steps() -> None:
    text = "AGREEMENT\n\n2.1 Title. Fees are due.\n\n2.2 (a) The company pays rent.\n\n(b) It pays tax.\n\n2.3 Notices. In writing.\n"
    assert [s.label for s in sections(text)] == ["2.1", "2.2", "2.3"]
    parts = "CODE\n\n2.1 Scope. All.\n\n2.2 (a) First part.\n\n2.2 (b) Second part.\n\n2.3 End. Done.\n"
    found = read(parts)
    places = build_sections(found)
    assert [place.label for place in places[1:]] == ["2.1", "2.2", "2.3"]
    assert [clause.label for clause in extract_clauses(found, places)] == ["2.2(a)", "2.2(b)"]


def test_a_label_and_its_title_as_two_headings_are_one_place() -> None:
    text = "# Regulation\n\n## Article 1\n\n## Subject matter\n\nRules.\n\n## Article 2\n\n## Scope\n\nAll.\n"
    found = sections(text, markdown=True)
    assert [(s.label, s.title) for s in found[1:]] == [
        ("Article 1", "Subject matter"),
        ("Article 2", "Scope"),
    ]


REGULATION = [
    ("Article 1", "Subject-matter and objectives"),
    ("Article 2", "Territorial scope"),
    ("Article 3", "Rules for the processing of data by small bodies"),
    ("Article 4", "Definitions"),
]


@pytest.mark.parametrize("markdown", [True, False])
def test_titles_stand_below_labels_where_most_labels_have_one(markdown: bool) -> None:
    blank, mark = ("\n\n", "## ") if markdown else ("\n", "")
    text = "".join(
        f"{mark}{label}{blank}{title}{blank}1. This Regulation applies.\n\n2. It does so at once.\n\n"
        for label, title in REGULATION
    )
    assert [(s.label, s.title) for s in sections(text, markdown=markdown)] == REGULATION


def test_text_below_a_label_is_no_title() -> None:
    texts = [
        "All are equal before the law.",
        "No one may be held in slavery.",
        "Everyone has the right to life.",
    ]
    text = "".join(f"## Article {n}\n\n{words}\n\n" for n, words in enumerate(texts, 1))
    assert [s.title for s in sections(text, markdown=True)] == ["", "", ""]


def test_articles_of_a_brazilian_act_are_places_and_their_paragraphs_are_not() -> None:
    text = "".join(
        f"**Art. {n}** {mark} A concessão de serviço público depende de lei.\n\n§ 1º Não se aplica.\n\n§ 2º Aplica-se.\n\n"
        for n, mark in [(1, "**o**"), (2, "**o**"), (3, "**o**"), (10, "."), (11, ".")]
    )
    numbers = [s.number for s in sections(f"# Lei\n\n{text}", markdown=True)]
    assert numbers == [(), ("1",), ("2",), ("3",), ("10",), ("11",)]


def test_rules_with_letters_are_places() -> None:
    rules = "".join(f"   104.{n}{letter} {text}\n\n" for n, letter, text in [
        (1, ".", "A game ends when a player wins."), (2, ".", "There are several ways to win."),
        (2, "a", "A player wins if all others have left."), (2, "b", "An effect may say so."),
        (3, ".", "There are several ways to lose."), (3, "a", "A player may concede."),
    ])  # fmt: skip
    found = sections(
        f"RULES\n\n103. Starting the Game\n\n   103.1. Shuffle.\n\n104. Ending the Game\n\n{rules}"
    )
    assert {"104.2a", "104.2b", "104.3a"} <= {s.label for s in found}


@pytest.mark.parametrize(
    "text",
    [
        "Article 5 shall apply to all.\n\nArticle 6 shall not apply.\n",
        "Section 4 of the act was repealed in 1990.\n\nPart of the work is done.\n",
        "1. Turn off the power.\n\n2. Open the case.\n",
        "ARTICLE I\n\nOne label alone is no structure.\n",
        "Chapter 1 was long; chapter 2 was longer,\n\nand so on.\n",
        "He came in\n2008, and left in\n2009.\n",
        "Of 300 people\n12 fell ill and\n13 did not.\n",
    ],
)
def test_prose_and_steps_are_no_places(text: str) -> None:
    assert not read(text).headings


def test_steps_below_the_headings_of_a_manual_are_no_places() -> None:
    steps = "\n\n1. Turn off the power.\n\n2. Open the case.\n\n3. Take out the battery.\n\n"
    text = f"# Manual\n\n## Opening{steps}## Closing{steps}## Cleaning{steps}"
    assert [s.heading for s in sections(text, markdown=True)] == ["Manual", "Opening", "Closing", "Cleaning"]


numbers = st.lists(st.lists(st.integers(0, 30).map(str), min_size=1, max_size=4), max_size=60)


@given(numbers, st.data())
def test_a_chain_goes_forward_and_never_visits_twice(parts: list[list[str]], data: st.DataObject) -> None:
    worth = st.floats(-3, 4, allow_nan=False)
    steps = [Step(number_key(part), data.draw(worth)) for part in parts]
    chain = best_chain(steps)
    assert chain == sorted(set(chain))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.lists(st.integers(0, 40), max_size=10))
def test_a_whole_numbering_is_found_among_stray_numbers(sizes: list[int], strays: list[int]) -> None:
    lines: list[tuple[str, ...]] = [
        line
        for n, size in enumerate(sizes, 1)
        for line in [(str(n),), *((str(n), str(m)) for m in range(1, size + 1))]
    ]
    steps = [(line, 1.5) for line in lines]
    for place in strays:
        steps.insert(min(place, len(steps)), (("99", str(place)), -1.0))
    chain = best_chain([Step(number_key(number), worth) for number, worth in steps])
    assert [steps[index][0] for index in chain] == lines


@given(st.text(alphabet="1234.()§ab \nSection", max_size=400))
def test_any_text_is_tiled_and_its_places_are_in_order(text: str) -> None:
    parsed = read(text)
    assert "".join(text[b.start : b.end] for b in parsed.blocks) == text
    starts = [heading.start for heading in parsed.headings]
    assert starts == sorted(starts)
    assert all(heading.start < heading.body <= len(text) for heading in parsed.headings)


def test_a_document_bears_out_its_places(tmp_path: Path) -> None:
    text = WRAPPED.replace("1.02 of the Notes", "Section 2.01 and Section 1.01")
    (tmp_path / "credit.txt").write_text(text)
    (tmp_path / "muddle.txt").write_text(
        "MUDDLE\n\nSection 1. First. See Section 3.4, Section 2.7 and Section 5.1.\n\n"
        "Section 2. Second. As Sections 4.1, 3.9 and 4.2 say, and under Section 1.\n\n"
        "Section 5. Fifth. Nothing.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        (credit,) = library.outline("credit.txt")
        assert (credit.self_check.contents, credit.self_check.contents_found) == (6, 6)
        assert credit.self_check.share == 1.0
        (muddle,) = library.outline("muddle.txt")
        assert muddle.self_check.doubtful
        assert str(muddle.self_check) == "1 of 7 references, 3 of 5 numbered lines"
        assert [Path(path).name for path in library.status().doubtful] == ["muddle.txt"]
        assert any(
            check.name == "places" and "contradict" in check.detail for check in library.doctor().checks
        )

        sure = library.search("Section 2.01 of credit", top_k=1)
        unsure = library.search("Section 2 of muddle", top_k=1)
        assert not sure.results[0].uncertain
        assert unsure.results[0].uncertain
        assert "Second" not in unsure.results[0].location
        assert "line" in unsure.results[0].location
        assert "Uncertain: " in unsure.results[0].format()
        assert unsure.confidence < sure.confidence
        assert library.section("Section 2", document="muddle.txt").uncertain


def test_section_2_is_what_is_printed_as_2_0(tmp_path: Path) -> None:
    (tmp_path / "format.txt").write_text(
        "1.0 Introduction\n----------------\n\n1.1 Purpose\n\nFiles are kept.\n\n"
        "2.0 Revisions\n-------------\n\n2.1 First\n\nThe first of them.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        assert library.section("Section 2", document="format.txt").lines.first == 8
        assert library.section("2.0", document="format.txt").lines.first == 8
        (outline,) = library.outline("format.txt")
        assert [node.heading for node in outline.nodes] == ["1.0 Introduction", "2.0 Revisions"]
        assert [child.heading for node in outline.nodes for child in node.children] == [
            "1.1 Purpose",
            "2.1 First",
        ]


def test_a_heading_has_the_number_that_its_text_repeats() -> None:
    text = "".join(
        f"##### {number.rstrip('AB')}. **{title}.**\n\n**{number}.**—(1) The board meets.\n\n(2) It reports.\n\n"
        for number, title in (
            ("9", "Board"),
            ("10", "Chief"),
            ("10A", "Committee"),
            ("10B", "Audit"),
            ("11", "Staff"),
        )
    )
    parsed = find_places(parse(Converted(text)))
    assert [place.label for place in build_sections(parsed)][1:] == ["9", "10", "10A", "10B", "11"]


def test_what_is_counted_from_fourteen_on_are_no_places() -> None:
    rows = "".join(
        f"{age} Years\n\n{'The code of this state sets the age of consent. ' * 4}\n\n"
        for age in range(14, 19)
    )
    assert not find_places(parse(Converted(rows, markdown=False))).headings


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("第{}条", "本规则适用于本馆的全体读者，读者应当遵守。"),
        ("第{}条", "图书馆设立下列阅览室："),
        ("المادة {}", "يلتزم القارئ بإعادة الكتب في موعدها؟"),
    ],
)
def test_a_paragraph_is_no_title_in_a_script_without_capitals(tmp_path: Path, label: str, words: str) -> None:
    text = "# 规则\n\n" + "".join(f"{label.format(n)} {words}\n\n{words} {n}。\n\n" for n in range(1, 6))
    (tmp_path / "rules.md").write_text(text, encoding="utf-8")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "rules.md"], embed=False)
        place = library.section(label.format(3))
        assert words in place.text and words[:-1] not in place.heading


def test_what_is_listed_behind_a_bullet_is_no_heading_beside_those_of_the_format(tmp_path: Path) -> None:
    rules = ["10.1 - Outsourced Software", "10.2 - Capacity", "164.308(a)(4) Access", "Annex 2: Signs"]
    text = "# Policy\n\n## Applicable Standards\n\n" + "".join(f"* {rule}\n" for rule in rules)
    text += "\n## Access\n\nWho works here may enter with a key that is returned on the last day.\n"
    (tmp_path / "policy.md").write_text(text, encoding="utf-8")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "policy.md"], embed=False)
        (outline,) = library.outline("policy.md")
        (top,) = outline.nodes
        assert [node.heading for node in top.children] == ["Applicable Standards", "Access"]


def test_what_is_quoted_at_length_keeps_its_numbers() -> None:
    """An amending act has the numbers of another between its own; a mark left open quotes nothing."""
    words = "The words of the article stand here as they were enacted by the assembly in that year."
    quoted = "\n\n".join(
        f"{number} straipsnis. Prekyba\n\n1. {words}\n\n2. {words}" for number in range(4, 9)
    )
    text = "\n\n".join(
        f"{number} straipsnis. Kodekso pakeitimas\n\n{words}"
        + f"\n\n„ŠEŠTASIS SKIRSNIS\n\n{quoted}“" * (number == 3)
        for number in range(1, 7)
    )

    def labels(text: str) -> list[str]:
        found = find_places(parse(Converted(text, markdown=False)))
        return [heading.label.text for heading in found.headings if heading.label]

    assert labels(text) == [f"{number} straipsnis" for number in range(1, 7)]
    assert labels(text.replace("“", "")) != labels(text)


def test_quotations_left_open_are_read_in_linear_time() -> None:
    for text in ('"(1) a\n\n' * 30_000, "“a\n\n" * 30_000, "«" * 100_000, "‘1. a ’b\n" * 30_000):
        assert quotations(text, 0, []) is not None


def judgment(quoted: str) -> str:
    words = "The judge found that the appellant had not shown what the rules ask of those who apply late."
    paragraphs = [f"{number}. {words}" for number in range(1, 13)]
    paragraphs[5] += f"\n\n{quoted}"
    return "\n\n".join(paragraphs)


@pytest.mark.parametrize(
    "quoted",
    [
        "“27. In making this application she sees the difficulty.\n\n28. It was made in time.\n\n29. They are pleaded.”",
        "“48. It is clear that no mark closes these words.\n\nThey are those of the court again.",
        "“27. The court asks for “reasons” first.\n\n“reasons” means what was written then.\n\n28. It was made in time.”",
    ],
)
def test_paragraphs_after_a_quotation_keep_their_numbers(quoted: str) -> None:
    """Whether it is closed, left open, or has terms in marks; Markdown would count them on from the quoted ones."""
    text = judgment(quoted) + "\n\n“99. A second one is closed.”"
    found = [place.label for place in sections(text, markdown=True, file_type=".docx") if place.label]
    assert found == [str(number) for number in range(1, 13)]


def test_paragraphs_of_a_second_instrument_are_places_without_the_headings_of_the_first() -> None:
    rules = "\n\n".join(
        f"## {number}. {title}\n\n{number}.1. The members shall pay what the board asks of them.\n\n"
        f"{number}.2. The board shall say in writing what it asks."
        for number, title in enumerate(("Name", "Dues", "Votes", "Meetings"), 1)
    )
    bylaws = "\n\n".join(
        f"{number}. {title}\n\n{number}.1. Dues are due in May.\n\n{number}.2. Nobody pays twice in a year."
        for number, title in enumerate(("Changes", "Membership", "Procedure"), 1)
    )
    text = f"{rules}\n\n# Bylaws\n\n{bylaws}\n"
    found = [place for place in sections(text, markdown=True, file_type=".pdf") if place.start > len(rules)]
    assert {"2.1", "2.2", "3.1", "3.2"} <= {place.label for place in found}
