from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import UsageError
from pinakes.search.understand import MAX_QUERY_CHARACTERS, understand


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x07", "?!", '""', "—"])
def test_a_query_without_words_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        understand(text)


def test_a_query_of_a_megabyte_is_refused_with_the_limit() -> None:
    with pytest.raises(UsageError, match=f"at most {MAX_QUERY_CHARACTERS:,}"):
        understand("a" * 1_000_000)


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
