"""Links of the graph: which documents link to which, read once for each generation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.model import Reference, chunk_number
from pinakes.port.edges import Outward
from pinakes.search.citations import Citations
from pinakes.search.corpus import Corpus
from pinakes.search.link_targets import LinkTargets
from pinakes.stores.embedded.graph_lookup import GraphLookup
from pinakes.stores.embedded.lookup import Lookup
from pinakes.text.keys import title_key

# A document, the number of a chunk in it, and the id of the section or clause; empty for the whole document.
Place = tuple[int, int, str]

# Chunks whose edges are kept: a few kilobytes each at most.
_KEPT_CHUNKS = 2000
_WIKI = re.compile(r"!?\[\[([^\]|]+)(?:\|[^\]]*)?\]\]")


class LinkEdge(NamedTuple):
    """A link from a place in one document to another document, or to a heading of it."""

    kind: str
    source: int
    start: int
    target: int
    anchor: str


class Edge(NamedTuple):
    """A way from a chunk to a span of text; ``degree`` says how many other ways share the busier end."""

    source: int
    kind: str
    document: int
    start: int
    end: int
    degree: int = 1


@dataclass(slots=True)
class LinkMap:
    """The links of one state of the library in both directions."""

    generation: int
    targets: LinkTargets
    citations: Citations
    outgoing: dict[int, list[LinkEdge]] = field(default_factory=dict)
    incoming: dict[int, list[LinkEdge]] = field(default_factory=dict)
    related: dict[int, list[int]] = field(default_factory=dict)
    dangling: dict[str, int] = field(default_factory=dict)
    edges: dict[int, tuple[list[Edge], ...]] = field(default_factory=dict)
    _answers: dict[tuple[int, Outward], Place | None] = field(default_factory=dict)
    _anchors: dict[tuple[int, str], tuple[int, int] | None] = field(default_factory=dict)

    def keep_edges(self, read: Mapping[int, tuple[list[Edge], ...]]) -> None:
        """Keep the edges of some chunks, by chunk: the same strong hits come up again and again."""
        if len(self.edges) > _KEPT_CHUNKS:
            self.edges.clear()
        self.edges.update(read)

    def anchors(
        self, graph: GraphLookup, asked: Iterable[tuple[int, str]]
    ) -> dict[tuple[int, str], tuple[int, int]]:
        """Return what the anchors of some documents span: a heading by its words or slug, or an id."""
        wanted = set(asked)
        new = {(document, anchor): title_key(anchor.replace("-", " ")) for document, anchor in wanted}
        new = {pair: key for pair, key in new.items() if pair not in self._anchors}
        headings = graph.headings({(document, key) for (document, _), key in new.items()})
        marked = graph.marked([pair for pair, key in new.items() if (pair[0], key) not in headings])
        for pair, key in new.items():
            self._anchors[pair] = headings.get((pair[0], key)) or marked.get(pair)
        found = ((pair, self._anchors[pair]) for pair in wanted)
        return {pair: span for pair, span in found if span is not None}

    def places(self, asked: Iterable[tuple[int, Outward]]) -> dict[tuple[int, Outward], Place]:
        """Return where references of some documents lead in others; those that lead nowhere are left out.

        Answers are kept: the same references come up again and again.
        """
        wanted = set(asked)
        new = {pair: _reference(pair[1]) for pair in wanted - self._answers.keys()}
        self.citations.preload(new.values())
        for (document, outward), reference in new.items():
            self._answers[document, outward] = self._place(self.citations.resolve(document, "", reference))
        found = ((pair, self._answers[pair]) for pair in wanted)
        return {pair: place for pair, place in found if place is not None}

    def _place(self, answer: Reference) -> Place | None:
        entry = self.targets.at(answer.target_path) if answer.target_chunk else None
        number = chunk_number(answer.target_chunk)
        return (entry.id, number, answer.target_section) if entry is not None and number is not None else None


def _reference(outward: Outward) -> Reference:
    kind, number_kind, number_key, name = outward
    return Reference("", 0, 0, kind, number_kind=number_kind, number_key=number_key, document=name)


def read_links(lookup: Lookup, graph: GraphLookup, corpus: Corpus) -> LinkMap:
    """Find the document of every link, and count those that have none."""
    targets = corpus.targets
    links = LinkMap(corpus.generation, targets, Citations(lookup, corpus))
    paths = {entry.id: entry.source_path for entry in corpus.entries}
    for row in graph.links():
        # A document may have come since the corpus was read.
        found = targets.find(row.kind, row.target, paths[row.document]) if row.document in paths else None
        if found is None:
            links.dangling[row.kind] = links.dangling.get(row.kind, 0) + 1
        elif found[0].id != row.document:
            edge = LinkEdge(row.kind, row.document, row.start, found[0].id, _last_heading(found[1]))
            links.outgoing.setdefault(edge.source, []).append(edge)
            links.incoming.setdefault(edge.target, []).append(edge)
    for document, names in graph.related():
        for name in names:
            other = _related(targets, name, paths[document]) if document in paths else None
            if other is None:
                links.dangling["related"] = links.dangling.get("related", 0) + 1
            elif other != document:
                # Related is related both ways.
                _add(links.related, document, other)
                _add(links.related, other, document)
    return links


def _add(related: dict[int, list[int]], one: int, other: int) -> None:
    known = related.setdefault(one, [])
    if other not in known:
        known.append(other)


def _last_heading(anchor: str) -> str:
    """`#Chapter#Part` means the last heading it names."""
    return anchor.rpartition("#")[2].strip()


def _related(targets: LinkTargets, name: str, source_path: str) -> int | None:
    """Find a related document, written as a wiki link, a path or a name."""
    wiki = _WIKI.fullmatch(name)
    for kind in ("wiki",) if wiki else ("link", "wiki"):
        found = targets.find(kind, wiki[1] if wiki else name, source_path)
        if found is not None:
            return found[0].id
    return None
