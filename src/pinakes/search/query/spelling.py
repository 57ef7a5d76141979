"""Spelling: words of a query that nothing has, and the word of the library that was probably meant.

Nothing is lost by a correction: a word that no text has finds nothing anyway, and in a text that is embedded a broken
word means nothing. Words that occur anywhere are right by definition.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Protocol

from pinakes.labels.lexicon import load
from pinakes.search.query.query_syntax import QUOTED
from pinakes.text.folding import fold, lower
from pinakes.text.stopwords import STOPWORDS

MIN_LETTERS = 4
MAX_CORRECTIONS = 4
_TWO_EDITS_FROM = 8
# From so many letters on, one slip away from a word that occurs only once is still that word.
_SURE_LETTERS = 6
_SHORTEST = 3  # letters of a replacement
_CANDIDATES = 8
_CHECKED_WORDS = 32

# A word by itself: no part of a name, an address, a path, a contraction or a compound.
_WORD = re.compile(r"(?<![\w.@/:\\'’#$&+-])[^\W\d_]+(?![\w@/:\\'’#+-]|\.\w|\()")
_CODE = re.compile(r"`[^`]{1,500}`")
# A word before a number, as those are that name a place: `Artcle 3`.
_BEFORE_NUMBER = re.compile(r"(?<![\w'’-])([^\W\d_]{5,20})\s{1,2}(?=\(?\d|[IVXLC]{1,7}\b)")
_KIND_LETTERS = 6  # of a word for a place that a slip leaves recognisable
_FUNCTION_WORDS = frozenset().union(*STOPWORDS.values())


class Dictionary(Protocol):
    """The words of a library."""

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks have a word, in any of its forms."""
        ...

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return words that are spelled nearly so, with how many chunks have them."""
        ...


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that nothing has, and the one that is searched for as well."""

    word: str
    replacement: str


def find_corrections(
    text: str,
    dictionary: Dictionary,
    languages: Sequence[str],
    *,
    known: Callable[[str], bool] | None = None,
    at_least: int = 2,
) -> tuple[Correction, ...]:
    """Find what the misspelled words of a text were meant to be.

    ``text`` is what a query says outside quotation marks and references. ``known`` may vouch for words that are
    right although the library does not have them; a tokenizer's single tokens are such words. ``at_least`` is how
    many chunks must have a word for it to be a replacement.
    """
    words = list(dict.fromkeys(_words(text)))[:_CHECKED_WORDS]
    missing = [
        word
        for word in words
        if not (known is not None and known(word)) and not dictionary.frequency(word, languages)
    ]
    if len(missing) > max(2, len(words) // 2):
        # That much is not a slip of the finger: the query is in another language, or about something else.
        return ()
    replacements = ((word, _best(word, dictionary, at_least)) for word in missing)
    found = (Correction(word, replacement) for word, replacement in replacements if replacement)
    return tuple(islice(found, MAX_CORRECTIONS))


def find_misspelled_kinds(text: str, known: Callable[[str], bool] | None = None) -> tuple[Correction, ...]:
    """Find words before a number that are one slip away from the word for a place, in any language.

    ``known`` says that a word is one of the library's own: `Charter 3` may be right.

    >>> find_misspelled_kinds("Artcle 3 of the charter, pump 4")
    (Correction(word='Artcle', replacement='Article'),)
    """
    found: list[Correction] = []
    for match in list(_BEFORE_NUMBER.finditer(text))[:_CHECKED_WORDS]:
        word = match.group(1)
        meant = _nearest_kind(lower(word))
        if meant and not (known is not None and known(word)):
            found.append(Correction(word, meant.capitalize() if word[0].isupper() else meant))
    return tuple(dict.fromkeys(found))[:MAX_CORRECTIONS]


def describe_misread(corrections: Sequence[Correction]) -> str:
    """Say how words for places were read, in a sentence; nothing when they were read as they stand."""
    read = " and ".join(f"“{item.word}” as “{item.replacement}”" for item in corrections)
    return f"Read {read}." if read else ""


def _nearest_kind(word: str) -> str:
    """The word for a place that is one slip away; nothing when there is none, or the word is itself one."""
    lexicon = load()
    if word in lexicon.forms or word in lexicon.parts or fold(word) in _plain_kinds():
        return ""
    near = [
        form
        for form in lexicon.forms.values()
        if len(form.word) >= _KIND_LETTERS
        and form.word[0] == word[0]
        and abs(len(form.word) - len(word)) <= 1
        and not (form.stop or form.only_heading)
        and _is_slip(fold(word), fold(form.word))
    ]
    # English comes first among the forms; a word between two kinds of places names neither.
    return near[0].word if len({form.kind for form in near}) == 1 else ""


def _is_slip(typed: str, meant: str) -> bool:
    """Whether a letter is missing, too many or swapped with the next; another letter makes another word: `Charter`."""
    return edit_distance(typed, meant) == 1 and (len(typed) != len(meant) or sorted(typed) == sorted(meant))


@cache
def _plain_kinds() -> frozenset[str]:
    return frozenset(fold(word) for word in (*load().forms, *load().parts))


def corrected_text(text: str, corrections: Sequence[Correction]) -> str:
    """Return a text with the words replaced; what is in quotation marks or backticks stays as it is."""
    if not corrections:
        return text
    replacements = {item.word: item.replacement for item in corrections}
    text = unicodedata.normalize("NFC", text)
    parts, position = [], 0
    for literal in re.finditer(rf"{QUOTED.pattern}|{_CODE.pattern}", text):
        parts += [_replaced(text[position : literal.start()], replacements), literal.group()]
        position = literal.end()
    return "".join([*parts, _replaced(text[position:], replacements)])


def describe_corrections(corrections: Sequence[Correction]) -> str:
    """Say what was also searched for, in a sentence; nothing when there are no corrections."""
    if not corrections:
        return ""
    searched = " and ".join(f"“{item.replacement}”" for item in corrections)
    missing = " or ".join(f"“{item.word}”" for item in corrections)
    return f"Also searched for {searched} (nothing has {missing})."


def _words(text: str) -> list[str]:
    """The words that can be misspelled: not names in capitals, not identifiers, not function words."""
    plain = _CODE.sub(" ", QUOTED.sub(" ", unicodedata.normalize("NFC", text)))
    found = []
    for match in _WORD.finditer(plain):
        word = match.group()
        # Scripts without upper and lower case are left alone: their words are not made of such letters.
        cased = word[1:].islower() and word.isalpha() and word[0].lower() != word[0].upper()
        if len(word) >= MIN_LETTERS and cased and fold(lower(word)) not in _FUNCTION_WORDS:
            found.append(word)
    return found


def _best(word: str, dictionary: Dictionary, at_least: int) -> str:
    """The most likely replacement: the nearest; of these one that begins so, has the same letters, is frequent."""
    typed = fold(lower(word))
    ranked = []
    for candidate, count in dictionary.similar(word, _CANDIDATES):
        slip = _slip(typed, candidate)
        sure = slip is not None and slip[:2] == (1, False) and len(typed) >= _SURE_LETTERS
        if (
            slip is not None
            and count >= (1 if sure else at_least)
            and len(candidate) >= _SHORTEST
            and candidate.isalpha()
            and candidate not in _FUNCTION_WORDS
        ):
            ranked.append((slip, -count, candidate))
    return min(ranked)[-1] if ranked else ""


def _slip(typed: str, meant: str) -> tuple[int, bool, bool] | None:
    """How far two words are apart, whether they begin differently and are of other letters; None when too far."""
    distance = edit_distance(typed, meant)
    other_start, other_letters = typed[:1] != meant[:1], sorted(typed) != sorted(meant)
    if distance == 2:
        # Two letters that are simply others make another word, not a slip.
        changed = len(typed) == len(meant) and sum(a != b for a, b in zip(typed, meant, strict=True)) == 2
        if len(typed) < _TWO_EDITS_FROM or other_start or changed:
            return None
    return (distance, other_start, other_letters) if 0 < distance <= 2 else None


def edit_distance(one: str, other: str) -> int:
    """How many letters must be put in, left out, changed or swapped with the next.

    >>> edit_distance("controler", "controller"), edit_distance("recieve", "receive"), edit_distance("ab", "ab")
    (1, 1, 0)
    """
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def _replaced(text: str, replacements: dict[str, str]) -> str:
    return _WORD.sub(lambda match: replacements.get(match.group(), match.group()), text)
