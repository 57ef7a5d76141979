"""Where sentences and clauses end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.grammar.text.sentences import clause_ends, sentence_ends


def cut(text: str, ends: list[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *ends, len(text)])]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One. ", "Two! ", "Three?"],
        ["He met J. Smith. ", "Then he left."],
        ["See Sec. 4 and Art. 6 Abs. 1 here. ", "It applies."],
        ["Am 3. Oktober galt es. ", "Nun nicht."],
        ["1. First of all. ", "2. Then."],
        ["It costs 3.5 m. per e.g. hour. ", "Good."],
        ['"Yes." ', "And no."],
        ["第一句。", "第二句！", "第三句"],
        ["A title\n\n", "and what follows"],
        ["Wait… ", "What?!  ", "Yes."],
        ["no end"],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert cut(text, sentence_ends(text)) == sentences


def test_clauses() -> None:
    text = "first, second; third: fourth 1,000\nfifth、sixth"
    assert cut(text, clause_ends(text)) == [
        "first, ",
        "second; ",
        "third: ",
        "fourth 1,000\n",
        "fifth、",
        "sixth",
    ]


def test_only_the_given_part_is_read() -> None:
    text = "One. Two. Three. Four."
    assert sentence_ends(text, 5, 16) == [10]
    assert clause_ends("a, b, c, d", 3, 8) == [6]


@settings(deadline=None)
@given(st.text(alphabet='aB.!?。,;:\n ")1', max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_ends_ascend_inside_the_part_and_follow_white_space(text: str, start: int, end: int) -> None:
    for ends in (sentence_ends(text, start, end), clause_ends(text, start, end)):
        assert ends == sorted(set(ends))
        for at in ends:
            assert start < at < min(end, len(text))
            assert not text[at].isspace()


@pytest.mark.parametrize("unit", [".", "!?", "\n", "\n ", ". ", ",", ", ", ".)", "。", "a."])
def test_hostile_text_is_read_to_the_end(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + "x"
    sentence_ends(text)
    clause_ends(text)
