"""Compounds: ``Kündigungsfrist`` of ``Kündigung`` and ``Frist``, recognised by a library's own words.

German, Dutch, Finnish and the Scandinavian languages write compounds as one word. A query for one also means its parts,
and vice versa. What the library has as a word is a word: no dictionary is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from loccit.grammar.text.analysis import QueryTerm
from loccit.grammar.text.keys import title_key
from loccit.grammar.text.stemming import algorithm_for, index_forms
from loccit.grammar.text.stopwords import STOPWORDS

COMPOUNDING = frozenset({"de", "nl", "da", "sv", "nb", "nn", "no", "fi"})
"""Languages that write compounds as one word."""

COMPOUND_WEIGHT = 0.1
"""The weight of a word's parts, and of compounds that contain it, relative to the word itself."""

# Linking letters between two parts: Kündigung-s-frist, Kind-es-wohl, Daten-abruf.
_LINKS = ("", "s", "n", "e", "en", "es", "er", "ns", "ens")
_SHORTEST, _LONGEST = 7, 60  # letters of a compound
_PART = 3  # letters of a part; one so short must be
_OFTEN = 3  # in this many chunks
_MAX_PARTS = 4
_MAX_JOINED = 8  # words of a query of which each two are put together
_MAX_COMPOUNDS, _LOOKED_AT = 24, 400  # that have a word as a part
_BEFORE = "haupt"  # stemmers take more from the end of a word that has something before it
_OTHER_WORDS = [words for language, words in STOPWORDS.items() if language not in COMPOUNDING]


class CompoundWords:
    """The words of a library's texts in such languages, as index terms with the number of chunks that contain each."""

    def __init__(self, words: Mapping[str, int], languages: Sequence[str]) -> None:
        own = [language for language in languages if language in COMPOUNDING]
        self._words = words
        self._algorithms = list(dict.fromkeys(map(algorithm_for, own)))
        self._function_words = frozenset().union(*(STOPWORDS.get(language, ()) for language in own))

    @cached_property
    def _from_start(self) -> list[str]:
        return sorted(self._words)

    @cached_property
    def _from_end(self) -> list[str]:
        return sorted(word[::-1] for word in self._words)

    def widen(self, terms: Sequence[QueryTerm], text: str) -> list[QueryTerm]:
        """Add to the words of a query their parts, and the compounds that contain them, as weaker matches.

        A compound of two query words matches both.
        """
        if not self._words or self._in_another_language(text):
            return list(terms)
        plain = [term for term in terms if not term.parts and term.text.isalpha()]
        joined: dict[str, list[str]] = {}
        for head in plain[:_MAX_JOINED]:
            for before in plain[:_MAX_JOINED]:
                for form in self._joined(before.text, head.text) if before is not head else ():
                    joined.setdefault(head.text, []).append(form)
                    joined.setdefault(before.text, []).append(form)
        return [self._widened(term, joined.get(term.text, [])) if term in plain else term for term in terms]

    def _widened(self, term: QueryTerm, joined: Sequence[str]) -> QueryTerm:
        within = tuple(dict.fromkeys(form for form in joined if form not in term.forms))
        parts = [QueryTerm(part, own) for part, own in self.split(term.text)]
        known = {*term.forms, *within}
        if compounds := tuple(form for form in self.compounds_of(term.text) if form not in known):
            parts.append(QueryTerm(term.text, compounds))
        return replace(
            term, within=within, parts=tuple(parts), parts_weight=COMPOUND_WEIGHT if parts else 0.0
        )

    def split(self, word: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the parts of a compound with their index terms, the head last; empty if it is none."""
        if not _SHORTEST <= len(word) <= _LONGEST:
            return []
        # The best split up to each position in the word: few parts, then frequent ones.
        best: dict[int, tuple[float, list[tuple[str, tuple[str, ...]]]]] = {0: (0.0, [])}
        for end in range(_PART, len(word) + 1):
            for start, (cost, before) in list(best.items()):
                if end - start < _PART or len(before) >= _MAX_PARTS or end - start == len(word):
                    continue
                found = self._part(word[start:end], last=end == len(word))
                if found is not None:
                    text, forms, count = found
                    total = cost + 1.0 + 1.0 / (1 + count)
                    if end not in best or total < best[end][0]:
                        best[end] = (total, [*before, (text, forms)])
        return best.get(len(word), (0.0, []))[1]

    def compounds_of(self, word: str) -> list[str]:
        """Return index terms of compounds that end or begin with a word, the most frequent first."""
        if not _PART < len(word) <= _LONGEST:
            return []
        longer: dict[str, str] = {}
        for head in self._forms(word) | {form[len(_BEFORE) :] for form in self._forms(_BEFORE + word)}:
            if len(head) >= _PART:
                longer |= {term[::-1]: head for term in _beginning(self._from_end, head[::-1])}
        longer |= dict.fromkeys(_beginning(self._from_start, word), "")
        found: list[str] = []
        for term in sorted(longer, key=lambda term: (-self._words[term], term))[:_LOOKED_AT]:
            head = longer[term]
            rest = term.removesuffix(head) if head else term.removeprefix(word)
            if self._part(rest, last=False) if head else self._ends(rest):
                found.append(term)
            if len(found) == _MAX_COMPOUNDS:
                break
        return found

    def _joined(self, before: str, head: str) -> set[str]:
        """The existing compounds of two words."""
        starts = {before, *self._forms(before)}
        return {
            form
            for start in starts
            for link in _LINKS
            for form in self._forms(f"{start}{link}{head}")
            if form in self._words
        }

    def _part(self, text: str, *, last: bool) -> tuple[str, tuple[str, ...], int] | None:
        """A part as a word of its own, without linking letters."""
        for link in ("",) if last else _LINKS:
            own = text.removesuffix(link)
            if text.endswith(link) and len(own) >= _PART and own not in self._function_words:
                forms = self._forms(own)
                count = sum(self._words.get(form, 0) for form in forms)
                if count >= (1 if len(own) > _PART else _OFTEN):
                    return own, tuple(sorted(forms)), count
        return None

    def _ends(self, text: str) -> bool:
        """Whether a text is a word, with or without linking letters."""
        return any(
            text.startswith(link) and self._part(text.removeprefix(link), last=True) for link in _LINKS
        )

    def _in_another_language(self, text: str) -> bool:
        """Whether the function words of a query show that it is in a language without such compounds."""
        words = set(title_key(text).split())
        return any(len(words & other) > len(words & self._function_words) for other in _OTHER_WORDS)

    def _forms(self, word: str) -> set[str]:
        return {form for name in self._algorithms for form in index_forms(word, name)}


def _beginning(words: Sequence[str], start: str) -> Iterator[str]:
    """The words of a sorted list that have a prefix and continue."""
    for index in range(bisect_left(words, start), len(words)):
        if not words[index].startswith(start):
            return
        if len(words[index]) > len(start):
            yield words[index]
