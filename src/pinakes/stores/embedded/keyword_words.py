"""Words by the letters in them: all words of a keyword index as one text that is looked through."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

# Words that may have been cut short when they were indexed, and so have lost what is looked for.
_LONG = 50


class WordList:
    """The words of an index, with how many chunks have each."""

    def __init__(self, words: Iterable[tuple[str, int]]) -> None:
        pairs = list(words)
        self._words = [word for word, _ in pairs]
        self._counts = [count for _, count in pairs]
        self._long = [number for number, word in enumerate(self._words) if len(word) >= _LONG]
        self._text = "\n".join(self._words) + "\n"
        self._starts: list[int] = []
        at = 0
        for word in self._words:
            self._starts.append(at)
            at += len(word) + 1

    def containing(self, letters: str) -> tuple[list[str], int]:
        """Return the words that have some letters in them, or may have had, and how many chunks these are in at most.

        >>> WordList([("holidays", 2), ("days", 5), ("tide", 1)]).containing("day")
        (['holidays', 'days'], 7)
        """
        numbers = dict.fromkeys(self._long)
        at = self._text.find(letters)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            numbers[number] = None
            at = self._text.find(letters, self._starts[number] + len(self._words[number]) + 1)
        return [self._words[number] for number in numbers], sum(self._counts[number] for number in numbers)
