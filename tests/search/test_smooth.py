"""Passages that say the same stand or fall together: how far a score may move, and which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from loccit.search.rank.smooth import SHARE, smooth

Floats = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
counts = st.integers(3, 30)


def example(seed: int, count: int) -> tuple[Floats, NDArray[np.float32], Floats]:
    """Scores, unit vectors of which no two pairs are equally near, and sizes of documents."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 24)) + random.normal(size=24)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return random.random(count), vectors.astype(np.float32), random.integers(1, 50, count).astype(float)


@given(seeds, counts)
def test_scores_stay_between_the_lowest_and_the_highest(seed: int, count: int) -> None:
    scores, vectors, relatives = example(seed, count)
    moved = smooth(scores, vectors, relatives)
    assert moved.shape == scores.shape
    assert moved.min() >= scores.min() - 1e-12
    assert moved.max() <= scores.max() + 1e-12
    assert (np.abs(moved - scores) <= SHARE + 1e-12).all()


@given(seeds, counts)
def test_the_order_of_the_candidates_makes_no_difference(seed: int, count: int) -> None:
    scores, vectors, relatives = example(seed, count)
    order = np.random.default_rng(seed + 1).permutation(count)
    moved = smooth(scores, vectors, relatives)
    np.testing.assert_allclose(
        smooth(scores[order], vectors[order], relatives[order]), moved[order], atol=1e-5
    )


@given(seeds, counts, st.integers(2, 1000))
def test_chunks_of_long_documents_move_less(seed: int, count: int, times: int) -> None:
    scores, vectors, _ = example(seed, count)
    alone = smooth(scores, vectors, np.ones(count)) - scores
    long = smooth(scores, vectors, np.full(count, float(times))) - scores
    np.testing.assert_allclose(long * times, alone, atol=1e-9)


@given(st.lists(st.floats(0.0, 1.0), max_size=2))
def test_fewer_than_three_are_left_alone(scores: list[float]) -> None:
    vectors = np.ones((len(scores), 1), np.float32)
    assert smooth(np.array(scores), vectors, np.ones(len(scores))).tolist() == scores


@given(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=20))
def test_without_vectors_nothing_moves(scores: list[float]) -> None:
    assert (
        smooth(np.array(scores), np.zeros((len(scores), 4), np.float32), np.ones(len(scores))).tolist()
        == scores
    )


@given(st.floats(0.0, 1.0), counts, seeds)
def test_where_all_are_equal_nothing_moves(score: float, count: int, seed: int) -> None:
    _, vectors, relatives = example(seed, count)
    np.testing.assert_allclose(smooth(np.full(count, score), vectors, relatives), score, atol=1e-12)


def test_what_is_near_to_strong_ones_rises_and_what_is_near_to_weak_ones_falls() -> None:
    near, far = np.eye(2, dtype=np.float32)
    vectors = np.stack([near, near, near, far, far, far])
    scores = np.array([0.9, 0.9, 0.5, 0.1, 0.1, 0.5])
    moved = smooth(scores, vectors, np.ones(6))
    assert moved[2] == pytest.approx(0.7 * 0.5 + 0.3 * 0.9)
    assert moved[5] == pytest.approx(0.7 * 0.5 + 0.3 * 0.1)


def test_a_vector_that_is_missing_moves_nothing_and_is_not_moved() -> None:
    near = np.array([1.0, 0.0], np.float32)
    vectors = np.stack([near, near, np.zeros(2, np.float32), near])
    moved = smooth(np.array([0.8, 0.8, 0.0, 0.8]), vectors, np.ones(4))
    assert moved.tolist() == pytest.approx([0.8, 0.8, 0.0, 0.8])


def test_what_is_really_near_counts_most() -> None:
    def at(cosine: float) -> list[float]:
        return [cosine, float(np.sqrt(1 - cosine**2)), 0.0]

    # The first is near to a strong one (.9) and less near, at other angles, to weak ones (.7).
    vectors = np.array([[1.0, 0.0, 0.0], at(0.9), [0.7, 0.0, 0.714], [0.7, 0.0, -0.714]], np.float32)
    moved = smooth(np.array([0.5, 0.9, 0.1, 0.1]), vectors, np.ones(4))
    assert moved[0] > 0.5, "one of .9 outweighs two of .7"
