"""Code names: what a source text defines, the scope of a position, and the sections of an outline.

The body of a function contains neither its name nor its class. Both are further up, like headings in prose. Definitions
are recognised by their keywords, which most languages share, or else by their form (``int main(void) {``, ``load(id)
{``, ``const load = async (id) => {``), and nesting by indentation. Python is parsed, but only for sections; elsewhere a
definition ends before the next line that is indented no further than its first line and does not close it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from loccit.grammar.text.code_languages import MAX_SOURCE_BYTES, language_of_file
from loccit.model import Place
from loccit.structure import Parsed

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
# Java and similar languages: a type, a name, parameters, and a brace in this line or the next.
_METHOD = re.compile(
    rf"(?P<indent>[ \t]+)(?:(?:{_MODIFIERS})[ \t]+){{1,6}}(?:<[^>]*>[ \t]+)?[\w.<>\[\],?]+"
    r"(?:[ \t][\w.<>\[\],?]+){0,4}[ \t]+(?P<name>[a-zA-Z_]\w*)[ \t]*\([^;]*$"
)
_NOT_NAMES = frozenset("for if while switch return else catch self this extends implements".split())
# A function may return these types: `struct node *node_new(int size) {`.
_TYPES = frozenset(("struct", "enum", "union"))
# `struct node *first`, `struct node first = ...`: a variable of a type that is defined elsewhere.
_OF_TYPE = re.compile(r"[ \t]*[*&]|[ \t]+[A-Za-z_]\w*[ \t]*[=;,)\[]")
_CLASSES = frozenset(("class", "interface", "object", "record"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that code defines, its position, and its indentation."""

    name: str
    start: int
    indent: int


def definitions(text: str) -> list[Definition]:
    """Find the definitions in a source text, in order.

    >>> [item.name for item in definitions("class Pump:\\n    def start(self):\\n        pass\\n")]
    ['Pump', 'start']
    """
    found: list[Definition] = []
    around: list[tuple[Definition, bool]] = []  # enclosing definitions, and whether each is a class
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
    """The keyword and the name in a line that defines something; "" for a missing one."""
    if match := _DEFINITION.match(line):
        used = match["keyword"] in _TYPES and _OF_TYPE.match(line, match.end())
        return match["keyword"], "" if used or match["name"] in _NOT_NAMES else match["name"]
    match = _METHOD.match(line)
    return "", match["name"] if match and match["name"] not in {*_NOT_NAMES, "new"} else ""


def names_line(found: list[Definition], characters: int) -> str:
    """Return the names, outermost first, as many as fit."""
    outermost = sorted(found, key=lambda item: (item.indent > 0, item.start))
    line = ""
    for name in dict.fromkeys(item.name for item in outermost):
        longer = f"{line}, {name}" if line else name
        if len(longer) > characters:
            break
        line = longer
    return line


def scope(found: list[Definition], text: str, start: int) -> list[str]:
    """Return the names of the definitions around a position, outermost first."""
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


# -- functions without a keyword --------------------------------------------------------------------------------


# `static struct node *node_new(`, `std::vector<int> Pump::speeds(`
_TYPED = re.compile(
    r"[ \t]*(?:template[ \t]{0,2}<[^;(){}]{0,80}>[ \t]*|\[\[[^\]]{0,40}\]\][ \t]*)?"
    r"(?P<type>(?:[A-Za-z_]\w*(?:::\w+){0,6}(?:<[^;(){}=]{0,80}>)?(?:\[\])?\??[ \t*&]+){1,6})"
    r"(?P<name>(?:[A-Za-z_]\w*::){0,4}~?[A-Za-z_]\w*)[ \t]?(?=\()"
)
# `Pump::Pump(`, which has no type.
_QUALIFIED = re.compile(r"[ \t]*(?P<name>(?:[A-Za-z_]\w*::){1,4}~?[A-Za-z_]\w*)[ \t]?(?=\()")
# `load(` in the body of a class.
_IN_CLASS = re.compile(r"[ \t]+#?(?P<name>[A-Za-z_$][\w$]*)(?=\()")
# `node_new (` below its type, as GNU writes it.
_BELOW_TYPE = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]?(?=\()")
# `backup() {` of a shell.
_SHELL = re.compile(r"[ \t]*(?P<name>[A-Za-z_][\w-]*)[ \t]?\(\)[ \t]*\{")
_BRACKETS = r"\((?:[^(){};]|\([^(){};]{0,200}\)){0,400}\)"
# The brace of a body: in the same line, or in one of the next after what belongs to the head.
_BODY = re.compile(
    rf"{_BRACKETS}[^;{{}}=\n]{{0,200}}"
    r"(?:\n[ \t]*(?:(?:throws|where|noexcept|override|const|[:,])[^;{}=\n]{0,200})?){0,4}\{"
)
_BODY_BELOW = re.compile(rf"{_BRACKETS}[ \t\r]*\n\{{")
# `const load = async (id) =>`, `exports.load = function`, and as a property `load: (id) =>`.
_VALUE = re.compile(
    r"[ \t]*(?:(?:export|default|const|let|var|val|static|readonly|public|private|protected)[ \t]+){0,5}"
    r"(?:[A-Za-z_$][\w$]*\.){0,4}(?P<name>[A-Za-z_$][\w$]*)[ \t]*(?:(?::[^=\n]{1,80})?=(?!=)|:)[ \t]*(?:async[ \t]+)?"
    r"(?:function\b|[A-Za-z_$][\w$]*[ \t]*=>"
    r"|(?:<[^>\n]{1,60}>)?\((?:[^()]|\([^()]{0,200}\)){0,400}\)[^\n=;]{0,80}=>)"
)
_NOT_FUNCTIONS = frozenset(
    "for if while switch return else catch self this new func function fn def foreach unless until elif elsif when "
    "match with using lock synchronized sizeof typeof constructor import super await yield operator".split()
)
# Words that precede a call, but not the name of a function.
_STATEMENTS = frozenset(
    "return new else throw case goto delete yield await assert raise print echo puts import from with for foreach "
    "while if elif elsif unless until in is not and or match switch when guard go defer select insert into values "
    "where join do try using end then extends implements".split()
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def function_name(text: str, start: int, end: int, *, in_class: bool) -> str:
    """Return the name of the function that a line defines; "" if none.

    >>> function_name("int main(void)\\n{", 0, 14, in_class=False)
    'main'
    """
    if text.find("(", start, end) < 0 and text.find("=>", start, end) < 0:
        return ""
    if (match := _TYPED.match(text, start, end)) and not _STATEMENTS.intersection(
        _WORD.findall(match["type"])
    ):
        return _checked(match["name"]) if _BODY.match(text, match.end()) else ""
    if match := _VALUE.match(text, start) or _SHELL.match(text, start):
        return _checked(match["name"])
    ways = [(_QUALIFIED, _BODY), (_BELOW_TYPE, _BODY_BELOW), *([(_IN_CLASS, _BODY)] if in_class else [])]
    for head, rest in ways:
        if (match := head.match(text, start, end)) and rest.match(text, match.end()):
            # `TEST_CLASS(pump)` is a macro.
            return "" if match["name"].isupper() else _checked(match["name"])
    return ""


def _checked(name: str) -> str:
    return "" if name in _NOT_FUNCTIONS else name


# -- sections ---------------------------------------------------------------------------------------------------


_MOST = 5000
# Lines that continue what began above them, and lines that end it.
_GOES_ON = re.compile(
    r"[ \t]*(?:[{()\]#@]|//|/\*|\*|\w+:\s*$|(?:else|elif|except|finally|rescue|ensure|where)\b)"
)
_CLOSES = re.compile(r"[ \t]*(?:\}|end\b|\]|\))")


class _Named(NamedTuple):
    """A defined name, and the text of its definition."""

    name: str
    start: int
    body: int
    end: int


def code_sections(parsed: Parsed, source_path: str) -> list[Place]:
    """Return a section for each function and class of a source file, nested alike; none for other files."""
    language = language_of_file(source_path)
    if not language or len(parsed.text) > MAX_SOURCE_BYTES:
        return []
    found = _python(parsed.text) if language == "python" else None
    return _nested(
        parsed, sorted(_by_indent(parsed.text) if found is None else found, key=lambda item: item.start)
    )


def _nested(parsed: Parsed, found: list[_Named]) -> list[Place]:
    sections: list[Place] = []
    around: list[Place] = []
    taken: dict[str, int] = {}
    for item in found[:_MOST]:
        while around and around[-1].end <= item.start:
            around.pop()
        end = min(item.end, around[-1].end) if around else item.end
        path = (*(around[-1].path if around else ()), item.name)
        wanted = ".".join(path)
        taken[wanted] = taken.get(wanted, 0) + 1
        section = Place(
            ordinal=len(sections) + 1,
            parent=around[-1].ordinal if around else 0,
            section=len(sections) + 1,
            level=len(path),
            heading=item.name,
            start=item.start,
            body=min(item.body, end),
            end=end,
            lines=parsed.position.lines(item.start, end),
            title=item.name,
            section_id=wanted if taken[wanted] == 1 else f"{wanted}__{taken[wanted]}",
            path=path,
            pages=parsed.position.pages(item.start, end),
        )
        sections.append(section)
        around.append(section)
    return sections


def _python(text: str) -> list[_Named] | None:
    """The definitions that Python's own parser finds; None if it cannot parse the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts = [0, *(found.end() for found in re.finditer("\n", text)), len(text)]
    return [
        _Named(
            node.name,
            starts[min(node.lineno, *(mark.lineno for mark in node.decorator_list), node.lineno) - 1],
            starts[min(node.lineno, len(starts) - 1)],
            starts[min(node.end_lineno or node.lineno, len(starts) - 1)],
        )
        for node in _defined(tree)
    ]


def _defined(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        if not isinstance(node, ast.expr):
            stack.extend(ast.iter_child_nodes(node))


def _by_indent(text: str) -> Iterator[_Named]:
    for item in definitions(text)[:_MOST]:
        head = text.find("\n", item.start)
        head = len(text) if head < 0 else head + 1
        yield _Named(item.name, item.start, head, _end(text, item.start, head, item.indent))


def _end(text: str, start: int, head: int, indent: int) -> int:
    """Where the definition that begins with a line ends."""
    if text[start:head].rstrip().endswith((";", "}")):
        return head
    at, last = head, head
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end + 1
        line = text[at:end]
        if line.strip():
            depth = len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
            if depth <= indent:
                if _CLOSES.match(line) and not line.strip().startswith(")"):
                    return end
                if not _GOES_ON.match(line):
                    break
            last = end
        at = end
    return last
