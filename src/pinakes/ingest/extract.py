"""Extract: what a document says about its own words and places.

Clauses first, because references lead to them; then definitions and references; then each chunk is told what it holds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pinakes.ingest.classify import classify
from pinakes.ingest.clauses import extract_clauses
from pinakes.ingest.definitions import extract_definitions
from pinakes.ingest.parse import Parsed
from pinakes.ingest.references import extract_references
from pinakes.model import Chunk, ChunkType, Definition, Place, Reference


@dataclass(frozen=True, slots=True)
class Extracted:
    """The knowledge that was found in a document: all of its places, and what it says."""

    places: list[Place]
    definitions: list[Definition]
    references: list[Reference]

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
    """Find the clauses below some headings, and definitions and references where they are wanted."""
    places = [*sections, *extract_clauses(parsed, sections)]
    return Extracted(
        places,
        extract_definitions(parsed, sections, source_path, language) if definitions else [],
        extract_references(parsed, places, language) if references else [],
    )


def place_references(found: Extracted, chunks: Sequence[Chunk]) -> Extracted:
    """Note which chunk each reference inside the document leads to."""
    places = {place.section_id: place.start for place in found.places}
    starts = [chunk.start for chunk in chunks]

    def placed(reference: Reference) -> Reference:
        start = places.get(reference.target_section) if reference.target_section else None
        if start is None or not chunks:
            return reference
        return replace(reference, target_chunk=chunks[max(0, bisect_right(starts, start) - 1)].id)

    return replace(found, references=[placed(reference) for reference in found.references])


def describe_chunks(chunks: Sequence[Chunk], extracted: Extracted, language: str) -> list[Chunk]:
    """Tell each chunk which clauses and references it holds, what it defines, and what it mostly is."""
    clauses = [place for place in extracted.places if not place.is_heading]
    clause_starts = [clause.start for clause in clauses]
    definition_starts = [definition.start for definition in extracted.definitions]
    reference_starts = [reference.start for reference in extracted.references]
    described = []
    for chunk in chunks:
        definitions = extracted.definitions[_slice(definition_starts, chunk)]
        references = extracted.references[_slice(reference_starts, chunk)]
        term = definitions[0] if definitions else None
        described.append(
            replace(
                chunk,
                clauses=tuple(clause.section_id for clause in clauses[_slice(clause_starts, chunk)]),
                cross_references=tuple(
                    dict.fromkeys(ref.target_section for ref in references if ref.target_section)
                ),
                defined_term=term.term if term else "",
                defined_term_normalized=term.term_normalized if term else "",
                chunk_type=classify(
                    chunk.content,
                    language,
                    only_heading=chunk.chunk_type is ChunkType.HEADER,
                    defines=bool(definitions),
                    reference_characters=_covered(references),
                ),
            )
        )
    return described


def _slice(starts: Sequence[int], chunk: Chunk) -> slice:
    return slice(bisect_left(starts, chunk.start), bisect_left(starts, chunk.end))


def _covered(references: Sequence[Reference]) -> int:
    """How many characters are taken up by references; a list counts once, whatever it leads to."""
    return sum(end - start for start, end in {(ref.start, ref.end) for ref in references})
