"""A command that asks a question: its options follow from the request, and the plain ones are read without Typer.

Importing Typer, and having it check a command line, takes longer than most answers. What it alone can say (help,
completion, what is wrong with a command line) is left to it: :func:`parse` reads only what is plainly right.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from loccit.ask.request import Arg, Request, arguments
from loccit.cli.folder import meant, open_library
from loccit.cli.output import print_json
from loccit.errors import UsageError

NOTHING_FOUND = 4
Asked: TypeAlias = type[Request[Any]]
Extras: TypeAlias = Mapping[str, Sequence[Arg]]
GENERAL = "General"
INDEX = Arg(
    name="index",
    kind=Path,
    flags=("--index", "-i"),
    metavar="DIR",
    variable="LOCCIT_INDEX",
    help="The index to use; by default the nearest .loccit/ upwards.",
    panel=GENERAL,
)
JSON = Arg(
    name="as_json",
    kind=bool,
    default=False,
    flags=("--json",),
    help="Print one JSON document on standard output.",
    panel=GENERAL,
)
# Arguments that name documents, which may be written as in the shell: ``../notes``.
_DOCUMENTS = ("document", "old", "new")
_FILTERS = {
    "--filter": Arg(
        name="filter",
        flags=("--filter", "-f"),
        metavar="KEY=VALUE",
        help="Only documents with this value in their frontmatter. Repeat a key to allow several values.",
        several=True,
    ),
    "--path": Arg(
        name="path",
        flags=("--path", "-p"),
        metavar="GLOB",
        help="Only in this folder, or matching this pattern.",
        several=True,
    ),
    "--type": Arg(
        name="type",
        flags=("--type", "-t"),
        metavar="EXT",
        help="Only this type of file: pdf, md, …",
        several=True,
    ),
    "--language": Arg(
        name="language",
        flags=("--language", "-l"),
        metavar="CODE",
        help="Only this language: en, de, …",
        several=True,
    ),
    "--after": Arg(
        name="after", flags=("--after",), metavar="DATE", help="Only documents of this date or later."
    ),
    "--before": Arg(
        name="before", flags=("--before",), metavar="DATE", help="Only documents from before this date."
    ),
}


class Command:
    """A command: the request it makes, options of its own, and how the answer is shown. Its docstring is its help."""

    request: ClassVar[Asked]
    extras: ClassVar[Extras] = {}
    """Options of the command line alone, by the argument or option before which they stand."""

    @classmethod
    def options(cls) -> list[Arg]:
        """Return the options in the order of the help."""
        found: list[Arg] = []
        for one in (*arguments(cls.request), INDEX, JSON):
            found += cls.extras.get(one.name, ())
            if one.switches:
                found += [
                    Arg(name=value, kind=bool, default=False, flags=(*flags,), help=said)
                    for value, (*flags, said) in one.switches.items()
                ]
            elif one.kind is dict:
                filters = (_FILTERS[flag] for flag in one.flags)
                found += [replace(each, panel=one.panel, help=one.help or each.help) for each in filters]
            elif one.flags or one.metavar:
                found.append(one)
        return found

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the request from the values of the options."""
        values: dict[str, Any] = {}
        for one in arguments(self.request):
            value = given.get(one.name)
            if one.switches:
                chosen = [name for name in one.switches if given[name]]
                if len(chosen) > 1:
                    flags = " or ".join(one.switches[name][0] for name in chosen)
                    raise UsageError(f"Give {flags}, not both.")
                value = chosen[0] if chosen else one.default
            elif one.kind is dict:
                value = _filters(given) or None
            elif isinstance(value, list):
                value = " ".join(value)
            elif value is not None and one.name in _DOCUMENTS:
                value = meant(value)
            if value is not None:
                values[one.name] = value
        return values

    def run(self, given: Mapping[str, Any]) -> int:
        """Ask, show the answer, and return the exit code."""
        request = self.request(**self.values(given))
        answer = self.ask(request, given)
        if given["as_json"]:
            print_json(self.data(answer))
        else:
            self.show(answer, given)
        return self.code(answer, given)

    def ask(self, request: Any, given: Mapping[str, Any]) -> Any:
        """Put the request to the library."""
        with open_library(given["index"]) as library:
            return request.ask(library)

    def data(self, answer: Any) -> Any:
        """Return the answer for JSON."""
        return [one.to_dict() for one in answer] if isinstance(answer, list) else answer.to_dict()

    def show(self, answer: Any, given: Mapping[str, Any]) -> None:
        """Print the answer."""
        raise NotImplementedError

    def code(self, answer: Any, given: Mapping[str, Any]) -> int:
        """Return the exit code that an answer stands for."""
        return 0


def _filters(given: Mapping[str, Any]) -> dict[str, object]:
    several: dict[str, list[str]] = {}
    for pair in given.get("filter") or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"A filter is KEY=VALUE, as in tags=runbook, not {pair!r}.")
        several.setdefault(key.strip(), []).append(value.strip())
    # A date is one, not a list.
    filters: dict[str, object] = {
        key: values[0] if len(values) == 1 else values for key, values in several.items()
    }
    for key in ("path", "type", "language"):
        values = [meant(one) if key == "path" else one for one in given.get(key) or ()]
        if values:
            filters[key] = [*several.get(key, ()), *values]
    filters |= {key: given[key] for key in ("after", "before") if given.get(key) is not None}
    return filters


# -- reading a command line ------------------------------------------------------------------------------------

_NUMBERS = {int: re.compile(r"[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")}


def parse(options: Sequence[Arg], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of options by name; None for whatever is not plainly right, which is for Typer to read."""
    known = {flag: one for one in options for flag in one.flags if "/" not in flag}
    pairs = {
        flag: (one, at == 0)
        for one in options
        for flags in one.flags
        if "/" in flags
        for at, flag in enumerate(flags.split("/"))
    }
    given: dict[str, Any] = {one.name: None if one.several else one.default for one in options}
    places: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word == "--":
            places += reversed(left)
            break
        if word in pairs:
            one, on = pairs[word]
            given[one.name] = on
        elif not word.startswith("-") or word == "-":
            places.append(word)
        else:
            flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if flag not in known:
                return None
            one = known[flag]
            if one.kind is bool:
                if equals:
                    return None
                given[one.name] = True
                continue
            if not equals:
                if not left:
                    return None
                value = left.pop()
            try:
                converted = _converted(one, value)
            except ValueError:
                return None
            given[one.name] = [*(given[one.name] or ()), converted] if one.several else converted
    for one in options:
        if one.variable and given[one.name] is None and (set_ := os.environ.get(one.variable)):
            given[one.name] = one.kind(set_)
    return _placed(options, places, given)


def _placed(options: Sequence[Arg], places: list[str], given: dict[str, Any]) -> dict[str, Any] | None:
    """Put in what is given by its position."""
    for one in (one for one in options if one.positional):
        if one.words:
            given[one.name], places = places or None, []
        else:
            given[one.name] = places.pop(0) if places else None
        if given[one.name] is None and (one.required or one.typed):
            return None
    return None if places else given


def _converted(one: Arg, value: str) -> Any:
    if not value or (value.startswith("-") and value != "-"):
        raise ValueError(value)
    if one.kind in _NUMBERS:
        if not _NUMBERS[one.kind].fullmatch(value):
            raise ValueError(value)
        number = one.kind(value)
        least, most = one.flag_bounds or (None, None)
        if (least is not None and number < least) or (most is not None and number > most):
            raise ValueError(value)
        return number
    return value if one.kind is str else one.kind(value)


# -- what Typer is told ----------------------------------------------------------------------------------------


def typed(command: type[Command]) -> Any:
    """Return a function from which Typer makes the command."""
    import typer

    def run(**given: Any) -> None:
        if code := command().run(given):
            raise typer.Exit(code)

    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter(one, typer) for one in command.options()]
    )
    return run


def _parameter(one: Arg, typer: Any) -> inspect.Parameter:
    if one.positional:
        kind: Any = list[str] if one.words else str
        default = ... if one.required or one.typed else None
        info = typer.Argument(default, metavar=one.metavar, help=one.help)
    else:
        kind = list[one.kind] if one.several else one.kind  # type: ignore[name-defined]
        default = one.default.value if isinstance(one.default, Enum) else one.default
        least, most = one.flag_bounds or (None, None)
        info = typer.Option(
            default,
            *one.flags,
            metavar=one.metavar or None,
            help=one.help,
            rich_help_panel=one.panel or None,
            envvar=one.variable or None,
            min=least,
            max=most,
            autocompletion=(lambda: list(one.choices)) if one.choices and one.of_setting else None,
        )
    kind = kind if default is not None else kind | None
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=kind)
