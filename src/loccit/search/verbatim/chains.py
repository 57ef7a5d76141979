r"""Chains: regular expressions of signs, runs of signs and a few alternatives, as ``\d+ days?`` or ``\b(may|must)\b``.

They match all over a text, and finding one match after another is slow. Each alternative can match in only one way at a
position, so many positions are compared at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np
from numpy.typing import NDArray

from loccit.port.texts import TextBlock
from loccit.search.verbatim.counting import Positions, count_spans, over, rarest

_CLASS = re.compile(r"\\[dDwWsS]|\[\^?(?:\\[dDwWsS]|\\[^\w]|[^\[\]\\^])+\]|\.")
_SIGN = re.compile(r"\\[^\w]|[^\\^$.|?*+()\[\]{}]")
_EDGE_OF_WORD = r"\b"
_EDGE = re.compile(r"\\b|\^|\$")
_KNOWN_TIMES = {"+": ("1", ""), "*": ("0", ""), "?": ("0", "1")}
_TIMES = re.compile(r"[+*?]|\{([1-9])(,([1-9]?))?\}")
_ASCII = "".join(map(chr, range(128)))
# To a pattern in ASCII, all other characters are letters, spaces or marks: one of each stands for its kind.
_KINDS = _LETTER, _SPACE, _MARK = "字\u00a0“"
# Except these letters, which are case variants of K and S.
_ODD = "\u212a\u017f"
_LINE_END = ord("\n")
# Bytes that UTF-8 does not use: one for each kind, and one between documents.
_KIND_BYTES = {kind: 0xF8 + number for number, kind in enumerate(_KINDS)}
_BETWEEN = 0xFF
_CASE = 0x20
# With more alternatives, RE2 is faster for all of them together.
_ALTERNATIVES = 8
_COMPARED = 2
# Steps that alternatives must share to be searched together.
_SHARED = 4
# Consecutive characters used to find a match that may begin with any letter.
_ANCHOR = 3
# If one byte in this many starts a run, and none is longer, ends are found character by character.
_FEW = 64
# Groups within groups.
_DEEPEST = 20
# Bytes processed together: what is noted about them fits into the processor's cache.
_PART = 1 << 18

_NO_LINE_END = bytes(byte not in (_LINE_END, _BETWEEN) for byte in range(256))
_WORD = np.array([chr(byte).isalnum() or byte == ord("_") for byte in range(128)] + [False] * 128)


@dataclass(frozen=True, slots=True)
class _Link:
    """A character, or a run of characters as long as possible: for each byte, whether it may be one of them."""

    table: bytes
    is_run: bool = False
    minds_odd: bool = False
    minds_kind: bool = False
    sign: int = -1
    """The byte, if it is a single character, in lower case if case is ignored; -1 if it may be several."""

    @property
    def is_wide(self) -> bool:
        """Whether some of its characters have several bytes."""
        return any(self.table[128:])

    @property
    def is_uniform(self) -> bool:
        """Whether its characters are all word characters, or none is."""
        return len(set(_WORD[np.frombuffer(self.table, np.bool_)].tolist())) == 1

    def meets(self, other: _Link) -> bool:
        """Whether a character may belong to both."""
        return any(a and b for a, b in zip(self.table, other.table, strict=True))

    def at(self, data: NDArray[np.uint8], places: Positions) -> NDArray[np.bool_]:
        return np.frombuffer(self.table, np.bool_)[data[places]]


_Way = tuple["_Link | str", ...]
"""Links, and boundaries between them: of words, ``\\b``, and of lines, ``^`` and ``$``."""
SignsOf = Callable[[str, str], str]
"""Returns those of some characters that a part of an expression matches."""


class _Part:
    """Bytes processed together, and what several links need to know about them."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self._small: NDArray[np.uint8] | None = None
        self._members: dict[bytes, NDArray[np.bool_]] = {}

    def members(self, link: _Link) -> NDArray[np.bool_]:
        """Return which bytes may belong to a link."""
        if link.table not in self._members:
            self._members[link.table] = self._tested(link.table)
        return self._members[link.table]

    def _tested(self, table: bytes) -> NDArray[np.bool_]:
        first, last = table.index(1), table.rindex(1)
        if table.count(1) == last - first + 1:
            # From one character to another: faster than looking up each.
            tested: NDArray[np.bool_] = self.data - np.uint8(first) <= last - first
            return tested
        if table == _NO_LINE_END:
            return ~_is_line_end(self.data)
        return np.frombuffer(self.data.tobytes().translate(table), np.bool_)

    def alike(self, link: _Link) -> NDArray[np.bool_]:
        """Return which bytes may belong to a link that is one character; a few others may be among them."""
        if link.table.count(1) == 1:
            return np.equal(self.data, link.sign)
        if self._small is None:
            self._small = self.data | np.uint8(_CASE)
        return np.equal(self._small, link.sign)

    def starts(self, steps: _Way) -> Positions:
        """Return where some steps may begin."""
        if steps[0] == "^":
            return np.flatnonzero(_is_line_end(self.data[:-1])) + 1
        links = [link for link in steps if isinstance(link, _Link)]
        if before := _anchor(steps):
            return self._starts_before(links[:before], self.starts(steps[before:]))
        if links[0].is_run:
            members = self.members(links[0])
            return np.flatnonzero(members[1:] > members[:-1]) + 1
        fixed = links[: next((at for at, link in enumerate(links) if link.is_run), len(links))]
        total = max(0, len(self.data) - len(fixed) + 1)
        signs = [at for at, link in enumerate(fixed) if link.sign >= 0]
        if signs:
            picked = [signs[number] for number in rarest(bytes(fixed[at].sign for at in signs))[:_COMPARED]]
            tests = [self.alike(fixed[at])[at : at + total] for at in picked]
        else:
            tests = [self.members(link)[at : at + total] for at, link in enumerate(fixed[:_COMPARED])]
        found = tests[0]
        for test in tests[1:]:
            found = found & test
        return np.flatnonzero(found)

    def _starts_before(self, links: Sequence[_Link], ends: Positions) -> Positions:
        """Return where a run begins that ends at some positions, with a character that may have to precede it."""
        data, (first, run) = self.data, (np.frombuffer(links[at].table, np.bool_) for at in (0, -1))
        ends = ends[run[data[ends - 1]] & ~run[data[ends]]]
        starts, moving = ends - 1, np.arange(len(ends))
        for _ in range(_FEW):
            moving = moving[run[data[starts[moving] - 1]]]
            if not len(moving):
                break
            starts[moving] -= 1
        else:
            members = self.members(links[-1])
            begins = np.flatnonzero(members[1:] > members[:-1]) + 1
            starts = begins[np.searchsorted(begins, ends) - 1]
        starts, done = over(data, starts, run & ~first, most=_FEW)
        if not done:
            allowed = np.append(np.flatnonzero(self.members(links[0])), len(data))
            starts = allowed[np.searchsorted(allowed, starts)]
        return starts[starts < ends]

    def follow(self, steps: _Way, starts: Positions, ends: Positions) -> tuple[Positions, Positions]:
        """Return where steps lead from the ends of others, and from which of these they succeed."""
        data = self.data
        for step in steps:
            if isinstance(step, _Link):
                kept = step.at(data, ends)
            elif step == _EDGE_OF_WORD:
                kept = _WORD[data[ends - 1]] != _WORD[data[ends]]
            else:
                kept = _is_line_end(data[ends - (step == "^")])
            starts, ends = starts[kept], ends[kept]
            if isinstance(step, _Link):
                ends = self._run_ends(step, ends) if step.is_run else ends + 1
        return starts, ends

    def _run_ends(self, run: _Link, places: Positions) -> Positions:
        if len(places) * _FEW < len(self.data) and not (run.table[ord(" ")] and run.table[ord("e")]):
            ends, done = over(self.data, places, np.frombuffer(run.table, np.bool_), most=_FEW)
            if done:
                return ends
        members = self.members(run)
        stops = np.flatnonzero(members[:-1] > members[1:]) + 1
        found: Positions = stops[np.searchsorted(stops, places)]
        return found


@dataclass(frozen=True, slots=True)
class _Tree:
    """Alternatives that begin with the same steps; ``number`` is that of the alternative that ends there."""

    steps: _Way
    number: int | None
    branches: tuple[_Tree, ...]

    def find(
        self, part: _Part, starts: Positions, ends: Positions
    ) -> Iterator[tuple[int, Positions, Positions]]:
        """Return where each alternative begins and ends that continues from some positions."""
        starts, ends = part.follow(self.steps, starts, ends)
        if not len(starts):
            return
        if self.number is not None:
            yield self.number, starts, ends
        for branch in self.branches:
            yield from branch.find(part, starts, ends)


def _tree(ways: Mapping[_Way, int]) -> _Tree:
    shared = tuple(
        steps[0] for steps in takewhile(lambda each: len(set(each)) == 1, zip(*ways, strict=False))
    )
    rest = {way[len(shared) :]: number for way, number in ways.items()}
    return _Tree(shared, rest.pop((), None), _trees(rest, 1))


def _trees(ways: Mapping[_Way, int], shared: int) -> tuple[_Tree, ...]:
    """Return trees of alternatives that share this many steps, or all up to the first run."""
    groups: dict[_Way, dict[_Way, int]] = {}
    for way, number in ways.items():
        run = next((at for at, step in enumerate(way, 1) if isinstance(step, _Link) and step.is_run), shared)
        groups.setdefault(way[: min(run, shared)], {})[way] = number
    return tuple(map(_tree, groups.values()))


@dataclass(frozen=True, slots=True)
class Chain:
    """Alternatives; the first that matches at a position counts."""

    trees: tuple[_Tree, ...]
    first_runs: tuple[_Link, ...]
    anchored: bool
    minds_odd: bool
    minds_kind: bool
    minds_ends: bool
    signs_of: SignsOf

    @classmethod
    def of(cls, ways: Sequence[_Way], signs_of: SignsOf) -> Chain:
        """Return a chain of alternatives, in order of precedence."""
        numbered: dict[_Way, int] = {}
        for number, way in enumerate(ways):
            numbered.setdefault(way, number)
        links = {step for way in ways for step in way if isinstance(step, _Link)}
        anchored = len(ways) == 1 and bool(_anchor(ways[0]))
        runs = {way[0] for way in ways if not anchored and isinstance(way[0], _Link) and way[0].is_run}
        return cls(
            _trees(numbered, _SHARED),
            tuple(runs),
            anchored,
            any(link.minds_odd for link in links),
            any(link.minds_kind for link in links),
            any(link.table[_LINE_END] for link in links),
            signs_of,
        )

    def count(self, block: TextBlock) -> dict[int, int] | None:
        """Return the number of matches by document; None if they have to be found one after another."""
        data = block.data
        if self.minds_odd or self.minds_kind:
            at = np.flatnonzero(data >= 128)
            wide = data[at].tobytes().decode("utf-8")
            if self.minds_odd and any(sign in wide for sign in _ODD):
                return None
            if self.minds_kind and wide:
                data = data.copy()
                data[at] = _kind_bytes(wide, self.signs_of)
        if self.minds_ends:
            # A match may contain line ends, but not those around a document.
            data = data.copy()
            data[block.starts - 1] = data[block.ends] = _BETWEEN
        part = _Part(data)
        found: list[tuple[int, Positions, Positions]] = []
        for tree in self.trees:
            begin = part.starts(tree.steps)
            found += tree.find(part, begin, begin)
        if not found:
            return {}
        found.sort(key=lambda each: each[0])
        starts, ends = (np.concatenate(each) for each in list(zip(*found, strict=True))[1:])
        if len(found) > 1:
            # A stable order: of several at one position, the first alternative.
            order = np.argsort(starts, kind="stable")
            starts, ends = starts[order], ends[order]
            first = np.diff(starts, prepend=-1) > 0
            starts, ends = starts[first], ends[first]
        for run in self.first_runs:
            if np.any(run.at(data, ends - 1) & run.at(data, ends)):
                # The rest of a run whose beginning belongs to the previous match may be another match.
                return None
        if self.anchored and np.any(starts[1:] < ends[:-1]):
            # So may the rest of a word that the previous match ends within.
            return None
        return count_spans(block, starts, ends)


def _is_line_end(signs: NDArray[np.uint8]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (signs == _LINE_END) | (signs == _BETWEEN)
    return found


# The byte for the kind of each character that has been met, by code point.
_KIND_OF = np.zeros(sys.maxunicode + 1, np.uint8)


def _kind_bytes(text: str, signs_of: SignsOf) -> NDArray[np.uint8]:
    """Return the bytes of a text without ASCII, with those for the kinds of its characters."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    if not _KIND_OF[codes].all():
        signs = "".join(set(text))
        letters, spaces = (set(signs_of(kind, signs)) for kind in (r"\w", r"\s"))
        kinds = (_LETTER if sign in letters else _SPACE if sign in spaces else _MARK for sign in signs)
        _KIND_OF[list(map(ord, signs))] = [_KIND_BYTES[kind] for kind in kinds]
    return np.repeat(_KIND_OF[codes], 2 + (codes >= 0x800) + (codes >= 0x10000))


def chain_of(pattern: str, signs_of: SignsOf) -> Chain | None:
    """Return a regular expression as a chain, if it is one.

    ``signs_of`` returns the characters that a part of the expression matches.
    """
    if not pattern.isascii():
        return None
    try:
        ways = _Reader(pattern, signs_of).read()
    except _NoChainError:
        return None
    alone = len(ways) == 1
    return Chain.of(ways, signs_of) if all(_has_one_match(way, alone) for way in ways) else None


def _anchor(steps: _Way) -> int:
    r"""Return the number of steps before the characters that ``[A-Z]\w+ Agreement`` is best found by; 0 if none."""
    before = next((at for at, step in enumerate(steps, 1) if isinstance(step, _Link) and step.is_run), 0)
    links = [step for step in steps[:before] if isinstance(step, _Link)]
    signs = takewhile(lambda step: isinstance(step, _Link) and step.sign >= 0, steps[before:])
    if not len(links) == before in (1, 2) or len([*signs]) < _ANCHOR:
        return 0
    first, run = links[0], links[-1]
    within = all(inside or not sign for sign, inside in zip(first.table, run.table, strict=True))
    return before if within and first.table[ord("e")] else 0


def _has_one_match(way: _Way, alone: bool) -> bool:
    """Whether there is only one match at a position, and it pays to check all positions at once."""
    links = [link for link in way if isinstance(link, _Link)]
    for link, other in pairwise(links):
        if link.is_run and link.meets(other):
            # Where the run ends depends on what follows.
            return False
    for step, following in pairwise(way):
        run = following if step == _EDGE_OF_WORD else step
        if isinstance(step, str) and isinstance(following, str):
            return False
        if following in ("^", "$") and isinstance(step, _Link) and step.is_run and step.table[_LINE_END]:
            # A line may begin or end within it.
            return False
        edge = _EDGE_OF_WORD in (step, following)
        if edge and isinstance(run, _Link) and run.is_run and not run.is_uniform:
            # A word may end within it.
            return False
    if not links or way[0] == "^" or links[0].sign >= 0 or (alone and _anchor(way)):
        return bool(links)
    # It may begin with any letter or word, few of which continue as required: RE2 is faster.
    return not links[0].table[ord("e")] or (len(way) == 1 and links[0].is_run)


class _NoChainError(Exception):
    """An expression is not a chain."""


class _Reader:
    """Reads an expression as its alternatives, in the order in which they are tried."""

    def __init__(self, pattern: str, signs_of: SignsOf) -> None:
        self._pattern = pattern
        self._signs_of = signs_of
        self._links: dict[str, _Link] = {}
        self._at = 0
        self._depth = 0

    def read(self) -> list[_Way]:
        ways = self._alternatives()
        if self._at < len(self._pattern):
            raise _NoChainError
        return ways

    def _take(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self._pattern, self._at)
        self._at = found.end() if found else self._at
        return found

    def _alternatives(self) -> list[_Way]:
        ways = self._sequence()
        while self._pattern.startswith("|", self._at):
            self._at += 1
            ways += self._sequence()
        return _few(ways)

    def _sequence(self) -> list[_Way]:
        ways: list[_Way] = [()]
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            items = self._item()
            ways = _few([(*way, *item) for way in ways for item in items])
        return ways

    def _item(self) -> list[_Way]:
        if edge := self._take(_EDGE):
            return [(edge[0],)]
        if self._pattern.startswith("(", self._at):
            self._at += 3 if self._pattern.startswith("(?:", self._at) else 1
            self._depth += 1
            if self._depth > _DEEPEST:
                raise _NoChainError
            inside = self._alternatives()
            self._depth -= 1
            if not self._pattern.startswith(")", self._at):
                raise _NoChainError
            self._at += 1
            least, most = self._times()
            if most != 1:
                raise _NoChainError
            return inside if least else [*inside, ()]
        sign = self._take(_CLASS) or self._take(_SIGN)
        if sign is None:
            raise _NoChainError
        link, (least, most) = self._link(sign[0]), self._times()
        if link.is_wide and (most is not None or least > 1):
            raise _NoChainError
        if most is None:
            run = replace(link, is_run=True, sign=-1)
            return [(*(link,) * (least - 1), run), *([] if least else [()])]
        return [(link,) * times for times in range(most, least - 1, -1)]

    def _times(self) -> tuple[int, int | None]:
        """Return the minimum and maximum number of repetitions."""
        found = self._take(_TIMES)
        if self._pattern[self._at : self._at + 1] in {*"+*?{"}:
            raise _NoChainError
        least, most = _KNOWN_TIMES.get(found[0], ("", "")) if found else ("1", "1")
        if found and found[1]:
            least, most = found[1], found[3] if found[2] else found[1]
        return int(least), int(most) if most else None

    def _link(self, sign: str) -> _Link:
        if sign not in self._links:
            found = self._signs_of(sign, _ASCII + _KINDS + _ODD)
            if not found:
                raise _NoChainError
            # Characters of all kinds are recognized by any byte but those of ASCII.
            rest = _LETTER in found
            table = bytearray([*(sign in found for sign in _ASCII), *[rest] * 128])
            for kind, byte in _KIND_BYTES.items():
                table[byte] = kind in found
            table[_BETWEEN] = False
            lower = {sign.lower() for sign in found if sign in _ASCII}
            self._links[sign] = _Link(
                bytes(table),
                minds_odd=any((odd in found) != rest for odd in _ODD),
                minds_kind=any((kind in found) != rest for kind in _KINDS),
                sign=table.rindex(1) if len(lower) == 1 and not any(table[128:]) else -1,
            )
        return self._links[sign]


def _few(ways: list[_Way]) -> list[_Way]:
    if len(ways) > _ALTERNATIVES:
        raise _NoChainError
    return ways


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
