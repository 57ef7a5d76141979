"""Find what somebody names: documents by path, name or title; places by id, address, reference or heading."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from loccit.answers.near import LOOKED_AT, near_names, near_places
from loccit.answers.verbatim.quotes import verify_quotes
from loccit.errors import LoccitError, NotFoundError, UsageError
from loccit.grammar.labels import Label
from loccit.grammar.labels.document_keys import path_key, path_parts
from loccit.grammar.text.keys import title_key
from loccit.index.port.filters import among
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry, NameLookup
from loccit.index.port.records import GonePlace, StoredPlace
from loccit.model.document import line_of
from loccit.model.place_ids import is_place_id
from loccit.model.quotes import ABSENT, EXACT, QuoteCheck
from loccit.model.uris import Place as Address
from loccit.model.uris import place_of
from loccit.model.views import NumberedLine
from loccit.search.resolve.numbered_lines import (
    clause_lines,
    find_codes,
    has_points,
    lines_bearing,
    sections_with_code,
    shown_line,
)
from loccit.search.resolve.places import ResolvedPlace, Resolver, searched, titled, with_whole_works
from loccit.search.retrieve.printed import as_printed
from loccit.search.understand.names import Called, NameIndex
from loccit.search.understand.place_lists import (
    STEPS_UNDERSTOOD,
    asks_for_step,
    goes_on,
    is_range,
    left_over,
    split_list,
)
from loccit.search.understand.query import Query, understand

# Fewer words occur in too many places.
_FEWEST_WORDS = 5


def explain_gone(index: SearchIndex, place_id: str) -> str:
    """Explain what became of a place whose id is no longer in the library."""
    gone = index.lookup.gone_place(place_id)
    if gone is None:
        return (
            f"No place in this library has the id {place_id}. Ids are printed by search and outline; "
            "look the place up by its label or heading."
        )
    known = index.names.at([gone.source_path])
    name = gone.label or gone.heading
    said = f"{place_id} was {name + ' of ' if name else ''}{gone.source_path}"
    if not known:
        said += ", which was removed from the library."
    elif again := index.lookup.places_by_id(gone.section_id, {entry.id for entry in known.values()}):
        said += f", where {again[0].place.name or gone.section_id} is now another place [{again[0].place.place_id}]."
    else:
        said += ", which has no such place any more."
    check = _find_text(index, gone, bool(known))
    found_not = "Its text was not found" if check is not None else "Its text is too short to be looked for"
    if check is not None and check.status != ABSENT:
        found = check.places[0]
        what = "Its text is now in" if check.status == EXACT else "The most similar text is in"
        where = found.location or found.document_title
        there = "" if found.source_path == gone.source_path else f" of {found.source_path}"
        return f"{said} {what} {where}{there} [{found.place_id}]."
    holder = _holder(index, gone, {entry.id for entry in known.values()}) if known else None
    if holder is not None:
        return f"{said} {found_not}; it was under {holder.place.name} [{holder.place.place_id}]."
    return f"{said} {found_not}{' in any other place' if check is not None else ''}."


def _find_text(index: SearchIndex, gone: GonePlace, known: bool) -> QuoteCheck | None:
    """Look for the beginning of the text: in its own document first, then in all."""
    if len(gone.text.split()) < _FEWEST_WORDS:
        return None
    check = None
    for filters in ([{"path": glob.escape(gone.source_path)}] if known else []) + [None]:
        check = verify_quotes(index, [gone.text], filters=filters).checks[0]
        if check.status != ABSENT:
            return check
    return check


def _holder(index: SearchIndex, gone: GonePlace, documents: set[int]) -> StoredPlace | None:
    """Return the innermost remaining place that would contain it, by its id: ``sec_4_2`` for ``sec_4_2_a``."""
    section_id = gone.section_id
    while "_" in section_id:
        section_id = section_id.rpartition("_")[0]
        if found := index.lookup.places_by_id(section_id, documents):
            return found[0]
    return None


# Sections that are read for a part that is no place of its own, and lines with its number that are told.
_MOST_HOLDERS, _MOST_LINES = 50, 5


def find_documents(index: SearchIndex, name: str) -> list[Entry]:
    """Return the documents that a path, the end of a path, a file name or a title refers to, ordered by path.

    The id of a place stands for its document.
    """
    names = index.names
    if found := _called(names, name):
        return found
    if place := with_id(index, name):
        return [Entry(place.document, place.source_path, place.document_title)]
    hint = near_names(name, ((entry.source_path, entry.title) for entry in names.first(LOOKED_AT)))
    raise NotFoundError(f"There is no document {name!r} in the library.{hint}", "document")


def _called(names: NameLookup, name: str) -> list[Entry]:
    parts, key = PurePath(name).parts, title_key(name)
    if exactly := names.at([name]):
        return list(exactly.values())
    end = path_key(path_parts(name))
    ending = names.ending([end], whole=False).get(end, []) if end else []
    found = [entry for entry in ending if parts and PurePath(entry.source_path).parts[-len(parts) :] == parts]
    found = found or [
        entry for entry in ending if PurePath(entry.source_path).stem.casefold() == name.casefold()
    ]
    found = list({entry.id: entry for entry in found}.values()) or (names.titled(key) if key else [])
    return sorted(found, key=lambda entry: entry.source_path)


# -- places -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place that was named, whether the name was resolved completely, and other places that it fits.

    Where a part of the place was named that is none itself, ``lines`` are those that begin with its number.
    """

    place: StoredPlace
    exact: bool = True
    others: Sequence[StoredPlace] = ()
    lines: Sequence[NumberedLine] = ()


class SeveralPlaces(UsageError):  # noqa: N818 - whoever can read several places takes it for a list
    """A reference names several places where only one is allowed."""


class PlaceFinder:
    """Finds places in all documents of a library, or ``within`` some; lookups are cached.

    Unless ``exact``, a number that no place has leads to the nearest place with a line that has it.
    """

    def __init__(
        self, index: SearchIndex, within: Collection[int] | None = None, *, exact: bool = True
    ) -> None:
        self.index = index
        self.within = within
        self._exact = exact
        self._names = NameIndex(index.names)

    def find(self, reference: str, document: str | None, *, heading: bool = False) -> FoundPlace:
        """Return the place that a reference, an id or a heading names; with ``heading``, only an exact heading.

        The document is given as ``document``, or named in the reference. An address printed in an answer leads to its
        place. A text that names more than one place is refused, never half understood.
        """
        found = self._find(reference, document, heading)
        return found if isinstance(found, FoundPlace) else FoundPlace(found[0], others=found[1:])

    def _find(
        self, reference: str, document: str | None, heading: bool = False
    ) -> FoundPlace | list[StoredPlace]:
        address = place_of(reference)
        if address is not None and not address.document:
            # The address of a place by its id.
            reference, address = address.section_id, None
        if found := with_id(self.index, reference):
            return [self._inside(found, document)]
        if address and (there := self._addressed(address, document)):
            return there
        lookup = self.index.lookup
        held: FoundPlace | None = None
        query, documents = self._read(reference, document)
        resolver = self._resolver(document)
        resolved = [] if heading else resolver.resolve_all(query, documents)
        if by_id := lookup.places_by_id(reference.strip(), documents):
            return by_id
        titles = titled(query.text, lookup, documents)
        if titles and query.rest:
            # The whole reference is a heading; that a part of it looks like a number is coincidence.
            return titles
        within = among(query.named, documents) or documents
        if resolved:
            _check_understood(reference, query, resolved[0], resolver, documents)
            if not resolved[0].rest:
                return [item.found for item in resolved if item.label.text == resolved[0].label.text]
            held = self._holding(resolved)
            if held is not None and held.lines:
                return held
        if titles:
            return titles
        for code in () if heading else find_codes(query.rest):
            if coded := sections_with_code(code, lookup, within):
                return coded
        if not heading and len(query.references) < 2:
            # Whatever is numbered by a word that is not known, a line may begin with it.
            asked = query.references[0] if query.references else Label(query.text, "other", ())
            numbered = query.references or re.search(r"\d", asked.text)
            if numbered and (bearing := self._with_line(asked, within)):
                return bearing
        if held is not None:
            return held
        raise self._nothing(reference, query, within, document)

    def _holding(self, resolved: Sequence[ResolvedPlace]) -> FoundPlace | None:
        """Return the place with a line that has the number of the part that was named, or else the only place."""
        lines = [(item.found, self._lines(item)) for item in resolved[:_MOST_HOLDERS]]
        having = [(place, own) for place, own in lines if own]
        label = resolved[0].label
        # `3.10` without a word may be anything.
        vague = not label.kind and has_points(label, resolved[0].rest)
        if not having and (vague or len({place.document for place, _ in lines}) > 1):
            return None
        (place, own), *others = having or lines
        return FoundPlace(place, False, [other for other, _ in others], own)

    def _lines(self, item: ResolvedPlace) -> list[NumberedLine]:
        place, lookup = item.place, self.index.lookup
        text = lookup.document_text(item.found.document, place.start, place.end)
        spans = clause_lines(item.label, item.rest, text)[:_MOST_LINES]
        starts = lookup.line_starts(item.found.document) if spans else ()
        return [
            NumberedLine(
                line_of(starts, text, place.start, place.lines.first, place.start + start),
                shown_line(text[start:end]),
            )
            for start, end in spans
        ]

    def _with_line(self, label: Label, documents: Collection[int] | None) -> FoundPlace | None:
        """Return the place with a line that begins with a number that no place has, or unless exactly, has it."""
        found, _ = lines_bearing(label, self.index.lookup, self.index.keyword, documents)
        having: dict[tuple[int, int], tuple[StoredPlace, list[NumberedLine]]] = {}
        best = next(((line.first, line.alike, line.contents) for line in found), None)
        wanted = {(True, True, False)} if self._exact or best is None else {best}
        for line in found:
            if (line.first, line.alike, line.contents) not in wanted:
                continue
            # The innermost section.
            for place in self.index.lookup.places_at([(line.chunk.document, line.chunk.section)]):
                key = (place.document, place.place.ordinal)
                text = line.chunk.content[line.start : line.end].partition("\n")[0]
                having.setdefault(key, (place, []))[1].append(
                    NumberedLine(line.lines.first, shown_line(text))
                )
        if not having:
            return None
        (place, own), *others = having.values()
        return FoundPlace(place, False, [other for other, _ in others], own[:_MOST_LINES])

    def _read(self, reference: str, document: str | None) -> tuple[Query, Collection[int] | None]:
        """Parse a reference, and return it with the documents to search."""
        lookup = self.index.lookup
        if not document:
            query = understand(reference, typed=False, names=self._names, called="reference")
            query = as_printed(query, lookup, self.within)
            return with_whole_works(query, self._names, lookup), self.within
        query = understand(reference, typed=False, called="reference")
        entries = find_documents(self.index, document)
        called = Called(document, 0, 0, frozenset(entry.id for entry in entries), sure=True)
        query = as_printed(replace(query, called=(called,)), lookup, self.within)
        query = with_whole_works(query, self._names, lookup)
        return replace(query, called=()), among(set(query.named), self.within)

    def _resolver(self, document: str | None) -> Resolver:
        return Resolver(self.index.lookup, None if document else self._names)

    def _nothing(
        self, reference: str, query: Query, documents: Collection[int] | None, document: str | None
    ) -> NotFoundError:
        if self.within is None and is_place_id(_bare(reference)):
            return NotFoundError(explain_gone(self.index, _bare(reference)))
        if self.within is None and asks_for_step(reference):
            return NotFoundError(f"No section is called {reference!r}. {STEPS_UNDERSTOOD}")
        # Only in documents that may be shown.
        near = f"{near_places(self.index, query, documents)} {self.index.missing}".rstrip()
        if self.within is not None:
            return NotFoundError(f"No document of this tool has a section {reference!r}.{near}", "place")
        if document:
            found, there = self._attempt(reference, None), ""
            # Not an Article 5 where a Section 5 was asked for.
            asked = [label.text for label in query.references]
            if isinstance(found, FoundPlace) and found.place.place.label in asked:
                there = f" {found.place.source_path} has one."
            return NotFoundError(f"No section of {document} is called {reference!r}.{there}{near}", "place")
        return NotFoundError(f"No section is called {reference!r}.{near}", "place")

    def _inside(self, found: StoredPlace, document: str | None) -> StoredPlace:
        """Return a place if it is in the documents searched, and in those of a name."""
        if self.within is not None and found.document not in self.within:
            raise NotFoundError(f"No document of this tool has a section {found.place.place_id!r}.")
        if document and found.document not in {one.id for one in find_documents(self.index, document)}:
            raise NotFoundError(
                f"{found.place.place_id} is a place of {found.source_path}, not of {document}."
            )
        return found

    def _addressed(self, address: Address, document: str | None) -> FoundPlace | list[StoredPlace] | None:
        """Return the place of an address; None if no document has its name, since it may not be an address."""
        known = [
            entry
            for entry in _called(self.index.names, address.document)
            if self.within is None or entry.id in self.within
        ]
        if not known:
            return None
        if document:
            inside = {entry.id for entry in find_documents(self.index, document)}
            known = [entry for entry in known if entry.id in inside]
            if not known:
                raise NotFoundError(f"{address.document}#{address.section_id} is not a place of {document}.")
        lookup = self.index.lookup
        if not address.section_id:
            whole = [lookup.place(entry.id, 0) for entry in known]
            return [place for place in whole if place is not None]
        found = lookup.places_by_id(address.section_id, {entry.id for entry in known})
        return found or self._find(address.section_id, known[0].source_path)

    # -- several places in one text --------------------------------------------------------------------------

    def find_list(self, reference: str, document: str | None, most: int) -> list[FoundPlace]:
        """Return all places of a list or range written as one text; none if it is not a list."""
        parts = split_list(reference)
        if len(parts) > most:
            raise UsageError(
                f"At most {most} places can be read at once, and the reference names {len(parts):,}. Ask in parts."
            )
        query, documents = self._read(reference, document)
        read = len(query.references) >= max(2, len(parts)) and not goes_on(query.rest)
        if read and not left_over(query.rest):
            within = searched(query, documents)
            resolver = self._resolver(document)
            groups = [resolver.resolve(label, {}, within) for label in query.references]
            if is_range(reference) and len(parts) == 1 and groups[0] and groups[-1]:
                return self._through(reference, groups[0], groups[-1])
            if all(group and not group[0].rest for group in groups):
                return _together(groups)
        return self._each(reference, parts, document) if len(parts) > 1 else []

    def _through(
        self, reference: str, first: Sequence[ResolvedPlace], last: Sequence[ResolvedPlace]
    ) -> list[FoundPlace]:
        """Return all places from one to another of the same level."""
        start, end = (found.place for found in _together([first, last]))
        if start.document != end.document or end.place.start < start.place.start:
            raise UsageError(
                f"{reference!r} is not understood: a range needs two places of one document, in order."
            )
        level = (start.place.level, start.place.is_heading)
        return [
            FoundPlace(replace(start, place=place))
            for place in self.index.lookup.places_of_document(start.document)
            if start.place.start <= place.start <= end.place.start
            and (place.level, place.is_heading) == level
        ]

    def _each(self, reference: str, parts: Sequence[str], document: str | None) -> list[FoundPlace]:
        """Return the places of all parts of a list, or none if any is not found."""
        found: list[FoundPlace] = []
        for part in parts:
            # The following parts are mostly in the same document.
            near = None if document or not found else self._attempt(part, found[0].place.source_path)
            there = near if isinstance(near, FoundPlace) else self._attempt(part, document)
            if not isinstance(there, FoundPlace):
                also = f", though {parts[0]!r} is a place" if found else ""
                raise NotFoundError(f"{reference!r} is not understood as a list{also}: {there}", "place")
            found.append(there)
        return found

    def _attempt(self, reference: str, document: str | None) -> FoundPlace | LoccitError:
        try:
            return self.find(reference, document)
        except LoccitError as error:
            return error


def with_id(index: SearchIndex, text: str) -> StoredPlace | None:
    """Return the place with an id, which may be in brackets, as it is printed."""
    wanted = _bare(text)
    return index.lookup.places_with([wanted]).get(wanted) if is_place_id(wanted) else None


def _bare(text: str) -> str:
    return text.strip().removeprefix("[").removesuffix("]").lower()


# -- whether a text was understood whole ----------------------------------------------------------------------


def _check_understood(
    reference: str,
    query: Query,
    first: ResolvedPlace,
    resolver: Resolver,
    documents: Collection[int] | None,
) -> None:
    """Refuse a text that also names other places, or a place relative to this one."""
    within = searched(query, documents)
    several = goes_on(query.rest)
    for label in query.references if len(query.references) > 1 else ():
        there = [item.found for item in resolver.resolve(label, {}, within)]
        # `chapter 2, section 1` names one place; `sections 1 and 2` does not.
        several = several or not any(_around(place, first.found) for place in there)
    known = title_key(
        f"{first.place.heading} {first.found.document_title} {PurePath(first.found.source_path).stem}"
    )
    if words := [word for word in left_over(query.rest) if word not in known.split()]:
        refused = SeveralPlaces if several else UsageError
        raise refused(
            f"{reference!r} is not understood: it is not clear what {words[0]!r} means here. {STEPS_UNDERSTOOD}"
        )
    if several:
        raise SeveralPlaces(f"{reference!r} names several places. Name one.")


def _around(outer: StoredPlace, inner: StoredPlace) -> bool:
    return (
        outer.document == inner.document
        and outer.place.start <= inner.place.start
        and inner.place.end <= outer.place.end
    )


def _together(groups: Sequence[Sequence[ResolvedPlace]]) -> list[FoundPlace]:
    """Choose one place for each label, all from one document if one has them all."""
    common = set.intersection(*({item.found.document for item in group} for group in groups))
    chosen = next((item.found.document for item in groups[0] if item.found.document in common), None)
    found = []
    for group in groups:
        best = next((item for item in group if item.found.document == chosen), group[0])
        found.append(FoundPlace(best.found, not best.rest, [one.found for one in group if one is not best]))
    return found
