"""Search terms: what a text can be found by."""

from __future__ import annotations

import threading
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.grammar.text.analysis import (
    analyze,
    exact_terms,
    index_and_exact_terms,
    index_terms,
    phrase_terms,
    query_terms,
)
from loccit.grammar.text.folding import MAX_TERM


def words(text: str, language: str = "en", stem: bool = False) -> set[str]:
    return {token.text for token in analyze(text, language, stem)}


def positions(text: str) -> dict[str, int]:
    return {token.text: token.position for token in analyze(text, stem=False)}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserById", {"getuserbyid", "get", "user", "by", "id"}),
        ("HTTPResponse", {"httpresponse", "http", "response"}),
        ("parse_json_data", {"parse_json_data", "parsejsondata", "parse", "json", "data"}),
        ("myVar123", {"myvar123", "my", "var", "123"}),
        ("__init__", {"__init__", "init"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("C++", {"c++"}),
        ("C#", {"c#"}),
        ("F#", {"f#"}),
        ("C++11", {"c++", "11"}),
        (".NET", {".net", "net"}),
        ("ASP.NET", {"asp.net", "aspnet", "asp", "net"}),
        ("node.js", {"node.js", "nodejs", "node", "js"}),
        ("32.706-2", {"32.706-2", "32.706", "32", "706", "2"}),
        ("v1.2.3", {"v1.2.3", "1.2.3", "v1.2", "v1", "2", "3"}),
        ("E17", {"e17"}),
        ("H1N1", {"h1n1"}),
        ("sha256", {"sha256", "sha", "256"}),
        ("APIs", {"apis"}),
        ("1,000", {"1,000", "1000", "1", "000"}),
        ("well-known", {"well-known", "wellknown", "well", "known"}),
        ("kube-apiserver", {"kube-apiserver", "kubeapiserver", "kube", "apiserver"}),
        ("/etc/hosts", {"etc/hosts", "etc", "hosts"}),
        ("controller's", {"controller"}),
        ("controller’s", {"controller"}),
        ("don't", {"dont"}),
        ("O’Brien", {"o", "brien", "obrien"}),
        ("l'article", {"l", "article"}),
        ("Überschrift", {"uberschrift"}),
        ("Straße", {"strasse"}),
        ("co\u00adoperate", {"cooperate"}),
        ("ﬁne ＦＵＬＬ", {"fine", "full"}),
        ("Ёлка йод", {"елка", "йод"}),
        ("Ἀθήνα", {"αθηνα"}),
        ("كِتَابٌ", {"كتاب"}),
        ("שָׁלוֹם", {"שלום"}),
        ("हिन्दी", {"हिन्दी"}),
        ("東京都", {"東京", "京都", "東", "京", "都"}),
        ("猫", {"猫"}),
        ("ｶﾞｽ", {"ガス", "ガ", "ス"}),
        ("한국어", {"한국", "국어", "한", "국", "어"}),
        ("Python言語", {"python", "言語", "言", "語"}),
        ("... --- !!! ___ €", set()),
        ("", set()),
    ],
)
def test_terms_of(text: str, terms: set[str]) -> None:
    assert words(text) == terms


def test_emails_and_urls_are_found_whole_and_by_their_names() -> None:
    assert {"john.doe@example.com", "john.doe", "example.com", "doe"} <= words(
        "mail john.doe@example.com now"
    )
    url = words("see https://kubernetes.io/docs/foo-bar?x=1")
    assert {"https://kubernetes.io/docs/foo-bar", "kubernetes.io", "foo-bar", "docs"} <= url


@pytest.mark.parametrize("text", ["naïve", unicodedata.normalize("NFD", "naïve"), "NAIVE", "ｎａｉｖｅ"])
def test_spellings_of_one_word_meet(text: str) -> None:
    assert words(text) == {"naive"}


def test_decomposed_korean_meets_composed() -> None:
    assert words(unicodedata.normalize("NFD", "한국어")) == words("한국어")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "controllers", "controller"),
        ("de", "Häuser", "Haus"),
        ("de", "Vertrages", "Verträge"),
        ("fr", "générales", "generale"),
        ("fr", "activité", "activite"),
        ("es", "canciones", "canción"),
        ("ru", "договоры", "договора"),
        ("pt-BR", "informações", "informacoes"),
    ],
)
def test_inflections_meet_within_a_language(language: str, one: str, other: str) -> None:
    assert words(one, language, stem=True) & words(other, language, stem=True)


def test_a_language_without_stemmer_keeps_words() -> None:
    assert words("controllers", "xx", stem=True) == {"controllers"}
    assert words("controllers", "", stem=True) == {"controllers"}


def test_numbers_and_identifiers_are_not_stemmed() -> None:
    assert {"parse_files", "1990s"} <= words("parse_files 1990s", stem=True)


def test_parts_stand_where_phrases_expect_them() -> None:
    place = positions("the well-known GitHub repository")
    assert [place[word] for word in ("the", "well", "known", "github", "repository")] == [0, 1, 2, 3, 4]
    assert place["well-known"] == place["wellknown"] == 1
    assert place["git"] == place["hub"] == place["github"]


def test_phrases_follow_the_positions_of_the_text() -> None:
    assert phrase_terms("The well-known, GitHub") == [(0, "the"), (1, "well"), (2, "known"), (3, "github")]
    assert phrase_terms("東京都") == [(0, "東京"), (1, "京都")]
    assert phrase_terms("...") == []


HOSTILE = [
    "a",
    "_",
    "\u0301",
    "\u0301\u0316",
    "a\u0301",
    "a_",
    "a.",
    "aB",
    "'a",
    "漢",
    "ก\u0e38\u0e48",
    "1,000",
    "\u200d",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_are_analysed_with_bounded_terms(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    tokens = analyze(text)
    assert all(0 < len(token.text) <= MAX_TERM for token in tokens)
    assert len(tokens) <= 3 * len(text)


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_gives_ordered_tokens_inside_it(text: str) -> None:
    tokens = analyze(text)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    assert all(token.text for token in tokens)
    places = [token.position for token in tokens]
    assert places == sorted(places)
    assert tokens == analyze(text)
    assert [(token.text, token.position) for token in tokens] == index_terms(text, "en")
    assert index_and_exact_terms(text, "en") == (index_terms(text, "en"), exact_terms(text))
    assert {(term, place) for place, term in phrase_terms(text)} <= {
        (term, place - exact_terms(text)[0][1]) for term, place in exact_terms(text)
    }


@given(st.lists(st.from_regex(r"[A-Za-z]{1,12}[0-9]{0,3}", fullmatch=True), max_size=8))
def test_offsets_slice_back_to_the_source(parts: list[str]) -> None:
    text = " ".join(parts)
    for token in analyze(text, stem=False):
        assert text[token.start : token.end].lower() == token.text


def test_threads_agree() -> None:
    text = "Processing of personal data by controllers, processors and their representatives " * 50
    expected = analyze(text)
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(analyze(text) == expected)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def asked(query: str, *languages: str) -> list[str]:
    return [term.text for term in query_terms(query, languages or ("en",))]


def test_queries_lose_stopwords_unless_there_is_nothing_else() -> None:
    assert asked("what is the right to erasure?") == ["right", "erasure"]
    assert asked("to be or not to be") == ["to", "be", "or", "not"]
    assert asked("Was ist die Würde des Menschen", "de") == ["wurde", "menschen"]
    assert asked("???") == []


def test_capitals_save_a_word_from_being_a_stopword() -> None:
    assert asked("WHO guidance for IT") == ["who", "guidance", "it"]
    assert asked("WHO IS THE CONTROLLER") == ["controller"]


def test_stopwords_of_a_second_language_go_only_when_the_query_is_in_it() -> None:
    assert asked("die hard", "en", "de") == ["die", "hard"]
    assert asked("Haftung für die Schäden", "en", "de") == ["haftung", "schaden"]


def test_a_query_term_has_its_stem_in_every_language() -> None:
    (term,) = query_terms("Nationen", ["en", "de"])
    assert {"nationen", "nation"} <= set(term.forms)


def test_identifiers_in_queries_are_whole_first_and_parts_for_less() -> None:
    (term,) = query_terms("getUserById", ["en"])
    assert term.forms == ("getuserbyid",)
    assert [part.text for part in term.parts] == ["get", "user", "by", "id"]
    (hyphened,) = query_terms("boundary-layer", ["en"])
    assert 0 < term.parts_weight < hyphened.parts_weight < 1


def test_queries_are_deduplicated_and_capped() -> None:
    assert asked("data Data DATA") == ["data"]
    assert len(asked(" ".join(f"word{number}" for number in range(5000)))) == 64


def test_chinese_queries_ask_for_pairs() -> None:
    assert asked("个人信息", "zh") == ["个人", "人信", "信息"]


@settings(max_examples=200, deadline=None)
@given(st.text(), st.lists(st.sampled_from(["en", "de", "ja", "", "xx"]), max_size=3))
def test_some_form_of_every_query_term_is_in_the_index(text: str, languages: list[str]) -> None:
    for language in languages or [""]:
        indexed = words(text, language, stem=True)
        for term in query_terms(text, languages or [""]):
            assert indexed & set(term.forms)
