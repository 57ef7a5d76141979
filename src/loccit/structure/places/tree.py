"""Tree: accepted lines become headings with levels, and all headings sections with labels, ids and paths."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from loccit.grammar.labels import LEAF_KINDS, parse_heading
from loccit.grammar.labels.model import APART
from loccit.grammar.text.keys import slug, title_key
from loccit.model import Place
from loccit.structure import Heading, Parsed
from loccit.structure.places.chain import outer
from loccit.structure.places.lines import NumberedLine
from loccit.structure.places.mentions import Contents
from loccit.structure.places.numbering import series_rank
from loccit.structure.places.titles import Title, clean

_WRITTEN = re.compile(r"\d+")
_COUNTED = re.compile(r"([^\W\d_]+)\s?\d")


@dataclass(frozen=True, slots=True)
class _Key:
    """The position of a numbered place among others: the rank of its series, then the number of parts in its number."""

    rank: int
    depth: int


def headings_of(
    accepted: Sequence[NumberedLine], headings: Sequence[Heading], titles: dict[int, Title], text: str
) -> list[Heading]:
    """Make headings of the accepted lines; their levels come later."""
    taken = {heading.start for heading in headings}
    starts = sorted([*taken, *(line.start for line in accepted)])
    found = []
    for line in accepted:
        if line.heading:
            continue
        later = bisect_right(starts, line.start)
        end = starts[later] if later < len(starts) else len(text)
        title = titles.get(line.start)
        words = f"{_printed(text, line)} {title.words}" if title else line.label.text
        body = min(title.body if title else line.rest, end)
        found.append(
            Heading(0, words, line.start, max(body, line.start + 1), line.label, title.words if title else "")
        )
    return found


def _printed(text: str, line: NumberedLine) -> str:
    """The label as printed before a title, with its full stop or dash: `2.`, `ARTICLE II -`."""
    printed = clean(text[line.start : line.rest]).lstrip("#>-•●▪◦ ")
    return printed if line.label.text in printed else _WRITTEN.sub(line.label.text, printed, count=1)


def nest(headings: Sequence[Heading], accepted: Sequence[NumberedLine]) -> list[Heading]:
    """Give each place a level: below the heading it is under, and below the numbers that contain it."""
    keys = _keys(accepted)
    nested: list[Heading] = []
    open_places: list[tuple[int, _Key | None]] = []
    for heading in headings:
        key = keys.get(heading.start)
        if heading.level:
            while open_places and open_places[-1][0] >= heading.level:
                open_places.pop()
            level = heading.level
        else:
            # A heading without a number ends all numbered places.
            rank = (key.rank, key.depth) if key else (-1, 0)
            outer = next(
                (
                    index
                    for index, (_, other) in enumerate(open_places)
                    if other is not None and (other.rank, other.depth) >= rank
                ),
                len(open_places),
            )
            del open_places[outer:]
            level = open_places[-1][0] + 1 if open_places else 1
        open_places.append((level, key))
        nested.append(replace(heading, level=level))
    return nested


def _keys(accepted: Sequence[NumberedLine]) -> dict[int, _Key]:
    counts: dict[str, int] = {}
    for line in accepted:
        counts[line.series] = counts.get(line.series, 0) + 1
    # Of kinds that people use interchangeably, the rarer contains the more frequent.
    order = sorted(counts, key=lambda kind: (series_rank(kind), counts[kind]))
    ranks = {kind: 0 if kind in APART else index + 1 for index, kind in enumerate(order)}
    return {line.start: _Key(ranks[line.series], len(outer(line.number))) for line in accepted}


def listed_titles(parsed: Parsed, contents: Contents, taken: set[int]) -> list[Heading]:
    """Lines that the contents page lists without a number: `Acknowledgements`, `Authors' Addresses`."""
    wanted = {entry.title for entry in contents.entries if not entry.number and len(entry.title) > 3}
    # `Figure 1`, `Figure 2`: what a list of figures counts are captions.
    counted = Counter(match[1] for title in wanted if (match := _COUNTED.match(title)))
    wanted = {title for title in wanted if not (match := _COUNTED.match(title)) or counted[match[1]] == 1}
    found = []
    for block in parsed.blocks if wanted else ():
        end = parsed.text.find("\n", block.start, block.end)
        line = parsed.text[block.start : end if end >= 0 else block.end]
        if block.kind != "text" or len(line) > 160 or block.start in taken or block.start in contents.lines:
            continue
        key = title_key(line)
        if key in wanted:
            wanted.discard(key)
            found.append(Heading(0, " ".join(line.split()), block.start, block.start + len(line)))
    return found


# -- sections ---------------------------------------------------------------------------------------------------


def build_sections(parsed: Parsed) -> list[Place]:
    """Return the tree of headings in document order; place 0 is the document itself.

    A skipped level (an H4 right under an H2) does no harm: the parent of a heading is the nearest one above it with a
    smaller level.
    """
    end = len(parsed.text)
    parents = _parents(parsed.headings)
    ends = _subtree_ends(parsed.headings, end)
    position = parsed.position
    root = Place(
        ordinal=0,
        parent=None,
        section=0,
        level=0,
        start=parsed.body_start,
        body=parsed.body_start,
        end=end,
        lines=position.lines(parsed.body_start, end),
        pages=position.pages(parsed.body_start, end),
    )
    sections = [root]
    taken: dict[str, int] = {}
    for index, heading in enumerate(parsed.headings):
        parent = sections[parents[index]]
        label, title = (heading.label, heading.title) if heading.label else parse_heading(heading.text)
        if label and label.relative and parent.number and parent.kind in LEAF_KINDS:
            label = label.below(parent.label, parent.kind, parent.number)
        wanted = label.section_id if label else slug(title)
        section_id = _unique(wanted or f"section_{index + 1}", parent.section_id, taken)
        sections.append(
            Place(
                ordinal=index + 1,
                parent=parent.ordinal,
                section=index + 1,
                level=heading.level,
                heading=heading.text,
                start=heading.start,
                body=heading.body,
                end=ends[index],
                lines=position.lines(heading.start, ends[index]),
                label=label.text if label else "",
                title=title,
                kind=label.kind if label else "",
                number=label.number if label else (),
                section_id=section_id,
                path=(*parent.path, heading.text),
                pages=position.pages(heading.start, ends[index]),
            )
        )
    return sections


def _parents(headings: list[Heading]) -> list[int]:
    parents: list[int] = []
    open_sections: list[tuple[int, int]] = []
    for index, heading in enumerate(headings):
        while open_sections and open_sections[-1][0] >= heading.level:
            open_sections.pop()
        parents.append(open_sections[-1][1] if open_sections else 0)
        open_sections.append((heading.level, index + 1))
    return parents


def _subtree_ends(headings: list[Heading], end: int) -> list[int]:
    ends = [end] * len(headings)
    open_sections: list[int] = []
    for index, heading in enumerate(headings):
        while open_sections and headings[open_sections[-1]].level >= heading.level:
            ends[open_sections.pop()] = heading.start
        open_sections.append(index)
    return ends


def _unique(wanted: str, parent: str, taken: dict[str, int]) -> str:
    """Prefix a repeated id with its parent's, and add a number if that is taken too."""
    candidate = f"{parent}_{wanted}" if wanted in taken and parent else wanted
    base = candidate
    while candidate in taken:
        taken[base] = taken.get(base, 1) + 1
        candidate = f"{base}__{taken[base]}"
    taken[candidate] = 1
    return candidate
