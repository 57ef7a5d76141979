"""Headings given by the author: bookmarks, matched to the lines they point at, and the tag tree."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_float, c_int
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeAlias

import pypdfium2 as pdfium

from loccit.read.pdf import native
from loccit.read.pdf.candidates import find_label, is_caption, join_heading, normal
from loccit.read.pdf.page import Flow, Heading, Item, Line, PageText, Tag

_MOST = 20_000
_JUNK = re.compile(
    r"(?:page|slide|sheet|blank page)\s*\d*$|_?goback$|_toc\d+$|.*\.(?:pdf|docx?|indd|pptx?|xlsx?)$", re.I
)
_LONGEST_HEADING = 7
_LEAST_WORDS = 4
_SAME_WORDS = 0.97
_ALIKE, _NOTED = 0.84, 0.9
_HEADING = re.compile(r"H(\d?)$")
_MOST_ELEMENTS = 6000
_DEEPEST = 60
_Key: TypeAlias = tuple[int, int]
_LEAST = 3
_FULL = 0.8
_ASTRAY = 0.2
"""If more tagged headings than this share are below what looks like one, the tags are wrong."""


class Bookmark(NamedTuple):
    """One bookmark; ``y`` is the distance from the top of the page where it points, None if unknown."""

    level: int
    title: str
    page: int
    y: float | None


def read_outline(document: Any) -> list[Bookmark]:
    """The bookmarks that point at a page of the document, in order."""
    found: list[Bookmark] = []
    for mark in document.get_toc(max_depth=12):
        if len(found) >= _MOST:
            break
        try:
            title = " ".join(mark.get_title().split())
            target = mark.get_dest()
            page = target.get_index() if target else None
            y = _height(document, page, target) if target and page is not None else None
        except (pdfium.PdfiumError, UnicodeDecodeError):
            continue
        if title and page is not None and 0 <= page < len(document) and not _JUNK.match(title):
            bookmark = Bookmark(mark.level + 1, title, page, y)
            # Some programs write one for each link to a heading.
            if not found or found[-1][:2] != bookmark[:2] or page - found[-1].page not in (0, 1):
                found.append(bookmark)
    return found


def _height(document: Any, page: int, target: Any) -> float | None:
    has_x, has_y, has_zoom = c_int(), c_int(), c_int()
    x, y, zoom = c_float(), c_float(), c_float()
    known = pdfium.raw.FPDFDest_GetLocationInPage(target, has_x, has_y, has_zoom, x, y, zoom)
    if known and has_y.value:
        return float(document.get_page_size(page)[1] - y.value)
    mode, view = target.get_view()
    if mode in (pdfium.raw.PDFDEST_VIEW_FITH, pdfium.raw.PDFDEST_VIEW_FITBH) and view:
        return float(document.get_page_size(page)[1] - view[0])
    return None


def is_useful(marks: Sequence[Bookmark]) -> bool:
    """Whether bookmarks outline the text: several of them, and not all at one place."""
    return len(marks) >= 2 and len({(m.page, m.title) for m in marks}) >= 2


def match_bookmark(mark: Bookmark, lines: Sequence[Line], taken: set[int]) -> tuple[int, int] | None:
    """The run of a page's lines (from, to) that reads like a bookmark's title, nearest to where it points."""
    wanted, wanted_words = normal(mark.title), _words(mark.title)
    if not wanted:
        return None
    best: tuple[float, int, int] | None = None
    texts = [normal(line.text) for line in lines]
    for start, first in enumerate(texts):
        if start in taken or not first or lines[start].contents:
            continue
        joined, words = "", ""
        for end in range(start, min(start + _LONGEST_HEADING, len(lines))):
            if end in taken:
                break
            if joined and not words and find_label(lines[end].text) is not None:
                # The end of a paragraph that refers to `section 3.8.`
                break
            joined += texts[end]
            words = words + texts[end] if words else _words(lines[end].text)
            # A number or label that only one of them has, or that differs: `3 Members` for `Part 3 - Members`.
            same = words == wanted_words and len(words) >= _LEAST_WORDS
            score = _SAME_WORDS if same and joined != wanted else _alike(wanted, joined, end == start)
            if score <= _ALIKE and _without_note(lines[start : end + 1]) == wanted:
                score = _NOTED
            if score > _ALIKE:
                distance = abs(lines[start].top - mark.y) / 1000 if mark.y is not None else 0.0
                rank = score - min(distance, 0.5) + 0.001 * min(lines[start].size, 40)
                if best is None or rank > best[0]:
                    best = (rank, start, end)
            noted = "[" in lines[end].text and "]" not in lines[end].text
            if len(joined) > len(wanted) * 1.3 + 4 + len(joined) - len(words) and not noted:
                break
    return (best[1], best[2]) if best else None


def _without_note(lines: Sequence[Line]) -> str:
    """The words of a heading before a note in brackets that ends it, such as one on amendments; nothing without one."""
    return normal(join_heading(lines).partition("[")[0]) if lines[-1].text.endswith("]") else ""


def _words(title: str) -> str:
    label = find_label(title)
    return normal(title[label.length :]) if label is not None else normal(title)


def printed_title(mark: Bookmark, before: Line | None, lines: Sequence[Line]) -> str:
    """A bookmark's title, with its number as the page prints it: with a word, on the line ``before``, or not at all."""
    printed = join_heading(lines)
    label, stated = find_label(printed), find_label(mark.title)
    if label is not None and (stated is None or (label.kind, label.number) != (stated.kind, stated.number)):
        return printed
    if _without_note(lines) == normal(mark.title):
        return printed
    if label is None and stated is not None and normal(printed) == normal(mark.title[stated.length :]):
        beside = before is not None and normal(before.text).endswith(normal(stated.number))
        return mark.title if beside else printed
    return mark.title


def _alike(wanted: str, have: str, one_line: bool) -> float:
    if wanted == have:
        return 1.0
    if not have or not 0.6 < len(have) / len(wanted) < 1.7:
        return 0.0
    # A label of a form that is not known.
    if one_line and (have.endswith(wanted) or wanted.endswith(have)) and abs(len(have) - len(wanted)) <= 12:
        return 0.95
    matcher = SequenceMatcher(None, wanted, have, autojunk=False)
    if matcher.real_quick_ratio() < 0.85 or matcher.quick_ratio() < 0.85:
        return 0.0
    return matcher.ratio()


def page_tags(page: Any) -> dict[int, Tag]:
    """Marked content ids of a page under a heading, a table cell or a contents list."""
    tree = native.address(pdfium.raw.FPDF_StructTree_GetForPage(page))
    if not tree:
        return {}
    try:
        result: dict[int, Tag] = {}
        count = min(native.tree_count(tree), _MOST_ELEMENTS)
        budget = [_MOST_ELEMENTS]
        for index in range(count):
            if child := native.tree_child(tree, index):
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
        if child := native.element_child(element, index):
            yield -1, child


def _type(element: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    length = native.element_type(element, buffer, 64)
    if not 2 <= length <= 64:
        return ""
    return buffer.raw[: length - 2].decode("utf-16-le", "ignore")


def headings_from_tags(flow: Sequence[Item], pages: Sequence[PageText], letters: int) -> Flow | None:
    """The flow with tagged headings, or None if the tags are not useful."""
    by_page = {p.number: p.tags for p in pages}
    if not any(by_page.values()):
        return None
    result: Flow = []
    groups: dict[_Key, list[Line]] = {}
    levels: dict[_Key, int] = {}
    astray = 0
    for item in flow:
        if not isinstance(item, Line) or item.contents:
            result.append(item)
            continue
        for tag, part in _split(item, by_page[item.page]):
            if tag is not None:
                key = (item.page, tag.element)
                if key not in groups:
                    astray += _is_astray(part, result[-1] if result else None)
                if key in groups and result[-1] is not groups[key][-1]:
                    # The element continues elsewhere, after a table or in the next column: another heading.
                    key = (item.page, -len(groups) - 1)
                groups.setdefault(key, []).append(part)
                levels[key] = tag.level
            result.append(part)
    titles = {key: join_heading(lines) for key, lines in groups.items()}
    written = sum(map(len, titles.values()))
    sensible = sum(1 for t in titles.values() if 1 < len(t) < 300)
    if sensible < max(_LEAST, len(pages) / 12) or written > 0.3 * letters or astray > _ASTRAY * len(groups):
        return None
    return _replace(result, groups, levels, _keep(titles, levels))


def _is_astray(line: Line, before: Item | Heading | None) -> bool:
    """Whether a tagged line is the text below a heading: the tags of some files are one line off."""
    return (
        isinstance(before, Line)
        and before.page == line.page
        and (before.size > line.size + 0.6 or (before.style.bold and not line.style.bold))
        and line.x1 - line.x0 > _FULL * (line.right - line.left)
    )


def _split(line: Line, tags: dict[int, Tag]) -> list[tuple[Tag | None, Line]]:
    """Cut a line where its tagging changes: a heading may run into its paragraph."""
    parts: list[tuple[Tag | None, Line]] = []
    for span in line.spans:
        tag = tags.get(span.mcid)
        if tag is not None and tag.kind not in ("heading", "title"):
            tag = None
        if parts and parts[-1][0] == tag:
            parts[-1][1].spans.append(span)
        else:
            piece = Line(line.page, span.x0, span.x1, line.base, [span], line.order)
            piece.block, piece.left, piece.right = line.block, line.left, line.right
            parts.append((tag, piece))
    if len(parts) == 1:
        return [(parts[0][0], line)]
    for _, piece in parts:
        piece.settle()
    return parts


def _keep(titles: dict[_Key, str], levels: dict[_Key, int]) -> dict[_Key, str]:
    """Drop captions, and small headings that recur in every section."""
    repeats = Counter((normal(t), levels[k]) for k, t in titles.items())
    most = max(6, 0.04 * len(titles))
    kept = {}
    for key, title in titles.items():
        often = repeats[normal(title), levels[key]] >= most and levels[key] > 2
        if normal(title) and not is_caption(title) and not often:
            kept[key] = title
    return kept


def _replace(
    flow: Flow, groups: dict[_Key, list[Line]], levels: dict[_Key, int], kept: dict[_Key, str]
) -> Flow:
    used = sorted({levels[k] for k in kept})
    first = {id(groups[k][0]): k for k in kept}
    inner = {id(line) for k in kept for line in groups[k][1:]}
    result: Flow = []
    for item in flow:
        if id(item) in inner:
            continue
        key = first.get(id(item))
        if key is None:
            result.append(item)
        else:
            result.append(Heading(key[0], kept[key], used.index(levels[key]) + 1, groups[key][0].style))
    return result
