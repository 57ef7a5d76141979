"""Several places at once: lists and ranges become their members, and what only looks like a range does not."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loccit.grammar.labels import find_labels
from loccit.grammar.labels.places import MAX_MEMBERS, find_places
from loccit.grammar.labels.ranges import through


def ids(text: str) -> list[str]:
    return [label.section_id for place in find_places(text) for label in place.labels]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("§§ 3-5", ["sec_3", "sec_4", "sec_5"]),
        ("Sections 201 to 203", ["sec_201", "sec_202", "sec_203"]),
        ("Articles 12–14 GDPR", ["sec_12", "sec_13", "sec_14"]),
        ("Artikel 5 bis 7", ["sec_5", "sec_6", "sec_7"]),
        ("Art. 5 bis 7 DSGVO", ["sec_5", "sec_6", "sec_7"]),
        ("articles 12 à 14", ["sec_12", "sec_13", "sec_14"]),
        ("artículos 12 a 14", ["sec_12", "sec_13", "sec_14"]),
        ("Section 3 to Section 5", ["sec_3", "sec_4", "sec_5"]),
        ("from section 4 to 6", ["sec_4", "sec_5", "sec_6"]),
        ("Sections 4.2-4.4", ["sec_4_2", "sec_4_3", "sec_4_4"]),
        ("clauses 4.2 through 4.4", ["sec_4_2", "sec_4_3", "sec_4_4"]),
        ("sections 32.706-2 to 32.706-4", ["sec_32_706_2", "sec_32_706_3", "sec_32_706_4"]),
        ("sections 12A to 12C", ["sec_12a", "sec_12b", "sec_12c"]),
        ("Chapters II to IV", ["chapter_2", "chapter_3", "chapter_4"]),
        ("Chapters II-IV", ["chapter_2", "chapter_3", "chapter_4"]),
        ("Appendices A to C", ["appendix_a", "appendix_b", "appendix_c"]),
        ("Articles 5, 7 and 12 to 14", ["sec_5", "sec_7", "sec_12", "sec_13", "sec_14"]),
        ("Article 6(1)(a) to (c)", ["sec_6_1_a", "sec_6_1_b", "sec_6_1_c"]),
        ("clauses 4(a)–(c)", ["sec_4_a", "sec_4_b", "sec_4_c"]),
        ("§ 5 Abs. 1 bis 3", ["sec_5_1", "sec_5_2", "sec_5_3"]),
        ("Art. 6 Abs. 1 lit. a bis c", ["sec_6_1_a", "sec_6_1_b", "sec_6_1_c"]),
        ("Section 5(i) to (iii)", ["sec_5_i", "sec_5_ii", "sec_5_iii"]),
        ("Section 5(a) and (c)", ["sec_5_a", "sec_5_c"]),
        ("Article 6(1)(a) or (2)", ["sec_6_1_a", "sec_6_2"]),
        ("paragraphs (a) to (c) of Section 5", ["sec_5_a", "sec_5_b", "sec_5_c"]),
        ("paragraphs 1 to 3 of Article 6", ["sec_6_1", "sec_6_2", "sec_6_3"]),
        ("points (a), (b) and (d) of Article 6(1)", ["sec_6_1_a", "sec_6_1_b", "sec_6_1_d"]),
        ("Articles 1 to 99", ["sec_1", "sec_99"]),
    ],
)
def test_a_range_becomes_its_members(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Section 201-203", ["sec_201_203"]),  # the number of one section as likely as a range
        ("§§ 2-201, 2-202", ["sec_2_201", "sec_2_202"]),
        ("§§ 3-5 and 3-6", ["sec_3_5", "sec_3_6"]),
        ("§§ 2-201", ["sec_2_201"]),
        ("Rules 10b-5", ["sec_10b_5"]),
        ("FAR 32.706-2", ["sec_32_706_2"]),
        ("section 4 to 5 pages", ["sec_4"]),
        ("Articles 14 to 12", ["sec_14", "sec_12"]),
        ("Article 6(1) and (other) things", ["sec_6_1"]),
        ("Section 4 (a new one)", ["sec_4"]),
        ("1.5 to 2.5 metres", ["sec_1_5", "sec_2_5"]),
    ],
)
def test_what_is_no_range(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_members_are_written_as_one_would_name_them_alone() -> None:
    texts = {
        text: [label.text for place in find_places(text) for label in place.labels]
        for text in (
            "Sections 201 to 202",
            "§§ 3-4",
            "Chapters II to III",
            "Appendices A-B",
            "Article 6(1)(a)-(b)",
        )
    }
    assert texts == {
        "Sections 201 to 202": ["Section 201", "Section 202"],
        "§§ 3-4": ["§ 3", "§ 4"],
        "Chapters II to III": ["Chapter II", "Chapter III"],
        "Appendices A-B": ["Appendix A", "Appendix B"],
        "Article 6(1)(a)-(b)": ["Article 6(1)(a)", "Article 6(1)(b)"],
    }


_words = st.sampled_from(
    "Sections Section §§ § Art. Articles Artikel Chapters paragraphs points of to bis – - and , (a) (c) (1) (iv) 3 5 3-5 "
    "4.2 12A II IV A C Abs. 1 lit. a GDPR pages 32.706-2".split()
)
_text = st.one_of(st.lists(_words, max_size=10).map(" ".join), st.text(max_size=60))


@settings(deadline=None, max_examples=400)
@example("Sections II to 3-5")
@given(_text)
def test_places_are_in_order_apart_and_bounded(text: str) -> None:
    position = 0
    for place in find_places(text):
        assert position <= place.start < place.end <= len(text)
        assert 1 <= len(place.labels) <= MAX_MEMBERS + 1
        assert all(label.number and label.text for label in place.labels)
        position = place.end


@settings(deadline=None, max_examples=400)
@given(_text)
def test_a_label_outside_a_range_stays_as_it_is(text: str) -> None:
    single = {(item.start, item.end): item.label for item in find_labels(text)}
    for place in find_places(text):
        if (place.start, place.end) in single and len(place.labels) == 1:
            assert place.labels[0] == single[place.start, place.end]


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from([(), ("4",), ("32", "706")]))
def test_counting_rises_from_the_first_to_the_last(low: int, high: int, head: tuple[str, ...]) -> None:
    members = through((*head, str(low)), (*head, str(high)), MAX_MEMBERS)
    if high <= low:
        assert members == []
        return
    values = [int(number[-1]) for number in members]
    assert values[0] == low
    assert values[-1] == high
    assert values == (list(range(low, high + 1)) if high - low < MAX_MEMBERS else [low, high])
    assert all(number[:-1] == head for number in members)


@pytest.mark.parametrize(
    "unit",
    ["Sections 1 to ", "(a), ", "paragraphs (a) to (b) of ", "§§ 3-5 ", "Art. 1 bis ", "1.", "1-", "§§1-"],
)
def test_hostile_text_is_read_to_the_end(unit: str) -> None:
    find_places(unit * (20_000 // len(unit)))
