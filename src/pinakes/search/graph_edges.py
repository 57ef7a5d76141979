"""Edges of the graph: what leads from some chunks to places elsewhere, and from elsewhere to them.

An edge ends in a span of a document's text: a section, a clause, a whole document, or the spot where another chunk
mentions this one. Which chunk of the span is meant is decided where the edges are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, groupby

from pinakes.port.edges import Holder, Relative, SectionOf
from pinakes.search.graph_links import Edge, LinkEdge, LinkMap
from pinakes.stores.embedded.graph_lookup import MENTIONS, GraphLookup

TREE_KINDS = frozenset({"parent", "child", "next", "previous"})
_WHOLE = (0, 1 << 62)
_BACKWARD = {"link": "backlink", "wiki": "backlink", "transclusion": "transcluded_by"}


def edges_of(
    lookup: GraphLookup, links: LinkMap, holders: Collection[Holder], kinds: Collection[str]
) -> list[Edge]:
    """Return the edges of some kinds from and to some chunks, one hop: way by way, and for each chunk by chunk."""
    known = {holder.id: links.edges.get(holder.id) for holder in holders}
    read = _by_chunk(lookup, links, [holder for holder in holders if known[holder.id] is None])
    links.keep_edges(read)
    by_chunk = [known[holder.id] or read[holder.id] for holder in holders]
    return [edge for edges in zip(*by_chunk, strict=True) for edge in chain(*edges) if edge.kind in kinds]


def _by_chunk(
    lookup: GraphLookup, links: LinkMap, holders: list[Holder]
) -> dict[int, tuple[list[Edge], ...]]:
    """Read the edges of some chunks, those of each way of being connected by themselves."""
    sections = lookup.sections(holders)
    known = [holder for holder in holders if holder.id in sections]
    ways = (
        _references_inside(lookup, known),
        _references_back(lookup, known, sections),
        _references_out(lookup, links, known),
        _references_in(lookup, links, known, sections),
        _links_out(lookup, links, known),
        _links_in(lookup, links, known),
        _related(links, known),
        _tree(lookup, known, sections),
    )
    found: dict[int, tuple[list[Edge], ...]] = {holder.id: tuple([] for _ in ways) for holder in holders}
    for way, edges in enumerate(ways):
        for edge in edges:
            found[edge.source][way].append(edge)
    return found


# -- references ----------------------------------------------------------------------------------------------


def _references_inside(lookup: GraphLookup, holders: list[Holder]) -> Iterator[Edge]:
    """References of a chunk to other places of its document."""
    documents = {holder.id: holder.document for holder in holders}
    for to in lookup.mentions_inside(holders):
        yield Edge(to.chunk, to.kind, documents[to.chunk], to.start, to.end, to.mentions)


def _references_back(
    lookup: GraphLookup, holders: list[Holder], sections: dict[int, SectionOf]
) -> Iterator[Edge]:
    """References of the same document to a chunk."""
    for back in lookup.mentions_of(holders, sections):
        kind = _BACKWARD.get(back.kind, "cited_by")
        yield Edge(back.chunk, kind, back.document, back.offset, back.offset + 1, back.mentions)


def _references_out(lookup: GraphLookup, links: LinkMap, holders: list[Holder]) -> Iterator[Edge]:
    """References to other documents of the library."""
    asked = lookup.references_out(holders)
    places = links.places((document, outward) for _, document, _, outward in asked)
    spans = lookup.spans([place for place in places.values() if place[2]])
    for chunk, document, mentions, outward in asked:
        place = places.get((document, outward))
        if place is not None:
            yield Edge(chunk, outward.kind, place[0], *spans.get(place, _WHOLE), degree=mentions)


def _references_in(
    lookup: GraphLookup, links: LinkMap, holders: list[Holder], sections: dict[int, SectionOf]
) -> Iterator[Edge]:
    """References from other documents to the section of a chunk or a clause in it."""
    documents = {holder.id: holder.document for holder in holders}
    asked = lookup.references_in(holders, sections)
    places = links.places((back.document, outward) for back, outward in asked)
    for back, outward in asked:
        place = places.get((back.document, outward))
        if place and place[0] == documents[back.chunk] and place[2] in sections[back.chunk].ids:
            yield Edge(back.chunk, "cited_by", back.document, back.offset, back.offset + 1, back.mentions)


# -- links between documents ---------------------------------------------------------------------------------


def _links_out(lookup: GraphLookup, links: LinkMap, holders: list[Holder]) -> Iterator[Edge]:
    """Links that stand in a chunk."""
    outgoing: list[tuple[Holder, LinkEdge]] = []
    for holder in holders:
        here = links.outgoing.get(holder.document, ())
        outgoing += [(holder, link) for link in here if holder.start <= link.start < holder.end]
    spans = links.anchors(lookup, ((link.target, link.anchor) for _, link in outgoing if link.anchor))
    for holder, link in outgoing:
        span = spans.get((link.target, link.anchor), _WHOLE)
        yield Edge(holder.id, link.kind, link.target, *span, degree=len(links.incoming[link.target]))


def _links_in(lookup: GraphLookup, links: LinkMap, holders: list[Holder]) -> Iterator[Edge]:
    """Links that lead to a chunk's document or to a heading above it."""
    incoming: list[tuple[Holder, LinkEdge]] = []
    for holder in holders:
        there = links.incoming.get(holder.document, ())
        incoming += [(holder, link) for link in there] if len(there) < MENTIONS else []
    spans = links.anchors(lookup, ((link.target, link.anchor) for _, link in incoming if link.anchor))
    for holder, link in incoming:
        start, end = spans.get((link.target, link.anchor), _WHOLE)
        if start <= holder.start < end:
            degree = len(links.incoming[link.target])
            yield Edge(holder.id, _BACKWARD[link.kind], link.source, link.start, link.start + 1, degree)


def _related(links: LinkMap, holders: list[Holder]) -> Iterator[Edge]:
    for holder in holders:
        others = links.related.get(holder.document, ())
        for other in others:
            yield Edge(
                holder.id, "related", other, *_WHOLE, degree=max(len(others), len(links.related[other]))
            )


# -- the tree of sections ------------------------------------------------------------------------------------


def _tree(lookup: GraphLookup, holders: list[Holder], sections: dict[int, SectionOf]) -> Iterator[Edge]:
    """The text above, the sections below, and what comes before and after in reading order."""
    by_chunk = {holder.id: holder for holder in holders}
    near = {
        chunk: list(group)
        for chunk, group in groupby(lookup.relatives(holders, sections), key=lambda relative: relative.chunk)
    }
    for chunk, holder in by_chunk.items():
        section, relatives = sections[chunk], near.get(chunk, [])
        children = [one for one in relatives if one.parent == holder.section]
        own_end = children[0].start if children else section.end
        for one in relatives:
            if one.ordinal == section.parent:
                yield Edge(chunk, "parent", holder.document, one.start, one.own_end)
        for one in children:
            yield Edge(chunk, "child", holder.document, one.start, one.end, len(children))
        siblings = [
            one for one in relatives if one.parent == section.parent and one.ordinal != section.parent
        ]
        yield from _before_and_after(holder, section, own_end, siblings)


def _before_and_after(
    holder: Holder, section: SectionOf, own_end: int, siblings: list[Relative]
) -> Iterator[Edge]:
    """The rest of a section that is cut into several chunks, else the sections beside it."""
    before = [one for one in siblings if one.ordinal < holder.section][-1:]
    after = [one for one in siblings if one.ordinal > holder.section][:1]
    if holder.start > section.start:
        yield Edge(holder.id, "previous", holder.document, holder.start - 1, holder.start)
    elif before:
        yield Edge(holder.id, "previous", holder.document, before[0].start, before[0].end)
    if holder.end < own_end:
        yield Edge(holder.id, "next", holder.document, holder.end, holder.end + 1)
    elif after:
        yield Edge(holder.id, "next", holder.document, after[0].start, after[0].end)
