"""What reading a document brings out: its places, its chunks, and what it says about its own words and places."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from loccit.model.document import Document, Lines, Pages, span
from loccit.model.obligation import Obligation


@dataclass(frozen=True, slots=True)
class Place:
    """A heading or a clause, with everything below it.

    Place 0 is the document itself: level 0, no heading. A heading begins a section, up to the next heading of its
    level; chunks are cut along them. A clause is a numbered part below a heading, such as ``(b)(2)`` of Section 403.
    The parent of a heading is a heading, that of a clause a heading or a clause. Headings are numbered first, in the
    order of the text, and then clauses, so that what goes by headings alone need not count clauses.

    ``section`` is the heading that a place stands under; a heading's is itself. ``start`` to ``end`` spans the whole
    subtree in the document's text; ``body`` is where the words after the heading or marker begin. ``label`` is what one
    would cite: as printed in a heading, in full for a clause; ``number`` and ``section_id`` are the same normalised.
    A heading has a ``heading``, ``title`` and ``path``, a clause a ``marker``. ``section_id`` is unique in a document,
    ``place_id`` in the library; a place gets that one when it is stored.
    """

    ordinal: int
    parent: int | None
    section: int
    level: int
    start: int
    body: int
    end: int
    lines: Lines
    heading: str = ""
    marker: str = ""
    label: str = ""
    title: str = ""
    kind: str = ""
    number: tuple[str, ...] = ()
    section_id: str = ""
    path: tuple[str, ...] = ()
    pages: Pages | None = None
    place_id: str = ""

    @property
    def is_heading(self) -> bool:
        """Whether it begins a section, as the document itself does; else it is a clause."""
        return self.section == self.ordinal

    @property
    def name(self) -> str:
        """What it is called: its label, or else its heading."""
        return self.label or self.heading


class ChunkType(str, Enum):
    """What a chunk mostly is."""

    CONTENT = "content"
    DEFINITION = "definition"
    REQUIREMENT = "requirement"
    REFERENCE = "reference"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a chunk small enough for the embedding model to read whole.

    ``start`` and ``end`` are offsets into the chunk's content; ``text_hash`` names the exact text that is
    embedded (context and window), so that equal texts share one vector.
    """

    start: int
    end: int
    text_hash: str = ""


def chunk_id(source_path: str, index: int) -> str:
    """Return the public id of a chunk."""
    return f"{source_path}_chunk_{index}"


def chunk_number(public_id: str) -> int | None:
    """Return the index in a chunk's public id, or None when there is none."""
    number = public_id.rpartition("_chunk_")[2]
    return int(number) if number.isdigit() else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section.

    ``start`` to ``end`` is its own part of the document's text; these spans tile the document without gap or
    overlap. ``content`` is what is shown: that part, preceded by ``prefix`` characters that are repeated from
    before it (overlap with the chunk before, or the header row of a split table). ``clauses`` and
    ``cross_references`` are the section ids of the clauses it holds and of the places it refers to.
    """

    source_path: str
    chunk_index: int
    content: str
    start: int
    end: int
    lines: Lines
    section: int
    prefix: int = 0
    parent_chain: tuple[str, ...] = ()
    section_id: str = ""
    section_label: str = ""
    heading: str = ""
    heading_level: int = 0
    chunk_type: ChunkType = ChunkType.CONTENT
    pages: Pages | None = None
    tokens: int = 0
    context: str = ""
    clauses: tuple[str, ...] = ()
    cross_references: tuple[str, ...] = ()
    defined_term: str = ""
    defined_term_normalized: str = ""
    passages: tuple[Passage, ...] = ()

    @property
    def id(self) -> str:
        """Public id: ``{source_path}_chunk_{index}``."""
        return chunk_id(self.source_path, self.chunk_index)

    @property
    def contextualized_content(self) -> str:
        """The text that is searched: structural context, then content."""
        return f"{self.context}\n\n{self.content}" if self.context else self.content


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and what the document says it means. Answers say in which lines and pages; the record has offsets.

    ``id`` is ``{source_path}_def_{term_normalized}``. ``sure`` says how sure it is that this is a definition, from 0 to
    1: its form may be a guess. ``goes_on`` says that its text announces more, which stands below it in the document.
    """

    id: str = field(init=False)
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
    place_id: str = ""
    goes_on: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"{self.source_path}_def_{self.term_normalized}")
        object.__setattr__(self, "goes_on", self.definition_text.rstrip().endswith((":", "—", "–")))

    @property
    def location(self) -> str:
        """Its place, as in a citation: path, then pages or lines."""
        where = span(self.lines, self.pages, self.source_path)
        return f"{self.source_path}, {where}" if where else self.source_path


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of a place: the words, where they stand, and the place they mean.

    ``kind`` is ``number``, ``relative``, ``named``, ``document``, ``link``, ``wiki`` or ``transclusion``.
    ``target_section`` is the id of the section or clause that is meant, ``target_path`` the document it stands in,
    ``target_chunk`` the chunk that holds it and ``target_place_id`` its id in the library; all empty when that is not
    known. ``number_kind`` and ``number_key`` are
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
    target_place_id: str = ""

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


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What the stages before the store hand over, whole."""

    document: Document
    places: tuple[Place, ...]
    chunks: tuple[Chunk, ...]
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    links: tuple[Link, ...] = ()
    obligations: tuple[Obligation, ...] = ()
