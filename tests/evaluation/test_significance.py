from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.evaluation.significance import compare

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40)


def exact_p(change: list[float]) -> float:
    observed = abs(sum(change))
    totals = [
        abs(sum(s * c for s, c in zip(signs, change, strict=True)))
        for signs in product((-1, 1), repeat=len(change))
    ]
    return float(np.mean([total >= observed - 1e-9 for total in totals]))


def test_the_same_values_are_no_difference() -> None:
    same = compare("m", [0.1, 0.9, 0.5], [0.1, 0.9, 0.5])
    assert (same.change, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert (same.wins, same.losses, same.ties) == (0, 0, 3)
    assert not same.moved and not same.significant


def test_the_test_agrees_with_trying_every_sign() -> None:
    before = [0.2, 0.5, 0.1, 0.9, 0.4, 0.3, 0.6, 0.0, 0.7, 0.2]
    after = [0.4, 0.6, 0.1, 0.7, 0.9, 0.5, 0.8, 0.1, 0.6, 0.5]
    found = compare("m", before, after)
    assert found.p == pytest.approx(exact_p([b - a for a, b in zip(before, after, strict=True)]), abs=0.02)
    assert (found.wins, found.losses, found.ties) == (7, 2, 1)


def test_a_gain_on_every_question_is_hardly_chance_and_on_one_of_many_is() -> None:
    sure = compare("m", [0.1] * 40, [0.2] * 40)
    assert sure.p < 0.001 and sure.low == pytest.approx(0.1) and sure.significant
    lucky = compare("m", [0.0] * 40, [1.0] + [0.0] * 39)
    assert lucky.p > 0.5 and lucky.low == 0 and not lucky.significant


@pytest.mark.slow
def test_noise_is_rarely_called_a_difference() -> None:
    generator = np.random.default_rng(5)
    called = 0
    for _ in range(60):
        values = generator.random((2, 50))
        called += compare("m", list(values[0]), list(values[1])).significant
    assert called <= 9


@given(VALUES)
def test_swapping_the_sides_turns_the_difference_round(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = compare("m", one, other), compare("m", other, one)
    assert there.change == pytest.approx(-back.change, abs=1e-12)
    assert there.p == pytest.approx(back.p)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9)
    assert there == compare("m", one, other)


def test_a_paired_comparison_needs_pairs() -> None:
    with pytest.raises(ValueError, match="same questions"):
        compare("m", [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="at least one"):
        compare("m", [], [])
