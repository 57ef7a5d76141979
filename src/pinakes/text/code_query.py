"""What a question says about code: the names it mentions as a program would, and its other words.

>>> query_code("How do I call getAuthToken in a loop?").names
(CodeTerm(text='getauthtoken', parts=('get', 'auth', 'token'), operator=False),)
>>> query_code("How do I call a friend?").names
()
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinakes.text.code_terms import CodeTerm, code_tokens
from pinakes.text.compounds import LUMP
from pinakes.text.stopwords import STOPWORDS

_MAX_NAMES = 16
_MAX_WORDS = 32
_TICKED = re.compile(r"(`+)(.+?)\1")
# What nobody writes in prose: capitals inside a word, underscores, calls, paths of names, flags, language names.
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
class CodeQuery:
    """Names that stand for code, as index terms; and the words around them, which may be parts of names."""

    names: tuple[CodeTerm, ...]
    words: tuple[str, ...]


def query_code(text: str) -> CodeQuery:
    """Read a question. Without a name in it, it is not about code."""
    marked = [found[2] for found in _TICKED.finditer(text)]
    rest = _TICKED.sub(" ", text)
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
