"""Mentions: where the words of a query stand in a text, in whichever form, found without analysing all of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.text.analysis import analyze
from pinakes.text.query_terms import QueryTerm
from pinakes.text.stemming import algorithm_for

# All forms of a word begin alike, to this many letters; short ones to one less than they have (`use`, `using`).
_ALIKE = 3
# Not so where stemmers change beginnings: in these languages texts are analysed word by word.
_UNLIKE = frozenset(("dutch", "estonian", "finnish", "indonesian", "irish", "serbian", "sesotho"))
# German has two ways to write an umlaut, and the index has neither: `ueber`, `über` > `uber`.
_UMLAUT = re.compile(r"\A(.?[aou])(?!e)")
# Only analysis can tell what these become: letters with accents, invisible marks, scripts without spaces.
_FOREIGN = re.compile(r"[^\x00-\x7f\xa0–—‘’“”„…•§°©®™€£]\S*")
# What is joined so early that the beginning of the whole is not to be seen: `e-mail`, `1,000`.
_JOINED = re.compile(r"[-‐‑.,_·'’](?=\w)(?<![^\W_]{3}.)")
# White space of every kind but the space itself.
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_ONE_SPACE = str.maketrans(dict.fromkeys(_SPACES, " "))
# Words up to these lengths are remembered, fewer of the long ones: addresses and paths have many forms.
_LONGEST_WORD, _LONGEST_PATH = 40, 160

Forms = tuple[tuple[str, int], ...]


class Mention(NamedTuple):
    """A word at a place of a text, by the number of what it is of the query."""

    at: int
    what: int


class Mentions:
    """Finds the terms of one query, and the parts of compounds, which are numbered after the terms."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        parts = [(number, part) for number, term in enumerate(terms) for part in term.parts]
        self._known: dict[str, list[int]] = {}
        for what, term in enumerate([*terms, *(part for _, part in parts)]):
            for form in (*term.forms, *term.within):
                self._known.setdefault(form, []).append(what)
        self._terms = len(terms)
        # What each part says about its term: all of them together are a weaker match of it.
        self._of_parts = np.zeros((len(parts), len(terms)), np.float32)
        for row, (number, _) in enumerate(parts):
            self._of_parts[row, number] = terms[number].parts_weight / len(terms[number].parts)
        self._beginnings = _beginnings(self._known)
        self._german = _beginnings([*self._known, *(_UMLAUT.sub(r"\1e", form) for form in self._known)])
        # What words are of the query and where in them, by language: texts on one subject share their words.
        self._seen: dict[str, dict[str, list[tuple[int, int]]]] = {}

    @property
    def count(self) -> int:
        """How many terms and parts there are."""
        return len(self._of_parts) + self._terms

    def shares(self, present: Vectors) -> Vectors:
        """Return how much of each term texts have, given which terms and parts they have: a row for each text."""
        whole, parts = present[:, : self._terms], present[:, self._terms :] @ self._of_parts
        return np.asarray(np.maximum(whole, parts))

    def find(self, text: str, language: str) -> list[Mention]:
        """Return the mentions in a text, in order."""
        if not self._known:
            return []
        seen = self._seen.setdefault(language, {})
        mentions: list[Mention] = []
        for at, word in self._words(text, language):
            found = seen.get(word)
            if found is None:
                found = seen[word] = self._inside(word, language)
            if found:
                mentions += [Mention(at + offset, what) for offset, what in found]
        return sorted(mentions)

    def _inside(self, word: str, language: str) -> list[tuple[int, int]]:
        """Where in a word mentions begin, and of what."""
        known = self._known
        return [
            (offset, what) for form, offset in _forms(word, language) if form in known for what in known[form]
        ]

    def _words(self, text: str, language: str) -> list[tuple[int, str]]:
        """What stands between spaces and may be a mention."""
        lower, algorithm = text.lower(), algorithm_for(language)
        if len(lower) != len(text) or algorithm in _UNLIKE:
            return [(0, text)]
        words: list[tuple[int, str]] = []
        spaced = f"{text} ".translate(_ONE_SPACE)
        end = 0
        for at in _candidates(text, lower, self._german if algorithm == "german" else self._beginnings):
            if at >= end:
                start = spaced.rfind(" ", end, at) + 1 or end
                end = spaced.index(" ", start)
                words.append((start, text[start:end]))
        return words


def _candidates(text: str, lower: str, beginnings: Iterable[str]) -> list[int]:
    """Places inside of what may be mentions, in order."""
    places = [match.start() for match in _JOINED.finditer(text)]
    for beginning in beginnings:
        at = lower.find(beginning)
        while at >= 0:
            if not at or _begins(text[at - 1], text[at]):
                places.append(at)
            at = lower.find(beginning, at + 1)
    if not text.isascii():
        places += [match.start() for match in _FOREIGN.finditer(text)]
    return sorted(places)


def _begins(before: str, first: str) -> bool:
    """Whether a word may begin between two characters: `get|User`, `max_|pressure`, `v|2`."""
    return not before.isalnum() or first.isupper() or first.isdigit() or before.isdigit()


def _beginnings(forms: Iterable[str]) -> list[str]:
    """What words with some forms begin with, as few and as short as it takes."""
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
