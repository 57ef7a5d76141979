"""Tool arguments: from a call as a model sent it to what was meant.

A model that has read a schema still writes ``q`` for ``query``, ``"5"`` for 5, or JSON within a string. Every interface
that models call (function tools, MCP) normalises arguments here.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from loccit.ask.request import Arg
from loccit.config.bounds import LONGEST_TEXT, MOST_FILTERS, MOST_VALUES, text_fault
from loccit.errors import UsageError

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

# Names that models use for the search modes.
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
# Only this many invented names are reported.
_MOST_UNKNOWN = 5
_LONGEST_NAME = 100
# Filters that models pass as arguments of their own, if the tool takes filters.
_FILTER_NAMES = {
    "type": "type",
    "filetype": "type",
    "extension": "type",
    "language": "language",
    "lang": "language",
    "author": "author",
    "tags": "tags",
    "tag": "tags",
    "after": "after",
    "since": "after",
    "datefrom": "after",
    "startdate": "after",
    "before": "before",
    "until": "before",
    "dateto": "before",
    "enddate": "before",
}
_WRAPPERS = ("arguments", "args", "kwargs", "parameters", "params", "input")


class BadValue(ValueError):  # noqa: N818 - a fault to be collected, not an error that leaves this package
    """An invalid value; the message continues the name of the argument."""


def as_text(value: object) -> str:
    """Return a text; numbers are converted, lists of texts joined."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (list, tuple)) and all(_is_plain(item) for item in value):
        return " ".join(str(item).strip() for item in value).strip()
    if isinstance(value, bool) or not _is_plain(value):
        raise BadValue(f"must be a text, not {shown(value)}")
    return str(value)


def as_choice(value: object, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or None for an empty text."""
    text = as_text(value).lower()
    text = text if text in choices else _CHOICES.get(text, text)
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
    if len(filters) > MOST_FILTERS:
        raise BadValue(f"must have at most {MOST_FILTERS} names, not {len(filters)}")
    for name, item in filters.items():
        values = item if isinstance(item, (list, tuple)) else [item]
        if not all(_is_plain(part) or isinstance(part, date) for part in values):
            raise BadValue(f"must have a value or a list of values for {shown(name)}, not {shown(item)}")
        if len(values) > MOST_VALUES:
            raise BadValue(f"must have at most {MOST_VALUES:,} values for {shown(name)}, not {len(values):,}")
        for part in (name, *values):
            _check(part, f"for {shown(name)}: every value ")
    return filters


def as_list(value: object) -> list[str]:
    """Return texts, from a list, from JSON in a text, or from a single text, without empty ones."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    return [text for item in items if item is not None and (text := as_text(item))]


def _check(value: object, whose: str = "", most: int = LONGEST_TEXT) -> None:
    """Refuse a text that no document has, or that is too long."""
    if fault := text_fault(str(value), most):
        raise BadValue(whose + fault)


def _parsed(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        name, found, value = text.partition("=")
        return {name.strip(): value.strip()} if found and name.strip() else text


def _is_plain(value: object) -> bool:
    """Whether a value is a text, a boolean, or a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _LARGEST)


def _between(bounds: tuple[float, float] | None) -> str:
    return f" between {bounds[0]:g} and {bounds[1]:,.10g}".replace(",", "") if bounds else ""


def shown(value: object, width: int = 60) -> str:
    """Return a value as Python prints it, cut to a width."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list
        return f"a very large {type(value).__name__}"
    return text if len(text) <= width else f"{text[: width - 3]}..."


def schema(argument: Arg) -> dict[str, Any]:
    """Return the JSON Schema of an argument's values."""
    made: dict[str, Any] = {"type": argument.type}
    if argument.brief:
        made["description"] = argument.brief
    if argument.choices:
        made["enum"] = list(argument.choices)
    elif argument.type == "string":
        made["maxLength"] = argument.longest
    if argument.bounds:
        made["minimum"], made["maximum"] = argument.bounds
    if argument.type == "array":
        made["items"] = {"type": "string"}
    if argument.shown_default is not None:
        made["default"] = argument.shown_default
    return made


def read(argument: Arg, value: object) -> object:
    """Return a value as its argument has it; None if nothing was given."""
    if value is None:
        return None
    if argument.type == "integer":
        return as_integer(value, argument.bounds)
    if argument.type == "number":
        return as_number(value, argument.bounds)
    if argument.type == "boolean":
        return as_switch(value)
    if argument.type == "object":
        return as_filters(value) or None
    if argument.type == "array" or (argument.several and isinstance(value, (list, tuple))):
        texts = as_list(value)
        for one in texts:
            _check(one, "may hold only texts of which each ", argument.longest)
        return texts or None
    text = as_choice(value, argument.choices) if argument.choices else as_text(value)
    _check(text, most=argument.longest)
    return text or None


def parameters(takes: Sequence[Arg]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments, for function tools and MCP."""
    return {
        "type": "object",
        "properties": {argument.name: schema(argument) for argument in takes},
        "required": [argument.name for argument in takes if argument.required],
        "additionalProperties": False,
    }


def normalize(tool: str, takes: Sequence[Arg], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments of a call under their proper names and with their proper types.

    Names are compared without case, dashes and underscores; ``null`` and empty values count as missing. All errors are
    reported at once, in a UsageError that says what is accepted.

    >>> normalize("define", [Arg(name="term", aliases="word")], {"Word": " vessel "})
    {'term': 'vessel'}
    """
    by_key = {_key(name): item for item in takes for name in (*item.aliases.split(), item.name)}
    by_key |= {_key(item.name): item for item in takes}
    values: dict[str, Any] = {}
    given_as: dict[str, str] = {}
    extra_filters: dict[str, object] = {}
    faults: list[str] = []
    named: set[str] = set()
    unknown: list[str] = []
    for name, value in _unwrapped(given).items():
        argument = by_key.get(_key(str(name)))
        if argument is None:
            if _key(str(name)) in _FILTER_NAMES and "filters" in by_key:
                if value not in (None, "", [], {}):
                    extra_filters[_FILTER_NAMES[_key(str(name))]] = value
            elif value is not None:
                unknown.append(str(name))
            continue
        try:
            meant = read(argument, value)
        except BadValue as error:
            faults.append(f"{name} {error}")
            named.add(argument.name)
            continue
        if meant is None:
            continue
        if argument.name in values and values[argument.name] != meant:
            faults.append(
                f"{given_as[argument.name]} and {name} are the same argument; give {argument.name} once"
            )
        values.setdefault(argument.name, meant)
        given_as.setdefault(argument.name, str(name))
    if extra_filters:
        filters = values.get("filters")
        try:
            values["filters"] = as_filters(
                {**extra_filters, **(filters if isinstance(filters, dict) else {})}
            )
        except BadValue as error:
            faults.append(f"filters {error}")
    faults += [
        f"unknown argument {shown(name)}{_suggestion(name, by_key)}" for name in unknown[:_MOST_UNKNOWN]
    ]
    if len(unknown) > _MOST_UNKNOWN:
        faults.append(f"and {len(unknown) - _MOST_UNKNOWN} more that are unknown")
    faults += [
        f"{item.name} is missing" for item in takes if item.required and item.name not in {*values, *named}
    ]
    if faults:
        raise UsageError(f"{tool}: {'; '.join(faults)}. It takes {_signature(takes)}.")
    return {item.name: values[item.name] for item in takes if item.name in values}


def _key(name: str) -> str:
    """Return a name without case, dashes and underscores, in which models differ."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _unwrapped(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a call; some models wrap all of them in one."""
    if len(arguments) == 1:
        ((name, value),) = arguments.items()
        if str(name).lower() in _WRAPPERS and isinstance(value, Mapping):
            return {str(inner): item for inner, item in value.items()}
    return arguments


def _suggestion(name: str, known: Mapping[str, Arg]) -> str:
    near = difflib.get_close_matches(_key(name[:_LONGEST_NAME]), known, n=1, cutoff=0.7)
    return f" (did you mean {known[near[0]].name}?)" if near else ""


def _signature(takes: Sequence[Arg]) -> str:
    if not takes:
        return "no arguments"
    return ", ".join(f"{item.name} (required)" if item.required else item.name for item in takes)
