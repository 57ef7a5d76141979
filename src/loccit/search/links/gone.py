"""Places that are gone: what is remembered about an id that somebody still uses, and where its text went."""

from __future__ import annotations

import glob

from loccit.model.quotes import ABSENT, EXACT, QuoteCheck
from loccit.port.index import SearchIndex
from loccit.port.records import GonePlace, StoredPlace
from loccit.search.verbatim.quotes import verify_quotes

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
