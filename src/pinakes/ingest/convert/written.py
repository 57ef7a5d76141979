"""Written: Markdown line by line, each with the line of the file that it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from pinakes.model.document import LineStart

# What a line of another markup would become in Markdown: a heading, the rule below one, a fence, a block of HTML.
_MEANT = re.compile(r" {0,3}(?=#{1,6}(?:\s|$)|(?:=+|-+)\s*$|```|~~~|<[A-Za-z/!?])")


class Translated(NamedTuple):
    """A text as Markdown, where its lines came from, and what it says of itself."""

    text: str
    line_starts: tuple[LineStart, ...] = ()
    metadata: dict[str, Any] = {}  # noqa: RUF012 - never changed
    title: str = ""


class Written:
    """Collects lines of Markdown."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []

    def add(self, line: int, text: str) -> None:
        """Take a line as it is; ``line`` is the number that it has in the file."""
        self._lines.append((line, text))

    def plain(self, line: int, text: str) -> None:
        """Take a line of text, which must not become anything else in Markdown."""
        self._lines.append((line, defused(text)))

    def heading(self, line: int, level: int, title: str) -> None:
        """Take a heading."""
        # A backslash before a last number sign keeps it from being taken for a closing mark.
        title = re.sub(r"(#+)$", r"\\\1", " ".join(title.split()))
        self._lines.append((line, f"{'#' * min(max(level, 1), 6)} {title}"))

    def code(self, line: int, code: Iterable[str], language: str = "", *, closed: bool = True) -> None:
        """Take code that begins after ``line``, on which its fence goes."""
        body = list(code)
        mark = fence_mark(body)
        self._lines.append((line, mark + language))
        for number, text in enumerate(body, start=line + 1):
            self._lines.append((number, text))
        self._lines.append((line + len(body) + (1 if closed else 0), mark))

    def __len__(self) -> int:
        return len(self._lines)

    def is_blank(self) -> bool:
        """Whether the next line begins a new paragraph."""
        return not self._lines or not self._lines[-1][1].strip()

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


def defused(text: str) -> str:
    """Return a line of text with a backslash before whatever Markdown would take for structure."""
    meant = _MEANT.match(text)
    return f"{text[: meant.end()]}\\{text[meant.end() :]}" if meant else text


def fence_mark(code: Iterable[str]) -> str:
    """Return a fence that is longer than any in the code."""
    longest = max((len(run) for line in code for run in re.findall(r"`{3,}", line)), default=2)
    return "`" * (longest + 1)


def dedented(code: list[str]) -> list[str]:
    """Return lines without the indentation that all of them have."""
    margin = min((len(line) - len(line.lstrip()) for line in code if line.strip()), default=0)
    return [line[margin:] if line.strip() else "" for line in code]
