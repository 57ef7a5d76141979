"""Chooses the few lines of a passage that show best why it was found, and marks the words in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.cli.markup import plain_lines
from pinakes.cli.safe import one_line, safe

if TYPE_CHECKING:
    from rich.text import Text

    from pinakes.model import SearchResult

LINES = 5
MATCH_STYLE = "bold yellow"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters of a line that answer to a word of the query."""

    start: int
    end: int
    term: str


class Marker:
    """Finds the words of one query in lines of text, whatever their inflection."""

    def __init__(self, query: str, content: str, literals: Sequence[str] = ()) -> None:
        from pinakes.text.analysis import query_terms

        self.language = _language(content)
        self._forms: dict[str, str] = {}
        for term in query_terms(query[:2000], (self.language,)):
            for form in (*term.forms, *(form for part in term.parts for form in part.forms)):
                self._forms.setdefault(form, term.text)
        self._literals = [one_line(literal) for literal in dict.fromkeys(literals)]
        self._literals = [literal for literal in self._literals if literal]

    def marks(self, line: str) -> list[Mark]:
        """Return the marks of a line in order, none overlapping."""
        from pinakes.text.analysis import analyze

        found = [
            Mark(token.start, token.end, self._forms[token.text])
            for token in analyze(line, self.language)
            if token.text in self._forms
        ]
        for literal in self._literals:
            pattern = re.compile(re.escape(literal), re.IGNORECASE)
            found += [Mark(match.start(), match.end(), literal) for match in pattern.finditer(line)]
        apart: list[Mark] = []
        for mark in sorted(found, key=lambda mark: (mark.start, -mark.end)):
            if not apart or mark.start >= apart[-1].end:
                apart.append(mark)
        return apart


def snippet(result: SearchResult, query: str, width: int, full: bool = False) -> list[Text]:
    """Return the lines to show of a result, wrapped to ``width``, the words of the query marked."""
    literals = [result.content[match.start : match.end] for match in result.matches]
    marker = Marker(query, result.content, literals)
    if full:
        source = safe(result.content.strip("\n")).expandtabs(4).split("\n")
    else:
        source = [safe(line) for line in _without_heading(plain_lines(result.content), result)]
    # Room for the dots that say there is more before or after.
    lines = _wrap(source, width if full else width - 2)
    marks = [marker.marks(line) for line in lines]
    first = 0 if full or _named(result, query) else best_window(marks, LINES)
    last = len(lines) if full else min(len(lines), first + LINES)
    shown = [_marked(line, found) for line, found in zip(lines[first:last], marks[first:last], strict=True)]
    if shown and first > 0:
        shown[0] = _cut(shown[0], front=True)
    if shown and last < len(lines):
        shown[-1] = _cut(shown[-1], front=False)
    return shown


def _named(result: SearchResult, query: str) -> bool:
    """Whether the query names the section itself: then it is read from its beginning."""
    return bool(result.section_label) and result.section_label.casefold() in query.casefold()


def best_window(marks: Sequence[Sequence[Mark]], size: int) -> int:
    """Return the first line of the window that names most of the query's words, the earliest of equals."""
    best, chosen = (0, 0, 0), 0
    for start in range(max(1, len(marks) - size + 1)):
        window = [mark.term for line in marks[start : start + size] for mark in line]
        # Of windows with the same words, prefer one that begins with a line that matters.
        value = (len(set(window)), len(window), int(bool(marks[start])) if marks else 0)
        if value > best:
            best, chosen = value, start
    return chosen


def _wrap(source: Sequence[str], width: int) -> list[str]:
    from rich.console import Console
    from rich.text import Text

    console = Console(width=width)
    lines: list[str] = []
    for line in source:
        lines += [part.plain.rstrip() for part in Text(line).wrap(console, width)] if line.strip() else [""]
    return lines


def _marked(line: str, marks: Sequence[Mark]) -> Text:
    from rich.text import Text

    text = Text(line)
    for mark in marks:
        text.stylize(MATCH_STYLE, mark.start, mark.end)
    return text


def _cut(line: Text, front: bool) -> Text:
    """Show that there is more before or after a line."""
    from rich.text import Text

    dots = ("… " if front else " …", "dim")
    return Text.assemble(dots, line) if front else Text.assemble(line, dots)


def _without_heading(lines: list[str], result: SearchResult) -> list[str]:
    """Drop the headings a passage begins with when the line above it says them already."""
    known = {_bare(part) for part in (*result.parent_chain, result.heading)}
    while len(lines) > 1 and _bare(lines[0]) in known:
        lines = lines[1:]
    return lines


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(" ".join(plain_lines(text)))).casefold()


def _language(content: str) -> str:
    """Guess the language from its most frequent words: enough to choose a stemmer, at no cost."""
    from pinakes.text.stopwords import STOPWORDS

    words = [word.casefold() for word in _WORD.findall(content[:5000])]
    counts = {language: sum(word in known for word in words) for language, known in STOPWORDS.items()}
    return max(counts, key=lambda language: (counts[language], language == "en"))
