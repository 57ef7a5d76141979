"""Understand: what a query names literally, before anything is looked up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from pinakes.errors import UsageError
from pinakes.labels.places import FoundPlaces, find_places
from pinakes.search.typed import QUOTED, TypedParts, describe_typed, read_typed
from pinakes.text.keys import title_key
from pinakes.text.labels import Label, parse_whole

MAX_QUERY_CHARACTERS = 10_000
_MAX_REFERENCES = 16


@dataclass(frozen=True, slots=True)
class Query:
    """A query with what it names: quoted phrases, places, and the words that are left.

    ``text`` is what is searched for; ``original`` is the query as it was given, with its filters and exclusions.
    """

    text: str
    phrases: tuple[str, ...]
    references: tuple[Label, ...]
    rest: str
    title_key: str
    original: str = ""
    filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_words: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()

    @property
    def is_only_phrases(self) -> bool:
        """Whether there is nothing but quoted text."""
        return bool(self.phrases) and not re.search(r"\w", QUOTED.sub(" ", self.text))


def understand(text: str, *, typed: bool = True) -> Query:
    """Read a query. What cannot be meant is refused with the reason. Without ``typed``, all of it is plain text."""
    if not isinstance(text, str):
        raise UsageError(f"The query must be text, not {type(text).__name__}.")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise UsageError(
            f"The query has {len(text):,} characters; at most {MAX_QUERY_CHARACTERS:,} can be searched for. "
            "Shorten it to what matters."
        )
    clean = clean_text(text)
    if not re.search(r"\w", clean):
        raise UsageError("The query is empty: give at least one word, number or quoted phrase.")
    parts = read_typed(clean) if typed else TypedParts(clean)
    if not re.search(r"\w", parts.text):
        raise UsageError(
            f"The query only says where to look or what to leave out ({describe_typed(parts)}): add at least one "
            "word to look for. To search for the text itself, put it in quotation marks."
        )
    quoted = [match.group()[1:-1].strip() for match in QUOTED.finditer(parts.text)]
    unquoted = QUOTED.sub(lambda match: " " * len(match.group()), parts.text)
    places = find_places(unquoted)
    references = tuple(dict.fromkeys(label for place in places for label in place.labels))
    if not references and (whole := parse_whole(parts.text)):
        references = (whole,)
    return Query(
        text=parts.text,
        phrases=tuple(phrase for phrase in quoted if re.search(r"\w", phrase)),
        references=references[:_MAX_REFERENCES],
        rest=_without(unquoted, places),
        title_key=title_key(parts.text),
        original=clean,
        filters=parts.filters,
        excluded_filters=parts.excluded_filters,
        excluded_words=parts.excluded_words,
        excluded_phrases=parts.excluded_phrases,
    )


def clean_text(text: str) -> str:
    """Drop control characters and lone surrogates, and fold white space."""
    kept = (
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs")
    )
    return " ".join("".join(kept).split())


def _without(text: str, places: Sequence[FoundPlaces]) -> str:
    parts, position = [], 0
    for place in places:
        parts.append(text[position : place.start])
        position = place.end
    return " ".join(" ".join([*parts, text[position:]]).split())
