"""Labels: numbers that name places, and their kinds: which contain which, and which people use for one another."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Label:
    """A number that names a place: ``text`` as written, the rest normalised.

    A ``relative`` label counts from the heading above it: ``(a)`` below ``4.2`` is 4.2(a).
    """

    text: str
    kind: str
    number: tuple[str, ...]
    relative: bool = False

    @property
    def key(self) -> str:
        """The number in one word: ``403_b_2``."""
        return "_".join(self.number)

    @property
    def section_id(self) -> str:
        """Normalised id: ``sec_403_b_2``, ``chapter_4``."""
        return f"{'sec' if self.kind in LEAF_KINDS else self.kind}_{self.key}"

    def shortened(self) -> Label | None:
        """The same reference one part less deep, or None when there is nothing to leave off."""
        return Label(self.text, self.kind, self.number[:-1]) if len(self.number) > 1 else None

    def below(self, text: str, kind: str, number: tuple[str, ...]) -> Label:
        """A relative label made whole: what it says below the place of the given text, kind and number."""
        return Label(f"{text}({self.text.strip('()（）')})", kind, (*number, *self.number))


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A reference in running text, with its place."""

    label: Label
    start: int
    end: int
