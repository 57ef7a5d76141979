"""Compounds meet their parts, by the words that a library has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.text.analysis import QueryTerm, query_terms
from loccit.grammar.text.decompound import COMPOUNDING, CompoundWords
from loccit.grammar.text.stemming import algorithm_for, index_forms


def words_of(text: str, language: str = "de") -> CompoundWords:
    algorithm = algorithm_for(language)
    counts = {form: 5 for word in text.lower().split() for form in index_forms(word, algorithm)}
    return CompoundWords(counts, [language])


@pytest.mark.parametrize(
    ("language", "vocabulary", "word", "expected"),
    [
        ("de", "höchste Arbeitszeit Arbeit Zeit", "hochstarbeitszeit", ["hochst", "arbeitszeit"]),
        ("de", "Kündigung Frist", "kundigungsfrist", ["kundigung", "frist"]),
        ("de", "Kind Wohl", "kindeswohl", ["kind", "wohl"]),
        ("de", "Daten Schutz Beauftragter", "datenschutzbeauftragter", ["daten", "schutz", "beauftragter"]),
        ("nl", "arbeid tijd wet", "arbeidstijdenwet", ["arbeid", "tijd", "wet"]),
        ("sv", "arbete arbets tid lag", "arbetstidslag", ["arbets", "tid", "lag"]),
        ("fi", "työ aika laki", "tyoaikalaki", ["tyo", "aika", "laki"]),
        ("de", "aus Bildung", "ausbildung", []),
        ("de", "Frist", "kundigungsfrist", []),
    ],
)
def test_a_word_is_cut_into_words_of_the_library(
    language: str, vocabulary: str, word: str, expected: list[str]
) -> None:
    algorithm = algorithm_for(language)
    forms = [set(own) for _, own in words_of(vocabulary, language).split(word)]
    assert forms == [set(index_forms(part, algorithm)) for part in expected]


def test_words_know_the_compounds_that_they_are_parts_of() -> None:
    words = words_of("Kündigung Frist Kündigungsfrist Monat Mo Fristablauf Ablauf")
    assert set(words.compounds_of("frist")) == {"kundigungsfrist", "fristablauf"}
    terms = words.widen(query_terms("Frist der Kündigung", ["de"]), "Frist der Kündigung")
    assert all("kundigungsfrist" in term.within for term in terms)


def test_a_question_in_another_language_is_left_alone() -> None:
    words = words_of("Information Pflicht Informationspflicht")
    text = "the information of the people"
    assert words.widen(query_terms(text, ["en", "de"]), text) == query_terms(text, ["en", "de"])


@given(st.lists(st.text("abens", min_size=3, max_size=6), max_size=30), st.text("abens", max_size=80))
def test_any_word_is_taken_apart_into_known_words(vocabulary: list[str], word: str) -> None:
    words = CompoundWords(dict.fromkeys(vocabulary, 3), ["de"])
    for part, forms in words.split(word):
        assert part in word and set(forms) & set(vocabulary)
    for compound in words.compounds_of(word):
        assert compound in vocabulary
    [term] = words.widen([QueryTerm(word, (word,))], word) if word else [QueryTerm("", ())]
    assert term.forms == ((word,) if word else ())
    assert COMPOUNDING
