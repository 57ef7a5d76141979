"""Forms of a text under which it is looked up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.text.keys import title_key


def test_case_accents_and_punctuation_do_not_matter() -> None:
    assert (
        title_key("Right to erasure (‘right to be forgotten’).") == "right to erasure right to be forgotten"
    )
    assert title_key("  RÉSUMÉ — Straße  ") == title_key("resume strasse")
    assert title_key("目的") == "目的"
    assert title_key("—") == ""


@given(st.text(max_size=80))
def test_a_key_is_its_own_key(text: str) -> None:
    key = title_key(text)
    assert title_key(key) == key
    assert key == key.strip()


def test_a_key_has_a_bounded_length() -> None:
    assert len(title_key("word " * 1000)) <= 300
