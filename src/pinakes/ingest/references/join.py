"""Mentions side by side: their order, and what one says for the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pinakes.ingest.references.grammar import Mention
from pinakes.ingest.references.words import S1

_OR = re.compile(rf",?{S1}(?:and|or|und|oder|et|ou){S1}(?:in{S1}|the{S1})?")


def distinctive(mention: Mention) -> bool:
    """Whether a number is of a shape that one document would not share with another: ``32.706-2``."""
    items = [item for unit in mention.units for item in unit.items]
    return any(item.base > 1 and any(len(part) > 2 for part in item.parts[: item.base]) for item in items)


def share_ends(text: str, mentions: list[Mention]) -> Iterator[Mention]:
    """Let *paragraph (a) or paragraph (b) of this section* share its end."""
    for index, mention in enumerate(mentions):
        after = mentions[index + 1] if index + 1 < len(mentions) else None
        if (
            after is not None
            and len(mention.units) == 1
            and len(after.units) > 1
            and mention.relative
            and after.lead.kind == mention.lead.kind
            and joined(text, mention, after)
        ):
            outer = after.units[: after.units.index(after.lead)]
            mention = replace(mention, units=(*outer, mention.lead))
        yield mention


def in_order(mentions: list[Mention]) -> list[Mention]:
    """Put mentions in order, and leave out those that begin inside another."""
    ordered: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: mention.start):
        if not ordered or mention.start >= ordered[-1].end:
            ordered.append(mention)
    return ordered


def joined(text: str, one: Mention, other: Mention) -> bool:
    """Whether two mentions have nothing but *and* or *or* between them."""
    join = _OR.match(text, one.end)
    return join is not None and join.end() == other.start


def inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    """Whether an offset lies in one of some sorted spans that do not overlap."""
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][0] <= offset:
            low = middle + 1
        else:
            high = middle
    return low > 0 and offset < spans[low - 1][1]
