"""The graph: what the best hits refer to, link to, and are mentioned by joins the candidates.

One hop from each strong hit, in both directions. A neighbour is strength the score of the hit times the weight of the
edge, less where one end is busy: a page that everybody links to, or a list of links to everything, says little about
any one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

import numpy as np

from pinakes.port.edges import Holder
from pinakes.port.filters import among
from pinakes.port.index import SearchIndex
from pinakes.search.candidates import Candidates, RankedList, Scores
from pinakes.search.rank.graph_edges import TREE_KINDS, Edge, read_edges

EDGE_WEIGHTS: dict[str, float] = {
    # A document shows another as a part of itself.
    "transclusion": 1.0,
    "transcluded_by": 0.8,
    # Somebody says in as many words that two documents belong together.
    "related": 0.7,
    # What a text refers or links to, it needs; who mentions a text may do so in passing.
    "number": 0.6,
    "named": 0.6,
    "wiki": 0.6,
    "link": 0.5,
    "document": 0.3,
    "relative": 0.3,
    "cited_by": 0.3,
    "backlink": 0.3,
    # The tree of sections: near is not yet relevant.
    "parent": 0.1,
    "child": 0.1,
    "next": 0.1,
    "previous": 0.1,
}
"""How much of a hit's score goes along each type of edge."""

STRONG_HITS = 10
# As many ways as this at one end of an edge cost nothing; beyond, the strength falls with their square root.
_FREE_DEGREE = 6
# Hits that are looked at to choose between the chunks of a section or document that an edge leads to.
CANDIDATES = 50
# Chunks whose edges are kept: a few kilobytes each at most.
_KEPT_CHUNKS = 2000
# Edges that are followed for one query, the most promising first.
_MAX_EDGES = 300
_BETWEEN_DOCUMENTS = frozenset({"transclusion", "transcluded_by", "related", "wiki", "link", "backlink"})
_INWARD = frozenset({"cited_by", "backlink", "transcluded_by"})


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Chunks next to the strong hits, best first, and for each the edge that counts most and the hit it starts at."""

    hits: list[tuple[int, float]] = field(default_factory=list)
    via: dict[int, tuple[str, int]] = field(default_factory=dict)

    @property
    def leg(self) -> RankedList:
        """What fusion takes."""
        return RankedList.of("graph", self.hits)


class Graph:
    """The edges between the chunks of one index."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._lookup = index.graph
        self._kept: tuple[int, dict[int, tuple[list[Edge], ...]]] = (-1, {})

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
        """Return the neighbours of the best of some hits, which come best first with scores between 0 and 1.

        The other hits help to choose: an edge to a whole section or document leads to the chunk of it that was found
        for the query too, else to its first text. ``documents`` are those that may be shown; ``passing`` says
        which chunks may, given with their documents.
        """
        holders = self._lookup.holders([chunk for chunk, _ in hits[:CANDIDATES]])
        found = [(holders[chunk], score) for chunk, score in hits[:CANDIDATES] if chunk in holders]
        scores = {holder.id: min(1.0, score) for holder, score in found[:strong] if score > 0}
        if not scores:
            return Neighbours()

        def strength(edge: Edge, degree: int) -> float:
            weight = min(1.0, weights[edge.kind])
            return scores[edge.source] * weight / math.sqrt(max(1.0, degree / _FREE_DEGREE))

        kinds = {kind for kind, weight in weights.items() if weight > 0}
        edges = self._edges([holders[chunk] for chunk in scores], kinds)
        if documents is not None:
            allowed = among({edge.document for edge in edges}, documents)
            edges = [edge for edge in edges if edge.document in allowed]
        best = nlargest(_MAX_EDGES, edges, key=lambda edge: strength(edge, edge.degree))
        ends = self._ends(best, [holder for holder, _ in found])
        shown = passing({end.id: end.document for _, end in ends})
        degrees = self._degrees(ends, holders)
        ways = [
            _Way(end.id, strength(edge, degree), _witness(edge, holders[edge.source]), edge)
            for (edge, end), degree in zip(ends, degrees, strict=True)
            if end.id in shown
        ]
        return _join_ways(ways, limit)

    def _edges(self, holders: list[Holder], kinds: Collection[str]) -> list[Edge]:
        """The edges of some kinds from and to some chunks: way by way, and for each chunk by chunk.

        They are kept while the library stays as it is: the same strong hits come up again and again.
        """
        generation = self._index.stamp
        seen, known = self._kept
        if seen != generation or len(known) > _KEPT_CHUNKS:
            known = {}
        read = read_edges(self._index, [holder for holder in holders if holder.id not in known])
        if read or seen != generation:
            known = {**known, **read}
            self._kept = generation, known
        by_chunk = [known[holder.id] for holder in holders]
        return [edge for edges in zip(*by_chunk, strict=True) for edge in chain(*edges) if edge.kind in kinds]

    def _ends(self, edges: list[Edge], found: list[Holder]) -> list[tuple[Edge, Holder]]:
        """Choose the chunk in which each edge ends; edges that end where they begin are left out."""
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
        """Count the ways at the busier end of each edge; in the tree the edges know themselves."""
        citing = [
            None if edge.kind in TREE_KINDS else end if edge.kind in _INWARD else holders[edge.source]
            for edge, end in ends
        ]
        fan_out = self._lookup.fan_out(list({one.id: one for one in citing if one is not None}.values()))
        return [
            edge.degree if one is None else max(edge.degree, fan_out.get(one.id, 1))
            for (edge, _), one in zip(ends, citing, strict=True)
        ]


class _Way(NamedTuple):
    chunk: int
    strength: float
    witness: tuple[str, int]
    edge: Edge


def _witness(edge: Edge, source: Holder) -> tuple[str, int]:
    """Say whose evidence an edge is: a witness is heard once for each chunk, with the best it has to say.

    All chunks of a note have its links, so the note is the witness. In the tree of sections hits lie beside each other
    anyway, so all of them are one.
    """
    if edge.kind in TREE_KINDS:
        return "tree", 0
    return ("document", source.document) if edge.kind in _BETWEEN_DOCUMENTS else ("chunk", source.id)


def _span(edge: Edge) -> tuple[int, int, int]:
    return edge.document, edge.start, edge.end


def _join_ways(ways: list[_Way], limit: int) -> Neighbours:
    """Add up what comes along the edges, several witnesses as independent evidence."""
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
    """Return the best candidates as `neighbours` takes them."""
    order = table.best(CANDIDATES)
    return list(zip(table.chunks[order].tolist(), table.scores[order].tolist(), strict=True))


def lift(table: Candidates, leg: RankedList, weight: float) -> Scores:
    """Return the scores of candidates, of which those of a list of neighbours rise.

    Each goes up by a part of what it lacks to 1, so that what is strong already keeps its place, and a neighbour that
    does not match by itself hardly passes one that does.
    """
    scores = table.scores.copy()
    at = table.positions(leg.chunks)
    scores[at] += weight * leg.scores * np.maximum(0.0, 1.0 - scores[at])
    return np.asarray(scores)
