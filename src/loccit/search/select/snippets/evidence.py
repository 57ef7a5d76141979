"""Evidence: how well each unit of some chunks answers, by its words, its meaning, its chunk and its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from loccit.grammar.text.analysis import QueryTerm, analyze
from loccit.grammar.text.sentences import sentence_ends
from loccit.grammar.text.stemming import algorithm_for
from loccit.index.port.records import StoredChunk
from loccit.models.embedding.protocol import Vectors

# Characters: a sentence or two of formal prose.
_FULL = 200
_ENOUGH = 100
_REST = 80
# How far beyond its full size a unit may extend to the end of a sentence, in steps; beyond that, it ends at a
# word.
_REACH = (80, 200, 400, 800)

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([^\n]*)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"\n(?=[ \t]*(?:[-*+•–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)])[ \t])")
_SPACE = re.compile(r"\s*")
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)


# The same chunks answer many queries, and only the long ones are split.
@lru_cache(maxsize=1024)
def unit_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the units of a text, which are contiguous; none is blank, unless all is.

    >>> unit_spans("One sentence. " * 50)
    ((0, 210), (210, 420), (420, 700))
    """
    blocks = uncut_blocks(text)
    size = len(text.rstrip())
    ends = [0]
    while size - ends[-1] > _FULL + _REST:
        end = _next_end(text, ends[-1])
        for low, high in blocks:
            if low < end < high:
                end = high
        end = _past_space(text, ends[-1], end)
        if size - end < _REST:
            break
        ends.append(end)
    return tuple(pairwise([*ends, len(text)]))


def uncut_blocks(text: str) -> list[tuple[int, int]]:
    """Return the positions of tables and fenced blocks in a text, in order."""
    blocks = _fenced(text) if "```" in text or "~~~" in text else []
    return sorted(blocks + _tables(text))


def _fenced(text: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif not fence[2] and fence[1].startswith(opening[1]):
            blocks.append((opening.start(), fence.end()))
            opening = None
    if opening is not None:
        # The text is an excerpt: it ends inside a block, or begins inside one, so which fences open is a
        # guess.
        first = blocks[0][0] if blocks else opening.start()
        named = _FENCE.search(text, first)
        return [(opening.start(), len(text)), *blocks] if named and named[2] else [(0, len(text))]
    return blocks


def _tables(text: str) -> list[tuple[int, int]]:
    """Lines with pipes, if two or more are consecutive or begin with one."""
    tables: list[tuple[int, int]] = []
    at, last, alone = text.find("|"), -1, False
    while at >= 0:
        low, high = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        if low == last:
            tables[-1] = (tables[-1][0], high)
            alone = False
        else:
            if alone:
                tables.pop()
            tables.append((low, high))
            alone = bool(text[low:at].strip(" \t>"))
        last, at = high, text.find("|", high)
    return tables[:-1] if alone else tables


def _next_end(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    begin = match.end() if match else start
    if paragraph := _PARAGRAPH.search(text, begin + _ENOUGH, begin + _FULL):
        return paragraph.end()
    full = begin + _FULL
    for limit in (min(len(text), full + reach) for reach in _REACH):
        # From a little before, because the space after a sentence belongs to it.
        ends = [at for at in sentence_ends(text, full - 20, limit) if at >= full]
        if item := _ITEM.search(text, full - 1, limit):
            ends.append(item.end())
        if ends:
            return min(ends)
    word = _LAST_SPACE.match(text, full, limit)
    return word.end() if word else limit


def _past_space(text: str, start: int, end: int) -> int:
    """Move an end past the white space around it, but not into the indentation of the next line."""
    match = _SPACE.match(text, end)
    after = match.end() if match else end
    before = start + len(text[start:end].rstrip())
    line = text.rfind("\n", before, after) + 1
    return line or after


# -- mentions: where the words of a query occur in a text, in any form, without analysing all of it -----------


# All forms of a word share this many initial letters; short ones all but one (`use`, `using`).
_ALIKE = 3
# Not if stemmers change beginnings: texts in these languages are analysed word by word.
_UNLIKE = frozenset(("dutch", "estonian", "finnish", "indonesian", "irish", "serbian", "sesotho"))
# German has two ways to write an umlaut, and the index has neither: `ueber`, `über` > `uber`.
_UMLAUT = re.compile(r"\A(.?[aou])(?!e)")
# Only analysis can tell what these become: letters with accents, invisible marks, scripts without spaces.
_FOREIGN = re.compile(r"[^\s\x00-\x7f–—‘’“”„…•§°©®™€£]\S*")
# Joined so early that the beginning of the whole is not recognisable: `e-mail`, `1,000`.
_JOINED = re.compile(r"[-‐‑.,_·'’](?=\w)(?<![^\W_]{3}.)")
_LINKS = re.compile(r"[\W_]+")
# All white space except the space itself.
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_ONE_SPACE = str.maketrans(dict.fromkeys(_SPACES, " "))
# Words up to these lengths are cached, fewer of the long ones: addresses and paths have many forms.
_LONGEST_WORD, _LONGEST_PATH = 40, 160

Forms = tuple[tuple[str, int], ...]


# A position in a text, with the number of the query term found there.
Mention = tuple[int, int]


class Mentions:
    """Finds the terms of one query, and the parts of compounds, which are numbered after the terms."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        parts = [(number, part) for number, term in enumerate(terms) for part in term.parts]
        self._known: dict[str, list[int]] = {}
        for what, term in enumerate([*terms, *(part for _, part in parts)]):
            for form in (*term.forms, *term.within):
                self._known.setdefault(form, []).append(what)
        self._terms = len(terms)
        # What each part contributes to its term: all parts together are a weaker match than the term.
        self._of_parts = np.zeros((len(parts), len(terms)), np.float32)
        for row, (number, _) in enumerate(parts):
            self._of_parts[row, number] = terms[number].parts_weight / len(terms[number].parts)
        self._beginnings = _beginnings(self._known)
        self._german = _beginnings([*self._known, *(_UMLAUT.sub(r"\1e", form) for form in self._known)])
        # Which query terms words contain and where, by language: texts on one subject share their words.
        self._seen: dict[str, dict[str, list[tuple[int, int]]]] = {}

    @property
    def count(self) -> int:
        """The number of terms and parts."""
        return len(self._of_parts) + self._terms

    def shares(self, present: Vectors) -> Vectors:
        """Return how much of each term texts contain, given the terms and parts found: one row per text."""
        whole, parts = present[:, : self._terms], present[:, self._terms :] @ self._of_parts
        return np.asarray(np.maximum(whole, parts))

    def find(self, text: str, language: str) -> list[Mention]:
        """Return the mentions in a text, in order."""
        if not self._known:
            return []
        seen = self._seen.setdefault(language, {})
        prepared, algorithm = _prepared(text), algorithm_for(language)
        lower, spaced = prepared.lower, prepared.spaced
        if len(lower) != len(text) or algorithm in _UNLIKE:
            return sorted(self._inside(text, language))
        mentions: list[Mention] = []
        end = 0
        for at in _candidates(text, prepared, self._german if algorithm == "german" else self._beginnings):
            if at < end:
                continue
            start = spaced.rfind(" ", end, at) + 1 or end
            end = spaced.index(" ", at)
            word = text[start:end]
            found = seen.get(word)
            if found is None:
                found = seen[word] = self._inside(word, language)
            for offset, what in found:
                mentions.append((start + offset, what))
        mentions.sort()
        return mentions

    def _inside(self, word: str, language: str) -> list[Mention]:
        """Where in a word mentions begin, and of which term."""
        known = self._known
        return [
            (offset, what) for form, offset in _forms(word, language) if form in known for what in known[form]
        ]


class _Prepared(NamedTuple):
    """A lower-case text with uniform white space, and the positions where mentions of any word may be.

    ``joined`` are positions in words that contain links, with the lower-case word without them.
    """

    lower: str
    spaced: str
    foreign: tuple[int, ...]
    joined: tuple[tuple[int, str], ...]


# The same chunks answer many queries.
@lru_cache(maxsize=512)
def _prepared(text: str) -> _Prepared:
    lower, spaced = text.lower(), f"{text} ".translate(_ONE_SPACE)
    joined: list[tuple[int, str]] = []
    end = 0
    for match in _JOINED.finditer(text):
        if (at := match.start()) >= end:
            start, end = spaced.rfind(" ", end, at) + 1 or end, spaced.index(" ", at)
            joined.append((at, _LINKS.sub("", lower[start:end])))
    foreign = () if text.isascii() else tuple(match.start() for match in _FOREIGN.finditer(text))
    return _Prepared(lower, spaced, foreign, tuple(joined))


def _candidates(text: str, prepared: _Prepared, beginnings: Sequence[str]) -> list[int]:
    """The positions of possible mentions, in order."""
    lower, spaced, foreign, joined = prepared
    places = list(foreign)
    places += [at for at, word in joined if any(beginning in word for beginning in beginnings)]
    for beginning in beginnings:
        at = lower.find(beginning)
        while at >= 0:
            if not at or (before := spaced[at - 1]) == " " or _begins(before, text[at]):
                places.append(at)
            at = lower.find(beginning, at + 1)
    places.sort()
    return places


def _begins(before: str, first: str) -> bool:
    """Whether a word may begin between two characters: `get|User`, `max_|pressure`, `v|2`."""
    return not before.isalnum() or first.isupper() or first.isdigit() or before.isdigit()


def _beginnings(forms: Iterable[str]) -> list[str]:
    """The prefixes of words with these forms, as few and as short as possible."""
    found: set[str] = set()
    for form in forms:
        if form and form.isascii():
            found.add(form[: min(_ALIKE, max(1, len(form) - form.isalpha()))])
            if form.endswith("ie"):  # `dying`, `lying`
                found.add(f"{form[:-2]}y")
    return [one for one in found if not any(one[:size] in found for size in range(1, len(one)))]


def _forms(word: str, language: str) -> Forms:
    if len(word) <= _LONGEST_WORD:
        return _forms_of_word(word, language)
    return (_forms_of_path if len(word) <= _LONGEST_PATH else _analysed)(word, language)


def _analysed(word: str, language: str) -> Forms:
    return tuple((token.text, token.start) for token in analyze(word, language))


_forms_of_word = lru_cache(maxsize=1 << 15)(_analysed)
_forms_of_path = lru_cache(maxsize=1 << 12)(_analysed)


# -- evidence: how well each unit of some chunks answers ------------------------------------------------------


# Sections up to this many tokens are treated as one unit: half a page.
SHORT = 300
_WORDS, _MEANING, _CHUNK = 0.5, 0.5, 1.5
# The share of its best neighbour's score that a unit gains, and how far away neighbours may be.
_NEIGHBOUR, _NEAR = 0.6, 2


class PassageReader(Protocol):
    """What is needed of the vectors of chunks."""

    def passage_scores(
        self, ids: Sequence[int], query: Vectors
    ) -> Mapping[int, Sequence[tuple[int, int, float]]]:
        """Return the passages of chunks (start and end in their content) with their cosine similarity to a query."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What units are scored against: the query's words with their IDF, and its vector if it has one.

    ``floor`` is the cosine of unrelated texts.
    """

    mentions: Mentions
    idf: Sequence[float]
    vector: Vectors | None = None
    floor: float = 0.0

    def share(self, text: str, language: str) -> float:
        """Return the IDF share of the query's words that a text contains."""
        present = np.zeros((1, self.mentions.count), np.float32)
        for _, what in self.mentions.find(text, language):
            present[0, what] = 1
        worth = np.asarray(self.idf, np.float32)
        total = float(worth.sum())
        return float(self.mentions.shares(present)[0] @ worth) / total if total else 1.0


@dataclass(slots=True, eq=False)
class Unit:
    """A sentence or two of a chunk, with its span in the document's text."""

    chunk: int
    start: int
    end: int
    score: float = 0.0
    taken: bool = False


def cut(chunk: StoredChunk, *, whole: bool) -> list[Unit]:
    """Return the units of a chunk's own text; a short one is a single unit."""
    own = chunk.content[chunk.prefix :]
    spans = ((0, len(own)),) if whole or chunk.tokens <= SHORT else unit_spans(own)
    units = [Unit(chunk.id, chunk.start + low, chunk.start + high) for low, high in spans]
    # White space at the end of a chunk is not in its content.
    units[-1].end = max(units[-1].end, chunk.end)
    return units


def weigh_units(
    rows: Sequence[Sequence[Unit]],
    scores: Mapping[int, float],
    chunks: Mapping[int, StoredChunk],
    asked: Asked,
    passages: PassageReader,
) -> None:
    """Score units in place; those of a row are neighbours."""
    units = [unit for row in rows for unit in row]
    own = (
        _WORDS * _words(units, chunks, asked)
        + _MEANING * _meaning(units, chunks, asked, passages)
        + _CHUNK * np.array([scores[unit.chunk] for unit in units])
    ).tolist()
    first = 0
    for row in rows:
        last = first + len(row)
        for at, unit in enumerate(row, first):
            near = own[max(first, at - _NEAR) : min(last, at + _NEAR + 1)]
            unit.score = own[at] + _NEIGHBOUR * max(near)
        first = last


def _words(units: Sequence[Unit], chunks: Mapping[int, StoredChunk], asked: Asked) -> Vectors:
    """Return the IDF sum of the words in each unit, each counted once, relative to the best."""
    present = np.zeros((len(units), asked.mentions.count), np.float32)
    starts = {unit.chunk: at for at, unit in reversed(list(enumerate(units)))}
    for chunk, at in starts.items():
        stored = chunks[chunk]
        for place, what in asked.mentions.find(stored.content[stored.prefix :], stored.language):
            while units[at].end - stored.start <= place:
                at += 1
            present[at, what] = 1
    values = asked.mentions.shares(present) @ np.asarray(asked.idf, np.float32)
    return np.asarray(values / (values.max(initial=0.0) or 1.0))


def _meaning(
    units: Sequence[Unit], chunks: Mapping[int, StoredChunk], asked: Asked, passages: PassageReader
) -> Vectors:
    """Return the similarity of the passage around each unit, or of the best inside it, relative to the nearest."""
    if asked.vector is None:
        return np.zeros(len(units), np.float32)
    values: list[float] = []
    found = passages.passage_scores(list(dict.fromkeys(unit.chunk for unit in units)), asked.vector)
    top = max((score for windows in found.values() for *_, score in windows), default=asked.floor)
    for unit in units:
        stored = chunks[unit.chunk]
        offset = stored.prefix - stored.start
        start, end = unit.start + offset, unit.end + offset
        middle = (start + end) / 2
        windows = found.get(unit.chunk, ())
        near = [
            score for low, high, score in windows if low <= middle < high or (start <= low and high <= end)
        ]
        values.append(max(near or [score for *_, score in windows], default=asked.floor))
    above = np.array(values, np.float32) - asked.floor
    return np.asarray(np.maximum(above, 0.0) / max(top - asked.floor, 1e-9))
