"""Styled headings: what the format marks as headings, with their labels, without the text that stands in some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pinakes.ingest.parse import Heading, Parsed
from pinakes.ingest.places.lines import NumberedLine, read_line
from pinakes.ingest.places.titles import read_title, titles_below
from pinakes.labels import parse_heading

_LONGEST_HEADING = 120
_LONGEST_TITLE = 250
_NO_WIDTH = 1_000_000


def styled_headings(parsed: Parsed) -> list[Heading]:
    """Return the headings of a text, each with its title and nothing but its title."""
    return _shorten(_titled_below(_merge_titles(parsed), parsed.text), parsed.text)


def _merge_titles(parsed: Parsed) -> list[Heading]:
    """Join a heading that is only a label with the one below that names it: `Article 1`, then `Subject matter`."""
    merged: list[Heading] = []
    for heading in parsed.headings:
        above = merged[-1] if merged else None
        if (
            above is not None
            and above.level == heading.level
            and not parsed.text[above.body : heading.start].strip()
            and _only_label(above.text)
            and parse_heading(heading.text)[0] is None
        ):
            merged[-1] = replace(above, text=f"{above.text} {heading.text}", body=heading.body)
        else:
            merged.append(heading)
    return merged


def _titled_below(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Take in the titles that stand as paragraphs below headings which are only labels."""
    alone = [heading.body for heading in headings if _only_label(heading.text)]
    titles = titles_below(text, alone)
    return [
        replace(heading, text=f"{heading.text} {title.words}", body=title.body)
        if (title := titles.get(heading.body)) and _only_label(heading.text)
        else heading
        for heading in headings
    ]


def _shorten(headings: Sequence[Heading], text: str) -> list[Heading]:
    """Take the text out of headings: a clause in a heading style has a number, perhaps a title, and then words."""
    kept = []
    for heading in headings:
        if len(heading.text) <= _LONGEST_HEADING:
            kept.append(heading)
            continue
        line = read_line(text, heading.start, heading.body)
        title = read_title(text, line.rest, heading.body, _NO_WIDTH) if line else None
        if line is None or (title is None and len(heading.text) <= _LONGEST_TITLE):
            # A paragraph of prose in a heading style names nothing; a long title is one all the same.
            if line or not heading.text.endswith((".", ";", ":", ",")):
                kept.append(heading)
            continue
        words = f"{line.label.text} {title.words}" if title else line.label.text
        body = title.body if title else line.rest
        kept.append(
            Heading(heading.level, words, heading.start, body, line.label, title.words if title else "")
        )
    return kept


def _only_label(words: str) -> bool:
    label, title = parse_heading(words)
    return label is not None and bool(label.kind) and not title


def labelled(headings: Iterable[Heading]) -> list[NumberedLine]:
    """Return the headings that carry a label, as numbered lines."""
    found = []
    for heading in headings:
        label, title = (heading.label, heading.title) if heading.label else parse_heading(heading.text)
        if label and not label.relative:
            found.append(
                NumberedLine(
                    heading.start, heading.body, heading.body, label, title, True, True, heading=True
                )
            )
    return found
