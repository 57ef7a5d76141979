"""Terms: the words of defined terms, and the keys by which they are found whatever their spelling.

What is written with a definition and what is looked for in a query go through the same functions.
"""

from __future__ import annotations

import re

from pinakes.text.folding import fold, lower

MAX_QUERY_WORDS = 200
"""Words of a query in which terms are looked for; what is longer is no query."""

LONGEST_TERM = 16
"""Words of a term that is looked for in texts."""

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"['’]s?(?!\w)|(?<=\w)['’](?=\w)")
_BRACKET = re.compile(r"\s*\(([^()]*)\)\s*")
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z]?[A-Z0-9&-]{1,8}s?")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


def term_words(text: str) -> list[str]:
    """Return the words of a term or a query, whatever their case and accents."""
    return _WORD.findall(_APOSTROPHE.sub("", fold(lower(text)) if len(text) <= 100 else _folded(text)))


def _folded(text: str) -> str:
    """Fold a long text piece by piece: folding is made for single terms and cuts what is longer."""
    return " ".join(fold(lower(word)) for word in text.split()[:MAX_QUERY_WORDS])


def loose_key(name: str) -> tuple[str, ...]:
    """Return the words that two spellings of a term have in common: ``Business Days`` and ``business day``."""
    return tuple(singular(word) for word in term_words(name))


def loose_word(word: str) -> str:
    """Return a word as terms are compared: whatever its case, accents and number."""
    return singular(fold(lower(word)))


def term_keys(term: str) -> set[tuple[str, ...]]:
    """Return the words of a term as printed, without an article, without a bracket, and of a bracketed abbreviation.

    >>> sorted(" ".join(words) for words in term_keys("Activity Address Codes (AAC)"))
    ['aac', 'activity address code', 'activity address code aac']
    """
    return {words for name in term_names(term) if (words := loose_key(name))}


def term_names(term: str) -> list[str]:
    """Return the ways to name a term: as printed, and without what may be left out."""
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
    """Reduce an English plural, the same way for terms and queries; other words come out unharmed enough.

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
