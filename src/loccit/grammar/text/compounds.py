"""Splits text into lumps, and lumps into the terms under which they can be found.

A lump is what is between spaces: a word, ``kube-apiserver``, ``32.706-2``, ``getUserById``, a URL, a run of Chinese. It
gives pieces: itself as a whole, and its parts. A segment takes a position of its own, so that phrases work across
hyphens and dots; anything else shares the position at which it begins.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from loccit.expressions import expression
from loccit.grammar.text.folding import MAX_TERM, lower


class Kind(IntEnum):
    """The relation of a piece to its lump."""

    SEGMENT = 0  # a word, one a position: the path that phrases follow
    WHOLE = 1  # several segments as written: ``32.706-2``
    JOINED = 2  # several segments without what joins them: ``wellknown``
    PREFIX = 3  # the beginning of a numbered label: ``32.706`` of ``32.706-2``
    PART = 4  # a word inside a segment: ``user`` of ``getUserById``
    GRAM = 5  # two neighbouring characters of a script without spaces
    CHAR = 6  # one character of such a script


class Piece(NamedTuple):
    """A term within a lump: lower case with accents, and its position in it."""

    kind: Kind
    text: str
    start: int
    end: int
    position: int


class Lump(NamedTuple):
    """The pieces of a lump in order of position, and the number of positions it takes."""

    pieces: tuple[Piece, ...]
    width: int


def _marks() -> str:
    """Return what a class of a regular expression has inside for all combining marks."""
    body = ""
    for begin, end in ((0x300, 0x12000), (0x1D100, 0x1EA00), (0xE0100, 0xE01F0)):
        categories = map(unicodedata.category, map(chr, range(begin, end)))
        # One letter for each code point, so that runs are found by an expression: this is done at every start.
        kinds = "".join("m" if one in ("Mn", "Mc") else " " for one in categories)
        body += "".join(
            f"{chr(begin + run.start())}-{chr(begin + run.end() - 1)}" for run in re.finditer("m+", kinds)
        )
    return body


# Python's \w has no combining marks, yet Indic vowels and decomposed accents are part of their word.
_MARKS = _marks()
_JOINERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_JOINER = expression(f"[{_JOINERS}]")
_WORD = rf"[\w{_MARKS}{_JOINERS}]+"
_PLAIN_LENGTH = 40
_MAX_LINKS = 40  # a lump longer than this many links is cut: bounded work and memory on hostile text
LUMP = expression(
    rf"(?:(?<![\w.])\.(?=[A-Za-z]))?{_WORD}"
    rf"(?:(?:[-‐‑.:/\\@'’ʼ＇&·]|::|://|(?<=\d),(?=\d\d\d)){_WORD}){{0,{_MAX_LINKS}}}"
    r"(?:(?<=[A-Za-z])\+\+(?![^\W\d])|(?<![A-Za-z][A-Za-z])(?<=[A-Za-z])\#(?!\w))?"
)
# The same for text in ASCII, where a word has no marks: twice as quick.
_ASCII_LUMP = expression(LUMP.pattern.replace(_WORD, r"\w+"), re.ASCII)

# Scripts without spaces between words (and Korean, whose spaces separate phrases rather than words).
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f"
    "\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19cf\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f"
    "\u3031-\u3035\u303b\u3041-\u309f\u30a1-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3200-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaadf"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\uffa1-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED_RUN = expression(f"[{_UNSPACED}][{_UNSPACED}{_MARKS}{_JOINERS}]*")
# A character with its combining characters: voicing marks, Korean vowels and finals. Bounded, see folding.
_CLUSTER = expression(
    f"[^{_JOINERS}][{_MARKS}{_JOINERS}\u1160-\u11ff\uff9e\uff9f\uffa1-\uffdc]{{0,8}}", re.DOTALL
)

# What links the segments of a compound, from the loosest (a path) to the tightest.
_LINKS = (re.compile(r"[:/\\@&]+"), re.compile(r"\."), re.compile(r"[-‐‑·]"), re.compile("_+"))
_NUMBER_LINKS = expression(r"[-‐‑.,_:/\\@&·]+")
_CAMEL = expression(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SHARP = expression(r"[^\W_]+(?:\+\+|\#)\Z")
_QUOTES = str.maketrans("’ʼ＇", "'''")
_APOSTROPHE = expression("'")
_POSSESSIVE = ("'s", "'S")
_CONTRACTION = expression(r"(?i)(?:'(?:ll|re|ve|d|m)|(?<=n)'t)\Z")
_ELISION = expression(
    r"(?i)(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|dell|all|dall|nell|sull|coll|quell|quest|un|gl)'(?=\w\w)"
)
_MAX_PARTS = 12  # of a compound that is also kept whole


def lumps(text: str) -> list[str]:
    """The lumps of a text, in order."""
    return (_ASCII_LUMP if text.isascii() else LUMP).findall(text)


def expand(lump: str) -> Lump:
    """The pieces of one lump."""
    if len(lump) <= _PLAIN_LENGTH and lump.isascii() and lump.isalpha() and lump[1:].islower():
        # Most are plain words, with a single piece.
        return Lump((Piece(Kind.SEGMENT, lump.lower(), 0, len(lump), 0),), 1)
    pieces: list[Piece] = []
    position = 0
    for start, end, unspaced in _scripts(lump):
        cut = _grams if unspaced else _mixed
        position = cut(lump[start:end], start, position, pieces)
    pieces.sort(key=lambda piece: (piece.position, piece.kind))
    return Lump(tuple(pieces), position)


def _scripts(lump: str) -> Iterator[tuple[int, int, bool]]:
    """The spans of a lump by whether their script has spaces between words."""
    done = 0
    if not lump.isascii():
        for run in _UNSPACED_RUN.finditer(lump):
            if run.start() > done:
                yield done, run.start(), False
            yield run.start(), run.end(), True
            done = run.end()
    if done < len(lump):
        yield done, len(lump), False


def _grams(run: str, start: int, position: int, out: list[Piece]) -> int:
    """Pairs of adjacent characters, and single ones for one-character queries."""
    chars: list[tuple[str, int, int]]
    if unicodedata.is_normalized("NFKC", run) and not _JOINER.search(run):
        chars = [(char, index, index + 1) for index, char in enumerate(run, start)]
    else:
        chars = [
            (char, start + cluster.start(), start + cluster.end())
            for cluster in _CLUSTER.finditer(run)
            for char in lower(cluster[0])
        ]
    if len(chars) == 1:
        out.append(Piece(Kind.SEGMENT, *chars[0], position))
        return position + 1
    for index, (char, first, last) in enumerate(chars):
        if index + 1 < len(chars):
            following, _, until = chars[index + 1]
            out.append(Piece(Kind.GRAM, char + following, first, until, position + index))
        out.append(Piece(Kind.CHAR, char, first, last, position + index))
    return position + len(chars)


def _mixed(text: str, start: int, position: int, out: list[Piece]) -> int:
    """A lump, or the part of it in a script with spaces."""
    if text.isalpha():
        return _segment(text, start, start + len(text), position, out)
    if text.endswith(("++", "#")):  # ``C++`` and ``C#``: the sign belongs to the name
        name = _SHARP.search(text)
        begin = name.start() if name else 0
        position = _compound(text[:begin], start, position, 0, out)
        out.append(Piece(Kind.SEGMENT, lower(text[begin:]), start + begin, start + len(text), position))
        return position + 1
    text = text.translate(_QUOTES)
    if text.endswith(_POSSESSIVE):
        text = text[:-2]
    if text[:1].isdigit() or (text[:1] in "vV" and text[1:2].isdigit()):
        return _numbered(text, start, position, out)
    return _compound(text, start, position, 0, out)


def _compound(text: str, start: int, position: int, level: int, out: list[Piece]) -> int:
    """Text with links in it: its segments, the whole, and the whole without its links."""
    if text.isalpha():
        return _segment(text, start, start + len(text), position, out)
    while level < len(_LINKS) and not _LINKS[level].search(text):
        level += 1
    if level == len(_LINKS):
        return _word(text, start, position, out)
    first, parts = position, 0
    for begin, end in _between(_LINKS[level], text):
        position = _compound(text[begin:end], start + begin, position, level + 1, out)
        parts += 1
    if position > first and parts <= _MAX_PARTS:
        end = start + len(text)
        out.append(Piece(Kind.WHOLE, lower(text), start, end, first))
        if level > 0 and parts > 1:  # so that spellings with and without the links meet
            joined = "".join(char for char in text[: 4 * MAX_TERM] if _is_letter(char))
            out.append(Piece(Kind.JOINED, lower(joined), start, end, first))
    return position


def _numbered(text: str, start: int, position: int, out: list[Piece]) -> int:
    """Numbers, versions and labels such as ``32.706-2``: the segments, the whole, and its prefixes."""
    first, end = position, start + len(text)
    ends: list[int] = []
    for begin, until in _between(_NUMBER_LINKS, text):
        position = _word(text[begin:until], start + begin, position, out)
        ends.append(until)
    if 1 < len(ends) <= _MAX_PARTS:
        out.append(Piece(Kind.WHOLE, lower(text), start, end, first))
        if text[0] in "vV":
            out.append(Piece(Kind.JOINED, lower(text[1:]), start + 1, end, first))
        if "," in text:
            out.append(Piece(Kind.JOINED, lower(text.replace(",", "")), start, end, first))
        out.extend(
            Piece(Kind.PREFIX, lower(text[:until]), start, start + until, first) for until in ends[1:-1]
        )
    return position


def _word(text: str, start: int, position: int, out: list[Piece]) -> int:
    """A segment, possibly split at apostrophes: ``l'article`` is two words, ``don't`` is one."""
    end = start + len(text)
    if "'" not in text:
        return _segment(text, start, end, position, out)
    if text.endswith(_POSSESSIVE):
        return _word(text[:-2], start, position, out)
    if elided := _ELISION.match(text):
        position = _segment(elided[0][:-1], start, start + elided.end() - 1, position, out)
        return _word(text[elided.end() :], start + elided.end(), position, out)
    if _CONTRACTION.search(text):
        return _segment(text.replace("'", ""), start, end, position, out)
    first = position
    for begin, until in _between(_APOSTROPHE, text):
        position = _segment(text[begin:until], start + begin, start + until, position, out)
    if position > first + 1:
        out.append(Piece(Kind.JOINED, lower(text[: 4 * MAX_TERM].replace("'", "")), start, end, first))
    return position


def _segment(text: str, start: int, end: int, position: int, out: list[Piece]) -> int:
    """One word, and the words inside it if capitals or digits separate them."""
    surface = lower(text)
    if not any(map(str.isalnum, surface)):
        return position
    out.append(Piece(Kind.SEGMENT, surface, start, end, position))
    if len(text) == end - start <= MAX_TERM and text.isascii() and not (text.islower() and text.isalpha()):
        words = [found for found in _CAMEL.finditer(text) if found.end() - found.start() > 1]
        letters = [found for found in words if found[0].isalpha()]
        # ``E17``, ``H1N1`` and ``5kg`` are names and measurements rather than words: they stay whole.
        if letters and (len(letters) > 1 or len(letters[0][0]) > 2) and len(words[0][0]) < len(text):
            out.extend(
                Piece(Kind.PART, lower(found[0]), start + found.start(), start + found.end(), position)
                for found in words
            )
    return position + 1


def _between(link: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The non-empty spans between the links."""
    done = 0
    for found in link.finditer(text):
        if found.start() > done:
            yield done, found.start()
        done = found.end()
    if done < len(text):
        yield done, len(text)


def _is_letter(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")
