"""Used terms: the defined terms that a document uses, what each means there, and the lines that say so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pinakes.model import Definition, Lines, Place
from pinakes.port.index import SearchIndex
from pinakes.search.links.define import Dictionary
from pinakes.search.links.term_places import TermPlace, term_places
from pinakes.search.present.located import located
from pinakes.text.terms import term_keys

_OTHERS = 100


@dataclass(frozen=True, slots=True)
class UsedDefinition:
    """What a term means here, and where that is said; ``conflict`` says that documents define it differently."""

    term: str
    definition: str
    source_path: str
    source_section: str
    lines: Lines
    conflict: bool


@dataclass(frozen=True, slots=True)
class UsedTerms:
    """The uses of terms in a document. Each definition is given once: places name it by its number."""

    definitions: list[UsedDefinition]
    places: list[TermPlace]

    def to_dict(self) -> dict[str, Any]:
        """Return both as JSON values."""
        return {"definitions": plain(self.definitions), "terms": plain(self.places)}


def used_terms(
    index: SearchIndex,
    path: str,
    text: str,
    sections: Sequence[Place],
    referred: Collection[str],
    body_start: int,
) -> UsedTerms:
    """Return the terms that a document uses; ``referred`` are the documents whose terms it may mean."""
    terms = index.terms
    own = terms.in_documents([path, *referred])
    keys = {" ".join(words) for row in own for words in term_keys(row.definition.term)}
    # What others say of the same terms only tells whether that is something else.
    others = set(terms.by_keys(keys, limit=_OTHERS)).difference(own)
    rows = sorted([*own, *others], key=lambda row: (row.source_path, row.definition.start))
    found = term_places(text, Dictionary(rows), path, referred, sections, body_start)
    definitions = located([meaning.definition for meaning in found.meanings], index)
    return UsedTerms(
        [
            _definition(said, meaning.conflict)
            for said, meaning in zip(definitions, found.meanings, strict=True)
        ],
        found.places,
    )


def _definition(said: Definition, conflict: bool) -> UsedDefinition:
    lines = said.lines or Lines(1, 1)
    return UsedDefinition(
        said.term, said.definition_text, said.source_path, said.source_section, lines, conflict
    )


def plain(items: Sequence[Any], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return results of one kind as JSON values; ``asdict`` would copy every one of many thousand values again."""
    names = names or (items[0].__slots__ if items else ())
    return [{name: getattr(item, name) for name in names} for item in items]
