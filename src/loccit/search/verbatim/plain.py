"""Plain: what a stretch of Markdown says, as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

import pyromark

from loccit.text.markdown import OPTIONS, char_offsets

_PLAIN_TYPES = frozenset({".txt", ".text", ".log"})
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
_BREAK = re.compile(r"<(?:br|/?(?:p|div|tr|li|h[1-6]|blockquote|pre|dd|dt|table))\b", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
_RAISED = re.compile(r"<sup\b", re.IGNORECASE)
_NUMBER = re.compile(r"[ \t]*(\d{1,9}[.)])")
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–\u00ad]\Z")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"[^\S\n]*\n\s*")
_SPAN_TAGS = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})


class _Piece(NamedTuple):
    """What is read between two offsets of the source: the same text, or another."""

    start: int
    end: int
    text: str


def is_markdown(path: str) -> bool:
    """Whether the text of a document, given its path, has markup."""
    return PurePath(path).suffix.lower() not in _PLAIN_TYPES


def plain_text(text: str, start: int, end: int, *, body_start: int = 0, markdown: bool = True) -> str:
    """Return what a stretch of a document says, without markup: a block on a line, the cells of a row with tabs.

    >>> plain_text("# A\\n\\n1. *Pay* the [fee](fee.md)\\n   of 5&nbsp;%\\n", 0, 99)
    'A\\n1. Pay the fee of 5\\xa0%'
    """
    if not markdown:
        return _tidy(text[start:end])
    said: list[str] = []
    for piece in _pieces(text, body_start):
        if piece.start >= end:
            break
        if piece.start == piece.end:  # a break
            if start < piece.start:
                said.append(_after(said, piece.text))
        elif piece.end > start:
            whole = piece.text != text[piece.start : piece.end]
            said.append(piece.text if whole else text[max(start, piece.start) : min(end, piece.end)])
    return _tidy("".join(said))


def _after(said: list[str], gap: str) -> str:
    """Return a gap; there is none after the number of an item, or in a word that goes on in the next line."""
    before = said[-1] if said else ""
    return "" if before == " " or (gap == " " and _HYPHEN.search(before)) else gap


def _tidy(text: str) -> str:
    blanks = _BLANKS.sub(lambda found: "\t" if "\t" in found[0] else found[0][0], text)
    return _LINE_BREAKS.sub("\n", blanks).strip()


@lru_cache(maxsize=2)
def _pieces(text: str, begin: int) -> list[_Piece]:
    return list(_Reader(text, begin).pieces())


class _Reader:
    """One pass over a text: what is read, in order, with the gaps between blocks, lines and cells."""

    def __init__(self, text: str, begin: int) -> None:
        self._text = text
        self._begin = begin

    def pieces(self) -> Iterator[_Piece]:
        body = self._text[self._begin :]
        offset = char_offsets(body)
        for event, span in pyromark.events_with_range(body, options=OPTIONS):
            start, end = (self._begin + offset(span[name]) for name in ("start", "end"))
            if isinstance(event, str):
                gap = {"SoftBreak": " ", "HardBreak": "\n", "Rule": "\n"}.get(event)
                if gap:
                    yield _Piece(start, start, gap)
                continue
            kind, value = next(iter(event.items()))
            yield from self._read(kind, value, start, end)

    def _read(self, kind: str, value: Any, start: int, end: int) -> Iterator[_Piece]:
        if kind in ("Text", "Code"):
            yield self._exactly(value, start, end)
        elif kind in ("Html", "InlineHtml"):
            yield from self._untagged(start, end)
        elif kind == "FootnoteReference":
            yield _Piece(start, end, f"[{value}]")
        elif kind == "TaskListMarker":
            yield _Piece(start, end, self._text[start:end])
            yield _Piece(end, end, " ")
        elif kind in ("Start", "End"):
            name = value if isinstance(value, str) else next(iter(value))
            if name not in _SPAN_TAGS:
                at = start if kind == "Start" else end
                yield _Piece(at, at, "\t" if name == "TableCell" else "\n")
            if kind == "Start" and name == "Item" and (number := _NUMBER.match(self._text, start)):
                yield _Piece(number.start(1), number.end(1), number[1])
                yield _Piece(number.end(), number.end(), " ")
            elif kind == "Start" and name == "FootnoteDefinition":
                yield _Piece(start, start + 1, f"[{value[name]}]")
                yield _Piece(start + 1, start + 1, " ")

    def _exactly(self, said: str, start: int, end: int) -> _Piece:
        """Return the words of an event with the span that they have in the source, without the marks around them."""
        at = self._text.find(said, start, end)
        return _Piece(start, end, said) if at < 0 else _Piece(at, at + len(said), said)

    def _untagged(self, start: int, end: int) -> Iterator[_Piece]:
        """Return the text between the tags of HTML."""
        at = start
        for tag in _TAG.finditer(self._text, start, end):
            if tag.start() > at:
                yield _Piece(at, tag.start(), self._text[at : tag.start()])
            at = tag.end()
            if _RAISED.match(tag[0]):
                yield _Piece(at - 1, at, "^")
            elif gap := "\t" if _CELL.match(tag[0]) else "\n" if _BREAK.match(tag[0]) else "":
                yield _Piece(at, at, gap)
        if at < end:
            yield _Piece(at, end, self._text[at:end])
