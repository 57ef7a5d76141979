"""Edges of the graph: what leads from some chunks to places elsewhere, and from elsewhere to them.

An edge ends in a span of a document's text: a section, a clause, a whole document, or the spot where another chunk
mentions this one. Which chunk of the span is meant is decided where the edges are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from pinakes.model import Reference, chunk_number
from pinakes.port.edges import MENTIONS, Holder, Outward, Relative, SectionOf
from pinakes.port.index import SearchIndex
from pinakes.port.links import LinkRow
from pinakes.port.names import Entry
from pinakes.search.links.reference_graph import ReferenceGraph
from pinakes.text.keys import title_key

TREE_KINDS = frozenset({"parent", "child", "next", "previous"})
_WHOLE = (0, 1 << 62)
_BACKWARD = {"link": "backlink", "wiki": "backlink", "transclusion": "transcluded_by"}

# A document, the number of a chunk in it, and the id of the section or clause; empty for the whole document.
Place = tuple[int, int, str]


class Edge(NamedTuple):
    """A way from a chunk to a span of text; ``degree`` says how many other ways share the busier end."""

    source: int
    kind: str
    document: int
    start: int
    end: int
    degree: int = 1


def read_edges(index: SearchIndex, holders: Collection[Holder]) -> dict[int, tuple[list[Edge], ...]]:
    """Read the edges from and to some chunks, one hop: by chunk, those of each way of being connected by themselves."""
    return _Edges(index, holders).by_chunk(holders)


class _Edges:
    """The edges of some chunks."""

    def __init__(self, index: SearchIndex, holders: Collection[Holder]) -> None:
        self._index = index
        self._lookup = index.graph
        self._references = ReferenceGraph(index)
        self._sections = self._lookup.sections(holders)
        self._holders = [holder for holder in holders if holder.id in self._sections]

    def by_chunk(self, holders: Collection[Holder]) -> dict[int, tuple[list[Edge], ...]]:
        """Return the edges of each chunk, way by way."""
        ways = (
            self._references_inside(),
            self._references_back(),
            self._references_out(),
            self._references_in(),
            self._links_out(),
            self._links_in(),
            self._related(),
            self._tree(),
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
        """References of the same document to a chunk."""
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
        """References from other documents to the section of a chunk or a clause in it."""
        documents = {holder.id: holder.document for holder in self._holders}
        asked = self._lookup.references_in(self._holders, self._sections)
        places = self._places((back.document, outward) for back, outward in asked)
        for back, outward in asked:
            place = places.get((back.document, outward))
            if place and place[0] == documents[back.chunk] and place[2] in self._sections[back.chunk].ids:
                yield Edge(back.chunk, "cited_by", back.document, back.offset, back.offset + 1, back.mentions)

    def _places(self, asked: Iterable[tuple[int, Outward]]) -> dict[tuple[int, Outward], Place]:
        """Where references of some documents lead in others; those that lead nowhere are left out."""
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
        """Links that stand in a chunk."""
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
        """Links that lead to a chunk's document or to a heading above it."""
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
        """What the anchors of links span: a heading by its words or slug, or an id."""
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

    # -- the tree of sections --------------------------------------------------------------------------------

    def _tree(self) -> Iterator[Edge]:
        """The text above, the sections below, and what comes before and after in reading order."""
        near = {
            chunk: list(group)
            for chunk, group in groupby(
                self._lookup.relatives(self._holders, self._sections), key=lambda relative: relative.chunk
            )
        }
        for holder in self._holders:
            section, relatives = self._sections[holder.id], near.get(holder.id, [])
            children = [one for one in relatives if one.parent == holder.section]
            own_end = children[0].start if children else section.end
            for one in relatives:
                if one.ordinal == section.parent:
                    yield Edge(holder.id, "parent", holder.document, one.start, one.own_end)
            for one in children:
                yield Edge(holder.id, "child", holder.document, one.start, one.end, len(children))
            siblings = [
                one for one in relatives if one.parent == section.parent and one.ordinal != section.parent
            ]
            yield from _before_and_after(holder, section, own_end, siblings)


def _reference(outward: Outward) -> Reference:
    kind, number_kind, number_key, name = outward
    return Reference("", 0, 0, kind, number_kind=number_kind, number_key=number_key, document=name)


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
