"""The questions, and what each interface says that it takes: read from the declarations, none of which is repeated here."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import typer.main

from loccit import Library
from loccit.ask.catalog import TOOLS
from loccit.ask.request import Arg
from loccit.cli.app import app
from loccit.server.api.app import OPERATIONS
from loccit.server.api.params import Param

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
BY_NAME = {operation.name: operation for operation in OPERATIONS}

# The same argument under another name; those that a tool lists as aliases are known from there.
_MEANT = {
    **dict.fromkeys(("doc",), "document"),
    **dict.fromkeys(("ref", "references"), "reference"),
    **dict.fromkeys(("q", "prefix"), "query"),
}


@dataclass(frozen=True)
class Interface:
    """How one interface calls a question, and its arguments: ours, by the name that they have there."""

    name: str
    called: str
    takes: dict[str, str]


@dataclass(frozen=True)
class Kind:
    """What values an argument may have, as far as any interface declares it."""

    type: str
    choices: tuple[str, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()
    longest: tuple[int, ...] = ()
    required: bool = False


@dataclass
class Question:
    """A question in all interfaces that have it."""

    name: str
    interfaces: dict[str, Interface] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)

    def add(self, interface: str, called: str, declared: dict[str, tuple[str, Kind]]) -> None:
        """Add an interface with its arguments: ours, how it is called there, and what it may be."""
        self.interfaces[interface] = Interface(
            interface, called, {ours: theirs for ours, (theirs, _) in declared.items()}
        )
        for ours, (_, kind) in declared.items():
            known = self.kinds.get(ours)
            self.kinds[ours] = kind if known is None else _both(known, kind)


def _both(one: Kind, other: Kind) -> Kind:
    return Kind(
        one.type if one.type != "any" else other.type,
        tuple(dict.fromkeys((*one.choices, *other.choices))),
        tuple(dict.fromkeys((*one.bounds, *other.bounds))),
        tuple(dict.fromkeys((*one.longest, *other.longest))),
        one.required or other.required,
    )


# By the name of the tool: method, command, operation.
_CALLED = {
    "search_documents": ("search", "search", "searchByBody"),
    "read_section": ("sections", "section", "readSections"),
    "define_term": ("define", "define", "defineTerm"),
    "list_outline": ("outline", "outline", "readOutline"),
    "follow_references": ("references", "refs", "followReferences"),
    "find_all": ("find_all", "grep", "findAllByBody"),
    "verify_quotes": ("verify_quotes", "verify", "verifyQuotes"),
    "compare": ("compare", "diff", "compare"),
    "list_obligations": ("obligations", "obligations", "listObligations"),
    "list_documents": ("documents", "documents", "listDocuments"),
    "index_status": ("status", "status", "readStatus"),
    "suggest": ("suggest", "", "suggest"),
}
# Options of commands that say otherwise what an argument says, or how to print.
_OWN = {
    "index",
    "as_json",
    "format_",
    "full",
    "set_",
    "reranker",
    "until",
    "path",
    "type",
    "language",
    "after",
    "before",
}
# Flags that stand for a value of an argument.
_WORDED = {"grep": {"regex": "kind", "words": "kind"}}
# What one interface has of its own, and has no effect on what is found.
_APART = {"library", "offsets", "explain", "paths", "until", "files", "rerank", "ignore_case", "match_case"}


def questions() -> dict[str, Question]:
    """Return every question with its arguments in each interface."""
    assert set(TOOLS) < set(_CALLED), "a tool without its method, command and operation"
    return {name: _question(name, *called) for name, called in _CALLED.items()}


def _question(name: str, method: str, command: str, operation: str) -> Question:
    question = Question(name)
    tool = TOOLS.get(name)
    aliases = {alias: item.name for item in (tool.takes if tool else ()) for alias in item.aliases.split()}
    own = {item.name for item in tool.takes} if tool else set()

    def ours(theirs: str) -> str:
        meant = _MEANT.get(theirs, theirs)
        return meant if meant in own or not tool else aliases.get(meant, meant)

    if tool is not None:
        question.add("mcp", name, {item.name: (item.name, _of_tool(item)) for item in tool.takes})
    declared = {
        ours(item): (item, _of_parameter(parameter))
        for item, parameter in inspect.signature(getattr(Library, method)).parameters.items()
        if item not in ("self", *_APART)
    }
    if name == "verify_quotes":
        # In Python one argument takes either.
        declared["text"] = ("quotations", Kind("string", required=False))
    question.add("python", method, declared)
    question.add(
        "http",
        operation,
        {
            ours(item.name): (item.name, _of_param(item))
            for item in BY_NAME[operation].params
            if item.name not in _APART
        },
    )
    if command:
        question.add("cli", command, dict(_of_command(command, ours, tool.takes if tool else ())))
    return question


def _of_tool(item: Arg) -> Kind:
    return Kind(
        item.type,
        item.choices,
        (item.bounds,) if item.bounds else (),
        (item.longest,) if item.type in ("string", "array") and not item.choices else (),
        item.required,
    )


def _of_parameter(parameter: inspect.Parameter) -> Kind:
    """What Python says: the type alone."""
    written = str(parameter.annotation)
    kinds = {"bool": "boolean", "int": "integer", "float": "number", "Mapping": "object"}
    kind = next((kinds[word] for word in kinds if written.startswith(word)), "string")
    either = parameter.name == "quotations"
    return Kind("array" if either else kind, required=parameter.default is parameter.empty and not either)


def _of_param(item: Param) -> Kind:
    schema = item.schema
    numeric = item.kind in ("integer", "number")
    longest = (schema["maxLength"],) if "maxLength" in schema else ()
    return Kind(
        item.kind,
        tuple(schema.get("enum", ())),
        ((schema["minimum"], schema["maximum"]),) if numeric else (),
        longest,
        item.required,
    )


def _of_command(command: str, ours: Any, takes: Any) -> Iterator[tuple[str, tuple[str, Kind]]]:
    required = [item.name for item in takes if item.required] or [item.name for item in takes][:1]
    positional = iter(required)
    for option in COMMANDS[command].params:
        name = str(option.name)
        if name in _OWN or name == "help":
            continue
        if option.param_type_name == "argument":
            name = ours(name) if ours(name) in required else next(positional, name)
            name = "text" if command == "verify" else name
            yield name, ("", Kind("string", required=option.required))
            continue
        if command in _WORDED and name in _WORDED[command]:
            continue
        flag = max(option.opts, key=len)
        name = {"filter": "filters"}.get(name, name)
        yield (name if option.is_flag else ours(name)), (flag, Kind("boolean" if option.is_flag else "any"))
    for name in set(_WORDED.get(command, {}).values()):
        yield name, (name, Kind("any"))
