"""Levels: styles and numbers ranked against each other, outermost first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from .candidates import Candidate
from .labels import is_strong

_Kind: TypeAlias = tuple[str, int, float, bool, bool, bool]


def assign_levels(found: Sequence[Candidate]) -> list[int]:
    """A level for each heading.

    Headings of one kind share a level. Kinds are ordered by size, then weight and capitals; a decimal number
    goes below the shorter number it extends, a Chapter below a Part.
    """
    sections_hold_articles = _directly(found, "section", "article") > _directly(found, "article", "section")
    kinds = [_kind(c, sections_hold_articles) for c in found]
    members: dict[_Kind, list[Candidate]] = defaultdict(list)
    for kind, candidate in zip(kinds, found, strict=True):
        members[kind].append(candidate)
    sizes = _effective_sizes(members)
    order = sorted(members, key=lambda k: _sort_key(k, sizes[k], members[k]))
    groups: list[list[_Kind]] = []
    for kind in order:
        if groups and _equal(groups[-1][-1], kind, sizes):
            groups[-1].append(kind)
        else:
            groups.append([kind])
    groups = _without_rare(groups, members)
    level_of = {kind: level for level, group in enumerate(groups, 1) for kind in group}
    return [level_of[k] for k in kinds]


def _without_rare(groups: list[list[_Kind]], members: dict[_Kind, list[Candidate]]) -> list[list[_Kind]]:
    """Let styles met once or twice, as on a cover, share a level instead of pushing the others down."""
    total = sum(map(len, members.values()))
    rare = max(1, 0.02 * total)
    result: list[list[_Kind]] = []
    held: list[_Kind] = []
    for group in groups:
        few = sum(len(members[k]) for k in group) <= rare and all(k[0] == "style" for k in group)
        if few:
            held.extend(group)
            continue
        if held:
            # Larger than anything regular: one level above all the rest, for titles.
            result.append(held) if not result else group.extend(held)
            held = []
        result.append(group)
    if held:
        result.append(held)
    return result


def _directly(found: Sequence[Candidate], outer: str, inner: str) -> int:
    """How often a label of one kind is followed by one of the other with nothing between."""
    count = 0
    for a, b in pairwise(found):
        if a.label is not None and b.label is not None and (a.label.kind, b.label.kind) == (outer, inner):
            count += b.first == a.last + 1
    return count


def _kind(candidate: Candidate, sections_hold_articles: bool) -> _Kind:
    label, look = candidate.label, candidate.look
    if label is not None and is_strong(label):
        rank = label.rank * 10
        if sections_hold_articles and label.kind == "section":
            # European acts have Articles in Sections, American ones Sections in Articles.
            rank -= 15
        return ("label", rank + label.depth, 0.0, False, False, False)
    if label is not None:
        return ("number", label.depth, look.size, False, False, False)
    return ("style", 0, look.size, look.bold, look.italic, look.caps)


def _effective_sizes(members: dict[_Kind, list[Candidate]]) -> dict[_Kind, float]:
    """The size each kind counts as: never more than that of the kind it must go below."""
    sizes = {k: float(median(c.look.size for c in v)) for k, v in members.items()}
    labels = sorted((k for k in sizes if k[0] == "label"), key=lambda k: k[1])
    for outer, inner in pairwise(labels):
        sizes[inner] = min(sizes[inner], sizes[outer])
    return sizes


def _sort_key(kind: _Kind, size: float, members: list[Candidate]) -> tuple[float, ...]:
    bold = sum(c.look.bold for c in members) / len(members)
    caps = sum(c.look.caps for c in members) / len(members)
    italic = sum(c.look.italic for c in members) / len(members)
    rank = float(kind[1]) if kind[0] != "style" else 0.0
    if kind[0] == "style":
        return (-size, 0.0, -bold, -caps, italic)
    return (-size, rank, -bold, -caps, italic)


def _equal(a: _Kind, b: _Kind, sizes: dict[_Kind, float]) -> bool:
    """Whether two kinds next to each other in order are one level."""
    if abs(sizes[a] - sizes[b]) > 0.6:
        return a[0] == b[0] == "number" and a[1] == b[1] and abs(sizes[a] - sizes[b]) < 1.1
    if a[0] == "number" and b[0] == "number":
        return a[1] == b[1]
    if {a[0], b[0]} == {"number", "style"}:
        return max(a[1], b[1]) <= 1
    return False
