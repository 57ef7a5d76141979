"""Compare: what was added, removed, moved, renumbered or changed between two documents, with both places.

A paragraph that is divided into clauses, or a clause that is read as part of the one before, takes words from one place
to another, although hardly any was written or deleted: such places, which only one document has, are carried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from loccit.answers.verbatim.aligning import Part, align, body_of, parts_of
from loccit.answers.verbatim.passages import CitedText, Positions
from loccit.answers.verbatim.sequences import Opcode, longest_ascent, opcodes
from loccit.answers.verbatim.words import WordText, word_changes
from loccit.index.port.index import SearchIndex
from loccit.model import ParsedDocument, Place
from loccit.model.comparison import ADDED, CHANGED, MOVED, REMOVED, RENUMBERED, Comparison, Difference
from loccit.model.quotes import TextPlace, WordChange

# Fewer words in a row may be the same by chance.
_ROW = 5
# The share of a place's words that must stand elsewhere.
_MOST = 0.7
# What became of it may be this many times as long.
_LONGEST = 1.5
_COMPARED = 8
# So many words in a row are the same text, even if the place has others too.
_LONG = 20


@dataclass(slots=True, eq=False)
class Stretch:
    """The words of a place; its counterpart does not have the ``free`` ones, of which some are ``carried`` away."""

    part: Part
    words: WordText
    free: set[int] = field(default_factory=set)
    carried: set[int] = field(default_factory=set)

    def own(self, first: int, last: int) -> str:
        """Return the words of a span that do not stand elsewhere."""
        runs = [[*run] for away, run in groupby(range(first, last), self.carried.__contains__) if not away]
        return " … ".join(" ".join(self.words.stretch(run[0], run[-1] + 1).split()) for run in runs)

    def find(self, keys: Sequence[str]) -> int | None:
        """Return where some words begin that its counterpart does not have."""
        rest = self.free - self.carried
        return next(
            (
                at
                for at in sorted(rest)
                if self.words.keys[at : at + len(keys)] == keys and at + len(keys) - 1 in rest
            ),
            None,
        )


class Source(NamedTuple):
    """Words of a place that became those of another one, or the other way round."""

    stretch: Stretch
    first: int
    last: int


class Carried:
    """Finds the words of places among those that others have lost or gained."""

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        """Take the words among which to look."""
        self._rows: dict[tuple[str, ...], list[tuple[Stretch, int]]] = defaultdict(list)
        for stretch in stretches:
            for at in sorted(stretch.free):
                row = tuple(stretch.words.keys[at : at + _ROW])
                self._rows[row].append((stretch, at))

    def source(self, lone: Stretch, near: Stretch | None, beside: Collection[Part]) -> Source | None:
        """Return where most words of a place stand, and mark these there; None if they do not stand elsewhere.

        A few words are only looked for ``near`` it. Long runs that places ``beside`` it had are marked in any case.
        """
        found: dict[Stretch, list[tuple[int, int, int]]] = defaultdict(list)
        at, total = 0, len(lone.words.keys)
        if near and 0 < total < _ROW and (begin := near.find(lone.words.keys)) is not None:
            found[near], at = [(0, begin, total)], total
        while at < total:
            stretch, begin, size = self._longest(lone, at)
            if size:
                found[stretch].append((at, begin, size))
            at += size or 1
        for stretch, runs in found.items():
            most = sum(size for *_, size in runs) >= _MOST * total
            # A new heading above text that stays where it was is a new place.
            is_headed = 0 < len(lone.part.title) <= runs[0][0] and stretch.part in beside
            if most and not is_headed:
                return _source(lone, stretch, runs)
            for at, begin, size in runs if stretch.part in beside else ():
                if most or size >= _LONG:
                    lone.carried.update(range(at, at + size))
                    stretch.carried.update(range(begin, begin + size))
        return None

    def _longest(self, lone: Stretch, at: int) -> tuple[Stretch, int, int]:
        """Return the longest run that begins with a word of a place: where it stands, and its length."""
        sought, best = lone.words.keys, (lone, 0, 0)
        for stretch, begin in self._rows.get(tuple(sought[at : at + _ROW]), [])[:_COMPARED]:
            keys, size = stretch.words.keys, 0
            while (
                at + size < len(sought)
                and begin + size in stretch.free
                and begin + size not in stretch.carried
                and sought[at + size] == keys[begin + size]
            ):
                size += 1
            if size >= _ROW and size > best[2]:
                best = (stretch, begin, size)
        return best


def _source(lone: Stretch, stretch: Stretch, runs: Sequence[tuple[int, int, int]]) -> Source | None:
    """Return the words that became those of a place, given the runs that did not change."""
    (at, first, _), (end, last, _) = runs[0], runs[-1]
    # Words that were replaced before the first and after the last run belong to it.
    first, last = first - at, last + len(lone.words.keys) - end
    while first not in stretch.free:
        first += 1
    while last - 1 not in stretch.free:
        last -= 1
    if last - first > _LONGEST * len(lone.words.keys):
        return None
    # So does its marker, if that is read as text there.
    marker = len(lone.part.marker)
    before = (
        first - marker
        if tuple(stretch.words.keys[max(0, first - marker) : first]) == lone.part.marker
        else first
    )
    stretch.carried.update(range(before, last))
    return Source(stretch, first, last)


@dataclass(frozen=True, slots=True)
class Compared:
    """A document to compare, from a library or just read."""

    cited: CitedText
    body_start: int

    @classmethod
    def of_library(cls, index: SearchIndex, document: int) -> Compared:
        """Return a document of a library."""
        stored = index.lookup.texts([document])[0]
        return cls(CitedText.of(index, stored), stored.body_start)

    @classmethod
    def of_file(cls, parsed: ParsedDocument) -> Compared:
        """Return a document that was read from a file."""
        document, places = parsed.document, parsed.places
        positions = Positions(document.text, document.line_starts, document.pages)
        cited = CitedText(document.source_path, document.title, document.text, places, positions)
        return cls(cited, document.body_start)

    @property
    def source_path(self) -> str:
        """The path of the document."""
        return self.cited.source_path

    @property
    def title(self) -> str:
        """The title of the document."""
        return self.cited.title

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.cited.text

    @property
    def places(self) -> Sequence[Place]:
        """The places of the document."""
        return self.cited.places

    def cite(self, part: Part, *, whole: bool) -> TextPlace:
        """Return a part as a citation, with or without what is below it."""
        start, end = part.start, max(part.end, part.place.end) if whole else part.end
        text = self.text[start:end]
        found = self.cited.cite(start, start + len(text.rstrip()))
        return replace(found, text=text.strip())


def compare(old: Compared, new: Compared) -> Comparison:
    """Return the differences between two documents in the order of the new one; removed parts come where they were."""
    return _Comparing(old, new).comparison()


class _Comparing:
    """Two documents, which place corresponds to which, and the words that a place has lost or gained."""

    def __init__(self, old: Compared, new: Compared) -> None:
        self._old, self._new = old, new
        self._before = parts_of(old.text, old.places, old.body_start)
        self._after = parts_of(new.text, new.places, new.body_start)
        self._pairs = align(self._before, self._after)
        self._origins = {other: part for part, other in self._pairs.items()}
        self._lost = _stretches(old, self._before, self._pairs)
        self._gained = _stretches(new, self._after, self._origins)
        self._spans: dict[Part, list[Opcode]] = {}
        for part in self._pairs.keys() & self._lost.keys():
            lost, gained = self._lost[part], self._gained[self._pairs[part]]
            self._spans[part] = opcodes(lost.words.keys, gained.words.keys)
            for same, first, last, begin, end in self._spans[part]:
                if not same:
                    lost.free.update(range(first, last))
                    gained.free.update(range(begin, end))
        self._carried = self._find_carried()
        # Places with words in the other document, their own or those below them.
        carried = (each.part for each in (*self._lost.values(), *self._gained.values()) if each.carried)
        known = (*self._pairs, *self._origins, *self._carried, *carried)
        self._shared = {above for part in known for above in part.line}

    def _find_carried(self) -> dict[Part, Source]:
        """Return where in the other document the words of places are that have no counterpart."""
        found: dict[Part, Source] = {}
        for parts, lone, pairs, others in (
            (self._after, self._gained, self._origins, self._lost),
            (self._before, self._lost, self._pairs, self._gained),
        ):
            carried = Carried(others.values())
            for part, text in lone.items():
                if part not in pairs and not text.carried:
                    above = next(each for each in part.line if each in pairs)
                    beside = {pairs[each] for each in _near(part, parts, pairs)}
                    if source := carried.source(text, others.get(pairs[above]), beside):
                        found[part] = source
        return found

    def comparison(self) -> Comparison:
        order = {part: number for number, part in enumerate(self._after)}
        moved = _moved(self._before, self._pairs, order)
        found: list[tuple[float, Difference]] = []
        same, last = 0, 0
        for part in self._before:
            if part not in self._pairs:
                found += [(last + 0.5, item) for item in self._of_lone(part, self._pairs)]
                continue
            last = order[self._pairs[part]]
            told = list(self._of_pair(part, part in moved))
            found += [(last, item) for item in told]
            same += bool(part.words) and all(item.kind != CHANGED for item in told)
        for part in self._after:
            found += [(order[part], item) for item in self._of_lone(part, self._origins)]
        return Comparison(
            self._old.source_path,
            self._new.source_path,
            self._old.title,
            self._new.title,
            [item for _, item in sorted(found, key=lambda entry: entry[0])],
            same,
        )

    def _of_pair(self, part: Part, moved: bool) -> Iterator[Difference]:
        other = self._pairs[part]
        cited = self._old.cite(part, whole=False), self._new.cite(other, whole=False)
        # If the same is printed, only what it belongs to is read otherwise.
        if moved or (part.mark != other.mark and part.marker != other.marker):
            yield Difference(MOVED if moved else RENUMBERED, *cited)
        if part in self._spans:
            lost, gained = self._lost[part], self._gained[other]
            changes = [
                WordChange(words := lost.own(first, last), words if same else gained.own(begin, end))
                for same, first, last, begin, end in self._spans[part]
            ]
            if not all(change.same for change in changes):
                yield Difference(CHANGED, *cited, [change for change in changes if any(change)])

    def _of_lone(self, part: Part, pairs: Mapping[Part, Part]) -> Iterator[Difference]:
        """Return what there is to say about a place without a counterpart."""
        if part in pairs:
            return
        is_new = pairs is self._origins
        text = (self._gained if is_new else self._lost)[part]
        if part not in self._carried:
            # With all that is below it, unless some of that is also in the other document.
            whole = part not in self._shared
            lone = (self._new if is_new else self._old).cite(part, whole=whole)
            if text.carried:
                lone = replace(lone, text=text.own(0, len(text.words.keys)))
            if part.parent in self._shared and (whole or part.words) and lone.text:
                yield Difference(ADDED, None, lone) if is_new else Difference(REMOVED, lone)
            return
        source = self._carried[part]
        spans = [(source.stretch, source.first, source.last), (text, 0, len(text.words.keys))]
        (old, *before), (new, *after) = spans if is_new else reversed(spans)
        cited = self._old.cite(old.part, whole=False), self._new.cite(new.part, whole=False)
        if not self._in_place(old.part, new.part):
            yield Difference(MOVED, *cited)
        changes = word_changes(old.words, new.words, (before[0], before[1]), (after[0], after[1]))
        if not all(change.same for change in changes):
            yield Difference(CHANGED, *cited, changes)

    def _in_place(self, old: Part, new: Part) -> bool:
        """Whether words are still where they were: below the same place, or beside it."""
        near = {self._pairs[part] for part in _near(old, self._before, self._pairs)}
        below = old in self._pairs and self._pairs[old] in new.line
        return below or not near.isdisjoint(_near(new, self._after, self._origins))


def _near(part: Part, parts: Sequence[Part], pairs: Mapping[Part, Part]) -> list[Part]:
    """Return a place, or if it has no counterpart, those before and after it that have one."""
    if part in pairs:
        return [part]
    at = parts.index(part)
    sides = (reversed(parts[:at]), parts[at + 1 :])
    return [found for side in sides if (found := next((each for each in side if each in pairs), None))]


def _moved(before: Iterable[Part], pairs: Mapping[Part, Part], order: Mapping[Part, int]) -> set[Part]:
    """Return the parts that come in another order now, without those that moved together with what they are in."""
    paired = [part for part in before if part in pairs]
    kept = longest_ascent([order[pairs[part]] for part in paired])
    moved = {part for number, part in enumerate(paired) if number not in kept}
    return {
        part for part in moved if part.parent not in moved or pairs[part.parent] is not pairs[part].parent
    }


def _stretches(document: Compared, parts: Iterable[Part], pairs: Mapping[Part, Part]) -> dict[Part, Stretch]:
    """Return the words of parts without a counterpart, or with one that has other words."""
    found = {}
    for part in parts:
        if part not in pairs or part.words != pairs[part].words:
            title = f"{part.place.title}\n" if part.place.ordinal else ""
            words = WordText(title + body_of(document.text, part))
            found[part] = Stretch(part, words, set() if part in pairs else set(range(len(words.keys))))
    return found
