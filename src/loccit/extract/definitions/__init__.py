"""Definitions: the terms that a document defines, each with its text, place and exceptions.

A document is read in two ways. In a section headed "Definitions" or the like, every paragraph, list item, sub-heading
and table row may be an entry. Everywhere else only unmistakable forms count: a term set off by quotation marks or
emphasis with a defining verb, or a name given in brackets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from loccit.extract.definitions.forms import Anchor, inline_anchors, phrase_anchors
from loccit.extract.definitions.german import german_anchor
from loccit.extract.definitions.glossary import (
    announced_lists,
    clause_entries,
    definition_sections,
    entry,
    given_in_heading,
    heading_term,
    is_definition_heading,
    table_entries,
)
from loccit.extract.definitions.parens import OPENING, named_in_bracket
from loccit.extract.definitions.terms import exceptions_in, normalize_term
from loccit.extract.definitions.units import Levels, Unit, Units
from loccit.grammar.text.sentences import sentence_ends
from loccit.model import Definition, Place
from loccit.structure import Parsed

MAX_DEFINITION = 20_000
"""The maximum length of a definition; a longer list below it is cut."""

_MAX_SENTENCE = 4_000
_SHORT = 300  # characters; a longer paragraph is no item of a list
_PROMISE = ":—–-"  # what a paragraph ends with when a list follows
# How a sentence or paragraph begins that goes on about the term before it.
_GOES_ON = (
    "the term", "this term", "these terms", "the expression", "it ", "this does not", "this includes", "however",
    "for the purposes of this definition", "for purposes of this definition", "der begriff", "die begriffe",
)  # fmt: skip
# Characters before the words that announce a list.
_AT_TOP = 1500
# What leads to the next definition in a paragraph: "and", its number, "the term".
_JOINT = re.compile(
    r"(?:\s+(?:and|or|the|terms?|expressions?|word|an?|und|et|y|\(\w{1,4}\)|\d{1,3}[.)°]|[a-z][.)]))*\s*$",
    re.IGNORECASE,
)
# Outside definitions sections, a term is set off.
_SET_OFF = re.compile(r"[\"“‘'«‹„‚»*_`]")
_TAG = re.compile(r"</?(?:p|div|td|tr|li|ul|ol|table|br|dd|dt)\b")


def extract_definitions(
    parsed: Parsed, sections: Sequence[Place], source_path: str, language: str = "en"
) -> list[Definition]:
    """Return the definitions of a document in text order."""
    return _Extraction(parsed, sections, source_path, language).run()


class _Extraction:
    """The extraction from one document.

    ``inside`` are its definitions sections, ``listed`` those that announce a list explicitly, whatever their heading,
    and ``loose`` those in which glossary forms count.
    """

    def __init__(self, parsed: Parsed, sections: Sequence[Place], source_path: str, language: str) -> None:
        self.text, self.blocks, self.sections = parsed.text, parsed.blocks, sections
        self.source_path, self.foreign = source_path, language != "en"
        self.units = Units(parsed, sections)
        self.inside = definition_sections(sections)
        self.listed = [False] * len(sections)
        for start in announced_lists(parsed.text, parsed.body_start):
            section = sections[self.units.section_at(start)]
            # In a text without headings, what follows the list belongs to the same section.
            if section.ordinal and start - section.body < _AT_TOP and section.end - start < MAX_DEFINITION:
                self.listed[section.ordinal] = True
        self.loose = [inside or listed for inside, listed in zip(self.inside, self.listed, strict=True)]
        self.found: list[tuple[bool, Definition]] = []
        self._known: dict[int, list[Anchor]] = {}
        self._read_paragraphs()
        self._read_brackets(parsed.body_start)
        self._read_tables()
        self._read_headings()

    def run(self) -> list[Definition]:
        """Keep one of equal definitions, preferably from a definitions section; order by position."""
        kept: dict[tuple[str, str], Definition] = {}
        for _, definition in sorted(self.found, key=lambda item: (not item[0], item[1].start)):
            words = " ".join(definition.definition_text.split()).casefold()
            kept.setdefault((definition.term_normalized, words), definition)
        return sorted(kept.values(), key=lambda definition: definition.start)

    def _read_paragraphs(self) -> None:
        entries = [0] * len(self.sections)
        parents = Counter(section.parent for section in self.sections)
        above: list[int] = []  # where the definitions end whose lists we are in
        last = -1
        for index, block in enumerate(self.blocks):
            loose = self.foreign or self.inside[at := self.units.section_at(block.start)] or self.listed[at]
            if not loose and not _SET_OFF.search(self.text, block.start, block.end):
                continue
            for unit in self.units.of(index):
                section = self.sections[unit.section]
                if unit.section != last and self.inside[unit.section]:
                    leaf = unit.section not in parents
                    self.loose[unit.section] = self._is_list(index, unit, section)
                    if not self.loose[unit.section] and leaf and not entries[section.parent or 0]:
                        self._keep_heading(section, alone=parents[section.parent] == 1)
                last = unit.section
                above = [end for end in above if end > unit.start]
                for anchor, end in self._spans(index, unit, len(above)):
                    self._keep(anchor.terms, anchor.start, end, anchor.sure)
                    if anchor.leading and self.loose[unit.section]:
                        entries[unit.section] += 1
                        above.append(end)

    def _is_list(self, index: int, unit: Unit, section: Place) -> bool:
        """Whether a section of a glossary lists definitions; otherwise its heading may itself be the term."""
        if section.parent is None or not self.inside[section.parent] or not heading_term(section):
            return True
        return self._opens(index, unit)

    def _keep_heading(self, section: Place, alone: bool) -> None:
        """Keep a sub-heading with its text if the heading above it only announces terms.

        A single one below other text, such as "History", is not a term.
        """
        above = self.sections[section.parent or 0]
        silent = not self.text[above.body : self.sections[above.ordinal + 1].start].strip()
        if silent or (not alone and is_definition_heading(above.title or above.heading)):
            end = min(section.end, section.body + MAX_DEFINITION)
            self._keep((heading_term(section),), section.start, end, 0.8, self.text[section.body : end])

    def _read_brackets(self, begin: int) -> None:
        for match in OPENING.finditer(self.text, begin):
            unit = self.units.at(match.start())
            if unit is None or unit.heading:
                continue
            named = named_in_bracket(self.text, unit, match.start(), self.inside[unit.section])
            if named is not None:
                words = self.text[named.start : named.end]
                self._keep(named.terms, named.start, named.close, named.sure, words)

    def _read_tables(self) -> None:
        for block in self.blocks:
            if block.kind == "table":
                inside = self.inside[self.units.section_at(block.start)]
                for term, meaning, start, end in table_entries(self.text, block, inside):
                    self._keep((term,), start, end, 0.9, meaning)

    def _read_headings(self) -> None:
        """Read names that headings give, and the clauses of vocabularies."""
        for section in self.sections:
            if section.ordinal and (name := given_in_heading(section.heading)):
                end = self.text.find("\n", section.start)
                end = end if end > 0 else section.end
                self._keep((name,), section.start, end, 0.9, section.heading)
            if self.inside[section.ordinal] and not self.inside[section.parent or 0]:
                for term, start, end in clause_entries(self.text, section.start, section.end):
                    self._keep((term,), start, end, 0.9)

    def _keep(self, terms: Sequence[str], start: int, end: int, sure: float, words: str = "") -> None:
        text = (words or self.text[start:end]).strip()
        ordinal = self.units.section_at(start)
        section, exceptions = self.sections[ordinal].section_id, exceptions_in(text)
        for term in terms:
            key = normalize_term(term)
            if key and text:
                definition = Definition(
                    self.source_path, term, key, text, section, exceptions, start, end, sure=sure
                )
                self.found.append((self.inside[ordinal], definition))

    # Paragraphs -----------------------------------------------------------------------------------------------

    def _opens(self, index: int, unit: Unit) -> bool:
        """Whether a unit begins with a definition."""
        anchors = self._anchors(index, unit)
        return bool(anchors) and anchors[0].leading

    def _spans(self, index: int, unit: Unit, depth: int) -> Iterator[tuple[Anchor, int]]:
        """Yield the definitions of a unit and where they end; ``depth`` counts those whose lists it is in."""
        text = self.text
        anchors = self._anchors(index, unit) if not depth else self._strict(unit)
        for anchor, cut in zip(anchors, self._cuts(unit, anchors), strict=True):
            end = unit.end
            if cut is not None and (joint := _JOINT.search(text, max(anchor.after, cut - 60), cut)):
                end = joint.start()
            if not (anchor.leading or (unit.marked and anchor.start - unit.body < 80)):
                end = _sentence_end(text, anchor.after, min(end, anchor.after + _MAX_SENTENCE))
            tag = _TAG.search(text, anchor.after, end)
            end = tag.start() if tag else end
            # Beyond three nested definitions there is nothing to gain, only text to repeat.
            if end == unit.end and depth < 3:
                end = self._list_end(index, unit, anchor)
            # `**Control**: "Control" means …`: the first says nothing.
            if cut is None or any(map(str.isalnum, text[anchor.after : end])):
                yield anchor, end

    def _strict(self, unit: Unit) -> list[Anchor]:
        anchors = inline_anchors(self.text, unit, self.loose[unit.section])
        if self.foreign or self.loose[unit.section]:
            others = (*phrase_anchors(self.text, unit), *german_anchor(self.text, unit))
            anchors = _in_order([*anchors, *others])
        return anchors

    def _anchors(self, index: int, unit: Unit) -> list[Anchor]:
        """The definitions of a unit that is in no other definition's list."""
        anchors = self._known.get(unit.start)
        if anchors is not None:
            return anchors
        anchors = self._strict(unit)
        if unit.heading:
            anchors = [anchor for anchor in anchors[:1] if anchor.leading]
        elif self.loose[unit.section] and not (anchors and anchors[0].leading):
            following = self.units.after(index, unit)
            listed = (
                following is not None and following[1].marked and self.text[unit.end - 1] in _PROMISE + "*_."
            )
            goes_on = self._item_goes_on(unit, following)
            opening = entry(self.text, unit, listed, goes_on, self.listed[unit.section])
            if opening is not None:
                anchors = [opening, *(anchor for anchor in anchors if anchor.start >= opening.after)]
        self._known[unit.start] = anchors
        return anchors

    def _item_goes_on(self, unit: Unit, following: tuple[int, Unit] | None) -> bool:
        """Whether the next unit is a further paragraph of the same item."""
        later = following[1] if following else None
        return later is not None and unit.marked and not later.marked and later.indent >= unit.indent + 2

    def _cuts(self, unit: Unit, anchors: Sequence[Anchor]) -> list[int | None]:
        """Where each definition must end because the next one in the same unit begins."""
        cuts: list[int | None] = []
        following: int | None = None
        for at in range(len(anchors) - 1, -1, -1):
            cuts.append(following)
            anchor = anchors[at]
            if anchor.cuts:
                following = anchor.start
            elif at and not anchors[at - 1].leading:
                # "In this section, "B" means …": the previous definition ends with the previous sentence.
                begin = max(anchors[at - 1].after, anchor.start - _MAX_SENTENCE)
                ends = sentence_ends(self.text, begin, anchor.start)
                following = ends[-1] if ends else following
        return cuts[::-1]

    def _list_end(self, index: int, unit: Unit, anchor: Anchor) -> int:
        """Return the end of the list below a unit, including paragraphs that continue about the same term."""
        text, end, levels = self.text, unit.end, Levels(unit)
        promised = text[end - 1] in _PROMISE or not any(map(str.isalnum, text[anchor.after : end]))
        if not anchor.leading and not promised:
            return end
        listed = announced = False
        here = self.units.after(index, unit)
        while here is not None and here[1].end - unit.start <= MAX_DEFINITION:
            later = here[1]
            opens = self._opens(*here)
            if later.marked:
                if not levels.takes(later, promised or listed or not opens, due=promised and not opens):
                    break
                listed = True
            elif opens or not (promised or announced or self._goes_on(unit, later)):
                break
            # `in either of the following registries:`, each a paragraph without a number.
            announced = (promised or announced) and not later.marked and later.end - later.body < _SHORT
            end = later.end
            promised = text[end - 1] in _PROMISE
            announced = announced and text[end - 1] not in ".!?"
            here = self.units.after(*here)
        if here is not None and text[end - 1] == ":" and self._opens(*here):
            end -= 1  # the colon ends an entry, as a semicolon would
        return end

    def _goes_on(self, unit: Unit, later: Unit) -> bool:
        if unit.marked and later.indent >= unit.indent + 2:
            return True
        return self.text[later.body].islower() or _about_the_term(self.text, later.body)


def _in_order(anchors: list[Anchor]) -> list[Anchor]:
    """Anchors by position; of two readings of the same words, the more certain one."""
    kept: list[Anchor] = []
    for anchor in sorted(anchors, key=lambda one: (one.start, -one.sure)):
        if not kept or anchor.start >= kept[-1].after:
            kept.append(anchor)
    return kept


def _about_the_term(text: str, at: int) -> bool:
    return text[at : at + 40].lower().startswith(_GOES_ON)


def _sentence_end(text: str, start: int, limit: int) -> int:
    """Return the end of the sentence, including following sentences about the same term."""
    for end in (*sentence_ends(text, start, limit), limit):
        if end == limit or not _about_the_term(text, end):
            return start + len(text[start:end].rstrip())
    return limit
