"""Questions about single words: how often they occur, how they may have been meant, which chunks hold them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.index.folder.keyword import KeywordEntry, KeywordIndex
from loccit.index.folder.keyword_query import edit_distances


def entry(chunk: int, body: str, title: str = "", headings: str = "") -> KeywordEntry:
    return KeywordEntry(chunk, chunk, "en", title, headings, body)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KeywordIndex]:
    opened = KeywordIndex.open(tmp_path / "keyword")
    with opened.writer() as writer:
        for one in (
            entry(1, "The controller notifies controllers.", title="Protection"),
            entry(
                2, "A contract about protection, kept by the controller", headings="The Duty of Notification"
            ),
            entry(3, "an unrelated well-known text with 12345 in it; café"),
            entry(4, "data protection officer"),
        ):
            writer.add_document(one.document, [one])
        writer.commit(1)
    yield opened
    opened.close()


def test_frequency_counts_chunks_by_text_title_and_headings_in_any_form(index: KeywordIndex) -> None:
    assert index.frequency("controllers", ["en"]) == 2
    assert index.frequency("PROTECTION", ["en"]) == 3
    assert index.frequency("notifications", ["en"]) == 1
    assert index.frequency("cafe", ["en"]) == 1
    assert index.frequency("well-known", ["en"]) == index.frequency("wellknown", ["en"]) == 1
    assert index.frequency("the", ["en"]) == 2
    assert (
        index.frequency("kontroller", ["en"]) == index.frequency("", ["en"]) == index.frequency("?", []) == 0
    )


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("contorller", "controller"),  # swapped
        ("controler", "controller"),  # left out
        ("contrroller", "controller"),  # put in
        ("CONTRACD", "contract"),  # changed
        ("dtaa", "data"),
        ("adta", "data"),
        ("wata", "data"),
        ("ata", "data"),
        ("ddata", "data"),
        ("prottectoin", "protection"),  # two edits in a long word
        ("caffé", "cafe"),
    ],
)
def test_a_slip_finds_the_word_that_was_meant(index: KeywordIndex, slip: str, meant: str) -> None:
    assert index.similar(slip, 3)[0][0] == meant


def test_similar_words_come_nearest_first_and_not_from_too_far(index: KeywordIndex) -> None:
    assert index.similar("controllerss", 5) == [("controllers", 1), ("controller", 2)]
    assert index.similar("controllerss", 1) == [("controllers", 1)]
    assert "controller" not in dict(index.similar("controller", 5))
    assert index.similar("dxxa", 5) == []  # two edits of a short word
    assert index.similar("12346", 5) == []  # numbers are not misspelled words
    assert index.similar("", 5) == index.similar("x", 5) == index.similar("data", 0) == []


def test_holding_finds_words_and_phrases(index: KeywordIndex) -> None:
    assert index.holding(["controllers"], ["en"]) == {1, 2}
    assert index.holding(["protection"], ["en"]) == {1, 2, 4}
    assert index.holding(["data protection"], ["en"]) == {4}
    assert index.holding(["protection data"], ["en"]) == set()
    assert index.holding(["contract", "well-known"], ["en"]) == {2, 3}
    assert index.holding([], ["en"]) == index.holding(["", "!"], ["en"]) == set()


def _distance(one: str, other: str) -> int:
    """The textbook table, one pair at a time."""
    table = [[i + j if not i or not j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            changed = table[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, changed)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


_WORDS = st.text(alphabet="abcdé漢", max_size=7)


@given(word=_WORDS, others=st.lists(_WORDS, max_size=6))
def test_distances_of_many_words_at_once_are_those_of_each(word: str, others: list[str]) -> None:
    assert edit_distances(word, others).tolist() == [_distance(word, other) for other in others]
