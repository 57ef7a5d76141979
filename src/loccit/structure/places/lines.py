"""Numbered lines: every line of a text that begins with the number of a place, and its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from loccit.grammar.labels import Label
from loccit.grammar.labels.lexicon import load, lowered
from loccit.grammar.labels.numbers import LETTER
from loccit.structure import Block, Parsed
from loccit.structure.places.chain import Number, number_key
from loccit.structure.places.series import NOTHING, Learnt
from loccit.structure.places.view import plain_view, text_lines
from loccit.structure.quotations import is_quoted

# How much of a paragraph is read: a label, and a title of two or three lines.
_WINDOW = 320
# Lines of this length are whole paragraphs.
_UNBROKEN = 200
_CLOSING = re.compile(r"(?:[*_]{1,3}(?=\s)|</(?:u|b|strong)>)?[^\S\n]*(?:[-—–:][^\S\n]+)?")
_FIRST = re.compile(rf"[\s>*_#\\•●▪◦<ubi-]*(?:(?P<number>\d|§|[A-Za-z](?=[.-]\d))|(?P<word>{LETTER}+))")
_LEAD = re.compile(r"(?:[^\S\n]|>)*(?:(?:[-•●▪◦]|#{1,6})\s+)?")
_SENTENCE_END = re.compile(r"[.;:!?。；：！？”\"»)\]—–_|>-][*_]{0,3}\s*\Z")
# Page furniture is not part of the preceding text.
_FURNITURE = re.compile(
    r"\s*(?:</?PAGE>\s*\S{0,8}|[-–—\[(]{0,2}\s?(?:page\s)?\d{1,4}\s?[-–—\])]{0,2}|.{0,80}\[page \d+\])\s*",
    re.I,
)
_RULE = re.compile(r"\s*(?:[=\-_*~#+]{4,}|(?:[=\-_*~] ){4,})\s*")
_UNDERLINE = re.compile(r"\n[ \t]*[=\-~^\"#*_]{3,}[ \t]*(?:\n|\Z)")
_SPACED = re.compile(r"(?P<number>\d+(?:\.\d+)+)\s+(?=\([aA1iI]\))")
# The ticks of an axis, the figures of a row: `1.0 2.0 3.0`.
_FIGURES = re.compile(r"\d+[.,]\d+(?=\s|\Z)")
# Below the articles of Portuguese and Brazilian acts: `§ 1º` is a paragraph.
_PARAGRAPH_SIGN = re.compile(r"§\s?\d{1,2}\s?[º°]")


def series_of(kind: str) -> str:
    """The numbering that a kind belongs to: `Section 2`, then `2.1`, whatever word precedes the number."""
    return "" if kind == "section" else kind


def ends_short(line: str, width: int) -> bool:
    """Whether a sentence does not go on from a line to the next, since there was room for more."""
    return width > _UNBROKEN or len(line) < 0.6 * width or _FURNITURE.fullmatch(line) is not None


def is_furniture(line: str) -> bool:
    """Whether a line is page furniture, as printed between pages."""
    return _FURNITURE.fullmatch(line) is not None


@dataclass(slots=True)
class NumberedLine:
    """A line that begins with a label; ``rest`` is where the words after it begin.

    ``opens``: it begins a paragraph. ``follows``: the preceding text ended a sentence. ``ruled``: a rule is above or
    below it. ``nested``: an item of a list within a list; its number begins with those of the items around it.
    ``listed``: the contents page has it, by number and title. ``shape``: what its numbering is told by, if not a kind.
    """

    start: int
    rest: int
    end: int
    label: Label
    words: str
    opens: bool
    follows: bool
    ruled: bool = False
    nested: bool = False
    heading: bool = False
    listed: bool = False
    worth: float = 0.0
    shape: str = ""

    @property
    def number(self) -> Number:
        """The number in comparable form."""
        return number_key(self.label.number)

    @property
    def series(self) -> str:
        """The numbering it belongs to."""
        return self.shape or series_of(self.label.kind)

    @property
    def dotted(self) -> bool:
        """Whether the number has several parts."""
        return len(self.label.number) > 1

    @property
    def plain_paragraph(self) -> bool:
        """Whether it is a paragraph with nothing but a decimal number: `2.1 The tenant …`."""
        return not self.heading and not self.label.kind and self.dotted

    @property
    def plain(self) -> bool:
        """Whether it is a mere `2.`, which numbers lists as well."""
        return not self.label.kind and (self.nested or not self.dotted)


def numbered_lines(
    parsed: Parsed,
    skip: frozenset[int],
    width: int,
    letters: frozenset[str] = frozenset(),
    learnt: Learnt = NOTHING,
) -> Iterator[NumberedLine]:
    """Yield the lines of running text that begin with a label; ``skip`` has the starts of lines to ignore.

    ``width`` is the length of lines: a sentence that continues fills its line. ``letters`` are those that the contents
    page has as labels (`A. Scenarios`); otherwise they are initials or lists. ``learnt`` is what the document shows.
    """
    text = parsed.text
    before = ""
    for block, start, end in text_lines(text, parsed.blocks):
        line = text[start:end]
        before = "" if start == block.start else before
        if not line or line.isspace():
            before = ""
            continue
        found = start not in skip and _read(text, start, line, block, before, letters, learnt)
        if found and not is_quoted(parsed.quoted, start):
            yield _in_list(found, parsed.items.get(start, ()))
        before = "" if ends_short(line, width) and not _RULE.fullmatch(line) else line


def _in_list(line: NumberedLine, numbers: tuple[str, ...]) -> NumberedLine:
    """Give an item of a list the number that is shown for it, below those of the items that contain it."""
    if not numbers or not line.plain:
        return line
    return replace(line, label=Label(".".join(numbers), "", numbers), nested=len(numbers) > 1)


@cache
def _first_words() -> tuple[frozenset[str], tuple[str, ...]]:
    """What a label can begin with besides a number: the first word of a kind, and signs that enclose a number."""
    lexicon = load()
    words = {word.split()[0] for word in (*lexicon.forms, *lexicon.ordinals)}
    return frozenset(words), tuple(around.before for around in lexicon.around)


def _may_begin_label(line: str, letters: frozenset[str]) -> bool:
    """Most lines begin with another word; finding that out must be cheap."""
    match = _FIRST.match(line)
    if match is None or match["number"]:
        return match is not None
    if match["word"] in letters:
        return True
    words, signs = _first_words()
    word = lowered(match["word"])
    return word in words or word.startswith(signs)


def read_line(text: str, start: int, end: int) -> NumberedLine | None:
    """Return the label that a part of a text begins with, if any; a heading's ``#`` may precede it."""
    line = text[start:end]
    lead = len(line) - len(line.lstrip("# \t"))
    return _read(text, start + lead, line[lead:], Block("text", start + lead, end), "")


def _read(
    text: str,
    start: int,
    line: str,
    block: Block,
    before: str,
    letters: frozenset[str] = frozenset(),
    learnt: Learnt = NOTHING,
) -> NumberedLine | None:
    if not (_may_begin_label(line, letters) or start in learnt.firsts or learnt.may_begin(line)):
        return None
    lead = _LEAD.match(line)
    at = start + (lead.end() if lead else 0)
    bare, offsets = plain_view(text, at, min(block.end, at + _WINDOW))
    label, rest = learnt.split(bare, start if start in learnt.firsts else -1)
    if label and (spaced := _SPACED.match(label.text)):
        # `2.2 (a) The Company …` begins 2.2 with its part (a).
        rest = bare[bare.find("(") :]
        label = Label(spaced["number"], label.kind, label.number[: spaced["number"].count(".") + 1])
    if label is None or label.relative:
        return None
    if _PARAGRAPH_SIGN.fullmatch(label.text) or (not label.kind and _FIGURES.match(rest)):
        return None
    if not label.kind and (
        (label.text.isalpha() and label.text not in letters) or _FURNITURE.fullmatch(line)
    ):
        return None
    if rest and label.kind and (rest[0].islower() or rest[0] in ",;)]") and not _marked(bare, label, rest):
        return None
    rest_at = _after(text, offsets[len(bare[: len(bare) - len(rest)].rstrip()) - 1] + 1, block.end)
    opens = not before
    ruled = bool(_RULE.fullmatch(before) or _UNDERLINE.match(text, start + len(line)))
    return NumberedLine(
        start,
        rest_at,
        block.end,
        label,
        rest,
        opens or ruled,
        bool(_SENTENCE_END.search(before[-12:])),
        ruled,
    )


def _after(text: str, position: int, end: int) -> int:
    """Where the words after a label begin, with their emphasis marks but without those that close the label's."""
    match = _CLOSING.match(text, position, end)
    return match.end() if match else position


def _marked(bare: str, label: Label, rest: str) -> bool:
    """Whether a full stop or a dash is between a label and what follows."""
    between = bare[: len(bare) - len(rest)].rstrip()
    return bool(between) and between[-1] in ".:—–|-" and between != label.text
