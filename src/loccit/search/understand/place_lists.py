"""References as people write them: lists, relative references and line ranges."""

from __future__ import annotations

import re
from typing import NamedTuple

from loccit.config.bounds import STEPS
from loccit.errors import UsageError
from loccit.expressions import expression
from loccit.model import Lines

NEXT, PREVIOUS, PARENT = STEPS

_KIND = (
    r"(?:(?:sub)?section|(?:sub)?clause|article|(?:sub)?paragraph|part|chapter|place|heading|one|abschnitt|artikel|"
    r"paragra(?:ph|f)|absatz|kapitel|ziffer)"
)
_KINDS = rf"(?:{_KIND}(?:s|en?)|artikel|absätze|ziffern)"
_THE = r"(?:(?:the|der|die|das)\s+)?"
_AFTER, _BEFORE = r"(?:after|following|nach)", r"(?:before|preceding|vor)"
_PHRASES = [
    (step, re.compile(rf"{_THE}{pattern}\s+(?P<place>\S.*)\Z", re.IGNORECASE | re.DOTALL))
    for step, pattern in (
        (
            NEXT,
            rf"(?:next|following|nächste[rs]?|folgende[rs]?)\s+(?:{_KIND}\s+)?(?:{_AFTER}|to|from|of|von)",
        ),
        (
            NEXT,
            rf"{_KIND}\s+(?:that\s+(?:comes|follows)\s+)?(?:directly\s+|immediately\s+|right\s+)?{_AFTER}",
        ),
        (NEXT, r"what\s+(?:follows|comes\s+after)"),
        (
            PREVIOUS,
            rf"(?:previous|preceding|prior|vorherige[rs]?|vorige[rs]?)\s+(?:{_KIND}\s+)?(?:{_BEFORE}|to|of|von)",
        ),
        (PREVIOUS, rf"{_KIND}\s+(?:that\s+comes\s+)?(?:directly\s+|immediately\s+|right\s+)?{_BEFORE}"),
        (PREVIOUS, r"what\s+(?:precedes|comes\s+before)"),
        (PARENT, rf"parent(?:\s+{_KIND})?\s+(?:of|von)"),
        (PARENT, rf"{_KIND}\s+(?:above|containing|holding|über)"),
    )
]
# Words that change which place is meant. If any is left over, the text was not understood.
_CHANGING = expression(
    r"\b(?:after|before|next|following|previous|preceding|prior|(?:grand)?parent|except|onwards?|nach|vor|nächste[rs]?|"
    rf"vorherige[rs]?|außer|{_KINDS}\s+(?:past|beyond|later|earlier|on\s+from|weiter|später)|"
    rf"(?:\d+|two|three|four|five|six|few|several|zwei|drei|vier|fünf|sechs|einige)\s+{_KINDS}(?=\s+[^\W\d]))\b",
    re.IGNORECASE,
)
_ANY_KIND = expression(rf"\d|\b(?:{_KIND}|{_KINDS})\b", re.IGNORECASE)
STEPS_UNDERSTOOD = (
    "Name the place itself, or say 'next section after 4.2', 'previous section before 4.2' or 'parent of 4.2', one "
    "step at a time."
)
# What remains of a list after its first numbers were read.
_GOES_ON = expression(r"(?:[,;&+]|\b(?:and|und|or|oder|sowie|et))\s*§?\s*\(?\d", re.IGNORECASE)
_AND = expression(
    r"\s*[;\n]\s*|\s*,\s*(?:and|und|or|oder|et|&)\s+|\s*,\s*|\s+(?:and|und|sowie|or|oder|et|&)\s+",
    re.IGNORECASE,
)
_BRACKETS = expression(r"\([^()]*\)")
# `Articles 5`, then `6` and `7`; `§§ 3`, then `4`.
_KIND_FIRST = expression(r"(?P<kind>§§?|[^\W\d_]+\.?)\s+(?=[\dIVXLC(])")
_NUMBER = expression(r"\(?[\dIVXLC][\w.\-–()]*\Z|\([\w]+\)\Z")
_IN_A_DOCUMENT = expression(
    r"\s+(?:of|in|from|under|des|der|vom|von|im|du|de)\s+(?:the\s+)?(?=[^\W\d])", re.I
)
_THROUGH = expression(r"\s+(?:to|through|until|bis|à|al?)\s+|\s*[–—]\s*|\s+-\s+|(?<=\d)-(?=\d)", re.I)
_LINES = expression(r"(?:lines?|zeilen?|l\.?)?\s*(\d+)(?:\s*(?:[-–—:,]|\.\.|to|bis)\s*l?(\d+))?\Z", re.I)
_LONGEST_LINE_NUMBER = 9


class Step(NamedTuple):
    """A place relative to another: the next, the previous or the parent."""

    step: str
    place: str


def read_step(text: str) -> Step | None:
    """Return the relative reference in a text, if it is one.

    >>> read_step("the next section after 33.103"), read_step("Next steps")
    (Step(step='next', place='33.103'), None)
    """
    for step, pattern in _PHRASES:
        if match := pattern.match(text.strip()):
            return Step(step, match["place"])
    return None


def left_over(rest: str) -> list[str]:
    """Return the words next to a reference that point to another place: ``two sections after``."""
    return [match.group().casefold() for match in _CHANGING.finditer(rest)]


def asks_for_step(text: str) -> bool:
    """Whether a text seems to be a relative reference: ``two sections after 11``, but not ``Notice before sailing``."""
    return bool(left_over(text)) and _ANY_KIND.search(text) is not None


def goes_on(rest: str) -> bool:
    """Whether the text left over next to references continues a list: ``and 7``."""
    return _GOES_ON.search(rest) is not None


def is_range(text: str) -> bool:
    """Whether a text names the first and the last of a range of places."""
    return _THROUGH.search(text) is not None


def split_list(text: str) -> list[str]:
    """Split a list written as one text into its references; commas in brackets do not count.

    >>> split_list("Articles 5, 6 and 7 of the GDPR")
    ['Articles 5 of the GDPR', 'Articles 6 of the GDPR', 'Articles 7 of the GDPR']
    """
    hidden = _BRACKETS.sub(lambda match: "\0" * len(match.group()), text.strip())
    parts, at = [], 0
    for match in _AND.finditer(hidden):
        parts.append(text.strip()[at : match.start()])
        at = match.end()
    parts = [part.strip() for part in (*parts, text.strip()[at:]) if part.strip()]
    if len(parts) < 2:
        return parts
    kind = _KIND_FIRST.match(parts[0])
    within = _IN_A_DOCUMENT.search(parts[-1])
    tail = parts[-1][within.start() :] if within else ""
    found = []
    for number, part in enumerate(parts):
        bare = part.removesuffix(tail) if number == len(parts) - 1 else part
        if number and kind and _NUMBER.match(bare):
            bare = f"{kind['kind']} {bare}"
        found.append(bare if _IN_A_DOCUMENT.search(bare) else bare + tail)
    return found


def read_lines(value: str | tuple[int, int] | list[int] | int) -> Lines:
    """Read a range of lines: ``2031-2035``, ``lines 12 to 18``, ``7``, or the first and last as numbers.

    >>> read_lines("2031-2035"), read_lines(7)
    (Lines(first=2031, last=2035), Lines(first=7, last=7))
    """
    if isinstance(value, (list, tuple)):
        value = "-".join(str(number) for number in value)
    match = _LINES.match(str(value).strip())
    if match and len(match[1]) <= _LONGEST_LINE_NUMBER and len(match[2] or "") <= _LONGEST_LINE_NUMBER:
        first, last = int(match[1]), int(match[2] or match[1])
        if 1 <= first <= last:
            return Lines(first, last)
    raise UsageError(f"{str(value)[:40]!r} is not a range of lines. Give the first and the last: 2031-2035.")
