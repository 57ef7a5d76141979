r"""Chains: regular expressions that consist only of signs and runs of signs, such as ``\d+ days`` or ``^.+$``.

They match all over a text, and asking for one match after the other takes long. There is only one way in which they can
match from a place, so that many places are compared at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pinakes.port.texts import TextBlock
from pinakes.search.verbatim.counting import Positions, count_spans

_CLASS = r"\\[dDwWsS]|\[\^?(?:\\[dDwWsS]|\\[^\w]|[^\[\]\\^])+\]|\."
_SIGN = r"\\[^\w]|[^\\^$.|?*+()\[\]{}]"
_LINK = re.compile(rf"({_CLASS}|{_SIGN})(\+?)")
# What begins with a sign is left out: a search for that sign skips most of a text.
_CHAIN = re.compile(rf"(?:\^|(?={_CLASS}))((?:(?:{_CLASS}|{_SIGN})\+?)+)(\$?)")
_ASCII = "".join(map(chr, range(128)))
# To what is written in ASCII, all other signs are alike but these, which are upper or lower case of K and S.
_OTHER, _ODD = "字", "\u212a\u017f"
_LINE_END = ord("\n")
# Bytes that are looked at together: what is noted about them stays in the cache of a processor.
_PART = 1 << 18


@dataclass(frozen=True, slots=True)
class _Link:
    """A sign, or a run of signs as long as it can be: for each byte, whether it may be one of them."""

    table: bytes
    is_run: bool
    minds_odd: bool

    def members(self, text: bytes) -> NDArray[np.bool_]:
        return np.frombuffer(text.translate(self.table), np.bool_)

    def at(self, data: NDArray[np.uint8], places: Positions) -> NDArray[np.bool_]:
        return np.frombuffer(self.table, np.bool_)[data[places]]


@dataclass(frozen=True, slots=True)
class Chain:
    """Links that follow each other within a line."""

    links: tuple[_Link, ...]
    from_line_start: bool
    to_line_end: bool

    def count(self, block: TextBlock) -> dict[int, int] | None:
        """Return how often it matches, by document; None where it has to be asked for one match after the other."""
        data, first = block.data, self.links[0]
        text = data.tobytes()
        if any(link.minds_odd for link in self.links) and any(_holds(text, sign.encode()) for sign in _ODD):
            return None
        members = first.members(text)
        if self.from_line_start:
            starts = np.flatnonzero(data[:-1] == _LINE_END) + 1
        else:
            starts = np.flatnonzero(members[1:] > members[:-1]) + 1
        ends = starts
        for link in self.links:
            kept = link.at(data, ends)
            starts, ends = starts[kept], ends[kept]
            if link.is_run:
                members = members if link is first else link.members(text)
                stops = np.flatnonzero(members[:-1] > members[1:]) + 1
                ends = stops[np.searchsorted(stops, ends)]
            else:
                ends = ends + 1
        if self.to_line_end:
            kept = data[ends] == _LINE_END
            starts, ends = starts[kept], ends[kept]
        split = first.at(data, ends - 1) & first.at(data, ends)
        if not self.from_line_start and split.any():
            # The rest of a run whose beginning belongs to the match before it may be another match.
            return None
        return count_spans(block, starts, ends)


def _holds(text: bytes, sign: bytes) -> bool:
    # A single byte is found many times faster than several.
    return sign[-1] in text and sign in text


def chain_of(pattern: str, signs_of: Callable[[str, str], str]) -> Chain | None:
    """Return a regular expression as a chain, if it is one.

    ``signs_of`` returns those of some signs that a part of the expression matches.
    """
    parts = _CHAIN.fullmatch(pattern)
    if not parts or not pattern.isascii():
        return None
    links = []
    for sign, run in _LINK.findall(parts[1]):
        found = signs_of(sign, _ASCII + _OTHER + _ODD)
        wide = _OTHER in found
        if "\n" in found or (wide and not run):
            # It may go on in the next document, or has several bytes.
            return None
        table = bytes(chr(byte) in found if byte < 128 else wide for byte in range(256))
        links.append(_Link(table, bool(run), any((odd in found) != wide for odd in _ODD)))
    for link, following in pairwise(links):
        if link.is_run and any(a and b for a, b in zip(link.table, following.table, strict=True)):
            # Where the run ends depends on what follows.
            return None
    from_line_start, first = pattern.startswith("^"), links[0]
    if not from_line_start and (not first.is_run or (len(links) > 1 and first.table[ord("e")])):
        # It may begin with every letter or word, of which few go on as they should: RE2 is faster.
        return None
    return Chain(tuple(links), from_line_start, bool(parts[2]))


def parts_of(block: TextBlock) -> Iterator[TextBlock]:
    """Return blocks of some documents each."""
    number = 0
    while number < len(block.documents):
        begin = int(block.starts[number])
        stop = max(number + 1, int(np.searchsorted(block.starts, begin + _PART)))
        yield TextBlock(
            block.data[begin - 1 : int(block.ends[stop - 1]) + 1],
            block.documents[number:stop],
            block.starts[number:stop] - begin + 1,
            block.ends[number:stop] - begin + 1,
        )
        number = stop
