"""Define: how the documents of a library define a term, and where they disagree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from loccit.grammar.text.keys import (
    LONGEST_TERM,
    MAX_QUERY_WORDS,
    loose_key,
    singular,
    term_keys,
    term_names,
    term_words,
)
from loccit.model import Definition

MAX_TERM_QUERY = 200
_MARKUP = re.compile(r"[\"“”‘’'«»„‚*_`\s]+")
# Words so common that their definitions do not help with a query that uses them.
_TOO_COMMON = frozenset(
    "a an and any are as at by for from in is it may must no not of on or shall the to will with".split()
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A differing definition of the same term, in another document or elsewhere in the same one."""

    document_title: str
    definition: Definition


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A definition with its document, and the definitions elsewhere that differ."""

    term: str
    definition: Definition
    document_title: str
    conflicts: list[Conflict] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a document means by a term; ``conflict`` says that others define it differently."""

    definition: Definition
    conflict: bool


@dataclass(frozen=True, slots=True)
class _Row:
    order: int
    document_title: str
    definition: Definition
    wording: str


class Dictionary:
    """The definitions that were looked up, by term. Each document is a namespace of its own: nothing is merged.

    Terms match regardless of case, hyphens, accents, articles and number: ``Business Days`` finds ``“Business Day”``,
    and ``AAC`` finds ``Activity Address Code (AAC)``.
    """

    def __init__(self, rows: Iterable[tuple[str, str, Definition]]) -> None:
        self._exact: dict[str, list[_Row]] = {}
        self._loose: dict[str, list[_Row]] = {}
        self._spellings: dict[str, str] = {}
        # Keys by their first word, longest first, so that "personal data breach" wins over "personal data".
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for order, (_, title, definition) in enumerate(rows):
            row = _Row(order, title, definition, _wording(definition))
            self._exact.setdefault(definition.term_normalized, []).append(row)
            self._spellings.setdefault(definition.term_normalized, definition.term)
            for words in term_keys(definition.term):
                self._add(words, row)
        for keys in self._by_first.values():
            keys.sort(key=len, reverse=True)

    def _add(self, words: tuple[str, ...], row: _Row) -> None:
        key = " ".join(words)
        if key not in self._loose:
            self._by_first.setdefault(words[0], []).append(words)
        self._loose.setdefault(key, []).append(row)

    def __len__(self) -> int:
        return sum(map(len, self._exact.values()))

    def lookup(self, term: str) -> list[DefinedTerm]:
        """Return the definitions of a term, exact spellings before variants."""
        exact = self._exact.get("_".join(term_words(term)), [])
        loose: list[_Row] = []
        for name in term_names(term):
            loose += self._loose.get(" ".join(loose_key(name)), [])
        rows = list({row.order: row for row in (*exact, *loose)}.values())
        others = [(row.wording, Conflict(row.document_title, row.definition)) for row in rows]
        # Many documents define a term in the same words, and hardly any defines it twice.
        apart = {
            wording: [conflict for other, conflict in others if other != wording]
            for wording in {row.wording for row in rows}
        }
        said = Counter(row.definition.source_path for row in rows)
        found = []
        for row in rows:
            definition, conflicts = row.definition, apart[row.wording]
            if said[definition.source_path] > 1:
                path = definition.source_path
                conflicts = [other for other in conflicts if other.definition.source_path != path]
            found.append(DefinedTerm(definition.term, definition, row.document_title, conflicts))
        return found

    def conflicts(self, term: str) -> list[DefinedTerm]:
        """Return the definitions of a term if documents define it differently, else none."""
        found = self.lookup(term)
        return found if any(item.conflicts for item in found) else []

    def near(self, term: str, n: int = 5) -> list[str]:
        """Return defined terms with similar spelling, the closest first."""
        wanted = "_".join(term_words(term))
        if not wanted:
            return []
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(wanted)
        scored: list[tuple[float, str]] = []
        for key, spelling in self._spellings.items():
            if key == wanted:
                continue
            # Asked for "breach", it suggests "personal data breach".
            contained = wanted in key.split("_") or key in wanted.split("_")
            matcher.set_seq1(key)
            if not contained and (matcher.real_quick_ratio() < _NEAR or matcher.quick_ratio() < _NEAR):
                continue
            ratio = matcher.ratio()
            if contained or ratio >= _NEAR:
                scored.append((max(ratio, _NEAR if contained else 0.0), spelling))
        scored.sort(key=lambda item: (-item[0], item[1]))
        return [spelling for _, spelling in scored[:n]]

    def terms_in(self, query: str) -> list[Definition]:
        """Return the definitions of the terms that occur in a query, in its order; the longest term wins."""
        found: dict[int, Definition] = {}
        for key in keys_in(query, self._loose.keys()):
            for row in self._loose[key]:
                found.setdefault(row.order, row.definition)
        return list(found.values())

    def by_first_word(
        self, path: str, others: Collection[str]
    ) -> dict[str, list[tuple[tuple[str, ...], Meaning]]]:
        """Return a document's terms and their meanings, by first word, longest first.

        Its own definitions come before those of ``others``.
        """
        found: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        for first, keys in self._by_first.items():
            for key in keys:
                rows = self._loose[" ".join(key)]
                own = next((row for row in rows if row.definition.source_path == path), None)
                row = own or next((row for row in rows if row.definition.source_path in others), None)
                if row is not None and not (len(key) == 1 and key[0] in _TOO_COMMON):
                    disputed = any(_differs(row, other) for other in rows)
                    found.setdefault(first, []).append((key, Meaning(row.definition, disputed)))
        return found

    def disputed(self, definitions: Iterable[Definition]) -> dict[str, list[str]]:
        """Return the terms that these definitions give different meanings, each with the documents that do so."""
        shown = {id(definition): definition for definition in definitions}
        by_term: dict[str, list[_Row]] = {}
        for definition in shown.values():
            rows = self._exact.get(definition.term_normalized, [])
            by_term.setdefault(term_key(definition.term), []).extend(
                row for row in rows if row.definition == definition
            )
        found: dict[str, list[str]] = {}
        for rows in by_term.values():
            if any(_differs(rows[0], other) for other in rows[1:]):
                found[rows[0].definition.term] = list(dict.fromkeys(row.document_title for row in rows))
        return found


def keys_in(query: str, known: Collection[str]) -> list[str]:
    """Return the keys of the known terms that occur in a query, in its order; the longest term wins."""
    words = [singular(word) for word in term_words(query)[:MAX_QUERY_WORDS]]
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        step = 1
        for length in range(min(LONGEST_TERM, len(words) - at), 0, -1):
            key = " ".join(words[at : at + length])
            if key in known and key not in _TOO_COMMON:
                found[key] = None
                step = length
                break
        at += step
    return list(found)


def possible_keys(query: str) -> set[str]:
    """Return the keys of all terms that a query could contain: each word alone and with some that follow."""
    words = [singular(word) for word in term_words(query)[:MAX_QUERY_WORDS]]
    return {
        " ".join(words[at : at + length])
        for at in range(len(words))
        for length in range(1, min(LONGEST_TERM, len(words) - at) + 1)
    }


def _differs(row: _Row, other: _Row) -> bool:
    return other.wording != row.wording and other.definition.source_path != row.definition.source_path


_NEAR = 0.7


def term_key(term: str) -> str:
    """Return what different spellings of a term have in common: ``Business Days`` and ``business day``."""
    return " ".join(loose_key(term))


def _wording(definition: Definition) -> str:
    """The text of a definition without case, quotation marks, emphasis, white space and final stop."""
    return _MARKUP.sub(" ", definition.definition_text.casefold()).strip(" .;,")
