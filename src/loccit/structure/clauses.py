"""Clauses: the numbering below headings joins the tree of places, each clause with its citable label."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from loccit.grammar.labels.numbers import in_digits
from loccit.grammar.text.keys import title_key
from loccit.model import Place
from loccit.structure import Block, Parsed
from loccit.structure.markers import (
    DOTTED,
    EMPHASIS,
    FEW_WAYS,
    PAREN,
    PLAIN,
    WORDED,
    Mark,
    Marker,
    Reading,
    Text,
    arrange,
    nesting,
    read_markers,
)
from loccit.structure.places.chain import is_first, number_key
from loccit.structure.places.evidence import line_width
from loccit.structure.places.lines import ends_short
from loccit.structure.places.mentions import Mentions
from loccit.structure.places.view import AMENDED, only_lists
from loccit.structure.quotations import is_quoted

# A sign before a number, as amended texts print before what was put in: `F15[(a) …`, `[F1(2)`, `►M5 (b) …`.
_SIGN = (
    rf"(?:(?:[^\s\w(“„«\"‘'§$]{{0,3}}[A-Z0-9]{{0,6}}[^\s\w(*_“„«\"‘'.,;:)§$-]{{1,6}}(?:[A-Z0-9]{{1,4}}\s)?\s?){{1,3}}"
    rf"(?={EMPHASIS}\()|{AMENDED}|\((?=\d{{1,3}}°))"
)
_MARKED_LINE = re.compile(
    rf"[ \t>]*(?:[-*•]\s+)?(?P<sign>{_SIGN})?"
    rf"(?P<markers>{EMPHASIS}(?:{DOTTED}|{PLAIN}){EMPHASIS}(?:\s?{PAREN})*|{PAREN}(?:\s?{PAREN})*|{WORDED})"
    r"(?:\s+(?=\S)|\s*$|(?=[^\s\w.,;:)(])|(?<=\))(?=\w))"
)
# The number of the section again, before its first clause: `**47.**—(1) …`, `47 (1) …`.
_REPEATED = re.compile(
    rf"[ \t>]*{EMPHASIS}(?:{AMENDED})?{EMPHASIS}(?P<number>\d{{1,4}}[A-Za-z]{{0,3}}){EMPHASIS}\.?{EMPHASIS}"
    r"\s?[—–-]?\s?"
    rf"(?=(?:{_SIGN})?{EMPHASIS}\()"
)


# -- clauses -------------------------------------------------------------------------------------------------

# Headings whose numbered paragraphs have a special name.
_NAMED = dict.fromkeys("recitals recital whereas erwagungsgrunde considerants".split(), "recital")
_FORMAL_KINDS = frozenset({"section", "article", "clause", "paragraph", "rule", "regulation", "recital"})
_RUNS_ON = re.compile(r"(?:[.;:,—–-]|\b(?:and|or|und|oder|et|ou|y|o))\s*$", re.IGNORECASE)
_MAX_CLAUSES = 50_000
# `(b)(2)(i)` happens; a dozen in a row is not numbering.
_MAX_ON_LINE = 6
# Words before numbers: where their lists may begin, in how many sections, and how much of them is in order.
_LATEST_FIRST, _FEWEST_LISTS, _IN_ORDER = 2, 2, 0.8


@dataclass(frozen=True, slots=True)
class _Owner:
    """The labelled section that clauses are counted in."""

    label: str
    kind: str
    number: tuple[str, ...]
    section_id: str


class _Part(NamedTuple):
    """A section's own text, up to the next heading: its markers, and the text between them."""

    section: Place
    owner: _Owner
    end: int
    events: list[Mark | Text]


def extract_clauses(parsed: Parsed, sections: Sequence[Place], known: Sequence[Place] = ()) -> list[Place]:
    """Return the clauses of a document in order, continuing the numbering of its ``sections``.

    These are its headings, or others of the places ``known``.
    """
    parts = list(_parts(parsed, sections, {place.start for place in known}))
    words = _counting_words(parts)
    for part in parts:
        part.events[:] = [
            event for event in part.events if isinstance(event, Text) or event.marker.word in words
        ]
    # How lists are nested in one section is evidence for the others.
    nested: Counter[tuple[str, str]] = Counter()
    for part in parts if len(parts) > 1 else ():
        nested.update(nesting(arrange(part.events, len(part.owner.number), {}, FEW_WAYS)))
    totals: Counter[str] = Counter()
    for (_, style), count in nested.items():
        totals[style] += count
    usual = {pair: count / (totals[pair[1]] + _FEWEST_LISTS) for pair, count in nested.items()}
    places = list(known or sections)
    first = len(places)
    taken = {place.section_id: 1 for place in places}
    for part in parts:
        if len(places) - first <= _MAX_CLAUSES:
            _add_clauses(parsed, part, arrange(part.events, len(part.owner.number), usual), places, taken)
    return places[first:]


def _parts(parsed: Parsed, sections: Sequence[Place], known: Set[int]) -> Iterator[_Part]:
    starts = [block.start for block in parsed.blocks]
    section_starts = [section.start for section in sections]
    cited = _cites_itself(parsed.mentions, sections)
    width = line_width(parsed.text)
    for index, section in enumerate(sections):
        end = min([section.end, *(later.start for later in sections[index + 1 : index + 2])])
        owner = _owner(section, sections)
        if owner is None:
            continue
        low = max(0, bisect_right(starts, section.body) - 1)
        blocks = parsed.blocks[low : bisect_left(starts, end)]
        below = sections[index + 1 : bisect_left(section_starts, section.end)]
        headed = {place.number for place in below if place.number}
        marks = list(_marks(parsed, section, end, blocks, owner.number, width))
        marks = [mark for mark in marks if mark.start not in known]
        if events := _events(marks, section, owner, headed, cited):
            yield _Part(section, owner, end, events)


def _events(
    events: list[Mark | Text], section: Place, owner: _Owner, headed: set[tuple[str, ...]], cited: bool
) -> list[Mark | Text]:
    """The markers that may be of clauses, and the text between; none if there are none.

    A line with the number of a heading below, one of ``headed``, is a contents entry for it. If half of the numbered
    lines are, so are the others, whose targets no longer exist.
    """
    marks = [event for event in events if isinstance(event, Mark)]
    dotted = [mark.marker.dotted for mark in marks if mark.marker.dotted]
    listed = {number for number in dotted if number in headed}
    if 2 * sum(number in listed for number in dotted) >= len(dotted):
        listed.update(dotted)
    marks = [mark for mark in marks if mark.marker.dotted not in listed]
    own = not headed and section.number == owner.number
    # A heading that is nothing but a number has paragraphs below it, no steps.
    lists = owner.kind in _FORMAL_KINDS or (own and (not section.title or (cited and _is_one_list(marks))))
    known = {id(mark) for mark in marks if _is_clause_mark(mark, owner, lists)}
    return [event for event in events if isinstance(event, Text) or id(event) in known] if known else []


def _counting_words(parts: Sequence[_Part]) -> set[str]:
    """Words before numbers (`Stk. 2.`, `§ 2.`) that count clauses: they begin anew in section after section."""
    begun, follow, every = Counter[str](), Counter[str](), Counter[str]()
    for part in parts:
        last: dict[str, int] = {}
        for event in part.events:
            if isinstance(event, Mark) and (word := event.marker.word):
                value = event.marker.readings[0].part[1]
                # The first may have no number: `§ 4. The fee …`, `Stk. 2. It …`.
                begun[word] += word not in last and value <= _LATEST_FIRST
                follow[word] += value - last.get(word, 1) in (0, 1)
                every[word] += 1
                last[word] = value
    known = {
        word for word in every if begun[word] >= _FEWEST_LISTS and follow[word] >= _IN_ORDER * every[word]
    }
    return {"", *known}


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


def _add_clauses(
    parsed: Parsed, part: _Part, read: Sequence[tuple[int, str]], places: list[Place], taken: dict[str, int]
) -> None:
    """Add the clauses of one part, each with the depth that its marker has."""
    section, first = part.section, len(places)
    open_clauses: list[int] = []
    above: list[int] = []
    ends: dict[int, int] = {}
    later = iter(read)

    def end(start: int) -> None:
        """End the innermost clause; those that contain it extend at least as far."""
        ordinal: int | None = open_clauses.pop()
        while ordinal is not None and ends.get(ordinal, start) < start:
            ends[ordinal] = start
            ordinal = places[ordinal].parent

    def close(start: int, level: int = 0) -> None:
        while open_clauses and places[open_clauses[-1]].level >= level:
            end(start)

    lead: Text | None = None
    for event in part.events:
        if isinstance(event, Text):
            lead = event
            # Text without a marker returns to the outermost clause, unless it is indented like the inner one.
            while len(open_clauses) > 1 and event.indent < max(
                1, _indent(parsed.text, places[open_clauses[-1]].start)
            ):
                end(event.start)
            continue
        depth, style = next(later)
        if depth < 0:
            # What follows may belong to any clause.
            close(event.above)
            continue
        # Text before the first member of a list introduces it, and is no part of the list before.
        begins = lead and any(is_first(part) for kind, part in event.marker.readings if kind == style)
        close(lead.start if lead and begins else event.above, section.level + 1 + depth)
        lead = None
        parent = places[above[depth - 1]] if depth else None
        if parent and event.marker.dotted and parent.number != event.marker.dotted[:-1]:
            parent = None
        clause = _clause(parsed, part, event, depth, parent, places, taken)
        above[depth:] = [clause.ordinal]
        open_clauses.append(clause.ordinal)
        ends[clause.ordinal] = clause.end
        places.append(clause)
    close(part.end)
    for ordinal in range(first, len(places)):
        clause, position = places[ordinal], parsed.position
        span = clause.start, ends[ordinal]
        places[ordinal] = replace(
            clause, end=span[1], lines=position.lines(*span), pages=position.pages(*span)
        )


def _is_one_list(marks: Sequence[Mark]) -> bool:
    """Whether the outermost list of a section, which is the first, does not restart: then its numbers are unique."""
    readings = [mark.marker.readings for mark in marks if mark.marker.bare]
    return (
        bool(readings)
        and any(reading.part == (0, 1, "") for reading in readings[0])
        and readings.count(readings[0]) == 1
    )


def _is_clause_mark(mark: Mark, owner: _Owner, lists: bool) -> bool:
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
    part: _Part,
    mark: Mark,
    depth: int,
    above: Place | None,
    places: Sequence[Place],
    taken: dict[str, int],
) -> Place:
    section, owner, marker = part.section, part.owner, mark.marker
    if marker.dotted:
        number, label = marker.dotted, ".".join(marker.dotted)
        base = "sec"
    else:
        number = (*(above.number if above else owner.number), in_digits(marker.token.lower()))
        outer = above.label if above else owner.label
        label = (
            f"{outer} {marker.token}" if not owner.number and above is None else f"{outer}({marker.token})"
        )
        base = above.section_id if above else (owner.section_id or owner.kind)
    section_id = f"{base}_{'_'.join(number) if marker.dotted else number[-1]}"
    return Place(
        ordinal=len(places),
        parent=above.ordinal if above else section.ordinal,
        section=section.section,
        level=section.level + 1 + depth,
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
    parsed: Parsed, section: Place, end: int, blocks: Sequence[Block], own: tuple[str, ...], width: int
) -> Iterator[Mark | Text]:
    """Yield the markers in order, and the blocks without one; ``own`` is the number that they count in."""
    text = parsed.text
    for block in blocks:
        low, high = max(section.body, block.start), min(end, block.end)
        if low >= high or block.kind != "text" or not text[low:high].strip():
            continue
        position, before = low, "\n"
        while position < high:
            line_end = text.find("\n", position, high)
            line_end = high if line_end < 0 else line_end + 1
            line = text[position:line_end]
            repeated = _REPEATED.match(line)
            known = repeated is not None and (repeated["number"].lower(),) == own
            match = _MARKED_LINE.match(line, repeated.end() if repeated and known else 0)
            begins = (
                position == low or not before.strip() or _RUNS_ON.search(before) or ends_short(before, width)
            )
            if match and begins and not (only_lists(line) or is_quoted(parsed.quoted, position)):
                for mark in _split_marks(match, position):
                    yield _in_list(mark, parsed.items, parsed.items.get(section.start, ()))
            elif position == low and line.strip():
                yield Text(position, len(line) - len(line.lstrip()))
            before, position = line, line_end


def _in_list(mark: Mark, items: Mapping[int, tuple[str, ...]], outer: tuple[str, ...]) -> Mark:
    """Count an item of a list as the parser does; ``outer`` are the numbers of the section, if it is an item itself.

    The lists of each item are a style of their own, so that `1.` within 2. does not restart the list around it.
    """
    numbers = items.get(mark.line, ())
    marker = mark.marker
    if not numbers or not marker.bare or not marker.token.isdecimal():
        return mark
    if outer and numbers[: len(outer)] == outer:
        marker = Marker(".".join(numbers), ".".join(numbers), (Reading("1.1", (0, int(numbers[-1]), "")),))
    else:
        style = "@".join([marker.readings[0].style, *numbers[:-1]])
        marker = replace(marker, token=numbers[-1], readings=(Reading(style, (0, int(numbers[-1]), "")),))
    return mark._replace(marker=marker, nested=len(numbers) > 1)


def _split_marks(match: re.Match[str], position: int) -> Iterator[Mark]:
    markers = read_markers(match["markers"])
    if len(markers) > _MAX_ON_LINE:
        return
    base = position + match.start("markers")
    for index, marker in enumerate(markers):
        last = index == len(markers) - 1
        body = position + match.end() if last else base + markers[index + 1].offset
        start = base + marker.offset
        above = position + match.start("sign") if not index and match["sign"] else start
        yield Mark(marker, above, start, body, position if not index else -1)
