"""Lines of HTML: marks in the text of a tree say on which line of the file it stands, and survive until it is written.

A mark is one character of the areas that Unicode leaves to private use. It stands right before the first word of each
line, so that white space is what it would be without it.
"""

from __future__ import annotations

import re
from typing import Any

from pinakes.model.document import LineStart

_FIRST = 0xF0000
_LAST = 0x10FFFD
_MARK = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
# In XML there is no place for these, and none of them is text.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_LINE_START = re.compile(r"(?:\A|\n)[^\S\n]*(?=\S)")
# libxml2 counts no further.
_COUNTED = 65535


def without_controls(text: str) -> str:
    """Return a text without characters that no tree can hold, nor any that could be taken for a mark."""
    return _CONTROLS.sub("", _MARK.sub("", text.replace("\f", " ")))


def mark_lines(document: Any) -> None:
    """Mark the lines of all text in a tree that was just parsed, and take comments out of it."""
    line = 1
    comments = []
    # Each element twice: when it begins, and when it ends and its tail follows.
    stack = [(document, False)]
    while stack:
        element, ended = stack.pop()
        if ended:
            if element.tail:
                element.tail, line = _marked(element.tail, line)
            continue
        if not isinstance(element.tag, str):
            comments.append(element)
            line += (element.text or "").count("\n")
        else:
            if element.sourceline and element.sourceline < _COUNTED:
                line = element.sourceline
            if element.text:
                plain = element.tag == "a" and element.text.strip() == (element.get("href") or "").strip()
                marked, after = _marked(element.text, line)
                # A link to what it says is written without brackets, if it says just that.
                element.text, line = (without_controls(element.text) if plain else marked), after
        stack.append((element, True))
        if isinstance(element.tag, str):
            stack.extend((child, False) for child in reversed(element))
    for comment in comments:
        if comment.getparent() is not None:
            comment.drop_tree()


def _marked(text: str, line: int) -> tuple[str, int]:
    """Return a text with its marks, and the line on which it ends."""
    text = without_controls(text)
    if not text.strip():
        return text, line + text.count("\n")
    # The line of the first match is where the text begins; each further one is at a line end.
    counted, at = line, 0

    def mark(match: re.Match[str]) -> str:
        nonlocal counted, at
        counted += text.count("\n", at, match.end())
        at = match.end()
        return match.group() + (chr(_FIRST + counted) if _FIRST + counted <= _LAST else "")

    return _LINE_START.sub(mark, text), line + text.count("\n")


def unmarked(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text)


def read_marks(text: str) -> tuple[str, tuple[LineStart, ...]]:
    """Return a text without its marks, and what they said."""
    starts: list[LineStart] = []
    pieces: list[str] = []
    offset, expected, line_begin, after = 0, 1, 0, 0
    first = True  # of its line: what stands before it is markup, and belongs to it
    for mark in _MARK.finditer(text):
        piece = text[after : mark.start()]
        after = mark.end()
        pieces.append(piece)
        if newlines := piece.count("\n"):
            expected += newlines
            line_begin = offset + piece.rfind("\n") + 1
            first = True
        offset += len(piece)
        line = ord(mark.group()) - _FIRST
        if line != expected:
            starts.append(LineStart(line_begin if first else offset, line))
            expected = line
        first = False
    return "".join((*pieces, text[after:])), tuple(starts)
