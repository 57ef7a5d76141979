"""Read: a section, a clause or a whole document, asked for by name, as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.errors import NotFoundError
from pinakes.model import Clause, OutlineNode, Section, SectionView, chunk_id
from pinakes.model.document import holds_any
from pinakes.search.codes import find_codes, sections_with_code
from pinakes.search.names import NameIndex
from pinakes.search.navigate import clause_tree, find_documents, section_tree
from pinakes.search.resolve import Resolver
from pinakes.search.understand import understand
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.lookup import StoredClause, StoredSection

_MAX_ALTERNATIVES = 20


def find_place(
    index: EmbeddedIndex, reference: str, document: str | None, names: NameIndex | None = None
) -> tuple[list[StoredSection | StoredClause], bool]:
    """Return the sections and clauses that a reference, an id or a heading names; whether it leads all the way.

    A document is given as ``document``, or named in the reference, if ``names`` knows it.
    """
    query = understand(reference, typed=False, names=None if document else names)
    documents = {int(row["id"]) for row in find_documents(index, document)} if document else None
    resolved = Resolver(index.lookup, names).resolve_all(query, documents)
    name = reference.strip()
    by_id: list[StoredSection | StoredClause] = [
        *index.lookup.sections_by_id(name, documents),
        *index.lookup.clauses_by_id(name, documents),
    ]
    titles = index.lookup.sections_by_title(query.title_key, documents)
    if by_id:
        return by_id, True
    if titles and query.rest:
        # The whole reference is a heading; that a part of it looks like a number is chance.
        return list(titles), True
    if resolved:
        return [item.found for item in resolved], not resolved[0].rest
    if titles:
        return list(titles), True
    for code in find_codes(query.rest):
        if coded := sections_with_code(code, index.lookup, query.named or documents):
            return list(coded), True
    near = index.lookup.similar_titles(query.title_key.split()[:6], 3)
    hint = f" Did you mean: {'; '.join(item.section.heading for item in near)}?" if near else ""
    raise NotFoundError(f"No section is called {reference!r}.{hint}")


def read_section(
    index: EmbeddedIndex, reference: str, document: str | None, names: NameIndex | None = None
) -> SectionView:
    """Return the section or clause that a reference names."""
    found, exact = find_place(index, reference, document, names)
    return section_view(index, found[0], exact=exact, alternatives=found[1:])


def whole_document(index: EmbeddedIndex, name: str) -> SectionView:
    """Return the document of a name as one section, with the sections of the first level as its children."""
    found, *others = find_documents(index, name)
    if others:
        paths = ", ".join(str(row["source_path"]) for row in (found, *others))
        raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
    root = index.lookup.section(int(found["id"]), 0)
    if root is None:
        raise NotFoundError(f"{name!r} was removed from the library.")
    return section_view(index, root)


def section_view(
    index: EmbeddedIndex,
    found: StoredSection | StoredClause,
    *,
    exact: bool = True,
    alternatives: Sequence[StoredSection | StoredClause] = (),
) -> SectionView:
    """Return a section or clause with its text."""
    place: Section | Clause = found.clause if isinstance(found, StoredClause) else found.section
    chunks = index.lookup.chunk_indexes_between(found.document, place.start, place.end)
    if isinstance(place, Clause):
        holder = index.lookup.section(found.document, place.section)
        heading = holder.section.heading if holder else ""
        level = (holder.section.level if holder else 0) + place.depth
        chain = [*(holder.section.path if holder else ()), place.label]
        children = _clauses_below(index, found.document, place)
    else:
        heading, level, chain = place.heading, place.level, list(place.path)
        children = _sections_below(index, found.document, place)
    return SectionView(
        source_path=found.source_path,
        document_title=found.document_title,
        section_id=place.section_id,
        section_label=place.label,
        heading=heading,
        heading_level=level,
        parent_chain=chain,
        text=index.lookup.document_text(found.document, place.start, place.end).strip(),
        lines=place.lines,
        pages=place.pages,
        children=children,
        chunk_ids=[chunk_id(found.source_path, number) for number in chunks],
        exact=exact,
        alternatives=[_address(other) for other in alternatives[:_MAX_ALTERNATIVES]],
        from_image=bool(place.pages)
        and holds_any(index.lookup.image_pages([found.source_path]).get(found.source_path), place.pages),
        uncertain=any(check.doubtful for check in index.lookup.self_checks([found.document]).values()),
    )


def _address(found: StoredSection | StoredClause) -> str:
    place = found.clause if isinstance(found, StoredClause) else found.section
    return f"{found.source_path}#{place.section_id}"


def _sections_below(index: EmbeddedIndex, document: int, section: Section) -> list[OutlineNode]:
    below = [
        stored
        for stored in index.lookup.sections_of_document(document)
        if section.start <= stored.section.start < section.end or stored.section.ordinal == section.ordinal
    ]
    clauses = [
        stored
        for stored in index.lookup.clauses_of_document(document)
        if stored.clause.section == section.ordinal
    ]
    return [*clause_tree(clauses, None, section.level), *section_tree(below, section.ordinal)]


def _clauses_below(index: EmbeddedIndex, document: int, clause: Clause) -> list[OutlineNode]:
    below = [
        stored
        for stored in index.lookup.clauses_of_document(document)
        if clause.start <= stored.clause.start < clause.end and stored.clause.ordinal != clause.ordinal
    ]
    return clause_tree(below, clause.ordinal, 0)
