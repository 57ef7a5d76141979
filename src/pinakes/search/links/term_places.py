"""Term places: where a document uses its defined terms, once in each section."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from pinakes.model import Definition, Place
from pinakes.search.links.define import Dictionary, Meaning
from pinakes.text.terms import loose_word

_WORDS = re.compile(r"([^\W_]+)")
# A term is not carried over a stop, a line of a table or the end of a paragraph.
_BREAK = re.compile(r"[.;:!?|]|\n\s*\n")
# A document that uses more terms than this is not made clearer by marking the rest.
_MOST = 5000
# The words of a term, and what it means.
_Term = tuple[tuple[str, ...], Meaning]


@dataclass(slots=True)
class TermPlace:
    """A use of a defined term; ``definition`` is its number among the definitions that are given with it."""

    start: int
    end: int
    definition: int


@dataclass(frozen=True, slots=True)
class TermPlaces:
    """The uses of terms in a document, and what the terms mean there, each definition once."""

    places: list[TermPlace] = field(default_factory=list)
    meanings: list[Meaning] = field(default_factory=list)


def term_places(
    text: str,
    definitions: Dictionary,
    path: str,
    referred: Collection[str],
    sections: Sequence[Place],
    first: int = 0,
) -> TermPlaces:
    """Return the first use of each term in each section.

    A term means what the document itself says, or else a document that it refers to. Headings are left alone, and the
    words of the definition itself.
    """
    found = TermPlaces()
    known = definitions.by_first_word(path, referred)
    if not known:
        return found
    # Gaps and words by turns. Everything that looks at all words of a text is left to C.
    parts = _WORDS.split(text[first:] if first else text)
    words = parts[1::2]
    normal = {word: loose_word(word) for word in set(words)}
    keys = [*map(normal.__getitem__, words), ""]
    beginnings = {word for word, key in normal.items() if key in known}
    starts = list(accumulate(map(len, parts), initial=first))
    holders = [section.start for section in sections]
    by_second = {word: _by_second(terms) for word, terms in known.items()}
    numbers: dict[int, int] = {}
    marked: set[tuple[int, int]] = set()
    past = 0
    for at in [place for place, word in enumerate(words) if word in beginnings]:
        if at < past:
            continue
        begun = by_second[keys[at]]
        terms = begun.get(keys[at + 1]) or begun.get("")
        if terms is None:
            continue
        start = starts[2 * at + 1]
        for term, meaning in terms:
            definition, length = meaning.definition, len(term)
            if length > 1 and not _stands(term, at, keys, parts):
                continue
            if definition.term[:1].isupper() and not words[at][0].isupper():
                # "Term" is defined; "the terms of payment" are something else.
                continue
            past = at + length
            holder = max(0, bisect_right(holders, start) - 1)
            once = (holder, id(definition))
            if once in marked or not _is_use(definition, path, start, sections[holder] if sections else None):
                break
            marked.add(once)
            number = numbers.setdefault(id(definition), len(numbers))
            if number == len(found.meanings):
                found.meanings.append(meaning)
            found.places.append(TermPlace(start, starts[2 * past], number))
            break
        if len(found.places) >= _MOST:
            break
    return found


def _by_second(terms: Sequence[_Term]) -> dict[str, list[_Term]]:
    """Return terms by their second word, each with those of one word after it; "" has those alone."""
    found: dict[str, list[_Term]] = {}
    for item in terms:
        if len(item[0]) > 1:
            found.setdefault(item[0][1], []).append(item)
    short = [item for item in terms if len(item[0]) == 1]
    return {second: items + short for second, items in found.items()} | ({"": short} if short else {})


def _stands(term: Sequence[str], at: int, keys: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the words of a term stand at a place, and nothing between them that ends a thought."""
    if tuple(keys[at : at + len(term)]) != term:
        return False
    gaps = parts[2 * at + 2 : 2 * (at + len(term)) : 2]
    return not any(gap != " " and _BREAK.search(gap) for gap in gaps)


def _is_use(definition: Definition, path: str, start: int, section: Place | None) -> bool:
    if section is not None and section.ordinal > 0 and section.start <= start < section.body:
        return False
    return definition.source_path != path or not definition.start <= start < definition.end
