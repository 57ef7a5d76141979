"""What holds for refining, whatever the candidates and the settings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.refine.builders import MemoryReader, make_chunk

from loccit.config import SearchSettings
from loccit.search.candidates import Candidate
from loccit.search.select.refine import refine

WORDS = [
    "Acme",
    "Globex",
    "shall",
    "may",
    "not",
    "pay",
    "the",
    "fee",
    "30",
    "60",
    "days",
    "before",
    "合同",
    "tide",
]
Case: TypeAlias = tuple[list[Candidate], SearchSettings, MemoryReader, int]
DEDUPLICATIONS = {"content_dedup", "ngram_dedup", "semantic_dedup"}

texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.sampled_from(
    ["The tide turns.", "The  TIDE turns.", "the tides turn.", "", "---"]
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(0, 25))
    chunks, vectors, candidates = [], {}, []
    for number in range(1, count + 1):
        if draw(st.integers(0, 9)):
            chunks.append(make_chunk(number, draw(texts), document=draw(st.integers(1, 4))))
        if draw(st.booleans()):
            vectors[number] = draw(st.sampled_from([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [-1.0, 0.2]]))
        named = not draw(st.integers(0, 3))
        score = draw(st.floats(0.85, 1) if named else st.floats(0, 0.85))
        candidates.append(Candidate(number, score, pin=0.8 if named else 0.0))
    candidates.sort(key=lambda item: (item.pin == 0, -item.score))
    options = SearchSettings(
        min_confidence=draw(st.sampled_from([0.0, 0.3, 0.95])),
        max_chunks_per_doc=draw(st.integers(0, 3)),
        dedup_enabled=draw(st.booleans()),
        mmr_enabled=draw(st.booleans()),
        mmr_lambda=draw(st.floats(0, 1)),
        ngram_dedup_threshold=draw(st.sampled_from([0.3, 0.7, 1.0])),
        disabled=tuple(draw(st.sets(st.sampled_from(["content_dedup", "ngram_dedup", "doc_limit"])))),
    )
    return candidates, options, MemoryReader(chunks, vectors), draw(st.integers(1, 12))


@settings(deadline=None)
@given(cases())
def test_results_are_a_part_of_the_candidates_with_descending_scores(case: Case) -> None:
    candidates, options, reader, limit = case
    before = [replace(candidate) for candidate in candidates]
    refined = refine(candidates, options, reader, limit=limit)
    assert candidates == before
    found = [candidate.chunk for candidate in refined.candidates]
    assert len(found) == len(set(found)) <= limit
    assert set(found) <= refined.chunks.keys()
    order = [candidate.chunk for candidate in candidates]
    assert set(found) <= set(order)
    if not options.mmr_enabled:
        assert found == [chunk for chunk in order if chunk in set(found)]
    assert all(a.score >= b.score for a, b in pairwise(refined.candidates))


@settings(deadline=None)
@given(cases())
def test_what_is_named_comes_first_and_stays(case: Case) -> None:
    candidates, options, reader, limit = case
    named = [candidate.chunk for candidate in candidates if candidate.pin > 0]
    there = [chunk for chunk in named if chunk in reader.chunks(named)]
    refined = refine(candidates, options, reader, limit=limit)
    assert [c.chunk for c in refined.candidates][: len(there)] == there[:limit]
    if len(there) <= limit:
        assert not refined.removed.keys() & set(there)


@settings(deadline=None)
@given(cases())
def test_every_twin_is_named_by_what_is_shown_for_it(case: Case) -> None:
    candidates, options, reader, limit = case
    refined = refine(candidates, options, reader, limit=limit)
    shown = {candidate.chunk for candidate in refined.candidates}
    assert refined.also_in.keys() <= shown
    duplicates = [chunk for others in refined.also_in.values() for chunk in others]
    assert len(duplicates) == len(set(duplicates)) and not shown & set(duplicates)
    gone = {chunk for chunk, stage in refined.removed.items() if stage in DEDUPLICATIONS}
    # MMR may pass over a text altogether, with all its duplicates.
    assert set(duplicates) <= gone if options.mmr_enabled else set(duplicates) == gone
    assert set(duplicates) <= refined.chunks.keys()


@settings(deadline=None)
@given(cases())
def test_the_figures_add_up(case: Case) -> None:
    candidates, options, reader, limit = case
    refined = refine(candidates, options, reader, limit=limit)
    stats, removed = refined.stats, list(refined.removed.values())
    assert stats["original_count"] == len(candidates)
    assert stats["original_count"] - stats["after_threshold"] == removed.count("threshold")
    steps = [
        ("looked_at", "after_content_dedup", "content_dedup"),
        ("after_content_dedup", "after_ngram_dedup", "ngram_dedup"),
        ("after_ngram_dedup", "after_dedup", "semantic_dedup"),
        ("after_dedup", "after_mmr", "mmr"),
        ("after_mmr", "after_doc_limit", "doc_limit"),
    ]
    for earlier, later, stage in steps:
        assert stats[earlier] - stats[later] == removed.count(stage)
    assert stats["after_doc_limit"] == len(refined.candidates)
    assert stats["clusters_merged"] == removed.count("semantic_dedup")
    assert stats["looked_at"] + removed.count("gone") <= stats["after_threshold"]
    if len(refined.candidates) < limit:
        assert stats["looked_at"] + removed.count("gone") == stats["after_threshold"]


@settings(deadline=None)
@given(cases())
def test_refining_what_is_refined_changes_nothing(case: Case) -> None:
    candidates, options, reader, limit = case
    options = replace(options, mmr_enabled=False)
    once = refine(candidates, options, reader, limit=limit)
    twice = refine(once.candidates, options, reader, limit=limit)
    assert twice.candidates == once.candidates and not twice.removed and not twice.also_in


@settings(deadline=None)
@given(cases())
def test_how_many_are_wanted_does_not_change_the_order(case: Case) -> None:
    candidates, options, reader, limit = case
    options = replace(options, mmr_enabled=False)
    few = refine(candidates, options, reader, limit=limit).candidates
    many = refine(candidates, options, reader, limit=limit + 5).candidates
    assert many[: len(few)] == few
