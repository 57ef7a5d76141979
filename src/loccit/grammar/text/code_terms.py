"""Terms of program code: whole identifiers and their parts, operators, language names; also in questions.

Nothing is stemmed or dropped.

>>> code_terms("getUserById(std::vector)")
['getuserbyid', 'get', 'user', 'by', 'id', 'std', '::', 'vector']
>>> query_code("How do I call getAuthToken in a loop?").names
(CodeTerm(text='getauthtoken', parts=('get', 'auth', 'token'), operator=False),)
>>> query_code("How do I call a friend?").names
()
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loccit.grammar.text.compounds import LUMP
from loccit.grammar.text.folding import MAX_TERM, fold, lower
from loccit.grammar.text.stopwords import STOPWORDS

_OPERATORS = (
    *("===", "!==", "<=>", "...", "<<=", ">>=", "**=", "//=", "||=", "&&=", "??="),
    *("::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", ":=", "??", "?.", "**", "++", "--"),
    *("+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "|>", "<|", "<-", "<>", ".."),
)
_TOKEN = re.compile(
    r"(?P<language>(?<!\w)(?:[Cc]\+\+|[CcFf]\#)(?!\w))"
    # A flag of a command: only where it cannot be a minus.
    r"|(?P<flag>(?<![^\s\"'`(\[=])--?[A-Za-z][\w-]*)"
    # Names with hyphens, as in style sheets, settings and command names.
    r"|(?P<word>\w+(?:-(?=[^\W\d]{2})\w+)*)"
    rf"|(?P<operator>{'|'.join(map(re.escape, sorted(_OPERATORS, key=len, reverse=True)))})"
)
_JOINTS = re.compile(r"[_-]+")
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MAX_PARTS = 20
_MAX_NAMES = 16
_MAX_WORDS = 32
# Nobody writes longer ones, and what is between them takes time with the square of its length.
_TOO_LONG = re.compile(r"\w{200,}")
_TICKED = re.compile(r"(`+)(.+?)\1")
# What nobody writes in prose: inner capitals, underscores, calls, qualified names, flags, language names.
_MARKED = re.compile(
    r"""
      (?<![\w-])--[A-Za-z][\w-]*\w
    | (?<!\w)(?:[Cc]\+\+|[CcFf]\#)(?!\w)
    | [^\W\d]\w+(?:(?:::|->|\.)[^\W\d]\w+)+(?:\(\)?)?
    | [^\W\d]\w*\(\)?
    | (?<!\S)(?:::|->|=>|===?|!==?|<=|>=|&&|\|\||:=|\?\?|\?\.|\|>|<-|\*\*|\+\+|<<|>>)(?!\S)
    | \w*[^\W\d]_\w+ | _+[^\W\d]\w*
    | \w*[a-z][A-Z]\w* | [A-Z]{2,}[a-z]{2,}\w*
    | (?<!\w)[a-z]{2,}\d+\w*
    """,
    re.VERBOSE,
)
# "e.g.", "example.com" and "v1.2" have dots for other reasons.
_NO_CODE = re.compile(
    r"(?i)(?:e\.g|i\.e|a\.m|p\.m|[a-z]\.[a-z]|www\..*|.*\.(?:com|org|net|edu|gov|io|html?|pdf))\Z"
)


@dataclass(frozen=True, slots=True)
class CodeTerm:
    """An identifier or operator as indexed, and the words that an identifier consists of."""

    text: str
    parts: tuple[str, ...] = ()
    operator: bool = False


def code_tokens(code: str) -> Iterator[CodeTerm]:
    """The identifiers and operators of a piece of code, in order."""
    for found in _TOKEN.finditer(code):
        kind, text = found.lastgroup, found[0]
        if kind == "operator":
            yield CodeTerm(text, operator=True)
        elif kind == "language":
            yield CodeTerm(text.lower())
        elif any(map(str.isalnum, text)):
            yield CodeTerm(_term(text), _parts(text))


def code_terms(code: str) -> list[str]:
    """The terms of a piece of code in order: each identifier, then its parts."""
    return [term for token in code_tokens(code) for term in (token.text, *token.parts)]


def _term(text: str) -> str:
    return fold(lower(text))[:MAX_TERM]


def _parts(text: str) -> tuple[str, ...]:
    """The words inside a name, separated by capitals, digits, underscores or hyphens."""
    if text[0].isdigit():
        return ()  # a number: ``0xFF`` is not made of words
    segments = [segment for segment in _JOINTS.split(text) if segment]
    # In other scripts only separators are certain: "Größe" must not be split at its "ö".
    parts = [part for item in segments for part in (_PART.findall(item) if item.isascii() else [item])]
    terms = tuple(map(_term, parts[:_MAX_PARTS]))
    return () if terms == (_term(text),) else terms


@dataclass(frozen=True, slots=True)
class CodeQuery:
    """Code identifiers as index terms; and the words around them, which may be parts of identifiers."""

    names: tuple[CodeTerm, ...]
    words: tuple[str, ...]


def query_code(text: str) -> CodeQuery:
    """Read a question. Without an identifier in it, it is not about code."""
    marked = [found[2] for found in _TICKED.finditer(text)]
    rest = _TOO_LONG.sub(" ", _TICKED.sub(" ", text))
    spans = [found for found in _MARKED.finditer(rest) if not _NO_CODE.match(found[0])]
    marked += [found[0] for found in spans]
    names = {token.text: token for piece in marked for token in code_tokens(piece)}
    if not names:
        return CodeQuery((), ())
    for found in reversed(spans):
        rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    words = dict.fromkeys(token.text for lump in LUMP.findall(rest) for token in code_tokens(lump))
    plain = [word for word in words if word not in names and word not in STOPWORDS["en"] and len(word) > 1]
    return CodeQuery(tuple(names.values())[:_MAX_NAMES], tuple(plain[:_MAX_WORDS]))
