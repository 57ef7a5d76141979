"""The names of all documents: those in a query are found by key, and what another text means by a name is decided.

Nothing but a name, or the number of a file of the same work, leads from one document to another: every contract has a
section 4.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.labels import parse_heading
from pinakes.search.names.forms import (
    FUNCTION_WORDS,
    INITIALS,
    UNPARTED_RUN,
    Token,
    name_key,
    name_tokens,
    official_names,
    unparted_forms,
)
from pinakes.search.names.popular import documents_called, popular_name
from pinakes.search.names.series import Series, folder_of

if TYPE_CHECKING:
    from pinakes.search.corpus import Entry

_MAX_TOKENS = 200  # of longer texts the beginning is read
_MIN_DIGITS = 5  # that make a name of a number
_COMMON = 0.7
_BEGINNING, _ENDING = 5, 3  # letters that two words have in common, and that one of them has more
_FEW = 3  # words that begin alike and may still be meant by their beginning
# A word before a name that says that it is one: `of`, `in the`.
_OF = frozenset(
    "of in from under within per des der dem den vom von im aus nach zu zum zur gemass du de des la le les dans del "
    "della dello dei di dal nel nella el los las do da dos das no na van het uit".split()
)
# Titles made of nothing else say what a document is, not which one.
_COMMON_WORDS = frozenset(
    """
    a an the of and for form amended restated first second third master general
    act agreement amendment annex appendix article bill bylaws charter code constitution contract convention covenant
    credit decision deed directive document employment exhibit guarantee guaranty guide guidelines handbook index law
    lease letter license licence loan manual note notes notice order ordinance part plan policy protocol purchase
    readme regulation regulations report rules schedule section security services service software standard statute
    statutes stock terms treaty
    gesetz verordnung vertrag richtlinie satzung ordnung ley reglamento contrato loi contrat reglement
    """.split()
)


@dataclass(frozen=True, slots=True)
class Called:
    """Documents that a stretch of a query names; ``sure``: the stretch can hardly mean anything else."""

    text: str
    start: int
    end: int
    documents: frozenset[int]
    sure: bool


@dataclass(frozen=True, slots=True)
class Named:
    """The document that a text means by a name; without one, why not."""

    entry: Entry | None
    sure: float = 0.0
    reason: str = ""


class _Keys:
    """The names of all documents, by key."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.full: dict[str, list[tuple[float, Entry]]] = {}
        self.short: dict[str, list[tuple[float, Entry]]] = {}
        self.word: dict[str, list[int]] = {}
        self.initials: dict[str, list[tuple[str, int]]] = {}
        self.words: dict[int, frozenset[str]] = {}
        lengths: set[int] = set()
        for entry in entries:
            self.words[entry.id] = entry.names.words
            for names, table in ((entry.names.full, self.full), (entry.names.short, self.short)):
                for key, sure in names.items():
                    table.setdefault(key, []).append((sure, entry))
                    lengths.add(key.count(" ") + 1)
            for word in entry.names.words:
                self.word.setdefault(word, []).append(entry.id)
            for initials in entry.names.initials:
                for at in range(len(initials) - INITIALS + 1):
                    self.initials.setdefault(initials[at : at + INITIALS], []).append((initials, entry.id))
        self.lengths = sorted(lengths, reverse=True)
        self.sorted_words = sorted(self.word)

    def documents(self, key: str) -> frozenset[int]:
        """The documents that a key names in full, else those that it names for short."""
        return frozenset(entry.id for _, entry in self.full.get(key) or self.short.get(key) or ())

    def having(self, word: str) -> Collection[int]:
        """The documents that have a word in their names; else one that it begins, or that begins it.

        That is how companies are called in the names of files (`MOVADOGROUPINC`), and countries in those of acts.
        """
        if word in self.word or len(word) < _BEGINNING:
            return self.word.get(word, ())
        at = bisect_left(self.sorted_words, word)
        longer = [other for other in self.sorted_words[at : at + _FEW + 1] if other.startswith(word)]
        if 0 < len(longer) <= _FEW:
            return {document for other in longer for document in self.word[other]}
        shorter = (word[:-cut] for cut in range(1, _ENDING + 1) if len(word) - cut >= _BEGINNING)
        return next((self.word[other] for other in shorter if other in self.word), ())

    def popularly(self, body: str, head: str) -> frozenset[int]:
        """The documents that go by a compound: `Bundesurlaubsgesetz`."""
        short = {
            key: [entry.id for _, entry in found]
            for key, found in self.short.items()
            if key[:1] == body[0] and " " not in key
        }
        near = {
            document
            for word, documents in self.word.items()
            if len(word) >= _BEGINNING and word[:_BEGINNING] in body
            for document in documents
        }
        return documents_called(body, head, short, self.words, near)

    def with_initials(self, letters: str) -> Iterator[tuple[str, int]]:
        """The documents whose initials have some letters in them, with all their initials."""
        if len(letters) >= INITIALS:
            near = self.initials.get(letters[:INITIALS], ())
            yield from (item for item in near if letters in item[0])


class NameIndex:
    """The documents of a library by what they are called. The keys are made when they are first asked for."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = entries
        self._series = Series(entries)
        self._made: _Keys | None = None
        self._guard = threading.Lock()

    @property
    def _keys(self) -> _Keys:
        if self._made is None:
            with self._guard:
                if self._made is None:
                    self._made = _Keys(self._entries)
        return self._made

    # -- in a query ------------------------------------------------------------------------------------------

    def find(self, text: str) -> list[Called]:
        """Return the names in a query, the longest at each place, in order and without overlaps."""
        tokens = name_tokens(text)[:_MAX_TOKENS]
        words = [token.text for token in tokens]
        numbered = {start: (end, self._keys.documents(key)) for key, start, end in official_names(text)}
        found: list[Called] = []
        for at, token in enumerate(tokens):
            if found and token.start < found[-1].end:
                continue
            end, documents = numbered.get(token.start, (0, frozenset()))
            if documents:
                found.append(Called(text[token.start : end], token.start, end, documents, sure=True))
            elif called := self._longest(text, tokens, words, at) or self._popular(text, token.start):
                found.append(called)
        return found

    def _popular(self, text: str, start: int) -> Called | None:
        name = popular_name(text, start)
        documents = self._keys.popularly(*name[:2]) if name else frozenset[int]()
        return (
            Called(text[start : name[2]], start, name[2], documents, sure=True)
            if name and documents
            else None
        )

    def _longest(self, text: str, tokens: Sequence[Token], words: Sequence[str], at: int) -> Called | None:
        for length in self._keys.lengths:
            if length <= len(tokens) - at and (
                documents := self._called(words[at : at + length], text, tokens[at])
            ):
                called = _standing(text, tokens, at, length, documents)
                if called is not None:
                    return called
        return None

    def _called(self, words: Sequence[str], text: str, first: Token) -> frozenset[int]:
        key = " ".join(words)
        documents = self._keys.documents(key)
        if not documents and len(words) == 1 and text[first.start : first.end].isupper():
            named = self._keys.with_initials(key)
            return frozenset(document for initials, document in named if initials == key)
        return documents

    def with_all(self, words: Collection[str]) -> frozenset[int]:
        """Return the documents whose names have all of some words."""
        found: set[int] | None = None
        for word in sorted(words, key=lambda one: len(self._keys.word.get(one, ()))):
            having = self._having(word)
            found = having if found is None else found & having
            if not found:
                return frozenset()
        return frozenset(found or ())

    def fitting(self, words: Sequence[str]) -> dict[int, float]:
        """Return which share of some words the names of documents have, for those that have any."""
        found: dict[int, float] = {}
        for word in words:
            for document in self._having(word):
                found[document] = found.get(document, 0.0) + 1.0 / len(words)
        return found

    def _having(self, word: str) -> set[int]:
        tokens = [token.text for token in name_tokens(word)]
        if len(tokens) != 1:
            return set(self.with_all(tokens)) if tokens else set()
        own = {document for _, document in self._keys.with_initials(tokens[0])}
        return own.union(self._keys.having(tokens[0]))

    # -- in another text -------------------------------------------------------------------------------------

    def named(self, name: str, source: Entry) -> Named:
        """Return the document that a text means by a name; never the document that the text stands in."""
        keys = [
            name_key(name),
            *(key for key, _, _ in official_names(name)),
            *map(name_key, unparted_forms(name)),
        ]
        found = [
            (sure, entry)
            for key in dict.fromkeys(keys)
            for sure, entry in (*self._keys.full.get(key, ()), *self._keys.short.get(key, ()))
            if entry.id != source.id and len(key) > 1
        ]
        if not found:
            return Named(None, reason=f"names {name}, which is not in the library")
        best = max(sure for sure, _ in found)
        entries = list({entry.id: entry for sure, entry in found if sure == best}.values())
        beside = [entry for entry in entries if folder_of(entry) == folder_of(source)]
        if set(keys[0].split()) <= _COMMON_WORDS:
            # `the Loan Agreement` is that of the same matter, if any.
            if len(beside) == 1:
                return Named(beside[0], _COMMON)
            return Named(None, reason=f"{name} does not say which document is meant")
        if len(entries) > 1 and len(beside) != 1:
            return Named(None, reason=f"{len(entries)} documents go by the name {name}")
        return Named(entries[0], best) if len(entries) == 1 else Named(beside[0], _COMMON)

    def numbered(self, kind: str, number: tuple[str, ...], source: Entry, name: str = "") -> Named:
        """Return the file that a number says it stands in, of a work in numbered files.

        That is the work that the text itself belongs to, or the one it names.
        """
        found = self._series.find(kind, number, source, name)
        return Named(*found) if found else Named(None)


def _standing(
    text: str, tokens: Sequence[Token], at: int, length: int, documents: frozenset[int]
) -> Called | None:
    """A name where it stands, unless what stands there is a part of something else, or names a place."""
    inside = tokens[at : at + length]
    start, end = inside[0].start, inside[-1].end
    written = text[start:end]
    if _goes_on(text, start, end) or not _can_name(written, inside):
        return None
    sure = length > 1 or written.isupper() or _follows_of(tokens, at) or length == len(tokens)
    return Called(written, start, end, documents, sure)


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a word, or a name joined by a hyphen or underscore and a number, goes on before or after a name."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if UNPARTED_RUN.match(text[start : start + 3]):
        # What comes before or after in another script is another word.
        return False
    return bool(re.match(r"[^\W_]|_|[-.]\d", after) or re.search(r"(?:[^\W_]|_|\d[-.])\Z", before))


def _can_name(written: str, tokens: Sequence[Token]) -> bool:
    """Whether a name can be one by itself: not `4.2`, `of` or `2021`, and not `Part 12`, which is a place."""
    texts = [token.text for token in tokens]
    if all(text.isdecimal() for text in texts):
        return sum(map(len, texts)) >= _MIN_DIGITS
    if all(text in FUNCTION_WORDS or len(text) < 2 for text in texts) and not written.isupper():
        return UNPARTED_RUN.fullmatch(written) is not None
    if re.search(r"\s", written):
        label, title = parse_heading(written)
        return label is None or bool(title) or not label.kind
    return True


def _follows_of(tokens: Sequence[Token], at: int) -> bool:
    """Whether a name comes after `of`, `in the` and the like."""
    return any(token.text in _OF for token in tokens[max(0, at - 2) : at])
