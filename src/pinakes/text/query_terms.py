"""What to look for, given what was asked: stopwords dropped, each term with the forms it may have in the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pinakes.text.compounds import LUMP, Kind, Piece, expand
from pinakes.text.folding import fold
from pinakes.text.stemming import algorithm_for, index_forms
from pinakes.text.stopwords import STOPWORDS

MAX_TERMS = 64
"""Distinct terms of one query; of longer ones the longest are kept, which are mostly the rarest."""

HYPHEN_WEIGHT = 0.8  # ``boundary layer`` is nearly what ``boundary-layer`` asks for
PART_WEIGHT = 0.2  # ``user`` is a faint trace of ``getUserById``

_REMEMBERED_LENGTH = 500

_PLAIN = frozenset({Kind.SEGMENT, Kind.JOINED, Kind.PART})


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One thing that is looked for. Any of ``forms`` is a full match; ``parts`` together are a weaker one.

    ``within`` are words that hold it together with another word of the query: as good a match, but they say nothing
    about how common it is.
    """

    text: str
    forms: tuple[str, ...]
    parts: tuple[QueryTerm, ...] = ()
    parts_weight: float = 0.0
    within: tuple[str, ...] = ()


def query_terms(text: str, languages: Sequence[str]) -> list[QueryTerm]:
    """The terms of a query, for an index whose texts are in the given languages.

    Function words are dropped, unless there is nothing else. Capitals save a word: ``WHO``, ``IT``.
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
            if term.text not in found:
                found[term.text] = term
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


# One search asks for the terms of its query several times, and for those of each of its words.
_remembered = lru_cache(maxsize=1024)(_find)


def _stopwords(words: set[str], languages: Sequence[str]) -> set[str]:
    """The function words among ``words``.

    Those of the first language always; those of another only where two of them show that the query is in it:
    with English and German texts, ``die hard`` keeps its ``die``.
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
    """The piece as written and its stem in each language, as they stand in the index."""
    stemmers = algorithms if stemmable(piece) else ("",)
    return tuple(dict.fromkeys(form for name in stemmers for form in index_forms(piece.text, name)))


def stemmable(piece: Piece) -> bool:
    """Words are stemmed; numbers, labels, identifiers with digits and character pairs are not."""
    text = piece.text
    if piece.kind not in _PLAIN:
        return False
    # Most words are plain; elsewhere there are letters that are numbers too.
    return (text.isascii() and text.isalpha()) or not any(char.isnumeric() or char in "_+#" for char in text)
