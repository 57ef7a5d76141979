"""Tool sources: one plain description of a tool from any of the common formats.

MCP tool lists, schemas of the OpenAI and Anthropic APIs, Python functions, and objects of agent libraries that have a
name and a description.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from loccit.ask.arguments import shown
from loccit.errors import UsageError

# Where the various formats keep the JSON Schema of the arguments.
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "args", "parameters_json_schema")
# Schemas may nest without end; what stands this deep says nothing of what a tool is for.
_DEPTH = 4
_MOST_PARAMETERS = 200
_MOST_VALUES = 20
_BELOW = ("properties", "$defs", "definitions")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "items")
_DOCUMENTED = re.compile(r"^\s*(?::param\s+)?\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is searched; ``original`` is what was given, to pass on to a model."""

    name: str
    description: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    original: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise UsageError(f"A tool needs a name, not {self.name!r}.")
        if not isinstance(self.description, str):
            raise UsageError(
                f"The description of the tool {self.name} must be text, not {self.description!r}."
            )


def read_tools(given: Any) -> list[Tool]:
    """Return the tools in a list, an MCP ``tools/list`` answer, or one tool in any of the formats.

    >>> [tool.name for tool in read_tools({"tools": [{"name": "send_email", "inputSchema": {"type": "object"}}]})]
    ['send_email']
    """
    if isinstance(given, (str, bytes)) or given is None:
        raise UsageError(f"{shown(given)} is not a tool: give a schema, a function or a list of them.")
    listed = given.get("tools") if isinstance(given, Mapping) else getattr(given, "tools", None)
    if isinstance(listed, (list, tuple)) and not _has_name(given):
        return [read_tool(item) for item in listed]
    if isinstance(given, Mapping) or _has_name(given) or isinstance(given, Tool) or callable(given):
        return [read_tool(given)]
    if isinstance(given, Iterable):
        return [read_tool(item) for item in given]
    return [read_tool(given)]


def read_tool(given: Any) -> Tool:
    """Return one tool: a schema, a function, or an object with a name and a description."""
    if isinstance(given, Tool):
        return (
            given
            if given.original is not None
            else Tool(given.name, given.description, given.parameters, given)
        )
    if isinstance(given, Mapping):
        return _from_schema(given)
    if _has_name(given):
        return _from_object(given)
    if callable(given):
        return _from_function(given)
    raise UsageError(
        f"{shown(given)} is not a tool: give an MCP tool, a schema of the OpenAI or Anthropic API, or a function."
    )


# -- schemas ---------------------------------------------------------------------------------------------------


def _from_schema(given: Mapping[str, Any]) -> Tool:
    inner = given.get("function")
    data = inner if isinstance(inner, Mapping) else given
    name = data.get("name")
    if name is None and given.get("type") not in (None, "function"):
        name = given["type"]  # a tool that the service itself has, such as {"type": "web_search"}
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"A tool has no name: {shown(dict(given))}")
    texts = [data.get("title"), _mapping(data.get("annotations")).get("title"), data.get("description")]
    description = _joined(name, texts)
    schema: Any = next((data[key] for key in _SCHEMAS if data.get(key) is not None), {})
    if not isinstance(schema, Mapping):
        raise UsageError(
            f"The arguments of the tool {name} must be a JSON Schema object, not {shown(schema)}."
        )
    return Tool(name, description, tuple(_parameters(schema)), given)


def _from_object(given: Any) -> Tool:
    titles = [getattr(given, "title", None), getattr(getattr(given, "annotations", None), "title", None)]
    texts = [text for text in (*titles, getattr(given, "description", None)) if isinstance(text, str)]
    schemas = (getattr(given, key, None) for key in _SCHEMAS)
    schema: Mapping[str, Any] = next((found for found in schemas if isinstance(found, Mapping)), {})
    return Tool(given.name, _joined(given.name, texts), tuple(_parameters(schema)), given)


def _joined(name: str, texts: Iterable[Any]) -> str:
    """Join the texts, without a title that only repeats the name."""
    said: list[str] = []
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise UsageError(f"The description of the tool {name} must be text, not {shown(text)}.")
        if text and text.strip() and text.strip() != name:
            said.append(text.strip())
    return ". ".join(dict.fromkeys(said))


def _parameters(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    # A bare map of arguments, as some libraries have it, counts as the properties of a schema.
    is_schema = any(key in schema for key in ("type", "$ref", *_BELOW, *_ALTERNATIVES))
    whole = schema if is_schema else {"properties": schema}
    found: dict[str, str] = {}
    for name, text in _walk(whole, 0):
        if len(found) >= _MOST_PARAMETERS:
            break
        found[name] = f"{found[name]} {text}".strip() if name in found else text
    return list(found.items())


def _walk(schema: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEPTH or not isinstance(schema, Mapping):
        return
    for key in _BELOW:
        for name, below in _mapping(schema.get(key)).items():
            if key == "properties":
                yield str(name), _about(below)
            yield from _walk(below, depth + 1)
    for key in _ALTERNATIVES:
        below = schema.get(key)
        for part in below if isinstance(below, (list, tuple)) else [below]:
            yield from _walk(part, depth + 1)


def _about(schema: Any) -> str:
    """What a schema says about a parameter: its description and allowed values."""
    data = _mapping(schema)
    values = data.get("enum")
    texts = [data.get("description"), *(values[:_MOST_VALUES] if isinstance(values, (list, tuple)) else ())]
    return " ".join(text for text in texts if isinstance(text, str))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# -- functions -------------------------------------------------------------------------------------------------


def _from_function(given: Callable[..., Any]) -> Tool:
    bare: Any = given
    while isinstance(bare, functools.partial):
        bare = bare.func
    name = getattr(bare, "__name__", None) or type(bare).__name__
    if name == "<lambda>":
        raise UsageError("A lambda has no name to call it by; give a function.")
    described = bare if inspect.isroutine(bare) or inspect.isclass(bare) else type(bare).__call__
    documentation = inspect.getdoc(bare) or inspect.getdoc(described) or ""
    lines = documentation.splitlines()
    said = {found[1]: found[2] for line in lines if (found := _DOCUMENTED.match(line))}
    return Tool(name, documentation, tuple(_arguments(given, described, said)), given)


def _arguments(
    given: Callable[..., Any], described: Any, said: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    try:
        names = list(inspect.signature(given).parameters)
    except (TypeError, ValueError):  # some functions of C extensions do not tell
        return
    try:
        hints = get_type_hints(described, include_extras=True)
    except Exception:  # annotations may name what is not there at run time
        hints = {}
    for name in names:
        yield name, " ".join([*_annotated(hints.get(name)), said.get(name, "")]).strip()


def _annotated(hint: Any) -> list[str]:
    """What ``Annotated`` says about a parameter, as a string or as a field with a description."""
    if get_origin(hint) is not Annotated:
        return []
    texts = [
        extra if isinstance(extra, str) else getattr(extra, "description", None)
        for extra in get_args(hint)[1:]
    ]
    return [text for text in texts if isinstance(text, str)]


def _has_name(given: Any) -> bool:
    if isinstance(given, Mapping) or inspect.isroutine(given) or inspect.isclass(given):
        return False
    return isinstance(getattr(given, "name", None), str)
