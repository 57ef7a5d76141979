"""Which looks are headings: those used for something else betray it over the whole document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from .candidates import Body, Candidate
from .flow import Item
from .labels import is_strong
from .outline import normal
from .page import Heading, Line
from .tables import Table

_Group: TypeAlias = tuple[object, ...]
_NEAR = 1.6
"""Up to this many points above the size of the text a look must prove itself."""


@dataclass(slots=True)
class _Around:
    """What stands next to a candidate."""

    words: int = 0
    """Words of text up to the next of the same group; what other headings hold counts too."""
    table: bool = False
    """A table follows at once."""
    twin: bool = False
    """Another of the same look follows at once."""
    empty: bool = False
    """A larger one follows at once, so that it would head nothing."""
    under: bool = False
    """It follows at once on a candidate of another look."""


def select(found: list[Candidate], flow: Sequence[Item | Heading], body: Body, pages: int) -> list[Candidate]:
    """The candidates that are headings."""
    found = _without_repeats(found, pages)
    around = _surroundings(found, flow)
    groups: dict[_Group, list[Candidate]] = defaultdict(list)
    for candidate in found:
        groups[_group(candidate)].append(candidate)
    kept: list[Candidate] = []
    weak: list[Candidate] = []
    for members in groups.values():
        if not _serves_else(members, around, body):
            for c in members:
                hollow = around[c.first].empty and c.label is None and c.look.size < body.size + _NEAR
                if not hollow and not _is_term(c, body):
                    (weak if _is_weak(c) else kept).append(c)
    # Capitals in the type of the text are headings only where nothing better is.
    if len(kept) < pages / 3:
        kept.extend(weak)
    kept.sort(key=lambda c: c.first)
    return kept


def _without_repeats(found: list[Candidate], pages: int) -> list[Candidate]:
    """Leave out words that come back again and again, as the same small heading in every section."""
    texts = Counter((_lead(c.text), c.look) for c in found if c.label is None)
    most = max(6, pages / 12)
    return [c for c in found if c.label is not None or texts[_lead(c.text), c.look] < most]


def _lead(text: str) -> str:
    """A text without what follows its colon: `Owner: Finance` and `Owner: Sales` begin alike."""
    head = text.split(": ", 1)[0]
    return normal(head if len(head) < len(text) and not any(map(str.isdigit, head)) else text)


def _group(candidate: Candidate) -> _Group:
    label = candidate.label
    if label is None:
        return ("look", candidate.look, candidate.lines[0].style.colour)
    if (
        not is_strong(label)
        and label.depth == 1
        and not (candidate.big or candidate.look.bold or candidate.look.caps)
    ):
        # Only centred or italic: these prove themselves apart from those that are set more strongly.
        return ("apart", candidate.look)
    return ("label", label.kind, candidate.big, candidate.look.size if not candidate.big else 0)


def _is_weak(candidate: Candidate) -> bool:
    return not candidate.big and not candidate.look.bold and candidate.label is None


def _is_term(candidate: Candidate, body: Body) -> bool:
    """Whether it introduces what follows in the same breath, as `Submitter:` does."""
    numbered = candidate.label is not None and (candidate.label.kind != "#" or candidate.label.depth > 1)
    if numbered or not candidate.text.endswith(":"):
        return False
    return candidate.label is not None or candidate.look.size < body.size + 3


def _surroundings(found: Sequence[Candidate], flow: Sequence[Item | Heading]) -> dict[int, _Around]:
    words = [0]
    for item in flow:
        words.append(words[-1] + (item.text.count(" ") + 1 if isinstance(item, Line) else 0))
    result = {}
    next_of: dict[_Group, int] = {}
    ends: dict[int, int] = {}
    for candidate in reversed(found):
        group = _group(candidate)
        ends[candidate.first] = next_of.get(group, len(flow))
        next_of[group] = candidate.first
    for n, candidate in enumerate(found):
        here = _Around(words[ends[candidate.first]] - words[candidate.last + 1])
        following = flow[candidate.last + 1] if candidate.last + 1 < len(flow) else None
        here.table = isinstance(following, Table)
        if n + 1 < len(found) and found[n + 1].first == candidate.last + 1:
            here.twin = found[n + 1].look == candidate.look
            here.empty = found[n + 1].look.size > candidate.look.size + _NEAR
        if n and found[n - 1].last == candidate.first - 1:
            here.under = found[n - 1].look != candidate.look
        result[candidate.first] = here
    return result


def _serves_else(members: list[Candidate], around: dict[int, _Around], body: Body) -> bool:
    """Whether a look is that of captions, terms, list entries, subtitles or emphasised paragraphs."""
    count = len(members)
    first = members[0]
    labelled = first.label is not None
    if labelled and is_strong(first.label):
        return False
    if sum(len(c.text) for c in members) > 0.2 * body.letters > 400:
        return True
    near = first.look.size < body.size + _NEAR
    if not labelled:
        if first.look.size < body.size - (1.6 if first.look.bold else 0.6):
            return True
        if count >= 3 and not first.look.bold and _share(members, around, "under") > 0.85:
            return True
    if not near or count < 3:
        return False
    if not labelled and sum(c.text.endswith(":") for c in members) > 0.2 * count:
        return True
    if _share(members, around, "table") > 0.6:
        return True
    if not labelled and _share(members, around, "twin") + _share(members, around, "empty") > 0.3:
        return True
    return median(around[c.first].words for c in members) < 12


def _share(members: list[Candidate], around: dict[int, _Around], name: str) -> float:
    return sum(bool(getattr(around[c.first], name)) for c in members) / len(members)
