"""Labels: numbers that name places."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.labels.kinds import LEAF_KINDS


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
