"""The graph: places that the best hits refer to, link to or are mentioned by join the candidates.

It goes one hop from each strong hit, in both directions. A neighbour's strength is the score of the hit times the
weight of the edge, reduced if one end is busy: a page that everybody links to, or a list of links to everything, says
little about any single link.

An edge ends in a span of a document's text: a section, a clause, a whole document, or the position where another chunk
mentions this one. Which chunk of the span is meant is decided when the edges are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

import numpy as np

from loccit.config import SearchSettings
from loccit.grammar.text.keys import title_key
from loccit.index.port.edges import MENTIONS, Holder, LinkRow, Outward
from loccit.index.port.filters import among
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry
from loccit.model import Reference, chunk_number
from loccit.search.candidates import GRAPH, Candidates, RankedList, Scores
from loccit.search.rank.signal import Asked, Ranked, Signal
from loccit.search.resolve.reference_graph import KeptReferences, ReferenceGraph

_WHOLE = (0, 1 << 62)
_BACKWARD = {"link": "backlink", "wiki": "backlink", "transclusion": "transcluded_by"}

# A document, the number of a chunk in it, and the id of the section or clause; empty for the whole document.
Place = tuple[int, int, str]


class Edge(NamedTuple):
    """An edge from a chunk to a span of text; ``degree`` is the number of edges at the busier end."""

    source: int
    kind: str
    document: int
    start: int
    end: int
    degree: int = 1


def read_edges(
    index: SearchIndex, holders: Collection[Holder], references: ReferenceGraph
) -> dict[int, tuple[list[Edge], ...]]:
    """Read the edges of some chunks in both directions, one hop: by chunk, grouped by type of connection."""
    return _Edges(index, holders, references).by_chunk(holders)


class _Edges:
    """The edges of some chunks."""

    def __init__(self, index: SearchIndex, holders: Collection[Holder], references: ReferenceGraph) -> None:
        self._index = index
        self._lookup = index.graph
        self._references = references
        self._sections = self._lookup.sections(holders)
        self._holders = [holder for holder in holders if holder.id in self._sections]

    def by_chunk(self, holders: Collection[Holder]) -> dict[int, tuple[list[Edge], ...]]:
        """Return the edges of each chunk, grouped by type of connection."""
        ways = (
            self._references_inside(),
            self._references_back(),
            self._references_out(),
            self._references_in(),
            self._links_out(),
            self._links_in(),
            self._related(),
        )
        found: dict[int, tuple[list[Edge], ...]] = {holder.id: tuple([] for _ in ways) for holder in holders}
        for way, edges in enumerate(ways):
            for edge in edges:
                found[edge.source][way].append(edge)
        return found

    # -- references ------------------------------------------------------------------------------------------

    def _references_inside(self) -> Iterator[Edge]:
        """References of a chunk to other places of its document."""
        documents = {holder.id: holder.document for holder in self._holders}
        for to in self._lookup.mentions_inside(self._holders):
            yield Edge(to.chunk, to.kind, documents[to.chunk], to.start, to.end, to.mentions)

    def _references_back(self) -> Iterator[Edge]:
        """References to a chunk from the same document."""
        for back in self._lookup.mentions_of(self._holders, self._sections):
            kind = _BACKWARD.get(back.kind, "cited_by")
            yield Edge(back.chunk, kind, back.document, back.offset, back.offset + 1, back.mentions)

    def _references_out(self) -> Iterator[Edge]:
        """References to other documents of the library."""
        asked = self._lookup.references_out(self._holders)
        places = self._places((document, outward) for _, document, _, outward in asked)
        spans = self._lookup.spans([place for place in places.values() if place[2]])
        for chunk, document, mentions, outward in asked:
            place = places.get((document, outward))
            if place is not None:
                yield Edge(chunk, outward.kind, place[0], *spans.get(place, _WHOLE), degree=mentions)

    def _references_in(self) -> Iterator[Edge]:
        """References from other documents to the section of a chunk or to a clause in it."""
        documents = {holder.id: holder.document for holder in self._holders}
        asked = self._lookup.references_in(self._holders, self._sections)
        places = self._places((back.document, outward) for back, outward in asked)
        for back, outward in asked:
            place = places.get((back.document, outward))
            if place and place[0] == documents[back.chunk] and place[2] in self._sections[back.chunk].ids:
                yield Edge(back.chunk, "cited_by", back.document, back.offset, back.offset + 1, back.mentions)

    def _places(self, asked: Iterable[tuple[int, Outward]]) -> dict[tuple[int, Outward], Place]:
        """Where references lead in other documents; unresolved ones are left out."""
        pairs = list(dict.fromkeys(asked))
        answers = self._references.resolve((document, _reference(outward)) for document, outward in pairs)
        entries = self._index.names.at({answer.target_path for answer in answers if answer.target_chunk})
        found: dict[tuple[int, Outward], Place] = {}
        for pair, answer in zip(pairs, answers, strict=True):
            number = chunk_number(answer.target_chunk)
            if number is not None and answer.target_path in entries:
                found[pair] = (entries[answer.target_path].id, number, answer.target_section)
        return found

    # -- links between documents -----------------------------------------------------------------------------

    def _links_out(self) -> Iterator[Edge]:
        """Links in a chunk."""
        written = self._index.links.links_inside(self._holders)
        outgoing = self._references.links_from([link for _, link in written])
        chunks: dict[LinkRow, list[int]] = {}
        for chunk, link in written:
            chunks.setdefault(link, []).append(chunk)
        spans = self._anchors(outgoing)
        degrees = self._references.count_links_to({target for _, target, _ in outgoing})
        for link, target, anchor in outgoing:
            for chunk in chunks[link]:
                span = spans.get((target.id, anchor), _WHOLE)
                yield Edge(chunk, link.kind, target.id, *span, degree=degrees[target.id])

    def _links_in(self) -> Iterator[Edge]:
        """Links to a chunk's document or to a heading above it."""
        documents = {holder.document for holder in self._holders}
        entries = [entry for one in documents if (entry := self._references.entry(one)) is not None]
        degrees = self._references.count_links_to(entries)
        few = [document for document, degree in degrees.items() if 0 < degree < MENTIONS]
        incoming = self._references.links_to(few)
        spans = self._anchors([link for links in incoming.values() for link in links])
        for holder in self._holders:
            for link, target, anchor in incoming.get(holder.document, ()):
                start, end = spans.get((target.id, anchor), _WHOLE)
                if start <= holder.start < end:
                    kind, degree = _BACKWARD[link.kind], degrees[holder.document]
                    yield Edge(holder.id, kind, link.document, link.start, link.start + 1, degree)

    def _anchors(
        self, links: Collection[tuple[LinkRow, Entry, str]]
    ) -> dict[tuple[int, str], tuple[int, int]]:
        """The spans of link anchors: a heading by its words or slug, or an id."""
        wanted = {(target.id, anchor) for _, target, anchor in links if anchor}
        keys = {pair: (pair[0], title_key(pair[1].replace("-", " "))) for pair in wanted}
        headings = self._lookup.headings(set(keys.values()))
        marked = self._lookup.marked([pair for pair, key in keys.items() if key not in headings])
        found = {pair: headings.get(key) or marked.get(pair) for pair, key in keys.items()}
        return {pair: span for pair, span in found.items() if span is not None}

    def _related(self) -> Iterator[Edge]:
        related = self._references.related({holder.document for holder in self._holders})
        beyond = self._references.related({other for others in related.values() for other in others})
        for holder in self._holders:
            others = related[holder.document]
            for other in others:
                degree = max(len(others), len(beyond[other]))
                yield Edge(holder.id, "related", other, *_WHOLE, degree=degree)


def _reference(outward: Outward) -> Reference:
    kind, number_kind, number_key, name = outward
    return Reference("", 0, 0, kind, number_kind=number_kind, number_key=number_key, document=name)


# -- the graph -----------------------------------------------------------------------------------------------


EDGE_WEIGHTS: dict[str, float] = {
    # A document embeds another.
    "transclusion": 1.0,
    "transcluded_by": 0.8,
    # An author states explicitly that two documents belong together.
    "related": 0.7,
    # A text depends on what it refers or links to; it may be mentioned in passing.
    "number": 0.6,
    "named": 0.6,
    "wiki": 0.6,
    "link": 0.5,
    "document": 0.3,
    "relative": 0.3,
    "cited_by": 0.3,
    "backlink": 0.3,
}
"""The share of a hit's score that passes along each type of edge."""

STRONG_HITS = 10
# Up to this many edges at one end cost nothing; beyond, the strength falls with the square root of their
# number.
_FREE_DEGREE = 6
# Hits considered when choosing between the chunks of a section or document that an edge leads to.
CANDIDATES = 50
# Chunks whose edges are cached: at most a few kilobytes each.
_KEPT_CHUNKS = 2000
# Edges followed for one query, the most promising first.
_MAX_EDGES = 300
_BETWEEN_DOCUMENTS = frozenset({"transclusion", "transcluded_by", "related", "wiki", "link", "backlink"})
_INWARD = frozenset({"cited_by", "backlink", "transcluded_by"})


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Neighbours of the strong hits, best first, each with its most important edge and the hit where it starts."""

    hits: list[tuple[int, float]] = field(default_factory=list)
    via: dict[int, tuple[str, int]] = field(default_factory=dict)

    @property
    def leg(self) -> RankedList:
        """The neighbours as a ranked list for fusion."""
        return RankedList.of(GRAPH, self.hits)


class Graph(Signal):
    """The edges between the chunks of one index: neighbours of the best hits are raised, or join them."""

    stage = "graph"
    column = "linked"

    def __init__(self, index: SearchIndex) -> None:
        super().__init__(index)
        self._lookup = index.graph
        self._references = KeptReferences(index)
        self._kept: tuple[int, dict[int, tuple[list[Edge], ...]]] = (-1, {})

    def weights(self, settings: SearchSettings) -> Mapping[str, float]:
        """Return the weight of neighbours."""
        return {GRAPH: settings.graph_weight}

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        """Raise the neighbours of the best hits; those that were not found join the table."""
        weight, scope = asked.weights[GRAPH], asked.scope
        if weight <= 0:
            return ranked.table.scores
        near = self.neighbours(
            strongest(ranked.table),
            documents=scope.documents,
            passing=scope.passing,
        )
        ranked.via, leg = near.via, near.leg
        if not len(leg):
            return ranked.table.scores
        ranked.table = ranked.table.joined(leg)
        return lift(ranked.table, leg, weight)

    def neighbours(
        self,
        hits: Sequence[tuple[int, float]],
        *,
        documents: Collection[int] | None = None,
        passing: Callable[[Mapping[int, int]], Collection[int]] = set,
        limit: int = 50,
        strong: int = STRONG_HITS,
        weights: Mapping[str, float] = EDGE_WEIGHTS,
    ) -> Neighbours:
        """Return the neighbours of the best of some hits, given best first with scores between 0 and 1.

        The other hits help to choose: an edge to a whole section or document leads to the chunk in it that was also
        found for the query, or else to its first text. ``documents`` are those allowed; ``passing`` returns the chunks
        allowed, given chunks with their documents.
        """
        best = [(chunk, score) for chunk, score in hits[:strong] if score > 0]
        holders = self._lookup.holders([chunk for chunk, _ in best])
        scores = {chunk: min(1.0, score) for chunk, score in best if chunk in holders}
        if not scores:
            return Neighbours()

        kinds = {kind: min(1.0, weight) for kind, weight in weights.items() if weight > 0}

        def strength(edge: Edge, degree: int) -> float:
            part = scores[edge.source] * kinds[edge.kind]
            return part if degree <= _FREE_DEGREE else part / math.sqrt(degree / _FREE_DEGREE)

        edges = self._edges([holders[chunk] for chunk in scores], kinds)
        if documents is not None:
            allowed = among({edge.document for edge in edges}, documents)
            edges = [edge for edge in edges if edge.document in allowed]
        if not edges:
            return Neighbours()
        edges = nlargest(_MAX_EDGES, edges, key=lambda edge: strength(edge, edge.degree))
        ends = self._ends(edges, self._among(hits[:CANDIDATES], {edge.document for edge in edges}))
        shown = passing({end.id: end.document for _, end in ends})
        degrees = self._degrees(ends, holders)
        ways = [
            _Way(end.id, strength(edge, degree), _witness(edge, holders[edge.source]), edge)
            for (edge, end), degree in zip(ends, degrees, strict=True)
            if end.id in shown
        ]
        return _join_ways(ways, limit)

    def _edges(self, holders: list[Holder], kinds: Collection[str]) -> list[Edge]:
        """The edges of some kinds at some chunks: by type of connection, and within it by chunk.

        They are cached while the library is unchanged: the same strong hits come up again and again.
        """
        generation = self._index.stamp
        seen, known = self._kept
        if seen != generation or len(known) > _KEPT_CHUNKS:
            known = {}
        if new := [holder for holder in holders if holder.id not in known]:
            known = {**known, **read_edges(self._index, new, self._references())}
            self._kept = generation, known
        by_chunk = [known[holder.id] for holder in holders]
        return [edge for edges in zip(*by_chunk, strict=True) for edge in chain(*edges) if edge.kind in kinds]

    def _among(self, hits: Sequence[tuple[int, float]], documents: Collection[int]) -> list[Holder]:
        """The positions of the hits that are in these documents."""
        chunks = np.fromiter((chunk for chunk, _ in hits), np.int64, len(hits))
        owners = self._index.columns.of(chunks)["document"].tolist()
        inside = [chunk for chunk, owner in zip(chunks.tolist(), owners, strict=True) if owner in documents]
        holders = self._lookup.holders(inside)
        return [holders[chunk] for chunk in inside if chunk in holders]

    def _ends(self, edges: list[Edge], found: list[Holder]) -> list[tuple[Edge, Holder]]:
        """Choose the chunk in which each edge ends; edges that end where they begin are dropped."""
        by_document: dict[int, list[Holder]] = {}
        for holder in found:
            by_document.setdefault(holder.document, []).append(holder)
        chosen: list[tuple[Edge, Holder | None]] = []
        for edge in edges:
            inside = (
                holder
                for holder in by_document.get(edge.document, ())
                if holder.start < edge.end and holder.end > edge.start and holder.id != edge.source
            )
            chosen.append((edge, next(inside, None)))
        firsts = self._lookup.first_texts({_span(edge) for edge, end in chosen if end is None})
        ends = ((edge, end or firsts.get(_span(edge))) for edge, end in chosen)
        return [(edge, end) for edge, end in ends if end is not None and end.id != edge.source]

    def _degrees(self, ends: list[tuple[Edge, Holder]], holders: Mapping[int, Holder]) -> list[int]:
        """Count the edges at the busier end of each edge."""
        citing = [end if edge.kind in _INWARD else holders[edge.source] for edge, end in ends]
        fan_out = self._lookup.fan_out(list({one.id: one for one in citing}.values()))
        return [max(edge.degree, fan_out.get(one.id, 1)) for (edge, _), one in zip(ends, citing, strict=True)]


class _Way(NamedTuple):
    chunk: int
    strength: float
    witness: tuple[str, int]
    edge: Edge


def _witness(edge: Edge, source: Holder) -> tuple[str, int]:
    """Return the source of an edge's evidence: each source counts once per chunk, with its strongest edge.

    All chunks of a note share its links, so the source is the note.
    """
    return ("document", source.document) if edge.kind in _BETWEEN_DOCUMENTS else ("chunk", source.id)


def _span(edge: Edge) -> tuple[int, int, int]:
    return edge.document, edge.start, edge.end


def _join_ways(ways: list[_Way], limit: int) -> Neighbours:
    """Combine the edges to each chunk, treating several sources as independent evidence."""
    best: dict[int, dict[tuple[str, int], _Way]] = {}
    for way in ways:
        heard = best.setdefault(way.chunk, {})
        if way.witness not in heard or way.strength > heard[way.witness].strength:
            heard[way.witness] = way
    scores = {
        chunk: 1.0 - math.prod(1.0 - way.strength for way in heard.values()) for chunk, heard in best.items()
    }
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
    via = {}
    for chunk, _ in ranked:
        edge = max(best[chunk].values(), key=lambda way: (way.strength, -way.edge.source)).edge
        via[chunk] = (edge.kind, edge.source)
    return Neighbours(ranked, via)


def strongest(table: Candidates) -> list[tuple[int, float]]:
    """Return the best candidates in the form that `neighbours` takes."""
    order = table.best(CANDIDATES)
    return list(zip(table.chunks[order].tolist(), table.scores[order].tolist(), strict=True))


def lift(table: Candidates, leg: RankedList, weight: float) -> Scores:
    """Return the scores of candidates with those of neighbours raised.

    Each rises by a fraction of its distance to 1, so strong candidates keep their place, and a neighbour that does not
    match by itself hardly overtakes one that does.
    """
    scores = table.scores.copy()
    at = table.positions(leg.chunks)
    scores[at] += weight * leg.scores * np.maximum(0.0, 1.0 - scores[at])
    return np.asarray(scores)
