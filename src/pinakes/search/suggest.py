"""Suggest: titles, labels, headings and defined terms, as somebody types."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.text.folding import fold, lower

_MAX_PREFIX = 100
_MAX_DETAIL = 160


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to search for or to open: ``kind`` is ``title``, ``label`` or ``term``."""

    text: str
    kind: str
    source_path: str
    section_id: str
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON values."""
        return asdict(self)


class Suggestions:
    """Everything that can be suggested in one state of the library.

    What begins with the prefix comes first, then what has a word that does, then what holds it anywhere.
    """

    def __init__(self, generation: int, entries: Iterable[Suggestion]) -> None:
        self.generation = generation
        unique: dict[tuple[str, str, str, str], Suggestion] = {}
        for entry in entries:
            unique.setdefault((key_of(entry.text), entry.kind, entry.source_path, entry.section_id), entry)
        self._entries = list(unique.values())
        keys = [key[0] for key in unique]
        order = {"title": 0, "term": 1, "label": 2}
        self._begins = sorted(
            (key, order[entry.kind], number)
            for number, (key, entry) in enumerate(zip(keys, self._entries, strict=True))
        )
        self._words = sorted(
            (word, order[self._entries[number].kind], number)
            for number, key in enumerate(keys)
            for word in set(key.split()[1:])
        )
        # One long string is searched many times faster than many short ones.
        self._all = "\n".join(keys)
        self._starts: list[int] = []
        at = 0
        for key in keys:
            self._starts.append(at)
            at += len(key) + 1

    def find(self, prefix: str, limit: int, paths: Collection[str] | None = None) -> list[Suggestion]:
        """Return the best suggestions, those of other documents than ``paths`` left out."""
        key = key_of(prefix[:_MAX_PREFIX])
        if not key:
            return []
        found: dict[tuple[str, str], Suggestion] = {}
        for number in self._candidates(key):
            entry = self._entries[number]
            if paths is None or entry.source_path in paths:
                # The same words in many documents are one suggestion, unless it is a place that is meant.
                found.setdefault((entry.text.casefold(), entry.kind), entry)
                if len(found) == limit:
                    break
        return list(found.values())

    def _candidates(self, key: str) -> Iterator[int]:
        yield from _beginning(self._begins, key)
        yield from _beginning(self._words, key)
        if len(key) > 2:
            at = self._all.find(key)
            while at >= 0:
                number = _holding(self._starts, at)
                yield number
                at = self._all.find(key, at + 1)


def key_of(text: str) -> str:
    """Return a text as it is compared: whatever its case, accents and spaces."""
    return " ".join(fold(lower(text[:_MAX_PREFIX])).split())


def _beginning(rows: list[tuple[str, int, int]], key: str) -> Iterator[int]:
    for at in range(bisect_left(rows, (key,)), len(rows)):
        if not rows[at][0].startswith(key):
            return
        yield rows[at][2]


def _holding(starts: list[int], at: int) -> int:
    return bisect_left(starts, at + 1) - 1


class SuggestionCache:
    """Keeps the suggestions of the present state of the library."""

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._guard = threading.Lock()
        self._known: Suggestions | None = None

    def get(self) -> Suggestions:
        """Return the suggestions as they are now; while others read them anew, as they were."""
        known = self._known
        generation = self._index.record.generation()
        if known is not None and known.generation == generation:
            return known
        if known is not None and not self._guard.acquire(blocking=False):
            return known
        if known is None:
            self._guard.acquire()
        try:
            if self._known is None or self._known.generation != generation:
                self._known = Suggestions(generation, _read(self._index))
            return self._known
        finally:
            self._guard.release()


def _read(index: EmbeddedIndex) -> Iterator[Suggestion]:
    lookup = index.reading
    documents = {int(row["id"]): row for row in index.lookup.documents()}
    for row in documents.values():
        yield Suggestion(row["title"], "title", row["source_path"], "", row["doc_summary"][:_MAX_DETAIL])
    for term in lookup.terms():
        if term.document in documents:
            path = documents[term.document]["source_path"]
            yield Suggestion(term.term, "term", path, term.section_id, term.definition[:_MAX_DETAIL])
    headings = ((number, heading) for number, found in lookup.headings().items() for heading in found)
    for number, section in headings:
        if number not in documents:
            continue
        row = documents[number]
        if section.label:
            detail = f"{section.title} · {row['title']}" if section.title else row["title"]
            yield Suggestion(section.label, "label", row["source_path"], section.section_id, detail)
        if section.title and section.title != row["title"]:
            detail = f"{section.label} · {row['title']}" if section.label else row["title"]
            yield Suggestion(section.title, "label", row["source_path"], section.section_id, detail)
