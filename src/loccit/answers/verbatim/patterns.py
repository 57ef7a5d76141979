"""Patterns: a phrase, words or a regular expression, compiled to find its occurrences in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise, product
from time import thread_time
from typing import Any, NamedTuple, Protocol

from loccit.answers.verbatim.counting import count_matches, count_paragraphs, count_phrase, documents_holding
from loccit.config.bounds import MOST_COUNTED, PATTERNS
from loccit.errors import UsageError
from loccit.grammar.text.verbatim import PARAGRAPH_END, VARIANTS, fold_case, is_of_word, verbatim_form
from loccit.index.port.texts import TextBlock

KINDS = PATTERNS

_CLASSES = {sign: f"[{re.escape(group)}]" for group in VARIANTS for sign in group}
# Line breaks, and what Markdown may put around words and in front of quoted lines.
_GAP = r"[*_]*\s[\s*_>]*"
_ALNUM = r"[^\W_]"
# Hyphens within a word: a line may break after one.
_HYPHEN = re.compile(rf"(?<={_ALNUM})[{re.escape(VARIANTS[2])}](?={_ALNUM})")
# Up to this many, a phrase is counted with and without a line break after each.
_HYPHENS = 3
# Punctuation that may belong to a gap.
_MARKS = "*_>"
# The parts of an expression: literals, escapes, classes and single characters.
_PART = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|.", re.DOTALL
)
_WIDER = {r"\w": r"\w\p{L}\p{M}\p{N}", r"\s": r"\s\p{Z}\x{85}"}
_ESCAPE = re.compile(r"\\.", re.DOTALL)
# How an expression says that case matters, or does not.
_CASE = re.compile(r"\(\?(-?)i\)")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|[a-zA-Z-]*:?))?")
_TIMES = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_CLASS_BEGINS = ("[", *(f"\\{letter}" for letter in "dDwWsSpPC"))
# Constructs that depend on where a text, rather than a line, begins or ends.
_MINDS_ENDS = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")
MOST_REPEATED = 500
"""The maximum number of characters that a regular expression may match one by one by its repetitions."""
# The processor time for counting the matches of a regular expression: a few take much longer than others.
_SECONDS = 10.0
# The memory that compiling a regular expression may take.
_MEMORY = 4 << 20


class Texts(Protocol):
    """The texts to search."""

    @property
    def written(self) -> TextBlock:
        """The texts as they are."""
        ...

    @property
    def folded(self) -> TextBlock:
        """Texts in verbatim form."""
        ...


class Counted(NamedTuple):
    """The number of occurrences in each document; a lower bound if not complete."""

    by_document: dict[int, int]
    complete: bool = True


class Pattern(Protocol):
    """Finds its occurrences in texts."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return the occurrences in order, without overlaps."""
        ...

    def count(self, texts: Texts) -> Counted:
        """Return the number of occurrences in each document, without locating each one."""
        ...


def compile_pattern(pattern: str, kind: str, *, ignore_case: bool = True) -> Pattern:
    """Compile a pattern of some kind. Meaningless ones are refused."""
    if kind not in KINDS:
        raise UsageError(f"Unknown kind of pattern {kind!r}; available: {', '.join(KINDS)}.")
    if not pattern.strip():
        raise UsageError("The pattern is empty: give a phrase, words or a regular expression.")
    if kind == "regex":
        return _Regex(pattern, ignore_case)
    if not any(map(str.isalnum, pattern)):
        raise UsageError(
            f"The pattern {pattern!r} contains no words; use a regular expression to find punctuation."
        )
    return _Phrase(pattern, ignore_case) if kind == "phrase" else _Words(pattern, ignore_case)


def _count_some(pattern: Pattern, texts: Texts, documents: set[int]) -> Counted:
    """Count one occurrence after another, in documents that may have any."""
    block = texts.written.only(documents)
    counts = {
        int(document): sum(1 for _ in pattern.spans(block.text(number)))
        for number, document in enumerate(block.documents)
    }
    return Counted({document: count for document, count in counts.items() if count})


def _written(words: list[str], gap: str = "") -> str:
    """Return a pattern for words in this order, ignoring markup and line breaks; ``gap`` may follow a hyphen."""
    parts = []
    for word in words:
        hyphens = {found.start() for found in _HYPHEN.finditer(word)} if gap else ()
        signs = (_CLASSES.get(sign, re.escape(sign)) for sign in word)
        parts.append("".join(f"{sign}{gap}" if at in hyphens else sign for at, sign in enumerate(signs)))
    return _GAP.join(parts) + (f"(?!{_ALNUM})" if is_of_word(words[-1][-1]) else "")


def _readings(words: list[str]) -> Iterator[list[str]]:
    """Return the words with and without a line break after each hyphen.

    >>> list(_readings(["a", "set-off"]))
    [['a', 'set-off'], ['a', 'set-', 'off']]
    """
    text = " ".join(words)
    cuts = [0, *(hyphen.end() for hyphen in _HYPHEN.finditer(text)), len(text)]
    pieces = [text[begin:end] for begin, end in pairwise(cuts)]
    for ends in product(("", " "), repeat=len(pieces) - 1):
        yield "".join(map("".join, zip(pieces, (*ends, ""), strict=True))).split(" ")


def _whole(
    found: re.Pattern[str], text: str, begin: int = 0, stop: int = sys.maxsize
) -> Iterator[tuple[int, int]]:
    """Return the matches that do not begin within a word.

    A look-behind in the expression would do it too, but would prevent the literal prefix search that is many times
    faster.
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
        self._found = re.compile(
            _written((fold_case(pattern) if ignore_case else pattern).split(), f"(?:{_GAP})?")
        )

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return _whole(self._found, fold_case(text) if self._fold else text)

    def count(self, texts: Texts) -> Counted:
        hyphens = len(_HYPHEN.findall(" ".join(self._words)))
        if hyphens > _HYPHENS or any(word[0] in _MARKS for word in self._words[1:]):
            longest = max((piece for word in self._words for piece in _HYPHEN.split(word)), key=len)
            return _count_some(self, texts, documents_holding(texts.folded, longest))
        counts = count_phrase(texts.folded, *_readings(self._words))
        return Counted(counts) if self._fold else _count_some(self, texts, set(counts))


class _Words:
    """All of some words in one paragraph: matches the shortest span that contains them."""

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
    """A regular expression in RE2 syntax, which always runs in linear time."""

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        if case := _CASE.match(pattern):
            pattern, ignore_case = pattern[case.end() :], not case[1]
        self._found = _compile_regex(pattern, ignore_case)
        if (repeated := _repeated(pattern)) > MOST_REPEATED:
            raise UsageError(
                f"The pattern repeats too much: its repetitions stand for {repeated:,} characters, and at most "
                f"{MOST_REPEATED} are allowed. Shorten the numbers in braces."
            )
        if self._found.fullmatch(""):
            raise UsageError(
                "The regular expression matches the empty string, which is everywhere: require at least one character."
            )
        self._minds_ends = bool(_MINDS_ENDS.search(pattern))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return (found.span() for found in self._found.finditer(text) if found.end() > found.start())

    def count(self, texts: Texts) -> Counted:
        # By single matches: the package's own iterators take several times as long.
        match, anywhere = self._found._regexp.Match, _re2()._Anchor.UNANCHORED

        def find(text: Any, begin: int, end: int) -> tuple[int, int]:
            found: tuple[int, int] = match(anywhere, text, begin, end)[0]
            return found

        until = thread_time() + _SECONDS
        return Counted(
            *count_matches(texts.written, find, alone=self._minds_ends, most=MOST_COUNTED, until=until)
        )


def _repeated(pattern: str) -> int:
    r"""Return how many characters of an expression are compared one by one: each class, and all that numbers repeat.

    RE2 has to keep as many possibilities in mind, and takes that many times as long.

    >>> _repeated("shall"), _repeated(r"\d{4}-[0-9]"), _repeated("(a.){3}x{2,5}"), _repeated("(?:.{9}){9,}|the")
    (0, 5, 11, 81)
    """
    # Of each part of a group, how many are compared so, and how many would be if it were repeated.
    groups: list[list[tuple[int, int]]] = [[]]
    at = 0
    while at < len(pattern):
        parts = groups[-1]
        if found := _GROUP.match(pattern, at):
            groups.append([])
        elif pattern[at] == ")" and len(groups) > 1:
            groups.pop()
            groups[-1].append((sum(one for one, _ in parts), sum(size for _, size in parts)))
        elif parts and (found := _TIMES.match(pattern, at)):
            one, size = parts.pop()
            most = max(int(number or 1) for number in found.groups())
            parts.append((size * most if most > 1 else one, size * most))
        else:
            found = _PART.match(pattern, at)
            if found and found[0] not in "*+?|^$":
                parts.append((int(found[0] == "." or found[0].startswith(_CLASS_BEGINS)), 1))
        at = found.end() if found else at + 1
    return sum(one for parts in groups for one, _ in parts)


def _of_all_scripts(pattern: str) -> str:
    r"""Return an expression whose letters and spaces are those of all scripts, which RE2 takes from ASCII alone.

    A letter beyond it is none to ``\b`` either: where that stands beside one, ``\B`` says what is meant.

    >>> _of_all_scripts(r"\s[\w-]+ \bÜ\w")
    '[\\s\\p{Z}\\x{85}][\\w\\p{L}\\p{M}\\p{N}-]+ \\BÜ[\\w\\p{L}\\p{M}\\p{N}]'
    """
    parts = _PART.findall(pattern)
    found = []
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        if part == r"\b" and any(not sign.isascii() and sign.isalnum() for sign in (before, after)):
            part = r"\B"
        elif part in _WIDER:
            part = f"[{_WIDER[part]}]"
        elif part.lower() in _WIDER:
            part = f"[^{_WIDER[part.lower()]}]"
        elif part.startswith("["):
            part = _ESCAPE.sub(lambda escape: _WIDER.get(escape[0], escape[0]), part)
        found.append(part)
    return "".join(found)


def _compile_regex(pattern: str, ignore_case: bool) -> Any:
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    # Groups are not needed here, and are expensive.
    options.never_capture = True
    # `^` and `$` match at lines, as in other tools of this kind.
    flags = f"(?m{'i' if ignore_case else ''})"
    try:
        with suppress(re2.error):
            return re2.compile(flags + _of_all_scripts(pattern), options)
        # The wider classes may exceed the memory limit, and errors should quote the pattern as given.
        return re2.compile(flags + pattern, options)
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
