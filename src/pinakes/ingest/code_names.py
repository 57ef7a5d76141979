"""Names of code: what a source text defines, and what a place in it belongs to.

A function's body says neither what it is called nor which class it is in. Both stand further up, as headings do in
prose. Definitions are recognised by their keywords, which most languages share, and nesting by indentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MODIFIERS = (
    "pub(?:\\([a-z ]+\\))?|async|export|default|static|unsafe|public|private|protected|internal|abstract|final|open"
    "|const|inline|virtual|override|sealed|data|extern|partial"
)
_KEYWORDS = (
    "fn|struct|enum(?:[ \\t]+(?:class|struct))?|trait|impl|mod|type|def|class|function\\*?|interface|func|fun|namespace"
    "|union|record|object|protocol|module|sub|macro_rules!|defmodule|defp"
)
# Longer lines are data or minified, and a hostile one could keep a pattern busy.
_LINE = re.compile(r"^[^\n]{3,240}$", re.MULTILINE)
_DEFINITION = re.compile(
    rf"(?P<indent>[ \t]*)(?:(?:{_MODIFIERS})[ \t]+){{0,6}}(?:{_KEYWORDS})(?:[ \t]*<[^>]*>)?[ \t]+"
    r"(?:\([^)]*\)[ \t]*)?(?:[\w.:]+(?:<[^>]*>)?[ \t]+for[ \t]+)?(?P<name>[A-Za-z_]\w*)"
)
# Java and its like: a type, a name, parameters, and a brace in this line or the next.
_METHOD = re.compile(
    rf"(?P<indent>[ \t]+)(?:(?:{_MODIFIERS})[ \t]+){{1,6}}(?:<[^>]*>[ \t]+)?[\w.<>\[\],?]+"
    r"(?:[ \t][\w.<>\[\],?]+){0,4}[ \t]+(?P<name>[a-zA-Z_]\w*)[ \t]*\([^;]*$"
)
_NOT_NAMES = frozenset("for if while switch return new else catch self this".split())


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
    found = []
    for line in _LINE.finditer(text):
        match = _DEFINITION.match(line.group()) or _METHOD.match(line.group())
        if match and match["name"] not in _NOT_NAMES:
            found.append(Definition(match["name"], line.start(), len(match["indent"].expandtabs(4))))
    return found


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
