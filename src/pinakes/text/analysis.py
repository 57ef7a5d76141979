"""Turns text into search terms, the same way for what is indexed and for what is asked.

>>> [token.text for token in analyze("The controller's getUserById, see 32.706-2")]
['the', 'control', 'getuserbyid', 'get', 'user', 'by', 'id', 'see', '32', '32.706-2', '32.706', '706', '2']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from pinakes.text.compounds import LUMP, Kind, expand
from pinakes.text.query_terms import QueryTerm, query_terms, stemmable
from pinakes.text.stemming import algorithm_for, index_forms, stemmer_version

__all__ = [
    "QueryTerm",
    "Token",
    "analysis_version",
    "analyze",
    "exact_terms",
    "index_and_exact_terms",
    "index_terms",
    "phrase_terms",
    "query_terms",
]

_RULES = 1  # raise when the same text would give other terms than before
_CACHED_LUMPS = 100_000
_CACHED_LENGTH = 40

_ALL = frozenset(Kind)
_EXACT = frozenset({Kind.SEGMENT, Kind.WHOLE, Kind.PREFIX, Kind.GRAM, Kind.CHAR})
_PHRASE = frozenset({Kind.SEGMENT, Kind.GRAM})


@dataclass(slots=True)
class Token:
    """A term, the characters ``[start, end)`` of the text that it stands for, and its place among the words."""

    text: str
    start: int
    end: int
    position: int


def analysis_version() -> str:
    """Names the rules by which terms are made; an index made by other rules must be made again."""
    return f"{_RULES}+snowball{stemmer_version()}"


def analyze(text: str, language: str = "en", stem: bool = True) -> list[Token]:
    """The terms of a text in order; those that share a position are ways of finding the same word."""
    memory = _memory(algorithm_for(language) if stem else "", _ALL)
    tokens: list[Token] = []
    position = 0
    for match in LUMP.finditer(text):
        pieces, width = memory(match[0])
        offset = match.start()
        for term, start, end, place in pieces:
            tokens.append(Token(term, offset + start, offset + end, position + place))
        position += width
    return tokens


def index_terms(text: str, language: str) -> list[tuple[str, int]]:
    """The terms of ``analyze`` with their positions, without the cost of offsets."""
    return _memory(algorithm_for(language), _ALL).placed(LUMP.findall(text))


def exact_terms(text: str) -> list[tuple[str, int]]:
    """The words as they are written, case and accents aside, with their positions."""
    return _memory("", _EXACT).placed(LUMP.findall(text))


def index_and_exact_terms(text: str, language: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Both at the price of looking through the text once."""
    lumps = LUMP.findall(text)
    return _memory(algorithm_for(language), _ALL).placed(lumps), _memory("", _EXACT).placed(lumps)


def phrase_terms(text: str) -> list[tuple[int, str]]:
    """The words of a phrase with their offsets: those of ``exact_terms`` that follow one another."""
    placed = _memory("", _PHRASE).placed(LUMP.findall(text))
    return [(position - placed[0][1], term) for term, position in placed]


class _Memory:
    """Remembers what lumps become: texts repeat their words, and most of the work is done once for each."""

    __slots__ = ("_algorithm", "_kinds", "_known")

    def __init__(self, algorithm: str, kinds: frozenset[Kind]) -> None:
        self._algorithm = algorithm
        self._kinds = kinds
        self._known: dict[str, tuple[tuple[tuple[str, int, int, int], ...], int]] = {}

    def __call__(self, lump: str) -> tuple[tuple[tuple[str, int, int, int], ...], int]:
        known = self._known.get(lump)
        return known if known is not None else self._learn(lump)

    def placed(self, lumps: Sequence[str]) -> list[tuple[str, int]]:
        """The terms of lumps that follow one another, with their positions."""
        known, learn = self._known, self._learn
        placed: list[tuple[str, int]] = []
        position = 0
        for lump in lumps:
            pieces, width = known.get(lump) or learn(lump)
            for term, _, _, place in pieces:
                placed.append((term, position + place))
            position += width
        return placed

    def _learn(self, lump: str) -> tuple[tuple[tuple[str, int, int, int], ...], int]:
        pieces, width = expand(lump)
        terms: dict[tuple[str, int], tuple[str, int, int, int]] = {}
        for piece in pieces:
            kind, text, start, end, place = piece
            if kind not in self._kinds:
                continue
            if kind >= Kind.GRAM:  # nothing to fold or stem, and there are many
                terms[text, place] = (text, start, end, place)
                continue
            for form in index_forms(text, self._algorithm if stemmable(piece) else ""):
                if form:
                    terms.setdefault((form, place), (form, start, end, place))
        known = (tuple(terms.values()), width)
        if len(lump) <= _CACHED_LENGTH:
            if len(self._known) >= _CACHED_LUMPS:
                self._known.clear()
            self._known[lump] = known
        return known


@cache
def _memory(algorithm: str, kinds: frozenset[Kind]) -> _Memory:
    return _Memory(algorithm, kinds)
