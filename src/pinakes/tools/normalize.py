"""From what a model sent to what it meant.

A model that has read a schema still writes ``q`` for ``query`` or ``"5"`` for ``5``. Every interface that models call
(function tools, MCP) turns what came into what was meant here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from pinakes.errors import UsageError
from pinakes.tools.arguments import Argument, arguments_of
from pinakes.tools.values import BadValue, as_filters, shown

# Of what a model invents, so much is worth a word.
_MOST_UNKNOWN = 5
_LONGEST_NAME = 100
# Filters that models give as arguments of their own, where the tool takes filters.
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


def normalize(tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call under their right names and as the right types.

    Names are compared without case, dashes and underscores; ``null`` and empty values count as not given. Everything
    that is wrong is said at once, in a UsageError that names what is right.

    >>> normalize("search_documents", {"q": "dry running", "maxResults": "3", "file_type": "pdf"})
    {'query': 'dry running', 'top_k': 3, 'filters': {'type': 'pdf'}}
    """
    takes = arguments_of(tool)
    by_key = {key(name): item for item in takes for name in (*item.aliases.split(), item.name)}
    by_key |= {key(item.name): item for item in takes}
    values: dict[str, object] = {}
    given_as: dict[str, str] = {}
    extra_filters: dict[str, object] = {}
    faults: list[str] = []
    named: set[str] = set()
    unknown: list[str] = []
    for name, value in unwrapped(arguments).items():
        argument = by_key.get(key(str(name)))
        if argument is None:
            if key(str(name)) in _FILTER_NAMES and "filters" in by_key:
                if value not in (None, "", [], {}):
                    extra_filters[_FILTER_NAMES[key(str(name))]] = value
            elif value is not None:
                unknown.append(str(name))
            continue
        try:
            meant = argument.read(value)
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


def key(name: str) -> str:
    """Return a name without case, dashes and underscores, in which models differ."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def unwrapped(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a call; some models put all of them into one."""
    if len(arguments) == 1:
        ((name, value),) = arguments.items()
        if str(name).lower() in _WRAPPERS and isinstance(value, Mapping):
            return {str(inner): item for inner, item in value.items()}
    return arguments


def _suggestion(name: str, known: Mapping[str, Argument]) -> str:
    near = difflib.get_close_matches(key(name[:_LONGEST_NAME]), known, n=1, cutoff=0.7)
    return f" (did you mean {known[near[0]].name}?)" if near else ""


def _signature(takes: tuple[Argument, ...]) -> str:
    if not takes:
        return "no arguments"
    return ", ".join(f"{item.name} (required)" if item.required else item.name for item in takes)
