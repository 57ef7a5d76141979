"""Names of code: what a source text defines, and what a place in it belongs to.

A function's body says neither what it is called nor which class it is in. Both stand further up, as headings do in
prose. Definitions are recognised by their keywords, which most languages share, or by their shape where there is none
(``code_functions.py``), and nesting by indentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinakes.ingest.code_functions import function_name

_MODIFIERS = (
    "pub(?:\\([a-z ]+\\))?|async|export|default|static|unsafe|public|private|protected|internal|abstract|final|open"
    "|const|inline|virtual|override|sealed|data|extern|partial|typedef|declare|local|suspend|constexpr"
)
_KEYWORDS = (
    "fn|struct|enum(?:[ \\t]+(?:class|struct))?|trait|impl|mod|type|def|class|function\\*?|interface|func|fun|namespace"
    "|union|record|object|protocol|module|sub|macro_rules!|defmodule|defp"
)
# Longer lines are data or minified, and a hostile one could keep a pattern busy.
_LINE = re.compile(r"^[^\n]{3,240}$", re.MULTILINE)
_DEFINITION = re.compile(
    rf"(?P<indent>[ \t]*)(?:(?:{_MODIFIERS})[ \t]+){{0,6}}(?P<keyword>{_KEYWORDS})(?:[ \t]*<[^>]*>)?[ \t]+"
    r"(?:\([^)]*\)[ \t]*)?(?:[\w.:]+(?:<[^>]*>)?[ \t]+for[ \t]+)?(?:self\.)?(?P<name>[A-Za-z_]\w*)"
)
# Java and its like: a type, a name, parameters, and a brace in this line or the next.
_METHOD = re.compile(
    rf"(?P<indent>[ \t]+)(?:(?:{_MODIFIERS})[ \t]+){{1,6}}(?:<[^>]*>[ \t]+)?[\w.<>\[\],?]+"
    r"(?:[ \t][\w.<>\[\],?]+){0,4}[ \t]+(?P<name>[a-zA-Z_]\w*)[ \t]*\([^;]*$"
)
_NOT_NAMES = frozenset("for if while switch return else catch self this extends implements".split())
# A function may be of these types: `struct node *node_new(int size) {`.
_TYPES = frozenset(("struct", "enum", "union"))
# `struct node *first`, `struct node first = ...`: something of a type, which is defined elsewhere.
_OF_TYPE = re.compile(r"[ \t]*[*&]|[ \t]+[A-Za-z_]\w*[ \t]*[=;,)\[]")
_CLASSES = frozenset(("class", "interface", "object", "record"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that code defines, where, and how far it is indented."""

    name: str
    start: int
    indent: int


def definitions(text: str) -> list[Definition]:
    """Find what a source text defines, in order.

    >>> [item.name for item in definitions("class Pump:\\n    def start(self):\\n        pass\\n")]
    ['Pump', 'start']
    """
    found: list[Definition] = []
    around: list[tuple[Definition, bool]] = []  # what a line stands inside of, and whether that is a class
    for line in _LINE.finditer(text):
        start, own = line.start(), line.group()
        indent = len(own[: len(own) - len(own.lstrip(" \t"))].expandtabs(4))
        while around and around[-1][0].indent >= indent:
            around.pop()
        in_class = bool(around) and around[-1][1]
        keyword, name = _by_keyword(own)
        if not keyword or keyword in _TYPES:
            name = function_name(text, start, line.end(), in_class=in_class) or name
        # A constructor is the class itself.
        if name and not (in_class and name == around[-1][0].name):
            found.append(Definition(name, start, indent))
            around.append((found[-1], keyword in _CLASSES))
    return found


def _by_keyword(line: str) -> tuple[str, str]:
    """The keyword and the name of what a line defines; "" for what it does not have."""
    if match := _DEFINITION.match(line):
        used = match["keyword"] in _TYPES and _OF_TYPE.match(line, match.end())
        return match["keyword"], "" if used or match["name"] in _NOT_NAMES else match["name"]
    match = _METHOD.match(line)
    return "", match["name"] if match and match["name"] not in {*_NOT_NAMES, "new"} else ""


def names_line(found: list[Definition], characters: int) -> str:
    """Return the names, the outermost first, as many as fit."""
    outermost = sorted(found, key=lambda item: (item.indent > 0, item.start))
    line = ""
    for name in dict.fromkeys(item.name for item in outermost):
        longer = f"{line}, {name}" if line else name
        if len(longer) > characters:
            break
        line = longer
    return line


def scope(found: list[Definition], text: str, start: int) -> list[str]:
    """Return the names of what a place stands inside of, the outermost first."""
    first = re.search(r"\S", text[start : start + 2000])
    if first is None:
        return []
    at = start + first.start()
    indent = len(text[text.rfind("\n", 0, at) + 1 : at].expandtabs(4))
    names: list[str] = []
    for item in reversed(found):
        if item.start < at and item.indent < indent:
            names.insert(0, item.name)
            indent = item.indent
        if not indent:
            break
    return names
