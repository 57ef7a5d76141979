"""Code sections: the functions and classes of a source file, as an outline shows them and a reader asks for them.

Python is parsed. In other languages ``code_names.py`` finds where something is defined; it ends where the next line
stands no further in than its first, but for what closes it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from pinakes.ingest.code_names import definitions
from pinakes.ingest.parse import Parsed
from pinakes.ingest.source_files import MAX_SOURCE_BYTES
from pinakes.model import Place
from pinakes.text.code_languages import language_of_file

_MOST = 5000
# Lines that go on with what began above them, and those that end it.
_GOES_ON = re.compile(
    r"[ \t]*(?:[{()\]#@]|//|/\*|\*|\w+:\s*$|(?:else|elif|except|finally|rescue|ensure|where)\b)"
)
_CLOSES = re.compile(r"[ \t]*(?:\}|end\b|\]|\))")


class _Named(NamedTuple):
    """A name that is defined, and the text that does it."""

    name: str
    start: int
    body: int
    end: int


def code_sections(parsed: Parsed, source_path: str) -> list[Place]:
    """Return a section for each function and class of a source file, nested as they are; nothing for other files."""
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
    """What Python's own parser finds; None when it cannot read the text."""
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
    """Where what begins with a line ends."""
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
