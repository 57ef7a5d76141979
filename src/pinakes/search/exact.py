"""The exact leg: sections by number or title, and phrases, word for word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from pinakes.model import Clause, Section
from pinakes.search.meant import is_meant, naming
from pinakes.search.understand import Query
from pinakes.search.within import has_names
from pinakes.stores.embedded.lookup import Lookup, StoredClause, StoredSection
from pinakes.stores.protocol import TextSearch
from pinakes.text.code_query import query_code
from pinakes.text.labels import LEAF_KINDS, Label

# More sections than this of the same name are a habit of the author, not an answer.
_MAX_TITLE_PINS = 5
_MAX_PHRASE_WORDS = 8
# Chunks that are looked into for names that have the query's name in them.
_LONGER_NAMES = 20
# One word with a digit, an underscore, a capital inside, or a mark between its parts.
_IDENTIFIER = re.compile(r"(?=\S*(?:[\d_]|[a-z][A-Z]|\w(?:::|[./+#-])))[^\s\"]{2,80}")


@dataclass(slots=True)
class ExactHits:
    """Chunks that the query names. ``clauses`` says which part of a chunk is meant, where it is only a part.

    ``pins`` are those that go first, with how surely they are meant; ``total`` counts the chunks that hold a
    phrase; ``missing`` are places that the query names and no document has.
    """

    hits: list[tuple[int, float]] = field(default_factory=list)
    pins: dict[int, tuple[float, str]] = field(default_factory=dict)
    total: int | None = None
    missing: list[str] = field(default_factory=list)
    clauses: dict[int, StoredClause] = field(default_factory=dict)
    _known: set[int] = field(default_factory=set)

    def add(self, chunk: int, score: float, pin: float = 0.0, reason: str = "") -> None:
        """Take a chunk in unless it is there already; the surest reason counts."""
        if pin > self.pins.get(chunk, (0.0, ""))[0]:
            self.pins[chunk] = (pin, reason)
        if chunk not in self._known:
            self._known.add(chunk)
            self.hits.append((chunk, score))


@dataclass(frozen=True, slots=True)
class ResolvedSection:
    """A section or clause that a reference leads to; ``rest`` is what the tree could not follow."""

    found: StoredSection | StoredClause
    label: Label
    rest: tuple[str, ...]
    fit: float

    @property
    def place(self) -> Section | Clause:
        """What was found, without its document."""
        return self.found.clause if isinstance(self.found, StoredClause) else self.found.section


class ExactSearch:
    """Finds what is named literally."""

    def __init__(self, lookup: Lookup, text: TextSearch) -> None:
        self._lookup = lookup
        self._text = text

    def search(
        self, out: ExactHits, query: Query, *, limit: int, documents: Collection[int] | None, alone: bool
    ) -> None:
        """Collect what the query names. ``alone``: no other leg searches, so plain words count as a phrase."""
        resolved = self.resolve_all(query, documents)
        meant = {item.label.text for item in resolved if alone or is_meant(item.label, query, item.found)}
        for position, item in enumerate(resolved):
            if item.label.text in meant:
                self._add_section(out, item, position)
        found = {item.label.text for item in resolved if not item.rest}
        # `version 1.2` may look like a place; `Section 1.2`, or a number alone, is meant as one.
        named = [label for label in query.references if label.kind or not query.rest or "-" in label.text]
        out.missing = [label.text for label in named if label.text not in found]
        self._add_titles(out, query, documents)
        self._add_phrases(out, query, limit, documents, alone)
        out.hits.sort(key=lambda hit: -hit[1])
        del out.hits[limit:]

    # -- references ------------------------------------------------------------------------------------------

    def resolve_all(self, query: Query, documents: Collection[int] | None) -> list[ResolvedSection]:
        """Return the sections that a query's references lead to, the best first for each reference."""
        per_label = [self.resolve(label, query.rest, documents) for label in query.references]
        if len(per_label) > 1:
            per_label = _narrow_to_containers(per_label)
        return [resolved for found in per_label for resolved in found]

    def resolve(
        self, label: Label, words: str = "", documents: Collection[int] | None = None
    ) -> list[ResolvedSection]:
        """Follow a reference as deep as the section tree goes: ``4.2(a)`` leads at least to ``4.2``."""
        rest: tuple[str, ...] = ()
        current: Label | None = label
        while current is not None:
            found: list[StoredSection | StoredClause] = [
                *self._lookup.sections_by_number(current.key, documents),
                *self._lookup.clauses_by_number(current.key, documents),
            ]
            found = [item for item in found if _kinds_agree(current.kind, _kind(item))]
            if found:
                ranked = [
                    ResolvedSection(item, current, rest, _kind_fit(current.kind, item) + naming(item, words))
                    for item in found
                ]
                ranked.sort(key=lambda item: -item.fit)
                # `Article 4 GDPR` is not also section 4 of a manual.
                best = [item for item in ranked if item.fit > ranked[0].fit - 1.0]
                return _keep_best_kind(best)
            if not label.kind and "(" not in label.text:
                # `python 3.10` is not section 3; only what names a part of a section leads to the section.
                return []
            rest = (*current.number[-1:], *rest)
            current = current.shortened()
        return []

    def _add_section(self, out: ExactHits, resolved: ResolvedSection, position: int) -> None:
        found, place = resolved.found, resolved.place
        chunks = self._lookup.chunk_ids_between(found.document, place.start, place.end)
        if isinstance(found, StoredClause):
            holder = self._lookup.chunk_at(found.document, place.start)
            chunks = [holder[0], *(chunk for chunk in chunks if chunk != holder[0])] if holder else chunks
        if not chunks:
            return
        first = chunks[0]
        if isinstance(found, StoredClause):
            out.clauses.setdefault(first, found)
        elif resolved.rest:
            first = self._clause_chunk(chunks, resolved.rest)
        # The order of the readings counts, within the surest first.
        pin = (1.0 if not resolved.rest else 0.95) - position / 10_000
        out.add(first, 100.0 - position / 100, pin, "section" if not resolved.rest else "holder")
        for number, chunk in enumerate(chunks):
            if chunk != first:
                out.add(chunk, 50.0 - number / 100)

    def _clause_chunk(self, chunks: Sequence[int], rest: tuple[str, ...]) -> int:
        """Find the chunk in which the clause marks of ``rest`` stand, in order."""
        stored = self._lookup.chunks(chunks[:50])
        marks = [re.compile(rf"(?m)^\W{{0,6}}\(?{re.escape(part)}[.)]", re.IGNORECASE) for part in rest]
        pending = list(marks)
        best = chunks[0]
        for chunk in chunks[:50]:
            while pending and chunk in stored and pending[0].search(stored[chunk].content):
                best = chunk
                pending.pop(0)
            if not pending:
                break
        return best

    # -- titles ----------------------------------------------------------------------------------------------

    def _add_titles(self, out: ExactHits, query: Query, documents: Collection[int] | None) -> None:
        if not query.title_key:
            return
        found = self._lookup.sections_by_title(query.title_key, documents)
        # A title that is the whole query says more than a reference that is a part of it: `Using Part 52`.
        surest = 1.1 if query.references and query.rest else 0.9
        for item in found:
            chunks = self._lookup.chunk_ids_between(item.document, item.section.start, item.section.end)
            if chunks:
                # Of a chapter and its only article of the same name, people want the one with the text.
                has_text = not self._is_header(chunks[0])
                pin = surest - (0.0 if has_text else 0.01)
                out.add(chunks[0], 90.0 + has_text, pin if len(found) <= _MAX_TITLE_PINS else 0.0, "title")

    def _is_header(self, chunk: int) -> bool:
        stored = self._lookup.chunks([chunk]).get(chunk)
        return stored is not None and stored.chunk_type == "header"

    # -- phrases ---------------------------------------------------------------------------------------------

    def _add_phrases(
        self, out: ExactHits, query: Query, limit: int, documents: Collection[int] | None, alone: bool
    ) -> None:
        phrases: Iterable[tuple[str, float]] = [(phrase, 0.8) for phrase in query.phrases]
        if _IDENTIFIER.fullmatch(query.text) and not out.pins:
            self._add_identifier(out, query.text, limit, documents)
        if not query.phrases and (alone or 2 <= len(query.text.split()) <= _MAX_PHRASE_WORDS):
            phrases = [(query.text, 0.0)]
        for phrase, pin in phrases:
            hits, total = self._text.phrase(phrase, limit=limit, documents=documents)
            if pin or alone:
                out.total = (out.total or 0) + total
            if pin and not total:
                out.missing.append(f"“{phrase}”")
            for chunk, score in hits:
                out.add(chunk, min(score, 40.0), pin, "phrase" if pin else "")

    def _add_identifier(
        self, out: ExactHits, name: str, limit: int, documents: Collection[int] | None
    ) -> None:
        """A name that is the whole query is meant as it is written: `getAuthToken`, `E17`, `max_pressure_kpa`.

        Where nothing is called so, names that it is a part of are what comes nearest: `authToken`.
        """
        hits, _ = self._text.phrase(name, limit=limit, documents=documents)
        for chunk, score in hits:
            out.add(chunk, min(score, 40.0), 0.7, "identifier")
        if hits or not (names := query_code(name).names):
            return
        hits = self._text.search_code(name, limit=_LONGER_NAMES, documents=documents)
        stored = self._lookup.chunks([chunk for chunk, _ in hits])
        for chunk, score in hits:
            if chunk in stored and has_names(stored[chunk].content, names):
                out.add(chunk, min(score, 40.0), 0.6, "name")


def _kinds_agree(asked: str, printed: str) -> bool:
    """People say section, article and clause for one another, but not for a chapter."""
    return asked == printed or (asked in LEAF_KINDS and printed in LEAF_KINDS)


def _kind(found: StoredSection | StoredClause) -> str:
    return found.clause.kind if isinstance(found, StoredClause) else found.section.kind


def _kind_fit(asked: str, found: StoredSection | StoredClause) -> float:
    """Prefer the very kind, and a heading to a numbered paragraph."""
    heading = 0.5 if isinstance(found, StoredSection) else 0.0
    if asked == _kind(found):
        return 4.0 + heading
    return (2.0 if not asked or not _kind(found) else 0.0) + heading


def _keep_best_kind(ranked: list[ResolvedSection]) -> list[ResolvedSection]:
    """Within one document only the best reading of a reference is kept: `Article 1`, not also `Section 1`."""
    best: dict[int, float] = {}
    for item in ranked:
        best.setdefault(item.found.document, item.fit)
    return [item for item in ranked if item.fit == best[item.found.document]]


def _narrow_to_containers(per_label: list[list[ResolvedSection]]) -> list[list[ResolvedSection]]:
    """Read `chapter 2, section 1` as the section inside that chapter, when there is one."""
    everything = [item for found in per_label for item in found]
    inside = [
        item
        for item in everything
        if any(_contains(outer, item) for outer in everything if outer is not item)
    ]
    if not inside:
        return per_label
    containers = {id(outer) for outer in everything if any(_contains(outer, item) for item in inside)}
    rest = [item for item in everything if item not in inside and id(item) not in containers]
    return [inside, [item for item in everything if id(item) in containers], rest]


def _contains(outer: ResolvedSection, inner: ResolvedSection) -> bool:
    return (
        outer.found.document == inner.found.document
        and outer.place is not inner.place
        and outer.place.start <= inner.place.start
        and inner.place.end <= outer.place.end
        and (outer.place.start, outer.place.end) != (inner.place.start, inner.place.end)
    )
