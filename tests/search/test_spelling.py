"""Spelling: slips are mended, words that occur or may be meant are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.index.folder.keyword import KeywordEntry, KeywordIndex
from loccit.search.understand.query import understand
from loccit.search.understand.spelling import (
    Correction,
    corrected_text,
    describe_corrections,
    edit_distance,
    find_corrections,
)

TEXTS = (
    "The controller keeps a record of processing activities.",
    "The controller notifies the supervisory authority of a breach.",
    "Controllers receive requests in writing; the record is separate.",
    "A separate horse record is kept for the breach of a gate.",
    "Die Behörde prüft die Verträge und die Größe der Anlage.",
    "Die Größe wird geprüft; die Anlage hat eine Behörde.",
    "Causes of loss, cases of theft, cases of fire, and other cases.",
    "Causes and cases; the authentication happened once.",
)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeywordIndex]:
    opened = KeywordIndex.open(tmp_path_factory.mktemp("spelling") / "keyword")
    with opened.writer() as writer:
        for number, text in enumerate(TEXTS, 1):
            language = "de" if "Behörde" in text else "en"
            writer.add_document(number, [KeywordEntry(number, number, language, "", "", text)])
        writer.commit(1)
    yield opened
    opened.close()


def corrections(text: str, dictionary: KeywordIndex) -> dict[str, str]:
    found = find_corrections(understand(text).rest, dictionary, ["en", "de"])
    return {item.word: item.replacement for item in found}


@pytest.mark.parametrize(
    ("text", "word", "replacement"),
    [
        ("duties of the contrller", "contrller", "controller"),
        ("duties of the controler", "controler", ""),  # found as it is: its stem is that of `controller`
        ("duties of the contorller", "contorller", "controller"),
        ("duties of the Controlller?", "Controlller", "controller"),
        ("recieve requests", "recieve", "receive"),
        ("a seperate record", "seperate", "separate"),
        ("authentcation of users", "authentcation", "authentication"),
        ("suprevisory autority", "autority", "authority"),
        ("casues of loss", "casues", "causes"),  # letters swapped, rather than the more frequent `cases`
        ("die Behorde prüft", "Behorde", ""),  # accents do not matter, so this is no slip
        ("die Behöde prüft", "Behöde", "behorde"),
        ("die Grösse der Anlage", "Grösse", ""),
    ],
)
def test_a_slip_is_mended(dictionary: KeywordIndex, text: str, word: str, replacement: str) -> None:
    assert corrections(text, dictionary).get(word, "") == replacement


@pytest.mark.parametrize(
    "text",
    [
        "the controller and its records",  # they occur
        "controlling the recording",  # in other forms
        "CONTROLER",  # in capitals it is a name
        "controlEr",  # and so it is here
        "controler_id controler.py x/controler user@controler controler's pre-controler",
        '"controler"',
        "`controler`",
        "whose them which would",  # function words may be absent
        "gat",  # too short
        "controller123 1234",
        "zebra crossing",  # near nothing
        "hxrsx",  # two slips in a short word
        "水水水水 мост",
    ],
)
def test_what_is_left_alone(dictionary: KeywordIndex, text: str) -> None:
    assert corrections(text, dictionary) == {}


def test_a_word_that_others_vouch_for_is_no_slip(dictionary: KeywordIndex) -> None:
    assert find_corrections("the house gatte", dictionary, ["en"], known=lambda word: word == "house") == ()
    assert find_corrections("a horsse", dictionary, ["en"], known=lambda word: word == "horsse") == ()


def test_a_rare_word_is_no_replacement_for_a_short_one(dictionary: KeywordIndex) -> None:
    assert find_corrections("theftt", dictionary, ["en"]) == (Correction("theftt", "theft"),)
    assert find_corrections("gatte", dictionary, ["en"]) == ()
    assert find_corrections("gatte", dictionary, ["en"], at_least=1) == (Correction("gatte", "gate"),)


def test_a_query_in_another_language_is_not_mended(dictionary: KeywordIndex) -> None:
    assert corrections("controlleur obligaciones separato registrro", dictionary) == {}


def test_the_text_to_embed_is_mended_outside_quotes() -> None:
    found = [Correction("controler", "controller"), Correction("Recrod", "record")]
    text = 'Recrod of the controler, not "controler" or `controler`, controler-id or controlers'
    assert corrected_text(text, found) == (
        'record of the controller, not "controler" or `controler`, controler-id or controlers'
    )
    assert corrected_text(text, []) == text


def test_the_correction_is_told() -> None:
    assert describe_corrections([]) == ""
    assert describe_corrections([Correction("controler", "controller")]) == (
        "Also searched for “controller” (nothing has “controler”)."
    )
    both = describe_corrections([Correction("a", "b"), Correction("c", "d")])
    assert both == "Also searched for “b” and “d” (nothing has “a” or “c”)."


_letters = st.text(alphabet="abcdeé", max_size=8)


@given(_letters, _letters, _letters)
def test_the_distance_is_a_distance(one: str, two: str, three: str) -> None:
    assert edit_distance(one, two) == edit_distance(two, one)
    assert (edit_distance(one, two) == 0) == (one == two)
    assert abs(len(one) - len(two)) <= edit_distance(one, two) <= max(len(one), len(two))
    assert edit_distance(one + three, two + three) <= edit_distance(one, two)


@given(st.text(alphabet="abcdefgh", min_size=2, max_size=10), st.data())
def test_one_slip_is_one_step(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 2))
    slips = {
        word[:place] + word[place + 1 :],
        word[:place] + "x" + word[place:],
        word[:place] + "x" + word[place + 1 :],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    }
    assert {edit_distance(word, slip) for slip in slips} <= {0, 1}


class _Anything:
    """A dictionary that has nothing and suggests a fixed word."""

    def frequency(self, word: str, languages: object) -> int:
        return 0

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        return [(word.casefold()[:-1] + "x", 5)]


@given(st.text(max_size=100))
def test_any_text_is_looked_through(text: str) -> None:
    found = find_corrections(text, _Anything(), ["en"])
    assert all(item.word in text or not text.isascii() for item in found)
    corrected_text(text, found)


def test_the_library_of_a_search_serves_as_dictionary(tmp_path: Path) -> None:
    """The protocol is that of the keyword index, with nothing in between."""
    opened = KeywordIndex.open(tmp_path / "keyword")
    assert find_corrections("anything", opened, ["en"]) == ()
    opened.close()
