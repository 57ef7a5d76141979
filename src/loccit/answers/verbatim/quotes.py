"""Quotes: whether documents contain what is quoted, word for word, in the place cited; if not, the nearest passage."""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from loccit.answers.verbatim.cited_places import Citation, CitationReader, Region, says_name, unknown_words
from loccit.answers.verbatim.counting import count_phrase, documents_holding
from loccit.answers.verbatim.find_all import only_some, passing_documents, unseen_documents
from loccit.answers.verbatim.passages import CitedText
from loccit.answers.verbatim.quotations import (
    FEWEST_WORDS,
    LONGEST,
    Quoted,
    plain,
    quotation_of,
    quotations_in,
    readings,
)
from loccit.answers.verbatim.words import WordText, word_changes, words_of
from loccit.config.bounds import LONGEST_QUOTATION, check_text
from loccit.config.bounds import MOST_QUOTATIONS as MOST
from loccit.errors import UsageError
from loccit.grammar.text.verbatim import verbatim_form
from loccit.index.port.filters import among
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredChunk, StoredText
from loccit.index.port.texts import TextBlock
from loccit.model.quotes import (
    ABSENT,
    ABSENT_HINT,
    ALTERED,
    ELSEWHERE,
    EXACT,
    NOT_SAID,
    RIGHT,
    QuoteCheck,
    QuotesReport,
    TextPlace,
    WordChange,
)
from loccit.search.understand.filters import NO_DOCUMENT

_SHOWN = 3
_NAMED = 40
_COUNTED = 20
# The number of words that an ellipsis may stand for.
_OMITTED = 600
# Chunks in which the nearest passage is looked for.
_NEAREST = 32
# Consecutive words used to find documents that keyword search ranks lower, and how many of these are checked.
_ROW = 3
_HOLDING = 8
# An altered quotation has this share of its words, and of their letters, in order in a passage, and covers
# this share of the passage.
_SHARED = 0.6
_COVERED = 0.5
_BRIEF = 6
_KEPT_CHARACTERS = 40_000_000
# Shorter words occur everywhere; of the others, the longest say most.
_SHORT = 3
_ASKED = 6
# Longer quotations are compared in parts.
_COMPARED = 5000
# In so many documents a place is looked for if the citation names none of them.
_FOLLOWED = 50
# This few documents are read without looking up more words.
_FEW = 20


def verify_quotes(
    index: SearchIndex,
    quotations: str | Sequence[str],
    *,
    filters: Mapping[str, object] | None = None,
) -> QuotesReport:
    """Check quotations, or those in a text, with what is cited beside them, against documents that pass the filters."""
    allowed = passing_documents(index, filters)
    verifier = _Verifier(index, allowed)
    short, long = 0, []
    if isinstance(quotations, str):
        found, short = quotations_in(quotations)
        quoted = [one for one in found if len(one.text) <= LONGEST]
        long = [f"“{one.text[:_NAMED]}…”" for one in found if len(one.text) > LONGEST]
    else:
        entries = list(quotations)
        if not 0 < len(entries) <= MOST:
            raise UsageError(f"There must be 1 to {MOST:,} quotations, not {len(entries):,}.")
        for entry in entries:
            check_text("each of quotations", entry, LONGEST_QUOTATION)
        quoted = [verifier.read(entry) for entry in entries]
    checks = [verifier.check(one) for one in quoted[:MOST]]
    notes = []
    if short:
        notes.append(f"{short} of fewer than {FEWEST_WORDS} words were not checked.")
    if long:
        named = ", ".join(long[:_SHOWN]) + (f" and {len(long) - _SHOWN} more" if len(long) > _SHOWN else "")
        notes.append(f"Not checked, because they are longer than {LONGEST:,} characters: {named}.")
    if len(quoted) > MOST:
        notes.append(f"Only the first {MOST:,} quotations were checked.")
    if any(check.status == ABSENT for check in checks):
        some = NO_DOCUMENT if allowed is not None and not allowed else only_some(allowed)
        notes += [ABSENT_HINT, *filter(None, (some, index.missing))]
    return QuotesReport(checks, short + len(long) + max(0, len(quoted) - MOST), " ".join(notes))


class _Verifier:
    """Checks quotations one after another; documents read for one are reused for the next."""

    def __init__(self, index: SearchIndex, allowed: set[int] | None) -> None:
        self._index = index
        self._allowed = allowed
        self._languages = list(index.lookup.languages())
        self._texts: dict[int, tuple[StoredText, WordText]] = {}
        self._documents: dict[int, CitedText] = {}
        self._reader = CitationReader(index)
        self._size = 0

    def read(self, entry: str) -> Quoted:
        """Return an entry of a list; one that documents have so, such as ``“Quay” (Section 2)``, cites nothing."""
        quoted = quotation_of(entry)
        return Quoted(entry) if quoted.cited and self._holds(entry) else quoted

    def check(self, quoted: Quoted) -> QuoteCheck:
        quotation = quoted.text
        meant = readings(quotation)
        if not meant:
            raise UsageError(f"The quotation {quotation[:_NAMED]!r} has no words.")
        citation = self._reader.read(quoted.cited) if quoted.cited else None
        words = WordText(plain(quotation))
        near = self._near(words)
        for pieces in meant:
            documents = self._candidates(words, pieces, near)
            there = self._in_cited_place(pieces, citation, documents) if citation else None
            found = self._everywhere(pieces, documents)
            if there or found:
                found = [there, *(place for place in found if place != there)] if there else found
                places = [self._place(*place) for place in found[:_SHOWN]]
                check = QuoteCheck(quotation, EXACT, places, len(found) - len(places))
                return self._judged(check, citation, found[0], right=there is not None)
        if len(quotation) > _COMPARED:
            return self._in_parts(quoted)
        check, best = self._nearest(quotation, words, near)
        if best is None or citation is None:
            return replace(check, cited=quoted.cited)
        return self._judged(check, citation, best, right=self._is_there(citation, best))

    def _in_parts(self, quoted: Quoted) -> QuoteCheck:
        """Return what differs in a quotation that is too long to be compared in one piece."""
        parts = textwrap.wrap(quoted.text, _COMPARED, break_on_hyphens=False)
        checks = [self.check(Quoted(part)) for part in parts if words_of(part)]
        wrong = [check for check in checks if check.status != EXACT] or checks
        changes = [
            change
            for check in wrong
            for change in check.changes or [WordChange(check.quotation, "")]
            if check.status != EXACT
        ]
        places = [check.places[0] for check in wrong if check.places]
        status = ALTERED if any(check.places for check in checks) else ABSENT
        more = max(0, len(places) - _SHOWN)
        return QuoteCheck(quoted.text, status, places[:_SHOWN], more, changes, cited=quoted.cited)

    def _near(self, quoted: WordText) -> list[StoredChunk]:
        """Return the chunks that share most words with a quotation, or with its beginning."""
        hits = self._index.keyword.search(
            quoted.text[:_COMPARED], languages=self._languages, limit=_NEAREST, documents=self._allowed
        )
        return list(self._index.lookup.chunks([chunk for chunk, _ in hits]).values())

    # -- the cited place -------------------------------------------------------------------------------------

    def _in_cited_place(
        self, pieces: list[list[str]], citation: Citation, documents: Sequence[int]
    ) -> tuple[int, int, int] | None:
        """Return where runs of words follow one another within the place that is cited."""
        for document in self._cited_documents(citation, documents)[:_FOLLOWED]:
            region = self._region(citation, document)
            if region is None:
                continue
            _, text = self._text(document)
            for start, end in region.spans:
                for first, last in _occurrences(text, pieces, text.number_from(start)):
                    if text.words[last - 1].end > end:
                        break
                    return document, first, last
            if found := self._called_so(pieces, citation, document):
                return found
        return None

    def _called_so(
        self, pieces: list[list[str]], citation: Citation, document: int
    ) -> tuple[int, int, int] | None:
        """Return the occurrence whose place is written in a citation as we write it: ``Introduction – Methods``."""
        _, text = self._text(document)
        region = self._region(replace(citation, names=(), besides=(), parts=()), document)
        for start, end in region.spans if region else []:
            for first, last in islice(_occurrences(text, pieces, text.number_from(start)), _COUNTED):
                if text.words[last - 1].end > end:
                    break
                if says_name(citation.text, self._cited(document).name(*text.span(first, last))):
                    return document, first, last
        return None

    def _cited_documents(self, citation: Citation, documents: Sequence[int]) -> list[int]:
        """Return the documents in which to look for the cited place."""
        if citation.documents is None:
            return [] if citation.missing else list(documents)
        return sorted(document for document in citation.documents if self._may_see(document))

    def _may_see(self, document: int) -> bool:
        return self._allowed is None or document in self._allowed

    def _region(self, citation: Citation, document: int) -> Region | None:
        return self._reader.region(citation, document, self._cited(document))

    def _is_there(self, citation: Citation, found: tuple[int, int, int]) -> bool:
        document, first, last = found
        if document not in self._cited_documents(citation, [document]):
            return False
        region = self._region(citation, document)
        start, end = self._text(document)[1].span(first, last)
        return region is not None and any(low <= start and end <= high for low, high in region.spans)

    def _judged(
        self, check: QuoteCheck, citation: Citation | None, found: tuple[int, int, int], *, right: bool
    ) -> QuoteCheck:
        """Return a check with what is to be said of the citation, for a quotation that stands in a place."""
        if citation is None:
            return check
        document = found[0]
        said = replace(check, cited=citation.text)
        among_cited = self._cited_documents(citation, [document])
        if right:
            region = self._region(citation, document)
            note = region.note if region else ""
            if citation.documents is None and not note:
                place = check.places[0]
                known = [place.document_title, place.source_path, place.heading, place.name]
                word = unknown_words(citation, known)
                note = f"“{word}” was not understood." if word else ""
            return replace(said, cited_place=RIGHT, cited_note=note)
        if not among_cited:
            if self._allowed is not None:
                note = "The cited document is not among those that were searched."
                return replace(said, cited_place=NOT_SAID, cited_note=note)
            missing = f"There is no {citation.missing} in the library."
            return replace(said, cited_place=ELSEWHERE, cited_note=missing if citation.missing else "")
        notes = [region.note for one in among_cited if (region := self._region(citation, one))]
        if not notes:
            return replace(said, cited_place=NOT_SAID)
        # What one of the cited documents lacks says nothing where another has it.
        return replace(said, cited_place=ELSEWHERE, cited_note=notes[0] if all(notes) else "")

    # -- exact -----------------------------------------------------------------------------------------------

    def _everywhere(self, pieces: list[list[str]], documents: Collection[int]) -> list[tuple[int, int, int]]:
        """Return where runs of words follow one another: document, first word and the one after the last."""
        found: list[tuple[int, int, int]] = []
        for document in documents:
            if len(found) >= _COUNTED:
                break
            occurrences = _occurrences(self._text(document)[1], pieces)
            found += ((document, *span) for span in islice(occurrences, _COUNTED - len(found)))
        # With an ellipsis, the closest occurrence is meant.
        return sorted(found, key=lambda place: place[2] - place[1]) if len(pieces) > 1 else found

    def _candidates(
        self, quoted: WordText, pieces: list[list[str]], near: Collection[StoredChunk]
    ) -> list[int]:
        """Return the documents that may contain some runs of words, ordered by path.

        A word split at a line end is not indexed as it is quoted, so documents with all the other words are checked
        too.
        """
        keys = {key for piece in pieces for key in piece}
        whole = {
            word.key
            for word in quoted.words
            if len(word.key) > _SHORT
            and word.key in keys
            and (written := quoted.text[word.start : word.end]).isascii()
            and written.isalnum()
        }
        documents = self._allowed
        for word in sorted(whole, key=len)[-_ASKED:]:
            block = self._index.texts.folded
            documents = documents_holding(block if documents is None else block.only(documents), word)
            if len(documents) <= _FEW:
                break
        if documents is None:
            documents = set(self._index.reading.paths())
        documents = documents | {chunk.document for chunk in near}
        documents |= among(unseen_documents(self._index), self._allowed)
        paths = self._index.lookup.paths(documents)
        return sorted(paths, key=lambda document: paths[document])

    # -- altered ---------------------------------------------------------------------------------------------

    def _nearest(
        self, quotation: str, quoted: WordText, near: Collection[StoredChunk]
    ) -> tuple[QuoteCheck, tuple[int, int, int] | None]:
        best = self._most_alike(quoted, self._around(near, len(quoted.words)))
        if best is None:
            whole = ((document, 0, len(self._text(document)[1].words)) for document in self._holding(quoted))
            best = self._most_alike(quoted, whole)
        if best is None:
            return QuoteCheck(quotation, ABSENT), None
        _, document, first, end = best
        _, text = self._text(document)
        changes = word_changes(quoted, text, (0, len(quoted.words)), (first, end))
        place = self._place(document, first, end)
        return QuoteCheck(quotation, ALTERED, [place], 0, changes), (document, first, end)

    def _most_alike(
        self, quoted: WordText, stretches: Iterable[tuple[int, int, int]]
    ) -> tuple[float, int, int, int] | None:
        """Return the passage most similar to a quotation: its similarity, its document and its words.

        ``stretches`` are spans of words in documents: the first word, and the one after the last.
        """
        best: tuple[float, int, int, int] | None = None
        for document, low, high in stretches:
            similar = _align(quoted.keys, self._text(document)[1].keys[low:high])
            if similar and (best is None or similar[0] > best[0]):
                best = (similar[0], document, low + similar[1], low + similar[2])
        return best

    def _around(self, chunks: Iterable[StoredChunk], room: int) -> Iterator[tuple[int, int, int]]:
        for chunk in chunks:
            _, text = self._text(chunk.document)
            low, high = text.number_at(chunk.start) - room, text.number_at(chunk.end) + room
            yield chunk.document, max(0, low), min(len(text.words), high)

    def _holding(self, quoted: WordText) -> list[int]:
        """Return documents that contain some consecutive words of a quotation's first or second half.

        Many chunks may share a single word with it, such as an inserted one, and so may their titles.
        """
        words = verbatim_form(quoted.text).split()
        middle = len(words) // 2
        block = self._folded()
        found: dict[int, None] = {}
        for half in (words[:middle], words[middle:]):
            rows = [half[at : at + _ROW] for at in range(len(half) - _ROW + 1)]
            plain_rows = [row for row in rows if all(map(str.isalnum, row))]
            if plain_rows:
                found |= dict.fromkeys(islice(count_phrase(block, max(plain_rows, key=_letters)), _HOLDING))
        return list(found)

    def _holds(self, text: str) -> bool:
        return bool(count_phrase(self._folded(), verbatim_form(text).split()))

    # -- documents -------------------------------------------------------------------------------------------

    def _folded(self) -> TextBlock:
        block = self._index.texts.folded
        return block if self._allowed is None else block.only(self._allowed)

    def _text(self, document: int) -> tuple[StoredText, WordText]:
        if document not in self._texts:
            stored = self._index.lookup.texts([document])[0]
            self._size += len(stored.text)
            if self._size > _KEPT_CHARACTERS:
                self._texts.clear()
                self._documents.clear()
                self._size = len(stored.text)
            self._texts[document] = (stored, WordText(stored.text, stored.body_start))
        return self._texts[document]

    def _place(self, document: int, first: int, end: int) -> TextPlace:
        return self._cited(document).cite(*self._text(document)[1].span(first, end))

    def _cited(self, document: int) -> CitedText:
        stored, _ = self._text(document)
        if document not in self._documents:
            self._documents[document] = CitedText.of(self._index, stored)
        return self._documents[document]


def _occurrences(text: WordText, pieces: Sequence[list[str]], first: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where runs of words follow one another, from a word on: the first word, and the one after the last."""
    first = text.find(pieces[0], first)
    while first >= 0:
        end = _following(text, pieces[1:], first + len(pieces[0]))
        if end >= 0:
            yield first, end
        first = text.find(pieces[0], first + 1)


def _following(text: WordText, pieces: Collection[list[str]], at: int) -> int:
    """Return the word number after the last of several runs, each within reach of the previous; -1 if not found."""
    for piece in pieces:
        first = text.find(piece, at)
        if first < 0 or first - at > _OMITTED:
            return -1
        at = first + len(piece)
    return at


def _align(quoted: Sequence[str], words: Sequence[str]) -> tuple[float, int, int] | None:
    """Return how much of a quotation a run of words shares, and the first and last of them; None if too little."""
    begin = _densest(quoted, words)
    margin = len(quoted) // 3 + 3
    low, high = max(0, begin - margin), min(len(words), begin + len(quoted) + margin)
    matcher = difflib.SequenceMatcher(None, quoted, words[low:high], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    best: tuple[float, int, int] | None = None
    whole = _letters(quoted)
    # Chance matches far from the rest are not part of the passage.
    for first in range(min(3, len(blocks))):
        for last in range(len(blocks), max(first, len(blocks) - 3), -1):
            some = blocks[first:last]
            # In a longer quotation, single common words say little.
            kept = [block for block in some if block.size > 1 or len(quoted) <= _BRIEF]
            shared = sum(block.size for block in kept)
            letters = sum(_letters(quoted[block.a : block.a + block.size]) for block in kept)
            start, end = some[0].b, some[-1].b + some[-1].size
            worth = 2 * shared / (len(quoted) + end - start)
            if (
                shared >= _SHARED * len(quoted)
                and letters >= _SHARED * whole
                and shared >= _COVERED * (end - start)
                and (best is None or worth > best[0])
            ):
                # Words that replace the first or the last ones are part of it.
                missing = some[0].a, len(quoted) - some[-1].a - some[-1].size
                best = (worth, max(0, low + start - missing[0]), min(len(words), low + end + missing[1]))
    return best


def _letters(words: Iterable[str]) -> int:
    """Return the letters of some words: "in paragraph (a) of this" has few meaningful ones."""
    return sum(map(len, words))


def _densest(quoted: Sequence[str], words: Sequence[str]) -> int:
    """Return the start of the window, as long as the quotation, that shares most words with it."""
    wanted, size = Counter(quoted), len(quoted)
    have: Counter[str] = Counter()
    shared = best = at = 0
    for number, word in enumerate(words):
        have[word] += 1
        shared += have[word] <= wanted[word]
        if number >= size:
            gone = words[number - size]
            shared -= have[gone] <= wanted[gone]
            have[gone] -= 1
        if shared > best:
            best, at = shared, max(0, number - size + 1)
    return at
