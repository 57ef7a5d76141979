"""Places: the tree made of a document's headings and numbers, found from all evidence together.

Headings that the format marks are used as they are. In addition there are lines that begin with a label: the article of
a contract typed as plain text, the clause of a Word file, the section of an RFC. Whether such a line is a place is
decided by its appearance, by the contents page, by the document's own mentions of the number, and above all by the
sequence: after 2.1 comes 2.2, or 2.1.1, or 3.
"""

from __future__ import annotations

from dataclasses import replace

from loccit.structure import Heading, Parsed, tile
from loccit.structure.places.evidence import line_width, titles_of, weigh
from loccit.structure.places.headings import labelled, styled_headings, titled_series, unnumbered_titles
from loccit.structure.places.lines import numbered_lines
from loccit.structure.places.mentions import (
    Contents,
    lettered,
    listed_contents,
    printed_contents,
    read_mentions,
)
from loccit.structure.places.numbering import choose, printed_below, without_clauses, without_inner
from loccit.structure.places.outline import outline_places, with_parts
from loccit.structure.places.series import learn_series
from loccit.structure.places.titles import CLAUSE
from loccit.structure.places.tree import headings_of, listed_titles, nest
from loccit.structure.places.view import is_bullet

_MAX_PLACES = 20_000


def find_places(parsed: Parsed, file_type: str = "") -> Parsed:
    """Add the places made by a document's numbered lines to its headings."""
    text = parsed.text
    contents = printed_contents(text, parsed.body_start)
    learnt = learn_series(parsed, contents.lines)
    headings = printed_below(styled_headings(parsed, learnt), text)
    width = line_width(text)
    letters = lettered(contents) | learnt.letters
    mentions = read_mentions(text)
    parsed = replace(parsed, mentions=mentions, series=learnt.members)
    numbered = numbered_lines(parsed, contents.lines, width, letters, learnt)
    lines = [*labelled(headings), *numbered]
    parts, named = outline_places(text) if not headings and not contents.entries else ([], {})
    if not (parts or learnt.members) and len(lines) == sum(line.heading for line in lines):
        return _unnumbered(parsed, headings, contents, width)
    lines = sorted(lines, key=lambda line: line.start)
    if parsed.headings:
        # Beside headings that the format marks, what is listed behind a bullet is none.
        lines = [line for line in lines if line.heading or not is_bullet(text[line.start : line.start + 9])]
    listed = listed_contents(lines, text)
    contents = Contents([*contents.entries, *listed.entries], contents.lines | listed.lines)
    lines = [line for line in lines if line.heading or line.start not in listed.lines][:_MAX_PLACES]
    titles = titles_of(lines, contents, text, width)
    weigh(lines, titles, contents)
    lines = without_inner(lines, headings, titles, text)
    chosen = choose(lines, headings, titles, mentions, len(text), file_type)
    accepted = with_parts(without_clauses(chosen, titles, contents, learnt.members), parts)
    titled, more = titled_series(learnt, accepted, contents, parsed, width)
    accepted = sorted([*accepted, *titled], key=lambda line: line.start)
    titles |= named | more
    found = [
        # What says "first" in a word is asked for by its words.
        replace(heading, title=heading.text) if heading.start in learnt.firsts else heading
        for heading in headings_of(accepted, headings, titles, text)
    ]
    found += listed_titles(parsed, contents, {heading.start for heading in (*found, *headings)})
    if not found:
        return _unnumbered(parsed, headings, contents, width)
    every = nest(sorted([*found, *headings], key=lambda heading: heading.start), accepted)
    return _with(parsed, every, found, contents)


def _unnumbered(parsed: Parsed, headings: list[Heading], contents: Contents, width: int) -> Parsed:
    """Without numbers, the layout of a plain text decides."""
    plain = not headings and not contents.entries and all(block.kind == "text" for block in parsed.blocks)
    found = unnumbered_titles(parsed.text, parsed.body_start, width) if plain else []
    return _with(parsed, [*headings, *found], found, contents)


def _with(parsed: Parsed, headings: list[Heading], found: list[Heading], contents: Contents) -> Parsed:
    """The text with all its headings, with those ``found`` cut out of its blocks, and text behind a label."""
    starts = [(block.start, block.kind, block.header_end) for block in parsed.blocks]
    behind = [heading for heading in headings if CLAUSE.match(parsed.text, heading.body)]
    starts += [(heading.start, "heading", 0) for heading in found]
    starts += [(heading.body, "text", 0) for heading in (*found, *behind)]
    blocks = tile(starts, parsed.body_start, len(parsed.text)) if found or behind else parsed.blocks
    return replace(parsed, headings=headings, blocks=blocks, contents=contents.entries)
