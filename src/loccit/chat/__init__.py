"""A conversation with a model that holds document tools, answers from what they find, and cites it."""

from loccit.chat.session import Session, open_session
from loccit.chat.turn import Called, Event, Limits, Source, Sources, ToolCall, Turn, Words

__all__ = [
    "Called",
    "Event",
    "Limits",
    "Session",
    "Source",
    "Sources",
    "ToolCall",
    "Turn",
    "Words",
    "open_session",
]
