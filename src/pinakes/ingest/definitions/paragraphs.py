"""Definitions in paragraphs and list items: where each starts, and where its own text ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pinakes.ingest.definitions.forms import Anchor, inline_anchors
from pinakes.ingest.definitions.glossary import entry
from pinakes.ingest.definitions.phrases import phrase_anchors
from pinakes.ingest.definitions.units import Levels, Unit, Units
from pinakes.text.sentences import sentence_ends

MAX_DEFINITION = 20_000
"""Characters of the longest definition; a list below it that goes on longer is cut."""

_MAX_SENTENCE = 4_000
_PROMISE = ":—–-"  # what a paragraph ends with when a list follows
# How a sentence or paragraph begins that goes on about the term before it.
_GOES_ON = (
    "the term", "this term", "these terms", "the expression", "it ", "this does not", "this includes", "however",
    "for the purposes of this definition", "for purposes of this definition", "der begriff", "die begriffe",
)  # fmt: skip
_JOINTS = frozenset("and or the term terms expression word a an und et y".split())
_NUMBER = re.compile(r"\(\w{1,4}\)|\d{1,3}[.)°]|[a-z][.)]")
_TAG = re.compile(r"</?(?:p|div|td|tr|li|ul|ol|table|br|dd|dt)\b")


@dataclass(frozen=True, slots=True)
class Span:
    """The terms of a definition and where its text stands; ``leading`` when its paragraph opens with it."""

    terms: tuple[str, ...]
    start: int
    end: int
    leading: bool
    sure: float = 0.95


@dataclass(slots=True)
class Paragraphs:
    """Reads the definitions of units. ``loose`` says which sections take the forms of a glossary."""

    text: str
    units: Units
    loose: Sequence[bool]
    foreign: bool
    _known: dict[int, list[Anchor]] = field(default_factory=dict)

    def opens(self, index: int, unit: Unit) -> bool:
        """Whether a unit opens with a definition."""
        anchors = self._anchors(index, unit)
        return bool(anchors) and anchors[0].leading

    def read(self, index: int, unit: Unit, depth: int) -> list[Span]:
        """Return the definitions of a unit; ``depth`` counts the definitions whose lists it stands in."""
        text, spans = self.text, []
        anchors = self._anchors(index, unit) if not depth else self._strict(unit)
        cuts = self._cuts(unit, anchors)
        for anchor, cut in zip(anchors, cuts, strict=True):
            whole = anchor.leading or (unit.marked and anchor.start - unit.body < 80)
            limit = unit.end if cut is None else anchor.after + len(_without_joint(text[anchor.after : cut]))
            end = (
                limit
                if whole
                else _sentence_end(text, anchor.after, min(limit, anchor.after + _MAX_SENTENCE))
            )
            tag = _TAG.search(text, anchor.after, end)
            if tag is not None:
                end = tag.start()
            # Deeper than three definitions in one another there is nothing to gain, only text to repeat.
            if end == unit.end and depth < 3:
                end = self._list_end(index, unit, anchor)
            spans.append(Span(anchor.terms, anchor.start, end, anchor.leading, anchor.sure))
        return spans

    def _strict(self, unit: Unit) -> list[Anchor]:
        anchors = inline_anchors(self.text, unit, self.loose[unit.section])
        if self.foreign or self.loose[unit.section]:
            anchors = _in_order([*anchors, *phrase_anchors(self.text, unit)])
        return anchors

    def _anchors(self, index: int, unit: Unit) -> list[Anchor]:
        """The definitions of a unit that stands in no other definition's list."""
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
            opening = entry(self.text, unit, listed)
            if opening is not None:
                anchors = [opening, *(anchor for anchor in anchors if anchor.start >= opening.after)]
        self._known[unit.start] = anchors
        return anchors

    def _cuts(self, unit: Unit, anchors: Sequence[Anchor]) -> list[int | None]:
        """Where each definition must have ended because the next one in the same unit begins."""
        cuts: list[int | None] = []
        following: int | None = None
        for at in range(len(anchors) - 1, -1, -1):
            cuts.append(following)
            anchor = anchors[at]
            if anchor.cuts:
                following = anchor.start
            elif at and not anchors[at - 1].leading:
                # "In this section, "B" means …": the definition before ends with the sentence before.
                begin = max(anchors[at - 1].after, anchor.start - _MAX_SENTENCE)
                ends = sentence_ends(self.text, begin, anchor.start)
                following = ends[-1] if ends else following
        return cuts[::-1]

    def _list_end(self, index: int, unit: Unit, anchor: Anchor) -> int:
        """Return where the list below a unit ends, with the paragraphs that go on about the same term."""
        text, end, levels = self.text, unit.end, Levels(unit)
        promised = text[end - 1] in _PROMISE or not any(map(str.isalnum, text[anchor.after : end]))
        if not anchor.leading and not promised:
            return end
        listed = False
        here = self.units.after(index, unit)
        while here is not None and here[1].end - unit.start <= MAX_DEFINITION:
            later = here[1]
            opens = self.opens(*here)
            if later.marked:
                if not levels.takes(later, promised or listed or not opens, due=promised and not opens):
                    break
                listed = True
            elif opens or not self._goes_on(unit, later):
                break
            end = later.end
            promised = text[end - 1] in _PROMISE
            here = self.units.after(*here)
        return end

    def _goes_on(self, unit: Unit, later: Unit) -> bool:
        if unit.marked and later.indent >= unit.indent + 2:
            return True
        return self.text[later.body].islower() or _about_the_term(self.text, later.body)


def _in_order(anchors: list[Anchor]) -> list[Anchor]:
    """Anchors by place; of two ways to read the same words the surer one."""
    kept: list[Anchor] = []
    for anchor in sorted(anchors, key=lambda one: (one.start, -one.sure)):
        if not kept or anchor.start >= kept[-1].after:
            kept.append(anchor)
    return kept


def _about_the_term(text: str, at: int) -> bool:
    return text[at : at + 40].lower().startswith(_GOES_ON)


def _sentence_end(text: str, start: int, limit: int) -> int:
    """Return where the sentence ends, with the sentences after it that go on about the term."""
    for end in (*sentence_ends(text, start, limit), limit):
        if end == limit or not _about_the_term(text, end):
            return start + len(text[start:end].rstrip())
    return limit


def _without_joint(text: str) -> str:
    """Leave off what leads to the next definition: white space, "and", its number, "the term"."""
    text = text.rstrip()
    while True:
        head, _, last = text[-40:].rpartition(" ")
        head_newline, _, last_line = text[-40:].rpartition("\n")
        if len(last_line) < len(last):
            head, last = head_newline, last_line
        if not head or not (last.lower() in _JOINTS or _NUMBER.fullmatch(last)):
            return text
        text = text[: len(text) - len(last)].rstrip()
