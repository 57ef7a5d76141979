"""Parameters: what an operation takes, described once for parsing requests and for OpenAPI."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loccit.ask.request import Arg, Request, arguments
from loccit.config.bounds import LONGEST_TEXT, MOST_FILTERS, MOST_VALUES, text_fault
from loccit.server.api.problems import ProblemError

_INTEGER = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?")
_FLAGS = {"1": True, "true": True, "0": False, "false": False}
_MAX_DEPTH = 16

_SINGLE: list[dict[str, Any]] = [
    {"type": "string", "pattern": r"\S", "maxLength": LONGEST_TEXT},
    {"type": "number"},
    {"type": "boolean"},
]
FILTERS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "maxProperties": MOST_FILTERS,
    "additionalProperties": {
        "anyOf": [
            *_SINGLE,
            {"type": "array", "minItems": 1, "maxItems": MOST_VALUES, "items": {"anyOf": _SINGLE}},
        ]
    },
}
"""Filters: names with a value, or with several of which one must match."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. ``schema`` is the JSON Schema of its value, with the few keywords that :func:`check` supports."""

    name: str
    description: str
    schema: Mapping[str, Any]
    required: bool = False
    default: Any = None

    @property
    def kind(self) -> str:
        """The JSON type of the value."""
        return str(self.schema["type"])


def text(
    name: str, description: str, *, most: int = LONGEST_TEXT, least: int = 1, required: bool = False
) -> Param:
    """Return a parameter for text that is not blank."""
    schema: dict[str, Any] = {"type": "string", "minLength": least, "maxLength": most}
    if least:
        schema["pattern"] = r"\S"
    return Param(name, description, schema, required)


def choice(name: str, description: str, options: Sequence[str], default: str | None = None) -> Param:
    """Return a parameter with a fixed set of values."""
    return Param(name, description, {"type": "string", "enum": list(options)}, default=default)


def number(name: str, description: str, least: int, most: int, default: int | None = None) -> Param:
    """Return a parameter for a whole number."""
    return Param(name, description, {"type": "integer", "minimum": least, "maximum": most}, default=default)


def of(request: Callable[..., Request[Any]], *, without: Sequence[str] = ()) -> tuple[Param, ...]:
    """Return the parameters that a question has over HTTP."""
    return tuple(_of(one) for one in arguments(request) if one.http is not None and one.name not in without)


def _of(one: Arg) -> Param:
    name, said = one.http_name or one.name, one.http or ""
    longest = one.http_longest or one.longest
    bounds = one.http_bounds or one.bounds
    if one.kind is dict:
        return Param(name, said, FILTERS_SCHEMA)
    if one.kind is list:
        item = {"type": "string", "pattern": r"\S", "minLength": 1, "maxLength": longest}
        return Param(name, said, {"type": "array", "minItems": 1, "maxItems": one.most, "items": item})
    if one.choices:
        return choice(name, said, one.choices, one.default)
    if bounds:
        schema = {"type": one.type, "minimum": bounds[0], "maximum": bounds[1]}
        return Param(name, said, schema, default=one.default)
    if one.kind is bool:
        return flag(name, said, default=one.default)
    return text(name, said, most=longest, least=0 if one.blank else 1, required=one.required)


def flag(name: str, description: str, *, default: bool = False) -> Param:
    """Return a boolean parameter."""
    return Param(name, description, {"type": "boolean"}, default=default)


def from_query(params: Sequence[Param], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the values of a query string, each converted by its parameter."""
    known = {param.name: param for param in params}
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name in given:
            raise ProblemError(400, f"{name} is given more than once.")
        given[name] = _parse(_known(known, name), value)
    return _complete(params, given)


def from_body(params: Sequence[Param], body: bytes) -> dict[str, Any]:
    """Return the values of a JSON object; null counts as missing."""
    data = _json(body, "The body")
    if not isinstance(data, dict):
        raise ProblemError(400, "The body must be a JSON object.")
    known = {param.name: param for param in params}
    return _complete(
        params, {name: check(_known(known, name), value) for name, value in data.items() if value is not None}
    )


def check(param: Param, value: Any) -> Any:
    """Return a value if it is valid for its parameter; otherwise raise with the reason."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "boolean": bool,
        "object": dict,
        "array": list,
        "number": (int, float),
    }
    if param.kind == "integer" and isinstance(value, float) and value.is_integer():
        # To JSON these are the same.
        value = int(value)
    if not isinstance(value, kinds[param.kind]) or (isinstance(value, bool) and param.kind != "boolean"):
        raise ProblemError(400, f"{param.name} must be of type {param.kind}.")
    if isinstance(value, str):
        _check_text(param, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = param.schema["minimum"], param.schema["maximum"]
        if not low <= value <= high:
            raise ProblemError(400, f"{param.name} must be between {low} and {high}.")
    if isinstance(value, list):
        item = Param(f"each of {param.name}", "", param.schema["items"])
        if not 0 < len(value) <= param.schema["maxItems"]:
            raise ProblemError(400, f"{param.name} must have 1 to {param.schema['maxItems']} items.")
        return [check(item, one) for one in value]
    if isinstance(value, dict) and not (len(value) <= MOST_FILTERS and all(map(_is_filter, value.values()))):
        raise ProblemError(
            400,
            f"{param.name} must give each name a text, a number, true or false, or a list of these; at most "
            f"{MOST_FILTERS} names.",
        )
    return value


def _is_filter(value: Any) -> bool:
    if isinstance(value, list):
        return 0 < len(value) <= MOST_VALUES and all(map(_is_single, value))
    return _is_single(value)


def _is_single(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and bool(re.search(r"\S", value))
    return isinstance(value, (int, float))


def _check_text(param: Param, value: str) -> None:
    schema = param.schema
    if "enum" in schema and value not in schema["enum"]:
        raise ProblemError(400, f"{param.name} must be one of {', '.join(schema['enum'])}.")
    if len(value) > schema.get("maxLength", len(value)):
        raise ProblemError(400, f"{param.name} must have at most {schema['maxLength']} characters.")
    if len(value) < schema.get("minLength", 0):
        raise ProblemError(400, f"{param.name} is empty.")
    pattern = schema.get("pattern")
    if pattern and not re.search(pattern, value):
        if pattern == r"\S":
            # Which other characters are blank depends on the regular expression engine.
            raise ProblemError(422 if value.strip(" \t\n\r\f\v") else 400, f"{param.name} is empty.")
        raise ProblemError(400, f"{param.name} is malformed.")
    if fault := text_fault(value, len(value)):
        # Well formed as JSON, which can express half of a surrogate pair.
        raise ProblemError(422, f"{param.name} {fault}.")


def _parse(param: Param, value: str) -> Any:
    if param.kind == "integer":
        if not _INTEGER.fullmatch(value):
            raise ProblemError(400, f"{param.name} must be a whole number.")
        return check(param, int(value))
    if param.kind == "number":
        if not _NUMBER.fullmatch(value):
            raise ProblemError(400, f"{param.name} must be a number.")
        return check(param, float(value))
    if param.kind == "boolean":
        if value not in _FLAGS:
            raise ProblemError(400, f"{param.name} must be 1 or 0.")
        return _FLAGS[value]
    if param.kind == "object":
        return check(param, _json(value.encode("utf-8", "replace"), param.name))
    return check(param, value)


def _json(body: bytes, what: str) -> Any:
    try:
        data = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ProblemError(400, f"{what} is not JSON.") from error
    if _depth(data) > _MAX_DEPTH:
        raise ProblemError(400, f"{what} is nested too deeply.")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _depth(data: Any) -> int:
    """Return the nesting depth of a value, as far as it matters."""
    level, layers = [data], 0
    while level and layers <= _MAX_DEPTH:
        layers += 1
        level = [
            item
            for node in level
            if isinstance(node, (dict, list))
            for item in (node.values() if isinstance(node, dict) else node)
        ]
    return layers


def _known(known: Mapping[str, Param], name: str) -> Param:
    if name not in known:
        there = f"; available: {', '.join(known)}" if known else ""
        raise ProblemError(400, f"There is no parameter {name[:50]!r} here{there}.")
    return known[name]


def _complete(params: Sequence[Param], given: dict[str, Any]) -> dict[str, Any]:
    for param in params:
        if param.required and param.name not in given:
            raise ProblemError(400, f"{param.name} is missing.")
        given.setdefault(param.name, param.default)
    return given
