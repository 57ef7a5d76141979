"""Labels: numbers that name places, and their kinds: which contain which, and which are interchangeable."""

from __future__ import annotations

from dataclasses import dataclass

from loccit.grammar.labels.lexicon import load

_KINDS = load().kinds

LEAF_KINDS = frozenset({"", *load().kinds_with("role", "leaf"), *load().kinds_with("leaf", True)})
"""Kinds numbered throughout a document and used interchangeably; a bare number has none."""
CONTAINERS = load().kinds_with("role", "container")
"""Kinds that contain articles and sections."""
APART = load().kinds_with("apart", True)
"""Containers after the text, lettered as often as numbered."""
_DEPTH: dict[str, int] = {kind: facts["depth"] for kind, facts in _KINDS.items() if "depth" in facts}
_RANKS: dict[str, int] = {kind: facts["rank"] for kind, facts in _KINDS.items()}
_INNERMOST = 1 + max(_RANKS.values())


def rank(kind: str) -> int:
    """The rank of a kind, outermost first: a title contains chapters, a bare number comes last."""
    return _RANKS.get(kind, _INNERMOST)


def depth(kind: str) -> int:
    """The depth of a kind: 0 for what contains articles, 1 for articles, more below them."""
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
        """The number as one word: ``403_b_2``."""
        return "_".join(self.number)

    @property
    def section_id(self) -> str:
        """Normalised id: ``sec_403_b_2``, ``chapter_4``."""
        return f"{'sec' if self.kind in LEAF_KINDS else self.kind}_{self.key}"

    def shortened(self) -> Label | None:
        """The same reference with one part less, or None if there is nothing to drop."""
        return Label(self.text, self.kind, self.number[:-1]) if len(self.number) > 1 else None

    def below(self, text: str, kind: str, number: tuple[str, ...]) -> Label:
        """A relative label made absolute, below the place with the given text, kind and number."""
        return Label(f"{text}({self.text.strip('()（）')})", kind, (*number, *self.number))


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A reference in running text, with its position."""

    label: Label
    start: int
    end: int
