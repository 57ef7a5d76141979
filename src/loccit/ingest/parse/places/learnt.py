"""Learnt labels: how this document numbers its parts, where no lexicon knows the word.

`12 straipsnis.`, `Điều 12.`, `› 2.1`: a word or a sign that stands beside a number at the beginning of many lines, and
whose numbers rise from line to line nearly without a gap, numbers the parts of the document, whatever it means. The
commonest such word names articles; a rarer one that counts within the same text names what contains them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from loccit.ingest.parse import Parsed
from loccit.ingest.parse.places.chain import Number, Step, best_chain, number_key
from loccit.ingest.parse.places.view import plain_view
from loccit.labels import Label, normalise_number, parse_heading
from loccit.labels.lexicon import load, lowered

_NUMBER = r"(?:\d{1,4}(?:[.\-^]\d{1,4}){0,4}[a-z]?|[IVXLC]{1,7})(?![^\W_])"
_WORD = r"[^\W\d_]{2,24}"
_BEFORE = re.compile(
    rf"(?P<word>{_WORD})\.?\s{{1,3}}(?P<number>{_NUMBER})(?P<mark>\s?[.:)–—|-]{{0,2}})(?=\s|\Z)"
)
_AFTER = re.compile(
    rf"(?P<number>{_NUMBER})\.?\s{{1,3}}(?P<word>{_WORD})(?P<mark>\s?[.:)–—|-]{{1,2}}(?=\s|\Z)|\Z)"
)
_SIGN = re.compile(
    rf"(?P<word>[^\w\s#*|>\-+.,;:()\[\]{{}}\"'“”„«»‘’$€£%<=/\\]{{1,2}})\s{{0,2}}(?P<number>{_NUMBER})(?P<mark>[.:)]?)(?=\s|\Z)"
)
# What a line must have near its beginning to be worth reading.
_MAY_BEGIN = re.compile(r"[^\n]{0,30}?(?:\d|(?<![^\W_])[IVXLC]{1,7}(?![^\W_]))")
_LEAD = re.compile(r"[\s>#]*(?:[-•●▪◦]\s+)?")
_VIEW = 120
_LEAST = 3
# How many of the lines with a word must be in order, and how close each number must be to the one before.
_IN_ORDER, _NEXT = 0.6, 0.5
# The text of a part: a list of figures or captions has less.
_LEAST_TEXT = 60
_MOST_LINES = 60_000
# Numbered, but beside the text.
_ASIDE = frozenset(
    "table tables figure figures fig image photo map chart box note notes page pages line lines step example listing "
    "equation version vol volume issue no nr number tabelle abbildung tableau figura tabla".split()
)


class _Beginning(NamedTuple):
    start: int
    number: Number
    marked: bool


@dataclass(frozen=True, slots=True)
class LearntForms:
    """The words and signs of one document, with the kind that each stands for."""

    kinds: Mapping[tuple[str, str], str]

    def may_begin(self, line: str) -> bool:
        """Whether a line may begin with such a label; finding that out is cheap."""
        return bool(self.kinds) and _MAY_BEGIN.match(line) is not None

    def split(self, bare: str) -> tuple[Label | None, str]:
        """Split a line or heading into its label, read by the words of its document too, and its title."""
        label, rest = parse_heading(bare)
        if self.kinds and (label is None or not label.kind) and (found := self._read(bare)):
            return found
        return label, rest

    def _read(self, bare: str) -> tuple[Label, str] | None:
        for form, match in _forms(bare):
            kind = self.kinds.get(form)
            if kind is not None:
                text = bare[: match.end()].strip().rstrip(" .:)–—|-")
                number = normalise_number(match["number"])
                return Label(text if form[0] != "sign" else match["number"], kind, number), bare[
                    match.end() :
                ].strip()
        return None


def learn_forms(parsed: Parsed) -> LearntForms:
    """Find the words and signs that number the parts of a text, apart from those that everybody knows."""
    found: dict[tuple[str, str], list[_Beginning]] = defaultdict(list)
    for start, bare, marked in _beginnings(parsed):
        for form, match in _forms(bare):
            number = number_key(normalise_number(match["number"]))
            ends = not bare[match.end() :].strip() or bool(match["mark"].strip())
            found[form].append(_Beginning(start, number, marked or ends))
    series = {form: chain for form, lines in found.items() if (chain := _series(lines))}
    return LearntForms(_named(series))


def _beginnings(parsed: Parsed) -> Iterator[tuple[int, str, bool]]:
    """Yield where lines and headings begin, their visible words, and whether the format marks them."""
    text, count = parsed.text, 0
    headings = {heading.start for heading in parsed.headings}
    for block in parsed.blocks:
        if block.kind not in ("text", "heading"):
            continue
        position = block.start
        while position < block.end and count < _MOST_LINES:
            end = text.find("\n", position, block.end)
            end = block.end if end < 0 else end
            if _MAY_BEGIN.match(text, position, end):
                count += 1
                lead = _LEAD.match(text, position, end)
                at = lead.end() if lead else position
                bare, _ = plain_view(text, at, min(end, at + _VIEW))
                bold = text.startswith(("**", "__", "<b>", "<strong>"), at)
                yield position, bare, block.kind == "heading" or position in headings or bold
            position = end + 1


def _forms(bare: str) -> Iterator[tuple[tuple[str, str], re.Match[str]]]:
    """Yield the words and signs beside the number that a line begins with, if nothing else can read it."""
    for name, pattern in (("before", _BEFORE), ("after", _AFTER), ("sign", _SIGN)):
        if match := pattern.match(bare):
            word = lowered(match["word"])
            if name == "sign" or not (word in _ASIDE or _is_known(word)):
                yield (name, word), match


def _is_known(word: str) -> bool:
    lexicon = load()
    return word in lexicon.forms or word in lexicon.after or word in lexicon.parts


def _series(lines: Sequence[_Beginning]) -> list[_Beginning]:
    """The lines of a word that number the parts of a text, if most do so in order."""
    if len(lines) < _LEAST or 2 * sum(line.marked for line in lines) < len(lines):
        return []
    chain = [lines[index] for index in best_chain([Step(line.number, 0.3) for line in lines])]
    if len(chain) < max(_LEAST, _IN_ORDER * len(lines)):
        return []
    following = sum(_closeness(line.number, later.number) for line, later in pairwise(chain))
    if following < _NEXT * (len(chain) - 1):
        return []
    gaps = sorted(later.start - line.start for line, later in pairwise(chain))
    return chain if gaps[len(gaps) // 2] >= _LEAST_TEXT else []


def _closeness(number: Number, later: Number) -> float:
    """How near a number is to the one that must come next: the next sibling, the first child, or an outer one."""
    if len(later) == len(number) + 1 and later[:-1] == number:
        return 1.0 if later[-1][1] <= 1 else 0.0
    size = len(later)
    if size > len(number) or later[:-1] != number[: size - 1]:
        return 0.0
    here, there = number[size - 1], later[-1]
    if here[0] != there[0] or there <= here:
        return 0.0
    return 1.0 / max(1, there[1] - here[1])


def _named(series: Mapping[tuple[str, str], Sequence[_Beginning]]) -> dict[tuple[str, str], str]:
    """Give each word a kind: the commonest has articles, rarer ones what contains them."""
    order = sorted(series, key=lambda form: -len(series[form]))
    outer = iter(("chapter", "title", "part"))
    kinds: dict[tuple[str, str], str] = {}
    for form in order:
        if form[0] == "sign":
            kinds[form] = ""
        elif "article" not in kinds.values():
            kinds[form] = "article"
        elif kind := next(outer, ""):
            kinds[form] = kind
    return kinds


NO_FORMS = LearntForms({})
"""Of a text that says nothing of its own."""
