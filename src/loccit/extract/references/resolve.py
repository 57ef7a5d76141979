"""Resolve: from a mention and its position to the places it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loccit.extract.references.grammar import Mention, Unit
from loccit.extract.references.items import Item
from loccit.extract.references.places import Hit, Places
from loccit.grammar.labels.model import depth, is_sub
from loccit.grammar.labels.ranges import through
from loccit.model import Place

_MAX_TARGETS = 120
_MOST = 60  # members of a range


@dataclass(frozen=True, slots=True)
class Target:
    """One meaning of a mention: the place if known, the number as far as it is stated, and what is missing.

    ``start`` and ``end`` are those of its list member; 0, 0 for the whole mention.
    """

    place: Place | None = None
    kind: str = ""
    number: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    start: int = 0
    end: int = 0


def describe(kind: str, item: Item, parts: Sequence[str]) -> str:
    """Name a number in the usual way: ``section 4.2(a)``; members of a range have no text of their own."""
    number = ".".join(parts[: item.base]) + "".join(f"({part})" for part in parts[item.base :])
    as_written = item.written if tuple(parts) == item.parts else number
    return f"{kind or 'section'} {as_written or number}"


class Resolver:
    """Finds what the mentions of a document mean, read in order.

    ``said`` is what was named last, by kind, and where, for *that Article*: None if it is in another document.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self.said: dict[str, tuple[Place | None, int]] = {}

    def resolve(self, mention: Mention, since: int, whole: Place | None = None) -> list[Target]:
        """Return the targets of a mention, one for each member of its lists and ranges; empty if it is none.

        What was said before ``since``, the start of the paragraph, does not count. ``whole`` is the place that the
        mention is a part of, if something other than a number names it.
        """
        near = mention.start
        targets = [Target(whole)]
        for unit in mention.units:
            lead = unit is mention.lead
            found: list[Target] = []
            for target in targets:
                found += self._step(unit, target, near, lead, since)
                if len(found) > _MAX_TARGETS:
                    break
            targets = found
            if unit.how in ("number", "this") and depth(unit.kind) < 2:
                # *That Article* after Article 6(1)(f) is Article 6.
                place = targets[0].place if targets and not targets[0].failed else None
                self.said[unit.kind] = (self._places.section(place) if place else None, near)
        return targets

    def _step(self, unit: Unit, above: Target, near: int, lead: bool, since: int) -> list[Target]:
        """Go one unit deeper from what is known so far."""
        if unit.how == "number":
            return self._numbers(unit, above, near, lead)
        if unit.how == "said":
            last, at = self.said.get(unit.kind, (None, -1))
            if last is not None and at >= since:
                return [Target(last)]
            return [Target(reason=f"it is not clear which {unit.word} is meant", failed=True)]
        if unit.how == "ordinal":
            # Unnumbered parts have no place of their own: they stand for the numbered one that contains them.
            if above.place is not None or above.failed or not lead:
                return [above]
            place = self._places.of_kind("paragraph", near) if unit.word.startswith("sub") else None
        else:
            place = self._places.of_kind(unit.kind, near)
            if unit.how == "this" and place is None and not lead:
                # `Article 45 of this Regulation`: not a place, the document itself.
                return [above]
            if unit.how == "step" and place is not None:
                place = self._places.step(place, 1 if unit.word == "next" else -1)
        return [Target(place)] if place is not None else []

    def _numbers(self, unit: Unit, above: Target, near: int, lead: bool) -> list[Target]:
        found: list[Target] = []
        for index, item in enumerate(unit.items):
            members = self._range(unit, item, above, near)
            if lead and (len(unit.items) > 1 or len(members) > 1):
                # The first member takes the word with it, so that `Articles 13` and `14` can be read.
                start = unit.start if index == 0 else item.start
                members = [replace(member, start=start, end=item.end) for member in members]
            found += members
        return found

    def _range(self, unit: Unit, item: Item, above: Target, near: int) -> list[Target]:
        first = self._one(unit, item, item.parts, above, near)
        if not item.until:
            return [first]
        last = self._one(unit, item, item.until, above, near)
        if first.place is not None and last.place is not None and not first.reason and not last.reason:
            inside = self._places.between(first.place, last.place)
            if inside:
                return [replace(first, place=place, number=_lower(place.number)) for place in inside]
        return [
            self._one(unit, item, parts, above, near)
            for parts in through(item.parts, item.until, _MOST) or [item.parts, item.until]
        ]

    def _one(self, unit: Unit, item: Item, parts: tuple[str, ...], above: Target, near: int) -> Target:
        key = _lower(parts)
        if unit.kind == "sentence":
            return above
        if unit.relative:
            number = (*above.number, *key) if above.kind or above.number else ()
            if above.failed:
                return replace(above, number=number)
            if above.place is not None:
                target = self._below(unit, item, parts, above.place, near)
            else:
                target = self._from_here(unit, item, parts, near)
            return replace(target, kind=above.kind, number=number, reason=above.reason or target.reason)
        within = above.place
        if above.failed:
            return replace(above, kind=unit.kind, number=key)
        found = self._places.numbered(unit.kind, parts, item.base, near, within)
        if isinstance(found, str) and within is not None and item.base > 1:
            # `32.503-3 of this section` states its position by its own number.
            found = self._places.numbered(unit.kind, parts, item.base, near)
        if isinstance(found, str):
            name = describe(unit.kind, item, parts)
            reason = found or f"no {name} in {within.name if within else 'this document'}"
            return Target(None, unit.kind, key, reason, failed=True)
        return Target(found.place, unit.kind, key, _missing(unit, item, parts, found))

    def _below(self, unit: Unit, item: Item, parts: tuple[str, ...], place: Place, near: int) -> Target:
        """A part of a known place: ``point (a)`` of Article 6(1)."""
        hit = self._places.descend(place, parts, near)
        if len(hit.missing) == len(parts) and place.is_heading:
            deeper = self._places.only_below(place, parts[0], near)
            if deeper is not None:
                hit = self._places.descend(deeper, parts[1:], near)
        return Target(hit.place, reason=_missing(unit, item, parts, hit))

    def _from_here(self, unit: Unit, item: Item, parts: tuple[str, ...], near: int) -> Target:
        """A part named without its whole: looked for around the mention, from the inside out."""
        around = self._places.leaf_at(near)
        # Paragraphs without brackets and subsections count from the article; so does a path of several parts.
        if unit.kind == "subsection" or (unit.kind == "paragraph" and item.base) or len(parts) > 1:
            around = [*reversed(around[-1:]), *around[:-1]]
        best: Hit | None = None
        for exactly in (True, False):
            for place in around:
                if exactly and not self._places.has_exactly(place, parts[0], near):
                    continue
                hit = self._places.descend(place, parts, near)
                if len(hit.missing) < len(best.missing if best else parts):
                    best = hit
                if best is not None and not best.missing:
                    return Target(best.place)
        name = describe(unit.kind, item, parts)
        if best is not None:
            return Target(best.place, reason=_missing(unit, item, parts, best))
        outer = next((place for place in around if place.is_heading and place.label), None)
        prose = unit.kind == "point" and item.base > 0  # `at that point 3 people left`
        if prose or outer is None:
            return Target(reason=f"no {name} around the reference", failed=True)
        if not self._places.has_parts(outer):
            return Target(reason=f"no {name} in {outer.label}", failed=True)
        return Target(outer, reason=f"{name} not found; leads to {outer.label}")


def _lower(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)


def _missing(unit: Unit, item: Item, parts: Sequence[str], hit: Hit) -> str:
    if not hit.missing:
        return ""
    whole = len(hit.missing) == len(parts) and is_sub(unit.kind)
    name = describe(unit.kind, item, parts) if whole else "".join(f"({part})" for part in hit.missing)
    return f"{name} not found; leads to {hit.place.name}"
