"""Terms of program code: identifiers whole and in parts, operators, language names. Nothing is stemmed or dropped.

>>> code_terms("getUserById(std::vector)")
['getuserbyid', 'get', 'user', 'by', 'id', 'std', '::', 'vector']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pinakes.text.folding import MAX_TERM, fold, lower

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


@dataclass(frozen=True, slots=True)
class CodeTerm:
    """An identifier or operator as it is indexed, and the words that a name is made of."""

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
    """The terms of a piece of code in order: each identifier whole, then its parts."""
    return [term for token in code_tokens(code) for term in (token.text, *token.parts)]


def _term(text: str) -> str:
    return fold(lower(text))[:MAX_TERM]


def _parts(text: str) -> tuple[str, ...]:
    """The words inside a name, where capitals, digits, underscores or hyphens show them."""
    if text[0].isdigit():
        return ()  # a number: ``0xFF`` is not made of words
    segments = [segment for segment in _JOINTS.split(text) if segment]
    # Of other scripts only the joints are sure: "Größe" must not fall apart at its "ö".
    parts = [part for item in segments for part in (_PART.findall(item) if item.isascii() else [item])]
    terms = tuple(map(_term, parts[:_MAX_PARTS]))
    return () if terms == (_term(text),) else terms
