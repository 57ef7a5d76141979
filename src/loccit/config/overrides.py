"""Settings written as ``name=value``, for trying one against another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from loccit.config.settings import (
    ALIASES,
    STAGE_SWITCHES,
    IndexSettings,
    SearchSettings,
    Setting,
    Settings,
    by_own_names,
    describe,
    setting,
)
from loccit.errors import UsageError


def parse_settings(pairs: Iterable[str]) -> Settings:
    """Return the default settings with some values replaced.

    >>> parse_settings(["fusion=rrf", "max_chunk_tokens=400"]).search.fusion
    'rrf'
    """
    index, search = describe(IndexSettings), describe(SearchSettings)
    given = _read(pairs, {**index, **search, **_OTHER_NAMES})
    of_index = {name: value for name, value in given.items() if name in index}
    of_search = {name: value for name, value in given.items() if name not in index}
    return Settings(
        IndexSettings(**of_index) if of_index else None, SearchSettings(**by_own_names(of_search))
    )


def changed_search(settings: SearchSettings, pairs: Iterable[str]) -> SearchSettings:
    """Return search settings with some values replaced.

    >>> changed_search(SearchSettings(), ["top_k=3"]).top_k
    3
    """
    given = _read(pairs, {**describe(SearchSettings), **_OTHER_NAMES})
    return replace(settings, **by_own_names(given, settings.disabled))


_OTHER_NAMES = {name: setting(of) for name, of in ALIASES.items()}
_OTHER_NAMES |= {name: Setting(name, True, "") for name in STAGE_SWITCHES}


def _read(pairs: Iterable[str], known: Mapping[str, Setting]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise UsageError(f"{pair!r} is not a setting; write name=value, such as fusion=rrf.")
        if name not in known:
            names = ", ".join(sorted(known.keys() - _OTHER_NAMES))
            raise UsageError(f"Unknown setting {name!r}; available: {names}.")
        given[name] = _value(name, known[name].default, value)
    return given


def _value(name: str, default: Any, text: str) -> Any:
    """Read a value as the kind that the default is."""
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
