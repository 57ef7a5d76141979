"""Enrich: candidates become results, with their places, definitions and matched words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry
from loccit.index.port.records import Readings, Records, StoredChunk
from loccit.model import Definition, Elsewhere, Lines, Match, Place, SearchResult, chunk_id, line_of
from loccit.model.document import CELLS, cells_of, holds_any
from loccit.search.candidates import EXACT, GRAPH, HYBRID, KEYWORD, SEMANTIC, Candidate
from loccit.search.place_evidence import PlaceEvidence
from loccit.search.present.lead_in import lead_in
from loccit.search.present.respond import explain_candidate
from loccit.search.resolve.define import term_key
from loccit.search.resolve.numbered_lines import Line
from loccit.search.resolve.reference_graph import ReferenceGraph
from loccit.search.select.selector import Chosen
from loccit.search.select.snippets.evidence import unit_spans
from loccit.search.select.wording import says_more_than

# Of these, more is shown than a heading with few letters, up to so many.
_PLACES = ("section", "title", "document")
_LITTLE, _MORE = 30, 800


def located(definitions: Sequence[Definition], index: SearchIndex) -> list[Definition]:
    """Return definitions with their places; without, if the document was removed meanwhile."""
    entries = index.names.at({definition.source_path for definition in definitions})
    ids = index.lookup.place_ids({(one.source_path, one.source_section) for one in definitions})
    return [
        replace(
            _located(definition, entries.get(definition.source_path), index.reading),
            place_id=ids.get((definition.source_path, definition.source_section), ""),
        )
        for definition in definitions
    ]


def locate_definitions(results: list[SearchResult], index: SearchIndex) -> list[SearchResult]:
    """Return results whose definitions have their places."""
    # Several results share definitions.
    shown = list(dict.fromkeys(entry for result in results for entry in result.definitions_context))
    if not shown:
        return results
    places = dict(zip(shown, located(shown, index), strict=True))
    return [
        replace(result, definitions_context=[places[entry] for entry in result.definitions_context])
        for result in results
    ]


def _located(definition: Definition, entry: Entry | None, lookup: Readings) -> Definition:
    if entry is None:
        return definition
    lines, pages = lookup.place(entry.id, definition.start, definition.end)
    return replace(definition, lines=lines, pages=pages)


# -- what was noted about a document when it was read: scanned pages, notebook cells --------------------------


def mark_images(results: Sequence[SearchResult], lookup: Records) -> list[SearchResult]:
    """Return results with ``from_image`` set where it applies."""
    paged = {result.source_path for result in results if result.pages}
    scanned = lookup.image_pages(paged) if paged else {}
    return [
        replace(result, from_image=True)
        if holds_any(scanned.get(result.source_path), result.pages)
        else result
        for result in results
    ]


def name_cells(results: Sequence[SearchResult], lookup: Records) -> list[SearchResult]:
    """Return results with ``cells`` set for notebooks."""
    notebooks = {result.source_path for result in results if result.source_path.endswith(".ipynb")}
    known = lookup.noted(notebooks, CELLS) if notebooks else {}
    return [
        replace(result, cells=cells_of(known[result.source_path], result.lines))
        if result.source_path in known
        else result
        for result in results
    ]


# -- enrich: candidates become results, with their places and matched words ----------------------------------


_CONTEXT = 90
_MAX_MATCHES = 50
_MAX_DEFINITIONS = 3
# The order in which the legs that led to a result are named; others follow as they ran.
_FIRST = {name: place for place, name in enumerate((EXACT, SEMANTIC, KEYWORD, HYBRID))}


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What results get besides their text: the place or line that was meant, references, definitions."""

    meant: Mapping[int, Place]
    lines: Mapping[int, Line]
    references: ReferenceGraph
    definitions: Sequence[Definition]
    asked: Sequence[Definition] = ()
    """Definitions that the query asks for, from whichever document."""
    via: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    # By document: where in its text the numbering of lines restarts.
    line_starts: Callable[[int], Sequence[tuple[int, int]]] = lambda document: ()
    grounds: Mapping[int, PlaceEvidence] = field(default_factory=dict)
    places: Records | None = None
    named: Sequence[str] = ()
    """The words by which the query names something."""
    doubtful: Collection[int] = ()
    """Documents whose text contradicts the numbering found in them."""
    hidden: Collection[int] = ()
    """Chunks with what the query excludes."""


def to_results(
    chosen: Chosen,
    phrases: Sequence[str],
    enrichment: Enrichment,
    *,
    explain: bool,
) -> list[SearchResult]:
    """Build the results, in the order of the candidates."""
    patterns = [PhrasePattern(phrase) for phrase in phrases]
    # Only what is named has to be compared, which few queries do.
    named = any(EXACT in candidate.ranks for candidate in chosen.candidates)
    written = [PhrasePattern(words) for words in enrichment.named if named and re.search(r"\w", words)]
    results: list[SearchResult] = []
    meant = {
        candidate.chunk: enrichment.meant[candidate.chunk]
        for candidate in chosen.candidates
        if candidate.reason in _PLACES and candidate.chunk in enrichment.meant
    }
    shown = [
        _with_substance(chosen.chunks[candidate.chunk], meant.get(candidate.chunk), enrichment)
        for candidate in chosen.candidates
    ]
    references = enrichment.references.in_spans([(chunk.document, chunk.start, chunk.end) for chunk in shown])
    sections = _sections(shown, enrichment.places)
    for candidate, chunk in zip(chosen.candidates, shown, strict=True):
        starts = enrichment.line_starts(chunk.document) if patterns else ()
        matches = find_matches(chunk, patterns, starts)
        place = meant.get(candidate.chunk)
        line = enrichment.lines.get(candidate.chunk) if candidate.reason == "line" else None
        clause = place if place and not place.is_heading else None
        result = SearchResult(
            rank=len(results) + 1,
            chunk_id=chunk_id(chunk.source_path, chunk.chunk_index),
            content=chunk.content,
            fused_score=round(candidate.score, 6),
            source_path=chunk.source_path,
            parent_chain=list(chunk.parent_chain),
            section_id=chunk.section_id,
            semantic_score=_rounded(candidate.scores.get(SEMANTIC)),
            keyword_score=_rounded(candidate.scores.get(KEYWORD)),
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
            left_out=[] if clause or line or chunk.pages else _left_out(chunk, sections),
            place_id=chunk.place_id,
        )
        if clause:
            result = _introduced(_focus(result, chunk, clause), chunk.document, clause, enrichment.places)
        elif place:
            result = _from_heading(result, chunk, place)
        elif line:
            result = _from_line(result, line)
        if result.matches or (EXACT in candidate.ranks and _has_words(result, written)):
            result = replace(result, as_written=True)
        results.append(result)
    return _borrowed(enrichment.asked, results)


def _has_words(result: SearchResult, written: Sequence[PhrasePattern]) -> bool:
    """Whether the text of a result, or the names of its place, have words that the query names something with."""
    texts = (result.content, *result.parent_chain, result.document_title)
    return any(next(pattern.finditer(text), None) for pattern in written for text in texts)


def _found_by(candidate: Candidate) -> list[str]:
    """Name the legs; the graph only if nothing else led there, since most results are next to others."""
    legs = sorted(candidate.ranks, key=lambda leg: _FIRST.get(leg, len(_FIRST)))
    return [leg for leg in legs if leg != GRAPH] or legs


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
        place_id=clause.place_id,
        lines=clause.lines,
        pages=clause.pages,
        cross_references=inside,
        matches=[],
    )


def _introduced(result: SearchResult, document: int, clause: Place, records: Records | None) -> SearchResult:
    """Add to an item of a list the text that introduces it."""
    if records is None:
        return result
    return replace(result, lead_in=lead_in(records, document, clause, records.places_of_document(document)))


def _with_substance(chunk: StoredChunk, place: Place | None, enrichment: Enrichment) -> StoredChunk:
    """Add what follows a heading of which the chunk has little more than a tag line, to the end of a sentence."""
    end, texts = min(place.end, chunk.end + _MORE) if place else 0, enrichment.places
    if end <= chunk.end or texts is None or place is None or says_more_than(_LITTLE, chunk.content):
        return chunk
    if set(enrichment.hidden).intersection(texts.chunk_ids_between(chunk.document, chunk.end, end)):
        return chunk
    text = texts.document_text(chunk.document, chunk.start, end)
    spans = unit_spans(text) if end < place.end else ()
    text = text[: spans[-2][1] if len(spans) > 1 else len(text)].rstrip()
    if len(text) <= len(chunk.content) - chunk.prefix:
        return chunk
    lines = Lines(chunk.lines.first, chunk.lines.first + text.lstrip().count("\n"))
    content = chunk.content[: chunk.prefix] + text
    return replace(chunk, content=content, end=chunk.start + len(text), lines=lines)


def _from_heading(result: SearchResult, chunk: StoredChunk, place: Place) -> SearchResult:
    """Drop what precedes a heading that was asked for: an anchor, a tag, a line of the cover."""
    if not chunk.start < place.start < chunk.end:
        return result
    start = chunk.prefix + place.start - chunk.start
    lines = Lines(max(chunk.lines.first, place.lines.first), chunk.lines.last)
    return replace(result, content=chunk.content[start:], lines=lines, matches=[])


def _sections(chunks: Sequence[StoredChunk], places: Records | None) -> dict[tuple[int, int], Place]:
    """Return the sections of chunks whose file has line numbers, by document and number."""
    wanted = {(chunk.document, chunk.section) for chunk in chunks if chunk.section_id and not chunk.pages}
    if places is None or not wanted:
        return {}
    return {(found.document, found.place.ordinal): found.place for found in places.places_at(list(wanted))}


def _left_out(chunk: StoredChunk, sections: Mapping[tuple[int, int], Place]) -> list[Lines]:
    """Return the lines of a chunk's section before and after the part shown."""
    section = sections.get((chunk.document, chunk.section))
    if section is None or not chunk.section_id:
        return []
    whole, shown = section.lines, chunk.lines
    before, after = Lines(whole.first, shown.first - 1), Lines(shown.last + 1, whole.last)
    return [lines for lines in (before, after) if lines.first <= lines.last]


def _from_line(result: SearchResult, line: Line) -> SearchResult:
    """Narrow a result to the line with the requested number and what follows it."""
    shown = line.chunk.content[line.start : line.end].rstrip()
    return replace(result, content=shown, lines=line.lines, matches=[])


def _definitions(enrichment: Enrichment, chunk: StoredChunk) -> list[Definition]:
    """Choose the definitions of the query's terms for a document: its own, or else those of one that it names."""
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
    """If no result's document defines a requested term, attach another document's definition to the first result."""
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
        chunk.place_id,
    )


def _explanation(candidate: Candidate, chosen: Chosen, enrichment: Enrichment) -> dict[str, object]:
    explained: dict[str, object] = explain_candidate(candidate)
    if candidate.chunk in enrichment.via:
        explained["edge"] = enrichment.via[candidate.chunk][0]
    if candidate.reason and candidate.chunk in enrichment.grounds:
        explained["grounds"] = asdict(enrichment.grounds[candidate.chunk])
    if candidate.chunk in chosen.reordered.relevance:
        explained["relevance"] = chosen.reordered.relevance[candidate.chunk]
    return explained


class PhrasePattern:
    """Matches the words of a phrase in order, regardless of case and of white space and markup between them."""

    def __init__(self, phrase: str) -> None:
        words = re.findall(r"\w+", phrase)
        self._first = words[0].lower()
        self._pattern = re.compile(
            r"(?<!\w)" + r"[\W_]+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find every occurrence; a search for the first word alone skips most of the text."""
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
    """Return every occurrence of a phrase in a chunk, with its line and context."""
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
    """Return the file line of an offset in the content."""
    if offset >= chunk.prefix:
        own = chunk.content[chunk.prefix :]
        lead = len(own) - len(own.lstrip())
        at = chunk.start + offset - chunk.prefix
        return line_of(line_starts, own[lead:], chunk.start + lead, chunk.lines.first, at)
    return chunk.lines.first - chunk.content[offset : chunk.prefix].count("\n")
