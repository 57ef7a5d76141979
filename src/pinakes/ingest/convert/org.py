"""Org as Markdown: headlines without their keywords and tags, blocks of code, keywords of the file."""

from __future__ import annotations

import re
from typing import Any

from pinakes.ingest.convert.written import Translated, Written, dedented

_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_BEGIN = re.compile(r"#\+begin_(\S+)[ \t]*(\S*)", re.I)
_VERBATIM = frozenset(("src", "example", "export", "comment"))
_KEYWORD = re.compile(r"#\+(title|author|date|language|description|keywords):[ \t]*(\S.*)", re.I)
_STATES = re.compile(r"#\+(?:todo|seq_todo|typ_todo):[ \t]*(\S.*)", re.I)
_DRAWER = re.compile(r":[\w-]+:")
_COMMENT = re.compile(r"#(?:\+|\s|$)")
_TAGS = re.compile(r"[ \t]+:[\w@#%:]+:[ \t]*$")
_LINK = re.compile(r"\[\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\]")
_MARKED = re.compile(r"(?<![\w=~])([=~])(\S(?:[^=~\n]{0,200}\S)?)\1(?![\w=~])")
_ITALIC = re.compile(r"(?<![\w/:])/(\S(?:[^/\n]{0,200}\S)?)/(?![\w/])")


def org_to_markdown(text: str) -> Translated:
    """Stars become headings, source blocks fences, ``#+TITLE`` the title."""
    lines = text.split("\n")
    out = Written()
    metadata: dict[str, Any] = {}
    states = {"TODO", "DONE"}
    for line in lines:
        if found := _STATES.match(line.strip()):
            states |= {re.sub(r"\(.*?\)", "", word) for word in found[1].split() if word != "|"}
    # Where each line that closes something stands last: what is never closed was never opened.
    last = {
        line.strip().lower(): number for number, line in enumerate(lines) if line.lstrip()[:1] in ("#", ":")
    }
    index = 0
    while index < len(lines):
        line = lines[index]
        bare = line.strip()
        if headline := _HEADLINE.match(line):
            out.heading(index + 1, len(headline[1]), _words(headline[2], states))
        elif begin := _BEGIN.match(bare):
            closing = f"#+end_{begin[1].lower()}"
            if begin[1].lower() in _VERBATIM and last.get(closing, -1) > index:
                index = _block(lines, index, closing, begin, out)
                continue
            out.add(index + 1, "")
        elif _DRAWER.fullmatch(bare) and bare.lower() != ":end:" and last.get(":end:", -1) > index:
            end = index
            while lines[end].strip().lower() != ":end:" and not _HEADLINE.match(lines[end]):
                end += 1
                if end == len(lines):
                    break
            if end < len(lines) and lines[end].strip().lower() == ":end:":
                for number in range(index, end + 1):
                    out.add(number + 1, "")
                index = end + 1
                continue
            out.plain(index + 1, line)
        elif keyword := _KEYWORD.match(bare):
            metadata.setdefault(keyword[1].lower(), keyword[2].strip())
            out.add(index + 1, "")
        elif _COMMENT.match(bare) or re.fullmatch(r"-{5,}", bare):
            out.add(index + 1, "")
        else:
            out.plain(index + 1, line)
        index += 1
    title = _words(str(metadata.get("title", "")), set()).replace("`", "")
    return out.result({**metadata, "title": title} if title else metadata, title)


def _block(lines: list[str], index: int, closing: str, begin: re.Match[str], out: Written) -> int:
    end = index + 1
    while end < len(lines) and lines[end].strip().lower() != closing:
        end += 1
    body = [re.sub(r"^(\s*),(?=[*#])", r"\1", line) for line in lines[index + 1 : end]]
    if begin[1].lower() == "comment":
        for number in range(index, min(end + 1, len(lines))):
            out.add(number + 1, "")
    else:
        out.code(index + 1, dedented(body), begin[2] if begin[1].lower() in ("src", "export") else "")
    return end + 1


def _words(words: str, states: set[str]) -> str:
    words = _TAGS.sub("", words)
    first, _, rest = words.partition(" ")
    if first in states and rest.strip():
        words = rest.strip()
    words = re.sub(r"^\[#\w\][ \t]+", "", words)
    words = re.sub(r"^COMMENT[ \t]+", "", words)
    words = re.sub(r"[ \t]*\[\d*(?:/\d*|%)\]", "", words)
    words = _LINK.sub(lambda link: link[2] or link[1], words)
    words = _MARKED.sub(r"`\2`", words)
    return _ITALIC.sub(r"*\1*", words).strip()
