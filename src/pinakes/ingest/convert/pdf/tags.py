"""The tag tree: which marked content of a page its author tagged as heading, table or contents."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from . import native

_HEADING = re.compile(r"H(\d?)$")
_MOST_ELEMENTS = 6000
_DEEPEST = 60


class Tag(NamedTuple):
    """What a piece of marked content is tagged as. ``element`` tells headings of a page apart."""

    kind: str
    level: int
    element: int


def page_tags(page: Any) -> dict[int, Tag]:
    """Marked content ids of a page that stand under a heading, a table cell or a contents list."""
    tree = native.address(pdfium.FPDF_StructTree_GetForPage(page))
    if not tree:
        return {}
    try:
        result: dict[int, Tag] = {}
        count = min(native.tree_count(tree), _MOST_ELEMENTS)
        budget = [_MOST_ELEMENTS]
        for index in range(count):
            child = native.tree_child(tree, index)
            if child:
                _walk(child, None, 0, 0, result, budget)
        return result
    finally:
        native.tree_close(tree)


def _walk(
    element: int, outer: Tag | None, depth: int, sections: int, result: dict[int, Tag], budget: list[int]
) -> None:
    budget[0] -= 1
    if depth > _DEEPEST or budget[0] < 0:
        return
    kind = _type(element)
    tag = outer
    if heading := _HEADING.match(kind):
        level = int(heading.group(1)) if heading.group(1) else max(sections, 1)
        if 1 <= level <= 6:
            tag = Tag("heading", level, budget[0])
    elif kind == "Title":
        tag = Tag("title", 0, budget[0])
    elif kind in ("TOC", "TOCI"):
        tag = Tag("contents", 0, budget[0])
    elif kind == "Table":
        tag = Tag("table", 0, budget[0])
    elif kind == "Caption":
        tag = Tag("caption", 0, budget[0])
    elif kind in ("Sect", "Part", "Art", "Div"):
        sections += 1
    for mcid, child in _children(element):
        if child:
            _walk(child, tag, depth + 1, sections, result, budget)
        elif tag is not None:
            result[mcid] = tag


def _children(element: int) -> Iterator[tuple[int, int]]:
    for index in range(min(native.element_count(element), _MOST_ELEMENTS)):
        mcid = native.element_mcid(element, index)
        if mcid >= 0:
            yield mcid, 0
            continue
        child = native.element_child(element, index)
        if child:
            yield -1, child


def _type(element: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    length = native.element_type(element, buffer, 64)
    if not 2 <= length <= 64:
        return ""
    return buffer.raw[: length - 2].decode("utf-16-le", "ignore")
