"""Kinds of places: which contain which, and which people use for one another."""

from __future__ import annotations

from pinakes.labels.lexicon import load

_KINDS = load().kinds

LEAF_KINDS = frozenset({"", *load().kinds_with("role", "leaf"), *load().kinds_with("leaf", True)})
"""Kinds whose numbers run through a document and which people use for one another; a bare number is of none."""
CONTAINERS = load().kinds_with("role", "container")
"""Kinds that hold articles and sections."""
APART = load().kinds_with("apart", True)
"""Containers that stand behind the text and are lettered as often as numbered."""
_DEPTH: dict[str, int] = {kind: facts["depth"] for kind, facts in _KINDS.items() if "depth" in facts}
_RANKS: dict[str, int] = {kind: facts["rank"] for kind, facts in _KINDS.items()}
_INNERMOST = 1 + max(_RANKS.values())


def rank(kind: str) -> int:
    """Where a kind stands among the others, from the outermost: a title holds chapters, a bare number comes last."""
    return _RANKS.get(kind, _INNERMOST)


def depth(kind: str) -> int:
    """How deep a kind lies: 0 for what contains articles, 1 for articles, more below them."""
    return 0 if kind in CONTAINERS else _DEPTH.get(kind, 1)


def is_sub(kind: str) -> bool:
    """Whether a kind names a part below a numbered leaf."""
    return kind in _DEPTH
