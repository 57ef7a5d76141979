"""The exact leg: documents by name, places by number or title, and literal phrases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from loccit.config import SearchSettings
from loccit.labels import LEAF_KINDS, Label
from loccit.model.document import Lines, span
from loccit.port.filters import among
from loccit.port.matching import DEPTH, TextSearch
from loccit.port.names import MOST
from loccit.port.records import Records
from loccit.search.candidates import EXACT, RankedList
from loccit.search.query.names import NameIndex
from loccit.search.query.understand import Query, content_words
from loccit.search.retrieve.bearing import (
    Line,
    clause_lines,
    find_codes,
    has_points,
    line_at,
    lines_bearing,
    sections_with_code,
)
from loccit.search.retrieve.code import has_names
from loccit.search.retrieve.leg import ExactHits, Leg, Retrieved
from loccit.search.retrieve.missing import denied
from loccit.search.retrieve.resolve import (
    ResolvedPlace,
    Resolver,
    explains,
    is_meant,
    only_a_place,
    searched,
    titled,
)
from loccit.search.select.calibrate import Grounds, borne_out
from loccit.text.code_terms import query_code
from loccit.text.keys import title_key

# More sections or documents of one name than this are boilerplate, not an answer.
_MAX_TITLE_PINS = 5
_MAX_LISTED = 5  # documents that a note names
_MAX_PHRASE_WORDS = 8
# Chunks to check for identifiers that contain the query's identifier.
_LONGER_NAMES = 20
# A document begins with its title; its content starts in one of the first chunks.
_FIRST_CHUNKS = 3
# Sections that are read for a clause that was not recognised.
_MOST_HOLDERS = 50
# Letters and at least three consecutive digits in one word, as parts, cases and orders are numbered;
# `H3K79me2` is a term.
_PART_NUMBER = re.compile(
    r"(?<![\w./-])(?=[\w/-]*[A-Za-z])(?=[\w/-]*\d(?:[-_/]?\d){2})[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+){0,6}(?![\w/-])"
)
_MAX_PART_NUMBERS = 3
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
        settings, scope = asked.settings, asked.scope
        # Created for each search: the keyword index may have been rebuilt since.
        search = ExactSearch(self._index.lookup, self._index.keyword, scope.names)
        search.search(
            asked.exact,
            asked.query,
            # For a quotation alone, all occurrences are paged through.
            limit=DEPTH if asked.query.is_only_phrases else max(settings.candidates, settings.top_k),
            documents=scope.documents,
            alone=settings.search_mode == EXACT,
        )
        return scope.keep(RankedList.of(EXACT, asked.exact.hits))


class ExactSearch:
    """Finds what is named literally."""

    def __init__(self, lookup: Records, text: TextSearch, names: NameIndex | None = None) -> None:
        self._lookup = lookup
        self._text = text
        self._resolver = Resolver(lookup, names)

    def search(
        self, out: ExactHits, query: Query, *, limit: int, documents: Collection[int] | None, alone: bool
    ) -> None:
        """Collect what the query names. ``alone``: no other leg runs, so plain words count as a phrase."""
        self._add_places(out, query, documents, alone)
        if query.is_only_names:
            self._add_documents(out, query, documents)
        self._add_titles(out, query, documents)
        if not out.pins:
            self._add_codes(out, query, documents)
        self._add_phrases(out, query, limit, documents, alone)
        out.hits.sort(key=lambda hit: -hit[1])
        del out.hits[limit:]

    # -- references ------------------------------------------------------------------------------------------

    def _add_places(
        self, out: ExactHits, query: Query, documents: Collection[int] | None, alone: bool
    ) -> None:
        resolved = self._resolver.resolve_all(query, documents)
        meant = {item.label.text for item in resolved if alone or is_meant(item.label, query, item.found)}
        found = {item.label.text for item in resolved if not item.rest}
        words = content_words(query.rest)
        checks = self._lookup.self_checks({item.found.document for item in resolved})
        # Text before a place (an anchor, a line of the cover) may share its chunk.
        chunks = self._lookup.chunks_holding([_span(item) for item in resolved if item.label.text in meant])
        explained = [
            position >= _MAX_LISTED or self._explained(item, words) for position, item in enumerate(resolved)
        ]
        # Of equally good places, those whose documents have the other words of the query come first.
        order = sorted(range(len(resolved)), key=lambda at: (_tied(resolved, at), not explained[at]))
        looked_at: set[tuple[int, int]] = set()
        for position, at in enumerate(order):
            item = resolved[at]
            if item.label.text not in meant:
                continue
            grounds = Grounds(
                bool(query.called),
                item.documents,
                item.places,
                alike=item.alike,
                explained=explained[at],
                whole=not item.rest,
                evidence=borne_out(checks.get(item.found.document)),
            )
            if not item.rest:
                self._add_place(out, item, chunks[_span(item)], position, grounds)
            elif len(looked_at) < _MOST_HOLDERS:
                looked_at.add((item.found.document, item.place.ordinal))
                if self._add_clause(out, item, chunks[_span(item)], position, grounds):
                    found.add(item.label.text)
        unseen = (
            {item.label.text for item in resolved if item.rest} if len(looked_at) == _MOST_HOLDERS else set()
        )
        # `version 1.2` may look like a place; `Section 1.2`, or a number alone, is one.
        for label in query.references:
            if label.text not in found and (label.kind or not words or self._can_only_be_a_place(label)):
                self._add_missing(out, label, query, documents, everywhere=label.text not in unseen)
        if len(query.references) == 1:
            out.notes += _several(resolved, query.references[0])

    def _can_only_be_a_place(self, label: Label) -> bool:
        """Whether a number is written like those of places and its parent exists: `13.999`, given Part 13."""
        holder = label.shortened()
        return "-" in label.text or (
            only_a_place(label) and holder is not None and self._lookup.is_numbered(holder.key)
        )

    def _explained(self, item: ResolvedPlace, words: Sequence[str]) -> bool:
        """Whether all other words of a query occur in the names of a place or anywhere in its document."""
        return explains(item.found, words) or self._has_words(item.found.document, words)

    def _has_words(self, document: int, words: Sequence[str]) -> bool:
        return all(
            self._text.phrase(word, limit=1, documents={document})[1] for word in words[:_MAX_PHRASE_WORDS]
        )

    def _add_missing(
        self,
        out: ExactHits,
        label: Label,
        query: Query,
        documents: Collection[int] | None,
        *,
        everywhere: bool,
    ) -> None:
        """Add lines with the number of a place that was not recognised; if there are none, note that it is missing.

        ``everywhere``: all sections that could have such a clause were read for its number.
        """
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
        words = content_words(query.rest)
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
            out.lines.setdefault(line.chunk.id, line)
            pin = (0.85 if line.first else 0.75) - position / 10_000
            out.add(line.chunk.id, 80.0 - position / 100, pin, "line")
            out.grounds.setdefault(
                line.chunk.id,
                Grounds(
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
        self,
        out: ExactHits,
        resolved: ResolvedPlace,
        chunks: Sequence[int],
        position: int,
        grounds: Grounds,
    ) -> None:
        """Add the chunks of a place."""
        if not chunks:
            return
        first, *others = chunks
        out.meant.setdefault(first, resolved.place)
        # The order of readings decides between equally sure places.
        out.add(first, 100.0 - position / 100, 1.0 - position / 10_000, "section")
        out.grounds.setdefault(first, grounds)
        for number, chunk in enumerate(others):
            out.add(chunk, 50.0 - number / 100)

    def _add_clause(
        self,
        out: ExactHits,
        resolved: ResolvedPlace,
        chunks: Sequence[int],
        position: int,
        grounds: Grounds,
    ) -> bool:
        """Add the lines of a section that begin with the number of a clause that was not recognised as a place.

        If there are none, the section is what comes closest only where nothing else could have the clause.
        """
        place, document = resolved.place, resolved.found.document
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
            out.add(line.chunk.id, 100.0 - position / 100, 0.95 - (position + number) / 10_000, "line")
            out.grounds.setdefault(
                line.chunk.id, replace(grounds, whole=True, recognised=False, places=len(lines))
            )
        if lines:
            begin = "begins" if len(lines) == 1 else "begin"
            where = f"{', '.join(map(_place_of, lines))} of {place.name} in {resolved.found.document_title}"
            out.notes.append(
                f"{resolved.label.text} was not recognised as a place, but {where} {begin} with the number "
                f"{resolved.rest[-1]}."
            )
        elif (
            chunks
            and resolved.documents == resolved.places == 1
            and grounds.explained
            and not has_points(resolved.label, resolved.rest)
        ):
            out.meant.setdefault(chunks[0], place)
            out.add(chunks[0], 100.0 - position / 100, 0.95 - position / 10_000, "holder")
            out.grounds.setdefault(chunks[0], grounds)
        return bool(lines)

    # -- documents -------------------------------------------------------------------------------------------

    def _add_documents(self, out: ExactHits, query: Query, documents: Collection[int] | None) -> None:
        """A named document goes before what mentions it, if nothing else is asked for."""
        named = sorted(among(query.named, documents))
        for document in named if len(named) <= _MAX_TITLE_PINS else []:
            root = self._lookup.place(document, 0)
            chunks = self._lookup.chunk_ids_between(document, 0, root.place.end + 1) if root else []
            if chunks:
                headers = self._lookup.headers(chunks[:_FIRST_CHUNKS])
                first = next((chunk for chunk in chunks[:_FIRST_CHUNKS] if chunk not in headers), chunks[0])
                out.add(first, 95.0, 1.2, "document")
                out.grounds.setdefault(first, Grounds(True, len(named), 1))

    # -- titles ----------------------------------------------------------------------------------------------

    def _add_titles(self, out: ExactHits, query: Query, documents: Collection[int] | None) -> None:
        if not query.title_key or (out.pins and query.references and not query.rest):
            # A heading such as `Section 2` alone adds nothing to the number.
            return
        found = titled(query.text, self._lookup, documents)
        if query.called and not (found or query.references):
            found = titled(query.rest, self._lookup, searched(query, documents))
        # A title that is the whole query is stronger than a reference that is a part of it: `Using Part 52`.
        surest = 1.1 if query.references and query.rest else 0.9
        for item in found:
            chunks = self._lookup.chunk_ids_between(item.document, item.place.start, item.place.end)
            if chunks:
                # Of a chapter and its only article with the same title, people want the one with the text.
                has_text = not self._is_header(chunks[0])
                pin = surest - (0.0 if has_text else 0.01)
                out.add(chunks[0], 90.0 + has_text, pin if len(found) <= _MAX_TITLE_PINS else 0.0, "title")

    def _add_codes(self, out: ExactHits, query: Query, documents: Collection[int] | None) -> None:
        """Headings that begin with a code in the query: `V5.2 of the verification standard`."""
        within = searched(query, documents)
        words = content_words(query.rest)
        for code in find_codes(query.rest):
            found = sections_with_code(code, self._lookup, within)
            parts = set(title_key(code).split())
            others = [word for word in words if word not in parts]
            several = len({item.document for item in found})
            for position, item in enumerate(found):
                chunks = self._lookup.chunk_ids_between(item.document, item.place.start, item.place.end)
                explained = explains(item, others)
                if not chunks or not (explained or len(others) < len(parts)):
                    continue
                out.add(chunks[0], 90.0 - position / 100, 0.9 - position / 10_000, "code")
                out.grounds.setdefault(
                    chunks[0], Grounds(bool(query.called), several, len(found), explained=explained)
                )

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
        elif not out.pins and not alone:
            self._add_mentions(out, query, limit, documents)
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

    def _add_mentions(
        self, out: ExactHits, query: Query, limit: int, documents: Collection[int] | None
    ) -> None:
        """An identifier in a sentence pins the only document that contains it: `the fuse of the XK-7719`."""
        for name in dict.fromkeys(_PART_NUMBER.findall(query.rest)[:_MAX_PART_NUMBERS]):
            hits, total = self._text.phrase(name, limit=limit, documents=documents)
            owners = set(self._lookup.documents_of([chunk for chunk, _ in hits]).values())
            if total == len(hits) and len(owners) == 1:
                for chunk, score in hits:
                    out.add(chunk, min(score, 40.0), 0.5, "mention")

    def _add_identifier(
        self, out: ExactHits, name: str, limit: int, documents: Collection[int] | None
    ) -> None:
        """An identifier that is the whole query is meant literally: `getAuthToken`, `E17`, `max_pressure_kpa`.

        If nothing has that name, identifiers that contain it come closest: `authToken`.
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


def _tied(resolved: Sequence[ResolvedPlace], at: int) -> int:
    """Where the equally good places for the same reference begin that one of them is among."""
    while at and resolved[at - 1].label is resolved[at].label and resolved[at - 1].fit == resolved[at].fit:
        at -= 1
    return at


def _article(label: Label) -> str:
    if not label.kind or not (label.text[:1].isalpha() and label.text[:1].isascii()):
        return ""
    return "an " if label.text[:1] in "AEIOaeio" else "a "
