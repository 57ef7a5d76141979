"""Clauses: the numbering below headings joins the tree of places, each clause with its citable label.

``(i)`` is the ninth letter or the first Roman numeral, depending on its neighbours. A marker therefore has several
readings, and :class:`Numbering` picks the one that continues the sequence.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from loccit.ingest.parse import Block, Parsed
from loccit.ingest.parse.places.chain import number_key
from loccit.ingest.parse.places.mentions import Mentions
from loccit.ingest.parse.places.view import AMENDED
from loccit.labels import roman_value
from loccit.labels.numbers import in_digits
from loccit.model import Place
from loccit.text.keys import title_key

_INNER = r"(?:\d{1,3}[a-zA-Z]{0,2}|[a-z]{1,2}|[A-Z]{1,2}|[ivxlc]{2,7}|[IVXLC]{2,7})"
_EMPHASIS = r"[*_]{0,3}"
_PAREN = rf"{_EMPHASIS}\({_EMPHASIS}{_INNER}{_EMPHASIS}\){_EMPHASIS}"
_DOTTED = r"\d{1,4}(?:[.‑-]\d{1,4})+\.?"
_PLAIN = r"(?:\d{1,3}[.)]|[a-zA-Z][.)]|[ivxIVX]{2,5}[.)])"
# A sign before a number, as amended texts print before what was put in: `F15[(a) …`, `[F1(2)`, `►M5 (b) …`.
_SIGN = (
    rf"(?:[^\s\w(“„«\"‘'§$]{{0,3}}[A-Z0-9]{{0,6}}[^\s\w(*_“„«\"‘'.,;:)§$-]{{1,6}}(?:[A-Z0-9]{{1,4}}\s)?\s?){{1,3}}"
    rf"(?={_EMPHASIS}\()"
)
MARKED_LINE = re.compile(
    rf"[ \t>]*(?:[-*•]\s+)?(?P<sign>{_SIGN})?"
    rf"(?P<markers>{_EMPHASIS}(?:{_DOTTED}|{_PLAIN}){_EMPHASIS}(?:\s?{_PAREN})*|{_PAREN}(?:\s?{_PAREN})*)"
    r"(?:\s+(?=\S)|\s*$|(?=[^\s\w.,;:)(])|(?<=\))(?=\w))"
)
# The number of the section again, before its first clause: `**47.**—(1) …`, `47 (1) …`.
_REPEATED = re.compile(
    rf"[ \t>]*{_EMPHASIS}(?:{AMENDED})?{_EMPHASIS}(?P<number>\d{{1,4}}[A-Za-z]{{0,3}}){_EMPHASIS}\.?{_EMPHASIS}"
    r"\s?[—–-]?\s?"
    rf"(?=(?:{_SIGN})?{_EMPHASIS}\()"
)
# What is quoted has numbers of its own: `“(2) An employee …`, and so has a quotation of several paragraphs.
_QUOTED = re.compile(rf"[ \t>]*(?P<mark>[“„«\"‘'])(?P<number>{_EMPHASIS}(?:\(|\d))?")
_UNQUOTED = {
    mark: re.compile(rf"[{end}][.;,)\]]{{0,4}}[ \t]*\w{{0,4}}[ \t]*$", re.MULTILINE)
    for mark, end in (("“", '”"'), ("„", "“”"), ("«", "»"), ('"', '"”'), ("‘", "’'"), ("'", "'’"))
}
_CLOSING_MARK = re.compile(r"[”“»\"]")
_ONE = re.compile(rf"{_PAREN}|{_EMPHASIS}(?:{_DOTTED}|{_PLAIN}){_EMPHASIS}")


_LOOK_AHEAD = 100
# No list continues from (c) with (v) or (aa), which are also other numbers, even if clauses between were
# repealed.
_GAP = 6
_ALPHABET = 26
_INSERTED = 0.5
# Nobody numbers deeper; an apparent deeper level is a list that restarts.
_DEEPEST = 8


class Reading(NamedTuple):
    """One reading of a marker: its style, such as ``(a)`` or ``1.``, and its position in the sequence.

    ``(1A)`` stands between 1 and 2.
    """

    style: str
    value: float


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker as written, without emphasis, and its possible readings."""

    text: str
    token: str
    readings: tuple[Reading, ...]
    offset: int = 0

    @property
    def dotted(self) -> tuple[str, ...]:
        """The parts of a decimal marker (``4.2.1``); empty for any other."""
        return (
            tuple(re.split(r"[.‑-]", self.token)) if self.readings and self.readings[0].style == "1.1" else ()
        )

    @property
    def bare(self) -> bool:
        """Whether it is a plain ``1.`` or ``a)``, which also numbers the steps of a manual."""
        return not self.text.startswith("(") and not self.dotted


def read_markers(text: str) -> list[Marker]:
    """Split ``(b)(2)`` into its markers."""
    found = []
    for match in _ONE.finditer(text):
        plain = re.sub(r"[*_]", "", match.group())
        token = plain.strip("().")
        found.append(Marker(plain, token, _readings(plain, token), match.start()))
    return found


def _readings(plain: str, token: str) -> tuple[Reading, ...]:
    shape = "(%s)" if plain.startswith("(") else "%s)" if plain.endswith(")") else "%s."
    if re.search(r"[.‑-]", token):
        return (Reading("1.1", int(re.split(r"[.‑-]", token)[-1])),)
    if digits := re.fullmatch(r"(\d+)([a-zA-Z]{0,2})", token):
        return (Reading(shape % "1", int(digits[1]) + (_INSERTED if digits[2] else 0)),)
    case = "a" if token.islower() else "A"
    readings = []
    if len(set(token.lower())) == 1:
        # After z come aa, bb, cc; they are also a separate list, below (I), (II).
        value = ord(token[0].lower()) - 96
        readings.append(Reading(shape % case, value + _ALPHABET * (len(token) - 1)))
        if len(token) > 1:
            readings.append(Reading(shape % (case * len(token)), value))
    roman = roman_value(token)
    if roman is not None and roman < 60:
        readings.append(Reading(shape % ("i" if case == "a" else "I"), roman))
    return tuple(readings)


@dataclass(slots=True)
class _Level:
    style: str
    value: float
    node: int


@dataclass(slots=True)
class Numbering:
    """The open levels of numbering below one heading.

    ``interrupted``: text without a marker followed the last clause, so a list may restart. ``lost`` is not empty after
    a number that fits nowhere: a list that begins there, of one of these styles, may be below it.
    """

    levels: list[_Level] = field(default_factory=list)
    interrupted: bool = False
    lost: set[str] = field(default_factory=set)

    def place(self, marker: Marker, following: Iterable[Marker], node: int) -> int | None:
        """Return the depth (0 at the top) of a marker, and open it; None if it fits nowhere."""
        later = list(islice(following, _LOOK_AHEAD))
        choice = self._continuing(marker, later)
        if choice is None and not self.lost:
            choice = self._opening(marker, later) or self._skipping(marker)
        if choice is None or choice[1].style in self.lost:
            self.lost.update(("", *(reading.style for reading in marker.readings if reading.value == 1)))
            return None
        depth, reading = choice
        self.interrupted = False
        self.lost.clear()
        del self.levels[depth:]
        self.levels.append(_Level(reading.style, reading.value, node))
        return depth

    def parent(self) -> int | None:
        """Return the node one level above the last one opened."""
        return self.levels[-2].node if len(self.levels) > 1 else None

    def _continuing(self, marker: Marker, following: Iterable[Marker]) -> tuple[int, Reading] | None:
        for depth in reversed(range(len(self.levels))):
            level = self.levels[depth]
            for reading in marker.readings:
                if reading == (level.style, int(level.value) + 1) and not self._rather_opens(
                    marker, depth, following
                ):
                    return depth, reading
        return None

    def _rather_opens(self, marker: Marker, depth: int, following: Iterable[Marker]) -> bool:
        """Tell `(h), (i), (j)` from `(h), (i), (ii)`: whichever of `(j)` and `(ii)` comes first decides."""
        first = next((r for r in marker.readings if r.value == 1), None)
        if first is None or any(level.style == first.style for level in self.levels):
            return False
        letter = Reading(self.levels[depth].style, int(self.levels[depth].value) + 2)
        for later in following:
            if letter in later.readings or first in later.readings:
                # The next letter, or a list of Roman numerals that begins only later.
                return False
            if (first.style, 2) in later.readings:
                return True
        # Nothing follows. A list of one is rarer than a nested list: `(h)(1)(i)`.
        return depth < len(self.levels) - 1 and self.levels[-1].value == 1

    def _opening(self, marker: Marker, following: Iterable[Marker]) -> tuple[int, Reading] | None:
        if len(self.levels) >= _DEEPEST:
            return None
        styles = [level.style for level in self.levels]
        if self.interrupted:
            for reading in marker.readings:
                if reading.value == 1:
                    return (
                        styles.index(reading.style)
                        if reading.style in styles
                        else self._resumed(reading.style, following)
                    ), reading
        for reading in sorted(marker.readings, key=lambda r: "i" in r.style.lower()):
            if reading.value == 1 and (not styles or styles[-1] != reading.style):
                return len(self.levels), reading
        first = next((reading for reading in marker.readings if reading.value == 1), None)
        if first is not None:
            # The same list restarts: a new run on the same level.
            return len(self.levels) - 1, first
        return None

    def _resumed(self, style: str, following: Iterable[Marker]) -> int:
        """The depth of a list after text without a marker: below the level that continues after it, or the first."""
        for later in following:
            if any(reading.style == style for reading in later.readings):
                continue
            for depth in reversed(range(len(self.levels))):
                level = self.levels[depth]
                if (level.style, int(level.value) + 1) in later.readings:
                    return depth + 1
        return min(1, len(self.levels))

    def _skipping(self, marker: Marker) -> tuple[int, Reading] | None:
        """Accept gaps, which repealed clauses leave, and lists whose first clauses are missing."""
        for depth in reversed(range(len(self.levels))):
            for reading in marker.readings:
                level = self.levels[depth]
                if reading.style != level.style or reading.value < level.value:
                    continue
                if len(marker.readings) == 1 or reading.value - level.value < _GAP:
                    return depth, reading
        if not self.levels and marker.readings and not marker.bare:
            return 0, marker.readings[0]
        return None


# -- clauses -------------------------------------------------------------------------------------------------

# Headings whose numbered paragraphs have a special name.
_NAMED = dict.fromkeys("recitals recital whereas erwagungsgrunde considerants".split(), "recital")
_FORMAL_KINDS = frozenset({"section", "article", "clause", "paragraph", "rule", "regulation", "recital"})
_RUNS_ON = re.compile(r"(?:[.;:,—–-]|\b(?:and|or|und|oder|et|ou|y|o))\s*$", re.IGNORECASE)
_MAX_CLAUSES = 50_000
# `(b)(2)(i)` happens; a dozen in a row is not numbering.
_MAX_ON_LINE = 6


@dataclass(frozen=True, slots=True)
class _Mark:
    """A marker and its position; ``above`` is where the text before its sign ends, ``body`` where that after it begins.

    ``line`` is the start of its line.
    """

    marker: Marker
    above: int
    start: int
    body: int
    line: int


class _Text(NamedTuple):
    """Text that begins without a marker, and how far it is indented."""

    start: int
    indent: int


@dataclass(frozen=True, slots=True)
class _Owner:
    """The labelled section that clauses are counted in."""

    label: str
    kind: str
    number: tuple[str, ...]
    section_id: str


def extract_clauses(parsed: Parsed, sections: Sequence[Place]) -> list[Place]:
    """Return the clauses of a document in order, continuing the numbering of its headings."""
    places = list(sections)
    taken = {section.section_id: 1 for section in sections}
    starts = [block.start for block in parsed.blocks]
    section_starts = [section.start for section in sections]
    cited = _cites_itself(parsed.mentions, sections)
    for index, section in enumerate(sections):
        end = sections[index + 1].start if index + 1 < len(sections) else len(parsed.text)
        owner = _owner(section, sections)
        if owner is None or len(places) - len(sections) > _MAX_CLAUSES:
            continue
        low = max(0, bisect_right(starts, section.body) - 1)
        blocks = parsed.blocks[low : bisect_left(starts, end)]
        below = sections[index + 1 : bisect_left(section_starts, section.end)]
        headed = {place.number for place in below if place.number}
        _number_section(parsed, section, owner, blocks, end, places, taken, headed, cited)
    return places[len(sections) :]


def _cites_itself(mentions: Mentions | None, sections: Sequence[Place]) -> bool:
    """Whether a document refers to its sections by number: `clause 4`."""
    numbers = {number_key(section.number) for section in sections if section.number}
    return mentions is not None and any(
        kind in _FORMAL_KINDS and number in numbers for kind, number in mentions.numbers
    )


def _owner(section: Place, sections: Sequence[Place]) -> _Owner | None:
    current: Place | None = section
    while current is not None:
        if named := _NAMED.get(title_key(current.heading)):
            return _Owner(named.capitalize(), named, (), "")
        if current.label:
            return _Owner(current.label, current.kind, current.number, current.section_id)
        current = sections[current.parent] if current.parent is not None else None
    return None


def _number_section(
    parsed: Parsed,
    section: Place,
    owner: _Owner,
    blocks: Sequence[Block],
    end: int,
    places: list[Place],
    taken: dict[str, int],
    headed: set[tuple[str, ...]],
    cited: bool,
) -> None:
    """Add the clauses in one section's own text.

    A line with the number of a heading below, one of ``headed``, is a contents entry for it. If half of the numbered
    lines are, so are the others, whose targets no longer exist.
    """
    events = [
        _in_list(event, parsed.items, parsed.items.get(section.start, ()))
        if isinstance(event, _Mark)
        else event
        for event in _marks(parsed.text, section.body, end, blocks, owner.number)
    ]
    dotted = [event.marker.dotted for event in events if isinstance(event, _Mark) and event.marker.dotted]
    listed = {number for number in dotted if number in headed}
    if 2 * sum(number in listed for number in dotted) >= len(dotted):
        listed.update(dotted)
    events = [event for event in events if not (isinstance(event, _Mark) and event.marker.dotted in listed)]
    marks = [event for event in events if isinstance(event, _Mark)]
    lists = owner.kind in _FORMAL_KINDS or (
        cited and not headed and section.number == owner.number and _is_one_list(marks)
    )
    if not any(_is_clause_mark(mark, owner, lists) for mark in marks):
        return
    numbering, first = Numbering(), len(places)
    open_clauses: list[int] = []
    later = {id(mark): number + 1 for number, mark in enumerate(marks)}

    def close(start: int, level: int = 0) -> None:
        while open_clauses and places[open_clauses[-1]].level >= level:
            _close(places, open_clauses.pop(), start)

    for event in events:
        if isinstance(event, _Text):
            # Text without a marker returns to the outermost clause, unless it is indented like the inner one.
            numbering.interrupted = True
            while len(open_clauses) > 1 and event.indent < max(
                1, _indent(parsed.text, places[open_clauses[-1]].start)
            ):
                _close(places, open_clauses.pop(), event.start)
            continue
        if not _is_clause_mark(event, owner, lists):
            continue
        following = (marks[number].marker for number in range(later[id(event)], len(marks)))
        if len(parsed.items.get(event.line, ())) > 1:
            # The text before it belongs to the item around it.
            numbering.interrupted = False
        depth, parent = _place(event.marker, following, numbering, owner, places)
        if depth is None:
            begun = _beginning(event.marker, numbering, parsed.text, section.body, event.start)
            if len(places) == first or begun is None or begun > places[first].start:
                # Unless its list began inside the clause before it, what follows may belong to any clause.
                if begun is None:
                    close(event.above)
                continue
            # Its list began before all others, so these are not what they seemed to be.
            open_clauses.clear()
            for clause in places[first:]:
                del taken[clause.section_id]
            del places[first:]
            numbering = Numbering()
            depth, parent = _place(event.marker, following, numbering, owner, places)
            if depth is None:
                continue
        close(event.above, section.level + depth)
        clause = _clause(parsed, section, owner, event, depth, parent, places, taken)
        open_clauses.append(clause.ordinal)
        places.append(clause)
    for ordinal in open_clauses:
        _close(places, ordinal, end)
    for ordinal in range(first, len(places)):
        clause = places[ordinal]
        position = parsed.position
        places[ordinal] = replace(
            clause,
            lines=position.lines(clause.start, clause.end),
            pages=position.pages(clause.start, clause.end),
        )


def _beginning(marker: Marker, numbering: Numbering, text: str, start: int, end: int) -> int | None:
    """Return where a text has the first number of the list that a marker continues, if that is not an open one."""
    known = {level.style for level in numbering.levels}
    for style, value in marker.readings:
        if value > 1 and style not in known and style.startswith("(") and style.endswith(")"):
            first = re.compile(rf"\({_EMPHASIS}{style[1:-1]}{_EMPHASIS}\)").search(text, start, end)
            if first is not None:
                return first.start()
    return None


def _close(places: list[Place], ordinal: int | None, end: int) -> None:
    """End a clause; those that contain it extend at least as far."""
    while ordinal is not None and places[ordinal].end < end:
        places[ordinal] = replace(places[ordinal], end=end)
        ordinal = places[ordinal].parent


def _place(
    marker: Marker,
    following: Iterable[Marker],
    numbering: Numbering,
    owner: _Owner,
    places: list[Place],
) -> tuple[int | None, int | None]:
    """Return the depth of a clause (1 at the top) and its parent clause."""
    if marker.dotted:
        # `4.2.1` states its own position.
        above = [level for level in numbering.levels if places[level.node].number == marker.dotted[:-1]]
        depth = len(marker.dotted) - len(owner.number)
        numbering.levels = numbering.levels[: max(0, min(depth - 1, len(numbering.levels)))]
        numbering.lost.clear()
        numbering.place(
            replace(marker, readings=(marker.readings[0]._replace(value=1, style=f"1.{depth}"),)),
            (),
            len(places),
        )
        return len(numbering.levels), above[-1].node if above else None
    depth_found = numbering.place(marker, following, len(places))
    return (None, None) if depth_found is None else (depth_found + 1, numbering.parent())


def _is_one_list(marks: Sequence[_Mark]) -> bool:
    """Whether the outermost list of a section, which is the first, does not restart: then its numbers are unique."""
    readings = [mark.marker.readings for mark in marks if mark.marker.bare]
    return (
        bool(readings)
        and any(reading.value == 1 for reading in readings[0])
        and readings.count(readings[0]) == 1
    )


def _is_clause_mark(mark: _Mark, owner: _Owner, lists: bool) -> bool:
    """Clauses have brackets, or extend the number of their heading; of plain `1.`, only ``lists`` of clauses count.

    Those under Article and Section do. Under a bare number they may be the steps of a manual, unless the document
    refers to its numbers.
    """
    if dotted := mark.marker.dotted:
        return (
            bool(owner.number)
            and dotted[: len(owner.number)] == owner.number
            and len(dotted) > len(owner.number)
        )
    return lists or not mark.marker.bare


def _clause(
    parsed: Parsed,
    section: Place,
    owner: _Owner,
    mark: _Mark,
    depth: int,
    parent: int | None,
    places: Sequence[Place],
    taken: dict[str, int],
) -> Place:
    marker = mark.marker
    if marker.dotted:
        number, label = marker.dotted, ".".join(marker.dotted)
        base = "sec"
    else:
        above = places[parent] if parent is not None else None
        number = (*(above.number if above else owner.number), in_digits(marker.token.lower()))
        outer = above.label if above else owner.label
        label = (
            f"{outer} {marker.token}" if not owner.number and above is None else f"{outer}({marker.token})"
        )
        base = above.section_id if above else (owner.section_id or owner.kind)
    section_id = f"{base}_{'_'.join(number) if marker.dotted else number[-1]}"
    return Place(
        ordinal=len(places),
        parent=section.ordinal if parent is None else parent,
        section=section.ordinal,
        level=section.level + depth,
        marker=marker.text,
        label=label,
        kind=owner.kind,
        number=number,
        section_id=_unique(section_id, taken),
        start=mark.start,
        body=mark.body,
        end=mark.body,
        lines=parsed.position.lines(mark.start, mark.body),
    )


def _unique(wanted: str, taken: dict[str, int]) -> str:
    candidate = wanted
    while candidate in taken:
        taken[wanted] += 1
        candidate = f"{wanted}__{taken[wanted]}"
    taken[candidate] = 1
    return candidate


def _indent(text: str, start: int) -> int:
    line = text.rfind("\n", 0, start) + 1
    return start - line


def _marks(
    text: str, start: int, end: int, blocks: Sequence[Block], own: tuple[str, ...]
) -> Iterator[_Mark | _Text]:
    """Yield the markers in order, and the blocks without one; ``own`` is the number of the section."""
    quoted = start
    for block in blocks:
        low, high = max(start, block.start), min(end, block.end)
        if low >= high or block.kind != "text" or not text[low:high].strip():
            continue
        position, before = low, "\n"
        while position < high:
            line_end = text.find("\n", position, high)
            line_end = high if line_end < 0 else line_end + 1
            line = text[position:line_end]
            if position >= quoted and (opening := _QUOTED.match(line)):
                quoted = _quotation_end(text, position, opening, end)
            repeated = _REPEATED.match(line)
            known = repeated is not None and (repeated["number"].lower(),) == own
            match = MARKED_LINE.match(line, repeated.end() if repeated and known else 0)
            begins = position == low or not before.strip() or _RUNS_ON.search(before)
            if match and begins and position >= quoted:
                yield from _split_marks(match, position)
            elif position == low and line.strip():
                yield _Text(position, len(line) - len(line.lstrip()))
            before, position = line, line_end


def _quotation_end(text: str, position: int, opening: re.Match[str], end: int) -> int:
    """Where a quotation ends that a line begins with, if it is one of numbers or of several paragraphs."""
    at = position + opening.end("mark")
    closing = _UNQUOTED[opening["mark"]].search(text, at, end)
    blank = text.find("\n\n", at)
    if not closing or not (
        opening["number"] or (opening["mark"] in "“„«" and not _CLOSING_MARK.search(text, at, blank))
    ):
        return position
    return closing.end()


def _in_list(mark: _Mark, items: Mapping[int, tuple[str, ...]], outer: tuple[str, ...]) -> _Mark:
    """Count an item of a list as the parser does; ``outer`` are the numbers of the section, if it is an item itself.

    The lists of each item are a style of their own, so that `1.` within 2. does not restart the list around it.
    """
    numbers = items.get(mark.line, ())
    marker = mark.marker
    if not numbers or not marker.bare or not marker.token.isdecimal():
        return mark
    if outer and numbers[: len(outer)] == outer:
        marker = Marker(".".join(numbers), ".".join(numbers), (Reading("1.1", int(numbers[-1])),))
    else:
        style = "@".join([marker.readings[0].style, *numbers[:-1]])
        marker = replace(marker, token=numbers[-1], readings=(Reading(style, int(numbers[-1])),))
    return replace(mark, marker=marker)


def _split_marks(match: re.Match[str], position: int) -> Iterator[_Mark]:
    markers = read_markers(match["markers"])
    if len(markers) > _MAX_ON_LINE:
        return
    base = position + match.start("markers")
    for index, marker in enumerate(markers):
        last = index == len(markers) - 1
        body = position + match.end() if last else base + markers[index + 1].offset
        start = base + marker.offset
        above = position + match.start("sign") if not index and match["sign"] else start
        yield _Mark(marker, above, start, body, position if not index else -1)
