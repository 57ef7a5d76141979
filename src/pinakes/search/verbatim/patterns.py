"""Patterns: a phrase, words or a regular expression, as something that finds its places in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from pinakes.errors import UsageError
from pinakes.port.texts import TextBlock
from pinakes.search.verbatim.chains import chain_of, parts_of
from pinakes.search.verbatim.counting import (
    count_matches,
    count_paragraphs,
    count_phrase,
    documents_holding,
)
from pinakes.text.verbatim import PARAGRAPH_END, VARIANTS, fold_case, is_of_word, verbatim_form

KINDS = ("phrase", "words", "regex")
LONGEST = 1000
"""Characters of a pattern."""

_CLASSES = {sign: f"[{re.escape(group)}]" for group in VARIANTS for sign in group}
# Line breaks, and what Markdown may put around words and in front of quoted lines.
_GAP = r"[*_]*\s[\s*_>]*"
_ALNUM = r"[^\W_]"
# Marks that may belong to a gap.
_MARKS = "*_>"
# What makes an expression mind where a text begins or ends, other than where lines do.
_MINDS_ENDS = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")
_COUNTED = 1_000_000
"""Matches of a regular expression that are counted."""
# What a regular expression may take while it is compiled.
_MEMORY = 4 << 20


class Texts(Protocol):
    """The texts that are looked through."""

    @property
    def written(self) -> TextBlock:
        """Texts as they are."""
        ...

    @property
    def folded(self) -> TextBlock:
        """Texts in verbatim form."""
        ...


class Counted(NamedTuple):
    """How often a pattern stands in each document; at least, where it is not complete."""

    by_document: dict[int, int]
    complete: bool = True


class Pattern(Protocol):
    """Finds its places in texts."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return where it stands, from the first place on; places do not overlap."""
        ...

    def count(self, texts: Texts) -> Counted:
        """Return how many places there are in each document, without finding them one by one."""
        ...


def compile_pattern(pattern: str, kind: str, *, ignore_case: bool = True) -> Pattern:
    """Return a pattern of a kind. One that can mean nothing is refused."""
    if kind not in KINDS:
        raise UsageError(f"Unknown kind of pattern {kind!r}; there are {', '.join(KINDS)}.")
    if not pattern.strip():
        raise UsageError("Nothing to look for: give a phrase, words or a regular expression.")
    if len(pattern) > LONGEST:
        raise UsageError(f"The pattern has {len(pattern):,} characters; {LONGEST:,} are the most.")
    if any("\ud800" <= sign <= "\udfff" for sign in pattern):
        raise UsageError("The pattern has half a character in it, which no text has.")
    if kind == "regex":
        return _Regex(pattern, ignore_case)
    if not any(map(str.isalnum, pattern)):
        raise UsageError(f"{pattern!r} has no word in it; look for signs with a regular expression.")
    return _Phrase(pattern, ignore_case) if kind == "phrase" else _Words(pattern, ignore_case)


def _count_some(pattern: Pattern, texts: Texts, documents: set[int]) -> Counted:
    """Count one place after the other, in documents that may have any."""
    block = texts.written.only(documents)
    counts = {
        int(document): sum(1 for _ in pattern.spans(block.text(number)))
        for number, document in enumerate(block.documents)
    }
    return Counted({document: count for document, count in counts.items() if count})


def _written(words: list[str]) -> str:
    """Return words in this order, whatever stands between them for the eye alone."""
    parts = ["".join(_CLASSES.get(sign, re.escape(sign)) for sign in word) for word in words]
    return _GAP.join(parts) + (f"(?!{_ALNUM})" if is_of_word(words[-1][-1]) else "")


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
        if start and is_of_word(text[start]) and text[start - 1].isalnum():
            at = start + 1
        else:
            yield start, at


class _Phrase:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self._fold = ignore_case
        self._words = verbatim_form(pattern).split()
        self._found = re.compile(_written((fold_case(pattern) if ignore_case else pattern).split()))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return _whole(self._found, fold_case(text) if self._fold else text)

    def count(self, texts: Texts) -> Counted:
        if any(word[0] in _MARKS for word in self._words[1:]):
            longest = max(self._words, key=len)
            return _count_some(self, texts, documents_holding(texts.folded, longest))
        counts = count_phrase(texts.folded, self._words)
        return Counted(counts) if self._fold else _count_some(self, texts, set(counts))


class _Words:
    """All of some words in one paragraph: the shortest stretch of it that has them."""

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self._fold = ignore_case
        words = dict.fromkeys((fold_case(pattern) if ignore_case else pattern).split())
        self._words = list(dict.fromkeys(verbatim_form(pattern).split()))
        self._found = [re.compile(_written([word])) for word in words]

    def count(self, texts: Texts) -> Counted:
        counts = count_paragraphs(texts.folded, self._words)
        return Counted(counts) if self._fold else _count_some(self, texts, set(counts))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        folded = fold_case(text) if self._fold else text
        if not all(word.search(folded) for word in self._found):
            return
        begin = 0
        for stop in (*(end.start() for end in PARAGRAPH_END.finditer(folded)), len(folded)):
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

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self._found = _compile_regex(pattern, ignore_case)
        if self._found.fullmatch(""):
            raise UsageError(
                "The regular expression matches the empty text, which stands everywhere: ask for a character at least."
            )
        self._minds_ends = bool(_MINDS_ENDS.search(pattern))
        self._chain = chain_of(
            pattern,
            lambda part, signs: "".join(_compile_regex(part, ignore_case).findall(signs)),
        )

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return (found.span() for found in self._found.finditer(text) if found.end() > found.start())

    def count(self, texts: Texts) -> Counted:
        # Of the package's own class, since its iterators take several times as long.
        match, anywhere = self._found._regexp.Match, _re2()._Anchor.UNANCHORED

        def find(text: Any, begin: int, end: int) -> tuple[int, int]:
            found: tuple[int, int] = match(anywhere, text, begin, end)[0]
            return found

        if self._chain is None:
            return Counted(*count_matches(texts.written, find, alone=self._minds_ends, most=_COUNTED))
        counts: dict[int, int] = {}
        left = _COUNTED
        for part in parts_of(texts.written):
            here, complete = self._chain.count(part), True
            if here is None:
                here, complete = count_matches(part, find, alone=False, most=left)
            left -= sum(here.values())
            if left < 0 or not complete:
                return Counted(counts, complete=False)
            counts |= here
        return Counted(counts)


def _compile_regex(pattern: str, ignore_case: bool) -> Any:
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    # Groups say nothing here, and cost much.
    options.never_capture = True
    try:
        # Lines have beginnings and ends, as in other tools of this name.
        return re2.compile(f"(?m{'i' if ignore_case else ''}){pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise UsageError(
            f"The regular expression cannot be used: {reason}. The syntax is that of RE2, which has no look-around "
            "and no back-references."
        ) from None


def _re2() -> Any:
    try:
        import re2
    except ImportError:
        raise UsageError(
            "Regular expressions need the package google-re2, which has no build for this system: install it with "
            "pip install google-re2, or look for a phrase or for words."
        ) from None
    return re2
