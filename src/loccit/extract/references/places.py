"""Places: those of a document, found by number, by kind and relative to a reference."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from loccit.grammar.labels.model import CONTAINERS, depth, is_sub
from loccit.model import Place

# Kinds that may mean a heading with a bare number: `clause 4.2`, `chapter 3`.
_BARE = frozenset("section article clause paragraph rule chapter".split())
_LEAVES = ("", "section", "article", "clause", "paragraph", "rule", "regulation")
_MAX_RANGE = 200
_MAX_TRIED = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """A place, and the parts of the number that were not found below it."""

    place: Place
    missing: tuple[str, ...] = ()


class Places:
    """An index of one document's places, given in order."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._all = places
        self.headings: list[Place] = [place for place in places if place.is_heading]
        self._clauses = places[len(self.headings) :]
        self.kinds: set[str] = {heading.kind for heading in self.headings if heading.label}
        self._in_order = sorted(places, key=lambda place: (place.start, place.ordinal))
        self._numbered: dict[tuple[str, tuple[str, ...]], list[Place]] = {}
        self._children: dict[tuple[int, str], list[Place]] = {}
        self._beside: dict[tuple[object, ...], list[Place]] = {}
        for place in places:
            if not place.number:
                continue
            self._beside.setdefault(self._row(place), []).append(place)
            number = tuple(part.lower() for part in place.number)
            # `2.1` below *Article II* states its whole number, and is found by it.
            if place.is_heading or place.kind == "recital" or place.label == ".".join(place.number):
                kind = place.kind if place.is_heading or place.kind == "recital" else ""
                self._numbered.setdefault((kind, number), []).append(place)
            whole = self._whole(place)
            if whole is not None:
                self._children.setdefault((whole.ordinal, number[-1]), []).append(place)

    def _whole(self, place: Place) -> Place | None:
        """The place whose numbering the last part of a place's number belongs to."""
        above = self.parent(place)
        if above is not None and above.is_heading:
            above = self._labelled(above)
        if not place.is_heading:
            return above or self.section(place)
        # A bare number extends that of the heading above it: 4.2 below 4, or 3 below Annex I.
        counts_on = above is not None and place.number[:-1] == (
            above.number if above.kind not in CONTAINERS else ()
        )
        return above if counts_on and not place.kind else None

    def _labelled(self, heading: Place | None) -> Place | None:
        """The nearest heading, from one upwards, that numbers its parts: one with a label."""
        while heading is not None and not heading.label:
            heading = self.parent(heading)
        return heading

    def parent(self, place: Place) -> Place | None:
        """The place that contains a place."""
        return self._all[place.parent] if place.parent is not None else None

    def section(self, place: Place) -> Place:
        """The heading that a place is under, or is."""
        return self._all[place.section]

    # Where a reference stands ---------------------------------------------------------------------------

    def at(self, offset: int) -> Place:
        """The innermost place around an offset."""
        place = self._in_order[max(0, bisect_right(self._in_order, offset, key=_start) - 1)]
        while not place.is_heading and place.end <= offset and place.parent is not None:
            place = self._all[place.parent]
        return place

    def around(self, offset: int) -> list[Place]:
        """The places around an offset, innermost first, without the document itself."""
        found: list[Place] = []
        place = self.at(offset)
        while place.parent is not None:
            found.append(place)
            place = self._all[place.parent]
        return found

    def leaf_at(self, offset: int) -> list[Place]:
        """The clauses around an offset and the headings up to the one that numbers them."""
        found: list[Place] = []
        for place in self.around(offset):
            found.append(place)
            if place.is_heading and self._labelled(place) is place:
                break
        return found

    def of_kind(self, kind: str, offset: int) -> Place | None:
        """What *this Article*, *this Chapter* or *this paragraph* means at an offset."""
        around = self.around(offset)
        headings = [place for place in around if place.is_heading and place.label]
        for heading in headings:
            if heading.kind == kind:
                return heading
        clauses = [place for place in around if not place.is_heading]
        if is_sub(kind) and kind != "subsection" and clauses:
            return clauses[-1] if kind == "paragraph" else clauses[0]
        if kind in ("section", "clause", "subsection", "article", "paragraph"):
            # A bare number (32.706-2, 4.2) may be called section, subsection or clause.
            return next((heading for heading in headings if not heading.kind), None)
        return None

    def whole(self, place: Place, kind: str) -> Place:
        """The whole of a part of some kind, in *point (a) of paragraph 1 and the second subparagraph thereof*."""
        while (above := self.parent(place)) is not None and not above.is_heading:
            place = above
        return self.section(place) if depth(kind) < 3 else place

    # Finding by number ----------------------------------------------------------------------------------

    def _parts(self, place: Place, part: str, near: int) -> list[Place]:
        """The parts of a place with a marker, best first: in the same case, then the nearest in the text.

        A marker may occur twice under one heading, if a clause is quoted with its alternatives.
        """
        found = self._children.get((place.ordinal, part.lower()), [])
        if len(found) < 2:
            return found
        here = bisect_right(found, near, key=_start)
        ordered = [*reversed(found[max(0, here - _MAX_TRIED) : here]), *found[here : here + _MAX_TRIED]]
        return sorted(ordered, key=lambda item: not _same_case(item, part))[:_MAX_TRIED]

    def child(self, place: Place, part: str, near: int) -> Place | None:
        """A part of a place by its marker."""
        found = self._parts(place, part, near)
        return found[0] if found else None

    def has_exactly(self, place: Place, part: str, near: int) -> bool:
        """Whether a place has a part with exactly this marker, including case."""
        child = self.child(place, part, near)
        return child is not None and _same_case(child, part)

    def descend(self, place: Place, parts: Sequence[str], near: int) -> Hit:
        """Descend from a place as far as the parts lead."""
        if not parts:
            return Hit(place)
        best = Hit(place, tuple(parts))
        for below in self._parts(place, parts[0], near):
            hit = self.descend(below, parts[1:], near)
            if len(hit.missing) < len(best.missing):
                best = hit
            if not best.missing:
                break
        return best

    def numbered(
        self, kind: str, parts: Sequence[str], base: int, near: int, within: Place | None = None
    ) -> Hit | str:
        """Find a number in the document, or say why not."""
        number = tuple(part.lower() for part in parts)
        best: Hit | None = None
        for size in range(len(number), 0, -1):
            candidates = self._candidates(kind, number[:size], within)
            if not candidates:
                continue
            section = self._nearest(candidates, near)
            if section is None:
                return f"{len(candidates)} places are numbered {candidates[0].label}"
            hit = self.descend(section, parts[size:], near)
            reached = len(number) - len(hit.missing)
            # The number itself must be found whole; the brackets after it may be resolved partially.
            if (reached >= base or (kind and section.kind == kind)) and (
                best is None or len(hit.missing) < len(best.missing)
            ):
                best = hit
            if best is not None and not best.missing:
                break
        return best or ""

    def _candidates(self, kind: str, number: tuple[str, ...], within: Place | None) -> Sequence[Place]:
        kinds: tuple[str, ...] = (kind,)
        if not kind:
            kinds = _LEAVES
        elif kind in _BARE and (kind != "chapter" or len(number) == 1):
            kinds = (kind, "")
        elif kind == "division" and kind not in self.kinds:
            # `Abschnitt 3.2` is what German contracts and manuals call a numbered heading.
            kinds = ("",)
        for one in kinds:
            found: Sequence[Place] = self._numbered.get((one, number), [])
            if within is not None:
                found = inside(found, within)
            if found:
                return found
        return []

    def _nearest(self, candidates: Sequence[Place], near: int) -> Place | None:
        """The candidate that shares most headings with the place of the reference; None if two do equally."""
        if len(candidates) == 1:
            return candidates[0]
        for place in [*self.around(near), self._all[0]]:
            close = inside(candidates, place)
            if not close:
                continue
            # Of a heading and its repetition below it, the inner one has the text.
            nested = all(one.end >= other.end for one, other in pairwise(close))
            return close[-1] if nested else None
        return None

    def beside(self, place: Place) -> list[Place]:
        """The siblings of a place, of the same kind and depth, in order."""
        return self._beside.get(self._row(place), [])

    def _row(self, place: Place) -> tuple[object, ...]:
        return (place.kind, len(place.number)) if place.is_heading else (place.parent,)

    def between(self, first: Place, last: Place) -> list[Place]:
        """The places from one to another, inclusive; empty if they are not siblings, or too many."""
        row = self.beside(first)
        low = bisect_left(row, first.start, key=_start)
        found = row[low : low + _MAX_RANGE]
        stop = next((index for index, place in enumerate(found) if place is last), None)
        return found[: stop + 1] if stop is not None else []

    def step(self, place: Place, by: int) -> Place | None:
        """The sibling before (-1) or after (+1) a place."""
        row = self.beside(place)
        index = bisect_left(row, place.start, key=_start) + by
        return row[index] if 0 <= index < len(row) else None

    def has_parts(self, heading: Place) -> bool:
        """Whether there are clauses below a heading."""
        return bool(inside(self._clauses, heading, 1))

    def only_below(self, heading: Place, part: str, near: int) -> Place | None:
        """A part one level further down, if there is exactly one: point (b) of an article with one list."""
        found = [
            below
            for clause in inside(self._clauses, heading, _MAX_RANGE)
            if clause.parent == clause.section and (below := self.child(clause, part, near)) is not None
        ]
        return found[0] if len(found) == 1 else None


def inside(places: Sequence[Place], place: Place, most: int | None = None) -> Sequence[Place]:
    """The first of some places, in text order, that begins in a place or at its start."""
    low, high = (bisect_left(places, offset, key=_start) for offset in (place.start, place.end))
    return places[low : high if most is None else min(high, low + most)]


def _start(place: Place) -> int:
    return place.start


def _same_case(place: Place, part: str) -> bool:
    """Whether a marker is in the same case as a part: ``(A)`` is not ``(a)``."""
    return place.is_heading or part in place.marker
