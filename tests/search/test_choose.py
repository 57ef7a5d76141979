"""From ranked candidates to what is shown: pins, duplicates, limits, thresholds, rerankers, parents."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import ask, files, ids, scored, write

from loccit import Library
from loccit.errors import UsageError
from loccit.model import SearchResponse
from loccit.search.candidates import Candidates, RankedList

BERTHS = "\n".join(
    f"## Berth {name}\n\nVessels at berth {name.lower()} pay the harbour fee {when}, and the harbour master "
    f"{does} them.\n"
    for name, when, does in (
        ("Ash", "on arrival", "registers"),
        ("Birch", "before leaving", "inspects"),
        ("Cedar", "every Monday", "counts"),
        ("Elm", "by the month", "photographs"),
        ("Fir", "in the spring", "measures"),
        ("Hazel", "at the window", "greets"),
    )
)
FILES = {
    "berths.md": f"# Berths\n\n{BERTHS}",
    "office.md": "# Office\n\nThe harbour office takes the fee of a vessel in cash and gives a receipt.\n",
    "mooring.md": "# Mooring\n\nA vessel without a berth moors at the buoy and owes no harbour fee.\n",
    "pilots.md": "# Pilots\n\nA pilot boards each vessel outside the harbour; the fee of the pilot is extra.\n",
    "copy.md": "# Office, a copy\n\nThe harbour office takes the fee of a vessel in cash and gives a receipt.\n",
    "rules.md": (
        "# Rules\n\n## Section 1 Dogs\n\nDogs are kept on a lead.\n\n## Section 2 Bins\n\n"
        "### Glass\n\nBottles go into the green bin.\n\n### Paper\n\nNewspapers go into the blue bin.\n"
    ),
}
QUERY = "harbour fee of a vessel"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("choose"), FILES)
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


def relevances(response: SearchResponse) -> list[float]:
    return [
        r.explanation["relevance"] for r in response.results if r.explanation and "relevance" in r.explanation
    ]


# -- what the query names ------------------------------------------------------------------------------------

fused = st.lists(
    st.tuples(st.integers(0, 1000), st.floats(0.0, 1.0)), max_size=40, unique_by=lambda pair: pair[0]
).map(sorted)


@given(fused, st.integers(1, 20), st.sets(st.integers(0, 1000), max_size=5))
def test_the_best_are_taken_and_always_those_that_are_named(
    pairs: list[tuple[int, float]], count: int, always: set[int]
) -> None:
    chunks = np.array([chunk for chunk, _ in pairs], np.int64)
    scores = np.array([score for _, score in pairs])
    leg = RankedList.of("keyword", sorted(pairs, key=lambda pair: -pair[1]))
    taken = Candidates(chunks, [leg], {"fused": scores}).top(count, always=always)
    ordered = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    expected = ordered[:count] + [pair for pair in ordered[count:] if pair[0] in always]
    assert [(candidate.chunk, candidate.score) for candidate in taken] == expected
    for candidate in taken:
        assert leg.chunks[candidate.ranks["keyword"] - 1] == candidate.chunk
        assert candidate.scores["keyword"] == candidate.score


def test_what_is_named_is_first_although_much_matches_better(small: Library, tmp_path: Path) -> None:
    better = {
        f"{n:03}.md": f"# Note {n}\n\nBy Section 1 the tide, the berth and the fee of day {n} count.\n"
        for n in range(150)
    }
    write(tmp_path / "docs", {**better, "rules.md": FILES["rules.md"]})
    small.index([tmp_path / "docs"], embed=False)
    settings = {"semantic_weight": 0.0, "keyword_weight": 0.999, "exact_weight": 0.001}
    quiet = ("hierarchy", "smoothing", "graph", "code")
    response = ask(small, "Section 1 of the tide, berth and fee", disabled=quiet, top_k=5, **settings)
    first = response.results[0]
    assert first.section_label == "Section 1" and first.exact_match
    assert first.explanation and first.explanation["ranks"].get("keyword", 1000) > 100
    assert files(response)[1:] != []


@pytest.mark.parametrize(("name", "preferred"), [("tide gauges", False), ("Tide Gauges", True)])
def test_a_title_in_small_letters_is_ordinary_words(
    name: str, preferred: bool, small: Library, tmp_path: Path
) -> None:
    texts = {
        "gauges.md": "# Tide Gauges\n\nA gauge shows the level of the water at the pier.\n",
        "training.md": "# Crews\n\nCrews need special training before they repair tide gauges at the pier.\n",
    }
    small.index(write(tmp_path / "docs", texts), embed=False)
    response = small.search(f"what special training do crews need to repair {name}?", explain=True)
    training = next(result for result in response.results if result.source_path.endswith("training.md"))
    assert training.explanation and ("named" in training.explanation["stages"]) is preferred


def test_pins_stay_above_the_rest_of_the_scale(library: Library) -> None:
    response = library.search("Section 1 of the harbour fee of a vessel", top_k=20)
    pinned = [result for result in response.results if result.exact_match]
    others = [result for result in response.results if not result.exact_match]
    assert [result.section_label for result in pinned] == ["Section 1"]
    assert response.results[0] is pinned[0]
    assert others and pinned[0].fused_score >= max(result.fused_score for result in others)
    # That section is about dogs: the words that nothing there explains make less sure of it.
    assert response.confidence < 0.5


# -- duplicates and limits ----------------------------------------------------------------------------------------


def test_equal_text_is_shown_once_and_says_where_else_it_stands(library: Library) -> None:
    response = library.search(QUERY, top_k=20)
    shown = [result for result in response.results if "gives a receipt" in result.content]
    assert len(shown) == 1
    (place,) = shown[0].also_in
    assert {Path(shown[0].source_path).name, Path(place.source_path).name} == {"office.md", "copy.md"}
    assert place.lines and place.chunk_id.startswith(place.source_path)
    assert f"Also in: {place.source_path}" in shown[0].format()
    assert response.to_dict()["results"][shown[0].rank - 1]["also_in"][0]["chunk_id"] == place.chunk_id
    stats = response.compression_stats
    assert stats["looked_at"] - stats["after_ngram_dedup"] == 1
    both = ask(library, QUERY, top_k=20, disabled=("content_dedup", "ngram_dedup"))
    assert len(both.results) == len(response.results) + 1
    assert not any(result.also_in for result in both.results)


def test_a_limit_per_document_makes_room_for_others(library: Library) -> None:
    free = ask(library, QUERY, top_k=5, document_weight=5.0)
    assert Counter(files(free))["berths"] > 2, "one document has most to say"
    limited = ask(library, QUERY, top_k=5, document_weight=5.0, max_chunks_per_doc=1)
    assert max(Counter(files(limited)).values()) == 1
    assert len(set(files(limited))) >= 3
    assert limited.compression_stats["after_doc_limit"] < limited.compression_stats["after_mmr"]
    off = ask(library, QUERY, top_k=5, document_weight=5.0, max_chunks_per_doc=1, disabled=("doc_limit",))
    assert scored(off) == scored(free)


def test_mmr_brings_more_documents_into_the_top_five(library: Library) -> None:
    free = ask(library, QUERY, top_k=5, document_weight=5.0)
    diverse = ask(library, QUERY, top_k=5, document_weight=5.0, mmr_enabled=True, mmr_lambda=0.3)
    assert len(set(files(diverse))) >= 3
    assert len(set(files(diverse))) > len(set(files(free)))
    assert diverse.results[0].chunk_id == free.results[0].chunk_id
    scores = [result.fused_score for result in diverse.results]
    assert all(a >= b for a, b in pairwise(scores))


def test_a_threshold_leaves_nothing_rather_than_noise(library: Library) -> None:
    off_topic = "how do I bake a sourdough loaf"
    assert library.search(off_topic).results
    response = ask(library, off_topic, min_confidence=0.6)
    assert not response.results
    assert "No match found." in response.note
    assert response.compression_stats["after_threshold"] == 0 < response.compression_stats["original_count"]
    assert response.confidence < 0.6


def test_a_threshold_does_not_concern_what_is_named(library: Library) -> None:
    response = ask(library, "Section 1", min_confidence=1.0)
    assert [result.section_label for result in response.results] == ["Section 1"]


def test_counts_descend_from_stage_to_stage(library: Library) -> None:
    stats = ask(
        library,
        QUERY,
        top_k=3,
        min_confidence=0.05,
        dedup_enabled=True,
        max_chunks_per_doc=1,
        parent_retrieval_enabled=True,
    ).compression_stats
    left = [stats[name] for name in ("original_count", "after_threshold", "looked_at")]
    left += [stats[name] for name in ("after_content_dedup", "after_ngram_dedup", "after_dedup")]
    left += [stats[name] for name in ("after_mmr", "after_doc_limit", "after_parents")]
    assert all(a >= b for a, b in pairwise(left))
    assert stats["clusters_merged"] == stats["after_ngram_dedup"] - stats["after_dedup"]


# -- parents -------------------------------------------------------------------------------------------------


def test_a_small_section_is_matched_and_the_one_above_returned(library: Library) -> None:
    query = "where do bottles and newspapers go"
    plain = ask(library, query, top_k=2)
    assert {result.heading for result in plain.results} == {"Glass", "Paper"}
    assert all(result.chunk_ids == [result.chunk_id] for result in plain.results)
    response = ask(library, query, parent_retrieval_enabled=True, parent_max_tokens=100, top_k=2)
    first = response.results[0]
    assert first.heading == "Section 2 Bins" and first.section_label == "Section 2"
    assert "green bin" in first.content and "blue bin" in first.content
    assert first.chunk_id in first.chunk_ids and len(first.chunk_ids) >= 3
    assert first.lines
    source = Path(first.source_path).read_text().splitlines()
    assert source[first.lines.first - 1] == "## Section 2 Bins"
    assert len(response.results) == 2, "what the parent takes in makes room for the next"
    assert response.results[1].heading not in ("Glass", "Paper")
    off = ask(library, query, parent_retrieval_enabled=True, disabled=("parents",), top_k=2)
    assert scored(off) == scored(plain)


# -- reranking -----------------------------------------------------------------------------------------------


def test_a_reranker_changes_the_order(library: Library, tiny_reranker: Path) -> None:
    model = str(tiny_reranker)
    plain = ask(library, QUERY, search_mode="semantic", top_k=20)
    response = ask(
        library, QUERY, options={"rerank": True}, rerank_model=model, search_mode="semantic", top_k=20
    )
    assert ids(response) != ids(plain)
    assert sorted(ids(response)) == sorted(ids(plain))
    assert relevances(response) == sorted(relevances(response), reverse=True)
    assert len(relevances(response)) == len(response.results)
    assert response.explanation and response.explanation["reranker"] == "tiny-overlap-reranker"
    assert "rerank" in response.timings_ms and "rerank" not in plain.timings_ms
    scores = [result.fused_score for result in response.results]
    assert all(a >= b for a, b in pairwise(scores)) and all(0.0 <= score <= 1.0 for score in scores)
    assert not response.note
    assert response.confidence == plain.confidence


def test_the_best_of_many_is_found_for_a_short_list(library: Library, tiny_reranker: Path) -> None:
    model = str(tiny_reranker)
    every = ask(library, QUERY, rerank_enabled=True, rerank_model=model, rerank_top_n=20, top_k=20)
    one = ask(library, QUERY, rerank_enabled=True, rerank_model=model, rerank_top_n=20, top_k=1)
    assert ids(one) == ids(every)[:1]
    assert ids(every)[:1] != ids(ask(library, QUERY, top_k=1)), "it was further down before"


def test_only_the_first_are_reranked(library: Library, tiny_reranker: Path) -> None:
    plain = ask(library, QUERY, top_k=20)
    response = ask(
        library, QUERY, rerank_enabled=True, rerank_model=str(tiny_reranker), rerank_top_n=3, top_k=20
    )
    assert ids(response)[3:] == ids(plain)[3:]
    assert sorted(ids(response)[:3]) == sorted(ids(plain)[:3])
    assert len(relevances(response)) == 3


def test_what_the_query_names_stays_first(library: Library, tiny_reranker: Path) -> None:
    query = "Section 1 of the harbour fee of a vessel"
    response = ask(library, query, rerank_enabled=True, rerank_model=str(tiny_reranker))
    assert response.results[0].section_label == "Section 1"
    assert relevances(response), "the others are reranked"


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"rerank_enabled": True, "disabled": ("rerank",)}, {}),
        ({"disabled": ("rerank",)}, {"rerank": True}),
        ({"rerank_enabled": True}, {"rerank": False}),
        ({}, {}),
    ],
)
def test_a_reranker_that_is_not_wanted_is_not_asked(
    library: Library, tiny_reranker: Path, settings: dict[str, bool], options: dict[str, bool]
) -> None:
    response = ask(library, QUERY, options=options, rerank_model=str(tiny_reranker), **settings)
    assert scored(response) == scored(ask(library, QUERY))
    assert not relevances(response)


def test_a_reranker_that_is_down_costs_a_note_and_not_the_search(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # Nobody listens on the discard port.
    response = ask(
        library, QUERY, rerank_enabled=True, rerank_model="http://127.0.0.1:9/rerank", rerank_timeout=2.0
    )
    assert "Results are not reranked" in response.note
    assert scored(response) == scored(ask(library, QUERY))


def test_a_model_that_is_broken_costs_a_note_and_not_the_search(
    library: Library, tiny_reranker: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny_reranker, broken)
    (broken / "model.onnx").write_bytes(b"not a model")
    response = ask(library, QUERY, rerank_enabled=True, rerank_model=str(broken))
    assert "Results are not reranked" in response.note
    assert scored(response) == scored(ask(library, QUERY))


def test_an_unknown_reranker_is_wrong_usage(library: Library) -> None:
    with pytest.raises(UsageError, match="Unknown reranker 'magic'"):
        ask(library, QUERY, rerank_enabled=True, rerank_model="magic")


def test_reranking_without_a_reranker_is_wrong_usage(library: Library) -> None:
    with pytest.raises(UsageError, match="No reranker is configured: set rerank_model"):
        library.search(QUERY, rerank=True)


def test_a_library_can_be_given_a_reranker(library: Library, tiny_reranker: Path) -> None:
    from loccit.models.rerank import load_reranker

    with Library(library.path, reranker=load_reranker(tiny_reranker), create=False) as other:
        assert scored(other.search(QUERY)) == scored(library.search(QUERY)), "it is not used unasked"
        response = other.search(QUERY, rerank=True, explain=True)
        assert relevances(response) == sorted(relevances(response), reverse=True)


def test_children_of_a_parent_are_reranked_before_they_are_joined(
    library: Library, tiny_reranker: Path
) -> None:
    response = ask(
        library,
        "bottles go into the green bin",
        rerank_enabled=True,
        rerank_model=str(tiny_reranker),
        parent_retrieval_enabled=True,
        parent_max_tokens=100,
    )
    first = response.results[0]
    assert first.heading == "Section 2 Bins" and "green bin" in first.content
    assert first.explanation and first.explanation["relevance"] == max(relevances(response))
