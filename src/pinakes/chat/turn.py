"""What happens between a question and the end of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from pinakes.chat.sources import Source


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

    ``stopped`` says why the answer is not whole (``interrupted``, ``time limit``), and is empty when it is.
    """

    question: str
    answer: str = ""
    citations: list[Source] = field(default_factory=list)
    unknown_citations: list[int] = field(default_factory=list)
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
