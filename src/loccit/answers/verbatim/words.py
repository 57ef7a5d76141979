"""Words: texts as lists of words, to compare them regardless of line breaks, markup and quotation marks."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from loccit.answers.verbatim.sequences import opcodes
from loccit.expressions import expression
from loccit.grammar.text.verbatim import UNPARTED
from loccit.model.quotes import WordChange

_LETTERS = rf"[^\W_{UNPARTED}]+"
# Marks of emphasis within a word, and tags that only shape text.
_MARKS = r"(?<=[^\W\d_])(?:\*{1,3}|~~|`{1,2})(?=[^\W\d_])"
_SHAPES = r"(?:</?(?:b|i|u|em|strong|span|small|mark|font|sub)(?:\s[^<>]{0,200})?>){1,4}"
# Not read: link targets and definitions, tags, comments and fences. Then words, with what joins their parts; and
# meaningful signs.
_TOKEN = expression(
    r"(?P<skip>\]\((?:<[^<>\n]{0,500}>|[^()\s<]{0,500}(?:\([^()\s]{0,200}\)[^()\s]{0,500}){0,3})"
    r"(?:\s{1,3}(?:\"[^\"]{0,300}\"|'[^']{0,300}'))?\s?\)|"
    r"</?[a-zA-Z][\w:-]{0,40}(?:[\s/][^<>]{0,500})?>|<!--(?:[^-]|-(?!->)){0,5000}-->|"
    r"\[\[[^\[\]|\n]{1,300}\||"
    r"^\ {0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]{1,9}\S{1,500}(?:[ \t]{1,9}\"[^\"\n]{0,300}\")?[ \t]{0,9}$|"
    r"^[ \t>]{0,20}(?:`{3,9}|~{3,9})[^`\n]{0,100}$)|"
    rf"{_LETTERS}(?:(?:(?<=\d)(?:\\?[.,:/]|[-‐‑–][ \t]+)(?=\d)|\\?['’ʼ＇]|\\?[-‐‑–](?:[ \t]*\n[ \t>]*)?|\u00ad\s*"
    rf"|{_MARKS}|{_SHAPES}){_LETTERS})*|"
    rf"[%‰€$£¥§°{UNPARTED}]",
    re.MULTILINE,
)
_HYPHEN = expression(r"(?<=(\d))?[-‐‑–\u00ad][\s>]*(?=(\d))?")
_MARKUP = expression(rf"\\|{_MARKS}|{_SHAPES}")
_ENTITY = expression(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_APOSTROPHES = str.maketrans("’ʼ＇", "'''")


class Word(NamedTuple):
    """A word in the form that is compared, and its position."""

    key: str
    start: int
    end: int


def words_of(text: str, begin: int = 0) -> list[Word]:
    """Return the words of a text, starting at an offset.

    >>> [word.key for word in words_of("A *well-known* inter-\\nnational firm’s 1,000 (5 %), 2–3")]
    ['a', 'wellknown', 'international', "firm's", '1,000', '5', '%', '2-3']
    >>> [word.key for word in words_of("pages 184– 200 and 3 - 4")]
    ['pages', '184-200', 'and', '3', '4']
    >>> [word.key for word in words_of("**b**old H<sub>2</sub>O caf&eacute; [fee](fee.md 'x') 5\\\\.2")]
    ['bold', 'h2o', 'café', 'fee', '5.2']
    >>> [word.key for word in words_of("第3条 A公司")]
    ['第', '3', '条', 'a', '公', '司']
    """
    if "&" in text and _ENTITY.search(text, begin):
        return _without_entities(text, begin)
    return [
        Word(_key(found[0]), found.start(), found.end())
        for found in _TOKEN.finditer(text, begin)
        if found.lastgroup != "skip"
    ]


def _without_entities(text: str, begin: int) -> list[Word]:
    """Return the words of a text in which characters are written as ``&eacute;`` or ``&#39;``."""
    parts, at = [text[:begin]], begin
    # Where what follows an entity is in the plain text, and how much further on in the text as written.
    ends, shifts = [0], [0]
    length = begin
    for entity in _ENTITY.finditer(text, begin):
        parts += [text[at : entity.start()], said := html.unescape(entity[0])]
        length += entity.start() - at + len(said)
        at = entity.end()
        ends.append(length)
        shifts.append(at - length)
    plain = "".join([*parts, text[at:]])

    def written(offset: int) -> int:
        return offset + shifts[bisect_right(ends, offset) - 1]

    # A last character is followed at once by what comes after it.
    words = (found for found in _TOKEN.finditer(plain, begin) if found.lastgroup != "skip")
    return [Word(_key(found[0]), written(found.start()), written(found.end())) for found in words]


@lru_cache(maxsize=100_000)
def _key(token: str) -> str:
    if not token.isascii():
        token = unicodedata.normalize("NFKC", token).translate(_APOSTROPHES)
    if not token.isalnum():
        token = _MARKUP.sub("", token)
        token = _HYPHEN.sub(lambda found: "-" if found[1] and found[2] else "", token)
    return token.casefold()


class WordText:
    """A text as words, in which runs of words are found quickly."""

    def __init__(self, text: str, begin: int = 0) -> None:
        """Read a text, starting at an offset."""
        self.text = text
        self.words: list[Word] = words_of(text, begin)
        self.keys: list[str] = [word.key for word in self.words]
        self._joined = f" {' '.join(self.keys)} "
        self._starts: list[int] = []
        at = 0
        for key in self.keys:
            self._starts.append(at)
            at += len(key) + 1

    def find(self, keys: Sequence[str], first: int = 0) -> int:
        """Return the number of the word at which a run of words begins, searching from one on; -1 if not found."""
        if first >= len(self._starts):
            return -1
        at = self._joined.find(f" {' '.join(keys)} ", self._starts[first])
        return -1 if at < 0 else bisect_right(self._starts, at) - 1

    def number_at(self, offset: int) -> int:
        """Return the number of the first word that ends after an offset."""
        return bisect_right(self.words, offset, key=lambda word: word.end)

    def number_from(self, offset: int) -> int:
        """Return the number of the first word that begins at an offset or after it."""
        return bisect_left(self.words, offset, key=lambda word: word.start)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of the words from one up to, but not including, another."""
        return self.words[first].start, self.words[last - 1].end

    def stretch(self, first: int, last: int) -> str:
        """Return the text from one word up to, but not including, another."""
        return self.text[self.words[first].start : self.words[last - 1].end] if last > first else ""


def word_changes(
    old: WordText, new: WordText, old_span: tuple[int, int], new_span: tuple[int, int]
) -> list[WordChange]:
    """Return the changes from one run of words to another, same and different words in turn."""
    (first, last), (begin, end) = old_span, new_span
    changes = []
    for same, a, b, c, d in opcodes(old.keys[first:last], new.keys[begin:end]):
        before = _flat(old.stretch(first + a, first + b))
        changes.append(WordChange(before, before if same else _flat(new.stretch(begin + c, begin + d))))
    return changes


def _flat(text: str) -> str:
    return " ".join(text.split())


def changes_text(changes: Sequence[WordChange], context: int = 6) -> str:
    """Return changes on one line, with a few words of context each: ``shall [-not-] apply within {+48+} hours``.

    >>> changes_text([WordChange("pays", "pays"), WordChange("5", "500"), WordChange("euro", "euro")])
    'pays [-5-] {+500+} euro'
    """
    parts = []
    for number, change in enumerate(changes):
        if not change.same:
            parts += [f"[-{change.old}-]"] if change.old else []
            parts += [f"{{+{change.new}+}}"] if change.new else []
            continue
        words = change.old.split(" ")
        head = words[:context] if number else []
        tail = words[-context:] if number < len(changes) - 1 else []
        parts.append(change.old if len(words) <= len(head) + len(tail) else " ".join([*head, "…", *tail]))
    return " ".join(parts)
