"""Writing Markdown line by line, each with its line in the file, and rows of cells as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from loccit.model.document import LineStart

# What a line of other markup would become in Markdown: a heading, the rule below one, a fence, a block of
# HTML.
_MEANT = re.compile(r" {0,3}(?=#{1,6}(?:\s|$)|(?:=+|-+)\s*$|```|~~~|<[A-Za-z/!?])")


class Translated(NamedTuple):
    """A text as Markdown, the source of its lines, and its metadata."""

    text: str
    line_starts: tuple[LineStart, ...] = ()
    metadata: dict[str, Any] = {}  # noqa: RUF012 - never changed
    title: str = ""


class Written:
    """Collects lines of Markdown."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []

    def add(self, line: int, text: str) -> None:
        """Add a line unchanged; ``line`` is its number in the file."""
        self._lines.append((line, text))

    def plain(self, line: int, text: str) -> None:
        """Add a line of text, escaped so that Markdown reads it as text."""
        self._lines.append((line, defused(text)))

    def heading(self, line: int, level: int, title: str) -> None:
        """Add a heading."""
        # A backslash before a last number sign keeps it from being taken for a closing mark.
        title = re.sub(r"(#+)$", r"\\\1", " ".join(title.split()))
        self._lines.append((line, f"{'#' * min(max(level, 1), 6)} {title}"))

    def blank(self, first: int, last: int) -> None:
        """Add blank lines for a range of lines without content."""
        self._lines += [(number, "") for number in range(first, last + 1)]

    def code(self, line: int, code: Iterable[str], language: str = "", *, last: int | None = None) -> None:
        """Add code that begins after ``line``, which becomes the fence; ``last`` is the line of the closing one."""
        body = list(code)
        self.fenced(
            list(enumerate(body, start=line + 1)),
            line,
            line + len(body) + 1 if last is None else last,
            language,
        )

    def fenced(self, code: Sequence[tuple[int, str]], first: int, last: int, language: str = "") -> None:
        """Add lines of code with their numbers, between fences on two given lines."""
        mark = fence_mark(text for _, text in code)
        self._lines += [(first, mark + language), *code, (last, mark)]

    def result(self, metadata: dict[str, Any] | None = None, title: str = "") -> Translated:
        """Return everything as one text."""
        first, last = 0, len(self._lines)
        while first < last and not self._lines[first][1].strip():
            first += 1
        while last > first and not self._lines[last - 1][1].strip():
            last -= 1
        starts: list[LineStart] = []
        offset, expected = 0, 1
        for line, text in self._lines[first:last]:
            if line != expected:
                starts.append(LineStart(offset, line))
            offset += len(text) + 1
            expected = line + 1
        text = "\n".join(text for _, text in self._lines[first:last])
        return Translated(text + "\n" if text else "", tuple(starts), metadata or {}, title)


class LineReader:
    """Translates line by line: :meth:`_line` reads a line, or the block it opens, and returns the next index."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._out = Written()
        self._metadata: dict[str, Any] = {}
        self._title = ""

    def read(self, index: int = 0) -> Translated:
        """Translate everything from a line on."""
        while index < len(self._lines):
            index = self._line(index)
        return self._out.result(self._metadata, self._title)

    def _line(self, index: int) -> int:
        raise NotImplementedError


def defused(text: str) -> str:
    """Return a line of text with whatever Markdown would take for structure escaped."""
    meant = _MEANT.match(text)
    return f"{text[: meant.end()]}\\{text[meant.end() :]}" if meant else text


def fence_mark(code: Iterable[str]) -> str:
    """Return a fence that is longer than any in the code."""
    longest = max((len(run) for line in code for run in re.findall(r"`{3,}", line)), default=2)
    return "`" * (longest + 1)


def dedented(code: list[str]) -> list[str]:
    """Return lines without their common indentation."""
    margin = min((len(line) - len(line.lstrip()) for line in code if line.strip()), default=0)
    return [line[margin:] if line.strip() else "" for line in code]


def cell_text(value: str) -> str:
    """A value on one line, with nothing that would end the cell."""
    return " ".join(value.split()).replace("|", "\\|")


def trim(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows without empty rows and columns."""
    kept = [list(row) for row in rows if any(value.strip() for value in row)]
    width = max(map(len, kept), default=0)
    used = [any(len(row) > column and row[column].strip() for row in kept) for column in range(width)]
    return [
        [row[column] if column < len(row) else "" for column in range(width) if used[column]] for row in kept
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the header; empty when there are no rows."""
    return pipe_table([[cell_text(value) for value in row] for row in rows]) + "\n" if rows else ""


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of escaped cells. Its first row is the header: Markdown has no other kind."""
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
