"""View: the text that a reader sees at the beginning of a line."""

from __future__ import annotations

import re

# Emphasis, escapes and list markers: a label may be between them.
_MARKS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|\*+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|</?(?:u|b|i|strong|em)>"
    r"|<span(?:\s[^<>\n]{0,200})?>|</span>"
)

AMENDED = r"(?:[A-Z]{0,2}\d{0,4}[\[⟦►](?![^\]\n]{0,6}\])\s?){1,3}"
"""What amended texts print before a number that was put in: ``F15[(a)``, ``[F1 2.``."""
_AMENDED = re.compile(AMENDED + r"(?=[\dA-Z§(])")


def plain_view(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """Return text without emphasis and amendment marks, and the position of each character (one more at the end)."""
    raw = text[start:end]
    cut = raw.find("\n\n")
    if cut >= 0:
        raw = raw[:cut]
    parts: list[str] = []
    offsets: list[int] = []
    position = 0
    for mark in _MARKS.finditer(raw):
        parts.append(raw[position : mark.start()])
        offsets.extend(range(start + position, start + mark.start()))
        position = mark.end()
    parts.append(raw[position:])
    offsets.extend(range(start + position, start + len(raw)))
    bare = "".join(parts)
    if lead := _AMENDED.match(bare):
        bare, offsets = bare[lead.end() :], offsets[lead.end() :]
    kept = bare.rstrip()
    return kept, [*offsets[: len(kept)], offsets[len(kept)] if len(kept) < len(offsets) else start + len(raw)]
