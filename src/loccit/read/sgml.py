"""DocBook and LinuxDoc in SGML as Markdown: titles of chapters and sections, listings and text.

Parsing SGML needs its DTD. In practice the structural tags are written out, so tags are read one by one.
"""

from __future__ import annotations

import html
import re

from loccit.read.written import Translated, Written

_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[[^\[]*\[|\]\]>|<[!?][^>]*>|<(/?)([A-Za-z][\w.-]*)?((?:\s[^<>]*)?)/?>", re.S
)
_NET = re.compile(r"<[A-Za-z][\w.-]{0,20}/([^/<>\n]{0,200})/")
# Elements with a separate title element, and those of LinuxDoc, which begin with it.
_PARTS = frozenset(
    "book part chapter preface appendix article section sect1 sect2 sect3 sect4 sect5 refentry refsect1 refsect2 "
    "refsect3 refsection simplesect glossary bibliography reference refsynopsisdiv".split()
)
# Their titles name something within a section.
_INSIDE = frozenset(
    "table figure example formalpara note tip warning caution important sidebar variablelist itemizedlist orderedlist "
    "procedure step abstract equation qandaset glosslist blockquote biblioentry biblioset bibliomixed".split()
)
_LINUXDOC = {"chapt": 1, "sect": 1, "sect1": 2, "sect2": 3, "sect3": 4, "sect4": 5}
_CODE = frozenset("programlisting screen literallayout synopsis verb code tscreen".split())
_BLOCKS = frozenset("para simpara p listitem item row entry term title indexterm".split())


def sgml_to_markdown(text: str) -> Translated:
    """Translate a document; what is in no element of its own stays text."""
    if linuxdoc := bool(re.search(r"<!doctype\s+linuxdoc|<sect>", text[:20000], re.I)):
        # A short form of its own: `<tt/sleep()/`.
        text = _NET.sub(r"\1", text)
    return _Reader(text, linuxdoc=linuxdoc).read()


class _Reader:
    def __init__(self, text: str, *, linuxdoc: bool) -> None:
        self._text = text
        self._linuxdoc = linuxdoc
        self._out = Written()
        self._line = 1
        self._row = ""  # what the present line has so far
        self._parts: list[str] = []
        self._title: tuple[int, int, list[str]] | None = None  # line, level, words
        self._code: tuple[int, list[str]] | None = None
        self._hidden = 0
        self._name = ""

    def read(self) -> Translated:
        at = 0
        for token in _TOKEN.finditer(self._text):
            self._words(self._text[at : token.start()])
            at = token.end()
            self._tag(token)
        self._words(self._text[at:])
        if self._title:
            self._end_title()
        if self._code:
            self._end_code()
        self._break()
        return self._out.result({}, self._name)

    def _words(self, text: str) -> None:
        pieces = text.split("\n")
        for number, piece in enumerate(pieces):
            if number:
                if self._title and self._linuxdoc and "".join(self._title[2]).strip():
                    self._end_title()
                self._break()
                self._line += 1
            shown = html.unescape(piece)
            if self._hidden:
                continue
            if self._title:
                self._title[2].append(shown + " ")
            elif self._code:
                self._code[1][-1] += shown
            else:
                self._row += shown

    def _break(self) -> None:
        if self._code:
            self._code[1].append("")
            return
        self._out.plain(self._line, self._row.strip())
        self._row = ""

    def _tag(self, token: re.Match[str]) -> None:
        name, closes = (token[2] or "").lower(), bool(token[1])
        if name:
            self._element(name, closes=closes)
        elif token.group() == "</>" and self._title:
            self._end_title()
        for _ in range(token.group().count("\n")):
            self._break()
            self._line += 1

    def _element(self, name: str, *, closes: bool) -> None:
        if name in ("indexterm", "comment"):
            self._hidden = 0 if closes else self._hidden + 1
        elif self._linuxdoc and name in _LINUXDOC and not closes:
            if self._title:
                self._end_title()
            self._title = (self._line, _LINUXDOC[name], [])
        elif self._linuxdoc and name in ("p", "label") and self._title:
            self._end_title()
        elif name in _PARTS | _INSIDE and not self._linuxdoc:
            if not closes:
                self._parts.append(name)
            elif name in self._parts:
                while self._parts.pop() != name:
                    pass
        elif name == "title":
            if not closes:
                self._title = (self._line, sum(part in _PARTS for part in self._parts), [])
            elif self._title:
                self._end_title()
        elif name in _CODE:
            if not closes and not self._code and not self._title:
                if self._row.strip():
                    self._out.plain(self._line, self._row.strip())
                self._row = ""
                self._code = (self._line, [""])
            elif closes and self._code:
                self._end_code()
        elif name in _BLOCKS and not closes and self._row.strip():
            self._row += " "

    def _end_title(self) -> None:
        assert self._title is not None
        line, level, words = self._title
        self._title = None
        title = " ".join("".join(words).split())
        if not title:
            return
        self._name = self._name or title
        if self._row.strip():
            self._out.plain(self._line, self._row.strip())
            self._row = ""
        if level and (self._linuxdoc or self._parts[-1] in _PARTS):
            self._out.heading(line, level, re.sub(r"([*_`])", r"\\\1", title))
        else:
            self._out.plain(line, title)

    def _end_code(self) -> None:
        assert self._code is not None
        line, body = self._code
        self._code = None
        while body and not body[-1].strip():
            body.pop()
        if not body:
            return
        code = [
            (number, text) for number, text in enumerate(body, start=line) if number > line or text.strip()
        ]
        self._out.fenced(code, line, line + len(body) - 1)
