"""Printed: references that only the documents can tell: ``II``, ``Goal 4``, ``12 straipsnis``, ``AC-2(3)``.

A number beside a word is a reference where places are printed with that word. A number alone, with at most one word
beside it, is one where it leads to a place. If a document is named and uses the word for other places, it is a
reference even though it leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice

from loccit.grammar.labels import Label, parse_whole
from loccit.grammar.labels.lexicon import lowered
from loccit.grammar.labels.names import FUNCTION_WORDS
from loccit.index.port.records import Records
from loccit.search.resolve.places import ALL_KINDS, Resolver, is_few, searched, words_of
from loccit.search.understand.designators import Designator, find_alone, find_beside
from loccit.search.understand.query import Query, content_words

# Numbers of a text that are looked up.
_MOST = 4
_LONGEST_NUMBER = 3
# Parts of a place, in the words of any language: `ayat (2)`, `khoản 2 Điều`, `apartat 4 de l'`.
_PART = re.compile(
    r"(?P<word>[^\W\d_]{2,16})\.?\s{1,2}\(?(?P<part>\d{1,3}|[^\W\d_]|[ivx]{1,4})(?![^\W_])[).:,]{0,2}"
    r"(?:\s{1,2}[^\W\d_]{1,4}['’]?(?!\.?\s{1,2}\(?(?:\d|[^\W\d_](?![^\W_])))){0,2}(?:\s{1,2}|\Z)"
)
# Words before numbers that are no parts, or are not meant.
_NO_PARTS = frozenset(
    "version edition volume page pages table figure year seite tabelle abbildung except excluding without after before "
    "ohne außer sauf salvo excepto eccetto".split()
)
# Letters of a text that may be a number with a word beside it.
_LONGEST = 120


def as_printed(query: Query, lookup: Records, documents: Collection[int] | None = None) -> Query:
    """Return a query with the references that the grammar of labels cannot read, and without them in its rest."""
    if not re.search(r"[^\W_]", query.rest):
        return query
    within = searched(query, documents)
    query = _with_parts(query, lookup, within)
    if not any(c.isdigit() or c.isupper() for c in query.rest):
        return query
    reader = _Reader(query.rest, lookup, within)
    found = [*reader.beside()]
    if not query.references and not found:
        found = [*reader.whole()] if len(query.rest) <= _LONGEST else []
        found = found or [*reader.codes()]
    if not found:
        return query
    rest = query.rest
    for _, start, end in sorted(found, key=lambda item: -item[1]):
        rest = rest[:start] + " " + rest[end:]
    # Outer places are written before or after inner ones; all are kept.
    labels = dict.fromkeys((*(label for label, _, _ in found), *query.references))
    query = replace(query, references=tuple(labels), rest=" ".join(rest.split()))
    return _with_parts(query, lookup, within)


def _with_parts(query: Query, lookup: Records, documents: Collection[int] | None) -> Query:
    """Return a query with the parts of its one place, told beside it in words that the grammar of labels does not know.

    ``Pasal 8 ayat (2)`` is Pasal 8(2) if there is such a place, and so is ``ayat (2) Pasal 8``.
    """
    rest = query.rest.strip(" ,.;:?!")
    if len(query.references) != 1 or not rest:
        return query
    (label,) = query.references
    told = list(_PART.finditer(rest))
    beside = {lowered(match["word"]) for match in told}
    if not told or _PART.sub("", rest).strip() or beside & _NO_PARTS or beside & FUNCTION_WORDS:
        return query
    parts = tuple(match["part"].lower() for match in told)
    resolver = Resolver(lookup)
    for order in dict.fromkeys((parts, parts[::-1])):
        if resolver.has(replace(label, number=(*label.number, order[0])), documents):
            text = f"{label.text}{''.join(f'({part})' for part in order)}"
            return replace(
                query, references=(replace(label, text=text, number=(*label.number, *order)),), rest=""
            )
    return query


_Found = tuple[Label, int, int]


class _Reader:
    def __init__(self, text: str, lookup: Records, documents: Collection[int] | None) -> None:
        self._text = text
        self._lookup = lookup
        self._documents = documents
        self._resolver = Resolver(lookup)

    def beside(self) -> Iterator[_Found]:
        """Yield numbers beside a word with which a place of that number is printed."""
        for item in islice(find_beside(self._text), _MOST):
            for number in item.readings:
                label = Label(self._text[item.start : item.end], "", number)
                if kinds := self._kinds(item.word, label):
                    yield from ((replace(label, kind=kind), item.start, item.end) for kind in kinds)
                    break

    def _kinds(self, word: str, label: Label) -> list[str]:
        outer = label.shortened()
        while True:
            printed = self._lookup.numbered(label.key, ALL_KINDS, self._documents)
            if kinds := {place.kind for place in printed if word in words_of(place.label)}:
                return sorted(kinds)
            if outer is None:
                return []
            label, outer = outer, outer.shortened()

    def whole(self) -> Iterator[_Found]:
        """Yield the number that is all of the text, with at most one word beside it."""
        text = self._text.strip()
        start, end = 0, len(self._text)
        label = parse_whole(text)
        # A year is more often one.
        if label and label.key.isdecimal() and len(label.key) > _LONGEST_NUMBER:
            label = None
        if label and (self._leads(label) or (is_few(self._documents) and not label.key.isdecimal())):
            yield label, start, end
            return
        # A word after the number is a title, unless places are printed with it.
        beside = (
            item
            for item in find_beside(text)
            if not self._around(text, item) and (item.leads or self._kinds_of(item.word))
        )
        for item in (*beside, *(one for one in find_alone(text) if not self._around(text, one))):
            if label := self._led(item, text[item.start : item.end]):
                yield label, start, end
                return

    def _led(self, item: Designator, text: str) -> Label | None:
        """The label of a number that leads somewhere, or would if it were there."""
        named = is_few(self._documents)
        if not named and (item.word or len(item.number) < 2) and not item.is_code:
            return None
        labels = [Label(text, "", number) for number in item.readings]
        if found := next((label for label in labels if self._leads(label)), None):
            return found
        if not named or (not item.word and not item.is_code and item.number.isdecimal()):
            return None
        kinds = self._kinds_of(item.word) if item.word else {""}
        return replace(labels[0], kind=min(kinds)) if kinds else None

    def codes(self) -> Iterator[_Found]:
        """Yield numbers of letters and digits that places have."""
        for item in islice((one for one in find_alone(self._text) if one.is_code), _MOST):
            labels = [Label(item.number, "", number) for number in item.readings]
            if found := next((label for label in labels if self._resolver.has(label, self._documents)), None):
                yield found, item.start, item.end

    def _kinds_of(self, word: str) -> set[str]:
        named = self._documents if is_few(self._documents) else None
        return self._resolver.kinds_printed(word, named or ())

    def _leads(self, label: Label) -> bool:
        return bool(self._resolver.resolve(label, {}, self._documents, 1))

    @staticmethod
    def _around(text: str, item: Designator) -> list[str]:
        return content_words(f"{text[: item.start]} {text[item.end :]}")
