"""LaTeX as Markdown: sectioning commands, verbatim text, the title; without comments and preamble."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from loccit.read.written import Translated, Written, dedented

_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_HEADING = re.compile(
    r"\\(" + "|".join(_LEVELS) + r")\*?[ \t]*(?=[\[{])|\\(frametitle)(?=\{)|\\begin\{(frame)\}(?=[\[{])"
)
# `\newcommand{\article}[1]{\section{#1}}`, and the other ways to define a command.
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\\(?P<new>[A-Za-z]+)\}?\s*"
    r"(?:\[\d\])?(?P<optional>\[[^\]]*\])?\s*(?=\{)"
    r"|\\(?:New|Renew|Provide|Declare)DocumentCommand\s*\{?\\(?P<parsed>[A-Za-z]+)\}?\s*\{[^}]*\}\s*(?=\{)"
    r"|\\[gex]?def\s*\\(?P<primitive>[A-Za-z]+)(?:#\d)*\s*(?=\{)"
)
_DEFINES = re.compile(r"\\(?:[gex]?def|(?:re)?newcommand|providecommand|Declare\w+|\w+DocumentCommand)\b")
_PARAMETER = re.compile(r"#(\d)")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|alltt|filecontents\*?|comment)\}(.*)"
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
# A title is short; a brace that stays open longer than this is a mistake.
_REACH = 2000
_MOST_COMMANDS = 50

_GONE = "label footnote thanks index cite protect vspace hspace footnotemark phantomsection".split()
_ACCENTS = dict(zip("'`^\"~=cv", "\u0301\u0300\u0302\u0308\u0303\u0304\u0327\u030c", strict=True))
_ACCENT = re.compile(r"\\(['`^\"~=]|[cv](?=[ {]))[ ]?\{?\\?([A-Za-z])\}?")
_SIGNS = {
    "ldots": "…",
    "dots": "…",
    "ss": "ß",
    "o": "ø",
    "O": "Ø",
    "ae": "æ",
    "AE": "Æ",
    "S": "§",
    "and": ", ",
}
_SIGNS |= {"textendash": "–", "textemdash": "—", "quad": " ", "newline": " ", "linebreak": " "}
_SIGNS |= {"LaTeX": "LaTeX", "TeX": "TeX"}


def tex_to_markdown(text: str) -> Translated:
    """Sectioning commands become headings, verbatim text fences; comments and the preamble are dropped."""
    metadata: dict[str, Any] = {}
    bare = "\n".join(map(_uncommented, text.split("\n")))
    for name in ("title", "author", "date"):
        if (found := re.search(rf"\\{name}\s*(?=[\[{{])", bare)) and (value := _argument(bare, found.end())):
            words = plain_tex(value[0])
            if words and "\\" not in words:
                metadata[name] = words
    used = [name for name in _LEVELS if re.search(rf"\\{name}\*?[ \t]*[\[{{]", bare)]
    lines = text.split("\n")
    first = next(
        (number for number, line in enumerate(lines) if "\\begin{document}" in _uncommented(line)), -1
    )
    out = _Body(lines, used, _heading_commands(bare)).read(first + 1)
    return out.result(metadata, str(metadata.get("title", "")))


class _Command(NamedTuple):
    """A command of the document's own that makes a heading: of which level, and its title with ``#1``."""

    level: str
    title: str
    optional: bool


def _heading_commands(text: str) -> dict[str, _Command]:
    """Find the commands that a document defines for its headings; they may use one another."""
    found: dict[str, _Command] = {}
    for definition in _DEFINITION.finditer(text):
        if len(found) == _MOST_COMMANDS:
            break
        body = _argument(text, definition.end())
        heading = _heading_pattern(found).search(body[0]) if body else None
        title = _argument(body[0], heading.end()) if body and heading else None
        if title and heading and _PARAMETER.search(title[0]):
            name = definition["new"] or definition["parsed"] or definition["primitive"]
            above = found.get(heading["command"] or "")
            words = _filled(above.title, [title[0]]) if above else title[0]
            level = above.level if above else heading[1] or ""
            found[name] = _Command(level, words, bool(definition["optional"]))
    return found


def _heading_pattern(commands: Iterable[str]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, commands)) or "(?!)"
    return re.compile(rf"{_HEADING.pattern}|\\(?P<command>{names})(?![A-Za-z])\*?[ \t]*(?=[\[{{])")


def _filled(title: str, arguments: list[str]) -> str:
    return _PARAMETER.sub(
        lambda found: arguments[int(found[1]) - 1] if int(found[1]) <= len(arguments) else "", title
    )


class _Body:
    def __init__(self, lines: list[str], used: list[str], commands: dict[str, _Command]) -> None:
        self._lines = lines
        self._used = used
        self._commands = commands
        self._pattern = _heading_pattern(commands)
        self._out = Written()

    def read(self, index: int) -> Written:
        while index < len(self._lines):
            line = self._lines[index]
            if "\\end{document}" in _uncommented(line):
                break
            if verbatim := _VERBATIM.search(_uncommented(line)):
                index = self._verbatim(index, line[: verbatim.start()], verbatim[1])
                continue
            if heading := self._pattern.search(_uncommented(line)):
                index = self._heading(index, heading)
                continue
            self._out.plain(index + 1, _uncommented(line))
            index += 1
        return self._out

    def _verbatim(self, index: int, before: str, name: str) -> int:
        end = index
        while end < len(self._lines) and f"\\end{{{name}}}" not in self._lines[end]:
            end += 1
        if before.strip():
            self._out.plain(index + 1, before)
        if name == "comment" or end == index:
            for number in range(index, min(end + 1, len(self._lines))):
                self._out.add(number + 1, "" if name == "comment" else self._lines[number])
        else:
            self._out.code(index + 1, dedented(self._lines[index + 1 : end]))
        return end + 1

    def _heading(self, index: int, heading: re.Match[str]) -> int:
        """Read a heading, which may extend over several lines, and leave what follows it."""
        line = _uncommented(self._lines[index])
        joined, end = line, index
        command = self._commands.get(heading["command"] or "")
        while (found := self._title(joined, heading.end(), command)) is None and len(
            joined
        ) < heading.end() + _REACH:
            end += 1
            if end == len(self._lines):
                break
            joined += "\n" + _uncommented(self._lines[end])
        before = line[: heading.start()].strip()
        title = plain_tex(found[0]) if found else ""
        # `#1` is a macro parameter: this is the definition of a heading command.
        if not found or not title or re.search(r"#\d", found[0]) or _DEFINES.search(before):
            self._out.plain(index + 1, line)
            return index + 1
        if before and before != "{":
            self._out.plain(index + 1, before)
        name = command.level if command else heading[1]
        level = self._used.index(name) + 1 if name in self._used else len(self._used) + 1
        self._out.heading(index + 1, level, title)
        after = joined[found[1] :]
        line_after = index + 1 + joined.count("\n", 0, found[1])
        self._out.blank(index + 2, line_after)
        after = re.sub(r"^\s*(?:\\label\{[^{}]*\})?\s*", "", after.partition("\n")[0])
        if after.strip() and after.strip() != "}":
            # Again: another heading may follow on the same line.
            self._lines[end] = after
            return end
        return end + 1

    def _title(self, text: str, at: int, command: _Command | None) -> tuple[str, int] | None:
        """The title of a heading, and where its arguments end."""
        if command is None:
            return _argument(text, at)
        arguments = [""] if command.optional else []
        for _ in range(max(map(int, _PARAMETER.findall(command.title))) - len(arguments)):
            found = _argument(text, at)
            if found is None:
                return None
            arguments.append(found[0])
            at = found[1]
        return _filled(command.title, arguments), at


def _uncommented(line: str) -> str:
    return _COMMENT.sub(r"\1", line) if "%" in line else line


def _argument(text: str, at: int) -> tuple[str, int] | None:
    """The content of the braces after ``at``, past an optional argument, and where they end."""
    limit = min(len(text), at + _REACH)
    if at < limit and text[at] == "[":
        depth = 0
        while at < limit:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            at += 1
            if not depth:
                break
        while at < limit and text[at].isspace():
            at += 1
    if at >= limit or text[at] != "{":
        return None
    depth, start = 0, at + 1
    while at < limit:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        depth += {"{": 1, "}": -1}.get(char, 0)
        at += 1
        if not depth:
            return text[start : at - 1], at
    return None


def plain_tex(text: str) -> str:
    """The words of a title, without commands.

    >>> plain_tex(r"First \\& \\emph{foremost}~\\label{s} na\\\"ive")
    'First & foremost naïve'
    """
    text = text[:_REACH]
    text = re.sub(r"\\texorpdfstring\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", text)
    for name in _GONE:
        text = re.sub(rf"\\{name}\b\*?(?:\[[^\]]*\])?(?:\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})?", "", text)
    text = _ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]]), text)
    text = re.sub(r"\\([A-Za-z]+)\*?[ ]?", lambda found: _SIGNS.get(found[1], ""), text.replace("\\\\", " "))
    text = re.sub(r"\\[,;!/-]", "", text.replace("\\ ", " "))
    text = re.sub(r"\\([&%$#_])", r"\1", text)
    text = text.replace("~", " ").replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    return " ".join(re.sub(r"[{}]|(?<!\\)\$", "", text).replace("\\", "").split())
