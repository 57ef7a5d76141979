"""Read: a place or a whole document, asked for by name, as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.errors import NotFoundError
from pinakes.model import SectionView, chunk_id
from pinakes.model.document import holds_any
from pinakes.port.index import SearchIndex
from pinakes.port.rows import StoredPlace
from pinakes.search.links.navigate import find_documents, tree
from pinakes.search.query.names import NameIndex
from pinakes.search.query.understand import understand
from pinakes.search.retrieve.codes import find_codes, sections_with_code
from pinakes.search.retrieve.resolve import Resolver

_MAX_ALTERNATIVES = 20


def find_place(
    index: SearchIndex, reference: str, document: str | None, names: NameIndex | None = None
) -> tuple[list[StoredPlace], bool]:
    """Return the places that a reference, an id or a heading names; whether it leads all the way.

    A document is given as ``document``, or named in the reference, if ``names`` knows it.
    """
    query = understand(reference, typed=False, names=None if document else names)
    documents = {entry.id for entry in find_documents(index.names, document)} if document else None
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
    near = index.lookup.similar_titles(query.title_key.split()[:6], 3)
    hint = f" Did you mean: {'; '.join(item.place.heading for item in near)}?" if near else ""
    raise NotFoundError(f"No section is called {reference!r}.{hint}")


def read_section(
    index: SearchIndex, reference: str, document: str | None, names: NameIndex | None = None
) -> SectionView:
    """Return the place that a reference names."""
    found, exact = find_place(index, reference, document, names)
    return section_view(index, found[0], exact=exact, alternatives=found[1:])


def whole_document(index: SearchIndex, name: str) -> SectionView:
    """Return the document of a name as one section, with the sections of the first level as its children."""
    found, *others = find_documents(index.names, name)
    if others:
        paths = ", ".join(entry.source_path for entry in (found, *others))
        raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
    root = index.lookup.place(found.id, 0)
    if root is None:
        raise NotFoundError(f"{name!r} was removed from the library.")
    return section_view(index, root)


def section_view(
    index: SearchIndex,
    found: StoredPlace,
    *,
    exact: bool = True,
    alternatives: Sequence[StoredPlace] = (),
) -> SectionView:
    """Return a place with its text; a clause has the heading and the path of what it stands under."""
    place = found.place
    chunks = index.lookup.chunk_indexes_between(found.document, place.start, place.end)
    holder = found if place.is_heading else index.lookup.place(found.document, place.section)
    chain = list(holder.place.path) if holder else []
    # Headings below, and the clauses of the section itself.
    around = [
        other
        for other in index.lookup.places_of_document(found.document)
        if other.is_heading or other.section == place.section
    ]
    return SectionView(
        source_path=found.source_path,
        document_title=found.document_title,
        section_id=place.section_id,
        section_label=place.label,
        heading=holder.place.heading if holder else "",
        heading_level=place.level,
        parent_chain=chain if place.is_heading else [*chain, place.label],
        text=index.lookup.document_text(found.document, place.start, place.end).strip(),
        lines=place.lines,
        pages=place.pages,
        children=tree(around, place.ordinal),
        chunk_ids=[chunk_id(found.source_path, number) for number in chunks],
        exact=exact,
        alternatives=[
            f"{other.source_path}#{other.place.section_id}" for other in alternatives[:_MAX_ALTERNATIVES]
        ],
        from_image=bool(place.pages)
        and holds_any(index.lookup.image_pages([found.source_path]).get(found.source_path), place.pages),
        uncertain=any(check.doubtful for check in index.lookup.self_checks([found.document]).values()),
    )
