"""Lazy: computed once, and never waited for by another object of the class."""

from __future__ import annotations

import threading

from loccit.search.select.wording import lazy


class Slow:
    """Has a value that takes until somebody says so."""

    def __init__(self) -> None:
        self.asked = 0
        self.begun, self.enough = threading.Event(), threading.Event()

    @lazy
    def value(self) -> int:
        """How often it was asked for."""
        self.asked += 1
        self.begun.set()
        assert self.enough.wait(60)
        return self.asked


def test_a_value_is_computed_once() -> None:
    one = Slow()
    one.enough.set()
    assert one.value == one.value == 1
    assert Slow.value.__doc__ == "How often it was asked for."


def test_one_object_does_not_wait_for_another() -> None:
    slow, quick = Slow(), Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    quick.enough.set()
    answer = []
    other = threading.Thread(target=lambda: answer.append(quick.value))
    other.start()
    other.join(10)
    slow.enough.set()
    thread.join(60)
    other.join(60)
    assert answer == [1]
