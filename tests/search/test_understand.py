from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.errors import UsageError
from loccit.search.understand.query import understand


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x07", "?!", '""', "—"])
def test_a_query_without_words_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        understand(text)


def test_control_characters_are_dropped() -> None:
    assert understand("re\x1b[31mport\x00 duty\u0007").text == "re[31mport duty"


def test_lone_surrogates_are_dropped() -> None:
    assert understand("safe \ud800 harbour").text == "safe harbour"


@pytest.mark.parametrize(
    "text",
    ['"best efforts"', "“best efforts”", "„best efforts“", "«best efforts»", 'find "best efforts" now'],
)
def test_every_style_of_quotation_marks_a_phrase(text: str) -> None:
    assert understand(text).phrases == ("best efforts",)


def test_references_inside_quotes_are_words() -> None:
    query = understand('"Section 4"')
    assert query.references == () and query.phrases == ("Section 4",)


def test_references_are_found_and_the_rest_is_kept() -> None:
    query = understand("what does FAR 52.209-6 say")
    assert [label.section_id for label in query.references] == ["sec_52_209_6"]
    assert query.rest == "what does FAR say"


def test_a_number_alone_is_a_reference() -> None:
    assert [label.section_id for label in understand("403").references] == ["sec_403"]


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = understand(text)
    except UsageError:
        return
    assert query.text and query.text == " ".join(query.text.split())


@pytest.mark.parametrize(
    ("text", "ids", "rest"),
    [
        ("what do §§ 3-5 say", ["sec_3", "sec_4", "sec_5"], "what do say"),
        ("Sections 201 to 203 of the act", ["sec_201", "sec_202", "sec_203"], "of the act"),
        ("GDPR Articles 12–14", ["sec_12", "sec_13", "sec_14"], "GDPR"),
        ("paragraphs (a) to (c) of Section 5", ["sec_5_a", "sec_5_b", "sec_5_c"], ""),
        ("Articles 1 to 99", ["sec_1", "sec_99"], ""),
        ("Section 4 and Section 4", ["sec_4"], "and"),
    ],
)
def test_a_range_refers_to_each_of_its_members(text: str, ids: list[str], rest: str) -> None:
    query = understand(text)
    assert [label.section_id for label in query.references] == ids
    assert query.rest == rest


def test_the_number_of_references_is_bounded() -> None:
    assert len(understand(" ".join(f"Section {number}" for number in range(1, 200))).references) == 16


def test_a_range_finds_its_sections_in_order(small: Library, tmp_path: Path) -> None:
    text = "\n\n".join(f"## Section {number}\n\nRule {number} is about things." for number in range(200, 206))
    (tmp_path / "docs" / "act.md").write_text(f"# The Act\n\n{text}", encoding="utf-8")
    small.index([tmp_path / "docs"], embed=False)
    results = small.search("Sections 201 to 203", mode="exact").results
    assert [result.section_label for result in results[:3]] == ["Section 201", "Section 202", "Section 203"]
