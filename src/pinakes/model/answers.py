"""Answers to questions other than a search: what a term means, what a section cites and what cites it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from pinakes.model.knowledge import Definition, Reference
from pinakes.model.views import SectionView


@dataclass(frozen=True, slots=True)
class TermDefinition:
    """One definition of a term, with the document that gives it and those that give another."""

    definition: Definition
    document_title: str
    conflicts_with: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DefineResponse:
    """What the documents say a term means; ``near`` offers terms that are spelled alike."""

    term: str
    definitions: list[TermDefinition]
    near: list[str] = field(default_factory=list)

    @property
    def conflict(self) -> bool:
        """Whether documents define the term differently."""
        return any(item.conflicts_with for item in self.definitions)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {**asdict(self), "conflict": self.conflict}


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference with the place it stands in."""

    source_path: str
    document_title: str
    section_label: str
    heading: str
    line: int
    reference: Reference


@dataclass(frozen=True, slots=True)
class ReferencesResponse:
    """What a section refers to, and what refers to it."""

    section: SectionView
    cites: list[Citation]
    cited_by: list[Citation]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return asdict(self)
