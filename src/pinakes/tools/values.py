"""Values as models write them, turned into what was meant: ``"5"`` for 5, ``"yes"`` for true, JSON within a string."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date

_SWITCHES = {
    "true": True,
    "yes": True,
    "1": True,
    "on": True,
    "false": False,
    "no": False,
    "0": False,
    "off": False,
}

_LARGEST = 10**15
_MOST_FILTERS = 50
LONGEST_TEXT = 10_000
"""The most characters of a text that a model gives; a query may have as many."""

# What models call the ways to search.
_CHOICES = {
    "vector": "semantic",
    "dense": "semantic",
    "embedding": "semantic",
    "embeddings": "semantic",
    "similarity": "semantic",
    "bm25": "keyword",
    "lexical": "keyword",
    "sparse": "keyword",
    "fulltext": "keyword",
    "full_text": "keyword",
    "keywords": "keyword",
    "phrase": "exact",
    "literal": "exact",
    "both": "hybrid",
    "auto": "hybrid",
    "all": "hybrid",
}


class BadValue(ValueError):  # noqa: N818 - a fault to be collected, not an error that leaves this package
    """A value that cannot be meant; the text completes the name of the argument."""


def as_text(value: object) -> str:
    """Return a text; a number is written out, a list of texts is joined."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (list, tuple)) and all(_is_plain(item) for item in value):
        return " ".join(str(item).strip() for item in value).strip()
    if isinstance(value, bool) or not _is_plain(value):
        raise BadValue(f"must be a text, not {shown(value)}")
    return str(value)


def as_choice(value: object, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or nothing for an empty text."""
    text = as_text(value).lower()
    text = _CHOICES.get(text, text)
    if text and text not in choices:
        raise BadValue(f"must be one of {', '.join(choices)}, not {shown(value)}")
    return text


def as_number(value: object, bounds: tuple[float, float] | None = None) -> float | None:
    """Return a number within bounds; None for an empty text."""
    number = value
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            number = float(value)
        except ValueError:
            number = None
    if isinstance(number, bool) or not _is_plain(number) or not isinstance(number, (int, float)):
        raise BadValue(f"must be a number{_between(bounds)}, not {shown(value)}")
    if bounds and not bounds[0] <= number <= bounds[1]:
        raise BadValue(f"must be a number{_between(bounds)}, not {shown(value)}")
    return number


def as_integer(value: object, bounds: tuple[float, float] | None = None) -> int | None:
    """Return a whole number within bounds; None for an empty text."""
    number = as_number(value, bounds)
    if number is None:
        return None
    if number != int(number):
        raise BadValue(f"must be a whole number{_between(bounds)}, not {shown(value)}")
    return int(number)


def as_switch(value: object) -> bool | None:
    """Return true or false; None for an empty text."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, (str, int)) else "?"
    if not word:
        return None
    if word not in _SWITCHES:
        raise BadValue(f"must be true or false, not {shown(value)}")
    return _SWITCHES[word]


def as_filters(value: object) -> dict[str, object]:
    """Return filters by name, from a mapping, from JSON in a text, or from ``type=pdf``."""
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, Mapping):
        raise BadValue(
            f'must be an object of names and values, such as {{"type": "pdf"}}, not {shown(value)}'
        )
    filters = {str(name): item for name, item in value.items() if item not in (None, "", [], {})}
    if len(filters) > _MOST_FILTERS:
        raise BadValue(f"must have at most {_MOST_FILTERS} names, not {len(filters)}")
    for name, item in filters.items():
        values = item if isinstance(item, (list, tuple)) else [item]
        if not all(_is_plain(part) or isinstance(part, date) for part in values):
            raise BadValue(f"must have a value or a list of values for {shown(name)}, not {shown(item)}")
        if sum(len(str(part)) for part in (name, *values)) > LONGEST_TEXT:
            raise BadValue(
                f"must have values of at most {LONGEST_TEXT:,} characters in all for {shown(name)}"
            )
    return filters


def _parsed(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        name, found, value = text.partition("=")
        return {name.strip(): value.strip()} if found and name.strip() else text


def _is_plain(value: object) -> bool:
    """Whether a value is a text, a switch, or a number that can be reckoned with."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _LARGEST)


def _between(bounds: tuple[float, float] | None) -> str:
    return f" between {bounds[0]:g} and {bounds[1]:,.10g}".replace(",", "") if bounds else ""


def shown(value: object, width: int = 60) -> str:
    """Return a value as Python writes it, cut to a width."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list
        return f"a very large {type(value).__name__}"
    return text if len(text) <= width else f"{text[: width - 3]}..."
