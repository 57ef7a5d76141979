"""Term places: where a document uses its defined terms, once in each section."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pinakes.model import Definition, Section
from pinakes.search.define import DefinitionIndex, loose_word

_WORD = re.compile(r"[^\W_]+")
# A term is not carried over a stop, a line of a table or the end of a paragraph.
_BREAK = re.compile(r"[.;:!?|]|\n\s*\n")
# A document that uses more terms than this is not made clearer by marking the rest.
_MOST = 5000


@dataclass(frozen=True, slots=True)
class TermPlace:
    """A use of a defined term; ``conflict`` says that documents define it differently."""

    term: str
    start: int
    end: int
    definition: str
    source_path: str
    source_section: str
    conflict: bool


def term_places(
    text: str,
    definitions: DefinitionIndex,
    path: str,
    referred: Collection[str],
    sections: Sequence[Section],
    first: int = 0,
) -> list[TermPlace]:
    """Return the first use of each term in each section.

    A term means what the document itself says, or else a document that it refers to. Headings are left alone, and the
    words of the definition itself.
    """
    known = definitions.by_first_word(path, referred)
    if not known:
        return []
    starts = [section.start for section in sections]
    normal: dict[str, str] = {}
    words = [match.span() for match in _WORD.finditer(text, first)]
    keys = [_normal(text[start:end], normal) for start, end in words]
    found: list[TermPlace] = []
    marked: set[tuple[int, int]] = set()
    at = 0
    while at < len(words) and len(found) < _MOST:
        step = 1
        for term, (definition, conflict) in known.get(keys[at], ()):
            if tuple(keys[at : at + len(term)]) != term or not _together(words[at : at + len(term)], text):
                continue
            step = len(term)
            start, end = words[at][0], words[at + step - 1][1]
            holder = max(0, bisect_right(starts, start) - 1)
            once = (holder, id(definition))
            if not text[start].isupper() and definition.term[:1].isupper():
                # "Term" is defined; "the terms of payment" are something else.
                continue
            if once not in marked and _is_use(
                definition, path, start, sections[holder] if sections else None
            ):
                marked.add(once)
                found.append(
                    TermPlace(
                        definition.term,
                        start,
                        end,
                        definition.definition_text,
                        definition.source_path,
                        definition.source_section,
                        conflict,
                    )
                )
            break
        at += step
    return found


def _normal(word: str, known: dict[str, str]) -> str:
    """Return a word as terms are compared; most words of a text occur many times."""
    found = known.get(word)
    if found is None:
        found = known[word] = loose_word(word)
    return found


def _together(words: Sequence[tuple[int, int]], text: str) -> bool:
    """Whether nothing that ends a thought stands between some words."""
    return not any(_BREAK.search(text, before[1], after[0]) for before, after in pairwise(words))


def _is_use(definition: Definition, path: str, start: int, section: Section | None) -> bool:
    if section is not None and section.ordinal > 0 and section.start <= start < section.body:
        return False
    return definition.source_path != path or not definition.start <= start < definition.end
