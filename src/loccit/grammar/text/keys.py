"""Keys: forms of a text under which it is looked up: titles, typed text, and defined terms.

Definitions and queries go through the same functions.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from loccit.grammar.text.folding import fold, lower

_NOT_WORD = re.compile(r"[^\w]+")
_MAX_TYPED = 100
MAX_QUERY_WORDS = 200
"""The maximum number of words of a query in which terms are looked for."""

LONGEST_TERM = 16
"""The maximum number of words of a term that is looked for in texts."""

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"['’]s?(?!\w)|(?<=\w)['’](?=\w)")
_BRACKET = re.compile(r"\s*\(([^()]*)\)\s*")
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z]?[A-Z0-9&-]{1,8}s?")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


# Keys of headings that links lead to are needed again and again.
@lru_cache(maxsize=1 << 12)
def title_key(text: str) -> str:
    """Reduce a heading or a query to its words, ignoring case, accents and punctuation.

    >>> title_key("Right to erasure (‘right to be forgotten’).")
    'right to erasure right to be forgotten'
    """
    if text.isascii():
        return _NOT_WORD.sub(" ", text.lower()).strip()[:300].rstrip()
    # Decomposed before folding too: a mathematical letter has no case until it is a plain one.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    return _NOT_WORD.sub(" ", plain).strip()[:300].rstrip()


def typed_key(text: str) -> str:
    """Return a text in the form compared with typed text: ignoring case, accents and spaces."""
    return " ".join(fold(lower(text[:_MAX_TYPED])).split())


def slug(text: str, limit: int = 60) -> str:
    """Make an id of words: ``Payment Terms`` becomes ``payment_terms``."""
    words = re.findall(r"\w+", text.casefold())
    return "_".join(words)[:limit].strip("_")


def term_words(text: str) -> list[str]:
    """Return the words of a term or a query, ignoring case and accents."""
    return _WORD.findall(_APOSTROPHE.sub("", fold(lower(text)) if len(text) <= 100 else _folded(text)))


def _folded(text: str) -> str:
    """Fold a long text piece by piece: folding is made for single terms and cuts longer text."""
    return " ".join(fold(lower(word)) for word in text.split()[:MAX_QUERY_WORDS])


def loose_key(name: str) -> tuple[str, ...]:
    """Return what different spellings of a term have in common: ``Business Days`` and ``business day``."""
    return tuple(singular(word) for word in term_words(name))


def loose_word(word: str) -> str:
    """Return a word in the form that terms are compared in: ignoring case, accents and number."""
    return singular(fold(lower(word)))


def term_keys(term: str) -> set[tuple[str, ...]]:
    """Return the words of a term as printed, without an article, without a bracket, and of a bracketed abbreviation.

    >>> sorted(" ".join(words) for words in term_keys("Activity Address Codes (AAC)"))
    ['aac', 'activity address code', 'activity address code aac']
    """
    return {words for name in term_names(term) if (words := loose_key(name))}


def term_names(term: str) -> list[str]:
    """Return the ways to name a term: as printed, and without optional parts."""
    names = [term]
    article = _ARTICLE.match(term)
    if article:
        names.append(term[article.end() :])
    bracket = _BRACKET.search(term)
    if bracket:
        names.append(_BRACKET.sub(" ", term).strip())
        if _ABBREVIATION.fullmatch(bracket[1]):
            names.append(bracket[1])
    return names


def singular(word: str) -> str:
    """Reduce an English plural, in the same way for terms and queries; other words are hardly affected.

    >>> [singular(word) for word in ("parties", "businesses", "fees", "business", "status")]
    ['party', 'business', 'fee', 'business', 'status']
    """
    if len(word) <= 3 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]
