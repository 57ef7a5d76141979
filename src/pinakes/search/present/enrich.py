"""Enrich: candidates become results, with their places and the words that were asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

from pinakes.model import Definition, Elsewhere, Lines, Match, Place, SearchResult, chunk_id, line_of
from pinakes.port.rows import StoredChunk, StoredPlace
from pinakes.search.candidates import Candidate
from pinakes.search.links.define import term_key
from pinakes.search.links.reference_graph import ReferenceGraph
from pinakes.search.retrieve.bearing import Line
from pinakes.search.select.calibrate import Grounds
from pinakes.search.select.selector import Chosen

_CONTEXT = 90
_MAX_MATCHES = 50
_MAX_DEFINITIONS = 3
_LEGS = ("exact", "semantic", "keyword", "hybrid", "code", "expansion", "graph")


class PlaceReader(Protocol):
    """Knows how far sections go."""

    def place(self, document: int, ordinal: int) -> StoredPlace | None:
        """Return one place of a document."""
        ...


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What results are given besides what was found: the place or line that was meant, references, definitions."""

    meant: Mapping[int, Place]
    lines: Mapping[int, Line]
    references: ReferenceGraph
    definitions: Sequence[Definition]
    asked: Sequence[Definition] = ()
    """Those of the definitions that the query asks for, whoever gives them."""
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    # Of a document: from where in its text lines of its file are counted anew.
    line_starts: Callable[[int], Sequence[tuple[int, int]]] = lambda document: ()
    grounds: Mapping[int, Grounds] = field(default_factory=dict)
    places: PlaceReader | None = None
    doubtful: Collection[int] = ()
    """Documents that contradict the numbering found in them."""


def to_results(
    chosen: Chosen,
    phrases: Sequence[str],
    enrichment: Enrichment,
    *,
    explain: bool,
) -> list[SearchResult]:
    """Build the results, in the order of the candidates."""
    patterns = [PhrasePattern(phrase) for phrase in phrases]
    results: list[SearchResult] = []
    shown = [chosen.chunks[candidate.chunk] for candidate in chosen.candidates]
    references = enrichment.references.in_spans([(chunk.document, chunk.start, chunk.end) for chunk in shown])
    for candidate in chosen.candidates:
        chunk = chosen.chunks[candidate.chunk]
        starts = enrichment.line_starts(chunk.document) if patterns else ()
        matches = find_matches(chunk, patterns, starts)
        result = SearchResult(
            rank=len(results) + 1,
            chunk_id=chunk_id(chunk.source_path, chunk.chunk_index),
            content=chunk.content,
            fused_score=round(candidate.score, 6),
            source_path=chunk.source_path,
            parent_chain=list(chunk.parent_chain),
            section_id=chunk.section_id,
            semantic_score=_rounded(candidate.scores.get("semantic")),
            keyword_score=_rounded(candidate.scores.get("keyword")),
            exact_match=bool(candidate.reason) or bool(matches),
            definitions_context=_definitions(enrichment, chunk),
            heading=chunk.heading,
            section_label=chunk.section_label,
            chunk_type=chunk.chunk_type,
            matched_by=_found_by(candidate),
            lines=chunk.lines,
            pages=chunk.pages,
            cross_references=references[chunk.document, chunk.start, chunk.end],
            document_title=chunk.document_title,
            matches=matches,
            also_in=[_elsewhere(other) for other in chosen.also_in.get(candidate.chunk, ())],
            chunk_ids=list(chosen.members.get(candidate.chunk, ())),
            explanation=_explanation(candidate, chosen, enrichment) if explain else None,
            uncertain=chunk.document in enrichment.doubtful,
        )
        meant = enrichment.meant.get(candidate.chunk) if candidate.reason in ("section", "holder") else None
        line = enrichment.lines.get(candidate.chunk)
        if meant and meant.is_heading:
            result = _from_heading(result, chunk, meant)
        if meant and not meant.is_heading:
            result = _focus(result, chunk, meant)
        elif line and candidate.reason == "line":
            result = _from_line(result, line)
        elif enrichment.places is not None and not chunk.pages:
            result = replace(result, left_out=_left_out(chunk, enrichment.places))
        results.append(result)
    return _borrowed(enrichment.asked, results)


def _found_by(candidate: Candidate) -> list[str]:
    """Name the legs; the graph only where nothing else led there, for most results are next to others."""
    legs = sorted(candidate.ranks, key=_LEGS.index)
    return [leg for leg in legs if leg != "graph"] or legs


def _focus(result: SearchResult, chunk: StoredChunk, clause: Place) -> SearchResult:
    """Narrow a result to the clause that was asked for."""
    start = chunk.prefix + clause.start - chunk.start
    end = chunk.prefix + min(clause.end, chunk.end) - chunk.start
    inside = [ref for ref in result.cross_references if clause.start <= ref.start < clause.end]
    return replace(
        result,
        content=chunk.content[start:end].rstrip(),
        parent_chain=[*result.parent_chain, clause.label],
        section_id=clause.section_id,
        section_label=clause.label,
        lines=clause.lines,
        pages=clause.pages,
        cross_references=inside,
        matches=[],
    )


def _from_heading(result: SearchResult, chunk: StoredChunk, place: Place) -> SearchResult:
    """Leave out what stands before a heading that was asked for: an anchor, a tag, a line of the cover."""
    if not chunk.start < place.start < chunk.end:
        return result
    start = chunk.prefix + place.start - chunk.start
    lines = Lines(max(chunk.lines.first, place.lines.first), chunk.lines.last)
    return replace(result, content=chunk.content[start:], lines=lines, matches=[])


def _left_out(chunk: StoredChunk, places: PlaceReader) -> list[Lines]:
    """Return the lines of a chunk's section before and after what is shown of it."""
    found = places.place(chunk.document, chunk.section)
    if found is None or not chunk.section_id:
        return []
    whole, shown = found.place.lines, chunk.lines
    before, after = Lines(whole.first, shown.first - 1), Lines(shown.last + 1, whole.last)
    return [lines for lines in (before, after) if lines.first <= lines.last]


def _from_line(result: SearchResult, line: Line) -> SearchResult:
    """Narrow a result to the line that bears the number which was asked for, and what goes on from there."""
    shown = line.chunk.content[line.start : line.end].rstrip()
    return replace(result, content=shown, lines=line.lines, matches=[])


def _definitions(enrichment: Enrichment, chunk: StoredChunk) -> list[Definition]:
    """Choose what the query's terms mean in a document: what it says itself, or else one that it names."""
    own: dict[str, Definition] = {}
    others: dict[str, list[Definition]] = {}
    for definition in enrichment.definitions:
        key = term_key(definition.term)
        if definition.source_path == chunk.source_path:
            own.setdefault(key, definition)
        else:
            others.setdefault(key, []).append(definition)
    if missing := [key for key in others if key not in own]:
        named = enrichment.references.documents_named(chunk.document)
        for key in missing:
            theirs = [definition for definition in others[key] if definition.source_path in named]
            if len({definition.source_path for definition in theirs}) == 1:
                own[key] = theirs[0]
    return list(own.values())[:_MAX_DEFINITIONS]


def _borrowed(asked: Sequence[Definition], results: list[SearchResult]) -> list[SearchResult]:
    """Where no document that was found defines a term that is asked for, the first result names who does."""
    if not asked or not results or any(result.definitions_context for result in results):
        return results
    first = list({(item.source_path, item.term_normalized): item for item in asked}.values())
    return [replace(results[0], definitions_context=first[:_MAX_DEFINITIONS]), *results[1:]]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _elsewhere(chunk: StoredChunk) -> Elsewhere:
    return Elsewhere(
        chunk_id(chunk.source_path, chunk.chunk_index),
        chunk.source_path,
        chunk.section_label or chunk.heading,
        chunk.lines,
        chunk.pages,
    )


def _explanation(candidate: Candidate, chosen: Chosen, enrichment: Enrichment) -> dict[str, object]:
    explained: dict[str, object] = {
        "ranks": candidate.ranks,
        "scores": {name: round(score, 4) for name, score in candidate.scores.items()},
        "stages": {name: round(score, 4) for name, score in candidate.stages.items()},
        "exact": candidate.reason,
    }
    if candidate.chunk in enrichment.via:
        explained["edge"] = enrichment.via[candidate.chunk][0]
    if candidate.reason and candidate.chunk in enrichment.grounds:
        explained["grounds"] = asdict(enrichment.grounds[candidate.chunk])
    if candidate.chunk in chosen.reordered.relevance:
        explained["relevance"] = chosen.reordered.relevance[candidate.chunk]
    return explained


class PhrasePattern:
    """Matches the words of a phrase in order, whatever white space, markup or case is between and around them."""

    def __init__(self, phrase: str) -> None:
        words = re.findall(r"\w+", phrase)
        self._first = words[0].lower()
        self._pattern = re.compile(
            r"(?<!\w)" + r"[\W_]+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find every place; a search for the first word alone skips most of the text."""
        lower = text.lower()
        if len(lower) != len(text):
            yield from self._pattern.finditer(text)
            return
        at = lower.find(self._first)
        while at >= 0:
            match = self._pattern.match(text, at)
            if match:
                yield match
            at = lower.find(self._first, match.end() if match else at + 1)


def find_matches(
    chunk: StoredChunk, patterns: Sequence[PhrasePattern], line_starts: Sequence[tuple[int, int]] = ()
) -> list[Match]:
    """Return every place in a chunk where a phrase stands, with its line and what is around it."""
    matches = []
    for pattern in patterns:
        for match in pattern.finditer(chunk.content):
            start, end = match.span()
            low, high = max(0, start - _CONTEXT), min(len(chunk.content), end + _CONTEXT)
            context = " ".join(chunk.content[low:high].split())
            matches.append(Match(start, end, _line(chunk, start, line_starts), context))
            if len(matches) == _MAX_MATCHES:
                return matches
    return sorted(matches, key=lambda item: item.start)


def _line(chunk: StoredChunk, offset: int, line_starts: Sequence[tuple[int, int]]) -> int:
    """Return the line of the file on which an offset of the content falls."""
    if offset >= chunk.prefix:
        own = chunk.content[chunk.prefix :]
        lead = len(own) - len(own.lstrip())
        at = chunk.start + offset - chunk.prefix
        return line_of(line_starts, own[lead:], chunk.start + lead, chunk.lines.first, at)
    return chunk.lines.first - chunk.content[offset : chunk.prefix].count("\n")
