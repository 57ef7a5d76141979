"""The title of a document: what it states about itself if its first pages bear that out, else its largest words.

Programs put file names, templates and other documents' titles into the properties of a file, so a title that is
not printed counts for less than one that is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .candidates import Body, join_heading
from .flow import Item
from .labels import is_caption
from .page import Line

_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_TITLE = re.compile(
    r"\W*(?:(?:anonymous|unknown|untitled|no title|none|document|title|slide|microsoft (?:word|powerpoint)"
    r"|powerpoint presentation|print(?:ing)?)\b\W*\d*\W*$|microsoft (?:word|powerpoint|excel) - )|\S+\.[a-z]\w{1,4}$",
    re.I,
)
_READ = 3
"""Pages that may bear a title out."""
_SHARE = 0.6
_LARGER = 1.12
_LONGEST = 300
_LETTERS = 0.7


def find_title(stated: str | None, flow: Sequence[Item], body: Body) -> str | None:
    """The title of a document, given the one it states; None when nothing says what it is called."""
    if stated and _NO_TITLE.match(stated):
        stated = None
    if stated and _is_printed(stated, flow):
        return stated
    return _largest(flow, body) or stated


def _is_printed(title: str, flow: Sequence[Item]) -> bool:
    wanted = {word.lower() for word in _WORD.findall(title)}
    printed: set[str] = set()
    for item in flow:
        if item.page >= _READ:
            break
        if isinstance(item, Line):
            printed.update(word.lower() for word in _WORD.findall(item.text))
    return len(wanted & printed) >= _SHARE * max(len(wanted), 1)


def _largest(flow: Sequence[Item], body: Body) -> str | None:
    """The first run of lines on the first page with text that is set in its largest type, larger than the text."""
    first = next((item.page for item in flow if isinstance(item, Line)), 0)
    lines = [i for i in flow if isinstance(i, Line) and i.page == first and len(_WORD.findall(i.text)) >= 1]
    size = max((line.size for line in lines), default=0.0)
    if size < _LARGER * body.size:
        return None
    run: list[Line] = []
    for line in lines:
        if abs(line.size - size) <= 0.6 and not (run and line.base - run[-1].base > 2.2 * size):
            run.append(line)
        elif run:
            break
    text = join_heading(run).strip(" :.,;·*")
    letters = sum(map(str.isalpha, text))
    plain = letters >= _LETTERS * len(text.replace(" ", ""))
    return text if plain and len(text) <= _LONGEST and not is_caption(text) else None
