"""What a document says about its own words and places: definitions, references and links."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.model.document import Lines, Pages, span


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and what the document says it means. Answers say in which lines and pages; the record has offsets.

    ``sure`` says how sure it is that this is a definition, from 0 to 1: its form may be a guess.
    """

    source_path: str
    term: str
    term_normalized: str
    definition_text: str
    source_section: str
    exceptions: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    lines: Lines | None = None
    pages: Pages | None = None
    sure: float = 1.0

    @property
    def location(self) -> str:
        """Where it stands, as a citation would say it: path, then pages or lines."""
        where = span(self.lines, self.pages, self.source_path)
        return f"{self.source_path}, {where}" if where else self.source_path

    @property
    def id(self) -> str:
        """Public id: ``{source_path}_def_{term_normalized}``."""
        return f"{self.source_path}_def_{self.term_normalized}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of a place: the words, where they stand, and the place they mean.

    ``kind`` is ``number``, ``relative``, ``named``, ``document``, ``link``, ``wiki`` or ``transclusion``.
    ``target_section`` is the id of the section or clause that is meant, ``target_path`` the document it stands in and
    ``target_chunk`` the chunk that holds it; all empty when that is not known. ``number_kind`` and ``number_key`` are
    the normalised label of number forms, ``document`` another document's name as written, and ``reason`` says in
    plain words what is not as written. ``sure`` says how sure it is that this place is meant, from 0 to 1; 0 when no
    place is known.
    """

    text: str
    start: int
    end: int
    kind: str
    target_section: str = ""
    number_kind: str = ""
    number_key: str = ""
    document: str = ""
    reason: str = ""
    target_path: str = ""
    target_chunk: str = ""
    sure: float = 0.0

    @property
    def resolved(self) -> bool:
        """Whether the place it means is known."""
        return bool(self.target_section or self.target_chunk)


@dataclass(frozen=True, slots=True)
class Link:
    """A Markdown or wiki link from one document to another."""

    target: str
    text: str
    kind: str
    start: int
    end: int
