"""What a library shows besides search results: documents, outlines, sections, terms, references, its own state."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from loccit.model.document import Lines, Pages, SelfCheck, line_word, span
from loccit.model.parsed import Definition, Reference
from loccit.model.report import Failure


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as a list shows it; ``mtime`` is ``modified`` as the file system has it, in seconds since 1970."""

    source_path: str
    title: str
    file_type: str
    language: str
    doc_summary: str
    total_chunks: int
    pages: int
    size: int
    modified: str
    ingested_at: str
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    self_check: SelfCheck = field(default_factory=SelfCheck)
    mtime: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class OutlineNode:
    """A heading in the tree of a document."""

    heading: str
    label: str
    section_id: str
    level: int
    lines: Lines
    pages: Pages | None = None
    children: list[OutlineNode] = field(default_factory=list)
    place_id: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The tree of one document."""

    source_path: str
    title: str
    nodes: list[OutlineNode]
    self_check: SelfCheck = field(default_factory=SelfCheck)
    place_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the outline as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line that begins with a number that was asked for, and how it begins."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SectionView:
    """One section with its text, as it stands in its document.

    ``exact`` is false when the reference names a part of this section that is no place of its own; ``numbered_lines``
    are then the lines of it that begin with the number of that part. Where only some lines of it were asked for,
    ``lines`` are these and ``whole_lines`` all of it. ``lead_in`` is the sentence that an item of a list continues.
    ``alternatives`` are other sections that the same reference fits, as ``path#section_id``. ``from_image`` says that
    some page of it was read from an image, ``uncertain`` that the document contradicts the numbering found in it.
    """

    source_path: str
    document_title: str
    section_id: str
    section_label: str
    heading: str
    heading_level: int
    parent_chain: list[str]
    text: str
    lines: Lines
    pages: Pages | None = None
    children: list[OutlineNode] = field(default_factory=list)
    chunk_ids: list[str] = field(default_factory=list)
    exact: bool = True
    alternatives: list[str] = field(default_factory=list)
    from_image: bool = False
    uncertain: bool = False
    place_id: str = ""
    whole_lines: Lines | None = None
    numbered_lines: list[NumberedLine] = field(default_factory=list)
    lead_in: str = ""

    @property
    def location(self) -> str:
        """Its place, as in a citation: path, then pages or lines."""
        where = span(self.lines, self.pages, self.source_path)
        return f"{' > '.join(self.parent_chain) or self.document_title}, {where}"

    @property
    def doubt(self) -> str:
        """What is not sure about it: that this is the place asked for; "" if nothing is."""
        if self.exact:
            return ""
        if not self.numbered_lines:
            return "No line of this section was found to begin with the number that was asked for."
        word, several = line_word(self.source_path), len(self.numbered_lines) > 1
        # The lines of what was read from pages are not those of the file.
        lines = (
            f"“{item.text}”" if self.pages else f"{word} {item.line} (“{item.text}”)"
            for item in self.numbered_lines
        )
        return (
            "What was asked for is not known as a place of its own, but its number begins "
            f"{'these lines' if several else 'a line'} of this section: {'; '.join(lines)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CitedSection:
    """A place that a section refers to, in the words of the reference; ``reason`` says why there is no section."""

    text: str
    section: SectionView | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MissingPlace:
    """A reference of a list that leads nowhere, and why."""

    reference: str
    reason: str


@dataclass(frozen=True, slots=True)
class SectionsResponse:
    """Sections that were asked for together, what they refer to, if that was asked for too, and what is not there."""

    sections: list[SectionView]
    cited: list[CitedSection] = field(default_factory=list)
    missing: list[MissingPlace] = field(default_factory=list)

    @property
    def single(self) -> bool:
        """Whether there is one section and nothing besides."""
        return len(self.sections) == 1 and not self.cited and not self.missing

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index.

    ``database`` names the one that holds the library, and is empty where the folder holds all of it;
    ``unpublished_passages`` are not there yet. ``scanned_documents`` have pages that were read from images;
    ``doubtful`` are documents that contradict the places found in them. ``unspoken`` says which documents are in a
    language that the embedding model does not cover, and what helps; ``lost`` what the library has lost, and what
    was taken out of it because it was damaged.
    """

    path: str
    documents: int
    chunks: int
    passages: int
    pending_passages: int
    languages: dict[str, int]
    file_types: dict[str, int]
    failures: list[Failure]
    roots: list[str]
    model: str
    dimension: int
    size_bytes: int
    updated_at: str
    generation: int
    settings: dict[str, Any]
    writer: str = ""
    database: str = ""
    unpublished_passages: int = 0
    scanned_documents: int = 0
    doubtful: list[str] = field(default_factory=list)
    unspoken: str = ""
    lost: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the doctor looked at. ``repaired`` says what was done about it, ``left`` what is still to do."""

    name: str
    ok: bool
    detail: str = ""
    repaired: str = ""
    left: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Everything the doctor looked at."""

    checks: list[Check]

    @property
    def out_of_room(self) -> bool:
        """Whether the disk is too full for repairs."""
        return any(check.name == "disk" and not check.ok for check in self.checks)

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong that was not put right."""
        return all(check.ok or check.repaired for check in self.checks)

    @property
    def left(self) -> str:
        """What is still to do although nothing is wrong any more, or ""."""
        return next((check.left for check in self.checks if check.left), "")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {"healthy": self.healthy, "checks": [asdict(check) for check in self.checks]}


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
    """A reference with the place it stands in: ``words`` are those around it, ``target`` is called what it leads to."""

    source_path: str
    document_title: str
    section_label: str
    heading: str
    line: int
    reference: Reference
    place_id: str = ""
    words: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class ReferencesResponse:
    """What a section refers to, and what refers to it; ``around`` has what refers to the chapters that hold it.

    A citation of a section is a spot in the text outside it that refers to it or to a part of it: Article 6(1)(f) for
    Article 6 too. ``cited_by`` has each once, and ``citations`` is their number. What other documents say of its
    document as a whole is none of them: ``document_citations`` counts that, and ``document_cited_by`` has it if the
    section is the document, or the title above all of its text.

    Where several were asked for, this is of the first, ``also`` of the others, and ``missing`` what was not found.
    """

    section: SectionView
    cites: list[Citation]
    cited_by: list[Citation]
    around: list[Citation] = field(default_factory=list)
    document_cited_by: list[Citation] = field(default_factory=list)
    document_citations: int = 0
    also: list[ReferencesResponse] = field(default_factory=list)
    missing: list[MissingPlace] = field(default_factory=list)

    @property
    def citations(self) -> int:
        """The number of citations of the section, and of its parts from outside it."""
        return len(self.cited_by)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values; those of one section do not speak of others."""
        values = {**asdict(replace(self, also=[])), "citations": self.citations}
        values["also"] = [item.to_dict() for item in self.also]
        return {name: value for name, value in values.items() if value or name not in ("also", "missing")}
