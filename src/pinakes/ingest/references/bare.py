"""Numbers without a word before them: ``see 4.2.1``, ``(see 32.102(e))``, ``in accordance with 31.205-6``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.ingest.references.grammar import Mention, Unit, read_chain
from pinakes.ingest.references.items import Item, read_items
from pinakes.ingest.references.places import Places
from pinakes.ingest.references.words import S0, S1

_NUMBER = re.compile(r"(?<![\w.,/$€£¥#@:=<>~+\-–§])\d{1,4}\.\d{1,4}(?=[^\w%]|$|[a-z](?![a-z]))")
_PLACED = (
    rf"(?:prescribed|described|defined|specified|set{S1}(?:out|forth)|provided|stated|required|listed|authorized|explained"
    rf"|identified|contained|established|permitted|discussed|covered|addressed){S1}(?:for{S1})?(?:in|at|by|under)"
)
_SURE = re.compile(
    rf"(?:\bsee(?:{S1}also)?|\brefer{S1}to|\bpursuant{S1}to|\baccordance{S1}with|\bcomply{S1}with|\b{_PLACED}|\bsiehe|\bvgl\.|\bvoir"
    rf"|\b(?:clauses?|provisions?|procedures|requirements|policies|definitions?|exceptions?|criteria|limitations?){S1}(?:at|in|of))"
    rf"{S1}(?:the{S1})?(?:(?-i:[A-Z]{{2,8}}){S1})?$",
    re.IGNORECASE,
)
_MAYBE = re.compile(rf"\b(?:under|in|at|by|of|per|to|with|from|and|or|through|FAR){S1}(?:[A-Z]{{2,8}}{S1})?$")
_FOLLOWED = re.compile(
    rf"{S0}(?:%|°|€|£|\$|×|x\d)|{S1}(?:million|billion|thousand|per{S1}?cent|percent|times|and{S1}later|or{S1}later|or{S1}higher"
    r"|seconds?|minutes?|hours?|days?|months?|years?|kW|kg|g|mm|cm|km|m|ms|s|GB|MB|kB|kPa|bar|V|A|W|Hz|litres?|metres?|meters?"
    r"|points?)\b"
)
# Two numbers, the second of three digits or more: the shape of codes such as 32.706-2, seldom of an amount.
_CODE = re.compile(r"[1-9]\d{0,2}\.\d{3,4}[a-z]?(?:[-‑]\d{1,3})*")
_LOOK_BACK = 60


def find_bare(text: str, start: int, places: Places) -> Iterator[Mention]:
    """Yield numbers that an introducing word, or a section of that very label, makes a reference."""
    at = start
    while True:
        match = _NUMBER.search(text, at)
        if match is None:
            return
        at = match.end()
        items = read_items(text, match.start(), "", plural=False)
        items = [item for item in items if item.base > 1 or item.parts[item.base :]]
        if not items or not _is_reference(text, items[0], places):
            continue
        mention = read_chain(text, Unit("", "number", match.start(), items[-1].end, tuple(items)))
        at = max(at, mention.end)
        yield mention


def _is_reference(text: str, item: Item, places: Places) -> bool:
    if _FOLLOWED.match(text, item.end):
        return False
    written = text[item.start : item.end]
    before = text[max(0, item.start - _LOOK_BACK) : item.start]
    known = not isinstance(places.numbered("", item.parts, item.base, item.start), str)
    simple = item.base == 2 and len(item.parts) == 2 and "-" not in written and not _CODE.match(written)
    sure = bool(_SURE.search(before))
    if simple:
        # An amount or a version looks the same: only words that send the reader somewhere make it a reference.
        return sure and (known or not _looks_dated(item))
    if known:
        return True
    if _looks_dated(item):
        return False
    return sure or (bool(_MAYBE.search(before)) and bool(_CODE.match(written)))


def _looks_dated(item: Item) -> bool:
    """A date (12.05.2019) or an address (10.0.0.1)."""
    base = item.parts[: item.base]
    return (len(base) == 3 and len(base[2]) == 4) or (
        len(base) == 4 and all(part.isdecimal() for part in base)
    )
