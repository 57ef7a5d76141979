"""Counting: the number of occurrences of a pattern in each document, from the concatenated texts of all.

Words and phrases are compared at many positions at once, so their number does not matter; regular expressions find one
match after another, up to a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loccit.grammar.text.verbatim import END, is_of_word
from loccit.index.port.texts import TextBlock

Positions = NDArray[np.int64]

# Small enough to stay in the processor's cache while several characters are compared.
_BLOCK = 1 << 17
# Characters that are rare in texts come last: searching for them narrows quickly.
_COMMON = b" etaoinshrdlucmfwypvbgk\n,."
_PICKED = 3
# Bytes of a word that are searched for everywhere; the rest is compared where a word begins.
_BEGINNING = 32
_BETWEEN = 1 << 16
# The size of a part of the texts that is worth assembling.
_SMALL_PART = 1 / 2


def _occurrences(data: NDArray[np.uint8], sought: bytes) -> Positions:
    """Return the positions of a byte string, in order, including overlapping ones."""
    order = _rarest(sought)
    picked, rest = order[:_PICKED], order[_PICKED:]
    total = max(0, len(data) - len(sought) + 1)
    first, *others = ((data[at : at + total], sought[at]) for at in picked)
    places = _places_of(first[0], lambda part, out: np.equal(part, first[1], out=out), others)
    for at in rest:
        places = places[data[places + at] == sought[at]]
    return places


def _rarest(sought: bytes) -> list[int]:
    """Return the indexes of some bytes, those rare in texts first."""
    return sorted(range(len(sought)), key=lambda at: _COMMON.find(sought[at]) % 256, reverse=True)


def _places_of(
    data: NDArray[np.uint8],
    test: Callable[[NDArray[np.uint8], NDArray[np.bool_]], NDArray[np.bool_]],
    others: Sequence[tuple[NDArray[np.uint8], int]] = (),
) -> Positions:
    """Return the positions that pass a test and have the required bytes around them."""
    found = [np.zeros(0, np.int64)]
    passed, same = np.zeros(_BLOCK, np.bool_), np.zeros(_BLOCK, np.bool_)
    for begin in range(0, len(data), _BLOCK):
        size = min(_BLOCK, len(data) - begin)
        here = test(data[begin : begin + size], passed[:size])
        for other, byte in others:
            here &= np.equal(other[begin : begin + size], byte, out=same[:size])
        places = np.flatnonzero(here)
        if len(places):
            found.append(places + begin)
    return np.concatenate(found)


def _phrase_spans(data: NDArray[np.uint8], words: Sequence[str]) -> tuple[Positions, Positions]:
    """Return the spans of consecutive words that are not parts of longer ones.

    ``data`` is in verbatim form. Only the first word may begin with a mark that can belong to a gap.
    """
    first, last = words[0], words[-1]
    sought = first.encode()
    starts = _occurrences(data, sought[:_BEGINNING])
    if is_of_word(first[0]):
        starts = starts[~_alphanumeric(data, starts - 1)]
    ends = starts + min(len(sought), _BEGINNING)
    for sign in sought[_BEGINNING:]:
        kept = data[ends] == sign
        starts, ends = starts[kept], ends[kept] + 1
    for word in words[1:]:
        ends, gaps = _over_gaps(data, ends)
        starts = starts[gaps]
        for sign in word.encode():
            kept = data[ends] == sign
            starts, ends = starts[kept], ends[kept] + 1
    if is_of_word(last[-1]):
        kept = ~_alphanumeric(data, ends)
        starts, ends = starts[kept], ends[kept]
    return starts, ends


def count_phrase(block: TextBlock, *phrases: Sequence[str]) -> dict[int, int]:
    """Return the number of occurrences of any of the phrases by document, without overlaps."""
    found = [_phrase_spans(block.data, words) for words in phrases]
    if len(found) == 1:
        return _count_spans(block, *found[0])
    starts, ends = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(starts, kind="stable")
    return _count_spans(block, starts[order], ends[order])


def _count_spans(block: TextBlock, starts: Positions, ends: Positions) -> dict[int, int]:
    """Return the number of spans by document, without those that overlap an earlier one."""
    if np.any(starts[1:] < ends[:-1]):
        starts = _apart(starts, ends)
    return _by_document(block, starts)


def count_paragraphs(block: TextBlock, words: Sequence[str]) -> dict[int, int]:
    """Return the number of paragraphs with all of these words, by document."""
    data = block.data
    # A paragraph extends to a line end or the end of its document.
    stops = _places_of(data, lambda part, out: np.less_equal(part, ord("\n"), out=out))
    stops = stops[_PARAGRAPH_ENDS[data[stops]]]
    # The ends of paragraphs in the texts searched, and which of them have all words so far.
    ends, common = stops, np.ones(len(stops), np.bool_)
    for word in sorted(words, key=len, reverse=True):
        before = np.searchsorted(_phrase_spans(data, [word])[0], ends)
        common &= np.diff(before, prepend=0) > 0
        if not common.any():
            return {}
        begins = np.concatenate([[0], ends[:-1] + 1])[common]
        lengths = ends[common] - begins + 1
        if lengths.sum() < _SMALL_PART * len(data):
            # Other words are searched for in these paragraphs only.
            view = data.data
            pieces = [
                view[begin : begin + length]
                for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)
            ]
            data = np.frombuffer(b"".join([END.encode(), *pieces]), np.uint8)
            stops, ends = stops[common], np.cumsum(lengths)
            common = np.ones(len(stops), np.bool_)
    return _by_document(block, stops[common] - 1)


def documents_holding(block: TextBlock, letters: str) -> set[int]:
    """Return the documents whose verbatim form may contain some letters, even within a word."""
    # This many are selective enough, and a very long word could be compared at very many positions.
    sought = letters[:_BEGINNING].encode()
    return set(_by_document(block, _occurrences(block.data, sought)))


def count_matches(
    block: TextBlock,
    find: Callable[[Any, int, int], tuple[int, int]],
    *,
    alone: bool,
    most: int,
    until: float,
) -> tuple[dict[int, int], bool]:
    """Return the number of matches of an expression in each document, and whether all were counted.

    It stops once there are more than ``most`` matches, or before the next document once this thread's processor time is
    past ``until``.

    ``find`` returns the first match in a range of bytes, (-1, -1) for none. An expression that depends on where a text
    begins or ends is run on each document ``alone``; others only on documents that have a match.
    """
    counts: dict[int, int] = {}
    left = most
    for number in range(len(block.documents)) if alone else _matching(block, find, until):
        if number is None or thread_time() > until:
            return counts, False
        text = bytes(block.data[block.starts[number] : block.ends[number]])
        size, at, here = len(text), 0, 0
        while at <= size and here <= left:
            start, end = find(text, at, size)
            if start < 0:
                break
            if end > start:
                here += 1
                at = end
            else:
                # An empty match does not count; the next begins at the next character at the earliest.
                at = _next_character(text, end)
        if here:
            counts[int(block.documents[number])] = here
            left -= here
        if left < 0:
            return counts, False
    return counts, True


def _matching(
    block: TextBlock, find: Callable[[Any, int, int], tuple[int, int]], until: float
) -> Iterator[int | None]:
    """Return the numbers of the documents that may have a match, and None where it had to stop.

    What matches in a document alone also matches among others, since line ends separate them.
    """
    number, total = 0, len(block.documents)
    while number < total:
        if thread_time() > until:
            yield None
            return
        # Not too far at once: what matches across many documents would be read again for each.
        stop = min(int(np.searchsorted(block.starts, block.starts[number] + _BETWEEN)), total - 1)
        start, _ = find(block.data, int(block.starts[number]), int(block.ends[max(stop, number)]))
        if start < 0:
            number = max(stop, number) + 1
            continue
        number = max(number, int(np.searchsorted(block.ends, start)))
        if number < total:
            yield number
        number += 1


def _next_character(text: bytes, at: int) -> int:
    at += 1
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _by_document(block: TextBlock, places: Positions) -> dict[int, int]:
    counts = np.searchsorted(places, block.ends) - np.searchsorted(places, block.starts)
    held = np.flatnonzero(counts)
    return dict(zip(block.documents[held].tolist(), counts[held].tolist(), strict=True))


def _apart(starts: Positions, ends: Positions) -> Positions:
    """Return the positions, from the first on, that do not overlap."""
    kept, last = [], -1
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if start >= last:
            kept.append(start)
            last = end
    return np.array(kept, np.int64)


def _table(signs: bytes) -> NDArray[np.bool_]:
    table = np.zeros(256, np.bool_)
    table[list(signs)] = True
    return table


_ALPHANUMERIC = _table(bytes(code for code in range(128) if chr(code).isalnum()))
# Markdown marks may precede a space, also with spaces and quote marks after it.
_PARAGRAPH_ENDS = _table(b"\n" + END.encode())
_MARKS, _SPACES, _GAP = _table(b"*_"), _table(b" \n"), _table(b" \n*_>")


def _alphanumeric(data: NDArray[np.uint8], places: Positions) -> NDArray[np.bool_]:
    """Whether a letter or digit is at each of some bytes, or ends there."""
    signs = data[places]
    found = _ALPHANUMERIC.take(signs)
    for number in np.flatnonzero(signs >= 128).tolist():
        first = last = int(places[number])
        while data[first] & 0xC0 == 0x80:
            first -= 1
        while last + 1 < len(data) and data[last + 1] & 0xC0 == 0x80:
            last += 1
        found[number] = bytes(data[first : last + 1]).decode("utf-8").isalnum()
    return found


def _over_gaps(data: NDArray[np.uint8], places: Positions) -> tuple[Positions, NDArray[np.intp]]:
    """Return the ends of gaps between words that begin at some positions, and which of them are gaps."""
    places = _over(data, places, _MARKS)
    kept = np.flatnonzero(_SPACES[data[places]])
    return _over(data, places[kept] + 1, _GAP), kept


def _over(data: NDArray[np.uint8], places: Positions, signs: NDArray[np.bool_]) -> Positions:
    """Return the ends of runs of some characters that begin at some positions."""
    places = places.copy()
    moving = np.flatnonzero(signs[data[places]])
    while len(moving):
        places[moving] += 1
        moving = moving[signs[data[places[moving]]]]
    return places
