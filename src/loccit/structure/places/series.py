"""Series: how a document numbers its parts, learnt from the numbers themselves.

`12 straipsnis.`, `› 2.1`, `IR-4 Incident Handling`, `II. BACKGROUND`, `| 4.1.2 |`: beginnings of lines, headings and
cells of one shape, whose numbers rise through the text nearly without a gap, number its parts, whatever word or sign
stands beside them. A shape may begin anew inside each place of another series; what counts is how much of it is in
order over all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from loccit.grammar.labels import Label, normalise_number, parse_heading, roman_value
from loccit.grammar.labels.lexicon import load, lowered
from loccit.grammar.labels.numbers import LETTER, coded_number
from loccit.structure import Parsed
from loccit.structure.places.chain import Number, Step, best_chain, closeness, number_key
from loccit.structure.places.view import only_lists, plain_view, text_lines
from loccit.structure.quotations import is_quoted

Shape: TypeAlias = tuple[str, str]
"""A form, and the word, sign or letters beside the number."""

_WORD = rf"{LETTER}{{2,24}}(?:['’-]{LETTER}{{1,24}})?"
_WORDS = rf"['’]?(?:{LETTER}-(?={LETTER}))?{_WORD}(?P<more>\s{LETTER}{{1,24}}){{0,3}}"
_HYPHEN = r"[-‐‑]"
_NUMBER = (
    r"(?:\d{1,4}(?:[.\-^]\d{1,4}){0,4}(?:\.?[^\W\d_A-Z](?![^\W_])|\.?[⁰¹²³⁴-⁹]{1,3})?|[IVXLC]{1,7})(?![^\W_])"
)
# A verse has a colon (`3:16`), and so has the time of day, mostly before a zero.
_DOTTED = (
    r"(?:\d{1,3}:[1-9]\d{0,2}|"
    r"(?:\d{1,4}|[IVXLC]{1,7}|[A-Z]{1,2})(?:[.\-‑]\d{1,4}|[.\-‑][A-Za-z](?![^\W_])){1,6})"
)
# Letters and digits: `IR-4`, `ES.103`, `TC-API-012`, `A3b3)`, `1b1)`, `AC-2(3)`, `35/A`, `19^1`.
_CODED = (
    r"(?:(?:[A-Z][A-Za-z]{0,11}[-._])*[A-Z][A-Za-z]{0,11}[-._]?\d{1,4}|\d{1,4}(?=(?!st|nd|rd|th)[a-z]\d?|[A-Z]{1,3}(?![^\W_])|/[A-Z]|\^\d))"
    r"(?:[-._]\d{1,4}|[-._]?[a-zA-Z]{1,3}(?=\d)|[a-zA-Z]{1,3}(?![^\W_])|/[A-Z](?![^\W_])|\^?\d{1,3}){0,6}(?:\(\d{1,3}\)|\([a-z]{1,2}\)){0,3}"
)
_END = r"(?P<mark>\s?[.:)–—|-]{0,2})(?=\s|\Z)"
# A sign of any script that ends a label: `༡པ།`, `꧑꧇`.
_SIGN_END = r"(?P<mark>\s?[^\w\s,;/%$€£(\[{<>=+*&@#'\"“”„«»]{0,2})(?=\s|\Z)"
_FORMS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        # `Kifungu cha 12.`, `Inqaku loku-16`, `Qodobka 13 naad`
        (
            "before",
            rf"(?P<word>{_WORDS})(?:[.,:]?-?\s{{1,3}}|(?(more){_HYPHEN}|(?!))|(?<=[^\W\dA-Z_].)(?=\d))"
            rf"(?P<number>{_NUMBER})(?:[\s‐‑-]{LETTER}{{2,5}}(?=\n|\Z))?{_SIGN_END}",
        ),
        # `12 straipsnis.`, `12-modda`, `10-ncı madde`
        (
            "after",
            rf"(?P<number>(?!\d+\.\d){_NUMBER})(?:\.?\s{{1,3}}|{_HYPHEN}(?:{LETTER}{{1,4}}\s)?)(?P<word>{_WORD})"
            r"(?P<mark>\s?[.:)–—|-]{1,2}(?=\s|\Z)|(?=\n|\Z))",
        ),
        # `Mellad nav (9)`, `Dɔn ŋoo zaaɓa 3`, `Tsabchíl tsalap (art. 2).`
        (
            "brackets",
            rf"(?P<word>){LETTER}[^\n()\d]{{2,60}}(?:\((?:{LETTER}{{1,9}}\.\s)?|\s)(?P<number>\d{{1,3}})"
            r"(?P<mark>\)?[.:]?)(?=\n|\Z)",
        ),
        (
            "sign",
            r"(?P<word>[^\w\s#*|>\-+.,;:()\[\]{}\"'“”„«»‘’$€£%<=/\\]{1,2})\s{0,2}"
            rf"(?P<number>{_NUMBER})(?P<mark>[.:)]?)(?=\s|\Z)",
        ),
        ("dotted", rf"(?P<word>)(?P<number>{_DOTTED}){_END}"),
        ("code", rf"(?P<number>(?P<word>){_CODED}){_END}"),
        ("number", r"(?P<word>)(?P<number>\d{1,3})(?P<mark>[.):]?)(?=\s)"),
        ("alone", r"(?P<word>)(?P<number>\d{1,3})(?P<mark>[.):]?)(?=\n|\Z)"),
        ("part", r"(?P<word>)(?P<number>[IVXLC]{1,7}|[A-Z])(?P<mark>[.):]|\Z)(?=\s|\Z)"),
    )
)
_ABSOLUTE = frozenset({"dotted", "code", "sign"})
_HEADED = ("number", "#")
_NAMED = frozenset({"before", "after", "sign"})
# What a line must have near its beginning to be worth reading.
_MAY_BEGIN = re.compile(
    r"(?:<[^<>\n]{0,80}>|[\s#>|*-])*[^\n]{0,30}?(?:\d|(?<![^\W_])(?:[IVXLC]{1,7}|[A-Z])(?![^\W_]))"
)
_ENDS_SO = re.compile(r"\d\)?[.:]?\s{0,3}\Z")
_LEAD = re.compile(r"[\s>#|]*(?:[-*+•●▪◦]\s+(?:\[[ xX]\]\s+)?){0,3}")
_LETTERED = re.compile(r"[A-Z][.-]\d")
_STEPS = re.compile(r"\d+|[^\W\d_]+")
_VIEW, _LONGEST_LINE = 120, 500
_PARAGRAPHS = 8
_LATEST_START = 3
_MOST_OFTEN = 4
_STRICTLY = (5, 0.9, 0.7)
# The text of a part: a list of figures or captions has less.
_LEAST_TEXT = 60
_MOST_LINES = 60_000
_MOST_ROUNDS = 4
_WORTH = 2.0
# Numbered, but beside the text.
_ASIDE = frozenset(
    "table tables figure figures fig image photo map chart box note notes page pages line lines step example listing "
    "equation version vol volume issue no nr number tabelle abbildung tableau figura tabla".split()
)


class Beginning(NamedTuple):
    """A line, heading or cell that begins with a number, in one reading.

    ``marked``: the format or its own punctuation sets the number apart. ``opens``: a blank line is before it. ``row``:
    it is a cell or an item of a list. ``heading``: the format marks it as one.
    """

    start: int
    rest: int
    end: int
    label: str
    number: Number
    marked: bool
    opens: bool
    row: bool
    heading: bool
    shape: Shape


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a document shows of its numberings: the kinds of its words and signs, and the lines of its other series.

    ``firsts`` has the lines that say "first" in a word: `Tikle kikli` above `Tikle 2`.
    """

    kinds: Mapping[Shape, str] = field(default_factory=dict)
    members: Mapping[int, Beginning] = field(default_factory=dict)
    firsts: Mapping[int, Shape] = field(default_factory=dict)

    @property
    def letters(self) -> frozenset[str]:
        """The letters that its numbers begin with: `A` of A.1, which its heading has alone."""
        return frozenset(member.label[0] for member in self.members.values() if _LETTERED.match(member.label))

    def may_begin(self, line: str, start: int = -1) -> bool:
        """Whether a line may begin with such a label; finding that out is cheap."""
        return (
            start in self.members
            or start in self.firsts
            or (bool(self.kinds) and _MAY_BEGIN.match(line) is not None)
        )

    def split(self, bare: str, start: int = -1) -> tuple[Label | None, str]:
        """Split a line or heading into its label, read by the words of its document too, and its title."""
        if first := self.firsts.get(start):
            return Label(bare.strip(" .:"), self.kinds.get(first, ""), ("1",)), ""
        label, rest = parse_heading(bare)
        if self.kinds and (label is None or not label.kind) and (found := self._read(bare)):
            return found
        if label is None and (member := self.members.get(start)):
            return label_of(member), bare[bare.find(member.label) + len(member.label) :].lstrip(" .:)–—|-")
        return label, rest

    def _read(self, bare: str) -> tuple[Label, str] | None:
        for shape, match in _readings(bare):
            kind = self.kinds.get(shape)
            if kind is not None:
                text = (
                    match["number"] if shape[0] == "sign" else bare[: match.end()].strip().rstrip(" .:)–—|-")
                )
                return Label(text, kind, normalise_number(match["number"])), bare[match.end() :].strip()
        return None


def label_of(member: Beginning) -> Label:
    """The label of a line in a series, as printed."""
    return Label(member.label, "", coded_number(member.label))


NOTHING = Learnt()
"""Of a text that says nothing of its own."""


def learn_series(parsed: Parsed, skip: Set[int] = frozenset()) -> Learnt:
    """Find the series of a text; ``skip`` has the starts of lines that only list what comes."""
    groups: dict[Shape, list[Beginning]] = defaultdict(list)
    for shape, found in _beginnings(parsed, skip):
        groups[shape].append(found)
    for shape in [shape for shape in groups if shape[0] == "brackets" and shape[1]]:
        # Words that are repeated before a number at the end of a line are those of a running head.
        alone = groups.pop(shape)
        groups["brackets", ""] += alone if len(alone) == 1 else []
    groups["brackets", ""].sort()
    limits = sorted(heading.start for heading in parsed.headings)
    accepted: dict[Shape, list[Beginning]] = {}
    for _ in range(_MOST_ROUNDS):
        left = {shape: lines for shape, lines in groups.items() if shape not in accepted}
        chosen = dict(_series(left, limits, len(parsed.text)))
        if not chosen:
            break
        accepted |= chosen
        limits = sorted({*limits, *(found.start for chain in chosen.values() for found in chain)})
    members: dict[int, Beginning] = {}
    # A line with several readings belongs to the longest series.
    for shape, chain in sorted(accepted.items(), key=lambda item: -len(item[1])):
        if shape[0] not in ("before", "after"):
            last = {found.number: found.start for found in chain}
            members.update(
                (found.start, found)
                for found in chain
                if found.start not in members
                and (shape[0] not in _ABSOLUTE or found.heading or last[found.number] == found.start)
            )
    kinds = _kinds({shape: chain for shape, chain in accepted.items() if shape[0] in _NAMED})
    return Learnt(kinds, members, dict(_firsts(parsed.text, accepted)))


def _firsts(text: str, series: Mapping[Shape, Sequence[Beginning]]) -> Iterator[tuple[int, Shape]]:
    """Yield the line before a series that begins with 2, if only one has its word, and no number."""
    for shape, chain in series.items():
        if shape[0] == "before" and chain[0].number == ((0, 2, ""),):
            alone = re.compile(
                rf"(?:\A|\n)[^\S\n]*\n(?P<line>[#*\s]*{re.escape(shape[1])}\s[^\n\d]{{1,40}})(?=\n\s*\n)",
                re.I,
            )
            found = [match.start("line") for match in alone.finditer(text, 0, chain[0].start)]
            if len(found) == 1:
                yield found[0], shape


def _beginnings(parsed: Parsed, skip: Set[int]) -> Iterator[tuple[Shape, Beginning]]:
    """Yield every way to read the beginnings of lines and headings, and of the first cells of rows."""
    text, count = parsed.text, 0
    blank = True
    for block, position, end in text_lines(text, parsed.blocks, ("text", "heading", "table")):
        line = text[position : min(end, position + _LONGEST_LINE)]
        blank, alone = not line.strip(), blank or position == block.start
        may = _MAY_BEGIN.match(line) or (len(line) <= _VIEW and _ENDS_SO.search(line))
        if not may or position in skip or only_lists(line) or is_quoted(parsed.quoted, position):
            continue
        count += 1
        if count > _MOST_LINES:
            return
        lead = _LEAD.match(text, position, end)
        at = lead.end() if lead else position
        cell = text.find("|", at, end) if block.kind == "table" else -1
        bare, offsets = plain_view(text, at, min(end if cell < 0 else cell, at + _VIEW))
        heading = block.kind == "heading"
        marked = heading or text.startswith(("**", "__", "<", "["), at)
        row = block.kind == "table" or text[position:at].strip(" \t>#") != ""
        for shape, match in _readings(bare):
            if shape[0] == "number":
                fits = heading or (alone and block.kind == "text")
            elif shape[0] == "part":
                fits = marked or (alone and not row)
            else:
                fits = shape[0] not in ("alone", "brackets") or (
                    alone and (shape[0] != "alone" or _between_sentences(text, position, end))
                )
            if fits:
                ends = not bare[match.end() :].strip() or bool(match["mark"].strip())
                number = _number(shape, match["number"])
                rest = offsets[match.end()]
                found = Beginning(
                    position, rest, end, match["number"], number, marked or ends, alone, row, heading, shape
                )
                yield shape, found
                if heading and shape[0] == "number":
                    yield _HEADED, found


def _between_sentences(text: str, start: int, end: int) -> bool:
    """Whether a number on a line of its own is not that of a page, where sentences go on."""
    above, below = (
        text[max(0, start - 2 * _LEAST_TEXT) : start].rstrip()[-_LEAST_TEXT:],
        text[end : end + _LEAST_TEXT].lstrip(),
    )
    broken = above[-1:].isalnum() and len(above) == _LEAST_TEXT and "\n" not in above
    return not (broken or below[:1].islower())


def _readings(bare: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    """Yield the shapes that the beginning of a line has, unless its label is read anyway."""
    for form, pattern in _FORMS:
        if match := pattern.match(bare):
            word = lowered(match["word"])
            if form in ("before", "after") and _is_read_otherwise(word.split(), bare):
                continue
            if form == "code":
                letters = re.match(r"[A-Z]\D*", match["number"])
                word = letters.group() if letters and len(letters.group()) > 1 else "A" if letters else "1"
            elif form == "number":
                word = match["mark"]
            elif ":" in match["number"]:
                word = ":"
            elif form == "brackets" and not match["mark"].startswith(")"):
                word = lowered(bare[: match.start("number")])
            elif form == "part":
                number = match["number"]
                if roman_value(number) is not None:
                    yield (form, "roman"), match
                if len(number) > 1:
                    continue
                word = "letter"
            yield (form, word), match


def _is_read_otherwise(words: Sequence[str], bare: str) -> bool:
    """Whether words beside a number count captions and the like, mention a place, or are of a label read anyway."""
    known = _is_known(words[-1]) and (len(words) > 1 or parse_heading(bare)[0] is not None)
    return known or not _ASIDE.isdisjoint(words)


def _is_known(word: str) -> bool:
    lexicon = load()
    return word in lexicon.forms or word in lexicon.after or word in lexicon.parts


def _number(shape: Shape, written: str) -> Number:
    if shape == ("part", "roman"):
        return ((0, roman_value(written) or 0, ""),)
    parts = written.lower() if shape[0] == "code" else " ".join(normalise_number(written))
    return number_key(_STEPS.findall(parts))


def _kin(shape: Shape) -> str:
    """What codes of one document share: their first letters, `TC-` of `TC-WEB-001`, or else their sign."""
    match = re.match(r"([^\W_]+[-._])[^\W_]", shape[1])
    return match[1] if match else shape[1][-1]


def _prefixed(shape: Shape) -> bool:
    return shape[0] == "code" and len(shape[1]) > 1


def _series(
    groups: Mapping[Shape, Sequence[Beginning]], limits: Sequence[int], end: int
) -> Iterator[tuple[Shape, list[Beginning]]]:
    """Yield the shapes whose numbers are in order; codes with different letters bear each other out."""
    coded = {shape: _runs(lines, limits) for shape, lines in groups.items() if _prefixed(shape)}
    lines = [line for shape in coded for line in groups[shape]]
    if _is_series([run for runs in coded.values() for run in runs], lines):
        kin = {_kin(shape) for shape, runs in coded.items() if runs}
        for shape, runs in coded.items():
            chain = [line for run in runs for line in run]
            # A code says itself what it is: one that is out of order is a place, too, if it is set apart.
            known = {line.number for line in chain}
            taken = {line.start for line in chain}
            alone = [
                line
                for line in groups[shape]
                if line.start not in taken and (line.heading or (line.marked and line.number not in known))
            ]
            if _kin(shape) in kin and (found := [*chain, *alone]):
                yield shape, sorted(found)
    for shape, beginnings in groups.items():
        lines = list(beginnings)
        if shape in coded:
            continue
        # A word beside a number may begin any sentence.
        loose = shape[0] in ("before", "after") and 2 * sum(line.marked for line in lines) < len(lines)
        if loose and 2 * sum(line.opens for line in lines) < len(lines):
            continue
        runs = _runs(lines, limits)
        counts = shape[1] == ":" or (shape[0] in ("before", "after") and not _is_known(shape[1]))
        if counts and runs and runs[0][0].number[-1][1] > _LATEST_START:
            # `14 Years`, `15 Years`, `10:14`, `10:15`: what is counted are years and minutes.
            runs = [run for run in runs if len(run) >= _PARAGRAPHS and shape[1] != ":"]
        if shape[0] in ("number", "alone", "brackets") and shape != _HEADED:
            runs = [run for run in runs if _runs_through(run, end)]
            lines = [line for run in runs for line in run]
        if shape[0] in _NAMED and len(lines) > _MOST_OFTEN * sum(map(len, runs)):
            # `Jun 14 15:16:01 …`: what stands before line after line, or in each article, numbers no part.
            continue
        if _is_series(runs, lines, *(_STRICTLY if loose else ())):
            yield shape, [line for run in runs for line in run]


def _runs(lines: Sequence[Beginning], limits: Sequence[int]) -> list[list[Beginning]]:
    """The lines in order, cut where they begin anew; a single line is no run."""
    steps = [Step(line.number, _WORTH, bisect_right(limits, line.start)) for line in lines]
    runs: list[list[Beginning]] = []
    for index in best_chain(steps):
        line = lines[index]
        if runs and line.number > runs[-1][-1].number:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [run for run in runs if len(run) > 1]


def _runs_through(run: Sequence[Beginning], end: int) -> bool:
    """Whether plain numbers count the paragraphs of a text, as in a judgment; those of lists begin anew."""
    unbroken = sum(later.number[0][1] - line.number[0][1] == 1 for line, later in pairwise(run))
    return (
        len(run) >= _PARAGRAPHS
        and unbroken >= 0.9 * (len(run) - 1)
        and run[-1].start - run[0].start > 0.5 * end
    )


def _is_series(
    runs: Sequence[Sequence[Beginning]],
    lines: Sequence[Beginning],
    least: int = 3,
    in_order: float = 0.6,
    near: float = 0.5,
) -> bool:
    """Whether at least so many lines are in order, that share of all, and so close to the one before."""
    found = [line for run in runs for line in run]
    if len(found) < least:
        return False
    # What repeats a number of the series, such as a list of contents, says nothing against it.
    again = Counter(line.number for line in lines)
    known = {line.number for line in found}
    strange = sum(count for number, count in again.items() if number not in known)
    if len(found) < in_order * (len(found) + strange):
        return False
    close = sum(closeness(line.number, later.number) for run in runs for line, later in pairwise(run))
    if close < near * (len(found) - len(runs)):
        return False
    gaps = sorted(later.start - line.start for run in runs for line, later in pairwise(run))
    return found[0].row or gaps[len(gaps) // 2] >= _LEAST_TEXT


def _kinds(series: Mapping[Shape, Sequence[Beginning]]) -> dict[Shape, str]:
    """Give each word a kind: the commonest has articles, rarer ones what contains them."""
    outer = iter(("chapter", "title", "part"))
    kinds: dict[Shape, str] = {}
    forms = load().forms
    for shape in sorted(series, key=lambda shape: -len(series[shape])):
        if shape[0] == "sign":
            kinds[shape] = ""
        elif shape[1] in forms:
            kinds[shape] = forms[shape[1]].kind
        elif "article" not in kinds.values():
            kinds[shape] = "article"
        elif kind := next(outer, ""):
            kinds[shape] = kind
    return kinds
