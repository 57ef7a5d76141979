"""Sequences: what two lists of words have in common, in order, however long they are."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

# Up to this many pairs of words are compared with each other; longer lists are first cut where they agree.
_PAIRS = 250_000
# Without any such point, this many.
_MOST_PAIRS = 4_000_000
# Consecutive words that, if they occur once in both lists, are the same place in both.
_ROW = 4

Opcode = tuple[bool, int, int, int, int]
"""Whether the words are the same, and their spans in both lists."""


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return the spans of words that are the same or different, in turn.

    >>> opcodes("we pay in May".split(), "we never pay in June".split())
    [(True, 0, 1, 0, 1), (False, 1, 1, 1, 2), (True, 1, 3, 2, 4), (False, 3, 4, 4, 5)]
    """
    shortest = min(len(old), len(new))
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    tail = next((at for at in range(shortest - head) if old[-1 - at] != new[-1 - at]), shortest - head)
    ends = len(old) - tail, len(new) - tail
    found = [
        (True, 0, head, 0, head),
        *_between(old, new, (head, ends[0]), (head, ends[1])),
        (True, ends[0], len(old), ends[1], len(new)),
    ]
    merged: list[Opcode] = []
    for same, a, b, c, d in found:
        if a == b and c == d:
            continue
        if merged and merged[-1][0] == same:
            _, first, _, begin, _ = merged.pop()
            merged.append((same, first, b, begin, d))
        else:
            merged.append((same, a, b, c, d))
    return merged


def _between(
    old: Sequence[str], new: Sequence[str], old_span: tuple[int, int], new_span: tuple[int, int]
) -> Iterator[Opcode]:
    (first, last), (begin, end) = old_span, new_span
    pairs = (last - first) * (end - begin)
    cuts = _common_rows(old[first:last], new[begin:end]) if pairs > _PAIRS else []
    if not cuts and pairs > _MOST_PAIRS:
        yield False, first, last, begin, end
        return
    at = first, begin
    for cut in (*((first + a, begin + b) for a, b in cuts), (last, end)):
        if (cut[0] - at[0]) * (cut[1] - at[1]) < _PAIRS and cut[0] < last:
            continue
        matcher = difflib.SequenceMatcher(None, old[at[0] : cut[0]], new[at[1] : cut[1]], autojunk=False)
        for name, a, b, c, d in matcher.get_opcodes():
            yield name == "equal", at[0] + a, at[0] + b, at[1] + c, at[1] + d
        at = cut


def _common_rows(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where rows of words begin that both lists have once, as far as they are in the same order."""
    places = [_single_rows(words) for words in (old, new)]
    common = [(at, places[1][row]) for row, at in places[0].items() if row in places[1]]
    kept = longest_ascent([at for _, at in common])
    return [pair for number, pair in enumerate(common) if number in kept]


def _single_rows(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    rows = [tuple(words[at : at + _ROW]) for at in range(len(words) - _ROW + 1)]
    counts = Counter(rows)
    return {row: at for at, row in enumerate(rows) if counts[row] == 1}


def longest_ascent(values: Sequence[int]) -> set[int]:
    """Return the numbers of the longest ascending subsequence of some values.

    >>> sorted(longest_ascent([1, 5, 2, 3]))
    [0, 2, 3]
    """
    ends: list[int] = []
    numbers: list[int] = []
    before: list[int] = []
    for number, value in enumerate(values):
        at = bisect_left(ends, value)
        before.append(numbers[at - 1] if at else -1)
        ends[at : at + 1] = [value]
        numbers[at : at + 1] = [number]
    kept: set[int] = set()
    number = numbers[-1] if numbers else -1
    while number >= 0:
        kept.add(number)
        number = before[number]
    return kept
