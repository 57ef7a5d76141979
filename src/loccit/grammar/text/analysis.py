"""Turns text into search terms, in the same way for documents and queries.

>>> [token.text for token in analyze("The controller's getUserById, see 32.706-2")]
['the', 'control', 'getuserbyid', 'get', 'user', 'by', 'id', 'see', '32', '32.706-2', '32.706', '706', '2']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate

from loccit.grammar.text.compounds import LUMP, Kind, Piece, expand, lumps
from loccit.grammar.text.folding import fold
from loccit.grammar.text.stemming import algorithm_for, index_forms, stemmer_version
from loccit.grammar.text.stopwords import STOPWORDS

_RULES = 1  # raise when the same text would give other terms than before
_CACHED_LUMPS = 100_000
_CACHED_LENGTH = 40

_ALL = frozenset(Kind)
_EXACT = frozenset({Kind.SEGMENT, Kind.WHOLE, Kind.PREFIX, Kind.GRAM, Kind.CHAR})
_PHRASE = frozenset({Kind.SEGMENT, Kind.GRAM})
MAX_TERMS = 64
"""The maximum number of distinct query terms; beyond it the longest are kept, mostly the rarest."""

HYPHEN_WEIGHT = 0.8  # ``boundary layer`` is nearly what ``boundary-layer`` asks for
PART_WEIGHT = 0.2  # ``user`` is a faint trace of ``getUserById``
_REMEMBERED_LENGTH = 500
_PLAIN = frozenset({Kind.SEGMENT, Kind.JOINED, Kind.PART})


@dataclass(slots=True)
class Token:
    """A term, the characters ``[start, end)`` of the text that it stands for, and its position among the words."""

    text: str
    start: int
    end: int
    position: int


def analysis_version() -> str:
    """Identifies the rules by which terms are made; an index made by other rules must be rebuilt."""
    return f"{_RULES}+snowball{stemmer_version()}"


def analyze(text: str, language: str = "en", stem: bool = True) -> list[Token]:
    """The terms of a text in order; those that share a position are alternatives for the same word."""
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
    return _memory(algorithm_for(language), _ALL).placed(lumps(text))


def exact_terms(text: str) -> list[tuple[str, int]]:
    """The words as written, ignoring case and accents, with their positions."""
    return _memory("", _EXACT).placed(lumps(text))


def index_and_exact_terms(text: str, language: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Both, in one pass over the text."""
    found = lumps(text)
    return _memory(algorithm_for(language), _ALL).placed(found), _memory("", _EXACT).placed(found)


def phrase_terms(text: str) -> list[tuple[int, str]]:
    """The words of a phrase with their offsets: those of ``exact_terms`` that follow one another."""
    placed = _memory("", _PHRASE).placed(lumps(text))
    return [(position - placed[0][1], term) for term, position in placed]


# A lump is learned stemmed and as it is written, one right after the other.
_expanded = lru_cache(maxsize=4096)(expand)


class _Memory:
    """Caches the analysis of lumps: texts repeat their words, so most of the work is done once."""

    __slots__ = ("_algorithm", "_kinds", "_known")

    def __init__(self, algorithm: str, kinds: frozenset[Kind]) -> None:
        self._algorithm = algorithm
        self._kinds = kinds
        self._known: dict[str, tuple[tuple[tuple[str, int, int, int], ...], int]] = {}

    def __call__(self, lump: str) -> tuple[tuple[tuple[str, int, int, int], ...], int]:
        known = self._known.get(lump)
        return known if known is not None else self._learn(lump)

    def placed(self, found: Sequence[str]) -> list[tuple[str, int]]:
        """The terms of consecutive lumps, with their positions."""
        known, learn = self._known, self._learn
        learned = [known.get(lump) or learn(lump) for lump in found]
        positions = accumulate([width for _, width in learned], initial=0)
        return [
            (term, position + place)
            for (pieces, _), position in zip(learned, positions, strict=False)
            for term, _, _, place in pieces
        ]

    def _learn(self, lump: str) -> tuple[tuple[tuple[str, int, int, int], ...], int]:
        pieces, width = _expanded(lump) if len(lump) <= _CACHED_LENGTH else expand(lump)
        terms: dict[tuple[str, int], tuple[str, int, int, int]] = {}
        for piece in pieces:
            kind, text, start, end, place = piece
            if kind not in self._kinds:
                continue
            if kind >= Kind.GRAM:  # nothing to fold or stem, and there are many
                terms[text, place] = (text, start, end, place)
                continue
            for form in index_forms(text, self._algorithm if _stemmable(piece) else ""):
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


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One query term. Any of ``forms`` is a full match; ``parts`` together are a weaker one.

    ``within`` are words that contain it together with another query word: as good a match, but not evidence of its
    frequency. ``count`` is how often the query has it.
    """

    text: str
    forms: tuple[str, ...]
    parts: tuple[QueryTerm, ...] = ()
    parts_weight: float = 0.0
    within: tuple[str, ...] = ()
    count: int = 1


def query_terms(text: str, languages: Sequence[str]) -> list[QueryTerm]:
    """The terms of a query, for an index whose texts are in the given languages.

    Function words are dropped, unless there is nothing else. Words in capitals are kept: ``WHO``, ``IT``. A word
    that is repeated counts as often: in long questions it is what they are about.
    """
    find = _remembered if len(text) <= _REMEMBERED_LENGTH else _find
    return list(find(text, tuple(languages)))


def _find(text: str, languages: tuple[str, ...]) -> list[QueryTerm]:
    algorithms = list(dict.fromkeys(["", *map(algorithm_for, languages)]))
    shouting = text.isupper()
    found: dict[str, QueryTerm] = {}
    weak: set[str] = set()
    for lump in LUMP.findall(text[: 1000 * MAX_TERMS]):
        for top, inner in _tops(expand(lump).pieces):
            term = _term(top, inner, algorithms)
            known = found.get(term.text)
            found[term.text] = replace(known, count=known.count + 1) if known else term
            written = lump[top[0].start : top[0].end]
            if shouting or not (written.isupper() and len(written) > 1):
                weak.add(term.text)
            else:
                weak.discard(term.text)
    dropped = _stopwords(weak, languages)
    kept = [term for term in found.values() if term.text not in dropped] or list(found.values())
    if len(kept) > MAX_TERMS:
        longest = sorted(range(len(kept)), key=lambda index: -len(kept[index].text))[:MAX_TERMS]
        kept = [kept[index] for index in sorted(longest)]
    return kept


# A search needs the terms of its query several times, and those of each of its words.
_remembered = lru_cache(maxsize=1024)(_find)


def _stopwords(words: set[str], languages: Sequence[str]) -> set[str]:
    """The function words among ``words``.

    Those of the first language always; those of another only if two of them show that the query is in it: with English
    and German texts, ``die hard`` keeps its ``die``.
    """
    dropped: set[str] = set()
    for rank, language in enumerate(languages):
        hits = words & STOPWORDS.get(language.replace("_", "-").partition("-")[0].lower(), frozenset())
        if rank == 0 or len(hits) > 1:
            dropped |= hits
    return dropped


def _tops(pieces: Sequence[Piece]) -> Iterator[tuple[list[Piece], list[Piece]]]:
    """The outermost pieces of a lump (with others of the same span), each with the pieces inside it."""
    top: list[Piece] = []
    inner: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start, -piece.end, piece.kind)):
        if piece.kind in (Kind.GRAM, Kind.CHAR):
            if piece.kind == Kind.GRAM:
                yield [piece], []
        elif top and (piece.start, piece.end) == (top[0].start, top[0].end) and piece.kind != Kind.SEGMENT:
            top.append(piece)
        elif top and piece.end <= top[0].end:
            inner.append(piece)
        else:
            if top:
                yield top, inner
            top, inner = [piece], []
    if top:
        yield top, inner


def _term(top: Sequence[Piece], inner: Sequence[Piece], algorithms: Sequence[str]) -> QueryTerm:
    forms = tuple(dict.fromkeys(form for piece in top for form in _forms(piece, algorithms)))
    parts = {fold(piece.text): piece for piece in inner}
    worth = {text: piece for text, piece in parts.items() if len(text) > 1 or text.isdigit()} or parts
    joined = any(piece.kind == Kind.JOINED for piece in top) and not any(map(str.isdigit, top[0].text))
    return QueryTerm(
        text=fold(top[0].text),
        forms=forms,
        parts=tuple(QueryTerm(text, _forms(piece, algorithms)) for text, piece in worth.items()),
        parts_weight=0.0 if not worth else HYPHEN_WEIGHT if joined else PART_WEIGHT,
    )


def _forms(piece: Piece, algorithms: Sequence[str]) -> tuple[str, ...]:
    """The piece as written and its stem in each language, as indexed."""
    stemmers = algorithms if _stemmable(piece) else ("",)
    return tuple(dict.fromkeys(form for name in stemmers for form in index_forms(piece.text, name)))


def _stemmable(piece: Piece) -> bool:
    """Words are stemmed; numbers, labels, identifiers with digits and character pairs are not."""
    text = piece.text
    if piece.kind not in _PLAIN:
        return False
    # Most words are plain; elsewhere there are letters that are numbers too.
    return (text.isascii() and text.isalpha()) or not any(char.isnumeric() or char in "_+#" for char in text)
