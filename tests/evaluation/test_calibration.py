from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.evaluation.calibration import calibrate, off_topic

ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1)


def test_bins_compare_confidence_with_truth() -> None:
    found = calibrate([(0.85, True), (0.81, True), (0.83, False), (0.1, False), (1.0, True)])
    assert found is not None
    assert [(b.low, b.high, b.count) for b in found.bins] == [(0.1, 0.2, 1), (0.8, 0.9, 3), (0.9, 1.0, 1)]
    eighty = found.bins[1]
    assert (eighty.confidence, eighty.right) == pytest.approx((0.83, 2 / 3))
    assert found.error == pytest.approx((1 * 0.1 + 3 * abs(0.83 - 2 / 3) + 0) / 5)


@given(ANSWERS)
def test_every_answer_is_in_one_bin_and_the_error_is_a_share(answers: list[tuple[float, bool]]) -> None:
    found = calibrate(answers)
    assert found is not None
    assert sum(b.count for b in found.bins) == len(answers)
    assert 0 <= found.error <= 1


def test_nothing_to_calibrate() -> None:
    assert calibrate([]) is None
    assert off_topic([], [(0.9, True)]) is None


def test_off_topic_questions_are_told_apart_by_confidence() -> None:
    found = off_topic([0.1, 0.6], [(0.9, True), (0.6, True), (0.05, False)])
    assert found is not None
    assert (found.questions, found.confidence, found.above_half) == pytest.approx((2, 0.35, 0.5))
    assert found.told_apart == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    alone = off_topic([0.1], [(0.9, False)])
    assert alone is not None and alone.told_apart is None
