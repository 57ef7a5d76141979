"""View: the text that a reader sees at the beginning of a line."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from loccit.structure import Block

# Emphasis, escapes, tags, and the link of a number: a label may be between them.
_MARKS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|\*+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|</?(?:u|b|i|strong|em)>"
    r"|(?P<tag></?[a-z][^<>\n]{0,200}>)|\[(?P<linked>(?:§\s?)?[^\s\[\]]{0,20}\d[^\s\[\]]{0,8})\]\([^()\s]{0,200}\)"
)
_BULLET = re.compile(r"[\s>]*[-*+•●▪◦][ \t]+\S")
# Links that lead to a place of this text, or to another file beside it.
_TO_FILE = r"(?![a-z]+:)[^()\s#]{1,180}\.\w{2,9}(?:#[^()\s]{0,200})?"
_LISTS = re.compile(
    rf"[\s>*+|•:-]*(?:\d[\d.]{{0,9}}[.)]?\s+)?\[[^\n]{{1,400}}\]\((?:#[^()\s]{{0,200}}|{_TO_FILE})\)[\s.|*]*\Z"
)

AMENDED = r"(?:[A-Z]{0,2}\d{0,4}[\[⟦►](?![^\]\n]{0,6}\])[⁰¹²³⁴-⁹]{0,3}\s?){1,3}"
"""What amended texts print before a number that was put in: ``F15[(a)``, ``[F1 2.``."""
_AMENDED = re.compile(AMENDED + r"(?=[\dA-Z§(])")


def text_lines(
    text: str, blocks: Iterable[Block], kinds: Container[str] = ("text",)
) -> Iterator[tuple[Block, int, int]]:
    """Yield the lines of the blocks of some kinds, each with its block, start and end."""
    for block in blocks:
        position = block.start if block.kind in kinds else block.end
        while position < block.end:
            end = text.find("\n", position, block.end)
            end = block.end if end < 0 else end
            yield block, position, end
            position = end + 1


def is_bullet(line: str) -> bool:
    """Whether a line is an item of a list without numbers."""
    return _BULLET.match(line) is not None


def only_lists(line: str) -> bool:
    """Whether a line is a link to another place or file and nothing else, as in a list of contents."""
    return _LISTS.match(line) is not None


def plain_view(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """Return text without its marks, and the position of each character (one more at the end)."""
    raw = text[start:end]
    cut = raw.find("\n\n")
    if cut >= 0:
        raw = raw[:cut]
    parts: list[str] = []
    offsets: list[int] = []
    position = 0
    for mark in _MARKS.finditer(raw):
        for begin, stop in ((position, mark.start()), mark.span("linked")):
            parts.append(raw[begin:stop])
            offsets.extend(range(start + begin, start + stop))
        position = mark.end()
        if (
            mark["tag"]
            and raw[mark.start() - 1 : mark.start()].isalnum()
            and raw[position : position + 1].isalnum()
        ):
            # What stands in an element of its own is apart, whatever its style.
            parts.append(" ")
            offsets.append(start + mark.start())
    parts.append(raw[position:])
    offsets.extend(range(start + position, start + len(raw)))
    bare = "".join(parts)
    if lead := _AMENDED.match(bare):
        bare, offsets = bare[lead.end() :], offsets[lead.end() :]
    kept = bare.rstrip()
    return kept, [*offsets[: len(kept)], offsets[len(kept)] if len(kept) < len(offsets) else start + len(raw)]
