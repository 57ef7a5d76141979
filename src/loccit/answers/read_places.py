"""Reading on: several places at once, the next or parent place, some of the lines, and what is cited."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from loccit.answers.find_places import FoundPlace, PlaceFinder, SeveralPlaces, find_documents
from loccit.answers.questions import section_view
from loccit.config.bounds import STEPS
from loccit.errors import NotFoundError, UsageError
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredPlace
from loccit.model import Lines, Place, SectionView
from loccit.model.place_ids import is_place_id, with_place_id
from loccit.model.views import CitedSection, MissingPlace, SectionsResponse
from loccit.search.resolve.reference_graph import ReferenceGraph
from loccit.search.understand.place_lists import NEXT, PARENT, STEPS_UNDERSTOOD, read_step

MOST_PLACES = 50
"""The maximum number of places per question."""
_MOST_STEPS = 3
_IDS = re.compile(r"[\s,;&]+(?:(?:and|und)\s+)?")


class PlaceReader:
    """Reads places of a library, or ``within`` some of its documents. Make one per question."""

    def __init__(
        self, index: SearchIndex, within: Collection[int] | None = None, *, exact: bool = True
    ) -> None:
        self._index = index
        self._within = within
        self._finder = PlaceFinder(index, within, exact=exact)
        self._places = lru_cache(maxsize=8)(index.lookup.places_of_document)

    # -- which places ----------------------------------------------------------------------------------------

    def find_all(
        self, references: str | Sequence[str], document: str | None, step: str | None = None
    ) -> tuple[list[FoundPlace], list[MissingPlace]]:
        """Return the places that a text or a list names, without duplicates, and the list entries not found."""
        missing: list[MissingPlace] = []
        if not isinstance(references, str):
            _check_number(len(references))
            found, missing = self.find_each(references, document, step)
        elif document and not references.strip():
            found = _whole(self._index, document)
        else:
            found = self.find(references, document, step)
        found = list({one.place.place.place_id: one for one in found}.values())
        _check_number(len(found))
        if not found:
            if missing:
                raise NotFoundError(" ".join(item.reason for item in missing[:3]), "place")
            raise UsageError("Name at least one place to read.")
        return found, missing

    def find(self, reference: str, document: str | None, step: str | None = None) -> list[FoundPlace]:
        """Return the places that a text names: one, a list, a range, or the next, previous or parent of another."""
        # Long runs of spaces take time with the square of their length.
        reference = "\n".join(" ".join(line.split()) for line in reference.splitlines() if line.strip())
        ids = [part.strip("[]") for part in _IDS.split(reference.strip()) if part]
        if len(ids) > 1 and all(is_place_id(one.lower()) for one in ids):
            _check_number(len(ids))
            found = [self._finder.find(one, document) for one in ids]
        else:
            found = self._find(reference, document)
        return found if step is None else [self._moved(one, step) for one in found]

    def find_each(
        self, references: Sequence[str], document: str | None, step: str | None
    ) -> tuple[list[FoundPlace], list[MissingPlace]]:
        """Return the places that these texts name, and the texts that name none."""
        found: list[FoundPlace] = []
        missing: list[MissingPlace] = []
        for reference in references:
            there = self._attempt(reference, document, step)
            if isinstance(there, NotFoundError):
                missing.append(MissingPlace(reference, str(there)))
            else:
                found += there
        return found, missing

    def _attempt(
        self, reference: str, document: str | None, step: str | None
    ) -> list[FoundPlace] | NotFoundError:
        try:
            return self.find(reference, document, step)
        except NotFoundError as error:
            return error

    def _find(self, reference: str, document: str | None, steps: int = 0) -> list[FoundPlace]:
        relative = read_step(reference)
        if steps > _MOST_STEPS:
            raise UsageError(f"At most {_MOST_STEPS} steps can be taken at once. {STEPS_UNDERSTOOD}")
        try:
            # A heading may begin with such words.
            return [self._finder.find(reference, document, heading=relative is not None)]
        except (NotFoundError, SeveralPlaces):
            if relative is not None:
                found = self._find(relative.place, document, steps + 1)
                if len(found) > 1:
                    raise UsageError(f"{relative.place!r} names {len(found)} places; name one.") from None
                return [self._moved(found[0], relative.step)]
            if found := self._finder.find_list(reference, document, MOST_PLACES):
                return found
            raise

    # -- steps -----------------------------------------------------------------------------------------------

    def _moved(self, found: FoundPlace, step: str) -> FoundPlace:
        if step not in STEPS:
            raise UsageError(f"Unknown step {step[:40]!r}: use {', '.join(STEPS[:-1])} or {STEPS[-1]}.")
        start = found.place.place
        places = self._places(found.place.document)
        if step == PARENT:
            there = next((one for one in places if one.ordinal == start.parent), None)
        else:
            there = self._after(found.place) if step == NEXT else _before(places, start)
        if there is None:
            name = with_place_id(start.name or found.place.document_title, start.place_id)
            which = {NEXT: "the last place", PARENT: "the whole"}.get(step, "the first place")
            raise NotFoundError(f"{name} is {which} of {found.place.source_path}: there is no {step} one.")
        return FoundPlace(replace(found.place, place=there))

    def _after(self, found: StoredPlace) -> Place | None:
        """Return what is read after a place: what begins where it ends, skipping headings without text."""
        start = found.place
        following = [one for one in self._places(found.document) if one.start >= start.end > start.start]
        there = following[0] if following else None
        while there is not None and there.level < start.level:
            below = next((one for one in following if one.parent == there.ordinal and one.is_heading), None)
            if below is None:
                break
            if self._index.lookup.document_text(found.document, there.body, below.start).strip():
                break
            there = below
        return there

    # -- reading ---------------------------------------------------------------------------------------------

    def view(self, found: FoundPlace, lines: Lines | None = None) -> SectionView:
        """Return a place with its text, or with some of its lines."""
        view = section_view(
            self._index,
            found.place,
            exact=found.exact,
            alternatives=found.others,
            places=self._places(found.place.document),
            lines=found.lines,
        )
        return view if lines is None else self._lines(found.place, view, lines)

    def _lines(self, found: StoredPlace, view: SectionView, wanted: Lines) -> SectionView:
        place = found.place
        text = self._index.lookup.document_text(found.document, place.start, place.end)
        starts = self._index.lookup.line_starts(found.document)
        kept = [
            (line, number)
            for line, number in _numbered(text, place.start, place.lines.first, starts)
            if wanted.first <= number <= wanted.last
        ]
        if not kept:
            name = with_place_id(place.name or found.document_title, place.place_id)
            raise NotFoundError(
                f"{name} has lines {place.lines.first}–{place.lines.last}, not {wanted.first}–{wanted.last}."
            )
        shown = Lines(kept[0][1], kept[-1][1])
        text = "".join(line for line, _ in kept).rstrip()
        return replace(view, text=text, lines=shown, whole_lines=place.lines, children=[])

    def cited(self, found: Sequence[FoundPlace]) -> list[CitedSection]:
        """Return the places that these places refer to outside themselves, without duplicates, in text order."""
        graph = ReferenceGraph(self._index)
        spans = [(one.place.document, one.place.place.start, one.place.place.end) for one in found]
        leading = graph.in_spans(spans)
        references = [item for span in dict.fromkeys(spans) for item in leading[span]]
        targets = self._index.lookup.places_with(
            {item.target_place_id for item in references if item.target_place_id}
        )
        seen = {one.place.place.place_id for one in found}
        cited: list[CitedSection] = []
        for item in references:
            target = targets.get(item.target_place_id)
            if target is None or not (self._within is None or target.document in self._within):
                if not item.resolved and item.text not in {one.text for one in cited}:
                    cited.append(CitedSection(item.text, None, item.reason or "not in the library"))
            elif item.target_place_id not in seen and not _holds(spans, target):
                seen.add(item.target_place_id)
                cited.append(self._cited(item.text, target, len(cited)))
        return cited

    def _cited(self, text: str, target: StoredPlace, number: int) -> CitedSection:
        name = with_place_id(target.place.name or target.document_title, target.place.place_id)
        if target.place.ordinal == 0:
            return CitedSection(text, None, f"the whole document {name}")
        if number >= MOST_PLACES:
            return CitedSection(text, None, f"not shown: {name}")
        return CitedSection(text, self.view(FoundPlace(target)), "")


def read_sections(
    index: SearchIndex,
    references: str | Sequence[str],
    document: str | None,
    *,
    within: Collection[int] | None = None,
    step: str | None = None,
    lines: Lines | None = None,
    with_references: bool = False,
    exact: bool = True,
) -> SectionsResponse:
    """Return places by name; entries of a list that are not found are reported in the answer."""
    reader = PlaceReader(index, within, exact=exact)
    found, missing = reader.find_all(references, document, step)
    if lines is not None and len(found) > 1:
        raise UsageError("Lines can be chosen from one place only; name a single one.")
    views = [reader.view(one, lines) for one in found]
    return SectionsResponse(views, reader.cited(found) if with_references else [], missing)


def _whole(index: SearchIndex, document: str) -> list[FoundPlace]:
    entries = find_documents(index, document)
    if len(entries) > 1:
        paths = ", ".join(entry.source_path for entry in entries)
        raise NotFoundError(f"Several documents are called {document!r}: {paths}. Give the whole path.")
    root = index.lookup.place(entries[0].id, 0)
    return [FoundPlace(root)] if root else []


def _check_number(number: int) -> None:
    if number > MOST_PLACES:
        raise UsageError(
            f"At most {MOST_PLACES} places can be read at once, and the reference names {number:,}. Ask in parts."
        )


def _before(places: Sequence[Place], start: Place) -> Place | None:
    """Return the place before one: under the same parent, or else the last one of its level."""
    ancestors = set(_ancestors(places, start))
    earlier = [
        one for one in places if one.start < start.start and one.ordinal not in ancestors and one.ordinal
    ]
    level = max((one.level for one in earlier if one.level <= start.level), default=0)
    siblings = [one for one in earlier if one.parent == start.parent]
    if siblings:
        return siblings[-1]
    return next((one for one in reversed(earlier) if one.level == level and one.is_heading), None)


def _ancestors(places: Sequence[Place], start: Place) -> Iterator[int]:
    by_ordinal = {one.ordinal: one for one in places}
    above = start.parent
    while above is not None:
        yield above
        above = by_ordinal[above].parent


def _holds(spans: Sequence[tuple[int, int, int]], target: StoredPlace) -> bool:
    place = target.place
    return any(
        document == target.document and start <= place.start and place.end <= end
        for document, start, end in spans
    )


def _numbered(
    text: str, begin: int, first: int, starts: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, int]]:
    """Return the lines of a text with their numbers in the file."""
    offset, number, following = begin, first, 0
    while following < len(starts) and starts[following][0] <= begin:
        following += 1
    for line in text.splitlines(keepends=True):
        yield line, number
        offset += len(line)
        number += 1
        while following < len(starts) and starts[following][0] <= offset:
            # Line numbers restart here.
            number = starts[following][1] + text.count("\n", starts[following][0] - begin, offset - begin)
            following += 1
