from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.search.candidates import RankedList
from loccit.search.rank.fuse import fuse, pool_of

WEIGHTS = {"semantic": 0.5, "keyword": 0.3, "exact": 0.2}
METHODS = ("rrf", "scores")


def hits(*chunks: int) -> list[tuple[int, float]]:
    return [(chunk, 1.0 - position / 100) for position, chunk in enumerate(chunks)]


legs = st.lists(
    st.builds(
        lambda name, chunks: RankedList.of(name, hits(*chunks)),
        st.sampled_from(sorted(WEIGHTS)),
        st.lists(st.integers(0, 50), unique=True, max_size=20),
    ),
    unique_by=lambda leg: leg.name,
    max_size=3,
)


@given(legs, st.sampled_from(METHODS), st.integers(1, 1000))
def test_scores_lie_between_0_and_1_and_descend(found: list[RankedList], method: str, rrf_k: int) -> None:
    candidates = fuse(found, WEIGHTS, method=method, rrf_k=rrf_k).top(1000)
    scores = [candidate.score for candidate in candidates]
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(legs, st.sampled_from(METHODS))
def test_nothing_is_lost_and_nothing_invented(found: list[RankedList], method: str) -> None:
    candidates = fuse(found, WEIGHTS, method=method, rrf_k=60).top(1000)
    assert {c.chunk for c in candidates} == {int(chunk) for leg in found for chunk in leg.chunks}
    for candidate in candidates:
        for name, rank in candidate.ranks.items():
            leg = next(leg for leg in found if leg.name == name)
            assert leg.chunks[rank - 1] == candidate.chunk


@given(st.lists(st.integers(0, 50), unique=True, min_size=1, max_size=20), st.sampled_from(METHODS))
def test_one_leg_keeps_its_order(chunks: list[int], method: str) -> None:
    candidates = fuse([RankedList.of("keyword", hits(*chunks))], WEIGHTS, method=method, rrf_k=60)
    assert [candidate.chunk for candidate in candidates.top(100)] == chunks


def test_reciprocal_ranks_follow_the_formula() -> None:
    found = fuse(
        [RankedList.of("semantic", hits(1, 2)), RankedList.of("keyword", hits(2, 3))],
        WEIGHTS,
        method="rrf",
        rrf_k=60,
    )
    # 0.5 / 62 + 0.3 / 61, 0.5 / 61 and 0.3 / 62
    assert [candidate.chunk for candidate in found.top(10)] == [2, 1, 3]


@given(legs, st.integers(1, 1000))
def test_reciprocal_ranks_give_the_order_whatever_the_constant(found: list[RankedList], rrf_k: int) -> None:
    sums: dict[int, float] = {}
    for leg in found:
        for rank, chunk in enumerate(leg.chunks.tolist(), 1):
            sums[chunk] = sums.get(chunk, 0.0) + WEIGHTS[leg.name] / (rrf_k + rank)
    scores = {c.chunk: c.score for c in fuse(found, WEIGHTS, method="rrf", rrf_k=rrf_k).top(1000)}
    for a, b in itertools.combinations(sums, 2):
        if abs(sums[a] - sums[b]) > 1e-12:
            assert (scores[a] > scores[b]) == (sums[a] > sums[b])


@pytest.mark.parametrize("rrf_k", [1, 60, 1000])
def test_scores_fall_at_least_with_their_place_whatever_the_constant(rrf_k: int) -> None:
    scores = [
        c.score
        for c in fuse([RankedList.of("keyword", hits(*range(50)))], WEIGHTS, method="rrf", rrf_k=rrf_k).top(
            50
        )
    ]
    assert scores[0] == 1.0
    assert all(score <= 11 / (11 + place) + 1e-9 for place, score in enumerate(scores))


def test_weights_decide_between_legs() -> None:
    found = [RankedList.of("semantic", hits(1)), RankedList.of("keyword", hits(2))]
    assert fuse(found, {"semantic": 0.9, "keyword": 0.1}, method="rrf", rrf_k=60).top(1)[0].chunk == 1
    assert fuse(found, {"semantic": 0.1, "keyword": 0.9}, method="rrf", rrf_k=60).top(1)[0].chunk == 2


def test_a_leg_without_weight_has_no_say() -> None:
    found = [RankedList.of("semantic", hits(1, 2)), RankedList.of("keyword", hits(3))]
    candidates = fuse(found, {"semantic": 1.0, "keyword": 0.0}, method="rrf", rrf_k=60)
    assert [candidate.chunk for candidate in candidates.top(10)] == [1, 2]


def graded(name: str, scores: list[float], first: int = 1, full: float = 0.0) -> RankedList:
    return RankedList(name, np.arange(first, first + len(scores)), np.array(scores), full=full)


def fused(*found: RankedList) -> dict[int, float]:
    return {c.chunk: c.score for c in fuse(list(found), WEIGHTS, method="scores", rrf_k=60).top(1000)}


def test_what_stands_out_in_one_leg_beats_the_best_of_a_crowd_in_another() -> None:
    """The heavier leg has no opinion: its hundred hits are all alike."""
    crowd = graded("semantic", [0.4 - position / 1000 for position in range(100)])
    clear = graded("keyword", [9.0, *(2.0 - position / 100 for position in range(99))], first=200)
    scores = fused(crowd, clear)
    assert max(scores, key=scores.__getitem__) == 200


def test_a_leg_whose_best_has_little_of_the_query_counts_for_less() -> None:
    near = graded("semantic", [0.6, *([0.2] * 50)], full=0.5)
    words = [9.0, *([2.0] * 50)]
    whole = fused(near, graded("keyword", words, first=200, full=10.0))
    part = fused(near, graded("keyword", words, first=200, full=100.0))
    assert part[200] < 0.5 * whole[200]
    assert part[1] == pytest.approx(whole[1])


def test_scores_count_from_the_crowd() -> None:
    leg = graded("semantic", [0.9, 0.8, *([0.7] * 98)])
    scores = list(fused(leg).values())
    assert scores[0] == pytest.approx(1.0)
    assert 0.2 < scores[1] < 0.7 and max(scores[2:]) < 0.15


def test_few_hits_stand_out_from_all_that_a_leg_did_not_find() -> None:
    everything = graded("semantic", [0.3 + position / 1000 for position in range(60, 0, -1)])
    scores = fused(everything, RankedList.of("keyword", [(7, 5.0)]))
    assert max(scores, key=scores.__getitem__) == 7


def test_in_a_small_library_the_crowd_is_not_everything() -> None:
    """One word in one of 140 chunks is further from all others than any vector, and says less."""
    near = graded("semantic", [0.55, 0.5, *(0.45 - 0.45 * position / 140 for position in range(140))])
    word = graded("keyword", [6.0, *(1.5 - position / 100 for position in range(60))], first=100, full=15.0)

    def first(**library: int) -> int:
        pool = pool_of([near, word], **library)
        return fuse([near, word], WEIGHTS, method="scores", rrf_k=60, pool=pool).top(1)[0].chunk

    assert first(total=142, depth=1000) == 1
    # A filter leaves so few of a large one.
    assert first(total=100_000, depth=1000) == 1
    # There are more of which nobody asked.
    assert first(total=100_000, depth=100) == 100
