"""The exact leg: documents by name, places by number or title, and literal phrases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from loccit.config import SearchSettings
from loccit.grammar.labels import LEAF_KINDS, Label
from loccit.grammar.labels.names import FUNCTION_WORDS
from loccit.grammar.text.code_terms import query_code
from loccit.grammar.text.keys import title_key
from loccit.index.port.filters import among
from loccit.index.port.matching import DEPTH, TextSearch
from loccit.index.port.names import MOST
from loccit.index.port.records import Records
from loccit.model.document import Lines, span
from loccit.search.candidates import EXACT, RankedList
from loccit.search.place_evidence import PlaceEvidence, self_check_score
from loccit.search.resolve.numbered_lines import Line, clause_lines, line_at, lines_bearing
from loccit.search.resolve.places import (
    ResolvedPlace,
    Resolver,
    explains,
    is_bare,
    only_a_place,
    searched,
    titled,
    to_explain,
)
from loccit.search.retrieve.code import has_names
from loccit.search.retrieve.leg import Leg, Retrieved
from loccit.search.retrieve.missing import denied, names_in
from loccit.search.understand.query import content_words

# More sections or documents of one name than this are boilerplate, not an answer.
_MAX_TITLE_PINS = 5
_MAX_LISTED = 5  # documents that a note names
_MAX_PHRASE_WORDS = 8
# Chunks to check for identifiers that contain the query's identifier.
_LONGER_NAMES = 20
# A document begins with its title; its content starts in one of the first chunks.
_FIRST_CHUNKS = 3
# The score of a place that a question mentions, the share of it that its surroundings get, and their reach in letters.
_MENTIONED, _NEARBY, _NEAR = 100.0, 0.5, 400
# Numbers of versions have up to this many parts.
_VERSION = 3
# Sections that are read for a clause that was not recognised.
_MOST_HOLDERS = 50
# At least three digits, as parts, cases and orders are numbered; `H3K79me2` is a term.
_PART_NUMBER = re.compile(r"\d(?:[-_/]?\d){2}")
# `PEP 257`, `ISO 9001`: letters and a number that name one thing together.
_DESIGNATION = re.compile(r"[A-Z]{2,8} \d{1,6}")
# One word with a digit, an underscore, an inner capital, or a separator between its parts.
_IDENTIFIER = re.compile(r"(?=\S*(?:[\d_]|[a-z][A-Z]|\w(?:::|[./+#-])))[^\s\"]{2,80}")


class ExactLeg(Leg):
    """Finds what the query names: places, titles, phrases and identifiers."""

    name = EXACT

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return ``exact_weight``."""
        return settings.exact_weight

    def search(self, asked: Retrieved) -> RankedList:
        """Return what is named literally; notes and pins go to ``asked.exact``."""
        # Created for each search: the keyword index may have been rebuilt since.
        ExactSearch(self._index.lookup, self._index.keyword, asked).search()
        return asked.scope.keep(RankedList.of(EXACT, asked.exact.hits))


class ExactSearch:
    """Finds what one query names literally; notes, pins and hits go to ``asked.exact``."""

    def __init__(self, lookup: Records, text: TextSearch, asked: Retrieved) -> None:
        self._lookup = lookup
        self._text = text
        self._asked = asked
        self._out = asked.exact
        self._query = asked.query
        self._documents = asked.scope.documents
        self._resolver = Resolver(lookup, asked.scope.names)
        # No other leg runs, so plain words count as a phrase.
        self._alone = asked.settings.search_mode == EXACT
        # For a quotation alone, all occurrences are paged through.
        most = max(asked.settings.candidates, asked.settings.top_k)
        self._limit = DEPTH if asked.query.is_only_phrases else most

    def search(self) -> None:
        """Collect what the query names."""
        self._add_places()
        if self._query.is_only_names:
            self._add_documents()
        self._add_titles()
        if not self._out.pins:
            self._add_names()
        self._add_phrases()
        self._out.hits.sort(key=lambda hit: -hit[1])
        del self._out.hits[self._limit :]

    def _add_names(self) -> None:
        """Raise what has the codes of the query, and note which codes and names no document has."""
        out, query, languages = self._out, self._query, self._asked.scope.languages
        if not set(title_key(query.text).split()) - FUNCTION_WORDS and not content_words(query.text):
            out.missing.append(query.text)
            out.notes.append("The query has only words that nearly all texts have.")
        unknown = []
        corrected = {item.word for item in self._asked.corrections}
        # German nouns have capitals too.
        for name in names_in(query.rest, capitals="de" not in languages):
            hits, total = self._text.phrase(name, limit=self._limit, documents=self._documents)
            if _PART_NUMBER.search(name):
                # It can only be about the one document that has it.
                alone = (
                    total == len(hits)
                    and len(set(self._lookup.documents_of([hit[0] for hit in hits]).values())) == 1
                )
                for chunk, _ in hits:
                    out.add(chunk, _MENTIONED, 0.5 * alone, "mention" * alone)
            if not (total or name in corrected or self._text.frequency(name, languages)):
                unknown.append(name)
        if unknown:
            out.missing += unknown
            out.notes.append(f"No document mentions {' or '.join(f'“{name}”' for name in unknown)}.")

    # -- references ------------------------------------------------------------------------------------------

    def _add_places(self) -> None:
        query = self._query
        resolved = self._resolver.resolve_all(query, self._documents)
        bare, words = self._alone or is_bare(query), content_words(query.rest)
        others = to_explain(query) if bare else words
        asked = [item for item in resolved if bare or explains(item.found, words)]
        found = {item.label.text for item in resolved if not item.rest}
        checks = self._lookup.self_checks({item.found.document for item in asked})
        # Text before a place (an anchor, a line of the cover) may share its chunk.
        chunks = self._lookup.chunks_holding([_span(item) for item in resolved])
        # Of equally good places, the one that the other words of the query speak for comes first.
        tiers: dict[tuple[str, float], int] = {}
        looked_at: set[tuple[int, int]] = set()
        for position, item in enumerate(resolved):
            tier, own = tiers.setdefault((item.label.text, item.fit), len(tiers)), chunks[_span(item)]
            if item not in asked:
                self._add_mentioned(item, own)
                continue
            grounds = PlaceEvidence(
                bool(query.called),
                item.documents,
                item.places,
                alike=item.alike,
                explained=position >= _MAX_LISTED or self._explained(item, others),
                evidence=self_check_score(checks.get(item.found.document)),
            )
            if not item.rest:
                self._add_place(item, own, tier, grounds)
            elif len(looked_at) < _MOST_HOLDERS:
                looked_at.add((item.found.document, item.place.ordinal))
                if self._add_clause(item, own, tier, grounds):
                    found.add(item.label.text)
        unread = len(looked_at) == _MOST_HOLDERS
        unseen = {item.label.text for item in resolved if item.rest and unread}
        for label in query.references:
            if label.text not in found and (label.kind or bare or self._can_only_be_a_place(label)):
                self._add_missing(label, everywhere=label.text not in unseen, asked=bare)
        if len(query.references) == 1 and asked:
            self._out.notes += _several(resolved, query.references[0])

    def _add_mentioned(self, item: ResolvedPlace, chunks: Sequence[int]) -> None:
        """Raise a place that a question mentions, and what stands around it: the rest of the question decides."""
        place, document = item.place, item.found.document
        for chunk in chunks if not item.rest else ():
            self._out.add(chunk, _MENTIONED)
        near = (place.start - _NEAR, place.start), (place.end, place.end + _NEAR)
        for start, end in near if not item.rest and len(self._out.hits) < _MOST_HOLDERS else ():
            for chunk in self._lookup.chunk_ids_between(document, max(0, start), max(0, end)):
                self._out.add(chunk, _MENTIONED * _NEARBY)

    def _can_only_be_a_place(self, label: Label) -> bool:
        """Whether a number is written like those of places and its parent exists: `13.999`, given Part 13."""
        holder = label.shortened()
        return "-" in label.text or (
            (only_a_place(label) or len(label.number) > _VERSION)
            and holder is not None
            and self._lookup.is_numbered(holder.key)
        )

    def _explained(self, item: ResolvedPlace, words: Sequence[str]) -> bool:
        """Whether all other words of a query occur in the names of a place or anywhere in its document."""
        return explains(item.found, words) or self._has_words(item.found.document, words)

    def _has_words(self, document: int, words: Sequence[str]) -> bool:
        return all(
            self._text.phrase(word, limit=1, documents={document})[1] for word in words[:_MAX_PHRASE_WORDS]
        )

    def _add_missing(self, label: Label, *, everywhere: bool, asked: bool) -> None:
        """Add lines with the number of a place that was not recognised; if there are none, note that it is missing.

        ``everywhere``: all sections that could have such a clause were read for its number. ``asked``: the query asks
        for the place itself, so these lines go first.
        """
        out, query, documents = self._out, self._query, self._documents
        within = searched(query, documents)
        lines, all_seen = lines_bearing(label, self._lookup, self._text, within)
        out.missing.append(label.text)
        # A list item is no chapter, but what a line begins with is not said to be missing.
        other = next((line for line in lines if line.first and not line.alike), None)
        if other and (label.kind not in LEAF_KINDS or len(lines) > _MAX_LISTED):
            lines = [line for line in lines if line.alike and line.first]
        if not lines:
            called = " and ".join(f"“{name.text}”" for name in query.called)
            where = called if within is not documents else _searched(documents)
            out.notes.append(
                f"No {label.text} was found in {where}; {_place_of(other)} begins with its number."
                if other
                else self._said_missing(label, where, within, everywhere and all_seen)
            )
            return
        words = to_explain(query) if asked else content_words(query.rest)
        explained = {
            document: self._has_words(document, words) for document in {line.chunk.document for line in lines}
        }
        lines.sort(key=lambda line: not explained[line.chunk.document])
        first = lines[0]
        same = [
            _place_of(line)
            for line in lines[:_MAX_LISTED]
            if line.chunk.document == first.chunk.document and line.first and line.alike and not line.contents
        ]
        for position, line in enumerate(lines):
            if not asked:
                out.add(line.chunk.id, _MENTIONED - position / 100)
                continue
            out.lines.setdefault(line.chunk.id, line)
            pin = (0.85 if line.first else 0.75) - position / 10_000
            out.add(line.chunk.id, 80.0 - position / 100, pin, "line")
            out.grounds.setdefault(
                line.chunk.id,
                PlaceEvidence(
                    bool(query.called),
                    len(explained),
                    len(same),
                    explained=explained[line.chunk.document],
                    recognised=False,
                    printed=line.first and line.alike,
                ),
            )
        where = f"{', '.join(same) or _place_of(first)} of {first.chunk.document_title}"
        out.notes.append(
            f"{label.text} was not recognised as a place, but {where} "
            f"{'begin' if len(same) > 1 else 'begins'} with that number."
            if first.first and first.alike
            else f"No place is numbered {label.text}; {where} {'begins with it' if first.first else 'mentions it'}."
        )

    def _said_missing(
        self, label: Label, where: str, documents: Collection[int] | None, all_seen: bool
    ) -> str:
        """Say that a place is missing if its series shows it, else only that it was not found."""
        if not all_seen:
            return f"No {label.text} was found in {where}, though not every passage was looked at."
        sure, around = denied(label, self._lookup, documents)
        if sure:
            return f"There is no {label.text} in {where}."
        return f"No {label.text} was found in {where}{f'; the nearest: {around}' if around else ''}."

    def _add_place(
        self, resolved: ResolvedPlace, chunks: Sequence[int], tier: int, grounds: PlaceEvidence
    ) -> None:
        """Add the chunks of a place."""
        out = self._out
        if not chunks:
            return
        first, *others = chunks
        out.meant.setdefault(first, resolved.place)
        out.add(first, 100.0 - tier / 100, 1.0 - tier / 10_000, "section")
        out.grounds.setdefault(first, grounds)
        for number, chunk in enumerate(others):
            out.add(chunk, 50.0 - number / 100)

    def _add_clause(
        self, resolved: ResolvedPlace, chunks: Sequence[int], tier: int, grounds: PlaceEvidence
    ) -> bool:
        """Add the lines of a section that begin with the number of a clause that was not recognised as a place.

        If there are none, the section is only what comes closest.
        """
        out, place, document = self._out, resolved.place, resolved.found.document
        text = self._lookup.document_text(document, place.start, place.end)
        spans = [
            (place.start + start, place.start + end)
            for start, end in clause_lines(resolved.label, resolved.rest, text)[:_MAX_LISTED]
        ]
        holding = self._lookup.chunks_holding([(document, start, end) for start, end in spans])
        stored = self._lookup.chunks({chunk for held in holding.values() for chunk in held[:1]})
        lines = [
            line_at(stored[held[0]], start, self._lookup)
            for start, end in spans
            if (held := holding[document, start, end]) and held[0] in stored
        ]
        for number, line in enumerate(lines):
            out.lines.setdefault(line.chunk.id, line)
            out.add(line.chunk.id, 100.0 - tier / 100, 0.95 - (tier + number) / 10_000, "line")
            out.grounds.setdefault(line.chunk.id, replace(grounds, recognised=False, places=len(lines)))
        if lines:
            begin = "begins" if len(lines) == 1 else "begin"
            where = f"{', '.join(map(_place_of, lines))} of {place.name} in {resolved.found.document_title}"
            out.notes.append(
                f"{resolved.label.text} was not recognised as a place, but {where} {begin} with the number "
                f"{resolved.rest[-1]}."
            )
        elif chunks:
            out.add(chunks[0], _MENTIONED)
        return bool(lines)

    # -- documents -------------------------------------------------------------------------------------------

    def _add_documents(self) -> None:
        """A named document goes before what mentions it, if nothing else is asked for."""
        out = self._out
        named = sorted(among(self._query.named, self._documents))
        for document in named if len(named) <= _MAX_TITLE_PINS else []:
            root = self._lookup.place(document, 0)
            chunks = self._lookup.chunk_ids_between(document, 0, root.place.end + 1) if root else []
            if root and chunks:
                headers = self._lookup.headers(chunks[:_FIRST_CHUNKS])
                first = next((chunk for chunk in chunks[:_FIRST_CHUNKS] if chunk not in headers), chunks[0])
                out.meant.setdefault(first, root.place)
                out.add(first, 95.0, 1.2, "document")
                out.grounds.setdefault(first, PlaceEvidence(True, len(named), 1))

    # -- titles ----------------------------------------------------------------------------------------------

    def _add_titles(self) -> None:
        out, query, documents = self._out, self._query, self._documents
        if not query.title_key or (out.pins and query.references and not query.rest):
            # A heading such as `Section 2` alone adds nothing to the number.
            return
        found = titled(query.text, self._lookup, documents)
        if query.called and not (found or query.references):
            found = titled(query.rest, self._lookup, searched(query, documents))
        # A title that is the whole query is stronger than a reference that is a part of it: `Using Part 52`.
        surest = 1.1 if query.references and query.rest else 0.9
        first = [
            (item.place, chunks[0])
            for item in found
            if (chunks := self._lookup.chunk_ids_between(item.document, item.place.start, item.place.end))
        ]
        headers = self._lookup.headers({chunk for _, chunk in first})
        for place, chunk in first:
            out.meant.setdefault(chunk, place)
            # Of a chapter and its only article with the same title, people want the one with the text.
            has_text = chunk not in headers
            pin = surest - (0.0 if has_text else 0.01)
            out.add(chunk, 90.0 + has_text, pin if len(found) <= _MAX_TITLE_PINS else 0.0, "title")

    # -- phrases ---------------------------------------------------------------------------------------------

    def _add_phrases(self) -> None:
        out, query, limit, alone = self._out, self._query, self._limit, self._alone
        documents = self._documents
        # In a long question, what stands in quotes is quoted rather than asked for.
        others = len(content_words(query.text)) - sum(len(content_words(phrase)) for phrase in query.phrases)
        pinned = 0.8 if others <= _MAX_PHRASE_WORDS else 0.0
        phrases: Iterable[tuple[str, float]] = [(phrase, pinned) for phrase in query.phrases]
        if _IDENTIFIER.fullmatch(query.text) and not out.pins:
            self._add_identifier(query.text)
        if not query.phrases and (alone or 2 <= len(query.text.split()) <= _MAX_PHRASE_WORDS):
            phrases = [(query.text, 0.0)]
        for phrase, pin in phrases:
            hits, total = self._text.phrase(phrase, limit=limit, documents=documents)
            if pin or alone:
                out.total = (out.total or 0) + total
            if not total and (pin or (_DESIGNATION.fullmatch(phrase) and not out.pins)):
                out.missing.append(f"“{phrase}”")
                out.notes.append(f"No passage in {_searched(documents)} has “{phrase}”.")
            if not pin and not alone and len(content_words(phrase)) > 1:
                out.verbatim.update(chunk for chunk, _ in hits)
            for chunk, score in hits:
                out.add(chunk, min(score, 40.0), pin, "phrase" if pin else "")

    def _add_identifier(self, name: str) -> None:
        """An identifier that is the whole query is meant literally: `getAuthToken`, `E17`, `max_pressure_kpa`.

        If nothing has that name, identifiers that contain it come closest: `authToken`.
        """
        hits, _ = self._text.phrase(name, limit=self._limit, documents=self._documents)
        for chunk, score in hits:
            self._out.add(chunk, min(score, 40.0), 0.7, "identifier")
        if hits or not (names := query_code(name).names):
            return
        hits = self._text.search_code(name, limit=_LONGER_NAMES, documents=self._documents)
        stored = self._lookup.chunks([chunk for chunk, _ in hits])
        for chunk, score in hits:
            if chunk in stored and has_names(stored[chunk].content, names):
                self._out.add(chunk, min(score, 40.0), 0.6, "name")


def _place_of(line: Line) -> str:
    """Where a line is: `line 12`, `p. 3`."""
    return span(Lines(line.lines.first, line.lines.first), line.chunk.pages, line.chunk.source_path)


def _span(item: ResolvedPlace) -> tuple[int, int, int]:
    return item.found.document, item.place.start, item.place.end


def _searched(documents: Collection[int] | None) -> str:
    return "the library" if documents is None else "the documents searched"


def _several(resolved: Sequence[ResolvedPlace], label: Label) -> list[str]:
    """List the documents that have the place, so that the user can name one."""
    whole = [item for item in resolved if not item.rest]
    having = max((item.called_so for item in whole), default=0)
    what = f"{_article(label)}{label.text}"
    if having < 2:
        # Not called so, but numbered so.
        having = max((item.documents for item in whole), default=0)
        what = f"a place {'with the number of' if label.kind else 'numbered'} {label.text}"
    else:
        whole = [item for item in whole if item.is_called_so]
    titles = list(dict.fromkeys(item.found.document_title for item in whole))
    if having < 2 or len({item.found.document for item in whole}) < 2:
        return []
    more = having - min(len(titles), _MAX_LISTED)
    others = " and others" if having > MOST else f" and {more:,} more" if more > 0 else ""
    count = f"More than {MOST:,}" if having > MOST else f"{having:,}"
    return [f"{count} documents have {what}: {', '.join(titles[:_MAX_LISTED])}{others}; name one."]


def _article(label: Label) -> str:
    if not label.kind or not (label.text[:1].isalpha() and label.text[:1].isascii()):
        return ""
    return "an " if label.text[:1] in "AEIOaeio" else "a "
