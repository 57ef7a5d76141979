"""Finding what somebody names: documents by path, name or title, places by id, address, reference or heading."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import PurePath

from pinakes.errors import NotFoundError
from pinakes.labels.document_keys import path_key, path_parts
from pinakes.model.place_ids import is_place_id
from pinakes.model.uris import Place as Address
from pinakes.model.uris import place_of
from pinakes.port.index import SearchIndex
from pinakes.port.names import Entry, NameLookup
from pinakes.port.records import StoredPlace
from pinakes.search.links.gone import explain_gone
from pinakes.search.query.names import NameIndex
from pinakes.search.query.understand import understand
from pinakes.search.retrieve.bearing import find_codes, sections_with_code
from pinakes.search.retrieve.resolve import Resolver
from pinakes.text.keys import title_key

# Documents whose names are compared with one that none has.
_LOOKED_AT = 2000


def find_documents(index: SearchIndex, name: str) -> list[Entry]:
    """Return the documents that a path, the end of a path, a file name or a title means, in the order of paths.

    The id of a place means its document.
    """
    names = index.names
    if found := _called(names, name):
        return found
    if place := with_id(index, name):
        return [Entry(place.document, place.source_path, place.document_title)]
    hint = near_names(name, ((entry.source_path, entry.title) for entry in names.first(_LOOKED_AT)))
    raise NotFoundError(f"There is no document {name!r} in the library.{hint}")


def near_names(name: str, documents: Iterable[tuple[str, str]]) -> str:
    """Return which of some documents, by path and title, a name may have meant, as a question; nothing if none."""
    called: dict[str, str] = {}
    for path, title in documents:
        # That both end with .md does not make two names alike.
        called.setdefault(PurePath(path).stem, PurePath(path).name)
        called.setdefault(title, title)
    near: list[str] = []
    for meant in dict.fromkeys((PurePath(name).stem, name)):
        near += difflib.get_close_matches(meant, called, n=3, cutoff=0.5)
    names = list(dict.fromkeys(called[key] for key in near))[:3]
    return f" Did you mean: {', '.join(names)}?" if names else ""


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


def find_place(
    index: SearchIndex, reference: str, document: str | None, names: NameIndex | None = None
) -> tuple[list[StoredPlace], bool]:
    """Return the places that a reference, an id or a heading names; whether it leads all the way.

    A document is given as ``document``, or named in the reference, if ``names`` knows it. What an answer has printed as
    the address of a place leads to that place.
    """
    place = place_of(reference)
    if place is not None and not place.document:
        # The address of a place by its id.
        reference, place = place.section_id, None
    if found := with_id(index, reference):
        return [_inside(index, found, document)], True
    if place and (there := _addressed(index, place, document)):
        return there
    query = understand(reference, typed=False, names=None if document else names)
    documents = {entry.id for entry in find_documents(index, document)} if document else None
    resolved = Resolver(index.lookup, names).resolve_all(query, documents)
    by_id = index.lookup.places_by_id(reference.strip(), documents)
    titles = index.lookup.places_by_title(query.title_key, documents)
    if by_id:
        return by_id, True
    if titles and query.rest:
        # The whole reference is a heading; that a part of it looks like a number is chance.
        return titles, True
    if resolved:
        return [item.found for item in resolved], not resolved[0].rest
    if titles:
        return titles, True
    for code in find_codes(query.rest):
        if coded := sections_with_code(code, index.lookup, query.named or documents):
            return coded, True
    if is_place_id(_bare(reference)):
        raise NotFoundError(explain_gone(index, _bare(reference)))
    near = index.lookup.similar_titles(query.title_key.split()[:6], 3)
    hint = f" Did you mean: {'; '.join(item.place.heading for item in near)}?" if near else ""
    raise NotFoundError(f"No section is called {reference!r}.{hint}")


def _addressed(
    index: SearchIndex, address: Address, document: str | None
) -> tuple[list[StoredPlace], bool] | None:
    """Return the place of an address; None where no document has its name, for it may be none after all."""
    known = _called(index.names, address.document)
    if not known:
        return None
    if document is not None:
        inside = {entry.id for entry in find_documents(index, document)}
        known = [entry for entry in known if entry.id in inside]
        if not known:
            raise NotFoundError(f"{address.document}#{address.section_id} is not a place of {document}.")
    if not address.section_id:
        whole = [index.lookup.place(entry.id, 0) for entry in known]
        return [place for place in whole if place is not None], True
    found = index.lookup.places_by_id(address.section_id, {entry.id for entry in known})
    return (found, True) if found else find_place(index, address.section_id, known[0].source_path)


def with_id(index: SearchIndex, text: str) -> StoredPlace | None:
    """Return the place of an id, which may stand in brackets, as it is printed."""
    wanted = _bare(text)
    return index.lookup.places_with([wanted]).get(wanted) if is_place_id(wanted) else None


def _bare(text: str) -> str:
    return text.strip().removeprefix("[").removesuffix("]").lower()


def _inside(index: SearchIndex, found: StoredPlace, document: str | None) -> StoredPlace:
    """Return a place that must stand in the documents of a name, if one is given."""
    if document is not None and found.document not in {one.id for one in find_documents(index, document)}:
        raise NotFoundError(f"{found.place.place_id} is a place of {found.source_path}, not of {document}.")
    return found
