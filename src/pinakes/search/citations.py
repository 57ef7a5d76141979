"""Citations: which place a reference means, what a section cites, and what cites it.

References inside one document are resolved when it is read. Those that lead to another document are resolved
here, when they are asked for, because documents come and go: only a link, or a text that names the other document
(``names``), leads there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from pinakes.labels import LEAF_KINDS
from pinakes.model import Reference, chunk_id
from pinakes.port.rows import PlaceStart
from pinakes.search.corpus import Corpus, Entry
from pinakes.search.names import Named
from pinakes.stores.embedded.lookup import Lookup
from pinakes.text.keys import title_key

# A link to a heading that is not there still leads to its document.
_PARTLY = 0.5
_LINKS = frozenset({"link", "wiki", "transclusion"})


class Citations:
    """Resolves references of one library."""

    def __init__(self, lookup: Lookup, corpus: Corpus) -> None:
        self._lookup = lookup
        self._corpus = corpus
        self._places: dict[str, list[PlaceStart]] = {}
        self._named: dict[int, frozenset[str]] = {}

    def documents_named(self, document: int) -> frozenset[str]:
        """Return the paths of the documents that a document links to or names somewhere in its text."""
        known = self._named.get(document)
        source = self._corpus.by_id(document)
        if known is None and source is not None:
            found = (self._document_of(item, source) for item in self._lookup.references_out(document))
            known = self._named[document] = frozenset(entry.source_path for entry in found if entry)
        return known or frozenset()

    def _document_of(self, reference: Reference, source: Entry) -> Entry | None:
        if reference.kind in _LINKS:
            link = self._corpus.targets.find(reference.kind, reference.document, source.source_path)
            return link[0] if link else None
        number = tuple(reference.number_key.split("_")) if reference.number_key else ()
        names, name = self._corpus.names, reference.document
        named = names.named(name, source).entry if name else None
        return named or names.numbered(reference.number_kind, number, source, name).entry

    def in_span(self, document: int, source_path: str, start: int, end: int) -> list[Reference]:
        """Return the references in a span of a document, resolved as far as they can be."""
        references = self._lookup.references_between(document, start, end)
        self.preload(references)
        return [self.resolve(document, source_path, reference) for reference in references]

    def to_places(
        self, document: int, source_path: str, section_ids: list[str]
    ) -> list[tuple[Entry, Reference]]:
        """Return the references that lead to some sections of a document, with the document they stand in."""
        own = self._corpus.by_path(source_path)
        found: list[tuple[Entry, Reference]] = []
        if own is not None:
            references = self._lookup.references_to(document, section_ids)
            found += [(own, self.resolve(document, source_path, reference)) for reference in references]
        entries = {entry.id: entry for entry in self._corpus.entries}
        wanted = set(section_ids)
        elsewhere = self._lookup.references_elsewhere(document)
        self.preload(reference for _, reference in elsewhere)
        for other, reference in elsewhere:
            if other in entries:
                resolved = self.resolve(other, entries[other].source_path, reference)
                if resolved.target_path == source_path and resolved.target_section in wanted:
                    found.append((entries[other], resolved))
        return found

    def resolve(self, document: int, source_path: str, reference: Reference) -> Reference:
        """Return a reference with the chunk that it leads to."""
        if reference.target_chunk:
            return reference
        if reference.kind in _LINKS:
            return self._follow_link(reference, source_path)
        if reference.document:
            return self._in_named_document(reference, document)
        if reference.number_key:
            return self._in_same_work(reference, document)
        return reference

    # -- the ways to another document ------------------------------------------------------------------------

    def _follow_link(self, reference: Reference, source_path: str) -> Reference:
        found = self._corpus.targets.find(reference.kind, reference.document, source_path)
        if found is None:
            target = unquote(reference.document).partition("#")[0]
            return replace(reference, reason=f"no document {target} in the library", sure=0.0)
        entry, anchor = found
        section_id = self._heading(entry.id, anchor) if anchor else ""
        if anchor and not section_id:
            reason = f"no heading {anchor} in {entry.title}"
            return replace(self._at(reference, entry, "", _PARTLY), reason=reason)
        return self._at(reference, entry, section_id, 1.0)

    def _heading(self, document: int, anchor: str) -> str:
        wanted = title_key(anchor.replace("-", " "))
        for place in self._lookup.places_of_document(document, clauses=False):
            if wanted in (title_key(place.heading), title_key(place.title)):
                return place.section_id
        return ""

    def _in_named_document(self, reference: Reference, document: int) -> Reference:
        source = self._corpus.by_id(document)
        if source is None:
            return reference
        number = tuple(reference.number_key.split("_")) if reference.number_key else ()
        named = self._corpus.names.named(reference.document, source)
        if named.entry is None and number:
            part = self._corpus.names.numbered(reference.number_kind, number, source, reference.document)
            named = part if part.entry is not None else named
        if named.entry is None:
            return replace(reference, reason=named.reason, sure=0.0)
        if not number:
            return self._at(reference, named.entry, "", named.sure)
        return self._in_document(reference, named) or replace(
            reference, reason=f"no {reference.text} in {named.entry.title}", sure=0.0
        )

    def _in_same_work(self, reference: Reference, document: int) -> Reference:
        """A number that this file lacks may say in which other file of the same work it stands."""
        source = self._corpus.by_id(document)
        if source is None:
            return reference
        number = tuple(reference.number_key.split("_"))
        named = self._corpus.names.numbered(reference.number_kind, number, source)
        return self._in_document(reference, named) or reference

    def _in_document(self, reference: Reference, named: Named) -> Reference | None:
        entry = named.entry
        if entry is None:
            return None
        found = [place for place in self._numbered(reference) if place.document == entry.id]
        return self._placed(reference, found[0], named.sure) if found else None

    def _numbered(self, reference: Reference) -> list[PlaceStart]:
        key, kind = reference.number_key, reference.number_kind
        if key not in self._places:
            self._places[key] = self._lookup.starts_by_number([key]).get(key, [])
        return [
            place for place in self._places[key] if place.kind == kind or {place.kind, kind} <= LEAF_KINDS
        ]

    def preload(self, references: Iterable[Reference]) -> None:
        """Look up the numbers that lead elsewhere all at once."""
        keys = {ref.number_key for ref in references if ref.number_key and not ref.target_chunk}
        found = self._lookup.starts_by_number(keys - self._places.keys())
        self._places.update({key: found.get(key, []) for key in keys - self._places.keys()})

    def _placed(self, reference: Reference, place: PlaceStart, sure: float) -> Reference:
        entry = self._corpus.by_id(place.document)
        path = entry.source_path if entry else ""
        holder = self._lookup.chunk_at(place.document, place.start)
        return replace(
            reference,
            target_section=place.section_id,
            target_path=path,
            target_chunk=chunk_id(path, holder[1]) if holder else "",
            reason="",
            sure=sure if holder else 0.0,
        )

    def _at(self, reference: Reference, entry: Entry, section_id: str, sure: float) -> Reference:
        offset = self._offset(entry.id, section_id)
        holder = self._lookup.chunk_at(entry.id, offset) if offset is not None else None
        return replace(
            reference,
            target_section=section_id,
            target_path=entry.source_path,
            target_chunk=chunk_id(entry.source_path, holder[1]) if holder else "",
            reason="" if reference.target_section == "" and holder else reference.reason,
            sure=sure if holder else 0.0,
        )

    def _offset(self, document: int, section_id: str) -> int | None:
        if not section_id:
            first = self._lookup.place(document, 0)
            return first.place.start if first else None
        found = self._lookup.places_by_id(section_id, {document})
        return found[0].place.start if found else None
