"""Spelling: query words that occur nowhere, and the words of the library that were probably meant.

A correction loses nothing: a word that no text contains finds nothing anyway, and has no meaning when embedded. Words
that occur anywhere are correct by definition.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from loccit.grammar.labels.lexicon import load
from loccit.grammar.text.folding import fold, lower
from loccit.grammar.text.stopwords import STOPWORDS
from loccit.search.understand.query_syntax import QUOTED

MIN_LETTERS = 4
MAX_CORRECTIONS = 4
_TWO_EDITS_FROM = 8
# From this length on, a word that occurs only once is accepted as a correction, one edit away.
_SURE_LETTERS = 6
_SHORTEST = 3  # letters of a replacement
_CANDIDATES = 8
_CHECKED_WORDS = 32

# A word by itself: not part of a name, an address, a path, a contraction or a compound.
_WORD = re.compile(r"(?<![\w.@/:\\'’#$&+-])[^\W\d_]+(?![\w@/:\\'’#+-]|\.\w|\()")
_CODE = re.compile(r"`[^`]{1,500}`")
# A word before a number, like the words that name places: `Artcle 3`.
_BEFORE_NUMBER = re.compile(r"(?<![\w'’-])([^\W\d_]{5,20})\s{1,2}(?=\(?\d|[IVXLC]{1,7}\b)")
_KIND_LETTERS = 6  # of a word for a place that is still recognisable with a typing error
_FUNCTION_WORDS = frozenset().union(*STOPWORDS.values())


class Dictionary(Protocol):
    """The words of a library."""

    def frequency(self, word: str, languages: Sequence[str]) -> int:
        """Return how many chunks contain a word, in any of its forms."""
        ...

    def similar(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return words with similar spelling, with the number of chunks that contain them."""
        ...


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that occurs nowhere, and the one to search for as well."""

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
    """Find corrections for the misspelled words of a text.

    ``text`` is the query without quotations and references. ``known`` recognises words that are correct although the
    library does not contain them; a tokenizer's single tokens are such words. ``at_least`` is how many chunks must
    contain a replacement.
    """
    words = list(dict.fromkeys(_words(text)))[:_CHECKED_WORDS]
    missing = [
        word
        for word in words
        if not (known is not None and known(word)) and not dictionary.frequency(word, languages)
    ]
    few = len(missing) <= max(2, len(words) // 2)
    if not few and len(missing) > MAX_CORRECTIONS:
        return ()
    found = [Correction(word, best) for word in missing if (best := _best(word, dictionary, at_least))]
    # So many are typing errors only if all are: else the query is in another language, or about something else.
    return tuple(found[:MAX_CORRECTIONS]) if few or len(found) == len(missing) else ()


def find_misspelled_kinds(text: str, known: Callable[[str], bool] | None = None) -> tuple[Correction, ...]:
    """Find words before a number that are one edit away from a word for a place, in any language.

    ``known`` recognises words of the library: `Charter 3` may be right.

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
    """Explain in a sentence how misspelled words for places were read; "" if there are none."""
    read = " and ".join(f"“{item.word}” as “{item.replacement}”" for item in corrections)
    return f"Read {read}." if read else ""


def _nearest_kind(word: str) -> str:
    """The word for a place that is one edit away; "" if there is none, or the word is such a word itself."""
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
    # English forms come first; a word between two kinds of places is neither.
    return near[0].word if len({form.kind for form in near}) == 1 else ""


def _is_slip(typed: str, meant: str) -> bool:
    """Whether a letter is missing, added or transposed; a substituted letter makes another word: `Charter`."""
    return edit_distance(typed, meant) == 1 and (len(typed) != len(meant) or sorted(typed) == sorted(meant))


@cache
def _plain_kinds() -> frozenset[str]:
    return frozenset(fold(word) for word in (*load().forms, *load().parts))


def corrected_text(text: str, corrections: Sequence[Correction]) -> str:
    """Return a text with the words replaced, except in quotation marks or backticks."""
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
    """Say in a sentence what was also searched for; "" if there are no corrections."""
    if not corrections:
        return ""
    searched = " and ".join(f"“{item.replacement}”" for item in corrections)
    missing = " or ".join(f"“{item.word}”" for item in corrections)
    return f"Also searched for {searched} (nothing has {missing})."


def _words(text: str) -> list[str]:
    """The words that can be misspelled: no names in capitals, identifiers or function words."""
    plain = _CODE.sub(" ", QUOTED.sub(" ", unicodedata.normalize("NFC", text)))
    found = []
    for match in _WORD.finditer(plain):
        word = match.group()
        # Scripts without case are left alone.
        cased = word[1:].islower() and word.isalpha() and word[0].lower() != word[0].upper()
        if len(word) >= MIN_LETTERS and cased and fold(lower(word)) not in _FUNCTION_WORDS:
            found.append(word)
    return found


def _best(word: str, dictionary: Dictionary, at_least: int) -> str:
    """The most likely replacement: the closest, then by same beginning, same letters and frequency."""
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
    """Edit distance, whether the beginnings differ and whether the letters do; None if too far apart."""
    distance = edit_distance(typed, meant)
    other_start, other_letters = typed[:1] != meant[:1], sorted(typed) != sorted(meant)
    if distance == 2:
        # Two substituted letters make another word, not a typing error.
        changed = len(typed) == len(meant) and sum(a != b for a, b in zip(typed, meant, strict=True)) == 2
        if len(typed) < _TWO_EDITS_FROM or other_start or changed:
            return None
    return (distance, other_start, other_letters) if 0 < distance <= 2 else None


def edit_distance(one: str, other: str) -> int:
    """The edit distance: insertions, deletions, substitutions and transpositions.

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
