"""Chooses the few lines of a passage that show best why it was found, and marks the words in them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loccit.cli.output import one_line, safe

if TYPE_CHECKING:
    from rich.text import Text

    from loccit.model import SearchResult

_FENCE = re.compile(r"^\s*(```|~~~)")
_RULE_CHARACTERS = frozenset("|:=*_- \t")
_RULES = ("--", "==", "***", "___", "* * *", ":-", "-:")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(\S.*)$")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+(?:\[![a-zA-Z]+\][+-]?\s*)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_TAG = re.compile(r"</?(?:a|b|br|code|div|em|i|img|p|span|strong|sub|sup|td|th|tr|u)\b[^<>]*>", re.IGNORECASE)
_WIKI = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_STARS = re.compile(r"(?<!\\)(\*{1,3})(?=[^\s*])(.{1,500}?)(?<=[^\s*\\])\1")
_UNDERLINES = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])(.{1,500}?)(?<=[^\s_\\])\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`{1,3})(.{1,500}?)\1")
_LONGEST = 20_000  # of a line; the patterns are not run over more, and nobody reads so far in a snippet
LINES = 5
MATCH_STYLE = "bold yellow"
_WORD = re.compile(r"\w+")


def plain_lines(content: str) -> list[str]:
    """Return the lines of a passage without Markdown's marks and without blank lines; code stays as it is."""
    lines: list[str] = []
    fence = ""
    for raw in content.splitlines():
        opened = _FENCE.match(raw)
        if opened and (not fence or fence == opened[1]):
            fence = "" if fence else opened[1]
        elif fence:
            lines.append(raw.expandtabs(4).rstrip())
        elif not _is_rule(raw):
            lines.append(_plain(raw[:_LONGEST]))
    return [line for line in lines if line.strip()]


def _is_rule(line: str) -> bool:
    """Whether a line only draws: an underline, a rule, the separator of a table."""
    return _RULE_CHARACTERS.issuperset(line) and any(rule in line for rule in _RULES)


def _plain(line: str) -> str:
    heading = _HEADING.match(line)
    line = _without_closing(heading[1]) if heading else _QUOTE.sub("", line)
    if line.lstrip().startswith("|"):
        line = " | ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    pieces, last = [], 0
    for code in _CODE.finditer(line):
        pieces += [_words(line[last : code.start()]), code[2]]
        last = code.end()
    return "".join([*pieces, _words(line[last:])]).expandtabs(4).rstrip()


def _without_closing(heading: str) -> str:
    """Drop the ``##`` that may end a heading; that of ``C#`` stays."""
    rest = heading.rstrip().rstrip("#")
    return rest.rstrip() if rest.endswith((" ", "\t")) else heading.rstrip()


def _words(text: str) -> str:
    text = _TAG.sub(" ", _COMMENT.sub("", text)) if "<" in text else text
    if "[" in text:
        text = _LINK.sub(r"\1", _WIKI.sub(r"\1", text))
    if "*" in text:
        text = _STARS.sub(r"\2", _STARS.sub(r"\2", text))
    if "_" in text:
        text = _UNDERLINES.sub(r"\2", text)
    return html.unescape(_ESCAPE.sub(r"\1", text))


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters of a line that answer to a word of the query."""

    start: int
    end: int
    term: str


class Marker:
    """Finds the words of one query in lines of text, whatever their inflection."""

    def __init__(self, query: str, content: str, literals: Sequence[str] = ()) -> None:
        from loccit.grammar.text.analysis import query_terms

        self.language: str = _language(content)
        self._forms: dict[str, str] = {}
        for term in query_terms(query[:2000], (self.language,)):
            for form in (*term.forms, *(form for part in term.parts for form in part.forms)):
                self._forms.setdefault(form, term.text)
        self._literals = [one_line(literal) for literal in dict.fromkeys(literals)]
        self._literals = [literal for literal in self._literals if literal]

    def marks(self, line: str) -> list[Mark]:
        """Return the marks of a line in order, none overlapping."""
        from loccit.grammar.text.analysis import analyze

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
    from loccit.grammar.text.stopwords import STOPWORDS

    words = [word.casefold() for word in _WORD.findall(content[:5000])]
    counts = {language: sum(word in known for word in words) for language, known in STOPWORDS.items()}
    return max(counts, key=lambda language: (counts[language], language == "en"))
