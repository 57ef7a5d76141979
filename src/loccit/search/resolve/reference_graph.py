"""The reference graph: what a span of a document refers to, and what refers to it.

References within a document are resolved when it is read. Those to other documents are resolved here, on demand,
because documents come and go: only a link, or a text that names the other document (``names``), leads there. Possible
references to a document share a key with it; each is then resolved to check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from urllib.parse import unquote

from loccit.grammar.labels import LEAF_KINDS
from loccit.grammar.labels.document_keys import LINKS, keys_leading_to, related_forms
from loccit.grammar.text.keys import title_key
from loccit.index.port.edges import LinkRow
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry
from loccit.index.port.records import PlaceStart
from loccit.model import Place, Reference, chunk_id
from loccit.search.resolve.link_targets import LinkTargets
from loccit.search.understand.names import Named, NameIndex

# A link to a missing heading still leads to its document.
_PARTLY = 0.5
_END = 1 << 62


class ReferenceGraph:
    """The references of one library. Lookups are cached, and valid for one state of the library."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self.targets: LinkTargets = LinkTargets(index.names)
        self._names = NameIndex(index.names)
        self._entries: dict[int, Entry | None] = {}
        self._resolved: dict[tuple[object, ...], Reference] = {}
        self._places: dict[tuple[int, str], list[PlaceStart]] = {}
        self._holders: dict[tuple[int, int], int | None] = {}
        self._headings: dict[int, dict[str, str]] = {}
        self._starts: dict[tuple[int, str], int | None] = {}
        self._keys: dict[int, tuple[list[str], list[tuple[str, str, str]]]] = {}
        self._related: dict[int, list[int]] = {}
        self._named: dict[int, frozenset[str]] = {}

    @property
    def size(self) -> int:
        """The number of resolved references, which make up most of the cache."""
        return len(self._resolved) + len(self._entries)

    def entry(self, document: int) -> Entry | None:
        """Return a document by its id."""
        self._preload_entries([document])
        return self._entries[document]

    def _preload_entries(self, documents: Iterable[int]) -> None:
        if new := {document for document in documents if document not in self._entries}:
            self._entries.update(dict.fromkeys(new) | self._index.names.entries(new))

    # -- what leads away -------------------------------------------------------------------------------------

    def in_span(self, document: int, start: int, end: int) -> list[Reference]:
        """Return the references in a span of a document, resolved as far as possible."""
        return self.in_spans([(document, start, end)])[document, start, end]

    def in_spans(
        self, spans: Collection[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], list[Reference]]:
        """Return the references in several spans, given as document, start and end."""
        found = self._index.lookup.references_between(spans)
        asked = [(span[0], reference) for span, references in found.items() for reference in references]
        resolved = iter(self._identified(self.resolve(asked)))
        return {span: list(islice(resolved, len(references))) for span, references in found.items()}

    def _identified(self, references: Sequence[Reference]) -> list[Reference]:
        """Return references with the ids of the places they lead to."""
        wanted = {(item.target_path, item.target_section) for item in references if item.target_path}
        if not wanted:
            return list(references)
        ids = self._index.lookup.place_ids(wanted)
        return [
            replace(item, target_place_id=ids.get((item.target_path, item.target_section), ""))
            if item.target_path
            else item
            for item in references
        ]

    def documents_named(self, document: int) -> frozenset[str]:
        """Return the paths of the documents that a document links to or names anywhere in its text."""
        if document not in self._named:
            self._named[document] = self._documents_named(document)
        return self._named[document]

    def _documents_named(self, document: int) -> frozenset[str]:
        source = self.entry(document)
        if source is None:
            return frozenset()
        references = self._index.lookup.references_out(document)
        self._preload([(source, reference) for reference in references])
        found = (self._document_of(reference, source)[0] for reference in references)
        return frozenset(named.entry.source_path for named in found if named.entry)

    def links_from(self, links: Sequence[LinkRow]) -> list[tuple[LinkRow, Entry, str]]:
        """Return the targets of links to other documents, with the document and the anchor in it."""
        self._preload_entries(link.document for link in links)
        sources = {link.document: self._entries[link.document] for link in links}
        known = [(link, source) for link in links if (source := sources[link.document]) is not None]
        self.targets.preload((link.kind, link.target, source.source_path) for link, source in known)
        found = []
        for link, source in known:
            target = self.targets.find(link.kind, link.target, source.source_path)
            if target is not None and target[0].id != link.document:
                # `#Chapter#Part` means the last heading it names.
                found.append((link, target[0], target[1].rpartition("#")[2].strip()))
        return found

    # -- what leads here -------------------------------------------------------------------------------------

    def leading_to(
        self,
        document: int,
        places: Sequence[Place] | None = None,
        *,
        whole: bool = False,
        inside: Sequence[Reference] | None = None,
    ) -> list[tuple[Entry, Reference]]:
        """Return the references to a document, with the documents they are in, its own first.

        Only those to some of its places, if given, and with ``whole`` to the document as a whole. ``inside`` are its
        own references, if they have been resolved already.
        """
        own = self.entry(document)
        if own is None:
            return []
        wanted, numbers = None, None
        if places is not None:
            wanted = {place.section_id for place in places if place.section_id} | ({""} if whole else set())
            numbers = {"_".join(place.number) for place in places}
        if inside is None:
            # Of some places, those that name their own document as others do are found as those of others are.
            mine = (
                self._index.lookup.references_between([(document, 0, _END)])[document, 0, _END]
                if wanted is None
                else self._index.lookup.references_to(document, sorted(wanted - {""}))
            )
            found = [(document, reference) for reference in mine]
        else:
            found = []
        for other, reference in self._index.links.references(self._bounds(own, numbers)):
            if wanted is not None or other.id != document:
                found.append((other.id, reference))
                self._entries[other.id] = other
        asked = zip([source for source, _ in found], self._identified(self.resolve(found)), strict=True)
        return [
            (entry, resolved)
            for source, resolved in (*((document, item) for item in inside or ()), *asked)
            if resolved.target_path == own.source_path
            and (wanted is None or resolved.target_section in wanted)
            and (entry := self._entries[source]) is not None
        ]

    def _bounds(self, own: Entry, numbers: Collection[str] | None) -> list[tuple[str, str, str]]:
        """The keys of possible references to a document, each with the range of numbers it may come with."""
        names, works = self._leading_keys(own)
        if numbers is None:
            return [*((name, "", "\U0010ffff") for name in names), *works]
        wanted = sorted({"", *numbers})
        return [
            (key, number, number) for key in (*names, *(work for work, _, _ in works)) for number in wanted
        ]

    def _leading_keys(self, own: Entry) -> tuple[list[str], list[tuple[str, str, str]]]:
        self._preload_keys([own])
        return self._keys[own.id]

    def _preload_keys(self, documents: Iterable[Entry]) -> None:
        new = {one.id: one for one in documents if one.id not in self._keys}
        names = self._index.names.names(new) if new else {}
        for number, entry in new.items():
            self._keys[number] = keys_leading_to(entry.source_path, entry.title, names.get(number, []))

    def _all_keys(self, documents: Collection[int]) -> list[str]:
        """The keys of possible references to these documents."""
        self._preload_entries(documents)
        entries = [entry for one in documents if (entry := self._entries[one]) is not None]
        self._preload_keys(entries)
        return list(dict.fromkeys(key for entry in entries for key in self._keys[entry.id][0]))

    def count_links_to(self, documents: Collection[Entry]) -> dict[int, int]:
        """Return how many links from other documents may lead to each of these."""
        self._preload_keys(documents)
        return self._index.links.count({one.id: self._keys[one.id][0] for one in documents})

    def links_to(self, documents: Collection[int]) -> dict[int, list[tuple[LinkRow, Entry, str]]]:
        """Return the links from other documents to these, by document, as ``links_from`` does."""
        found: dict[int, list[tuple[LinkRow, Entry, str]]] = {document: [] for document in documents}
        for item in self.links_from(self._index.links.links(self._all_keys(documents))):
            if item[1].id in found:
                found[item[1].id].append(item)
        return found

    def related(self, documents: Collection[int]) -> dict[int, list[int]]:
        """Return the documents that are related to these, according to either side."""
        new = {document for document in documents if document not in self._related}
        if new:
            self._read_related(new)
        return {document: self._related[document] for document in documents}

    def _read_related(self, documents: Collection[int]) -> None:
        found: dict[int, dict[int, None]] = {document: {} for document in documents}
        said = self._index.links.related(self._all_keys(documents), documents)
        self._preload_entries(source for source, _ in said)
        for number, name in sorted(dict.fromkeys(said), key=lambda item: item[0]):
            source = self._entries[number]
            target = self._follow_related(name, source) if source is not None else None
            if target is not None and target.id != number:
                # Related is symmetric.
                for one, other in ((number, target.id), (target.id, number)):
                    if one in found:
                        found[one].setdefault(other)
        self._related.update({document: list(others) for document, others in found.items()})

    def _follow_related(self, name: str, source: Entry) -> Entry | None:
        """Find a related document, written as a wiki link, a path or a name."""
        answers = (self.targets.find(*form, source.source_path) for form in related_forms(name))
        return next((answer[0] for answer in answers if answer is not None), None)

    # -- resolving -------------------------------------------------------------------------------------------

    def resolve(self, references: Iterable[tuple[int, Reference]]) -> list[Reference]:
        """Return references, given with their documents, with the chunks that they lead to."""
        asked = list(references)
        new = {
            _meaning(document, item): (document, item)
            for document, item in asked
            if not item.target_chunk and _meaning(document, item) not in self._resolved
        }
        for source, item, named, anchor in self._meant(list(new.values())):
            if source is not None:
                self._resolved[_meaning(source.id, item)] = self._resolve(item, named, anchor)
        return [
            item
            if item.target_chunk
            else _at_place_of(item, self._resolved.get(_meaning(document, item), item))
            for document, item in asked
        ]

    def paths_of(self, references: Sequence[tuple[int, Reference]]) -> list[str]:
        """Return the paths of the documents that references lead to; empty for unresolved ones."""
        return [
            named.entry.source_path
            if named.entry is not None
            and (item.kind in LINKS or not item.number_key or self._numbered(item, named.entry))
            else ""
            for _, item, named, _ in self._meant(references)
        ]

    def _meant(
        self, references: Sequence[tuple[int, Reference]]
    ) -> list[tuple[Entry | None, Reference, Named, str]]:
        """The documents that references are in and refer to, and the anchors of links; numbers there are looked up."""
        self._preload_entries(document for document, _ in references)
        sources = [(self._entries[document], item) for document, item in references]
        self._preload([(source, item) for source, item in sources if source is not None])
        found = [
            (source, item, *(self._document_of(item, source) if source is not None else (Named(None), "")))
            for source, item in sources
        ]
        self._preload_places((item, named.entry) for _, item, named, _ in found)
        return found

    def _preload(self, references: Sequence[tuple[Entry, Reference]]) -> None:
        """Look up the names in several references at once."""
        self.targets.preload(
            (item.kind, item.document, source.source_path)
            for source, item in references
            if item.kind in LINKS
        )
        self._names.preload_names(item.document for _, item in references if item.kind not in LINKS)

    def _preload_places(self, references: Iterable[tuple[Reference, Entry | None]]) -> None:
        """Look up the numbers of references to other documents at once."""
        pairs = {
            (entry.id, item.number_key)
            for item, entry in references
            if entry is not None and item.number_key and item.kind not in LINKS
        }
        if new := [pair for pair in pairs if pair not in self._places]:
            self._places.update({pair: [] for pair in new} | self._index.lookup.starts_by_number(new))

    def _document_of(self, reference: Reference, source: Entry) -> tuple[Named, str]:
        """Return the document that a reference refers to, and the anchor of a link."""
        if reference.kind in LINKS:
            found = self.targets.find(reference.kind, reference.document, source.source_path)
            return (Named(found[0], 1.0), found[1]) if found else (Named(None), "")
        number = tuple(reference.number_key.split("_")) if reference.number_key else ()
        name = reference.document
        named = self._names.named(name, source) if name else Named(None)
        if named.entry is None and number:
            part = self._names.numbered(reference.number_kind, number, source, name)
            named = part if part.entry is not None else named
        return named, ""

    def _resolve(self, reference: Reference, named: Named, anchor: str) -> Reference:
        entry = named.entry
        if reference.kind in LINKS:
            return self._follow_link(reference, entry, anchor)
        if entry is None:
            return replace(reference, reason=named.reason, sure=0.0) if reference.document else reference
        if not reference.number_key:
            return self._at(reference, entry, "", named.sure)
        place = self._numbered(reference, entry)
        if place is not None:
            return self._placed(reference, entry, place.section_id, place.start, named.sure)
        if not reference.document:
            return reference
        return replace(reference, reason=f"no {reference.text} in {entry.title}", sure=0.0)

    def _follow_link(self, reference: Reference, entry: Entry | None, anchor: str) -> Reference:
        if entry is None:
            target = unquote(reference.document).partition("#")[0]
            return replace(reference, reason=f"no document {target} in the library", sure=0.0)
        section_id = self._heading(entry.id, anchor) if anchor else ""
        if anchor and not section_id:
            reason = f"no heading {anchor} in {entry.title}"
            return replace(self._at(reference, entry, "", _PARTLY), reason=reason)
        return self._at(reference, entry, section_id, 1.0)

    def _heading(self, document: int, anchor: str) -> str:
        if document not in self._headings:
            names: dict[str, str] = {}
            for section_id, *called in self._index.lookup.heading_names(document):
                for name in called:
                    names.setdefault(title_key(name), section_id)
            self._headings[document] = names
        return self._headings[document].get(title_key(anchor.replace("-", " ")), "")

    def _numbered(self, reference: Reference, entry: Entry) -> PlaceStart | None:
        kind = reference.number_kind
        places = self._places[entry.id, reference.number_key]
        agree = (place for place in places if place.kind == kind or {place.kind, kind} <= LEAF_KINDS)
        return next(agree, None)

    def _at(self, reference: Reference, entry: Entry, section_id: str, sure: float) -> Reference:
        offset = self._offset(entry.id, section_id)
        resolved = self._placed(reference, entry, section_id, offset, sure)
        keeps = reference.target_section != "" or not resolved.target_chunk
        return replace(resolved, reason=reference.reason) if keeps else resolved

    def _placed(
        self, reference: Reference, entry: Entry, section_id: str, offset: int | None, sure: float
    ) -> Reference:
        number = self._chunk_at(entry.id, offset) if offset is not None else None
        return replace(
            reference,
            target_section=section_id,
            target_path=entry.source_path,
            target_chunk=chunk_id(entry.source_path, number) if number is not None else "",
            reason="",
            sure=sure if number is not None else 0.0,
        )

    def _chunk_at(self, document: int, offset: int) -> int | None:
        if (document, offset) not in self._holders:
            holder = self._index.lookup.chunk_at(document, offset)
            self._holders[document, offset] = holder[1] if holder else None
        return self._holders[document, offset]

    def _offset(self, document: int, section_id: str) -> int | None:
        if (document, section_id) not in self._starts:
            self._starts[document, section_id] = self._read_offset(document, section_id)
        return self._starts[document, section_id]

    def _read_offset(self, document: int, section_id: str) -> int | None:
        if not section_id:
            first = self._index.lookup.place(document, 0)
            return first.place.start if first else None
        found = self._index.lookup.places_by_id(section_id, {document})
        return found[0].place.start if found else None


# References cached for later searches: some ten megabytes.
_KEPT = 10_000


class KeptReferences:
    """Caches the reference graph of an index while the library is unchanged."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._kept: tuple[int, ReferenceGraph] | None = None

    def __call__(self) -> ReferenceGraph:
        """Return the graph of the current state; searches find the same documents again and again."""
        stamp, kept = self._index.stamp, self._kept
        if kept is None or kept[0] != stamp or kept[1].size > _KEPT:
            kept = self._kept = (stamp, ReferenceGraph(self._index))
        return kept[1]


def _at_place_of(item: Reference, resolved: Reference) -> Reference:
    """Return the result for an identically written reference, moved to the position of this one."""
    if (resolved.start, resolved.end) == (item.start, item.end):
        return resolved
    return replace(resolved, start=item.start, end=item.end)


def _meaning(document: int, item: Reference) -> tuple[object, ...]:
    """Identically written references in one document have the same target."""
    return (
        document,
        item.text,
        item.kind,
        item.document,
        item.number_kind,
        item.number_key,
        item.target_section,
        item.reason,
    )
