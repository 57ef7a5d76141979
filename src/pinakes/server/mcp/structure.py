"""Structured answers: the fields of the Python results as JSON values, without those that are empty.

Some clients show a model this instead of the text, so it is held to the same budget. Counting its tokens would take
longer than many a search; its length in characters says enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

# JSON of ours has some 2.7 characters a token; a little less is assumed, to stay on the safe side.
_CHARACTERS_A_TOKEN = 2.5


def lean(value: Any) -> Any:
    """Return a result as JSON values; what is empty or not known is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((name, getattr(value, name)) for name in _names(type(value)))
        return {name: lean(item) for name, item in pairs if _says_something(item)}
    if isinstance(value, dict):
        return {str(name): lean(item) for name, item in value.items() if _says_something(item)}
    if isinstance(value, (list, tuple)):
        return [lean(item) for item in value]
    return value


@lru_cache(maxsize=64)
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _says_something(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != () and value != {}


def size(value: Any) -> int:
    """Return about how many tokens a value takes as JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return int(len(text) / _CHARACTERS_A_TOKEN) + 1


def fit_items(
    data: dict[str, Any], name: str, budget: int, dispensable: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Make an answer with a list in it fit: first without what is dispensable, then with fewer items; one stays.

    An answer that lost items says that it was cut.
    """
    if size(data) <= budget or not data[name]:
        return data
    light = without(*dispensable)
    items = [light(item) if isinstance(item, dict) else item for item in data[name]]
    frame = light(data)
    left = budget - size({**frame, name: []}) - size(items[0])
    kept = 1
    for item in items[1:]:
        left -= size(item)
        if left < 0:
            break
        kept += 1
    cut = {"truncated": True} if kept < len(items) else {}
    return {**frame, name: items[:kept], **cut}


def fit_by(
    data: dict[str, Any], budget: int, *steps: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Take one step after the other to make an answer smaller, until it fits."""
    for step in steps:
        if size(data) <= budget:
            break
        data = step(data)
    return data


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a step that leaves fields out."""
    return lambda data: {name: value for name, value in data.items() if name not in names}
