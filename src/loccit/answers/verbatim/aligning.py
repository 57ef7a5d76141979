"""Aligning: which place of one document corresponds to which of another, by words, labels and titles."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from loccit.answers.verbatim.words import words_of
from loccit.model import Place

# Shares of common words: practically identical; enough together with a label; enough alone.
_ALIKE, _LABELLED, _RELATED = 0.75, 0.3, 0.5
# Words in more places than this do not help to match places.
_COMMON = 50
_COMPARED = 5
# Fewer words than this may be equal by chance.
_FEW = 3


@dataclass(slots=True, eq=False)
class Part:
    """A place with its own text: up to the start of the next place, and what follows the places below it."""

    place: Place
    start: int
    end: int
    after: list[tuple[int, int]] = field(default_factory=list)
    title: tuple[str, ...] = ()
    marker: tuple[str, ...] = ()
    """The words of its label as it is printed."""
    body: tuple[str, ...] = ()
    parent: Part | None = None
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def words(self) -> tuple[str, ...]:
        """What is compared: the words of the title and text, without label or marker."""
        return self.title + self.body

    @property
    def line(self) -> Iterator[Part]:
        """The part and those it is in, from the inside out."""
        part: Part | None = self
        while part:
            yield part
            part = part.parent

    @property
    def mark(self) -> str:
        """Its name within its parent: ``(a)`` of Section 2(a)."""
        label, above = self.place.label, self.parent.place.label if self.parent else ""
        return label[len(above) :] if above and label.startswith(above) else label


def parts_of(text: str, places: Sequence[Place], body_start: int = 0) -> list[Part]:
    """Return the parts of a text in order; together they make up all of it."""
    ordered = sorted(places, key=lambda place: (place.start, place.ordinal))
    by_ordinal: dict[int, Part] = {}
    parts: list[Part] = []
    for place, following in zip(ordered, [*ordered[1:], None], strict=True):
        start = place.start if parts else max(place.start, body_start)
        until = max(start, following.start if following else len(text))
        part = Part(place, start, min(until, max(start, place.end)) if parts else until)
        part.parent = by_ordinal.get(place.parent) if place.parent is not None else None
        by_ordinal[place.ordinal] = part
        parts.append(part)
        at, holder = part.end, part.parent
        while at < until and holder:
            end = until if holder.parent is None else min(until, holder.place.end)
            if end > at:
                holder.after.append((at, end))
                at = end
            holder = holder.parent
    for part in parts:
        part.title = _keys(part.place.title) if part.place.ordinal else ()
        heading = _keys(text[part.start : part.place.body]) if part.place.ordinal else ()
        part.marker = heading[: len(heading) - len(part.title)]
        part.body = _keys(body_of(text, part))
        part.counts = Counter(part.words)
    return parts


def body_of(text: str, part: Part) -> str:
    """Return a part's own text, without heading or marker."""
    begin = max(part.start, min(part.place.body, part.end)) if part.place.ordinal else part.start
    return "\n".join([text[begin : part.end], *(text[start:end] for start, end in part.after)])


def _keys(text: str) -> tuple[str, ...]:
    return tuple(word.key for word in words_of(text))


def align(old: Sequence[Part], new: Sequence[Part]) -> dict[Part, Part]:
    """Return which parts of the new text correspond to which of the old one."""
    pairing = _Pairing(old, new)
    pairing.same_in_order()
    pairing.same_elsewhere()
    pairing.headed_alike()
    pairing.similar(_ALIKE)
    pairing.called_alike()
    pairing.similar(_RELATED)
    pairing.by_what_they_hold()
    pairing.called_the_same()
    return pairing.found


class _Pairing:
    def __init__(self, old: Sequence[Part], new: Sequence[Part]) -> None:
        self.found: dict[Part, Part] = {}
        self._taken: set[Part] = set()
        self._old, self._new = old, new
        # The documents themselves.
        self._pair(old[0], new[0])

    def _pair(self, old: Part, new: Part) -> None:
        self.found[old] = new
        self._taken.add(new)

    def _left(self) -> tuple[list[Part], list[Part]]:
        return (
            [part for part in self._old if part not in self.found],
            [part for part in self._new if part not in self._taken],
        )

    def same_in_order(self) -> None:
        """Pair parts with the same words, or if they have none, the same label, in order."""
        old, new = self._left()
        keys = [[part.words or (part.place.label,) for part in parts] for parts in (old, new)]
        matcher = difflib.SequenceMatcher(None, keys[0], keys[1], autojunk=False)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                self._pair(old[block.a + step], new[block.b + step])

    def same_elsewhere(self) -> None:
        """Pair parts with the same words in another position."""
        old, new = self._left()
        waiting: dict[tuple[str, ...], list[Part]] = defaultdict(list)
        for part in new:
            waiting[part.words].append(part)
        for part in old:
            same = waiting[part.words] if len(part.words) >= _FEW else []
            if same:
                # Of several, the one with the same name.
                chosen = next((other for other in same if other.place.label == part.place.label), same[0])
                same.remove(chosen)
                self._pair(part, chosen)

    def headed_alike(self) -> None:
        """Pair parts with the same label and title that no other part has."""
        sides: list[dict[tuple[str, tuple[str, ...]], list[Part]]] = [defaultdict(list), defaultdict(list)]
        for parts, named in zip((self._old, self._new), sides, strict=True):
            for part in parts:
                if part.place.label and part.title:
                    named[part.place.label, part.title].append(part)
        for name, (part, *others) in sides[0].items():
            match = sides[1][name]
            if not others and len(match) == 1 and part not in self.found and match[0] not in self._taken:
                self._pair(part, match[0])

    def similar(self, share: float) -> None:
        """Pair parts that share most words, the most similar first."""
        old, new = self._left()
        having: dict[str, list[Part]] = defaultdict(list)
        for part in new:
            for word in part.counts:
                having[word].append(part)
        pairs: list[tuple[float, bool, int, int, Part, Part]] = []
        for number, part in enumerate(old):
            shared: Counter[Part] = Counter()
            for word in part.counts:
                if len(having[word]) <= _COMMON:
                    shared.update(having[word])
            for other, _ in shared.most_common(_COMPARED):
                alike = likeness(part, other)
                if alike >= share:
                    pairs.append(
                        (-alike, part.place.label != other.place.label, number, len(pairs), part, other)
                    )
        for *_, part, other in sorted(pairs, key=lambda pair: pair[:4]):
            if part not in self.found and other not in self._taken:
                self._pair(part, other)

    def called_alike(self) -> None:
        """Pair parts with the same label or title and some words in common."""
        for part, other in self._namesakes():
            if likeness(part, other) >= _LABELLED:
                self._pair(part, other)

    def called_the_same(self) -> None:
        """Pair parts with the same label or title in the same position, whatever their words."""
        for part, other in self._namesakes():
            if part.parent and other.parent and self.found.get(part.parent) is other.parent:
                both_named = part.title and part.title == other.title
                if both_named or not (part.body and other.body):
                    self._pair(part, other)

    def _namesakes(self) -> Iterator[tuple[Part, Part]]:
        for name in (lambda part: part.place.label, lambda part: " ".join(part.title)):
            old, new = self._left()
            named: dict[str, list[Part]] = defaultdict(list)
            for other in new:
                named[name(other)].append(other)
            for part in old:
                for other in named[name(part)] if name(part) else ():
                    if part not in self.found and other not in self._taken:
                        yield part, other

    def by_what_they_hold(self) -> None:
        """Pair places that contain paired parts: a chapter with another title."""
        old, _ = self._left()
        held: dict[Part, Counter[Part]] = defaultdict(Counter)
        for part, other in self.found.items():
            if part.parent and other.parent:
                held[part.parent][other.parent] += 1
        for part in reversed(old):
            for other, count in held[part].most_common(1):
                if other not in self._taken and 2 * count > sum(held[part].values()):
                    self._pair(part, other)


def likeness(old: Part, new: Part) -> float:
    """Return the share of words that two parts have in common, from 0 to 1."""
    total = sum(old.counts.values()) + sum(new.counts.values())
    return 2 * sum((old.counts & new.counts).values()) / total if total else 0.0
