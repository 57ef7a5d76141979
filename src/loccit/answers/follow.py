"""Follow references: what a place refers to, and what refers to it, each with its place, its line and its sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from loccit.answers.citations import Citations
from loccit.answers.find_places import FoundPlace
from loccit.answers.questions import section_view
from loccit.answers.read_places import PlaceReader
from loccit.errors import NotFoundError, UsageError
from loccit.grammar.text.sentences import sentence_ends
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import Entry
from loccit.index.port.records import Standing, StoredPlace
from loccit.model import Citation, MissingPlace, Place, Reference, ReferencesResponse, line_of
from loccit.search.resolve.reference_graph import ReferenceGraph

# This many characters before and after a reference show its purpose.
_WORDS_BEFORE, _WORDS_AFTER = 120, 120
_END = 1 << 30


def follow_references(
    index: SearchIndex,
    references: str | Sequence[str],
    document: str | None,
    *,
    within: Collection[int] | None = None,
) -> ReferencesResponse:
    """Return what places refer to and what refers to them, one after the other; both only ``within`` some documents."""
    if isinstance(references, str) and not references.strip():
        raise UsageError("The reference is empty: name at least one place.")
    found, missing = _named_places(index, references, document, within)
    follower = _Follower(index, within)
    first, *also = (follower.follow(one) for one in found)
    return replace(first, also=also, missing=missing)


def _named_places(
    index: SearchIndex, references: str | Sequence[str], document: str | None, within: Collection[int] | None
) -> tuple[list[FoundPlace], list[MissingPlace]]:
    """The places that are named; a document that is named alone stands for all of it."""
    reader = PlaceReader(index, within)
    try:
        return reader.find_all(references, document)
    except NotFoundError:
        if document or not isinstance(references, str):
            raise
        with suppress(NotFoundError):
            whole, _ = reader.find_all("", references)
            if whole and (within is None or whole[0].place.document in within):
                return whole, []
        raise


class _Follower:
    """Follows the references of places; what it looks up for one is at hand for the next."""

    def __init__(self, index: SearchIndex, within: Collection[int] | None) -> None:
        self._index = index
        self._within = within
        self._graph = ReferenceGraph(index)
        self._places = lru_cache(maxsize=8)(index.lookup.places_of_document)
        self._names = lru_cache(maxsize=8)(self._names_in)
        # References of one document are adjacent, and each text is read once.
        self._text = lru_cache(maxsize=2)(lambda document: index.lookup.document_text(document, 0, _END))
        self._starts = lru_cache(maxsize=2)(index.lookup.line_starts)

    def follow(self, found: FoundPlace) -> ReferencesResponse:
        """Return what a place refers to, and what refers to it, to a part of it, or to a place that contains it."""
        stored = found.place
        place, document = stored.place, stored.document
        places = self._places(document)
        entry = Entry(document, stored.source_path, stored.document_title)
        view = section_view(
            self._index,
            stored,
            exact=found.exact,
            alternatives=found.others,
            places=places,
            lines=found.lines,
        )
        # The fields of its head are part of a whole document.
        begin = place.start if place.parent is not None else 0
        cites = [(entry, item) for item in self._graph.in_span(document, begin, place.end)]
        above = _above(place, places)
        below = [one for one in places if place.start <= one.start < place.end]
        citations = Citations(self._graph, document, places, wanted=[*below, *above], within=self._within)
        around = [item for holder in above for item in citations.of_itself(holder)]
        whole = citations.of_document
        return ReferencesResponse(
            view,
            self._standing(cites),
            self._standing(citations.of(place)),
            self._standing(around),
            self._standing(whole) if whole and self._is_whole(stored, places) else [],
            len(whole),
        )

    def _is_whole(self, found: StoredPlace, places: Sequence[Place]) -> bool:
        """Whether a place is a document, or the title that all of its text stands under."""
        root, place = places[0], found.place
        if place.parent is None:
            return True
        before = (found.document, root.start, place.start)
        return (
            place.parent == root.ordinal
            and place.end >= root.end
            and not self._index.lookup.document_text(*before).strip()
        )

    def _standing(self, found: Sequence[tuple[Entry, Reference]]) -> list[Citation]:
        """Locate references: label and heading of the innermost place around each, its line and its sentence."""
        places = self._index.lookup.standing([(entry.id, item.start) for entry, item in found])
        citations = []
        for entry, item in found:
            at = places.get((entry.id, item.start)) or Standing("", "", "", "", 0, 1)
            text = self._text(entry.id)
            line = line_of(self._starts(entry.id), text[at.start : item.start], at.start, at.line, item.start)
            words = words_around(text, item.start, item.end)
            target = self._names(item.target_path).get(item.target_section, "") if item.target_section else ""
            where = (entry.source_path, entry.title, at.label, at.heading, line)
            citations.append(Citation(*where, item, at.place_id, words, target))
        return citations

    def _names_in(self, path: str) -> dict[str, str]:
        """The names of a document's places, by id: headings in full, clauses by label."""
        entry = self._index.names.at([path]).get(path)
        places = self._places(entry.id) if entry else ()
        return {place.section_id: place.heading or place.label for place in places if place.section_id}


def _above(place: Place, places: Sequence[Place]) -> list[Place]:
    """The labelled places around a place, innermost first, without the document itself."""
    by_ordinal = {one.ordinal: one for one in places}
    found: list[Place] = []
    parent = place.parent
    while parent is not None and parent in by_ordinal:
        holder = by_ordinal[parent]
        if holder.ordinal and holder.number:
            found.append(holder)
        parent = holder.parent
    return found


def words_around(text: str, start: int, end: int) -> str:
    """Return the sentence around a span of a text; of a long one, the part near the span.

    >>> words_around("It is cold. Section 4 does not apply to ships. Ships sail.", 12, 21)
    'Section 4 does not apply to ships.'
    """
    line, after = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    after = len(text) if after < 0 else after
    line, after = max(line, start - 2 * _WORDS_BEFORE), min(after, end + 2 * _WORDS_AFTER)
    low = max((at for at in sentence_ends(text, line, end) if at <= start), default=line)
    high = min((at for at in sentence_ends(text, end, after)), default=after)
    cut_low, cut_high = start - low > _WORDS_BEFORE, high - end > _WORDS_AFTER
    low = text.rfind(" ", 0, start - _WORDS_BEFORE) + 1 if cut_low else low
    high = text.rfind(" ", end, end + _WORDS_AFTER) if cut_high else high
    return f"{'…' if cut_low else ''}{' '.join(text[low:high].split())}{'…' if cut_high else ''}"
