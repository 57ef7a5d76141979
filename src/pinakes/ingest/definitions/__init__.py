"""Definitions: the terms a document defines, each with its own text, place and exceptions.

Two readings go over a document. Where a section is headed "Definitions" or the like, every paragraph, list item,
sub-heading and table row may be an entry. Everywhere else only forms that can hardly mean anything else count:
a term set off by quotation marks or emphasis and a verb of defining, or a name given in brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pinakes.ingest.definitions.glossary import (
    announced_lists,
    definition_sections,
    heading_term,
    is_definition_heading,
    table_entries,
)
from pinakes.ingest.definitions.paragraphs import MAX_DEFINITION, Paragraphs
from pinakes.ingest.definitions.parens import OPENING, named_in_bracket
from pinakes.ingest.definitions.terms import exceptions_in, normalize_term
from pinakes.ingest.definitions.units import Unit, Units
from pinakes.ingest.parse import Parsed
from pinakes.model import Definition, Place

# Characters before the words that announce a list.
_AT_TOP = 1500
# Only paragraphs that hold one of these are read outside definitions sections.
_HINTS = (
    " mean", "\nmean", " refer", "\nrefer", " defined ", " includes ", " include ", " does not include", " MEANS ",
    " construed as ", "\" is ", "” is ", "\" are ", "” are ",
)  # fmt: skip
_HINTS_BY_LANGUAGE = {
    "de": (
        " bedeutet",
        " bedeuten",
        " bezeichne",
        " gilt als ",
        " gelten als ",
        " die Bedeutung ",
        "m Sinne d",
    ),
    "fr": ("ntend par ", " désigne", " signifie", "entend de ", "entendent "),
    "es": (
        " significa",
        " por «",
        " por “",
        ' por "',
        " refiere",
        "entiende por",
        "entienden por",
        "entenderá",
    ),
    "it": (" significa", " per «", " per “", ' per "', " indica", "intende per"),
    "pt": (" significa", " por «", " por “", ' por "', "entende-se", "entendem-se"),
    "nl": (" betekent", "verstaan onder", "verstaat"),
    "zh": ("指", "所称"),
    "ja": ("」とは",),
}


def extract_definitions(
    parsed: Parsed, sections: Sequence[Place], source_path: str, language: str = "en"
) -> list[Definition]:
    """Return the definitions of a document in the order in which they stand."""
    return _Extraction(parsed, sections, source_path, language).run()


@dataclass(slots=True)
class _Extraction:
    """One document being read."""

    parsed: Parsed
    sections: Sequence[Place]
    source_path: str
    language: str
    units: Units = field(init=False)
    inside: list[bool] = field(init=False)
    listed: list[bool] = field(init=False)
    """Sections that announce a list of definitions in so many words, whatever their heading."""
    found: list[tuple[bool, Definition]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.units = Units(self.parsed, self.sections)
        self.inside = definition_sections(self.sections)
        self.listed = [False] * len(self.sections)
        for start in announced_lists(self.parsed.text, self.parsed.body_start):
            section = self.sections[self.units.section_at(start)]
            # In a text without headings, what follows the list belongs to the same section.
            if section.ordinal and start - section.body < _AT_TOP and section.end - start < MAX_DEFINITION:
                self.listed[section.ordinal] = True

    def run(self) -> list[Definition]:
        self._read_paragraphs()
        self._read_brackets()
        self._read_tables()
        return _without_repeats(self.found)

    def _read_paragraphs(self) -> None:
        loose = [inside or listed for inside, listed in zip(self.inside, self.listed, strict=True)]
        foreign = self.language in _HINTS_BY_LANGUAGE
        paragraphs = Paragraphs(self.parsed.text, self.units, loose, foreign)
        entries = [0] * len(self.sections)
        parents = {section.parent for section in self.sections}
        above: list[int] = []  # where the definitions end whose lists we are in
        last = -1
        for index in self._blocks_worth_reading():
            for unit in self.units.of(index):
                section = self.sections[unit.section]
                if unit.section != last and self.inside[unit.section]:
                    leaf = unit.section not in parents
                    loose[unit.section] = self._is_list(paragraphs, index, unit, section)
                    if not loose[unit.section] and leaf and not entries[section.parent or 0]:
                        self._keep_heading(section)
                last = unit.section
                above = [end for end in above if end > unit.start]
                for span in paragraphs.read(index, unit, len(above)):
                    self._keep(
                        span.terms, self.parsed.text[span.start : span.end], span.start, span.end, span.sure
                    )
                    if span.leading and loose[unit.section]:
                        entries[unit.section] += 1
                        above.append(span.end)

    def _is_list(self, paragraphs: Paragraphs, index: int, unit: Unit, section: Place) -> bool:
        """Whether a section of a glossary lists definitions; otherwise its heading may be the term itself."""
        if section.parent is None or not self.inside[section.parent] or not heading_term(section):
            return True
        return paragraphs.opens(index, unit)

    def _keep_heading(self, section: Place) -> None:
        """Keep a sub-heading and what stands below it, where the heading above it only announces terms."""
        above = self.sections[section.parent or 0]
        silent = not self.parsed.text[above.body : self.sections[above.ordinal + 1].start].strip()
        if silent or is_definition_heading(above.title or above.heading):
            end = min(section.end, section.body + MAX_DEFINITION)
            self._keep(
                (heading_term(section),), self.parsed.text[section.body : end], section.start, end, 0.8
            )

    def _blocks_worth_reading(self) -> list[int]:
        """Blocks of definitions sections, and blocks that hold a word of defining."""
        wanted: set[int] = set()
        for section, inside in zip(self.sections, self.inside, strict=True):
            if inside and not (section.parent is not None and self.inside[section.parent]):
                first = self.units.block_at(section.start)
                wanted.update(range(first, self.units.block_at(max(section.start, section.end - 1)) + 1))
        text, blocks = self.parsed.text, self.parsed.blocks
        for section, after in zip(self.sections, [*self.sections[1:], None], strict=True):
            if self.listed[section.ordinal] and blocks:
                end = after.start if after is not None else section.end
                last = self.units.block_at(max(section.start, end - 1))
                wanted.update(range(self.units.block_at(section.start), last + 1))
        for hint in (*_HINTS, *_HINTS_BY_LANGUAGE.get(self.language, ())):
            at = text.find(hint, self.parsed.body_start)
            while at >= 0 and blocks:
                index = self.units.block_at(at)
                wanted.add(index)
                at = text.find(hint, max(at + 1, blocks[index].end - 1))
        return sorted(wanted)

    def _read_brackets(self) -> None:
        text = self.parsed.text
        for match in OPENING.finditer(text, self.parsed.body_start):
            unit = self.units.at(match.start())
            if unit is None or unit.heading:
                continue
            named = named_in_bracket(text, unit, match.start(), self.inside[unit.section])
            if named is not None:
                self._keep(named.terms, text[named.start : named.end], named.start, named.close, named.sure)

    def _read_tables(self) -> None:
        for block in self.parsed.blocks:
            if block.kind == "table":
                inside = self.inside[self.units.section_at(block.start)]
                for term, meaning, start, end in table_entries(self.parsed.text, block, inside):
                    self._keep((term,), meaning, start, end, 0.9)

    def _keep(self, terms: Sequence[str], text: str, start: int, end: int, sure: float) -> None:
        text = text.strip()
        ordinal = self.units.section_at(start)
        section, exceptions = self.sections[ordinal].section_id, exceptions_in(text)
        for term in terms:
            key = normalize_term(term)
            if key and text:
                definition = Definition(
                    self.source_path, term, key, text, section, exceptions, start, end, sure=sure
                )
                self.found.append((self.inside[ordinal], definition))


def _without_repeats(found: list[tuple[bool, Definition]]) -> list[Definition]:
    """Keep one of equal definitions, that of a definitions section before any other; order by place."""
    kept: dict[tuple[str, str], Definition] = {}
    for _, definition in sorted(found, key=lambda item: (not item[0], item[1].start)):
        words = " ".join(definition.definition_text.split()).casefold()
        kept.setdefault((definition.term_normalized, words), definition)
    return sorted(kept.values(), key=lambda definition: definition.start)
