"""Masks: the stretches of a text in which nothing is a reference, such as code, headings and tables of contents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from pinakes.ingest.parse import Parsed
from pinakes.model import Place
from pinakes.text.keys import title_key

_CONTENTS = frozenset(
    {"contents", "table of contents", "toc", "inhalt", "inhaltsverzeichnis", "inhaltsubersicht", "sommaire"}
    | {"table des matieres", "indice", "on this page", "list of sections"}
)
_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_ADDRESS = re.compile(r"\b(?:https?|ftp|mailto):[^\s<>)\]]+")
_LEADERS = re.compile(r"(?<!\.)\.{4}[ \t.]*\d{1,4}[ \t]*$", re.MULTILINE)
_LINK_LINE = re.compile(
    r"^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?\[[^\]\n]{1,200}\]\(#[^)\n]{1,200}\)[ \t]*\n?", re.MULTILINE
)
_EXTERNAL = re.compile(r"[A-Za-z][\w+.-]*:|//")
_MAX_LINE = 400


def is_external(target: str) -> bool:
    """Whether a link leaves the library: it names a scheme or a host."""
    return bool(_EXTERNAL.match(target))


class Masks:
    """Spans of a text, merged; asked by offset."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif start < end:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


def find_masks(parsed: Parsed, sections: Sequence[Place]) -> tuple[Masks, Masks]:
    """Return the tables of contents of a document, and everything in which words are not read for references."""
    contents = list(_contents(parsed.text, sections))
    return Masks(contents), Masks([*contents, *_text_spans(parsed)])


def _text_spans(parsed: Parsed) -> Iterator[tuple[int, int]]:
    text = parsed.text
    yield 0, parsed.body_start
    for block in parsed.blocks:
        if block.kind in ("code", "heading"):
            yield block.start, block.end
    for heading in parsed.headings:
        yield heading.start, heading.body
    for link in parsed.links:
        shown = text.find("](", link.start, link.end)
        # The words of a link out of the library are read like others: `[10 U.S.C. 3806](https://…)`.
        outside = shown > 0 and link.kind == "markdown" and is_external(link.target)
        yield (shown if outside else link.start), link.end
    if "`" in text:
        yield from (match.span() for match in _CODE.finditer(text))
    if ":" in text:
        yield from (match.span() for match in _ADDRESS.finditer(text))


def _contents(text: str, sections: Sequence[Place]) -> Iterator[tuple[int, int]]:
    for index, section in enumerate(sections):
        if section.heading and title_key(section.title or section.heading) in _CONTENTS:
            yield section.start, sections[index + 1].start if index + 1 < len(sections) else section.end
    for match in _LEADERS.finditer(text) if "...." in text else ():
        start = text.rfind("\n", max(0, match.start() - _MAX_LINE), match.start()) + 1
        yield max(start, match.start() - _MAX_LINE), match.end()
    if "](#" in text:
        yield from _link_lists(text)


def _link_lists(text: str) -> Iterator[tuple[int, int]]:
    """Three or more lines in a row that are nothing but links to headings."""
    run: list[tuple[int, int]] = []
    for match in _LINK_LINE.finditer(text):
        if run and match.start() != run[-1][1]:
            if len(run) > 2:
                yield run[0][0], run[-1][1]
            run = []
        run.append(match.span())
    if len(run) > 2:
        yield run[0][0], run[-1][1]
