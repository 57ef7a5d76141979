"""Places: the sections and clauses of a document, found by number, by kind and by where a reference stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from pinakes.labels.kinds import CONTAINERS, depth, is_sub
from pinakes.model import Section
from pinakes.model.clause import Clause
from pinakes.text.keys import title_key

Place = Section | Clause

# Kinds that may mean a heading with a bare number: `clause 4.2`, `chapter 3`.
_BARE = frozenset("section article clause paragraph rule chapter".split())
_LEAVES = ("", "section", "article", "clause", "paragraph", "rule", "regulation")
_MAX_RANGE = 200
_MAX_TRIED = 4
_RECITALS = frozenset({"recitals", "recital", "whereas", "erwagungsgrunde", "considerants"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A place, and the parts of the number that were not found below it."""

    place: Place
    missing: tuple[str, ...] = ()


AnyPlace = TypeVar("AnyPlace", bound=Section | Clause)


class Places:
    """An index of one document's sections and clauses."""

    def __init__(self, sections: Sequence[Section], clauses: Sequence[Clause]) -> None:
        self.sections = sections
        self.clauses = clauses
        self.kinds = {section.kind for section in sections if section.label}
        self._section_starts = [section.start for section in sections]
        self._clause_starts = [clause.start for clause in clauses]
        self._numbered: dict[tuple[str, tuple[str, ...]], list[Place]] = {}
        self._children: dict[tuple[str, int, str], list[Place]] = {}
        self._beside: dict[tuple[str, str, int], list[Place]] = {}
        everything: list[Place] = [*sections, *clauses]
        for place in everything:
            if place.number:
                self._beside.setdefault(self._row(place), []).append(place)
        for section in sections:
            if section.number:
                number = tuple(part.lower() for part in section.number)
                self._numbered.setdefault((section.kind, number), []).append(section)
                above = self._labelled(section.parent)
                if above is not None and not section.kind and self._goes_on(above, section):
                    self._add(("s", above.ordinal, section.number[-1].lower()), section)
        for clause in clauses:
            if clause.label == ".".join(clause.number):
                # `2.1` below *Article II* says its whole number itself, and goes by it.
                self._numbered.setdefault(("", clause.number), []).append(clause)
            part = clause.number[-1].lower() if clause.number else ""
            if clause.parent is not None:
                self._add(("c", clause.parent, part), clause)
            else:
                owner = self._labelled(clause.section)
                self._add(("s", owner.ordinal if owner else clause.section, part), clause)

    @staticmethod
    def _goes_on(above: Section, section: Section) -> bool:
        """Whether a bare number counts on from the heading above it: 4.2 below 4, or 3 below Annex I."""
        return section.number[:-1] == (above.number if above.kind not in CONTAINERS else ())

    def _add(self, key: tuple[str, int, str], place: Place) -> None:
        self._children.setdefault(key, []).append(place)

    def _labelled(self, ordinal: int | None) -> Section | None:
        """The nearest section, from one upwards, that numbers its parts: one with a label, or the recitals."""
        while ordinal is not None:
            section = self.sections[ordinal]
            if section.label or title_key(section.heading) in _RECITALS:
                return section
            ordinal = section.parent
        return None

    # Where a reference stands ---------------------------------------------------------------------------

    def section_at(self, offset: int) -> Section:
        """The innermost section around an offset."""
        return self.sections[max(0, bisect_right(self._section_starts, offset) - 1)]

    def clause_at(self, offset: int) -> Clause | None:
        """The innermost clause around an offset."""
        index = bisect_right(self._clause_starts, offset) - 1
        clause = self.clauses[index] if index >= 0 else None
        while clause is not None and clause.end <= offset:
            clause = self.clauses[clause.parent] if clause.parent is not None else None
        return clause

    def around(self, offset: int) -> list[Place]:
        """The places around an offset, innermost first: clauses, then sections; without the document itself."""
        found: list[Place] = []
        clause = self.clause_at(offset)
        section = self.section_at(offset)
        if clause is not None and clause.section != section.ordinal:
            clause = None
        while clause is not None:
            found.append(clause)
            clause = self.clauses[clause.parent] if clause.parent is not None else None
        above: Section | None = section
        while above is not None and above.parent is not None:
            found.append(above)
            above = self.sections[above.parent]
        return found

    def leaf_at(self, offset: int) -> list[Place]:
        """The clauses around an offset and the sections up to the one that numbers them."""
        found: list[Place] = []
        for place in self.around(offset):
            found.append(place)
            if isinstance(place, Section) and self._labelled(place.ordinal) is place:
                break
        return found

    def of_kind(self, kind: str, offset: int) -> Place | None:
        """What *this Article*, *this Chapter* or *this paragraph* means at an offset."""
        around = self.around(offset)
        sections = [place for place in around if isinstance(place, Section) and place.label]
        for section in sections:
            if section.kind == kind:
                return section
        clauses = [place for place in around if isinstance(place, Clause)]
        if is_sub(kind) and kind != "subsection" and clauses:
            return clauses[-1] if kind == "paragraph" else clauses[0]
        if kind in ("section", "clause", "subsection", "article", "paragraph"):
            # A bare number (32.706-2, 4.2) is called section, subsection or clause as one likes.
            return next((section for section in sections if not section.kind), None)
        return None

    def whole(self, place: Place, kind: str) -> Place:
        """What a part of some kind is a part of, in *point (a) of paragraph 1 and the second subparagraph thereof*."""
        while isinstance(place, Clause) and place.parent is not None:
            place = self.clauses[place.parent]
        if isinstance(place, Clause) and depth(kind) < 3:
            return self.sections[place.section]
        return place

    # Finding by number ----------------------------------------------------------------------------------

    def _parts(self, place: Place, part: str, near: int) -> list[Place]:
        """The parts of a place with a marker, best first: in the same case, then in the text that is nearest.

        A marker may stand twice under one heading, when a clause is quoted with its alternatives.
        """
        side = "s" if isinstance(place, Section) else "c"
        found = self._children.get((side, place.ordinal, part.lower()), [])
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
        """Whether a place has a part with this marker, capitals and all."""
        child = self.child(place, part, near)
        return child is not None and _same_case(child, part)

    def descend(self, place: Place, parts: Sequence[str], near: int) -> Hit:
        """Go down from a place as far as the parts lead."""
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
        """Find a number of the document, or say why not."""
        number = tuple(part.lower() for part in parts)
        if kind == "recital":
            return self._recital(parts, near)
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
            # The number itself must be found whole; the brackets after it may lead less deep.
            if (reached >= base or (kind and section.kind == kind)) and (
                best is None or len(hit.missing) < len(best.missing)
            ):
                best = hit
            if best is not None and not best.missing:
                break
        return best or ""

    def _candidates(self, kind: str, number: tuple[str, ...], within: Place | None) -> list[Place]:
        kinds: tuple[str, ...] = (kind,)
        if not kind:
            kinds = _LEAVES
        elif kind in _BARE and (kind != "chapter" or len(number) == 1):
            kinds = (kind, "")
        for one in kinds:
            found = self._numbered.get((one, number), [])
            if within is not None:
                found = inside(found, within)
            if found:
                return found
        return []

    def _nearest(self, candidates: list[Place], near: int) -> Place | None:
        """The candidate that shares most headings with the place of the reference; None when two do equally."""
        if len(candidates) == 1:
            return candidates[0]
        for place in [*self.around(near), self.sections[0]]:
            close = inside(candidates, place)
            if not close:
                continue
            # Of a heading and its repetition below it, the inner one has the text.
            nested = all(one.end >= other.end for one, other in pairwise(close))
            return close[-1] if nested else None
        return None

    def _recital(self, parts: Sequence[str], near: int) -> Hit | str:
        for section in self.sections:
            if title_key(section.heading) in _RECITALS:
                hit = self.descend(section, parts, near)
                if len(hit.missing) < len(parts):
                    return hit
        return ""

    def beside(self, place: Place) -> list[Place]:
        """The places of the same kind and depth that stand beside one, in order."""
        return self._beside.get(self._row(place), [])

    def _row(self, place: Place) -> tuple[str, str, int]:
        if isinstance(place, Section):
            return ("section", place.kind, len(place.number))
        if place.parent is not None:
            return ("clause", "", place.parent)
        return ("top", "", place.section)

    def between(self, first: Place, last: Place) -> list[Place]:
        """The places from one to another, both included; empty when they are not of one row, or too many."""
        row = self.beside(first)
        low = bisect_left(row, first.start, key=_start)
        found = row[low : low + _MAX_RANGE]
        stop = next((index for index, place in enumerate(found) if place is last), None)
        return found[: stop + 1] if stop is not None else []

    def step(self, place: Place, by: int) -> Place | None:
        """The place before (-1) or after (+1) one in its row."""
        row = self.beside(place)
        index = bisect_left(row, place.start, key=_start) + by
        return row[index] if 0 <= index < len(row) else None

    def has_parts(self, section: Section) -> bool:
        """Whether a section has clauses of its own."""
        index = bisect_left(self._clause_starts, section.start)
        return index < len(self.clauses) and self.clauses[index].start < section.end

    def only_below(self, section: Section, part: str, near: int) -> Place | None:
        """A part one level further down, when there is exactly one: point (b) of an article with one list."""
        low = bisect_left(self._clause_starts, section.start)
        high = min(bisect_left(self._clause_starts, section.end), low + _MAX_RANGE)
        found = [
            below
            for clause in self.clauses[low:high]
            if clause.parent is None and (below := self.child(clause, part, near)) is not None
        ]
        return found[0] if len(found) == 1 else None


def inside(places: list[AnyPlace], place: Place) -> list[AnyPlace]:
    """Those of some places, in the order of the text, that begin in a place or at its beginning."""
    return places[bisect_left(places, place.start, key=_start) : bisect_left(places, place.end, key=_start)]


def _start(place: Place) -> int:
    return place.start


def _same_case(place: Place, part: str) -> bool:
    """Whether a marker is written like a part: ``(A)`` is not ``(a)``."""
    return not isinstance(place, Clause) or part in place.marker
