"""Chains: which of many numbers, read in order, belong to one numbering.

After 2.1 comes 2.2, or 2.1.1, or 3. A line that begins with `8.6` because a sentence was broken there follows nothing.
So the numbers of a document are read as a whole: of all sequences that could be its numbering, the one with the most
evidence is chosen, by dynamic programming in time proportional to the number of lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from loccit.grammar.labels.numbers import letter_value

Part: TypeAlias = tuple[int, int, str]
Number: TypeAlias = tuple[Part, ...]
_K = TypeVar("_K")

# The penalties for leaving the natural order, in units of evidence.
_GAP = 1.6
_AGAIN = 3.0
_LATE_START = 0.8
_STEP = re.compile(r"(\d+)([^\W\d_]*)")
_MOST_LETTERS = 3
_FIRST_LETTERS = "aаα"
_PREFIXED = re.compile(r"([a-z])(\d{1,9})([a-z]*)")
_INSERTED = re.compile(r"(\d{1,9})[-^](\d{1,9})(?:-\d{1,9})*")


class Step(NamedTuple):
    """A number in its position: its evidence, and how many boundaries (outer places) precede it."""

    number: Number
    worth: float
    boundaries: int = 0


def number_key(parts: Sequence[str]) -> Number:
    """Return a number in comparable form: digits before letters, ``12a`` after ``12``.

    >>> number_key(("2", "9")) < number_key(("2", "10")) < number_key(("2", "10a")) < number_key(("a", "1"))
    True
    """
    return tuple(_part(part) for part in parts)


def _part(part: str) -> Part:
    if match := _STEP.fullmatch(part.replace("/", "", 1)):
        return (0, int(match[1]), match[2])
    if inserted := _INSERTED.fullmatch(part):
        # Later insertions: 第二十四条の二 is between 24 and 25, and so is 24¹.
        whole, rest = divmod(int(inserted[2]) - 1, 26)
        return (0, int(inserted[1]), "z" * min(whole, 40) + chr(97 + rest))
    if prefixed := _PREFIXED.fullmatch(part):
        # Codes with several numberings: R9 follows R8.
        return (10 + ord(prefixed[1]), int(prefixed[2]), prefixed[3])
    if len(part) <= _MOST_LETTERS and part.isalpha():
        value = 0
        for letter in part:
            value = 64 * value + letter_value(letter)
        return (1, ord("a") - 1 + value, "")
    return (2, 0, part)


def outer(number: Number) -> Number:
    """A number without a final 0: `2.0 Revisions` contains 2.1."""
    return number[:-1] if len(number) > 1 and number[-1] == (0, 0, "") else number


def is_first(part: Part) -> bool:
    """Whether it is 1, 0 or a, with which a numbering begins."""
    counts = part[0] == 0 or part[0] > 9
    return (counts and part[1] <= 1 and not part[2]) or part[:2] == (1, ord("a"))


def _before(part: Part) -> list[Part]:
    """What a number may follow among its siblings: 4 follows 3, 4a follows 4, 4b follows 4a."""
    group, value, suffix = part
    if suffix:
        last = suffix[-1]
        earlier = suffix[:-1] + ("" if last in _FIRST_LETTERS else chr(ord(last) - 1))
        # Later insertions may begin with 2: 第二条の二 follows 第二条.
        return [(group, value, earlier), *([(group, value, "")] if suffix in ("b", "б") else [])]
    return [(group, value - 1, "")] if value > 0 else []


def closeness(number: Number, later: Number) -> float:
    """How near a number is to the one that must come next: the next sibling, the first child, or an outer one.

    >>> one, two, four, inserted = ((0, 1, ""),), ((0, 2, ""),), ((0, 4, ""),), ((0, 1, "a"),)
    >>> [closeness(*pair) for pair in ((one, two), (one, inserted), (inserted, two), (two, four), (two, one))]
    [1.0, 1.0, 1.0, 0.5, 0.0]
    """
    size = next(
        (i for i, pair in enumerate(zip(number, later, strict=False)) if pair[0] != pair[1]), len(number)
    )
    near = float(number != later)
    if size < len(number):
        near = nearness(number[size], later[size]) if size < len(later) else 0.0
        if not near:
            return 0.0
        size += 1
    for index, (group, value, _) in enumerate(later[size:], size):
        # `AAD.1.2v1` after `AAD.1.1v1`: what letters stand behind every number are no count.
        if not (group and number[index : index + 1] == later[index : index + 1]):
            near /= max(1, value - (96 if group else 0))
    return near


def nearness(part: Part, later: Part) -> float:
    """How near a part is to the one that must come next among its siblings."""
    if part[0] != later[0] or part >= later:
        return 0.0
    gap = max(1, later[1] - part[1]) + bool(later[2])
    return 1.0 if gap == 1 or part in _before(later) else 1.0 / gap


def best_chain(steps: Sequence[Step]) -> list[int]:
    """Return the indexes of the steps that make up the most credible numbering.

    >>> lines = ["1", "1.1", "8.6", "1.2", "2", "2.1"]
    >>> [lines[i] for i in best_chain([Step(number_key(line.split(".")), 1.0) for line in lines])]
    ['1', '1.1', '1.2', '2', '2.1']
    """
    table = _Table(steps)
    for index in range(len(steps)):
        table.add(index)
    return table.trace()


class _Table:
    """The best chain that ends at each step, and at each number."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._score = [0.0] * len(steps)
        self._previous = [-1] * len(steps)
        # By number, by any prefix of it, and over all; then what these were at the latest boundary.
        self._at: dict[Number, int] = {}
        self._under: dict[Number, int] = {}
        # Suffixed siblings: 5 follows 4, 4a or 4b.
        self._last_of: dict[tuple[Number, int, int], int] = {}
        self._best = self._best_before = -1
        self._boundaries = 0
        self._order = sorted({step.number for step in steps})
        self._smaller = _PrefixMax(len(self._order))

    def add(self, index: int) -> None:
        step = self._steps[index]
        if step.boundaries > self._boundaries:
            self._boundaries, self._best_before = step.boundaries, self._best
        score, previous = self._choose(step)
        self._score[index], self._previous[index] = score + step.worth, previous
        number = step.number
        self._keep(self._at, number, index)
        for size in range(1, len(number) + 1):
            self._keep(self._under, number[:size], index)
            group, value, _ = number[size - 1]
            self._keep(self._last_of, (number[: size - 1], group, value), index)
        if self._best < 0 or self._score[index] >= self._score[self._best]:
            self._best = index
        self._smaller.put(bisect_left(self._order, number), self._score[index], index)

    def _choose(self, step: Step) -> tuple[float, int]:
        """Return the best score that a step can build on, and the step that has it."""
        number = step.number
        choices = [(0.0 if is_first(number[0]) else -_LATE_START, -1)]
        choices += [(self._score[found], found) for found in self._naturally_before(number)]
        rank = bisect_left(self._order, number)
        score, found = self._smaller.get(rank)
        if found >= 0:
            choices.append((score - _GAP, found))
        if all(is_first(part) for part in number):
            if self._best >= 0:
                choices.append((self._score[self._best] - _AGAIN, self._best))
            if step.boundaries and self._best_before >= 0:
                choices.append((self._score[self._best_before], self._best_before))
        return max(choices)

    def _naturally_before(self, number: Number) -> list[int]:
        found = []
        size = len(number)
        while size:
            head, last = number[: size - 1], number[size - 1]
            for earlier in _before(last):
                key = (head, earlier[0], earlier[1])
                sibling = self._under.get((*head, earlier)) if earlier[2] else self._last_of.get(key)
                if sibling is not None:
                    found.append(sibling)
            if not is_first(last):
                break
            # 2.1 may come right after 2, or right after 1.9 if 2 has no line of its own.
            if head and (parent := self._at.get(head)) is not None:
                found.append(parent)
            size -= 1
        return found

    def _keep(self, table: dict[_K, int], key: _K, index: int) -> None:
        held = table.get(key)
        if held is None or self._score[index] >= self._score[held]:
            table[key] = index

    def trace(self) -> list[int]:
        """Return the steps of the best chain overall."""
        chain, index = [], self._best
        while index >= 0:
            chain.append(index)
            index = self._previous[index]
        return chain[::-1]


class _PrefixMax:
    """The maximum over the first n positions (a Fenwick tree)."""

    def __init__(self, size: int) -> None:
        self._values = [(float("-inf"), -1)] * (size + 1)

    def put(self, place: int, value: float, index: int) -> None:
        at = place + 1
        while at < len(self._values):
            self._values[at] = max(self._values[at], (value, index))
            at += at & -at

    def get(self, count: int) -> tuple[float, int]:
        best = (float("-inf"), -1)
        while count > 0:
            best = max(best, self._values[count])
            count -= count & -count
        return best
