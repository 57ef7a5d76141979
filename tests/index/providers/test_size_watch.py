"""Whether a collection is small is asked seldom, and not forgotten to be asked."""

from __future__ import annotations

from loccit.index.providers.tables import SizeWatch


def test_it_counts_now_and_then() -> None:
    now = [0.0]
    counts = [5, 50, 5]
    watch = SizeWatch(lambda: counts.pop(0), 10, clock=lambda: now[0])
    assert watch.small()
    now[0] = 29.0
    assert watch.small()
    now[0] = 31.0
    assert not watch.small()
    now[0] = 600.0
    assert not watch.small()
    now[0] = 632.0
    assert watch.small()
    assert counts == []


def test_it_can_be_told_to_forget() -> None:
    counts = [50, 5]
    watch = SizeWatch(lambda: counts.pop(0), 10, clock=lambda: 0.0)
    assert not watch.small()
    watch.forget()
    assert watch.small()


def test_a_bound_of_nothing_asks_nobody() -> None:
    assert not SizeWatch(lambda: 1 // 0, 0).small()
