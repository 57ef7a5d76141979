"""Resolve: from a mention and its position to the places it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loccit.ingest.extract.references.grammar import Mention, Unit
from loccit.ingest.extract.references.items import Item, expand
from loccit.ingest.extract.references.places import Hit, Places
from loccit.labels.model import depth, is_sub
from loccit.model import Place

_MAX_TARGETS = 120


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


@dataclass(slots=True)
class Said:
    """What was named last, for *that Article*: its place, or None if it is in another document."""

    place: Place | None
    since: int


def describe(kind: str, item: Item, parts: Sequence[str]) -> str:
    """Name a number in the usual way: ``section 4.2(a)``; members of a range have no text of their own."""
    number = ".".join(parts[: item.base]) + "".join(f"({part})" for part in parts[item.base :])
    as_written = item.written if tuple(parts) == item.parts else number
    return f"{kind or 'section'} {as_written or number}"


def resolve(
    mention: Mention, places: Places, said: dict[str, Said], since: int, whole: Place | None = None
) -> list[Target]:
    """Return the targets of a mention, one for each member of its lists and ranges; empty if it is none.

    ``said`` has what was named before; entries older than ``since``, the start of the paragraph, do not count.
    ``whole`` is the place that the mention is a part of, if something other than a number names it.
    """
    near = mention.start
    targets = [Target(whole)]
    for unit in mention.units:
        lead = unit is mention.lead
        found: list[Target] = []
        for target in targets:
            found += _step(unit, target, places, near, lead, said, since)
            if len(found) > _MAX_TARGETS:
                break
        targets = found
        place = targets[0].place if targets else None
        if unit.how in ("number", "this") and depth(unit.kind) < 2:
            said[unit.kind] = Said(_at_depth(place, targets, places), near)
    return targets


def _at_depth(place: Place | None, targets: list[Target], places: Places) -> Place | None:
    """The section that a place belongs to: *that Article* after Article 6(1)(f) is Article 6."""
    return None if place is None or targets[0].failed else places.section(place)


def _step(
    unit: Unit,
    above: Target,
    places: Places,
    near: int,
    lead: bool,
    said: dict[str, Said],
    since: int,
) -> list[Target]:
    """Go one unit deeper from what is known so far."""
    if unit.how == "number":
        return _numbers(unit, above, places, near, lead)
    if unit.how == "this":
        place = places.of_kind(unit.kind, near)
        if place is None:
            # `Article 45 of this Regulation`: not a place, the document itself.
            return [] if lead else [above]
        return [Target(place)]
    if unit.how == "said":
        last = said.get(unit.kind)
        if last is not None and last.since >= since and last.place is not None:
            return [Target(last.place)]
        return [Target(reason=f"it is not clear which {unit.word} is meant", failed=True)]
    if unit.how == "ordinal":
        return _ordinal(unit, above, places, near, lead)
    outer = places.of_kind(unit.kind, near)
    by = 1 if unit.word in ("next", "following") else -1
    beside = places.step(outer, by) if outer is not None else None
    return [Target(beside)] if beside is not None else []


def _ordinal(unit: Unit, above: Target, places: Places, near: int, lead: bool) -> list[Target]:
    """Unnumbered parts have no place of their own: they stand for the numbered one that contains them."""
    if above.place is not None or above.failed or not lead:
        return [above]
    if not unit.word.startswith("sub"):
        return []
    place = places.of_kind("paragraph", near)
    return [Target(place)] if place is not None else []


def _numbers(unit: Unit, above: Target, places: Places, near: int, lead: bool) -> list[Target]:
    found: list[Target] = []
    for index, item in enumerate(unit.items):
        members = _range(unit, item, above, places, near)
        if lead and (len(unit.items) > 1 or len(members) > 1):
            # The first member takes the word with it, so that `Articles 13` and `14` can be read.
            start = unit.start if index == 0 else item.start
            members = [replace(member, start=start, end=item.end) for member in members]
        found += members
    return found


def _range(unit: Unit, item: Item, above: Target, places: Places, near: int) -> list[Target]:
    first = _one(unit, item, item.parts, above, places, near)
    if not item.until:
        return [first]
    last = _one(unit, item, item.until, above, places, near)
    if first.place is not None and last.place is not None and not first.reason and not last.reason:
        inside = places.between(first.place, last.place)
        if inside:
            return [
                replace(first, place=place, number=tuple(part.lower() for part in place.number))
                for place in inside
            ]
    members = expand(item.parts, item.until)
    return [_one(unit, item, parts, above, places, near) for parts in members]


def _one(unit: Unit, item: Item, parts: tuple[str, ...], above: Target, places: Places, near: int) -> Target:
    key = tuple(part.lower() for part in parts)
    if unit.kind == "sentence":
        return above
    if unit.relative:
        number = (*above.number, *key) if above.kind or above.number else ()
        if above.failed:
            return replace(above, number=number)
        if above.place is not None:
            target = _below(unit, item, parts, above.place, places, near)
        else:
            target = _from_here(unit, item, parts, places, near)
        return replace(target, kind=above.kind, number=number, reason=above.reason or target.reason)
    within = above.place
    if above.failed:
        return replace(above, kind=unit.kind, number=key)
    found = places.numbered(unit.kind, parts, item.base, near, within)
    if isinstance(found, str) and within is not None and item.base > 1:
        # `32.503-3 of this section` states its position by its own number.
        found = places.numbered(unit.kind, parts, item.base, near)
    if isinstance(found, str):
        name = describe(unit.kind, item, parts)
        reason = found or f"no {name} in {within.name if within else 'this document'}"
        return Target(None, unit.kind, key, reason, failed=True)
    return Target(found.place, unit.kind, key, _missing(unit, item, parts, found))


def _below(unit: Unit, item: Item, parts: tuple[str, ...], place: Place, places: Places, near: int) -> Target:
    """A part of a known place: ``point (a)`` of Article 6(1)."""
    hit = places.descend(place, parts, near)
    if len(hit.missing) == len(parts) and place.is_heading:
        deeper = places.only_below(place, parts[0], near)
        if deeper is not None:
            hit = places.descend(deeper, parts[1:], near)
    return Target(hit.place, reason=_missing(unit, item, parts, hit))


def _from_here(unit: Unit, item: Item, parts: tuple[str, ...], places: Places, near: int) -> Target:
    """A part named without its whole: looked for around the mention, from the inside out."""
    around = places.leaf_at(near)
    # Paragraphs without brackets and subsections count from the article; so does a path of several parts.
    if unit.kind == "subsection" or (unit.kind == "paragraph" and item.base) or len(parts) > 1:
        around = [*reversed(around[-1:]), *around[:-1]]
    best: Hit | None = None
    for exactly in (True, False):
        for place in around:
            if exactly and not places.has_exactly(place, parts[0], near):
                continue
            hit = places.descend(place, parts, near)
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
    if not places.has_parts(outer):
        return Target(reason=f"no {name} in {outer.label}", failed=True)
    return Target(outer, reason=f"{name} not found; leads to {outer.label}")


def _missing(unit: Unit, item: Item, parts: Sequence[str], hit: Hit) -> str:
    if not hit.missing:
        return ""
    whole = len(hit.missing) == len(parts) and is_sub(unit.kind)
    name = describe(unit.kind, item, parts) if whole else "".join(f"({part})" for part in hit.missing)
    return f"{name} not found; leads to {hit.place.name}"
