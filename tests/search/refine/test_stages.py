"""What each stage after fusion takes out, and what it must leave."""

from __future__ import annotations

import pytest
from tests.search.refine.builders import MemoryReader, make_chunk, ranked

from loccit.config import SearchSettings
from loccit.search.candidates import Candidate
from loccit.search.select.refine import Refined, refine

TIDE = "High water comes twice a day, and the harbour gates open an hour before it for vessels of every size and flag."
LAMP = "A keeper trims the lamp at dusk and again at midnight, and writes the weather into the book beside the stair."
ROPE = "Old rope is not thrown away but picked apart by hand, tarred, and driven between planks to keep the sea out."
NO_TWINS = ("content_dedup", "ngram_dedup")


def kept(refined: Refined) -> list[int]:
    return [candidate.chunk for candidate in refined.candidates]


def removed(refined: Refined, stage: str) -> list[int]:
    return [chunk for chunk, name in refined.removed.items() if name == stage]


def test_weak_results_are_left_out_and_named_ones_are_not() -> None:
    reader = MemoryReader([make_chunk(1, TIDE), make_chunk(2, LAMP), make_chunk(3, ROPE)])
    candidates = [Candidate(1, 0.2, pin=0.9), Candidate(2, 0.5), Candidate(3, 0.3)]
    refined = refine(candidates, SearchSettings(min_confidence=0.4), reader, limit=10)
    assert kept(refined) == [1, 2] and removed(refined, "threshold") == [3]
    assert refined.stats["original_count"] == 3 and refined.stats["after_threshold"] == 2
    assert kept(refine(candidates, SearchSettings(min_score=0.6), reader, limit=10)) == [1]
    assert kept(refine(candidates, SearchSettings(), reader, limit=10)) == [1, 2, 3]
    assert not refine(candidates[1:], SearchSettings(min_confidence=0.9), reader, limit=10).candidates


def test_the_same_text_is_shown_once_and_its_other_places_are_named() -> None:
    chunks = [
        make_chunk(1, TIDE, document=1),
        make_chunk(2, f"Left over. {TIDE.upper()}\n", document=2, prefix=11),
        make_chunk(3, LAMP, document=2),
        make_chunk(4, TIDE.replace(" ", "\n"), document=3),
    ]
    refined = refine(ranked(1, 2, 3, 4), SearchSettings(), MemoryReader(chunks), limit=10)
    assert kept(refined) == [1, 3]
    assert refined.also_in == {1: [2, 4]}
    assert {refined.chunks[chunk].source_path for chunk in refined.also_in[1]} == {
        "document-2.md",
        "document-3.md",
    }
    assert removed(refined, "content_dedup") == [2, 4]
    everything = SearchSettings(disabled=NO_TWINS)
    assert kept(refine(ranked(1, 2, 3, 4), everything, MemoryReader(chunks), limit=10)) == [1, 2, 3, 4]


def test_text_that_is_only_nearly_the_same_goes_by_the_second_stage() -> None:
    chunks = [make_chunk(1, TIDE), make_chunk(2, TIDE.replace("every size", "any size")), make_chunk(3, ROPE)]
    refined = refine(ranked(1, 2, 3), SearchSettings(), MemoryReader(chunks), limit=10)
    assert kept(refined) == [1, 3] and refined.also_in == {1: [2]}
    assert (refined.stats["after_content_dedup"], refined.stats["after_ngram_dedup"]) == (3, 2)
    off = SearchSettings(disabled=("ngram_dedup",))
    assert kept(refine(ranked(1, 2, 3), off, MemoryReader(chunks), limit=10)) == [1, 2, 3]
    strict = SearchSettings(ngram_dedup_threshold=1.0)
    assert kept(refine(ranked(1, 2, 3), strict, MemoryReader(chunks), limit=10)) == [1, 2, 3]


def test_a_contract_from_the_same_template_stays_in_the_list() -> None:
    chunks = [
        make_chunk(
            number, f"{TIDE} {party} gives notice {days} days before the end of the term.", document=number
        )
        for number, (party, days) in enumerate([("Acme", 30), ("Acme", 60), ("Globex", 30), ("Acme", 30)], 1)
    ]
    refined = refine(ranked(1, 2, 3, 4), SearchSettings(), MemoryReader(chunks), limit=10)
    assert kept(refined) == [1, 2, 3] and refined.also_in == {1: [4]}


def test_what_the_query_names_is_never_taken_out() -> None:
    chunks = [make_chunk(number, TIDE) for number in (1, 2, 3)]
    settings = SearchSettings(min_confidence=0.99, max_chunks_per_doc=1, dedup_enabled=True)
    reader = MemoryReader(chunks, {number: [1.0, 0.0] for number in (1, 2, 3)})
    refined = refine(ranked(1, 2, 3, pinned={1, 2}), settings, reader, limit=10)
    assert kept(refined) == [1, 2]
    assert kept(refine(ranked(3, 1, 2, pinned={1, 2}), SearchSettings(), reader, limit=10)) == [3, 1, 2]


def test_an_exact_twin_of_what_the_query_names_is_merged_into_it() -> None:
    chunks = [make_chunk(1, TIDE), make_chunk(2, TIDE, document=2)]
    refined = refine(ranked(1, 2, pinned={1}), SearchSettings(), MemoryReader(chunks), limit=10)
    assert kept(refined) == [1] and refined.also_in == {1: [2]}


def test_other_words_for_the_same_are_merged_when_asked_for() -> None:
    chunks = [
        make_chunk(1, "Passwords must be changed every 90 days."),
        make_chunk(2, "Every 90 days, credentials have to be renewed."),
        make_chunk(3, "Every 30 days, credentials have to be renewed."),
        make_chunk(4, LAMP),
        make_chunk(5, ROPE),
    ]
    vectors = {1: [1.0, 0.1, 0.0], 2: [1.0, 0.0, 0.1], 3: [1.0, 0.0, 0.0], 4: [0.0, 1.0, 0.0]}
    candidates = ranked(1, 2, 3, 4, 5)
    off = refine(candidates, SearchSettings(), MemoryReader(chunks, vectors), limit=10)
    assert kept(off) == [1, 2, 3, 4, 5]
    on = refine(candidates, SearchSettings(dedup_enabled=True), MemoryReader(chunks, vectors), limit=10)
    assert kept(on) == [1, 3, 4, 5], "another number is another rule, and what has no vector is like nothing"
    assert on.also_in == {1: [2]} and on.stats["clusters_merged"] == 1
    assert on.stats["after_ngram_dedup"] - on.stats["after_dedup"] == 1
    strict = SearchSettings(dedup_enabled=True, dedup_similarity_threshold=1.0)
    assert kept(refine(candidates, strict, MemoryReader(chunks, vectors), limit=10)) == [1, 2, 3, 4, 5]
    disabled = SearchSettings(dedup_enabled=True, disabled=("semantic_dedup",))
    assert kept(refine(candidates, disabled, MemoryReader(chunks, vectors), limit=10)) == [1, 2, 3, 4, 5]


def test_clauses_of_one_template_are_not_merged_for_their_meaning_either() -> None:
    text = f"## Delivery to Hamburg\n\n{ROPE}"
    chunks = [make_chunk(1, text), make_chunk(2, text.replace("Hamburg", "Rotterdam"))]
    reader = MemoryReader(chunks, {1: [1.0, 0.0], 2: [1.0, 0.001]})
    assert kept(refine(ranked(1, 2), SearchSettings(dedup_enabled=True), reader, limit=10)) == [1, 2]


def test_mmr_prefers_what_is_new() -> None:
    texts = {
        1: TIDE,
        2: "The gates are opened at high tide.",
        3: "Ships enter when the tide is up.",
        4: LAMP,
        5: ROPE,
    }
    chunks = [make_chunk(number, content) for number, content in texts.items()]
    vectors = {1: [1.0, 0, 0], 2: [0.99, 0.1, 0], 3: [0.98, 0.15, 0], 4: [0, 1.0, 0], 5: [0, 0, 1.0]}
    candidates = ranked(1, 2, 3, 4, 5, step=0.02)
    diverse = refine(candidates, SearchSettings(mmr_enabled=True), MemoryReader(chunks, vectors), limit=3)
    assert kept(diverse) == [1, 4, 5]
    scores = [candidate.score for candidate in diverse.candidates]
    assert scores == sorted(scores, reverse=True)
    assert diverse.stats["after_mmr"] == 3 and set(removed(diverse, "mmr")) == {2, 3}
    assert candidates[3].score == pytest.approx(0.84), "candidates are not changed"
    relevant = SearchSettings(mmr_enabled=True, mmr_lambda=1.0)
    assert kept(refine(candidates, relevant, MemoryReader(chunks, vectors), limit=3)) == [1, 2, 3]
    off = SearchSettings(mmr_enabled=True, disabled=("mmr",))
    assert kept(refine(candidates, off, MemoryReader(chunks, vectors), limit=3)) == [1, 2, 3]


def test_mmr_takes_the_place_of_merging_by_meaning() -> None:
    chunks = [make_chunk(1, "Water rises."), make_chunk(2, "The level goes up."), make_chunk(3, LAMP)]
    reader = MemoryReader(chunks, {1: [1, 0], 2: [1, 0.01], 3: [0, 1]})
    settings = SearchSettings(mmr_enabled=True, dedup_enabled=True)
    refined = refine(ranked(1, 2, 3), settings, reader, limit=3)
    assert kept(refined) == [1, 3, 2] and not refined.also_in and refined.stats["clusters_merged"] == 0


def test_mmr_works_where_there_are_no_vectors() -> None:
    reader = MemoryReader([make_chunk(1, TIDE), make_chunk(2, LAMP), make_chunk(3, ROPE)])
    refined = refine(ranked(1, 2, 3), SearchSettings(mmr_enabled=True), reader, limit=2)
    assert kept(refined) == [1, 2]
    assert not refine([], SearchSettings(mmr_enabled=True), reader, limit=2).candidates


def test_mmr_passes_over_a_document_that_has_had_its_share() -> None:
    chunks = [make_chunk(1, TIDE), make_chunk(2, LAMP), make_chunk(3, ROPE, document=2)]
    settings = SearchSettings(mmr_enabled=True, max_chunks_per_doc=1)
    reader = MemoryReader(chunks, {1: [1, 0, 0], 2: [0, 1, 0], 3: [0, 1, 0.01]})
    refined = refine(ranked(1, 2, 3), settings, reader, limit=2)
    assert kept(refined) == [1, 3] and removed(refined, "doc_limit") == [2]
    assert (refined.stats["after_mmr"], refined.stats["after_doc_limit"]) == (3, 2)


def test_a_document_gets_no_more_than_its_share() -> None:
    texts = [TIDE, LAMP, ROPE, "Fog closes the roads.", "Nets dry on the wall."]
    chunks = [make_chunk(n, content, document=2 if n == 5 else 1) for n, content in enumerate(texts, 1)]
    candidates = ranked(1, 2, 3, 4, 5)
    limited = refine(candidates, SearchSettings(max_chunks_per_doc=2), MemoryReader(chunks), limit=10)
    assert kept(limited) == [1, 2, 5] and removed(limited, "doc_limit") == [3, 4]
    pinned = ranked(1, 2, 3, 4, 5, pinned={1, 2, 3})
    assert kept(refine(pinned, SearchSettings(max_chunks_per_doc=2), MemoryReader(chunks), limit=10)) == [
        1,
        2,
        3,
        5,
    ]
    off = SearchSettings(max_chunks_per_doc=2, disabled=("doc_limit",))
    assert kept(refine(candidates, off, MemoryReader(chunks), limit=10)) == [1, 2, 3, 4, 5]


def test_a_text_is_not_lost_with_a_twin_that_the_limit_takes_out() -> None:
    chunks = [make_chunk(1, TIDE), make_chunk(2, LAMP), make_chunk(3, LAMP, document=2)]
    refined = refine(ranked(1, 2, 3), SearchSettings(max_chunks_per_doc=1), MemoryReader(chunks), limit=10)
    assert kept(refined) == [1, 3]


def test_no_more_is_read_than_it_takes() -> None:
    chunks = [make_chunk(n, f"Entry {n} of the log tells of day {n * 7} at sea.") for n in range(1, 301)]
    reader = MemoryReader(chunks)
    refined = refine(ranked(*range(1, 301), step=0.001), SearchSettings(), reader, limit=10)
    assert kept(refined) == list(range(1, 11))
    assert reader.read == list(range(1, 11)) and not reader.vectors_read
    assert refined.stats["looked_at"] == 10 and refined.stats["after_threshold"] == 300
    duplicates = [make_chunk(n, TIDE if n <= 8 else f"Entry {n}: day {n * 7}.") for n in range(1, 301)]
    reader = MemoryReader(duplicates)
    refined = refine(ranked(*range(1, 301), step=0.001), SearchSettings(), reader, limit=10)
    assert kept(refined) == [1, *range(9, 18)] and refined.also_in == {1: [2, 3, 4, 5, 6, 7, 8]}
    assert len(reader.read) <= 20


def test_chunks_that_are_gone_make_room_for_the_next() -> None:
    reader = MemoryReader([make_chunk(n, f"Entry {n}: day {n * 7}.") for n in (2, 3, 5)])
    refined = refine(ranked(1, 2, 3, 4, 5), SearchSettings(), reader, limit=3)
    assert kept(refined) == [2, 3, 5] and removed(refined, "gone") == [1, 4]
    assert refined.stats["looked_at"] == 3
