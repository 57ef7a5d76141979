"""Mentions: the same words that analysing all of a text would find, in less time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.grammar.text.analysis import analyze, query_terms
from loccit.search.select.snippets.evidence import Mentions

PLAIN = """use using used uses hope hoping company companies die dying tie tying lie lying fly flies run running take
    taking activity active activities indicator indication record recording the of general generally news only sky
    skies email e-mail 1000 1,000 v1.2 1.2 32.706-2 32.706 well-known wellknown getUserById user by id max_pressure_kpa
    pressure HTTPServer server IDs C++ C# don't co-op coop __init__ init foo/bar U.S. user@host.com haemoglobin""".split()
FOREIGN = """café cafe cafe\u0301 activité activités Prüfung Pruefung über ueber groß gross Öl Oel Müller Mueller naïve
    O’Brien obrien l’article article con\u00adtract contract ﬁsh fish ＦＵＬＬ full x² x2 個人情報 情報 договор договора
    İstanbul istanbul gewerkt werk lopen loop""".split()
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "fi", "id", "sv", "tr", "ru", "ja", "xx"]

plain = st.sampled_from(PLAIN) | st.text(alphabet="abcdehiostuy", min_size=1, max_size=12)
either = plain | st.sampled_from(FOREIGN)
written = st.sampled_from([str, str, str.upper, str.capitalize])
between = st.sampled_from(
    [" ", " ", " ", "\n", "\t", "\u2003", "\x85", ". ", ", ", "-", "_", "/", "'", "’", " (", ") ", "—", ""]
)


def texts(words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pieces = st.builds(lambda write, word, after: write(word) + after, written, words, between)
    return st.lists(pieces, min_size=1, max_size=20).map("".join)


def by_analysis(query: str, text: str, language: str) -> list[tuple[int, int]]:
    terms = query_terms(query, [language])
    known = [term.forms for term in [*terms, *(part for term in terms for part in term.parts)]]
    return sorted(
        (token.start, what)
        for token in analyze(text, language)
        for what, forms in enumerate(known)
        if token.text in forms
    )


@settings(deadline=None)
@given(st.lists(plain, min_size=1, max_size=4).map(" ".join), texts(plain), st.sampled_from(LANGUAGES))
def test_plain_text_has_the_mentions_that_analysis_finds(query: str, text: str, language: str) -> None:
    assert Mentions(query_terms(query, [language])).find(text, language) == by_analysis(query, text, language)


@settings(deadline=None)
@given(st.lists(either, min_size=1, max_size=4).map(" ".join), texts(either), st.sampled_from(LANGUAGES))
def test_any_text_has_the_mentions_that_analysis_finds(query: str, text: str, language: str) -> None:
    assert Mentions(query_terms(query, [language])).find(text, language) == by_analysis(query, text, language)


@pytest.mark.parametrize(
    ("query", "text", "language", "at"),
    [
        ("use", "It is good for using.", "en", [15]),
        ("die", "The dying flame", "en", [4]),
        ("werk", "Er is gewerkt", "nl", [6]),
        ("email", "Send an e-mail.", "en", [8]),
        ("1000", "More than 1,000 ships", "en", [10]),
        ("pressure", "max_pressure_kpa and maxPressure", "en", [4, 24]),
        ("Prüfung", "Die Pruefung der Prüfungen", "de", [4, 17]),
        ("über", "Ueber", "de", [0]),
        # White space that is not ASCII ends a word too.
        ("Prüfung", "use\u2003Prüfung ", "en", [4]),
        ("Prüfung", "use\x85Prüfung ", "en", [4]),
        ("activité", "des activités", "fr", [4]),
        ("contract", "The con\u00adtract ends", "en", [4]),
        ("個人情報", "これは個人情報です。", "ja", [3, 4, 5]),
        ("art", "The party starts", "en", []),
        ("", "Nothing was asked", "en", []),
    ],
)
def test_words_are_found_in_whichever_form(query: str, text: str, language: str, at: list[int]) -> None:
    found = Mentions(query_terms(query, [language])).find(text, language)
    assert sorted({place for place, _ in found}) == at


def test_parts_of_a_compound_are_less_than_the_whole() -> None:
    mentions = Mentions(query_terms("boundary-layer flow getUserById", ["en"]))

    def share(text: str) -> list[float]:
        present = np.zeros((1, mentions.count), np.float32)
        for _, what in mentions.find(text, "en"):
            present[0, what] = 1
        return [round(float(value), 2) for value in mentions.shares(present)[0]]

    assert share("the boundary-layer flow of getUserById") == [1.0, 1.0, 1.0]
    assert share("the boundarylayer") == [1.0, 0.0, 0.0]
    assert share("a layer at the boundary") == [0.8, 0.0, 0.0]
    assert share("the boundary of the flow") == [0.4, 1.0, 0.0]
    assert share("a user") == [0.0, 0.0, 0.05]


def test_a_word_ends_at_white_space_of_every_kind() -> None:
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    mentions = Mentions(query_terms("email", ["en"]))
    assert all(mentions.find(f"x{space}e-mail{space}x", "en") == [(2, 0)] for space in spaces)


def test_long_addresses_are_found_again_wherever_they_stand() -> None:
    mentions = Mentions(query_terms("harbour", ["en"]))
    for path in ("a/" * 25, "a/" * 100):
        text = f"see {path}harbour/x and {path}harbour/x"
        first = 4 + len(path)
        assert mentions.find(text, "en") == [(first, 0), (text.rindex("harbour"), 0)]
