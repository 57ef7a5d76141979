"""Settings written as ``name=value``, for trying one against another."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import Field, fields, replace
from typing import Any

from pinakes.config.settings import IndexSettings, SearchSettings, Settings
from pinakes.errors import UsageError


def parse_settings(pairs: Iterable[str]) -> Settings:
    """Return the default settings with some values replaced.

    >>> parse_settings(["fusion=rrf", "max_chunk_tokens=400"]).search.fusion
    'rrf'
    """
    known = {"index": _by_name(IndexSettings), "search": _by_name(SearchSettings)}
    given: dict[str, dict[str, Any]] = {"index": {}, "search": {}}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        part = next((part for part, names in known.items() if name.strip() in names), None)
        if not equals:
            raise UsageError(f"{pair!r} is not a setting; write name=value, such as fusion=rrf.")
        if part is None:
            names = sorted({*known["index"], *known["search"]})
            raise UsageError(f"Unknown setting {name.strip()!r}; known are {', '.join(names)}.")
        given[part][name.strip()] = _value(known[part][name.strip()], value.strip())
    index = IndexSettings(**given["index"]) if given["index"] else None
    return Settings(index, SearchSettings(**given["search"]))


def changed_search(settings: SearchSettings, pairs: Iterable[str]) -> SearchSettings:
    """Return search settings with some values replaced.

    >>> changed_search(SearchSettings(), ["top_k=3"]).top_k
    3
    """
    known = _by_name(SearchSettings)
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is not a setting; write name=value, such as fusion=rrf.")
        if name.strip() not in known:
            raise UsageError(f"Unknown setting {name.strip()!r}; known are {', '.join(sorted(known))}.")
        given[name.strip()] = _value(known[name.strip()], value.strip())
    return replace(settings, **given)


def _by_name(kind: Any) -> dict[str, tuple[str, Any]]:
    return {item.name: (item.name, _default(kind, item)) for item in fields(kind)}


def _default(kind: Any, item: Field[Any]) -> Any:
    return getattr(kind(), item.name)


def _value(setting: tuple[str, Any], text: str) -> Any:
    """Read a value as the kind that the default is."""
    name, default = setting
    if isinstance(default, str):
        return text
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        # `.5` is a number to people, though not in JSON.
        value = json.loads(f"0{text}" if text.startswith(".") else text)
    except ValueError:
        value = None
    wanted = (bool,) if isinstance(default, bool) else (dict,) if isinstance(default, dict) else (int, float)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted != (bool,)):
        kind = {bool: "true or false", dict: "a JSON object"}.get(wanted[0], "a number")
        raise UsageError(f"{name} must be {kind}, not {text!r}.")
    return value
