"""The document checks itself: how much of what it says about its own places its tree bears out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pinakes.ingest.parse import Parsed
from pinakes.ingest.places.chain import Number, number_key
from pinakes.ingest.places.mentions import Mentions
from pinakes.labels import LEAF_KINDS
from pinakes.model import Place, Reference, SelfCheck
from pinakes.text.keys import title_key

# Numbers up to so many times the last one found may be places that were missed.
_BEYOND = 1.5


def self_check(parsed: Parsed, places: Sequence[Place], references: Iterable[Reference]) -> SelfCheck:
    """Count the references to places of the document itself, and the lines of its contents page."""
    numbers = {number_key(place.number) for place in places if place.number}
    titles = {title_key(place.title) for place in places}
    listed = [entry for entry in parsed.contents if entry.number or entry.title]
    found = sum(entry.number in numbers if entry.number else entry.title in titles for entry in listed)
    reach = _reach(places)
    mentions = parsed.mentions or Mentions()
    called = _titles_by_number(places)
    own = {}
    for item in references:
        number = number_key(item.number_key.split("_")) if item.number_key else ()
        if _is_own(item, reach) and number not in mentions.others:
            # A reference that gives a title is borne out by the place of that title only.
            title = mentions.title(item.number_kind, number)
            agrees = (
                not title or number not in called or any(_alike(title, other) for other in called[number])
            )
            own[item.number_kind, item.number_key] = bool(item.target_section) and not item.reason and agrees
    return SelfCheck(len(own), sum(own.values()), len(listed), found)


def _titles_by_number(places: Iterable[Place]) -> dict[Number, list[str]]:
    titles: dict[Number, list[str]] = {}
    for place in places:
        if place.number and place.title:
            titles.setdefault(number_key(place.number), []).append(title_key(place.title))
    return titles


def _alike(title: str, other: str) -> bool:
    """Whether two titles name the same place; either may be cut short."""
    return title.startswith(other[:12]) or other.startswith(title[:12]) or f" {title}" in f" {other}"


def _reach(places: Iterable[Place]) -> dict[str, int]:
    """How far the numbers of each kind go."""
    reach: dict[str, int] = {}
    for place in places:
        if place.number and place.number[0].isdecimal():
            kind = _group(place.kind)
            reach[kind] = max(reach.get(kind, 0), int(place.number[0]))
    return reach


def _group(kind: str) -> str:
    return "" if kind in LEAF_KINDS else kind


def _is_own(reference: Reference, reach: dict[str, int]) -> bool:
    """Whether a reference names a number of this document.

    One to another act says nothing about it, and a number far beyond its own is that of another act.
    """
    if reference.kind != "number" or not reference.number_key or reference.document:
        return False
    first = reference.number_key.split("_", 1)[0]
    last = reach.get(_group(reference.number_kind), 0)
    return last > 0 and (not first.isdecimal() or int(first) <= _BEYOND * last)
