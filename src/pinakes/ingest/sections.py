"""Sections: headings become a tree with labels, ids and paths."""

from __future__ import annotations

from pinakes.ingest.parse import Heading, Parsed
from pinakes.labels import LEAF_KINDS, parse_heading
from pinakes.model import Place
from pinakes.text.keys import slug


def build_sections(parsed: Parsed) -> list[Place]:
    """Return the tree of headings in document order; place 0 is the document itself.

    A level that is skipped (an H4 right under an H2) does no harm: the parent of a heading is the nearest
    heading above it that has a smaller level.
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
    """Give a repeated id its parent's as a prefix, and a number when that is taken too."""
    candidate = f"{parent}_{wanted}" if wanted in taken and parent else wanted
    base = candidate
    while candidate in taken:
        taken[base] = taken.get(base, 1) + 1
        candidate = f"{base}__{taken[base]}"
    taken[candidate] = 1
    return candidate
