from __future__ import annotations

import random

import pytest

from loccit.extract.references import extract_references
from loccit.extract.references.items import read_items
from loccit.extract.references.links import slug_of
from loccit.model import Converted, Reference
from loccit.structure import parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places.tree import build_sections

REGULATION = """# Regulation (EU) 2030/77 on harbour lights

## Recitals

(1) Light is good. Article 8(1) of the Charter says so.

(2) RECITAL

## Chapter I General provisions

### Article 1 Subject

ONE

### Article 2 Scope

1. First words TWO_ONE:

  (a) the lamps;

  (b) the buoys; TWO_ONE_B

  (c) the bells.

AFTER_LIST

2. Second words TWO_TWO.

3. Third words:

  (a) boats; or

  (d) ships.

## Chapter II Duties

### Section 1 Masters

#### Article 3 Masters

1. THREE_ONE.

2. Second.

### Section 2 Pilots

#### Article 4 Pilots

FOUR

#### Article 5 Payment Terms

FIVE

## Chapter III Final

### Section 1 Entry

#### Article 6 Entry into force

SIX

## Annex I Forms

ANNEX

(1) The first form.

(2) The second form.
"""


def references(text: str, markdown: bool = True) -> list[Reference]:
    parsed = parse(Converted(text, markdown=markdown))
    sections = build_sections(parsed)
    found = extract_references(parsed, [*sections, *extract_clauses(parsed, sections)])
    assert all(text[item.start : item.end] == item.text for item in found)
    return found


def at(place: str, words: str, document: str = REGULATION) -> list[Reference]:
    """The references in some words put into the document at a place; every place has only its own."""
    before = {(item.text, item.kind) for item in references(document)}
    found = references(document.replace(place, words, 1))
    return [item for item in found if (item.text, item.kind) not in before or item.text in words]


def targets(place: str, words: str, document: str = REGULATION) -> list[str]:
    return [item.target_section for item in at(place, words, document)]


NUMBERS = [
    ("Article 2", ["sec_2"]),
    ("Art. 2", ["sec_2"]),
    ("article 2(1)", ["sec_2_1"]),
    ("Article 2(1)(b)", ["sec_2_1_b"]),
    ("Article 2 (1) (b)", ["sec_2_1_b"]),
    ("Art. 2 (1) b.", ["sec_2_1_b"]),
    ("Articles 3 to 5", ["sec_3", "sec_4", "sec_5"]),
    ("Articles 3–5", ["sec_3", "sec_4", "sec_5"]),
    ("Articles 3-5", ["sec_3", "sec_4", "sec_5"]),
    ("Articles 3 and 4", ["sec_3", "sec_4"]),
    ("Article 3 or 4", ["sec_3", "sec_4"]),
    ("Articles 1, 3 to 5 and 6", ["sec_1", "sec_3", "sec_4", "sec_5", "sec_6"]),
    ("Articles 2(1), 3 and 2(1)(a)", ["sec_2_1", "sec_3", "sec_2_1_a"]),
    ("Article 2(1) and (2)", ["sec_2_1", "sec_2_2"]),
    ("Article 2(1)(a) to (c)", ["sec_2_1_a", "sec_2_1_b", "sec_2_1_c"]),
    ("points (a), (b) and (c) of Article 2(1)", ["sec_2_1_a", "sec_2_1_b", "sec_2_1_c"]),
    ("point (a) or (b) of Article 2(1)", ["sec_2_1_a", "sec_2_1_b"]),
    ("Article 2(1), points (a) and (b)", ["sec_2_1_a", "sec_2_1_b"]),
    ("Article 2, paragraph 1, point (b)", ["sec_2_1_b"]),
    ("paragraph 2 of Article 3", ["sec_3_2"]),
    ("point (b) of the first subparagraph of Article 2(1)", ["sec_2_1_b"]),
    ("the second subparagraph of Article 2(1)", ["sec_2_1"]),
    ("Article 2(2) of this Regulation", ["sec_2_2"]),
    ("Article 2(2) of Regulation (EU) 2030/77", ["sec_2_2"]),
    ("Chapter II", ["chapter_2"]),
    ("Chapters I and III", ["chapter_1", "chapter_3"]),
    ("Section 2 of Chapter II", ["chapter_2_sec_2"]),
    ("Annex I", ["annex_1"]),
    ("point 2 of Annex I", ["annex_1_2"]),
    ("recital 2", ["recital_2"]),
    ("Artikel 2 Absatz 1 Buchstabe b", ["sec_2_1_b"]),
    ("Art. 2 Abs. 1 lit. b", ["sec_2_1_b"]),
    ("Artikel 3 und 4", ["sec_3", "sec_4"]),
    ("l'article 2, paragraphe 1, point b)", ["sec_2_1_b"]),
    ("l’article 5", ["sec_5"]),
]


@pytest.mark.parametrize(("words", "expected"), NUMBERS)
def test_numbers_are_resolved_wherever_they_stand(words: str, expected: list[str]) -> None:
    found = at("ONE", f"As set out in {words}, lamps burn.")
    assert [item.target_section for item in found] == expected
    assert {item.kind for item in found} == {"number"}
    assert {item.reason for item in found} == {""}


RELATIVE = [
    ("TWO_TWO", "paragraph 1", ["sec_2_1"]),
    ("TWO_TWO", "paragraphs 1 and 3", ["sec_2_1", "sec_2_3"]),
    ("TWO_TWO", "paragraph 1 or 3", ["sec_2_1", "sec_2_3"]),
    ("TWO_TWO", "paragraphs 1 to 3", ["sec_2_1", "sec_2_2", "sec_2_3"]),
    ("TWO_TWO", "paragraph 1(b)", ["sec_2_1_b"]),
    ("TWO_TWO", "point (b) of paragraph 1", ["sec_2_1_b"]),
    ("TWO_TWO", "points (a) and (c) of paragraph 1", ["sec_2_1_a", "sec_2_1_c"]),
    ("TWO_TWO", "point (c) of the first subparagraph of paragraph 1", ["sec_2_1_c"]),
    ("TWO_TWO", "paragraph 1 of this Article", ["sec_2_1"]),
    ("TWO_TWO", "this Article", ["sec_2"]),
    ("TWO_TWO", "this Chapter", ["chapter_1"]),
    ("TWO_TWO", "this paragraph", ["sec_2_2"]),
    ("TWO_TWO", "the preceding paragraph", ["sec_2_1"]),
    ("TWO_TWO", "the next Article", ["sec_3"]),
    ("TWO_TWO", "nach Absatz 1", ["sec_2_1"]),
    ("TWO_TWO", "Absatz 1 dieses Artikels", ["sec_2_1"]),
    ("TWO_TWO", "paragraphe 1 du présent article", ["sec_2_1"]),
    ("TWO_ONE_B", "point (a)", ["sec_2_1_a"]),
    ("TWO_ONE_B", "points (a) to (c)", ["sec_2_1_a", "sec_2_1_b", "sec_2_1_c"]),
    ("TWO_ONE_B", "paragraph 2", ["sec_2_2"]),
    ("TWO_ONE_B", "point (d) of paragraph 3", ["sec_2_3_d"]),
    ("TWO_ONE_B", "point (a) of this paragraph", ["sec_2_1_a"]),
    (
        "THREE_ONE",
        "points (a) and (b) of Article 2(1) and the second subparagraph thereof",
        ["sec_2_1_a", "sec_2_1_b", "sec_2_1"],
    ),
    ("AFTER_LIST", "Point (b) of the first subparagraph", ["sec_2_1_b"]),
    ("AFTER_LIST", "The first subparagraph", ["sec_2_1"]),
    ("THREE_ONE", "this Section", ["chapter_2_sec_1"]),
    ("THREE_ONE", "this Chapter", ["chapter_2"]),
    ("THREE_ONE", "Article 2(1) and paragraph 2 of that Article", ["sec_2_1", "sec_2_2"]),
]


@pytest.mark.parametrize(("place", "words", "expected"), RELATIVE)
def test_relative_forms_mean_the_place_they_stand_in(place: str, words: str, expected: list[str]) -> None:
    assert targets(place, f"{words} applies") == expected


ELSEWHERE = [
    ("Article 1 TFEU", "TFEU", ["1"]),
    ("Articles 1 and 2 TFEU", "TFEU", ["1", "2"]),
    ("Article 2(1) of the Charter", "Charter", ["2_1"]),
    ("Article 5 of the Treaty on European Union", "Treaty on European Union", ["5"]),
    ("Article 2(1) of Directive 95/46/EC", "Directive 95/46/EC", ["2_1"]),
    ("Article 2(1) or Article 3(1) of Directive 95/46/EC", "Directive 95/46/EC", ["2_1", "3_1"]),
    ("Article 2 of the Annex to Directive 95/46/EC", "Directive 95/46/EC", ["2"]),
    ("point (b) of Article 1(1) of Directive (EU) 2015/1535", "Directive (EU) 2015/1535", ["1_1_b"]),
    ("Regulation (EC) No 45/2001", "Regulation (EC) No 45/2001", [""]),
    ("section 5 of the Companies Act 2006", "Companies Act 2006", ["5"]),
    ("Companies Act 2006, section 5", "Companies Act 2006", ["5"]),
    ("42 U.S.C. 1983", "42 U.S.C.", ["1983"]),
    ("13 CFR 126.200(e)(1)", "13 CFR", ["126_200_e_1"]),
    ("20 CFR 32.102 and 32.706", "20 CFR", ["32_102"]),
    ("41 U.S.C chapter 1", "41 U.S.C", ["1"]),
    ("section 2 of RFC 5280", "RFC 5280", ["2"]),
    ("Art. 6 Abs. 1 lit. f DSGVO", "DSGVO", ["6_1_f"]),
    ("§ 823 BGB", "BGB", ["823"]),
    ("Chapter 2 of Title V of the TEU", "TEU", ["2"]),
    ("GDPR Article 2", "GDPR", ["2"]),
]


@pytest.mark.parametrize(("words", "document", "keys"), ELSEWHERE)
def test_what_names_another_act_is_never_resolved_here(words: str, document: str, keys: list[str]) -> None:
    found = at("ONE", f"As set out in {words}, lamps burn.")
    assert [item.number_key for item in found] == keys
    assert {(item.kind, item.target_section, item.document) for item in found} == {("document", "", document)}
    assert all(item.reason for item in found)


def test_that_directive_and_thereof_mean_the_act_named_before() -> None:
    words = (
        "Directive 2000/31/EC applies, in particular Articles 2 to 3 of that Directive and Article 5 thereof."
    )
    found = at("ONE", words)
    assert [(item.document, item.number_key) for item in found] == [
        ("Directive 2000/31/EC", key) for key in ("", "2", "3", "5")
    ]


UNRESOLVED = [
    ("Article 99", "no article 99 in this document"),
    ("see Section 1", "2 places are numbered Section 1"),
    ("Section 3 of Chapter II", "no section 3 in Chapter II"),
]


@pytest.mark.parametrize(("words", "reason"), UNRESOLVED)
def test_what_is_not_there_says_so(words: str, reason: str) -> None:
    found = at("ONE", f"As in {words}, lamps burn.")
    assert [(item.target_section, item.reason) for item in found] == [("", reason)]


def test_a_reference_deeper_than_the_text_leads_as_deep_as_there_is_something() -> None:
    (found,) = at("ONE", "under Article 2(9)")
    assert (found.target_section, found.reason) == ("sec_2", "(9) not found; leads to Article 2")
    (found,) = at("TWO_TWO", "under paragraph 9")
    assert (found.target_section, found.reason) == ("sec_2", "paragraph 9 not found; leads to Article 2")
    (found,) = at("ONE", "under point (z) of Article 2(1)")
    assert (found.target_section, found.reason) == ("sec_2_1", "point (z) not found; leads to Article 2(1)")


def test_members_of_lists_have_their_own_words_and_ranges_the_whole() -> None:
    found = at("ONE", "see Articles 3, 4 and 5 or points (a) to (c) of Article 2(1)")
    assert [item.text for item in found] == [
        "Articles 3",
        "4",
        "5",
        *["points (a) to (c) of Article 2(1)"] * 3,
    ]


def test_numbers_are_kept_normalised() -> None:
    (found,) = at("ONE", "see Chapter IX")
    assert (found.number_kind, found.number_key) == ("chapter", "9")
    (found,) = at("ONE", "see point (B) of Article 77(1)")
    assert (found.number_kind, found.number_key) == ("article", "77_1_b")


CODE = """# Part 32

### 32.102 Methods

PLACE

(a) First.

(b) Second:

(1) one;

(2) two PLACE_B.

### 32.706-2 Clauses

(a) This.

(1) That.

(i) So.

(ii) And PLACE_II.

(b) More.

### Subpart 32.9 Prompt payment

Text.
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("(see 32.706-2)", ["sec_32_706_2"]),
        ("(see 32.706-2(a)(1) and 32.102(b))", ["sec_32_706_2_a_1", "sec_32_102_b"]),
        ("in accordance with 32.706-2", ["sec_32_706_2"]),
        ("see subpart 32.9", ["subpart_32_9"]),
        ("in section 32.102", ["sec_32_102"]),
        ("FAR 32.706-2", ["sec_32_706_2"]),
        ("see 52.232-16", [""]),
        ("see FAR 52.232-16", [""]),
        ("in accordance with 31.205-6", [""]),
        ("paragraph (a)(1) of 32.706-2", ["sec_32_706_2_a_1"]),
        ("paragraph (b) of this section", ["sec_32_102_b"]),
        ("paragraphs (a) and (b) of this section", ["sec_32_102_a", "sec_32_102_b"]),
        ("paragraph (a) or paragraph (b) of 32.706-2", ["sec_32_706_2_a", "sec_32_706_2_b"]),
        ("paragraph (a)(3) of the clause at 52.232-16", [""]),
        ("this part", ["part_32"]),
        ("Sections 32.102 through 32.706", ["sec_32_102", ""]),
    ],
)
def test_numbers_of_a_code(words: str, expected: list[str]) -> None:
    assert targets("PLACE\n", f"{words}\n", CODE) == expected


def test_brackets_go_on_at_the_level_they_belong_to() -> None:
    assert targets("PLACE_II", "see paragraphs (a)(1)(i) and (ii) of this section", CODE) == [
        "sec_32_706_2_a_1_i",
        "sec_32_706_2_a_1_ii",
    ]
    assert targets("PLACE_II", "see paragraphs (a)(1)(i) and (b) of this section", CODE) == [
        "sec_32_706_2_a_1_i",
        "sec_32_706_2_b",
    ]
    assert targets("PLACE_B", "see paragraph (1)", CODE) == ["sec_32_102_b_1"]


@pytest.mark.parametrize(
    "words",
    [
        "The rate rose by 32.102 million.",
        "firmware 32.1 and later",
        "It costs $32.102 today.",
        "about 4.2 % of it",
        "version 4.2.1 of the tool",
        "the address 10.0.0.1",
        "at that point 3 people left",
        "within 30 days",
        "the clause(s) agreed",
        "part of the work, title to land and the article itself",
        "state of the art 5 years ago",
        "`see 32.102`",
        "Jump to sections\n4. Click",
    ],
)
def test_amounts_versions_and_prose_are_no_references(words: str) -> None:
    assert [item.text for item in at("PLACE\n", f"{words}\n", CODE)] == []


def test_counts_after_a_reference_are_no_members_of_its_list() -> None:
    assert targets("ONE", "under Article 3, 30 days later") == ["sec_3"]
    assert targets("ONE", "under Article 3 and 5 months later") == ["sec_3"]
    assert targets("ONE", "pursuant to Article 3, by 25 May 2018") == ["sec_3"]
    assert targets("ONE", "by Article 3 to 5 persons") == ["sec_3"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("see Payment Terms", ["sec_5"]),
        ('see "Payment Terms"', ["sec_5"]),
        ("see “payment terms”", ["sec_5"]),
        ("see *Payment Terms*.", ["sec_5"]),
        ("as defined in Payment Terms", ["sec_5"]),
        ("pursuant to the Payment Terms clause", ["sec_5"]),
        ("under Payment Terms above", ["sec_5"]),
        ("the clause entitled Payment Terms, as set out in the clause entitled Payment Terms", ["sec_5"]),
        ("see payment terms", []),
        ("see Payment Terms Directive", []),
        ("see Unknown Heading", []),
        ("under Pilots they work", []),
        ("paragraph 1 of the Unknown Words clause", [""]),
    ],
)
def test_names_are_references_only_when_they_are_headings(words: str, expected: list[str]) -> None:
    assert targets("ONE", f"{words}\n") == expected


LINKED = """# Manual

## Late payment

See [terms](terms.md#late), [below](#whats-new-in-42), [twice](#late-payment-1), [given](#own), [gone](#nowhere),
[web](https://example.org/section-4.2) and ![picture](a.png). Also [[Wiki Page]], [[Page#Heading|words]],
[[#Late payment]], [[#Nowhere]], ![[part]] and [marked](#spot).

## What's new in 4.2?

## Late payment

## Other {#own}

<a id="spot"></a> Here.
"""


def test_links_lead_to_headings_documents_or_nowhere() -> None:
    found = [
        (item.kind, item.target_section, item.document, bool(item.reason)) for item in references(LINKED)
    ]
    assert found == [
        ("link", "", "terms.md#late", True),
        ("link", "what_s_new_in_4_2", "", False),
        ("link", "manual_late_payment", "", False),
        ("link", "other", "", False),
        ("link", "", "", True),
        ("wiki", "", "Wiki Page", True),
        ("wiki", "", "Page#Heading", True),
        ("wiki", "late_payment", "", False),
        ("wiki", "", "", True),
        ("transclusion", "", "part", True),
        ("link", "other", "", False),
    ]


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Payment Terms", "payment-terms"),
        ("What's new in 4.2?", "whats-new-in-42"),
        ("a_b  C – d", "a_b--c--d"),
    ],
)
def test_slugs_are_those_of_github(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug


def test_code_headings_frontmatter_and_contents_are_left_out() -> None:
    text = """---
note: see Article 1
---

# Act

## Contents

- Article 1
- Article 2

Article 1 ........... 4

## Article 1 Things under Article 2

    see Article 2

```
see Article 2
```

## Article 2 More
"""
    assert references(text) == []


def test_a_line_that_is_a_heading_is_no_reference() -> None:
    assert references("# Act\n\nArticle 1 Things\n\nArticle 2. More\n\n## Article 1 Things\n\nText.\n") == []
    assert references("Section 5. Payment\n\nText.\n", markdown=False) == []


def test_documents_without_numbers_have_no_relative_references() -> None:
    assert references("# Notes\n\nAs the second paragraph and this section say, see point (b).\n") == []


def test_own_short_name_is_the_document_itself() -> None:
    text = "# General Harbour Lights Regulation\n\n## Article 1 A\n\nArticle 2 GHLR and Article 2 TFEU.\n\n## Article 2 B\n"
    assert [item.target_section for item in references(text)] == ["sec_2", ""]


@pytest.mark.parametrize(
    ("title", "own", "words"),
    [
        ("Verordnung zur Ausführung des Hafengesetzes", "Hafengesetz", "§ 2 des Hafengesetzes"),
        ("Erste Verordnung zur Änderung der Hafenordnung", "Hafenordnung", "§ 2 der Hafenordnung"),
        ("Harbour Act (Fees) Regulations 2016", "Harbour Act", "section 2 of the Harbour Act"),
    ],
)
def test_the_act_that_a_regulation_is_made_under_is_another(title: str, own: str, words: str) -> None:
    text = f"# {title}\n\n## § 1 A\n\nSee {words}.\n\n## § 2 B\n\nX\n"
    assert [one.target_section for one in references(text)] == [""]
    assert [one.target_section for one in references(text.replace(title, own))] == ["sec_2"]


def test_loops_do_no_harm() -> None:
    text = "# Act\n\n## Section 1 A\n\nSee section 1, this section and section 2.\n\n## Section 2 B\n\nSee Section 1.\n"
    assert [item.target_section for item in references(text)] == ["sec_1", "sec_1", "sec_2", "sec_1"]


def test_repeated_numbers_mean_the_nearest() -> None:
    text = "\n\n".join(
        f"## Part {part}\n\n### Section 1 A{part}\n\nSee Section 2.\n\n### Section 2 B{part}\n\nText."
        for part in ("I", "II")
    )
    assert [item.target_section for item in references(text)] == ["sec_2", "part_2_sec_2"]


def test_generated_documents_give_their_references_back() -> None:
    rng = random.Random(7)
    for _ in range(25):
        paragraphs = {article: rng.randint(1, 5) for article in range(1, rng.randint(4, 9))}
        points = {
            (article, paragraph): rng.choice([0, 0, 2, 5])
            for article, count in paragraphs.items()
            for paragraph in range(1, count + 1)
        }
        lines, expected = ["# Act"], []
        for article, count in paragraphs.items():
            lines.append(f"## Article {article} Title {article}")
            for paragraph in range(1, count + 1):
                words, target = _cite(rng, article, paragraphs, points)
                expected += target
                lines.append(f"{paragraph}. Text under {words} stands here.")
                for point in range(points[article, paragraph]):
                    words, target = _cite(rng, article, paragraphs, points)
                    expected += target
                    lines.append(f"  ({chr(97 + point)}) text under {words};")
        assert [item.target_section for item in references("\n\n".join(lines) + "\n")] == expected


def _cite(
    rng: random.Random, here: int, paragraphs: dict[int, int], points: dict[tuple[int, int], int]
) -> tuple[str, list[str]]:
    """A reference in one of its forms, and what it means when it stands in an article."""
    article = rng.choice(list(paragraphs))
    paragraph = rng.randint(1, paragraphs[article])
    count = points[article, paragraph]
    base = f"sec_{article}_{paragraph}"
    form = rng.randrange(8)
    if form == 0:
        return f"Article {article}", [f"sec_{article}"]
    if form == 1:
        last = rng.choice([number for number in paragraphs if number >= article])
        if last == article:
            return f"Article {article}({paragraph})", [base]
        return f"Articles {article} to {last}", [f"sec_{number}" for number in range(article, last + 1)]
    if form == 2 and count:
        letter = chr(97 + rng.randrange(count))
        return f"point ({letter}) of Article {article}({paragraph})", [f"{base}_{letter}"]
    if form == 3 and count > 1:
        return f"Article {article}({paragraph})(a) and (b)", [f"{base}_a", f"{base}_b"]
    if form == 4:
        own = rng.randint(1, paragraphs[here])
        return f"paragraph {own}", [f"sec_{here}_{own}"]
    if form == 5:
        return "this Article", [f"sec_{here}"]
    if form == 6 and count > 1:
        return f"Article {article}, paragraph {paragraph}, points (a) to (b)", [f"{base}_a", f"{base}_b"]
    return f"paragraph {paragraph} of Article {article}", [base]


@pytest.mark.parametrize(
    "text",
    [
        "Article 1, " * 20_000,
        "Articles 1, 2, 3 and " * 10_000,
        "paragraph (a)(a)(a)" * 20_000,
        "of the first subparagraph " * 20_000,
        "point (a) of " * 20_000,
        "section 1.1.1.1.1.1.1.1" + ".1" * 100_000,
        "(" * 200_000,
        "see " * 100_000,
        "see The " * 50_000,
        "." * 200_000 + "x",
        "`" * 100_000,
        "Act of " * 50_000 + "Act 1999",
        "A" * 200_000 + " clause",
        "İ see Article 1 " * 5_000,
        "[[#" * 50_000,
        "Articles 1 to 99999 " * 10_000,
    ],
    ids=range(16),
)
def test_hostile_text_is_read_in_passing(text: str) -> None:
    references(f"# Act\n\n## Article 1 A\n\n{text}\n")


def test_brackets_of_a_list_may_be_letters_and_numerals() -> None:
    assert [item.parts for item in read_items("(h), (i) and (j)", 0, "point", plural=True)] == [
        ("h",),
        ("i",),
        ("j",),
    ]


# -- titles that come with a number, and headings that are named alone ---------------------------------------

_TITLED = "# Terms\n\n## Section 3 Scope\n\n{}\n\n## Section 4 Payment & Taxes\n\nPay.\n\n## Fee Schedule\n\nFees.\n\n## Glossary\n\nTerms.\n"


def _only(sentence: str) -> Reference:
    [found] = references(_TITLED.format(sentence))
    return found


def test_a_title_in_brackets_bears_out_the_number_or_makes_it_doubtful() -> None:
    right = _only("See Section 4 (Payment and Taxes) first.")
    assert right.target_section == "sec_4" and right.sure > 0.95 and not right.reason
    wrong = _only("See Section 4 (Data Protection) first.")
    assert wrong.target_section == "sec_4" and wrong.sure < 0.5
    assert "headed “Payment & Taxes”, not “Data Protection”" in wrong.reason
    aside = _only("See Section 4 (as amended) first.")
    assert aside.sure >= 0.9 and not aside.reason


def test_what_follows_the_title_in_brackets_says_whose_number_it_is() -> None:
    found = _only("See Section 4 (Data Protection) of the Harbour Act 1998 first.")
    assert found.document == "Harbour Act 1998" and not found.resolved


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Words are explained, see the Glossary.", "Glossary"),
        ("As defined in the Glossary, a word counts.", "Glossary"),
        ("They pay pursuant to Fee Schedule and on time.", "Fee Schedule"),
    ],
)
def test_a_heading_is_named_alone(sentence: str, words: str) -> None:
    found = _only(sentence)
    assert found.kind == "named" and found.text == words and found.sure >= 0.6


def test_prose_that_holds_the_word_of_a_heading_names_nothing() -> None:
    assert not references(_TITLED.format("They refer to the Glossary team about a glossary."))


ACT = """# Hafengesetz

## § 4 Boote

(1) Eins.

(2) Wer

1. baut,
2. leitet:

   a) Boote,

   b) Stege,

3. fährt,

zahlt. {FOUR}

(3) Drei.

## § 5 Stege

(1) Eins. {FIVE}

(2) Zwei.

(3) Drei.
"""


@pytest.mark.parametrize(
    ("place", "words", "expected"),
    [
        # What follows a part of another section is a part of that section.
        ("FIVE", "§ 4 Abs. 1 und Abs. 3", ["sec_4_1", "sec_4_3"]),
        ("FIVE", "§ 4 Absatz 2 Nummer 1, Nummer 3 und Absatz 3", ["sec_4_2_1", "sec_4_2_3", "sec_4_3"]),
        ("FIVE", "§ 4 Absatz 1 in Verbindung mit Absatz 3", ["sec_4_1", "sec_4_3"]),
        ("FIVE", "§ 4 Absatz 1 gilt. Absatz 3 auch", ["sec_4_1", "sec_5_3"]),
        # Sentences have no place of their own, but contain others.
        ("FIVE", "§ 4 Abs. 2 Satz 1 Nr. 3", ["sec_4_2_3"]),
        ("FIVE", "§ 4 Abs. 2 Satz 1 Nr. 1 und Satz 2", ["sec_4_2_1", "sec_4_2"]),
        ("FIVE", "§ 4 Absatz 2 Nummer 2 Buchstabe b", ["sec_4_2_2_b"]),
        # A letter may be written apart from its number.
        ("FIVE", "§ 4 a Abs. 1, § 5 a und § 5 i. V. m. § 4 f.", ["", "", "sec_5", "sec_4"]),
        # An item named alone is one that is here.
        ("FOUR", "Im Fall der Nummer 1 gilt", ["sec_4_2_1"]),
        ("FOUR", "die nach Nummer 2 Buchstabe a genannten", ["sec_4_2_2_a"]),
        ("FOUR", "in Nummer 9 steht", []),
        ("FIVE", "in Nummer 2 steht", []),
        ("FIVE", "Nummer 2 lebt. Satz 1 gilt.", []),
    ],
)
def test_parts_of_german_sections(place: str, words: str, expected: list[str]) -> None:
    found = references(ACT.replace(f"{{{place}}}", words).replace("{FOUR}", "").replace("{FIVE}", ""))
    assert [reference.target_section for reference in found] == expected


@pytest.mark.parametrize(
    "words",
    [
        "§ 4 Abs. 2 Satz 1 Nr. 3 des Wassergesetzes",
        "§ 4 Abs. 2 Nr. 2 Buchstabe a und Abs. 3 des Wassergesetzes",
        "§ 4 Abs. 2 in Verbindung mit Abs. 1 des Wassergesetzes",
    ],
)
def test_parts_of_another_german_act_are_not_found_here(words: str) -> None:
    found = references(ACT.replace("{FOUR}", "").replace("{FIVE}", words))
    assert found
    assert {(reference.target_section, reference.document) for reference in found} == {("", "Wassergesetzes")}


def test_a_section_of_this_act_in_connection_with_one_of_another_stays_here() -> None:
    words = "§ 4 in Verbindung mit § 9 des Wassergesetzes"
    found = references(ACT.replace("{FOUR}", "").replace("{FIVE}", words))
    assert [one.target_section for one in found] == ["sec_4", ""]
    found = references(ACT.replace("{FOUR}", "").replace("{FIVE}", words.replace("§ 4", "§ 8")))
    assert [one.document for one in found] == ["Wassergesetzes", "Wassergesetzes"]


def test_a_german_section_is_a_numbered_heading_where_there_are_no_others() -> None:
    text = "# AGB\n\n## 2. Preise\n\nSiehe Abschnitt 3.1 und Nr. 3.2.\n\n## 3. Haftung\n\n### 3.1 Boote\n\nX\n\n### 3.2 Stege\n\nX\n"
    assert [one.target_section for one in references(text)] == ["sec_3_1", "sec_3_2"]
    divided = "# Gesetz\n\n## Abschnitt 1 Boote\n\nSiehe Abschnitt 3.\n\n### § 3 Stege\n\nX\n"
    assert [one.target_section for one in references(divided)] == [""]


def test_deep_items_of_a_list_are_read_and_code_is_not() -> None:
    listed = "1.  Wer\n\n    a)  baut,\n\n            nach § 5 baut,\n"
    text = f"# X\n\n## § 4 Eins\n\n{listed}\n## § 5 Zwei\n\nZwei.\n\n    siehe § 4\n\n```\n§ 4\n```\n"
    assert [one.text for one in references(text)] == ["§ 5"]


def extract(text: str, path: str = "") -> list[Reference]:
    parsed = parse(Converted(text))
    sections = build_sections(parsed)
    return extract_references(parsed, [*sections, *extract_clauses(parsed, sections)], path)


OTHER_ACTS = [
    ("cs", "Na základě § 2 zákoníku práce plynou lhůty.", "§ 2", "## § {}\n\nText o hvězdách.\n"),
    (
        "nl",
        "Dit volgt uit artikel 2 van de zwemwaterrichtlijn.",
        "artikel 2",
        "## Artikel {}\n\nTekst over sterren.\n",
    ),
    ("fr", "Voir l'article 2, alinéa 3, de la loi du 4 mai 1921.", "article 2", "## Article {}\n\nTexte.\n"),
    ("de", "Nach Artikel 2 des Durchführungsprotokolls gilt das.", "Artikel 2", "## Artikel {}\n\nText.\n"),
    ("en", "Section 2 of the Lantern Requirements applies equally.", "Section 2", "## Section {}\n\nText.\n"),
    (
        "ro",
        "Potrivit art. 2 alin. (1) din Legea nr. 12/1999, astfel.",
        "art. 2",
        "## Articolul {}\n\nText.\n",
    ),
    ("en", "Lantern Act, section 2 says so.", "section 2", "## Section {}\n\nText.\n"),
    (
        "pl",
        "Zgodnie z art. 2 ustawy z dnia 8 sierpnia 1996 r. o portach.",
        "art. 2",
        "## Art. {}.\n\nTekst.\n",
    ),
]


@pytest.mark.parametrize(("language", "words", "number", "form"), OTHER_ACTS)
def test_a_part_of_an_act_that_is_not_this_one_is_no_place_here(
    language: str, words: str, number: str, form: str
) -> None:
    text = "# ONE\n\n" + "\n".join(form.format(one) for one in range(1, 6)) + f"\n{words}\n"
    found = [item for item in extract(text) if number in item.text]
    assert found and not any(item.target_section for item in found)


def test_a_document_that_calls_itself_something_means_itself_by_that() -> None:
    articles = "\n".join(f"## Article {one}\n\nThe lamps of this Convention burn.\n" for one in range(1, 6))
    found = extract(f"# Lamps\n\n{articles}\nUnder Article 2 of the Convention they burn.\n")
    assert [item.target_section for item in found if "Article 2" in item.text] == ["sec_2"]


def test_an_amendment_names_places_of_what_it_amends() -> None:
    articles = "\n".join(f"## Article {one}\n\nText of lamps.\n" for one in range(1, 6))
    text = f"# Lamps\n\n{articles}\nThe Harbour Act is amended as follows:\n\n1. In Article 2, the words are replaced.\n"
    assert not any(item.target_section and item.sure >= 0.9 for item in extract(text))


def test_a_kind_that_is_never_printed_is_no_item_of_a_list() -> None:
    text = "# Notes\n\n1. Fill out the form.\n2. Complete Section 4 and Section 9 of it.\n3. Wait.\n4. Send it.\n"
    assert not any(item.target_section for item in extract(text))


def test_numbers_in_a_table_of_versions_are_its_own() -> None:
    text = "# Notes\n\n| Version | What |\n|---|---|\n| 1.4.6 | more |\n| 1.4.7 | less |\n\n## 1.4.6 Lamps\n\nText.\n"
    assert not any("1.4" in item.text for item in extract(text))


def test_fields_of_the_head_name_documents_of_the_series() -> None:
    text = "---\neip: 12\ntitle: Lamps\nrequires: 3, 4\nsuperseded-by: lamps/new.md\nversion: 7\n---\n\n# Lamps\n\nText. See EIP-5.\n"
    found = extract(text, "eips/eip-12.md")
    assert [item.document for item in found] == ["EIP-3", "EIP-4", "lamps/new.md", "EIP-5"]
    assert text[found[0].start : found[0].end] == "3"


def test_hostile_references_take_bounded_time() -> None:
    circular = "# One\n\n" + "".join(
        f"## Article {one}\n\nSee Article {one % 50 + 1}.\n\n" for one in range(1, 51)
    )
    assert all(item.target_section for item in extract(circular))
    extract("# One\n\n" + "Section 1, paragraph 2, point (a), of the " * 3000)
    extract("# One\n\narticle 1 " + "de la " * 20_000)


def test_what_is_quoted_is_less_sure_to_be_of_this_document() -> None:
    parts = "".join(f"## Section {number}\n\nLamps burn.\n\n" for number in range(1, 6))
    quoted, plain = extract(
        f"# Lantern Act\n\n{parts}The rules say “lamps of section 2 burn”, and section 3 agrees.\n"
    )
    assert quoted.sure < plain.sure


def test_a_word_beside_numbers_that_are_not_here_names_another_act() -> None:
    parts = "".join(f"## § {number}\n\nTekst.\n\n" for number in range(1, 8))
    others = " ".join(f"Kehtib seaduse § {number}." for number in (26, 55, 120, 42, 2))
    own = " ".join(f"Vaata § {number}." for number in range(1, 8))
    here, there = [one for one in extract(f"# Määrus\n\n{parts}{own}\n\n{others}\n") if one.number_key == "2"]
    assert here.sure > there.sure


def test_tags_have_no_references() -> None:
    text = '# A\n\n## 5.3 B\n\nSee 5.3 and <span id="5.3">here</span>.\n'
    assert [one.start for one in extract(text)] == [text.index("5.3 and")]


def test_this_paragraph_with_its_letter_is_this_one() -> None:
    found = extract(
        "# Lease\n\n## Section 1 Rent\n\n(a) Rent under this paragraph (a) is due.\n\n(b) Rent of paragraph (a) is low.\n"
    )
    this, other = (one for one in found if one.text.endswith("paragraph (a)"))
    assert this.target_section == other.target_section and this.sure > other.sure


def test_a_paragraph_of_that_article_has_no_number_of_its_article() -> None:
    for words in ("the second paragraph of that Article", "the first paragraph of the said Article 1"):
        assert extract(f"# Act\n\n## Article 1\n\nText.\n\n## Article 2\n\nAs in {words}.\n")


@pytest.mark.parametrize("begin", ["4.3 ", "- 4.3 "])
def test_the_number_of_a_line_is_none_of_something_cited(begin: str) -> None:
    found = references(f"## 4 Periods\n\n## 4.2 Records\n\n{begin}Clause 4.2 ends with the year.\n")
    assert [reference.target_section for reference in found] == ["sec_4_2"]
