from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loccit.models.llm import service as retry
from loccit.models.llm.service import RetryPolicy, retry_after


class Clock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 1_000_000.0 + self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.builds(
        RetryPolicy,
        retries=st.integers(0, 6),
        first_wait=st.floats(0.01, 100),
        longest_wait=st.floats(0, 100),
        total=st.floats(0, 400),
    ),
    st.lists(st.sampled_from([None, 0.0, 1.0, 50.0, 500.0]), max_size=8),
    st.floats(0, 200),
)
def test_retrying_is_limited_in_number_and_time(
    policy: RetryPolicy, asked: list[float | None], takes: float
) -> None:
    clock, left = Clock(), list(asked)
    calls = []

    def call() -> str:
        calls.append(clock.now)
        clock.now += takes
        if left:
            raise RuntimeError
        return "done"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "time", clock)
        try:
            assert policy.persist(call, lambda error: left.pop(0)) == "done"
        except RuntimeError:
            pass
        else:
            assert None not in asked
    assert len(calls) <= 1 + policy.retries
    assert calls[-1] <= policy.total or len(calls) == 1
    assert all(wait <= policy.longest_wait for wait in clock.waits)


def test_waits_double_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(retry, "time", clock)

    def call() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        RetryPolicy(retries=4, first_wait=1.0).persist(call, lambda error: 0.0)
    assert len(clock.waits) == 4
    for number, wait in enumerate(clock.waits):
        assert 0.5 * 2**number <= wait <= 2**number
    assert len(set(clock.waits)) == 4


def test_forms_of_retry_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "time", Clock())
    assert retry_after({}) == 0.0
    assert retry_after({"retry-after": "soon"}) == 0.0
    assert retry_after({"retry-after": "12"}) == 12.0
    assert retry_after({"retry-after": "12", "retry-after-ms": "1500"}) == 1.5
    assert retry_after({"retry-after": formatdate(1_000_030, usegmt=True)}) == pytest.approx(30)
    # A time that is over means at once, which is not the same as none.
    assert 0 < retry_after({"retry-after": formatdate(999_000, usegmt=True)}) < 0.1
