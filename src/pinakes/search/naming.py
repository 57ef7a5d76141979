"""Naming: which documents a text calls by name, found by key rather than by looking through all of them.

A document goes by its file name, its title and its aliases, and by the short forms that people use: `RFC 5246` for
``rfc5246.txt``, `PEP 8` for ``peps/pep-0008.rst``, `ArbZG` for an act whose title ends in it, `Ley 7/2001` for one
whose title begins so. Names are compared as tokens: runs of letters, runs of digits without leading zeros, and single
characters of scripts that do not part words, so that hyphens, underscores and accents do not matter.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from pinakes.labels import parse_heading
from pinakes.text.keys import title_key
from pinakes.text.stopwords import STOPWORDS

if TYPE_CHECKING:
    from pinakes.search.corpus import Entry

FUNCTION_WORDS = frozenset().union(*STOPWORDS.values())
"""Words that name nothing, in the forms that title keys have."""

# Longer names are named by their beginning, and of longer texts the beginning is read.
_MAX_NAME, _MAX_TOKENS, _LONGEST = 40, 200, 400
# Scripts that do not part words: each character is a token.
_UNPARTED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_TOKEN = re.compile(rf"[{_UNPARTED}]|(?:(?![{_UNPARTED}])[^\W\d_])+|\d+")
_ASCII_TOKEN = re.compile(r"[a-z]+|[0-9]+")
_UNPARTED_RUN = re.compile(rf"[{_UNPARTED}]{{3,}}")
_STATE = "中华人民共和国"
# Files that go by the name of their folder.
_FOLDER_FILES = frozenset({"index", "readme", "_index", "main"})
# Properties of a document that say how it is called for short.
_SHORT_NAMES = frozenset(
    "alias aliases abbreviation abbr acronym short short_title shorttitle short_name shortname jurabk slug identifier "
    "id number citation celex doi permalink".split()
)
_FULL_NAMES = frozenset({"alias", "aliases", "title"})
_HEAD_END = re.compile(r"[,;:(（–—]|\s-\s")
_BRACKETS = re.compile(r"\s*[(（]([^()（）]{2,60})[)）]\s*\Z")
_DASHES = (":", "–", "—", "-")
# Words that make a title of what follows a dash, digits that make a name of a number, letters one of initials.
_TITLE_WORDS = 3
_MIN_DIGITS = 5
_INITIALS = 3
# A word before a name that says that it is one: `of`, `in the`.
_OF = frozenset(
    "of in from under within per des der dem den vom von im aus nach zu zum zur gemass du de des la le les dans del "
    "della dello dei di dal nel nella el los las do da dos das no na van het uit".split()
)


class Token(NamedTuple):
    """A token of a name, and where in the text it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Called:
    """Documents that a stretch of a text names; ``sure``: the stretch can hardly mean anything else."""

    text: str
    start: int
    end: int
    documents: frozenset[int]
    sure: bool


def name_tokens(text: str) -> list[Token]:
    """Cut a text into the tokens by which names are compared, with their places.

    >>> [token.text for token in name_tokens("pep-0008 RFC5246 Altöl_v 合同法")]
    ['pep', '8', 'rfc', '5246', 'altol', 'v', '合', '同', '法']
    """
    return [Token(_folded(match.group()), *match.span()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=1 << 14)
def _folded(token: str) -> str:
    if token.isdecimal():
        digits = "".join(str(unicodedata.decimal(digit)) for digit in token)
        return digits.lstrip("0") or "0"
    return title_key(token) or token.casefold()


def _keyed(name: str) -> str:
    """The key of a name: its tokens, without their places."""
    name = name[:_LONGEST]
    if name.isascii():
        # Most names are, and a library may have many thousands.
        found = _ASCII_TOKEN.findall(name.lower())[:_MAX_NAME]
        return " ".join([token.lstrip("0") or "0" if token[0] == "0" else token for token in found])
    return " ".join([_folded(token) for token in _TOKEN.findall(name)[:_MAX_NAME]])


# -- what a document is called -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NameKeys:
    """What one document is called: in full, for short, and all words and initials of its names."""

    full: frozenset[str] = frozenset()
    short: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    initials: frozenset[str] = frozenset()


def name_keys(source_path: str, title: str, metadata: Mapping[str, Any]) -> NameKeys:
    """Gather the names of a document from its path, its title and its properties."""
    path = PurePath(source_path)
    stem, ending = path.stem, path.suffix
    properties = list(_properties(metadata)) if metadata else []
    own = _keyed(stem)
    full = {own, f"{own} {_keyed(ending)}".rstrip(), _keyed(title)}
    full.update(_keyed(value) for name, value in properties if name in _FULL_NAMES)
    short = {_keyed(value) for _, value in properties}
    short.update(_keyed(name) for name in _short_forms(title))
    short.update(_tails(own.split(), path))
    if not (stem.isascii() and title.isascii()):
        short.update(_keyed(form) for name in (stem, title) for form in _unparted_forms(name))
    words = {word for key in (*full, *short) for word in key.split()}
    return NameKeys(
        frozenset(key for key in full if key),
        frozenset(key for key in short - full if key),
        frozenset(words),
        frozenset(_initials(title)),
    )


def _properties(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in metadata.items():
        lower = str(name).lower().replace("-", "_")
        if lower in _SHORT_NAMES or lower == "title":
            values = value if isinstance(value, list) else [value]
            yield from ((lower, str(one)) for one in values[:20] if isinstance(one, (str, int)))


def _short_forms(title: str) -> Iterator[str]:
    """`PEP 8 – Style Guide for Code` and `Altölverordnung (AltölV)`: both; `Ley 7/2001, de 31 de mayo`: the first."""
    if brackets := _BRACKETS.search(title[:_LONGEST]):
        yield title[: brackets.start()]
        if _is_name(brackets[1]):
            yield brackets[1]
    if end := _HEAD_END.search(title[:_LONGEST]):
        head = title[: end.start()].strip()
        if len(name_tokens(head)) > 1 and _is_name(head):
            yield head
        if end.group().strip() in _DASHES and len(name_tokens(title[end.end() :])) >= _TITLE_WORDS:
            yield title[end.end() :]


def _is_name(text: str) -> bool:
    """Whether a part of a title can be a name: `AltölV`, `General Data Protection Regulation`, not `draft`, `2021`."""
    letters = [char for char in text if char.isalpha()]
    capitals = sum(char.isupper() for char in letters)
    return capitals > 1 or (capitals == 1 and any(char.isdigit() for char in text))


def _tails(tokens: list[str], path: PurePath) -> Iterator[str]:
    """The end of a file name that has a number: `pep-0280` of `peps-peps-pep-0280`; a folder for its index."""
    if tokens and tokens[-1] in _FOLDER_FILES:
        tokens = tokens[:-1]
        yield " ".join(tokens) if tokens else _keyed(path.parent.name)
    at = len(tokens)
    while at and tokens[at - 1].isdecimal():
        at -= 1
    if 0 < at < len(tokens):
        while at > 1 and len(tokens[at - 1]) < 2:
            at -= 1
        yield " ".join(tokens[at - 1 :])


def _unparted_forms(name: str) -> Iterator[str]:
    """`zh-行政法规-全国经济普查条例(2018-08-11)`: its runs of characters; an act's without the name of the state."""
    for run in _UNPARTED_RUN.findall(name[:_LONGEST]):
        yield run
        if run.startswith(_STATE):
            yield run.removeprefix(_STATE)


def _initials(title: str) -> Iterator[str]:
    words = [word for word in _keyed(title).split() if not word.isdecimal()]
    for chosen in (words, [word for word in words if word not in FUNCTION_WORDS]):
        if len(chosen) >= _INITIALS:
            yield "".join(word[0] for word in chosen)


# -- what a text calls them ----------------------------------------------------------------------------------


class _Keys:
    """The names of all documents, by key."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.full: dict[str, list[int]] = {}
        self.short: dict[str, list[int]] = {}
        self.word: dict[str, list[int]] = {}
        self.initials: dict[str, list[tuple[str, int]]] = {}
        lengths: set[int] = set()
        for entry in entries:
            for keys, table in ((entry.keys.full, self.full), (entry.keys.short, self.short)):
                for key in keys:
                    table.setdefault(key, []).append(entry.id)
                    lengths.add(key.count(" ") + 1)
            for word in entry.keys.words:
                self.word.setdefault(word, []).append(entry.id)
            for initials in entry.keys.initials:
                for at in range(len(initials) - _INITIALS + 1):
                    self.initials.setdefault(initials[at : at + _INITIALS], []).append((initials, entry.id))
        self.lengths = sorted(lengths, reverse=True)


class DocumentNames:
    """The documents of a library by what they are called. The keys are made when they are first asked for."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = entries
        self._made: _Keys | None = None
        self._guard = threading.Lock()

    @property
    def _keys(self) -> _Keys:
        if self._made is None:
            with self._guard:
                if self._made is None:
                    self._made = _Keys(self._entries)
        return self._made

    def find(self, text: str) -> list[Called]:
        """Return the names in a text, the longest at each place, in order and without overlaps."""
        keys, tokens = self._keys, name_tokens(text)[:_MAX_TOKENS]
        words = [token.text for token in tokens]
        found: list[Called] = []
        at = 0
        while at < len(tokens):
            called = None
            for length in keys.lengths:
                if length <= len(tokens) - at and (
                    documents := self._called(keys, words[at : at + length], text, tokens[at])
                ):
                    called = self._at(text, tokens, at, length, documents)
                    if called is not None:
                        break
            if called is not None:
                found.append(called)
                at += length
            else:
                at += 1
        return found

    def _called(self, keys: _Keys, words: Sequence[str], text: str, first: Token) -> Collection[int]:
        key = " ".join(words)
        documents: Collection[int] = keys.full.get(key) or keys.short.get(key) or ()
        if not documents and len(words) == 1 and len(key) >= _INITIALS:
            written = text[first.start : first.end]
            if written.isupper():
                documents = {
                    number for initials, number in keys.initials.get(key[:_INITIALS], ()) if initials == key
                }
        return documents

    def _at(
        self, text: str, tokens: Sequence[Token], at: int, length: int, documents: Collection[int]
    ) -> Called | None:
        """A name where it stands, unless what stands there is a part of something else, or names a place."""
        inside = tokens[at : at + length]
        start, end = inside[0].start, inside[-1].end
        written = text[start:end]
        if _goes_on(text, start, end) or not _can_name(written, inside):
            return None
        sure = length > 1 or written.isupper() or _follows_of(text, tokens, at) or length == len(tokens)
        return Called(written, start, end, frozenset(documents), sure)

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
        [token] = tokens
        having = set(self._keys.word.get(token, ()))
        if len(token) >= _INITIALS:
            near = self._keys.initials.get(token[:_INITIALS], ())
            having |= {document for initials, document in near if token in initials}
        return having


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a word, or a name joined by a hyphen or underscore and a number, goes on before or after a name."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _UNPARTED_RUN.match(text[start : start + 3]):
        return False
    return bool(
        re.match(r"[^\W_]|_|[-.]\d", after) or re.search(r"(?:[^\W_]|_|\d[-.])\Z", before)
        # What comes before or after in another script is another word.
    )


def _can_name(written: str, tokens: Sequence[Token]) -> bool:
    """Whether a name can be one by itself: not `4.2`, `of` or `2021`, and not `Part 12`, which is a place."""
    texts = [token.text for token in tokens]
    if all(text.isdecimal() for text in texts):
        return sum(map(len, texts)) >= _MIN_DIGITS
    if all(text in FUNCTION_WORDS or len(text) < 2 for text in texts) and not written.isupper():
        return _UNPARTED_RUN.fullmatch(written) is not None
    if re.search(r"\s", written):
        label, title = parse_heading(written)
        return label is None or bool(title) or not label.kind
    return True


def _follows_of(text: str, tokens: Sequence[Token], at: int) -> bool:
    """Whether a name comes after `of`, `in the` and the like."""
    return any(token.text in _OF for token in tokens[max(0, at - 2) : at])
