"""Extract: what a document says about its own terms and places.

Clauses come first, because references lead to them; then definitions and references; then each chunk gets what it
contains, and its type: definition, requirement, reference or plain text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loccit.ingest.extract.clauses import extract_clauses
from loccit.ingest.extract.definitions import extract_definitions
from loccit.ingest.extract.items import extract_items
from loccit.ingest.extract.references import extract_references
from loccit.ingest.parse import Parsed
from loccit.model import Chunk, ChunkType, Definition, Place, Reference
from loccit.text.sentences import sentence_ends


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted from a document: all its places, definitions and references."""

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
    """Find the clauses below the headings, and definitions and references if wanted."""
    places = [*sections, *extract_clauses(parsed, sections)]
    places += extract_items(parsed, places, sections)
    return Extracted(
        places,
        extract_definitions(parsed, sections, source_path, language) if definitions else [],
        extract_references(parsed, places, language) if references else [],
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


def describe_chunks(chunks: Sequence[Chunk], extracted: Extracted, language: str) -> list[Chunk]:
    """Record in each chunk its clauses, references and defined terms, and its type."""
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
    """The number of characters in references; a list counts once, however many targets it has."""
    return sum(end - start for start, end in {(ref.start, ref.end) for ref in references})


# -- what a chunk is --------------------------------------------------------------------------------------------


# Verbs of duty, by language. A lookahead excludes definitions (`shall mean`) and conjectures (`must have
# been`).
_OBLIGATION = {
    "en": r"(?:shall|must)\b(?!\s+(?:mean|have\s+been|refer)\b|-)|"
    r"(?:is|are)\s+(?:required|obliged|obligated|prohibited)\b(?=\s+(?:to|from)\b)|(?:has|have)\s+(?:the\s+duty\s+to|to)\b|(?:may|can)\s+not\b|may\s+only\b",
    "de": r"muss|müssen|(?:ist|sind)\s+verpflichtet|(?:ist|sind)\s+(?:\w+\s+){0,8}zu\s+\w+en\b|"
    r"(?:hat|haben)\s+(?:\w+\s+){0,8}zu\s+\w+en\b|d(?:arf|ürfen)\s+(?:nicht|nur|kein\w*)",
    "fr": r"doi(?:t|vent)|(?:est|sont)\s+tenue?s?\s+de|ne\s+peu(?:t|vent)\s+(?:pas|que)",
    "es": r"debe(?:n|rá|rán)?|está(?:n)?\s+obligad[oa]s?|no\s+podrá(?:n)?",
    "it": r"dev(?:e|ono)|dovr(?:à|anno)|(?:è|sono)\s+tenut[oaie]",
    "pt": r"dev(?:e|em|erá|erão)|não\s+pode(?:m|rá|rão)?",
    "nl": r"moet(?:en)?|(?:is|zijn)\s+verplicht|mag\s+niet|mogen\s+niet",
}
_PATTERNS = {
    language: re.compile(rf"\b(?:{forms})", re.IGNORECASE) for language, forms in _OBLIGATION.items()
}
# The bearer precedes the verb, with no heavier punctuation than this between them.
_LIGHT = frozenset(",’'()-")
_QUOTED = re.compile(r"[\"“„«][^\"”“»]{0,300}[\"”“»]")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
# A chunk that consists mostly of pointers to other places is there to redirect.
_REFERENCE_SHARE = 0.5
_LONGEST_SENTENCE = 2000


def classify(
    text: str, language: str, *, only_heading: bool, defines: bool, reference_characters: int
) -> ChunkType:
    """Return the type of a chunk."""
    if only_heading:
        return ChunkType.HEADER
    if defines:
        return ChunkType.DEFINITION
    words = _HEADING.sub(" ", _CODE.sub(" ", text))
    if reference_characters > _REFERENCE_SHARE * max(1, len(words.strip())):
        return ChunkType.REFERENCE
    return ChunkType.REQUIREMENT if states_duty(words, language) else ChunkType.CONTENT


def duty_pattern(language: str) -> re.Pattern[str] | None:
    """Return the pattern for a language's verbs of duty, if known."""
    return _PATTERNS.get(language or "en")


def states_duty(text: str, language: str) -> bool:
    """Whether a sentence of the text states an obligation."""
    pattern = duty_pattern(language)
    if pattern is None:
        return False
    plain = _QUOTED.sub(" ", text)
    edges = [0, *sentence_ends(plain), len(plain)]
    for start, end in pairwise(edges):
        sentence = plain[start:end].strip()
        if not sentence.endswith("?") and _obliges(sentence[:_LONGEST_SENTENCE], pattern):
            return True
    return False


def _obliges(sentence: str, pattern: re.Pattern[str]) -> bool:
    """Whether a word precedes a verb of duty."""
    match = pattern.search(sentence)
    while match is not None:
        before = match.start() - 1
        while before >= 0 and (sentence[before] in _LIGHT or sentence[before].isspace()):
            before -= 1
        if before >= 0 and (sentence[before].isalnum() or sentence[before] == "_"):
            return True
        match = pattern.search(sentence, match.start() + 1)
    return False
