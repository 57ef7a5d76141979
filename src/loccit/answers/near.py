"""What a name that was not found may have meant: documents and places with similar names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePath

from loccit.grammar.labels import Label
from loccit.grammar.text.keys import title_key
from loccit.index.port.index import SearchIndex
from loccit.model import Place
from loccit.search.resolve.places import agreeing_kinds, called_alike
from loccit.search.understand.query import Query

# Documents and headings whose names are compared with the unknown one.
LOOKED_AT = 2000
_SHOWN = 3
# With more documents than this, places are not compared one by one.
_FEW_DOCUMENTS = 5
_MOST_WORDS = 6
# Numbers that differ by more have nothing to do with each other, unless they begin alike.
_NEAR = 3
_LONGEST_NUMBER = 9
_FAR = 10**_LONGEST_NUMBER
# `14` of `14B`.
_COUNTED = re.compile(rf"\d{{1,{_LONGEST_NUMBER}}}(?!\d)")


def near_names(name: str, documents: Iterable[tuple[str, str]]) -> str:
    """Return the documents, by path and title, that a name may have meant, as a question; "" if none."""
    called: dict[str, str] = {}
    for path, title in documents:
        # That both end in .md does not make two names similar.
        called.setdefault(PurePath(path).stem, PurePath(path).name)
        called.setdefault(title, title)
    near: list[str] = []
    for meant in dict.fromkeys((PurePath(name).stem, name)):
        near += difflib.get_close_matches(meant, called, n=_SHOWN, cutoff=0.5)
    return _question(list(dict.fromkeys(called[key] for key in near)), ", ")


def near_places(index: SearchIndex, query: Query, documents: Collection[int] | None) -> str:
    """Return the places, in some documents or in all, that may have been meant, with their ids, as a question."""
    if documents is not None and len(documents) <= _FEW_DOCUMENTS:
        places = [place for one in sorted(documents) for place in index.lookup.places_of_document(one)]
        numbered = _by_number(query.references[0], places) if query.references else []
        near = numbered or _by_title(query.title_key, places)
    else:
        numbered = _neighbours(index, query.references[0], documents) if query.references else []
        near = numbered or _with_words(index, query.title_key, documents)
    return _question([f"{place.heading or place.label} [{place.place_id}]" for place in near], "; ")


def _question(names: Sequence[str], separator: str) -> str:
    return f" Did you mean: {separator.join(names[:_SHOWN])}?" if names else ""


def _by_number(label: Label, places: Iterable[Place]) -> list[Place]:
    """Return the places with the closest numbers, those of the same kind first; none that has little in common."""
    kinds = agreeing_kinds(label.kind)

    def distance(place: Place) -> tuple[bool, int, int, int]:
        same = next(
            (at for at, (a, b) in enumerate(zip(label.number, place.number, strict=False)) if a != b),
            min(len(label.number), len(place.number)),
        )
        parts = [number[same] if same < len(number) else "" for number in (label.number, place.number)]
        counted = [_COUNTED.match(part) for part in parts]
        apart = abs(int(counted[0][0]) - int(counted[1][0])) if counted[0] and counted[1] else _FAR
        return place.kind not in kinds, -same, abs(len(label.number) - len(place.number)), apart

    found = [
        (distance(place), place) for place in places if place.number and called_alike(label.kind, place.kind)
    ]
    close = [(far, place) for far, place in found if far[1] or far[3] <= _NEAR]
    return [place for _, place in sorted(close, key=lambda item: item[0])[:_SHOWN]]


def _neighbours(index: SearchIndex, label: Label, documents: Collection[int] | None) -> list[Place]:
    """Return the places one number before or after, in any document: by lookup, since all are too many to compare."""
    # What has only a like number of another kind was hardly meant.
    kinds = [kind for kind in agreeing_kinds(label.kind) if called_alike(label.kind, kind)]
    *above, last = label.number
    if not last.isdecimal() or len(last) > _LONGEST_NUMBER:
        return []
    found = [
        (place.document, place.ordinal)
        for number in (int(last) - 1, int(last) + 1)
        for place in index.lookup.numbered(
            replace(label, number=(*above, str(number))).key, kinds, documents
        )[:2]
    ]
    return [stored.place for stored in index.lookup.places_at(found)]


def _by_title(wanted: str, places: Iterable[Place]) -> list[Place]:
    """Return the headings spelled most like a title."""
    headings = (place for place in places if place.is_heading and place.title)
    called: dict[str, Place] = {}
    for place in islice(headings, LOOKED_AT):
        called.setdefault(title_key(place.title), place)
    words = wanted.split()
    holding = [key for key in called if words and all(word in key for word in words)]
    close = difflib.get_close_matches(wanted, called, n=_SHOWN, cutoff=0.6)
    return [called[key] for key in dict.fromkeys((*close, *holding))][:_SHOWN]


def _with_words(index: SearchIndex, wanted: str, documents: Collection[int] | None) -> list[Place]:
    """Return headings with all the words of a title; if none, those with one of them that are most similar."""

    def having(words: Sequence[str], limit: int) -> list[Place]:
        found = index.lookup.similar_titles(words, limit)
        return [item.place for item in found if documents is None or item.document in documents]

    words = wanted.split()[:_MOST_WORDS]
    if found := having(words, _SHOWN):
        return found
    longest = sorted((word for word in words if len(word) > _SHOWN), key=len, reverse=True)[:_SHOWN]
    return _by_title(wanted, (place for word in longest for place in having([word], LOOKED_AT)))
