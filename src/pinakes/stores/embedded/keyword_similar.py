"""Words of the index that are spelled nearly like another one, for queries with a slip of the finger in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tantivy
from numpy.typing import NDArray

from pinakes.stores.embedded.keyword_schema import EXACT

_TWO_EDITS_FROM = 8  # letters; in shorter words two edits make another word
_LONGEST = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def similar_words(searcher: tantivy.Searcher, word: str, limit: int) -> list[tuple[str, int]]:
    """Words an edit or two away with how many chunks have them: the nearest first, then the most frequent."""
    if not 2 <= len(word) <= _LONGEST or limit < 1:
        return []
    allowed = 2 if len(word) >= _TWO_EDITS_FROM else 1
    found = _nearby(searcher, word, allowed)
    words = [
        text
        for text in found
        if text != word and abs(len(text) - len(word)) <= allowed and text.isalnum() and not text.isdigit()
    ]
    distances = edit_distances(word, words)
    near = [
        (int(distance), -found[text], text)
        for text, distance in zip(words, distances, strict=True)
        if distance <= allowed
    ]
    return [(text, -count) for _, count, text in sorted(near)[:limit]]


def _nearby(searcher: tantivy.Searcher, word: str, allowed: int) -> dict[str, int]:
    """Where a near word may stand in the dictionary, with counts.

    The first letter is seldom wrong, so the slice under it is compared; of words with another first letter only
    those are looked up that the commonest slips make.
    """
    slices = {word[0]} if word[0] == word[1] else {word[0], word[1] + word[0]}
    found = {text: count for start in slices for text, count in searcher.terms_with_prefix(EXACT, start)}
    others = [word[1:]]
    if word.isascii():
        others += [letter + rest for letter in _LETTERS for rest in (word, word[1:])]
    for text in others:
        if text not in found and (count := searcher.doc_freq(EXACT, text)):
            found[text] = count
    return found


def edit_distances(word: str, others: Sequence[str]) -> NDArray[np.int16]:
    """How many letters must be put in, left out, changed or swapped with the next to make each of the others.

    One table for all of them at once: Python alone would take a hundred times as long.
    """
    if not others:
        return np.zeros(0, dtype=np.int16)
    lengths = np.array([len(other) for other in others])
    width = int(lengths.max())
    letters = np.zeros((width, len(others)), dtype=np.uint32)
    codes = np.array(others, dtype=f"<U{max(width, 1)}").view(np.uint32).reshape(len(others), -1)
    letters[:, :] = codes[:, :width].T
    wanted = [ord(letter) for letter in word]
    rows: list[NDArray[np.int16]] = []
    for i in range(len(word) + 1):
        row = np.empty((width + 1, len(others)), dtype=np.int16)
        row[0] = i
        for j in range(1, width + 1):
            if i == 0:
                row[j] = j
                continue
            best = np.minimum(rows[i - 1][j], row[j - 1]) + 1
            np.minimum(best, rows[i - 1][j - 1] + (letters[j - 1] != wanted[i - 1]), out=best)
            if i > 1 and j > 1:
                swapped = (letters[j - 1] == wanted[i - 2]) & (letters[j - 2] == wanted[i - 1])
                np.minimum(best, rows[i - 2][j - 2] + 1, out=best, where=swapped)
            row[j] = best
        rows.append(row)
    distances: NDArray[np.int16] = rows[-1][lengths, np.arange(len(others))]
    return distances
