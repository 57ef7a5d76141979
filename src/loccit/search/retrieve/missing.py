"""Missing: when it may be said that there is no such place, and what is around the number otherwise.

No parser finds every place, so a number that was not found says little by itself. A series of its kind that is whole
around it says that it is not there: numbers just below and above it, or an end that is clear.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from loccit.labels import Label
from loccit.model import Place
from loccit.port.records import Records
from loccit.search.retrieve.bearing import lines_begun
from loccit.search.retrieve.resolve import called_alike, in_style

# With more documents than this, their places are not read.
_FEW_DOCUMENTS = 20
# So many numbers in a row have a clear end.
_IN_A_ROW = 2
_LAST_PART = re.compile(r"\s?[(（][^()（）]*[)）]\s*\Z")
_COUNTED = re.compile(r"(\d{1,9})(?!\d)(.*)|([a-z])(\3*)", re.DOTALL)


def denied(label: Label, lookup: Records, documents: Collection[int] | None) -> tuple[bool, str]:
    """Return whether the series of a label's kind are whole around its number, and its neighbours in words."""
    if documents is None or len(documents) > _FEW_DOCUMENTS:
        return False, ""
    series = [_siblings(label, lookup.places_of_document(document)) for document in sorted(documents)]
    whole = [_is_whole(label, own) for own in series if own] or [False]
    if all(whole) and (lines_begun(label, lookup, documents) or _unknown_holder(label, lookup, documents)):
        whole = [False]
    around = next((words for own in series if (words := _around(label, own))), "")
    return all(whole), around if len(documents) == 1 else ""


def _unknown_holder(label: Label, lookup: Records, documents: Collection[int]) -> bool:
    """Whether a line begins with the number that is around it, and is no place: it may have what is asked for."""
    outer = label.shortened()
    text = _LAST_PART.sub("", label.text)
    if outer is None or text == label.text:
        return False
    known = {
        (document, place.lines.first)
        for document in documents
        for place in lookup.places_of_document(document)
        if place.number == outer.number
    }
    begun = lines_begun(replace(outer, text=text), lookup, documents)
    return any(line.alike and (line.chunk.document, line.lines.first) not in known for line in begun)


def _siblings(label: Label, places: Sequence[Place]) -> dict[tuple[int, str], Place]:
    """The places of a document that are counted as a label is, in the order of their numbers."""
    found: dict[tuple[int, str], Place] = {}
    for place in places:
        alike = place.number[:-1] == label.number[:-1] and called_alike(label.kind, place.kind)
        if not (place.number and alike and in_style(label, place.label)):
            continue
        same = place.number[-1][:1].isdecimal() == label.number[-1][:1].isdecimal()
        if same and (value := _value(place.number[-1])):
            found.setdefault(value, place)
    return dict(sorted(found.items()))


def _value(part: str) -> tuple[int, str] | None:
    match = _COUNTED.fullmatch(part)
    if match is None:
        return None
    # After z come aa, bb, cc.
    return (int(match[1]), match[2]) if match[1] else (ord(match[3]) + 26 * len(match[4]), "")


def _is_whole(label: Label, series: Collection[tuple[int, str]]) -> bool:
    asked = _value(label.number[-1])
    if asked is None:
        return False
    values = {value for value, _ in series}
    value, last = asked[0], max(values)
    if value > last:
        return set(range(last - _IN_A_ROW + 1, last + 1)) <= values
    # After 13 and before 14 comes 13A.
    below = value in values if asked[1] else value - 1 in values
    return below and value + 1 in values


def _around(label: Label, series: dict[tuple[int, str], Place]) -> str:
    """The places with the nearest numbers, in words."""
    asked = _value(label.number[-1])
    if asked is None:
        return ""
    below = [place for value, place in series.items() if value < asked][-1:]
    above = [place for value, place in series.items() if value > asked][:1]
    return " and ".join(place.label for place in (*below, *above))
