"""Understand: what a query names literally, before anything is looked up."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from pinakes.errors import UsageError
from pinakes.text.keys import title_key
from pinakes.text.labels import FoundLabel, Label, find_labels, parse_whole

MAX_QUERY_CHARACTERS = 10_000
_QUOTED = re.compile(r'"([^"]{1,500})"|“([^”]{1,500})”|„([^“”]{1,500})[“”]|«([^»]{1,500})»')
_MAX_REFERENCES = 8


@dataclass(frozen=True, slots=True)
class Query:
    """A query with what it names: quoted phrases, places, and the words that are left."""

    text: str
    phrases: tuple[str, ...]
    references: tuple[Label, ...]
    rest: str
    title_key: str

    @property
    def is_only_phrases(self) -> bool:
        """Whether there is nothing but quoted text."""
        return bool(self.phrases) and not re.search(r"\w", _QUOTED.sub(" ", self.text))


def understand(text: str) -> Query:
    """Read a query. What cannot be meant is refused with the reason."""
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
    phrases = tuple(
        phrase.strip()
        for match in _QUOTED.finditer(clean)
        if (phrase := next(group for group in match.groups() if group)) and re.search(r"\w", phrase)
    )
    unquoted = _QUOTED.sub(lambda match: " " * len(match.group()), clean)
    found = find_labels(unquoted)[:_MAX_REFERENCES]
    references = tuple(item.label for item in found)
    if not references and (whole := parse_whole(clean)):
        references = (whole,)
    return Query(clean, phrases, references, _without(unquoted, found), title_key(clean))


def clean_text(text: str) -> str:
    """Drop control characters and lone surrogates, and fold white space."""
    kept = (
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs")
    )
    return " ".join("".join(kept).split())


def _without(text: str, found: list[FoundLabel]) -> str:
    parts, position = [], 0
    for item in found:
        parts.append(text[position : item.start])
        position = item.end
    return " ".join(" ".join([*parts, text[position:]]).split())
