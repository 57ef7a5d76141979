from __future__ import annotations

from itertools import permutations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.evaluation.metrics import (
    means,
    ndcg,
    pass_at,
    percentiles,
    ranking_values,
    recall,
    reciprocal_rank,
    unique,
)

GRADES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), min_size=1)
RANKED = st.permutations("abcdefgh").map(list)


def test_gains_are_linear_and_discounted_by_rank() -> None:
    grades = {"a": 3.0, "b": 1.0, "c": 2.0}
    got = 1 + 0 + 3 / log2(4)
    best = 3 + 2 / log2(3) + 1 / log2(4)
    assert ndcg(["b", "x", "a"], grades, 10) == pytest.approx(got / best)
    assert ndcg(["b", "x", "a"], grades, 2) == pytest.approx(1 / (3 + 2 / log2(3)))


@given(RANKED, GRADES, st.integers(1, 10))
def test_no_order_beats_the_grades_themselves(ranked: list[str], grades: dict[str, float], k: int) -> None:
    best = sorted(grades, key=lambda name: -grades[name])
    assert 0 <= ndcg(ranked, grades, k) <= 1 + 1e-12
    assert ndcg(best, grades, k) == pytest.approx(1)


def test_moving_a_relevant_document_up_never_hurts() -> None:
    grades = {"a": 1.0, "b": 2.0}
    for order in permutations("abxy"):
        ranked = list(order)
        for place in range(1, 4):
            if ranked[place] in grades and ranked[place - 1] not in grades:
                better = ranked.copy()
                better[place - 1], better[place] = better[place], better[place - 1]
                assert ndcg(better, grades, 3) >= ndcg(ranked, grades, 3)


def test_recall_counts_what_is_relevant_once() -> None:
    assert recall(["x", "a", "b"], {"a": 1, "b": 1, "c": 3}, 2) == pytest.approx(1 / 3)
    assert recall(["a", "b"], {"a": 1, "b": 1}, 10) == 1
    assert unique(["a", "b", "a", "c", "b"]) == ["a", "b", "c"]


def test_the_first_hit_counts_down_to_the_tenth_place() -> None:
    assert reciprocal_rank([False, False, True, True]) == pytest.approx(1 / 3)
    assert reciprocal_rank([False] * 9 + [True]) == pytest.approx(0.1)
    assert reciprocal_rank([False] * 10 + [True]) == 0


def test_golden_chunks_that_read_the_same_each_count() -> None:
    assert pass_at(["t", "x"], ["t", "t", "other"], 5) == pytest.approx(2 / 3)
    assert pass_at(["x", "t"], ["t"], 1) == 0


def test_every_measure_has_its_name() -> None:
    values = ranking_values(["x", "a"], {"a": 1.0, "b": 1.0})
    assert values.keys() == {"ndcg@5", "ndcg@10", "recall@10", "recall@100", "mrr@10", "hit@10"}
    assert (values["recall@10"], values["mrr@10"], values["hit@10"]) == (0.5, 0.5, 1.0)


def test_means_and_percentiles() -> None:
    assert means([{"m": 0.0}, {"m": 1.0}]) == {"m": 0.5}
    assert means([]) == {}
    assert percentiles(list(map(float, range(101)))) == {"p50": 50.0, "p95": 95.0}
