"""Names: which documents a query or a text refers to, by title, popular name of an act, or number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from loccit.grammar.labels import parse_heading
from loccit.grammar.labels.document_keys import FileLabel, file_label, folder_number, folder_of, spoken_keys
from loccit.grammar.labels.names import (
    FUNCTION_WORDS,
    MAX_NAME,
    UNPARTED_RUN,
    Token,
    name_key,
    name_tokens,
    official_names,
)
from loccit.grammar.text.keys import title_key
from loccit.index.port.names import BEGINNING, MOST, CalledEntry, Entry, NameLookup, Work

_IN_SERIES, _BESIDE_SERIES = 0.9, 0.75


class Series:
    """The numbered files of a library, by folder. Lookups are cached."""

    def __init__(self, lookup: NameLookup) -> None:
        self._lookup = lookup
        self._works: dict[str | int, list[Work]] = {}
        self._members: dict[tuple[int, FileLabel], Entry | None] = {}

    def find(
        self, kind: str, number: tuple[str, ...], source: Entry, name: str
    ) -> tuple[Entry, float] | None:
        """Return the file that contains a number according to the numbering, and the confidence."""
        works = self._called(title_key(name)) if name else self._lying_in(folder_of(source.source_path))
        if len(works) != 1:
            return None
        (work,) = works
        label = file_label(source.title)
        own = label is not None and self._member(work.folder, label) == source
        for size in range(1, len(number) + 1):
            for member_kind in work.kinds if size < len(number) else work.kinds & {kind}:
                entry = self._member(work.folder, (member_kind, number[:size]))
                if entry is None or entry.id == source.id:
                    continue
                if own or name:
                    return entry, _IN_SERIES
                # `section 12.3` may belong to another work, not to part 12 of one that happens to be in the
                # same folder; `section 12.301` can hardly be anything else.
                code = len(number) > 1 and len(number[1]) > 2
                if kind in work.kinds | {""} or kind.removeprefix("sub") in work.kinds or code:
                    return entry, _BESIDE_SERIES
        return None

    def _called(self, name: str) -> list[Work]:
        if name not in self._works:
            self._works[name] = self._lookup.works(name)
        return self._works[name]

    def _lying_in(self, folder: str) -> list[Work]:
        number = folder_number(folder)
        if number not in self._works:
            work = self._lookup.work(number)
            self._works[number] = [work] if work is not None else []
        return self._works[number]

    def _member(self, folder: int, label: FileLabel) -> Entry | None:
        """Two files with one number belong to two works, so the number identifies neither."""
        if (folder, label) not in self._members:
            found = self._lookup.members(folder, label[0], "_".join(label[1]))
            self._members[folder, label] = found[0] if len(found) == 1 else None
        return self._members[folder, label]


# -- popular names of acts: `Bundesurlaubsgesetz` for the `Mindesturlaubsgesetz für Arbeitnehmer (BUrlG)` ----
#
# German acts are mostly known by one compound that need not be in their title. Two things confirm it: the
# abbreviation is made of it (B-Url-G), and what precedes its last word is also in the title, in other words
# or another order.


# The last word of such a name, and its letter in an abbreviation.
_HEADS = {"gesetzbuch": "gb", "gesetz": "g", "verordnung": "v", "ordnung": "o", "satzung": "sa"}
_WORD = r"[^\W\d_]{1,60}"
_JOINT = r"(?:-\s?(?:und|oder|sowie)\s-?|-)"
_NAME = re.compile(
    rf"(?:{_WORD}{_JOINT}){{0,5}}(?P<last>[^\W\d_]{{0,60}}?(?:{'|'.join(_HEADS)}))(?:e?s|en)?(?![^\W_])",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"-\s?(?:und|oder|sowie)\s-?|-", re.IGNORECASE)
_SHORTEST = 4  # letters of a name before its last word, and of what a title has of them
_PIECE = 5  # letters of one of several such pieces
_BORNE_OUT, _ALL = (
    0.4,
    0.85,
)  # the share of these letters that the title has: of an abbreviated name, and of any


def popular_name(text: str, start: int) -> tuple[str, str, int] | None:
    """Read a name at a position in a text: the part before its last word, that word, and the end of the name.

    >>> popular_name("§ 8 Teilzeit- und Befristungsgesetz", 4)
    ('teilzeitbefristungs', 'gesetz', 35)
    """
    match = _NAME.match(text, start)
    if match is None:
        return None
    whole = title_key(_JOINTS.sub("", match.group()[: match.end("last") - start])).replace(" ", "")
    head = next((head for head in _HEADS if whole.endswith(head)), "")
    body = whole.removesuffix(head)
    return (body, head, match.end()) if head and len(body) >= _SHORTEST else None


def documents_called(
    body: str,
    head: str,
    short: Mapping[str, Collection[int]],
    words: Mapping[int, Collection[str]],
    near: Iterable[int],
) -> frozenset[int]:
    """Return the documents that a name fits: by abbreviation and title, or else by most of the title.

    ``short`` has documents by abbreviation, ``words`` the words of their names; ``near`` are the documents that share a
    word with the name.
    """
    made = {document for form, own in short.items() if is_made_of(form, body, head) for document in own}
    covered = {document: _covered(body, words[document]) for document in {*made, *near}}
    sure = {
        document: share
        for document, (share, pieces) in covered.items()
        if share >= _BORNE_OUT
        and (
            document in made
            or (share >= _ALL and pieces > 1 and any(word.endswith(head) for word in words[document]))
        )
    }
    best = max(((document in made, share) for document, share in sure.items()), default=(False, 0.0))
    return frozenset(document for document, share in sure.items() if (document in made, share) == best)


def is_made_of(short: str, body: str, head: str) -> bool:
    """Whether the letters of an abbreviation occur in a name in order, the first one first."""
    ending = _HEADS[head]
    if not short.isalpha() or len(short) < 3 or not short.endswith(ending) or short[0] != body[0]:
        return False
    rest = iter(body)
    return all(letter in rest for letter in short.removesuffix(ending))


def _covered(body: str, words: Collection[str]) -> tuple[float, int]:
    """The share of a name's letters found in some words, in pieces, and the number of longer pieces."""
    at = covered = pieces = 0
    while at < len(body):
        end = at
        for word in words:
            while end < len(body) and body[at : end + 1] in word:
                end += 1
        if end - at >= _SHORTEST:
            covered += end - at
            pieces += end - at >= _PIECE
            at = end
        else:
            at += 1
    # Linking letters between two pieces belong to neither title word.
    return covered / max(1, len(body.removesuffix("s"))), pieces


# -- the names of all documents, looked up by key in a query or in another text -------------------------------
#
# Only a name, or the number of a file of the same work, leads from one document to another: every contract
# has a section 4.


_MAX_TOKENS = 200  # of longer texts the beginning is read
_MIN_DIGITS = 5  # that make a name of a number
_COMMON = 0.7
# A word that announces a name: `of`, `in the`.
_OF = frozenset(
    "of in from under within per des der dem den vom von im aus nach zu zum zur gemass du de des la le les dans del "
    "della dello dei di dal nel nella el los las do da dos das no na van het uit".split()
)
# Titles made only of these words say what kind of document it is, not which one.
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


# Files that say what a work is, and bear its name.
_INTRODUCTIONS = frozenset("readme index contents toc title cover overview summary".split())


@dataclass(frozen=True, slots=True)
class Called:
    """Documents that a span of a query names; ``sure``: the span can hardly mean anything else."""

    text: str
    start: int
    end: int
    documents: frozenset[int]
    sure: bool

    @property
    def is_written_as_name(self) -> bool:
        """Whether it has a capital or a digit: a title in small letters may as well be ordinary words of a question."""
        inner = self.text if self.start else self.text[1:]
        return inner != inner.lower() or any(c.isdigit() for c in inner) or inner.upper() == inner.lower()


@dataclass(frozen=True, slots=True)
class Named:
    """The document that a text refers to by name; if None, ``reason`` says why."""

    entry: Entry | None
    sure: float = 0.0
    reason: str = ""


class NameIndex:
    """The documents of a library by name.

    A name shared by more than ``MOST`` documents identifies none of them. Lookups are cached: make one index per
    question.
    """

    def __init__(self, lookup: NameLookup) -> None:
        self._lookup = lookup
        self._series = Series(lookup)
        self._called: dict[str, list[CalledEntry]] = {}
        self._found: dict[str, list[Called]] = {}

    # -- in a query ------------------------------------------------------------------------------------------

    def find(self, text: str) -> list[Called]:
        """Return the names in a query, the longest at each position, in order and without overlaps."""
        if text not in self._found:
            self._found[text] = self._find(text)
        return self._found[text]

    def _find(self, text: str) -> list[Called]:
        tokens = name_tokens(text)[:_MAX_TOKENS]
        words = [token.text for token in tokens]
        official = [(key, start, end) for key, start, end in official_names(text)]
        spans = {
            " ".join(words[at : at + length])
            for at in range(len(words))
            for length in range(1, min(MAX_NAME, len(words) - at) + 1)
        }
        self.preload(spans.union(key for key, _, _ in official))
        numbered = {start: (end, self._documents(key)) for key, start, end in official}
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
        """A name that is one compound, at a position in a text: `Bundesurlaubsgesetz`."""
        name = popular_name(text, start)
        if name is None:
            return None
        body, head, end = name
        short = {
            form: own
            for form, own in self._lookup.short_words(body[0]).items()
            if is_made_of(form, body, head)
        }
        near = self._lookup.beginning({body[at : at + BEGINNING] for at in range(len(body) - BEGINNING + 1)})
        own = {document for documents in short.values() for document in documents}
        documents = documents_called(body, head, short, self._lookup.words(own | near), near)
        return Called(text[start:end], start, end, documents, sure=True) if documents else None

    def preload(self, keys: Collection[str]) -> None:
        """Look up several names at once."""
        if new := [key for key in keys if key not in self._called]:
            self._called.update({key: [] for key in new} | self._lookup.called(new))

    def preload_names(self, names: Iterable[str]) -> None:
        """Look up at once what texts mean by several names."""
        self.preload({key for name in set(names) for key in spoken_keys(name)})

    def _entries(self, key: str) -> list[CalledEntry]:
        self.preload({key})
        return self._called[key]

    def _documents(self, key: str) -> frozenset[int]:
        """The documents that have a key as full name, or else as short name."""
        called = self._entries(key)
        full = frozenset(one.entry.id for one in called if one.full)
        return _few(full or frozenset(one.entry.id for one in called))

    def _longest(self, text: str, tokens: Sequence[Token], words: Sequence[str], at: int) -> Called | None:
        for length in range(min(MAX_NAME, len(tokens) - at), 0, -1):
            if documents := self._named(words[at : at + length], text, tokens[at]):
                called = _standing(text, tokens, at, length, documents)
                if called is not None:
                    return called
        return None

    def _named(self, words: Sequence[str], text: str, first: Token) -> frozenset[int]:
        key = " ".join(words)
        documents = self._documents(key)
        if not documents and len(words) == 1 and text[first.start : first.end].isupper():
            return _few(self._lookup.abbreviated(key))
        return documents

    def with_all(self, words: Collection[str]) -> frozenset[int]:
        """Return the documents whose names contain all of these words."""
        return _few(self._having_all(words))

    def _having_all(self, words: Collection[str]) -> set[int]:
        tokens = [{token.text for token in name_tokens(word)} for word in words]
        return self._lookup.having_all(set().union(*tokens)) if tokens and all(tokens) else set()

    def fitting(self, words: Sequence[str]) -> dict[int, float]:
        """Return, for documents whose names contain any of these words, the share of the words they contain.

        Words that are in very many names are only used to compare documents found by the other words.
        """
        shares = {word: self._having_all([word]) for word in words}
        rare = [word for word in words if len(shares[word]) <= MOST]
        found: dict[int, float] = {}
        for word in rare:
            for document in shares[word]:
                found[document] = found.get(document, 0.0) + 1.0 / len(words)
        common = [word for word in words if len(shares[word]) > MOST]
        if common and not found:
            return dict.fromkeys(self._having_all(common), len(common) / len(words))
        for word in common:
            tested = set(found)
            for token in name_tokens(word):
                tested = self._lookup.having(token.text, tested)
            for document in tested:
                found[document] += 1.0 / len(words)
        return found

    def whole_work(self, name: str, documents: Collection[int]) -> frozenset[int]:
        """Return documents that a name means, with the other files of the works that they introduce or begin.

        A work is named like its ``README``, or the title that those of its parts begin with.
        """
        key = title_key(name)
        entries = [
            entry for entry in self._lookup.entries(documents).values() if title_key(entry.title) == key
        ]
        introduced = {
            folder_of(entry.source_path)
            for entry in entries
            if title_key(PurePath(entry.source_path).stem) in _INTRODUCTIONS
        }
        found = set(documents)
        if introduced:
            found.update(
                entry.id
                for entry in self._lookup.first()
                if any(entry.source_path.startswith(f"{folder}/") for folder in introduced)
            )
        beside = {folder_of(entry.source_path) for entry in entries}
        for entry in self._lookup.entries(self.with_all(key.split())).values():
            if folder_of(entry.source_path) in beside and title_key(entry.title).startswith(f"{key} "):
                found.add(entry.id)
        return _few(found) or frozenset(documents)

    # -- in another text -------------------------------------------------------------------------------------

    def named(self, name: str, source: Entry) -> Named:
        """Return the document that a text refers to by name; never the document of the text itself."""
        keys = spoken_keys(name)
        self.preload(keys)
        found = [one for key in keys for one in self._entries(key) if one.entry.id != source.id]
        if not found:
            return Named(None, reason=f"names {name}, which is not in the library")
        best = max(one.sure for one in found)
        entries = list({one.entry.id: one.entry for one in found if one.sure == best}.values())
        beside = self._beside(keys, source, best) if len(entries) > MOST else entries
        beside = [entry for entry in beside if folder_of(entry.source_path) == folder_of(source.source_path)]
        if set(name_key(name).split()) <= _COMMON_WORDS:
            # `the Loan Agreement` is the one of the same matter, if there is one.
            if len(beside) == 1:
                return Named(beside[0], _COMMON)
            return Named(None, reason=f"{name} does not say which document is meant")
        if len(entries) > 1 and len(beside) != 1:
            many = f"more than {MOST:,}" if len(entries) > MOST else len(entries)
            return Named(None, reason=f"{many} documents are called {name}")
        return Named(entries[0], best) if len(entries) == 1 else Named(beside[0], _COMMON)

    def _beside(self, keys: Sequence[str], source: Entry, best: float) -> list[Entry]:
        """The documents of that name in the folder of the text, if very many others share the name."""
        folder = folder_number(folder_of(source.source_path))
        called = self._lookup.called(keys, folder)
        found = [one for key in keys for one in called.get(key, ()) if one.entry.id != source.id]
        return list({one.entry.id: one.entry for one in found if one.sure == best}.values())

    def numbered(self, kind: str, number: tuple[str, ...], source: Entry, name: str = "") -> Named:
        """Return the file that contains a number, in a work divided into numbered files.

        The work is the one the text belongs to, or the one it names.
        """
        found = self._series.find(kind, number, source, name)
        return Named(*found) if found else Named(None)


def _few(documents: Collection[int]) -> frozenset[int]:
    """The documents that share a name, unless there are too many."""
    return frozenset(documents) if len(documents) <= MOST else frozenset()


def _standing(
    text: str, tokens: Sequence[Token], at: int, length: int, documents: frozenset[int]
) -> Called | None:
    """A name at this position, unless it is part of something longer or names a place."""
    inside = tokens[at : at + length]
    start, end = inside[0].start, inside[-1].end
    written = text[start:end]
    if _goes_on(text, start, end) or not _can_name(written, inside):
        return None
    sure = length > 1 or written.isupper() or _follows_of(tokens, at) or length == len(tokens)
    return Called(written, start, end, documents, sure)


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a word, or a name joined by a hyphen or underscore and a number, continues before or after a name."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if UNPARTED_RUN.match(text[start : start + 3]):
        # Adjacent characters in another script belong to another word.
        return False
    return bool(re.match(r"[^\W_]|_|[-.]\d", after) or re.search(r"(?:[^\W_]|_|\d[-.])\Z", before))


def _can_name(written: str, tokens: Sequence[Token]) -> bool:
    """Whether a key can be a name by itself: not `4.2`, `of` or `2021`, and not `Part 12`, which is a place."""
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
    """Whether a name follows `of`, `in the` and the like."""
    return any(token.text in _OF for token in tokens[max(0, at - 2) : at])
