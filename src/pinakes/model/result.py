"""What a search answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from pinakes.model.document import READ_FROM_IMAGE, Cells, Lines, Pages, span
from pinakes.model.parsed import Definition, Reference
from pinakes.model.place_ids import with_place_id
from pinakes.model.quoting import Quotation


@dataclass(frozen=True, slots=True)
class Match:
    """One place in a result's content that the query names literally; offsets into ``content``."""

    start: int
    end: int
    line: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another place where the text of a result stands."""

    chunk_id: str
    source_path: str
    section: str
    lines: Lines | None = None
    pages: Pages | None = None
    place_id: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that was found, and exactly where it stands.

    ``from_image`` says that a page it stands on was read from an image, so that letters may be wrong.
    ``uncertain``: its document contradicts the numbering that was found in it, so that it is cited by lines and pages.
    """

    rank: int
    chunk_id: str
    content: str
    fused_score: float
    source_path: str
    parent_chain: list[str]
    section_id: str
    semantic_score: float | None = None
    keyword_score: float | None = None
    exact_match: bool = False
    definitions_context: list[Definition] = field(default_factory=list)
    heading: str = ""
    section_label: str = ""
    chunk_type: str = "content"
    matched_by: list[str] = field(default_factory=list)
    lines: Lines | None = None
    pages: Pages | None = None
    cross_references: list[Reference] = field(default_factory=list)
    document_title: str = ""
    matches: list[Match] = field(default_factory=list)
    also_in: list[Elsewhere] = field(default_factory=list)
    chunk_ids: list[str] = field(default_factory=list)
    left_out: list[Lines] = field(default_factory=list)
    """Lines of the section that the content does not show."""
    explanation: dict[str, Any] | None = None
    from_image: bool = False
    uncertain: bool = False
    cells: Cells | None = None
    """The cells of a notebook."""
    place_id: str = ""
    """The id of its section or clause, by which it can be read."""

    @property
    def location(self) -> str:
        """Where it stands, as a citation would say it: path, then pages or lines."""
        chain = "" if self.uncertain else " > ".join(self.parent_chain)
        chain = chain or self.document_title
        where = span(self.lines, self.pages, self.source_path, self.cells)
        return f"{chain}, {where}" if where else chain

    def format(self) -> str:
        """Return the result as text for a model to read and cite."""
        head = [f"[{self.rank}] {self.source_path}", f"Location: {self.location}"]
        if self.section_label or self.section_id:
            doubt = (
                " (uncertain: the document contradicts this numbering; cite by lines)"
                if self.uncertain
                else ""
            )
            name = with_place_id(self.section_label, self.place_id) or self.section_id
            head.append(f"Section: {name}{doubt}")
        head.append(f"Score: {self.fused_score:.3f} (found by {', '.join(self.matched_by) or 'none'})")
        if self.from_image:
            head.append(READ_FROM_IMAGE)
        if self.left_out:
            lines = ", ".join(span(lines, None, self.source_path) for lines in self.left_out)
            head.append(f"Not shown of this section: {lines}")
        if self.also_in:
            places = "; ".join(f"{place.source_path} {place.section}".strip() for place in self.also_in)
            head.append(f"Also in: {places}")
        tail = [
            f"- {entry.term}: {entry.definition_text}"
            + (f" (from {entry.location})" if entry.source_path != self.source_path else "")
            for entry in self.definitions_context
        ]
        if tail:
            tail.insert(0, "Defined terms of the query:")
        return "\n".join([*head, "", self.content.strip(), *([""] if tail else []), *tail])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        data = asdict(self)
        data["location"] = self.location
        if self.explanation is None:
            del data["explanation"]
        return data


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one query."""

    query: str
    mode: str
    results: list[SearchResult]
    confidence: float
    note: str = ""
    term_conflicts: dict[str, list[str]] = field(default_factory=dict)
    """Terms of the query that documents among the results define differently, with the titles of these."""
    compression_stats: dict[str, int] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    truncated: bool = False
    total_matches: int | None = None
    """How many passages hold what is quoted in the query; None where nothing is."""
    considered: int = 0
    """Passages that were found in any way, of which these are the best. How many answer a query nobody can count."""
    offset: int = 0
    more: bool = False
    """Whether there are results after these."""
    explanation: dict[str, Any] | None = None

    @property
    def next_offset(self) -> int | None:
        """The ``offset`` with which the same query goes on; None at the end."""
        on = self.results and (self.more or self.truncated)
        return self.offset + len(self.results) if on else None

    def to_dict(self) -> dict[str, Any]:
        """Return the response as JSON values."""
        data: dict[str, Any] = {
            "query": self.query,
            "mode": self.mode,
            "confidence": self.confidence,
            "note": self.note,
            "term_conflicts": self.term_conflicts,
            "results": [result.to_dict() for result in self.results],
            "compression_stats": self.compression_stats,
            "timings_ms": self.timings_ms,
            "truncated": self.truncated,
            "considered": self.considered,
            "offset": self.offset,
            "next_offset": self.next_offset,
        }
        if self.total_matches is not None:
            data["total_matches"] = self.total_matches
        if self.explanation is not None:
            data["explanation"] = self.explanation
        return data

    def format(self) -> str:
        """Return the whole answer as text for a model to read and cite; what documents say stands between marks."""
        before, blocks, after = self.format_parts()
        return "\n\n".join(part for part in (before, *blocks, after) if part)

    def format_parts(self) -> tuple[str, list[str], str]:
        """Return :meth:`format` in parts: what stands before the results, each result, and what stands after."""
        texts = [result.format() for result in self.results]
        first = self.results[0].chunk_id if self.results else ""
        quotation = Quotation.around([*texts, self.note], seed=f"{self.query}\0{first}")
        count = len(texts)
        if not count and self.truncated:
            return "No result fits into the token budget. Ask again with a larger one.", [], ""
        head = f"{self.counted}, confidence {self.confidence:.2f}." if count else "No results."
        lines = [f"{head} {quotation.notice}" if texts or self.note else head]
        if self.note:
            # Notes may repeat names and values from documents.
            lines.append(f"Note: {quotation.inline(self.note)}")
        cut = "Cut to fit the token budget: there is more than is shown." if self.truncated else ""
        if self.next_offset is not None:
            cut += f"{' ' if cut else ''}Go on with offset {self.next_offset}."
        return "\n".join(lines), [quotation.block(text) for text in texts], cut

    @property
    def counted(self) -> str:
        """How many results these are: ``5 of 130 results`` where the query is a quotation, of which all are counted."""
        count = len(self.results)
        every = self.total_matches if self.total_matches == self.considered else None
        if every is not None and every > count:
            first = f" from {self.offset + 1} on" if self.offset else ""
            return f"{count} of {every:,} results{first}"
        return f"{count} result{'' if count == 1 else 's'}"
