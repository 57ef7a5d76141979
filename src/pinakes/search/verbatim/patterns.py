"""Patterns: a phrase, words or a regular expression, as something that finds its places in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pinakes.errors import UsageError

KINDS = ("phrase", "words", "regex")
LONGEST = 1000
"""Characters of a pattern."""

_VARIANTS = ("'’‘‚‛ʼ＇`", '"“”„‟«»', "-‐‑‒–—−")
_CLASSES = {sign: f"[{re.escape(group)}]" for group in _VARIANTS for sign in group}
# Line breaks, and what Markdown may put around words and in front of quoted lines.
_GAP = r"[*_]*\s[\s*_>]*"
_ALNUM = r"[^\W_]"
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"[a-z0-9]{3,40}")
_PLAIN_ESCAPES = frozenset("bBdDsSwWAzntrfv")
# What a regular expression may take while it is compiled.
_MEMORY = 4 << 20


class Pattern(Protocol):
    """Finds its places in texts."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Letters and digits in lower case, each of which stands within one word of every place; may be none."""
        ...

    @property
    def reach(self) -> int:
        """In how many chunks one place can stand at most; 0 where that is not known."""
        ...

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where it stands, from the first place on; places do not overlap."""
        ...


def compile_pattern(pattern: str, kind: str, *, ignore_case: bool = True) -> Pattern:
    """Return a pattern of a kind. One that can mean nothing is refused."""
    if kind not in KINDS:
        raise UsageError(f"Unknown kind of pattern {kind!r}; there are {', '.join(KINDS)}.")
    if not pattern.strip():
        raise UsageError("Nothing to look for: give a phrase, words or a regular expression.")
    if len(pattern) > LONGEST:
        raise UsageError(f"The pattern has {len(pattern):,} characters; {LONGEST:,} are the most.")
    if kind == "regex":
        return _Regex(pattern, ignore_case)
    if not any(map(str.isalnum, pattern)):
        raise UsageError(f"{pattern!r} has no word in it; look for signs with a regular expression.")
    return _Phrase(pattern, ignore_case) if kind == "phrase" else _Words(pattern, ignore_case)


def fold_case(text: str) -> str:
    """Return a text in lower case, character for character."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if "İ" in text:
        lowered = text.replace("İ", "i").lower()
    return lowered.replace("ς", "σ")


def _written(words: list[str]) -> str:
    """Return words in this order, whatever stands between them for the eye alone."""
    parts = ["".join(_CLASSES.get(sign, re.escape(sign)) for sign in word) for word in words]
    return _GAP.join(parts) + (f"(?!{_ALNUM})" if words[-1][-1].isalnum() else "")


def _whole(
    found: re.Pattern[str], text: str, begin: int = 0, stop: int = sys.maxsize
) -> Iterator[tuple[int, int]]:
    """Return what is found and does not begin within a word.

    A look-behind in the expression would do it too, but then its first letters are not looked for by themselves, which
    is many times faster.
    """
    at = begin
    while match := found.search(text, at, stop):
        start, at = match.span()
        if start and text[start].isalnum() and text[start - 1].isalnum():
            at = start + 1
        else:
            yield start, at


class _Phrase:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self._fold = ignore_case
        words = (fold_case(pattern) if ignore_case else pattern).split()
        self._found = re.compile(_written(words))
        self.needs = tuple(dict.fromkeys(_WORD.findall(fold_case(pattern))))
        # A chunk in which a part of it stands holds at least a sign of it.
        self.reach = len(words)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return _whole(self._found, fold_case(text) if self._fold else text)


class _Words:
    """All of some words in one paragraph: the shortest stretch of it that has them."""

    reach = 0

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self._fold = ignore_case
        words = dict.fromkeys((fold_case(pattern) if ignore_case else pattern).split())
        self._found = [re.compile(_written([word])) for word in words]
        self.needs = tuple(dict.fromkeys(_WORD.findall(fold_case(pattern))))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        folded = fold_case(text) if self._fold else text
        if not all(word.search(folded) for word in self._found):
            return
        begin = 0
        for stop in (*(end.start() for end in _PARAGRAPH_END.finditer(folded)), len(folded)):
            if found := self._shortest(folded, begin, stop):
                yield found
            begin = stop

    def _shortest(self, text: str, begin: int, stop: int) -> tuple[int, int] | None:
        places: list[tuple[int, int, int]] = []
        for number, word in enumerate(self._found):
            here = [(*found, number) for found in _whole(word, text, begin, stop)]
            if not here:
                return None
            places += here
        places.sort()
        last: dict[int, tuple[int, int]] = {}
        best: tuple[int, int] | None = None
        for start, end, number in places:
            last[number] = (start, end)
            if len(last) == len(self._found):
                span = min(at[0] for at in last.values()), max(at[1] for at in last.values())
                if best is None or span[1] - span[0] < best[1] - best[0]:
                    best = span
        return best


class _Regex:
    """A regular expression in the syntax of RE2, which takes time in proportion to the text whatever it is."""

    reach = 0

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        re2 = _re2()
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        try:
            # Lines have beginnings and ends, as in other tools of this name.
            self._found = re2.compile(f"(?m{'i' if ignore_case else ''}){pattern}", options)
        except re2.error as error:
            reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
            raise UsageError(
                f"The regular expression cannot be used: {reason}. The syntax is that of RE2, which has no look-around "
                "and no back-references."
            ) from None
        if self._found.fullmatch(""):
            raise UsageError(
                "The regular expression matches the empty text, which stands everywhere: ask for a character at least."
            )
        self.needs = literals(pattern)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return (found.span() for found in self._found.finditer(text) if found.end() > found.start())


def _re2() -> Any:
    try:
        import re2
    except ImportError:
        raise UsageError(
            "Regular expressions need the package google-re2, which has no build for this system: install it with "
            "pip install google-re2, or look for a phrase or for words."
        ) from None
    return re2


@dataclass(slots=True)
class _Reading:
    runs: list[str]
    run: str = ""

    def end(self, without_last: bool = False) -> None:
        """End the run of letters; the last one may be there or not."""
        self.runs.append(self.run[:-1] if without_last else self.run)
        self.run = ""


def literals(pattern: str) -> tuple[str, ...]:
    """Return runs of letters and digits that every match of a regular expression has; none where that is not sure.

    >>> literals(r"EUR \\d+ (million|thousand) fines?"), literals("days|months"), literals("[[:alpha:]]+")
    (('eur', 'fine'), (), ())
    """
    if "[:" in pattern:
        return ()
    reading, depth, at = _Reading([]), 0, 0
    while at < len(pattern):
        sign, at = pattern[at], at + 1
        if sign == "\\":
            escaped = pattern[at : at + 1]
            if escaped.isalnum() and escaped not in _PLAIN_ESCAPES:
                return ()
            at += 1
            reading.end()
        elif sign == "[":
            closing = _class_end(pattern, at)
            if closing < 0:
                return ()
            at = closing
            reading.end()
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            reading.end()
        elif sign == "|" and depth == 0:
            return ()
        elif sign in "?*{":
            reading.end(without_last=True)
            if sign == "{":
                closing = pattern.find("}", at)
                if closing < 0:
                    return ()
                at = closing + 1
        elif depth == 0 and sign.isascii() and sign.isalnum():
            reading.run += sign.lower()
        else:
            reading.end()
    reading.end()
    return tuple(dict.fromkeys(run[:40] for run in reading.runs if len(run) > 2))


def _class_end(pattern: str, at: int) -> int:
    """Return where a class of characters ends that begins before an offset; -1 where it does not."""
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
        elif pattern[at] == "]":
            return at + 1
        else:
            at += 1
    return -1
