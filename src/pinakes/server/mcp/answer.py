"""An answer of a tool: text for a model to read, and the same as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinakes.server.mcp.fit import Tokens

if TYPE_CHECKING:
    from pinakes.server.services import LibraryService


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says."""

    text: str
    data: dict[str, Any]


def tokens_of(service: LibraryService) -> Tokens:
    """Return what counts tokens as the library does."""
    return Tokens(service.ask(lambda library: library.tokenizer))
