"""What a document says about its own words and places: definitions, references and links."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and what the document says it means."""

    source_path: str
    term: str
    term_normalized: str
    definition_text: str
    source_section: str
    exceptions: tuple[str, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def id(self) -> str:
        """Public id: ``{source_path}_def_{term_normalized}``."""
        return f"{self.source_path}_def_{self.term_normalized}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of another place, as written, and the section it means when that is known."""

    text: str
    start: int
    end: int
    target_section: str = ""
    target_chunk: str = ""
    reason: str = ""

    @property
    def resolved(self) -> bool:
        """Whether the place it means is known."""
        return bool(self.target_section)


@dataclass(frozen=True, slots=True)
class Link:
    """A Markdown or wiki link from one document to another."""

    target: str
    text: str
    kind: str
    start: int
    end: int
