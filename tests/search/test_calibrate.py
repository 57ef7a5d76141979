"""Confidence: how sure an answer is, between 0 and 1, low where nothing fits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest
from tests.search.asking import ask, write

from loccit import Library
from loccit.search.present.respond import LOW_CONFIDENCE

ON_TOPIC = [
    "when must the captain report an accident",
    "may we quit the contract before it ends",
    "duty to make occurrences known to the harbour office",
    "salmon counted at the fish ladder",
    "what does the pump show when the pressure is too high",
    "who pays for damage to the quay",
    "how is the filter of the pump cleaned",
    "what the keeper saw in the storm",
    "Liegeplätze anmelden",
    "notice of arrival of a vessel",
]
OFF_TOPIC = [
    "best pizza in Naples",
    "how do I cook a soft-boiled egg",
    "who won the chess world championship in 1972",
    "symptoms of appendicitis in toddlers",
    "exchange rate of the yen against the dollar",
    "lyrics of a lullaby about sheep",
    "quantum chromodynamics lattice gauge theory",
    "which vaccine does a kitten need",
]
MODES = ("hybrid", "semantic", "keyword", "exact")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query",
    [*ON_TOPIC[:4], *OFF_TOPIC[:4], "E17", "Section 306", "Section 9999", "qwxyzzy", "a", "100 % of 5"],
)
def test_confidence_and_scores_are_between_0_and_1_and_scores_descend(
    library: Library, mode: str, query: str
) -> None:
    response = library.search(query, mode=mode, top_k=100)
    assert 0.0 <= response.confidence <= 1.0
    scores = [result.fused_score for result in response.results]
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert all(a >= b for a, b in pairwise(scores))
    if not scores:
        assert response.confidence == 0.0


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_questions_that_nothing_answers_come_out_low(library: Library, mode: str) -> None:
    on = [library.search(query, mode=mode).confidence for query in ON_TOPIC]
    off = [library.search(query, mode=mode).confidence for query in OFF_TOPIC]
    assert mean(off) < 0.5 * mean(on)
    # One by one: hardly any on the wrong side of the other kind.
    wrong = sum(low >= high for low in off for high in on)
    assert wrong <= 0.1 * len(on) * len(off)


def test_what_does_not_fit_well_is_said(library: Library) -> None:
    for query in OFF_TOPIC:
        response = library.search(query)
        assert ("Nothing matches well" in response.note) == (response.confidence < LOW_CONFIDENCE)
    assert any("Nothing matches well" in library.search(query).note for query in OFF_TOPIC)


def test_what_is_named_is_meant(library: Library) -> None:
    for query in ("Section 306", "getAuthToken"):
        assert library.search(query).confidence > 0.8
    missing = library.search("Section 9999")
    assert missing.confidence < 0.6
    assert "No Section 9999 was found" in missing.note


def test_a_place_that_does_not_exist_makes_less_sure_of_the_rest(library: Library) -> None:
    words = "report a collision to the harbour master"
    with_place = library.search(f"Section 9999 {words}").confidence
    assert with_place < library.search(words).confidence


@pytest.mark.parametrize("query", [ON_TOPIC[0], OFF_TOPIC[0]])
def test_how_many_are_shown_does_not_matter(library: Library, query: str) -> None:
    assert len({library.search(query, top_k=count).confidence for count in (1, 3, 10, 100)}) == 1


def test_the_best_of_a_poor_lot_does_not_score_like_the_best_of_a_good_one(library: Library) -> None:
    good = [library.search(query).results[0].fused_score for query in ON_TOPIC]
    poor = [library.search(query).results[0].fused_score for query in OFF_TOPIC]
    assert mean(poor) < mean(good) - 0.2


def test_more_words_that_are_there_make_surer(library: Library) -> None:
    right = "the master of a vessel shall report a collision"
    wrong = f"{right} involving glaciers, trombones and marzipan"
    assert library.search(wrong).confidence < library.search(right).confidence


def test_what_decided_is_explained(library: Library) -> None:
    on, off = ask(library, ON_TOPIC[0]).explanation, ask(library, OFF_TOPIC[0]).explanation
    assert on and off
    assert on["evidence"].keys() == off["evidence"].keys()
    assert on["evidence"]["meaning"] > off["evidence"]["meaning"]
    for name in ("meaning", "words"):
        assert 0.0 <= off["evidence"][name] <= 1.0 and 0.0 <= on["evidence"][name] <= 1.0


def test_confidence_decides_what_nothing_found_is(library: Library) -> None:
    found = {query: library.search(query).confidence for query in (*ON_TOPIC, *OFF_TOPIC)}
    for query, confidence in found.items():
        response = ask(library, query, min_confidence=0.3)
        assert bool(response.results) == (confidence >= 0.3)
        if not response.results:
            assert "No match found." in response.note
    assert max(found.values()) > 0.3 > min(found.values())


def test_a_word_that_stands_there_often_is_not_two_words(tmp_path: Path) -> None:
    attacks = "# Protocols\n\n## Attack surface\n\n" + "An attack on an attack is an attack. " * 30
    others = {f"note{number}.md": f"# Note {number}\n\nBoats leave quay {number}.\n" for number in range(30)}
    write(tmp_path / "docs", {"attacks.md": attacks, "one.md": "# One\n\nA terrorist was named.\n", **others})
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "docs"], embed=False)
        assert library.search("terrorist attack").confidence < 0.5
        assert library.search("attack surface").confidence > 0.5
