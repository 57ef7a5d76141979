"""Meant: whether a number in a query names a place.

``Section 3.0`` and ``32.706-2`` can mean nothing else. ``3.0`` in a sentence is as often a version or a measure: there
it is meant as a place only when the other words name the place too, or nothing (``pump manual 3.1``, ``what does 4.2
say``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from pinakes.labels import Label
from pinakes.port.rows import StoredPlace
from pinakes.search.query.understand import Query, content_words
from pinakes.text.keys import title_key

# Parts in brackets or after a hyphen, a letter before the dot, three digits after it: no version is written so.
_ONLY_A_PLACE = re.compile(r"\(|\d[-‑–]\d|\A[A-Z]\.\d|\.\d{3}")


def is_meant(label: Label, query: Query, found: StoredPlace) -> bool:
    """Whether a reference that leads to a place is meant as a reference, rather than as a number."""
    if label.kind or only_a_place(label) or label.text == query.text:
        return True
    return explains(found, content_words(query.rest))


def only_a_place(label: Label) -> bool:
    """Whether a number is written as only those of places are."""
    return _ONLY_A_PLACE.search(label.text) is not None


def explains(found: StoredPlace, words: Sequence[str]) -> bool:
    """Whether all of some words are in the names of a place and its document."""
    if not words:
        return True
    stem = PurePath(found.source_path).stem
    names = set(title_key(f"{found.document_title} {stem} {found.place.heading}").split())
    initials = "".join(part[0] for part in title_key(found.document_title).split())
    return all(word in names or (len(word) > 2 and word in initials) for word in words)
