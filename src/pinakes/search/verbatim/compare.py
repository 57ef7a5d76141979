"""Compare: what was added, removed, moved, renumbered or changed between two documents, with both places."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pinakes.model import Lines, Pages, ParsedDocument, Place
from pinakes.model.comparison import ADDED, CHANGED, MOVED, REMOVED, RENUMBERED, Comparison, Difference
from pinakes.model.document import line_of
from pinakes.model.quotes import TextPlace, WordChange
from pinakes.port.index import SearchIndex
from pinakes.search.verbatim.aligning import Part, align, body_of, parts_of
from pinakes.search.verbatim.sequences import longest_ascent
from pinakes.search.verbatim.words import WordText, word_changes


@dataclass(frozen=True, slots=True)
class Compared:
    """A document to compare, from a library or just read."""

    source_path: str
    title: str
    text: str
    body_start: int
    places: Sequence[Place]
    line_starts: Sequence[tuple[int, int]] = ()
    page_starts: Sequence[tuple[int, int]] = ()

    @classmethod
    def of_library(cls, index: SearchIndex, document: int) -> Compared:
        """Return a document of a library."""
        stored = index.lookup.texts([document])[0]
        return cls(
            stored.source_path,
            stored.title,
            stored.text,
            stored.body_start,
            index.lookup.places_of_document(document),
            index.lookup.line_starts(document),
            index.lookup.page_starts(document),
        )

    @classmethod
    def of_file(cls, parsed: ParsedDocument) -> Compared:
        """Return a document that was read from a file."""
        document = parsed.document
        return cls(
            document.source_path,
            document.title,
            document.text,
            document.body_start,
            parsed.places,
            document.line_starts,
            document.pages,
        )

    def cite(self, part: Part, *, whole: bool) -> TextPlace:
        """Return a part as a citation, with or without what is below it."""
        place = part.place
        start, end = part.start, max(part.end, place.end) if whole else part.end
        text = self.text[start:end]
        end = start + len(text.rstrip())
        holder = part
        while not holder.place.is_heading and holder.parent:
            holder = holder.parent
        lines = Lines(
            *(line_of(self.line_starts, self.text, 0, 1, at) for at in (start, max(start, end - 1)))
        )
        return TextPlace(
            self.source_path,
            self.title,
            place.section_id,
            place.label,
            holder.place.heading,
            lines,
            text.strip(),
            start,
            end,
            self._pages(start, end),
            place.place_id,
        )

    def _pages(self, start: int, end: int) -> Pages | None:
        if not self.page_starts:
            return None
        first, last = (
            max(0, bisect_right(self.page_starts, at, key=lambda page: page[0]) - 1)
            for at in (start, max(start, end - 1))
        )
        return Pages(self.page_starts[first][1], self.page_starts[last][1])


def compare(old: Compared, new: Compared) -> Comparison:
    """Return the differences between two documents in the order of the new one; removed parts come where they were."""
    before = parts_of(old.text, old.places, old.body_start)
    after = parts_of(new.text, new.places, new.body_start)
    pairs = align(before, after)
    moved = _moved(before, pairs)
    found: list[tuple[float, Difference]] = []
    same = 0
    order = {part: number for number, part in enumerate(after)}
    last = 0
    for part in before:
        other = pairs.get(part)
        if other is None:
            if part.parent is None or part.parent in pairs:
                found.append((last + 0.5, Difference(REMOVED, old.cite(part, whole=True))))
            continue
        last = order[other]
        if part in moved or (part.mark != other.mark and part.place.ordinal):
            kind = MOVED if part in moved else RENUMBERED
            cited = old.cite(part, whole=False), new.cite(other, whole=False)
            found.append((last, Difference(kind, *cited)))
        if part.words == other.words:
            same += bool(part.words)
        else:
            changes = _changes(old, new, part, other)
            cited = old.cite(part, whole=False), new.cite(other, whole=False)
            found.append((last, Difference(CHANGED, *cited, changes)))
    taken = set(pairs.values())
    found += [
        (number, Difference(ADDED, None, new.cite(part, whole=True)))
        for number, part in enumerate(after)
        if part not in taken and (part.parent is None or part.parent in taken)
    ]
    differences = [item for _, item in sorted(found, key=lambda entry: entry[0])]
    return Comparison(old.source_path, new.source_path, old.title, new.title, differences, same)


def _moved(before: Iterable[Part], pairs: dict[Part, Part]) -> set[Part]:
    """Return the parts that are under another parent now, or in another order."""
    moved: set[Part] = set()
    siblings: dict[Part, list[Part]] = defaultdict(list)
    for part in before:
        other = pairs.get(part)
        if other is None or part.parent is None:
            continue
        if other.parent is None or pairs.get(part.parent) is not other.parent:
            if part.parent in pairs:
                moved.add(part)
        else:
            siblings[part.parent].append(part)
    for children in siblings.values():
        kept = longest_ascent([pairs[child].start for child in children])
        moved.update(child for number, child in enumerate(children) if number not in kept)
    return moved


def _changes(old: Compared, new: Compared, part: Part, other: Part) -> list[WordChange]:
    """Return the words of two parts, same and different in turn."""
    first, second = _words(old, part), _words(new, other)
    return word_changes(first, second, (0, len(first.keys)), (0, len(second.keys)))


def _words(document: Compared, part: Part) -> WordText:
    """Return the title and text of a part, as words to compare."""
    title = f"{part.place.title}\n" if part.place.ordinal else ""
    return WordText(title + body_of(document.text, part))
