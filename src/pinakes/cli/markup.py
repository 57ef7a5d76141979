"""Reads Markdown down to its words, for a short look at a passage."""

from __future__ import annotations

import html
import re

_FENCE = re.compile(r"^\s*(```|~~~)")
_RULE_CHARACTERS = frozenset("|:=*_- \t")
_RULES = ("--", "==", "***", "___", "* * *", ":-", "-:")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(\S.*)$")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+(?:\[![a-zA-Z]+\][+-]?\s*)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_TAG = re.compile(r"</?(?:a|b|br|code|div|em|i|img|p|span|strong|sub|sup|td|th|tr|u)\b[^<>]*>", re.IGNORECASE)
_WIKI = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_STARS = re.compile(r"(?<!\\)(\*{1,3})(?=[^\s*])(.{1,500}?)(?<=[^\s*\\])\1")
_UNDERLINES = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])(.{1,500}?)(?<=[^\s_\\])\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`{1,3})(.{1,500}?)\1")
_LONGEST = 20_000  # of a line; the patterns are not run over more, and nobody reads so far in a snippet


def plain_lines(content: str) -> list[str]:
    """Return the lines of a passage without Markdown's marks and without blank lines; code stays as it is."""
    lines: list[str] = []
    fence = ""
    for raw in content.splitlines():
        opened = _FENCE.match(raw)
        if opened and (not fence or fence == opened[1]):
            fence = "" if fence else opened[1]
        elif fence:
            lines.append(raw.expandtabs(4).rstrip())
        elif not _is_rule(raw):
            lines.append(_plain(raw[:_LONGEST]))
    return [line for line in lines if line.strip()]


def _is_rule(line: str) -> bool:
    """Whether a line only draws: an underline, a rule, the separator of a table."""
    return _RULE_CHARACTERS.issuperset(line) and any(rule in line for rule in _RULES)


def _plain(line: str) -> str:
    heading = _HEADING.match(line)
    line = _without_closing(heading[1]) if heading else _QUOTE.sub("", line)
    if line.lstrip().startswith("|"):
        line = " | ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    pieces, last = [], 0
    for code in _CODE.finditer(line):
        pieces += [_words(line[last : code.start()]), code[2]]
        last = code.end()
    return "".join([*pieces, _words(line[last:])]).expandtabs(4).rstrip()


def _without_closing(heading: str) -> str:
    """Drop the ``##`` that may end a heading; that of ``C#`` stays."""
    rest = heading.rstrip().rstrip("#")
    return rest.rstrip() if rest.endswith((" ", "\t")) else heading.rstrip()


def _words(text: str) -> str:
    text = _TAG.sub(" ", _COMMENT.sub("", text)) if "<" in text else text
    if "[" in text:
        text = _LINK.sub(r"\1", _WIKI.sub(r"\1", text))
    if "*" in text:
        text = _STARS.sub(r"\2", _STARS.sub(r"\2", text))
    if "_" in text:
        text = _UNDERLINES.sub(r"\2", text)
    return html.unescape(_ESCAPE.sub(r"\1", text))
