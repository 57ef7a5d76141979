"""What happens between a question and the end of its answer, and the sources that it rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from loccit.model import Lines, Pages, QuoteCheck, SearchResult, SectionView

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# [2], [2, 5], [2-4]; also with a letter or word in front, as in [source 2].
_MARK = re.compile(r"\[(?:[A-Za-z]+\.? ?)?(\d{1,5}(?:\s*[,;–-]\s*\d{1,5})*)\]")
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_WIDEST_RANGE = 50


@dataclass(frozen=True)
class Source:
    """A place in a document that a tool has shown to the model."""

    number: int
    tool: str
    source_path: str
    document_title: str
    section_id: str
    section_label: str
    heading: str
    parent_chain: list[str]
    lines: Lines | None
    pages: Pages | None

    @property
    def name(self) -> str:
        """The section as one would name it: its label, its heading, or its id."""
        if self.section_label and self.heading and self.section_label not in self.heading:
            return f"{self.section_label} {self.heading}"
        return self.heading or self.section_label or self.section_id

    def to_dict(self) -> dict[str, Any]:
        """Return the source as JSON values."""
        return {**asdict(self), "name": self.name}


class Sources:
    """Numbers sources in the order in which they are first shown."""

    def __init__(self) -> None:
        self._by_number: dict[int, Source] = {}
        self._numbers: dict[tuple[object, ...], int] = {}

    def __iter__(self) -> Iterator[Source]:
        return iter(self._by_number.values())

    def __len__(self) -> int:
        return len(self._by_number)

    def get(self, number: int) -> Source | None:
        """Return the source of a number."""
        return self._by_number.get(number)

    def number(self, tool: str, place: SearchResult | SectionView) -> int:
        """Return the number of a place; the same place has the same number every time."""
        key = (tool, place.source_path, place.section_id, place.lines)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._by_number[self._numbers[key]] = Source(
                self._numbers[key],
                tool,
                place.source_path,
                place.document_title,
                place.section_id,
                place.section_label,
                place.heading,
                list(place.parent_chain),
                place.lines,
                place.pages,
            )
        return self._numbers[key]

    def cited(self, answer: str) -> tuple[list[Source], list[int]]:
        """Return the sources that an answer cites, in its order, and the numbers that stand for none."""
        known, unknown = list[Source](), list[int]()
        for number in cited_numbers(answer):
            source = self._by_number.get(number)
            if source is None:
                unknown.append(number)
            else:
                known.append(source)
        return known, unknown


def cited_numbers(answer: str) -> list[int]:
    """Return the numbers in square brackets, each once, in the order of the text; code does not count.

    >>> cited_numbers("Within one hour [2][5], in writing [2, 7-9]. Not `list[3]`.")
    [2, 5, 7, 8, 9]
    """
    found: dict[int, None] = {}
    for mark in _MARK.finditer(_CODE.sub(" ", answer)):
        for piece in _RANGE.finditer(mark[1]):
            first, last = int(piece[1]), int(piece[2] or piece[1])
            if first <= last < first + _WIDEST_RANGE:
                found |= dict.fromkeys(range(first, last + 1))
    found.pop(0, None)
    return list(found)


@dataclass(frozen=True)
class Limits:
    """How far one question may go."""

    tool_calls: int = 12
    seconds: float = 180.0
    token_budget: int | None = None


@dataclass
class ToolCall:
    """One call of a tool. ``found`` counts results; None where that means nothing."""

    name: str
    arguments: dict[str, Any]
    found: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Words:
    """Some more of the answer."""

    text: str


@dataclass(frozen=True)
class Called:
    """A tool is called, and then (``done``) has answered."""

    call: ToolCall
    done: bool


Event = Words | Called
Show = Callable[[Event], None]

INTERRUPTED = "interrupted"
TIME_LIMIT = "time limit"


@dataclass
class Turn:
    """An answer with what it rests on.

    ``false_quotations`` are those that no document has word for word. ``stopped`` says why the answer is not whole
    (``interrupted``, ``time limit``), and is empty when it is.
    """

    question: str
    answer: str = ""
    citations: list[Source] = field(default_factory=list)
    unknown_citations: list[int] = field(default_factory=list)
    false_quotations: list[QuoteCheck] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def nothing_found(self) -> bool:
        """Whether tools were asked, none of them found anything, and so nothing is cited."""
        counted = [call for call in self.tool_calls if call.found is not None]
        return bool(counted) and not any(call.found for call in counted) and not self.citations

    def to_dict(self) -> dict[str, Any]:
        """Return the turn as JSON values."""
        return {**asdict(self), "citations": [source.to_dict() for source in self.citations]}
