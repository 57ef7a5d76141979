"""Reshape a cleaned HTML tree so that Markdown can express it and the writer gets it right.

Marks in its text record the source line, and survive until it is written. A mark is one character from Unicode's
private use areas. It is right before the first word of each line, so that white space is unaffected.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from loccit.model.document import LineStart

MAX_DEPTH = 80
MAX_COLUMNS = 100
LIST_PIECE = 200
_ITEM = re.compile(r"\(?(?:\d{1,4}[a-z]?|[^\W\d_]{1,2}|[ivxlcIVXLC]{1,7})(?:[.)]|\.\))|[—–•·-]")
_ANCHORS = 3  # that are looked at before a link

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ("p", "div", "table", "ul", "ol", "dl", "pre", "blockquote", "b", "strong", *_HEADINGS)
_WEIGHT = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.I)
_LABELS = ("span", "a", "b", "strong", "i", "em", "bdi", "font", "label")
_LABELLED = (*_HEADINGS, "p", "div", "li", "dt", "td", "th", "a", "span", "b", "strong")
_NUMBERED = re.compile(r"\s*(?:§\s*)?(?:[A-Z]{1,3}[.-]?)?\d[\d.()a-z-]{0,12}")
_VERBATIM = ("pre", "code", "kbd", "samp", "tt")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|highlight-source|brush:)[-\s]?([\w+#.-]+)")
# At the start of a line these would become headings, rules or fences, or be taken for a tag.
_LINE_START = re.compile(r"^([\s\U000f0000-\U0010fffd]*)(?=#{1,6}(?:\s|$)|[-=]{2,}\s*$|```|~~~)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MARKERS = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_FIRST_MARK = 0xF0000
_LAST_MARK = 0x10FFFD
_MARK = re.compile(f"[{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}]")
# Not allowed in XML, and none of them is text.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_FIRST_WORD = re.compile(r"(?:\A|\n)[^\S\n]*(?=\S)")
# libxml2 counts no further.
_MOST_LINES = 65535


def shape(root: Any) -> None:
    """Change the tree in place."""
    _flatten(root)
    _headings(root)
    _bold(root)
    _lists(root)
    _tables(root)
    _inline(root)
    _text(root)


def _flatten(root: Any) -> None:
    """Unwrap what is nested deeper than any document needs: the writer is recursive."""
    deep = []
    stack = [(root, 0)]
    while stack:
        element, depth = stack.pop()
        if depth > MAX_DEPTH:
            deep.append(element)
        stack.extend((child, depth + 1) for child in element)
    for element in reversed(deep):
        if element.getparent() is not None:
            element.text = " " + (element.text or "")
            element.tail = " " + (element.tail or "")
            element.drop_tag()


def _headings(root: Any) -> None:
    for element in list(root.iter("*")):
        if (element.get("role") or "").lower() == "heading":
            level = element.get("aria-level") or "2"
            element.tag = f"h{min(max(int(level), 1), 6)}" if level.isdigit() else "h2"
        elif element.tag == "summary":
            element.tag = "p"
    for heading in list(root.iter(*_HEADINGS)):
        if not heading.text_content().strip():
            heading.drop_tree()
    # A link around a heading would put the heading inside its brackets; one inside only adds noise, and so does one
    # from a number to its own place.
    for link in list(root.iter("a")):
        if (
            next(link.iterancestors(*_HEADINGS), None) is not None
            or next(link.iter(*_HEADINGS, "p", "div", "table", "ul", "ol", "pre"), None) is not None
            or _leads_to_itself(link)
        ):
            link.drop_tag()
    for underlined in list(root.iter("u")):
        if next(underlined.iterancestors(*_HEADINGS), None) is not None:
            underlined.drop_tag()


def _leads_to_itself(link: Any) -> bool:
    """Whether a link leads to what begins with it: an element around it, or an anchor right before it."""
    href, element = link.get("href") or "", link
    if not href.startswith("#") or len(href) < 2:
        return False
    while element is not None:
        for one in (element, *islice(element.itersiblings("*", preceding=True), _ANCHORS)):
            if one is not element and unmarked(f"{one.text_content()}{one.tail or ''}").strip():
                return False
            if href[1:] in (one.get("id"), one.get("name")):
                return True
        element = element.getparent()
        if element is None or unmarked(element.text or "").strip():
            return False
    return False


def _bold(root: Any) -> None:
    """Mark as bold what is so by its own style, as word processors and filing agents write it."""
    for element in list(root.iter("p", "div", "span", "font")):
        if not _WEIGHT.search(element.get("style") or "") or not element.text_content().strip():
            continue
        if next(element.iterancestors("b", "strong", "th", *_HEADINGS), None) is not None:
            continue
        if element.tag in ("span", "font"):
            element.tag = "b"
        elif next(element.iterdescendants(*_BLOCKS), None) is None:
            inner = element.makeelement("b", {})
            inner.text, element.text = element.text, None
            inner.extend(list(element))
            element.append(inner)
    for bold in list(root.iter("b", "strong")):
        # Runs of one title, cut by changes of its font.
        while (
            (after := bold.getnext()) is not None and after.tag == bold.tag and not (bold.tail or "").strip()
        ):
            _append(bold, (bold.tail or "") + (after.text or ""))
            bold.extend(list(after))
            bold.tail, after.tail = after.tail, None
            after.getparent().remove(after)


def _append(element: Any, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _lists(root: Any) -> None:
    for items in list(root.iter("ol", "ul")):
        above = items.getprevious()
        if above is not None and above.tag == "li":
            # A list between the items of another is below the one before it.
            above.append(items)
    for items in list(root.iter("ol")):
        style = _list_style(items)
        start = items.get("start") or "1"
        number = int(start) if start.isdigit() else 1
        if style:
            # Markdown lists only have figures: clause (b) would become 2.
            for item in items.iterchildren("li"):
                value = item.get("value") or ""
                number = int(value) if value.isdigit() else number
                _prepend(item, f"({_marker(number, style)}) ")
                number += 1
            items.tag = "ul"
        elif len(items) > LIST_PIECE:
            _split_list(items, number)


def _list_style(items: Any) -> str:
    if kind := _MARKERS.get(items.get("type") or ""):
        return kind
    style = (items.get("style") or "").lower().replace("latin", "alpha")
    return next((kind for kind in _MARKERS.values() if kind in style), "")


def _marker(number: int, style: str) -> str:
    if style.endswith("alpha"):
        text = ""
        while number > 0:
            number, digit = divmod(number - 1, 26)
            text = chr(97 + digit) + text
    else:
        text = ""
        for value, sign in _ROMAN:
            count, number = divmod(number, value)
            text += sign * min(count, 50)
    return text.upper() if style.startswith("upper") else text


def _split_list(items: Any, start: int) -> None:
    """Split a long list: for every item the writer counts those before it."""
    children = list(items)
    position = items
    for begin in range(LIST_PIECE, len(children), LIST_PIECE):
        piece = items.makeelement("ol", {"start": str(start + begin)})
        piece.extend(children[begin : begin + LIST_PIECE])
        piece.tail, position.tail = position.tail, None
        position.addnext(piece)
        position = piece


def _prepend(element: Any, text: str) -> None:
    first = element[0] if len(element) else None
    if not (element.text or "").strip() and first is not None and first.tag in ("p", "div", "span"):
        _prepend(first, text)
    else:
        element.text = text + (element.text or "").lstrip()


def _tables(root: Any) -> None:
    # Innermost first: a table that contains tables is page layout.
    for table in reversed(list(root.iter("table"))):
        rows = list(table.iter("tr"))
        _as_items(rows)
        if not rows or _is_layout(table, rows):
            for element in list(table.iter("tr", "td", "th", "thead", "tbody", "tfoot", "caption")):
                if next(element.iterancestors("table")) is table:
                    element.tag = "div"
            table.tag = "div"
            continue
        caption = next(table.iter("caption"), None)
        if caption is not None:
            caption.tag = "p"
            caption.tail = None
            table.addprevious(caption)
        grid = _grid(rows)
        for child in list(table):
            table.remove(child)
        table.text = None
        for cells in grid:
            row = table.makeelement("tr", {})
            row.extend(cells)
            table.append(row)


def _as_items(rows: list[Any]) -> None:
    """Join rows of a label and its text, as in official journals, where each point of a list is a table."""
    cells = [list(row.iterchildren("td")) for row in rows]
    if not all(len(row) == len(own) == 2 for row, own in zip(rows, cells, strict=True)):
        return
    labels = [unmarked(label.text_content()).strip() for label, _ in cells]
    if all(map(_ITEM.fullmatch, labels)):
        for (cell, body), label in zip(cells, labels, strict=True):
            cell.drop_tree()
            _prepend(body, f"{label} ")


def _is_layout(table: Any, rows: list[Any]) -> bool:
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if next(table.iterdescendants("table"), None) is not None:
        return True
    if next(table.iter("h1", "h2", "h3"), None) is not None:
        return True
    return all(len(row) <= 1 for row in rows)


def _grid(rows: list[Any]) -> list[list[Any]]:
    """Rows of equal length, with empty cells where a span covers more than one."""
    grid: list[list[Any]] = []
    covered: dict[int, int] = {}
    for row in rows:
        cells: list[Any] = []
        for cell in row.iterchildren("td", "th"):
            while covered.get(len(cells), 0) > 0:
                covered[len(cells)] -= 1
                cells.append(row.makeelement("td", {}))
            if len(cells) >= MAX_COLUMNS:
                # Nothing is lost: the last cell takes what does not fit.
                cells[-1].extend([cell])
                cell.tag = "span"
                continue
            down = _span(cell, "rowspan", len(rows))
            across = _span(cell, "colspan", MAX_COLUMNS - len(cells))
            _simple_cell(cell)
            for number in range(across):
                covered[len(cells)] = down - 1
                cells.append(row.makeelement("td", {}) if number else cell)
        while covered.get(len(cells), 0) > 0 and len(cells) < MAX_COLUMNS:
            covered[len(cells)] -= 1
            cells.append(row.makeelement("td", {}))
        if cells:
            grid.append(cells)
    width = max(map(len, grid), default=0)
    for cells in grid:
        cells.extend(cells[0].makeelement("td", {}) for _ in range(width - len(cells)))
    return grid


def _span(cell: Any, name: str, most: int) -> int:
    value = cell.attrib.pop(name, "1").strip()
    return max(1, min(int(value), most)) if value.isdecimal() and len(value) < 6 else 1


def _simple_cell(cell: Any) -> None:
    """One line of text: lists and code in a cell lose their layout, not their words."""
    cell.tail = None
    for element in list(cell.iterdescendants()):
        if element.tag == "li":
            _prepend(element, "• ")
            element.tail = " " + (element.tail or "")
            element.drop_tag()
        elif element.tag in ("ul", "ol", "hr", *_HEADINGS):
            element.tail = " " + (element.tail or "")
            element.drop_tag()
        elif element.tag == "pre":
            element.tag = "code"


def _inline(root: Any) -> None:
    for number in list(root.iter(*_LABELS)):
        # A number in an element of its own is set apart by its style: `<span>1.2</span>Scope`.
        above = number.getparent()
        if (
            above is not None
            and above.tag in _LABELLED
            and _NUMBERED.fullmatch(unmarked(number.text_content()))
            and number.getprevious() is None
            and not unmarked(above.text or "").strip()
            and _begins_title(number)
        ):
            number.tail = " " + (number.tail or "")
    for image in list(root.iter("img")):
        source = image.get("src") or ""
        if not (image.get("alt") or "").strip():
            image.drop_tree()
        elif source.startswith("data:") or not source:
            image.tag, image.text = "span", image.get("alt")
    for raised in root.iter("sup"):
        text = unmarked(raised.text_content()).strip()
        # A footnote number must not merge with the word before it.
        if text.isdigit() and (raised.find(".//a") is not None or raised.getparent().tag == "a"):
            for child in list(raised):
                raised.remove(child)
            raised.text = f"[{text}]"
    for block in root.iter("pre"):
        if language := _code_language(block):
            block.set("data-language", language)


def _begins_title(label: Any) -> bool:
    after = label.getnext()
    words = unmarked((label.tail or "") or (after.text_content() if after is not None else ""))
    return words[:1].isalpha() and not words[0].islower()


def _code_language(block: Any) -> str:
    near = [block, *block.iterchildren("code"), block.getparent()]
    if (above := block.getparent()) is not None:
        near.append(above.getparent())
    for element in near:
        if element is not None and (match := _LANGUAGE.search(element.get("class") or "")):
            return "" if match[1] in ("default", "none", "text", "plaintext", "notranslate") else match[1]
    return ""


def _text(root: Any) -> None:
    """Collapse white space as a browser does and escape what Markdown would read as markup."""
    stack = [(root, False, False)]
    while stack:
        element, verbatim, in_cell = stack.pop()
        inside = verbatim or element.tag in _VERBATIM
        cell = in_cell or element.tag in ("td", "th")
        fenced = element.tag == "pre" or (verbatim and next(element.iterancestors("pre"), None) is not None)
        if element.text:
            element.text = _plain(element.text, inside, fenced, cell)
        for child in element:
            stack.append((child, inside, cell))
            if child.tail:
                child.tail = _plain(child.tail, inside, fenced, cell)


def _plain(text: str, verbatim: bool, fenced: bool, in_cell: bool) -> str:
    if fenced and not in_cell:
        # A zero-width space keeps a fence inside code from ending the code.
        return text.replace("```", "``\u200b`")
    text = re.sub(r"[ \t\r\n\f]+", " ", text)
    if not verbatim:
        text = _LINE_START.sub(r"\1\\", _TAG.sub(r"\\<", text))
    return re.sub(r"(?<!\\)\|", r"\\|", text) if in_cell else text


def without_controls(text: str) -> str:
    """Return a text without characters that a tree cannot hold or that could be taken for a mark."""
    return _CONTROLS.sub("", _MARK.sub("", text.replace("\f", " ")))


def mark_lines(document: Any) -> None:
    """Mark the lines of all text in a newly parsed tree, and remove its comments."""
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
            if element.sourceline and element.sourceline < _MOST_LINES:
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
        return match.group() + (chr(_FIRST_MARK + counted) if _FIRST_MARK + counted <= _LAST_MARK else "")

    return _FIRST_WORD.sub(mark, text), line + text.count("\n")


def unmarked(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text)


def read_marks(text: str) -> tuple[str, tuple[LineStart, ...]]:
    """Return a text without its marks, and the lines they recorded."""
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
        line = ord(mark.group()) - _FIRST_MARK
        if line != expected:
            starts.append(LineStart(line_begin if first else offset, line))
            expected = line
        first = False
    return "".join((*pieces, text[after:])), tuple(starts)
