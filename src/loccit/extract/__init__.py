"""Extract: what a document says about its own terms, places and duties.

Clauses come first, because references lead to them; then definitions, references and obligations; then each chunk gets
what it contains, and its type: definition, requirement, reference or plain text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from loccit.extract.definitions import extract_definitions
from loccit.extract.obligations import extract_obligations
from loccit.extract.references import extract_references
from loccit.model import Chunk, ChunkType, Definition, Place, Reference
from loccit.model.obligation import Obligation
from loccit.structure import Parsed
from loccit.structure.clauses import extract_clauses
from loccit.structure.items import extract_items

# A chunk that consists mostly of pointers to other places is there to redirect.
_REFERENCE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from a document: all its places, definitions, references and obligations."""

    places: Sequence[Place]
    definitions: Sequence[Definition]
    references: Sequence[Reference]
    obligations: Sequence[Obligation]

    @property
    def warnings(self) -> list[str]:
        """What a reader should know about the document's numbering."""
        repeated = sum("__" in place.section_id for place in self.places if not place.is_heading)
        return (
            [f"the numbering repeats itself: {repeated} clauses share their label with another"]
            if repeated
            else []
        )


def extract(
    parsed: Parsed,
    sections: Sequence[Place],
    source_path: str,
    language: str,
    *,
    definitions: bool,
    references: bool,
) -> Extracted:
    """Find the clauses below the headings, obligations, and definitions and references if wanted."""
    places = [*sections, *extract_clauses(parsed, sections)]
    items = extract_items(parsed, places, sections)
    places += items
    if items:
        places += extract_clauses(parsed, items, places)
    return Extracted(
        places,
        extract_definitions(parsed, sections, source_path, language) if definitions else [],
        extract_references(parsed, places, source_path) if references else [],
        extract_obligations(source_path, parsed.text, parsed.body_start, places, language, parsed.position),
    )


def place_references(found: Extracted, chunks: Sequence[Chunk]) -> Extracted:
    """Record which chunk each reference within the document leads to."""
    places = {place.section_id: place.start for place in found.places}
    starts = [chunk.start for chunk in chunks]

    def placed(reference: Reference) -> Reference:
        start = places.get(reference.target_section) if reference.target_section else None
        if start is None or not chunks:
            return reference
        return replace(reference, target_chunk=chunks[max(0, bisect_right(starts, start) - 1)].id)

    return replace(found, references=[placed(reference) for reference in found.references])


def describe_chunks(chunks: Sequence[Chunk], extracted: Extracted) -> list[Chunk]:
    """Record in each chunk its clauses, references and defined terms, and its type."""
    clauses = [place for place in extracted.places if not place.is_heading]
    found = (clauses, extracted.definitions, extracted.references, extracted.obligations)
    starts = [[one.start for one in kind] for kind in found]

    def described(chunk: Chunk) -> Chunk:
        parts = [slice(bisect_left(kind, chunk.start), bisect_left(kind, chunk.end)) for kind in starts]
        references = extracted.references[parts[2]]
        term = next(iter(extracted.definitions[parts[1]]), None)
        # A list of references counts once, however many targets it has.
        covered = sum(end - start for start, end in {(ref.start, ref.end) for ref in references})
        below = sum(len(line) for line in chunk.content.splitlines() if not line.startswith("#"))
        kind = ChunkType.CONTENT
        if chunk.chunk_type is ChunkType.HEADER:
            kind = ChunkType.HEADER
        elif term:
            kind = ChunkType.DEFINITION
        elif covered > _REFERENCE_SHARE * max(1, below):
            kind = ChunkType.REFERENCE
        elif any(one.kind in ("duty", "prohibition") for one in extracted.obligations[parts[3]]):
            kind = ChunkType.REQUIREMENT
        return replace(
            chunk,
            clauses=tuple(clause.section_id for clause in clauses[parts[0]]),
            cross_references=tuple(
                dict.fromkeys(ref.target_section for ref in references if ref.target_section)
            ),
            defined_term=term.term if term else "",
            defined_term_normalized=term.term_normalized if term else "",
            chunk_type=kind,
        )

    return [described(chunk) for chunk in chunks]
