from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.labels import roman_numeral
from loccit.model import Converted, Place
from loccit.structure import parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places.tree import build_sections


def clauses_of(text: str) -> list[Place]:
    parsed = parse(Converted(text))
    return extract_clauses(parsed, build_sections(parsed))


def labels_of(text: str) -> list[str]:
    return [clause.label for clause in clauses_of(text)]


def test_clauses_have_the_label_one_would_cite_them_by() -> None:
    text = "# Act\n\n## Section 403. Orders\n\n(a) One.\n\n(b) Two:\n\n(1) first;\n\n(2) second:\n\n(A) x; and\n\n(B) y.\n"
    found = clauses_of(text)
    assert [clause.label for clause in found] == [
        "Section 403(a)",
        "Section 403(b)",
        "Section 403(b)(1)",
        "Section 403(b)(2)",
        "Section 403(b)(2)(A)",
        "Section 403(b)(2)(B)",
    ]
    assert found[3].section_id == "sec_403_b_2"
    # After the document, the act and its section, which are places 0 to 2.
    assert [clause.ordinal for clause in found] == [3, 4, 5, 6, 7, 8]
    assert [clause.level for clause in found] == [3, 3, 4, 4, 5, 5]
    assert [clause.parent for clause in found] == [2, 2, 4, 4, 6, 6]
    assert not any(clause.is_heading for clause in found) and {clause.section for clause in found} == {2}
    assert text[found[2].start : found[2].end].strip() == "(1) first;"
    assert text[found[1].start : found[1].end].strip().endswith("(B) y.")


def test_paragraphs_with_full_stops_count_under_an_article() -> None:
    text = "### Article 6 Lawfulness\n\n1. Lawful if:\n\n  (a) consent;\n\n  (f) interests.\n\nPoint (f) stops here.\n\n2. More.\n"
    assert labels_of(text) == ["Article 6(1)", "Article 6(1)(a)", "Article 6(1)(f)", "Article 6(2)"]
    found = clauses_of(text)
    assert text[found[2].start : found[2].end].strip() == "(f) interests."
    assert "Point (f)" in text[found[0].start : found[0].end]


def test_a_clause_ends_before_the_sign_of_the_next() -> None:
    text = (
        "##### 5. **Powers**\n\n**F27[5.**—(1) The board may—\n\n(*a*) buy, or\n\nF3[(*b*) let,]\n\n"
        "[F9 (2) The board reports.]\n\n►M2 (3) It sits in May.\n"
    )
    found = clauses_of(text)
    assert [clause.label for clause in found] == ["5(1)", "5(1)(a)", "5(1)(b)", "5(2)", "5(3)"]
    assert text[found[1].start : found[1].end].strip() == "(*a*) buy, or"
    assert text[found[3].start : found[3].end].strip() == "(2) The board reports.]"


def test_a_quotation_of_several_paragraphs_keeps_its_numbers() -> None:
    text = (
        "## Section 9 Amendments\n\n(1) The Principal Act is amended by the substitution of the following section:\n\n"
        "“Payment of fees.\n\n47.—(1) A fee is paid in advance.\n\n(2) A fee is not refunded.”, and\n\n"
        "(2) This section comes into operation on 1 May.\n\n“fee” means a charge;\n\n(3) It ends in June.\n"
    )
    assert labels_of(text) == ["Section 9(1)", "Section 9(2)", "Section 9(3)"]
    assert (
        "on 1 May" in clauses_of(text)[1].marker + text[clauses_of(text)[1].start : clauses_of(text)[1].end]
    )


@pytest.mark.parametrize(
    ("markers", "labels"),
    [
        ("(g) (h) (i) (j)", "(g) (h) (i) (j)"),
        ("(a) (i) (ii) (b)", "(a) (a)(i) (a)(ii) (b)"),
        ("(a) (b) (c) (d) (e) (f) (g) (h) (i) (ii) (iii) (i)", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(i) (h)(ii) (h)(iii) (i)"),
        ("(1) (a) (b) (2) (a)", "(1) (1)(a) (1)(b) (2) (2)(a)"),
        ("(a) (b) (d)", "(a) (b) (d)"),
        ("(a) (1) (i) (A) (1) (2) (B) (ii) (2) (b)",
         "(a) (a)(1) (a)(1)(i) (a)(1)(i)(A) (a)(1)(i)(A)(1) (a)(1)(i)(A)(2) (a)(1)(i)(B) (a)(1)(ii) (a)(2) (b)"),
        ("(y) (z) (aa) (bb)", "(y) (z) (aa) (bb)"),
        ("(iv) (v) (vi)", "(iv) (v) (vi)"),
        ("(a) (1) (I) (aa) (bb) (II) (b)", "(a) (a)(1) (a)(1)(I) (a)(1)(I)(aa) (a)(1)(I)(bb) (a)(1)(II) (b)"),
        ("(a) (b) (v) (c)", "(a) (b) (c)"),
    ],
)  # fmt: skip
def test_the_neighbours_decide_what_a_marker_is(markers: str, labels: str) -> None:
    text = "## Section 9\n\n" + "\n\n".join(f"{marker} words here." for marker in markers.split())
    assert labels_of(text) == [f"Section 9{label}" for label in labels.split()]


def test_a_list_after_words_belongs_to_the_clause_that_goes_on_after_it() -> None:
    text = (
        "## Section 9\n\n(a) One.\n\n(1) Hours.\n\n(A) First are\n\n(i) absent.\n\nThe plan treats as hours\n\n(I) a birth,\n\n"
        "(II) a move.\n\n(ii) More.\n\n(B) Second.\n\n(b) Two.\n"
    )
    assert labels_of(text)[4:] == [
        "Section 9(a)(1)(A)(i)(I)",
        "Section 9(a)(1)(A)(i)(II)",
        "Section 9(a)(1)(A)(ii)",
        "Section 9(a)(1)(B)",
        "Section 9(b)",
    ]


def test_several_markers_on_one_line() -> None:
    assert labels_of("## Section 2\n\n(b)(1) Text.\n\n(2) More.\n\n(c)\n\n(1) Third.\n") == [
        "Section 2(b)",
        "Section 2(b)(1)",
        "Section 2(b)(2)",
        "Section 2(c)",
        "Section 2(c)(1)",
    ]


def test_decimal_clauses_carry_on_the_number_of_their_heading() -> None:
    text = "## 4. Payment\n\n4.1 The fee is due.\n\n4.2 Late payment:\n\n(a) interest;\n\n4.2.1 A part.\n\n5.1 Not ours.\n"
    assert labels_of(text) == ["4.1", "4.2", "4.2(a)", "4.2.1"]


def test_a_list_of_the_headings_below_holds_no_clauses() -> None:
    text = (
        "# Part 9 Contractors\n\n- 9.101 Scope.\n- 9.102 Duties.\n  - 9.102-1 General.\n- 9.103 Reserved.\n\n"
        "## 9.101 Scope.\n\n(a) See 9.102-1.\n\n## 9.102 Duties.\n\n### 9.102-1 General.\n\nText.\n"
    )
    assert labels_of(text) == ["9.101(a)"], "what else the list names is not there"


def test_clauses_before_a_line_with_the_number_of_a_heading_stay() -> None:
    text = "# Part 9 Contractors\n\n9.1 All pay.\n\n9.2 All work.\n\n9.3 Duties.\n\n## 9.3 Duties.\n\nText.\n"
    assert labels_of(text) == ["9.1", "9.2"]


def test_steps_of_a_manual_are_not_clauses() -> None:
    assert labels_of("## 4.2 Mounting\n\n1. Turn off the power.\n2. Open the case.\n") == []
    assert labels_of("## Mounting\n\n(a) Turn off the power.\n") == []


def test_code_and_tables_hold_no_clauses() -> None:
    assert labels_of("## Section 1\n\n```\n(a) code\n```\n\n| (a) | b |\n|---|---|\n| (b) | c |\n") == []


def test_the_text_before_a_list_introduces_it() -> None:
    text = (
        "## Section 4\n\nThe office decides in a day if:\n\n1. all agree; or\n\n2. none is heard.\n\n"
        "It decides in five days if one of these occurs:\n\n1. some agree;\n\n2. nobody asks.\n"
    )
    found = clauses_of(text)
    assert [clause.label for clause in found] == ["Section 4(1)", "Section 4(2)"] * 2
    assert text[found[1].start : found[1].end].strip() == "2. none is heard."


def test_an_inserted_letter_is_one_of_its_list() -> None:
    assert labels_of("## Section 4\n\n(a) One,\n\n(aa) a new one,\n\n(ab) another, or\n\n(b) two.\n") == [
        "Section 4(a)",
        "Section 4(aa)",
        "Section 4(ab)",
        "Section 4(b)",
    ]


def test_words_and_signs_count_clauses_where_they_begin_anew_in_each_section() -> None:
    text = "".join(
        f"### Article {n}\n\nThe {name} is free.\n\n§ 2. It is open to all.\n\n§ 3. It closes at ten.\n\n1° in May;\n\n"
        "2° in June.\n\n"
        for n, name in enumerate(("pier", "park", "bath"), 1)
    )
    each = ["({})(2)", "({})(3)", "({})(3)(1)", "({})(3)(2)"]
    assert labels_of(text) == [
        label.format(n).replace(f"({n})", f"Article {n}", 1) for n in (1, 2, 3) for label in each
    ]


def test_how_lists_are_nested_elsewhere_decides_where_they_begin() -> None:
    usual = "".join(
        f"## Section {n}\n\n(1) One:\n\n(a) first;\n\n(b) second.\n\n(2) Two.\n\n" for n in range(1, 6)
    )
    odd = "## Section 6\n\n(1) One.\n\nText between.\n\n(a) first;\n\n(b) second.\n"
    assert labels_of(usual + odd)[-3:] == ["Section 6(1)", "Section 6(1)(a)", "Section 6(1)(b)"]


def test_a_mention_in_the_middle_of_a_sentence_is_no_clause() -> None:
    assert labels_of("## Section 1\n\nas described in paragraph\n(a) above and in\n(b) below.\n") == []


def test_lines_of_one_paragraph_may_each_be_a_clause() -> None:
    assert labels_of(
        "## Section 1\n\nThe keeper:\n(a) lights the lamp;\n(b) winds the clock; and\n(c) sleeps.\n"
    ) == [
        "Section 1(a)",
        "Section 1(b)",
        "Section 1(c)",
    ]


def test_recitals_have_a_name_of_their_own() -> None:
    found = clauses_of(
        "# Regulation\n\n## Recitals\n\n(1) First.\n\n(2) Second.\n\n## Article 1\n\n1. Scope.\n"
    )
    assert [(clause.label, clause.section_id) for clause in found] == [
        ("Recital 1", "recital_1"),
        ("Recital 2", "recital_2"),
        ("Article 1(1)", "sec_1_1"),
    ]


def test_repeated_numbering_still_gets_unique_ids() -> None:
    text = "## Section 1\n\nA means\n\n(1) x;\n\n(2) y.\n\nB means\n\n(1) z;\n\n(2) w.\n"
    ids = [clause.section_id for clause in clauses_of(text)]
    assert ids == ["sec_1_1", "sec_1_2", "sec_1_1__2", "sec_1_2__2"]


@dataclass
class Node:
    children: list[Node] = field(default_factory=list)


STYLES = ("(a)", "(1)", "(i)", "(A)")
trees = st.recursive(
    st.builds(Node), lambda inner: st.builds(Node, st.lists(inner, min_size=2, max_size=5)), max_leaves=30
)


def token(style: str, value: int) -> str:
    kind = style.strip("()")
    if kind == "1":
        return str(value)
    if kind == "i":
        return roman_numeral(value)
    return chr(ord(kind) + value - 1)


def write(nodes: list[Node], depth: int, prefix: str) -> tuple[list[str], list[str]]:
    paragraphs, labels = [], []
    for value, node in enumerate(nodes, 1):
        mark = f"({token(STYLES[depth], value)})"
        paragraphs.append(f"{mark} Words of the clause.")
        labels.append(prefix + mark)
        if depth + 1 < len(STYLES):
            below, names = write(node.children, depth + 1, prefix + mark)
            paragraphs += below
            labels += names
    return paragraphs, labels


@given(st.lists(trees, min_size=1, max_size=12))
def test_a_numbered_document_gives_its_tree_back(nodes: list[Node]) -> None:
    paragraphs, labels = write(nodes, 0, "Section 7")
    assert labels_of("## Section 7\n\n" + "\n\n".join(paragraphs)) == labels


@given(
    st.lists(
        st.sampled_from(["(a)", "(i)", "(1)", "1.", "(ii)", "(B)", "(x)", "words", "4.2", "(", ")("]),
        max_size=40,
    )
)
def test_any_numbering_gives_a_sound_tree(parts: list[str]) -> None:
    text = "## Section 4\n\n" + "\n\n".join(f"{part} some text" for part in parts)
    parsed = parse(Converted(text))
    headings = build_sections(parsed)
    places = [*headings, *extract_clauses(parsed, headings)]
    assert [place.ordinal for place in places] == list(range(len(places)))
    assert len({place.section_id for place in places}) == len(places)
    for clause in places[len(headings) :]:
        assert clause.start < clause.body <= clause.end <= len(text)
        assert clause.parent is not None and clause.section == headings[-1].ordinal
        parent = places[clause.parent]
        assert parent.level < clause.level
        assert parent.start <= clause.start and clause.end <= parent.end
