"""AsciiDoc as Markdown: section titles, delimited blocks, header attributes.

As in Asciidoctor, a section title begins a block: it follows a blank line, or lines of attributes and comments, and is
never inside a delimited block.
"""

from __future__ import annotations

import re

from loccit.read.written import LineReader, Translated

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
_RULE = re.compile(r"(?:=+|-+|~+|\^+|\++)")
_RULES = "=-~^+"
_VERBATIM = re.compile(r"-{4,}|\.{4,}|```+[\w+-]*|\+{4,}|/{4,}")
_COMPOUND = re.compile(r"={4,}|\*{4,}|_{4,}|--|[|,:!]={3,}")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:[ \t]+(.*))?")
_BLOCK_LINE = re.compile(r"\[(?:\[.*\]|[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]")
_STYLE = re.compile(r"\[(?:source|,)[^\],]*,?[ \t]*([\w+#-]*).*\]|\[,[ \t]*([\w+#-]+).*\]")
_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[\s]*)\[(.*)\]")
_METADATA = {"revdate": "date", "lang": "language"} | {
    name: name for name in ("author", "description", "keywords")
}
# Attributes that are set implicitly when a document is rendered.
_GIVEN = frozenset(
    "asciidoctor backend basebackend backend-html5 basebackend-html filetype-html doctype-article".split()
)

_SURROUNDINGS = re.compile(r"(?:env|backend|basebackend|filetype|doctype|asciidoctor)\b")
# Attribute lines that are not content.
_NO_WORDS = re.compile(
    r"\[(?:\[|[#.%,]|\w*(?:cols|options|width|start|role|id|subs)="
    r"|(?:source|discrete|float|horizontal|listing)\b)"
)


_REFERENCE = re.compile(r"\{([\w][\w-]*)\}")
_SUBS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[\[[^\]]*\]\]|\(\(\([^()]*\)\)\)|(?:footnote|indexterm|anchor):[\w-]*\[[^\]]*\]"), ""),
    (re.compile(r"\(\(([^()]*)\)\)|indexterm2:\[([^\]]*)\]"), r"\1\2"),
    (re.compile(r"<<[^<>,]*,\s*([^<>]*)>>"), r"\1"),
    (re.compile(r"(?:link|xref|mailto|https?):[^\s\[\]]*\[([^\[\],^]+)[^\[\]]*\]"), r"\1"),
    (re.compile(r"(?:kbd|btn|menu|pass|stem|icon|image):[\w./-]*\[([^\[\]]*)\]"), r"\1"),
    (re.compile(r"\[\.?[\w .#-]*\](?=[#`*_])"), ""),
    (re.compile(r"(?<![\w#])##?([^#\n]+?)##?(?![\w#])"), r"\1"),
    (re.compile(r"`\+([^`\n]*)\+`|\+\+([^+\n]+)\+\+"), r"`\1\2`"),
)


def adoc_to_markdown(text: str) -> Translated:
    """``=`` titles, listing blocks as fences, the attributes of the document header as metadata."""
    return _Reader(text.split("\n")).read()


class _Reader(LineReader):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines)
        self._attributes: dict[str, str] = {}
        self._seen = False
        self._open: list[str] = []  # compound blocks
        self._conditions: list[bool] = []
        self._fresh = True  # whether a block may begin here
        self._header = False
        self._language = ""
        self._discrete = False
        # The last line that could close each block: a block that is never closed was never opened.
        self._last = {line.rstrip(): number for number, line in enumerate(lines) if line[:1] in "=*_-|,:!"}

    def _line(self, index: int) -> int:
        bare = self._lines[index].rstrip()
        number = index + 1
        if condition := _CONDITION.fullmatch(bare):
            self._condition(number, *condition.groups())
            return index + 1
        if not all(self._conditions):
            # Not part of this document, but of another one generated from the same file.
            self._out.add(number, "")
            return index + 1
        if _VERBATIM.fullmatch(bare):
            return self._verbatim(index, bare)
        if _COMPOUND.fullmatch(bare):
            self._compound(index, bare)
            self._out.add(number, "")
            return index + 1
        if self._fresh and (used := self._heading(index, bare)):
            return index + used
        if bare.startswith("//") and not bare.startswith("///"):
            self._out.add(number, "")
        elif (self._fresh or self._header) and (attribute := _ATTRIBUTE.fullmatch(bare)):
            self._attribute(attribute[1], attribute[2] or "")
            self._out.add(number, "")
        elif _BLOCK_LINE.fullmatch(bare):
            self._fresh = True
            self._style(bare)
            self._out.add(number, "" if _NO_WORDS.match(bare) else self._lines[index])
        else:
            title = bare.startswith(".") and bare[1:2] not in (" ", ".", "")
            self._fresh = not bare or bare == "+" or (title and self._fresh)
            if not bare:
                self._header = False
            elif not title:
                self._language, self._discrete = "", False
            self._out.plain(number, self._lines[index])
        return index + 1

    def _verbatim(self, index: int, mark: str) -> int:
        closing = "```" if mark.startswith("`") else mark
        end = index + 1
        while end < len(self._lines) and self._lines[end].rstrip() != closing:
            end += 1
        body = self._lines[index + 1 : end]
        if mark[0] == "/":
            self._out.blank(index + 1, min(end, len(self._lines) - 1) + 1)
        elif mark[0] == "+":
            self._out.add(index + 1, "")
            for number, line in enumerate(body, start=index + 2):
                self._out.plain(number, line)
            self._out.add(end + 1, "")
        else:
            self._out.code(index + 1, body, mark.strip("`") if mark[0] == "`" else self._language)
        self._language, self._fresh, self._discrete = "", True, False
        return min(end, len(self._lines) - 1) + 1

    def _compound(self, index: int, mark: str) -> None:
        if mark in self._open:
            del self._open[self._open.index(mark) :]
        elif self._last[mark] > index:
            self._open.append(mark)
        self._fresh, self._discrete = True, False

    def _heading(self, index: int, bare: str) -> int:
        """Read a section title; return how many lines it takes, 0 if there is none."""
        if found := _HEADING.fullmatch(bare):
            level, words, used = len(found[1]), found[2], 1
        else:
            below = self._lines[index + 1].rstrip() if index + 1 < len(self._lines) else ""
            if not (bare and _RULE.fullmatch(below) and len(below) > 1 and abs(len(below) - len(bare)) < 2):
                return 0
            if bare[0] in ".[" or bare[0].isspace() or not any(map(str.isalnum, bare)):
                return 0
            level, words, used = _RULES.index(below[0]) + 1, bare, 2
        if self._open or self._discrete:
            # Inside a block, or where stated otherwise, a title makes no section.
            self._out.add(index + 1, f"**{self._plain(words)}**")
            self._out.blank(index + 2, index + used)
            self._discrete = False
            return used
        title = self._plain(words)
        if level == 1 and not self._seen:
            self._title, self._header = title, True
        self._seen = True
        self._out.heading(index + 1, level, title)
        self._out.blank(index + 2, index + used)
        self._language = ""
        return used

    def _attribute(self, name: str, value: str) -> None:
        if "!" in name:
            self._attributes.pop(name.strip("!"), None)
            return
        self._attributes[name] = value.strip()
        if name in _METADATA and value.strip():
            self._metadata[_METADATA[name]] = value.strip()

    def _style(self, bare: str) -> None:
        if found := _STYLE.fullmatch(bare):
            self._language = found[1] or found[2] or ""
        self._discrete = bool(re.match(r"\[(?:discrete|float)\b", bare)) or self._discrete

    def _condition(self, number: int, kind: str, names: str, content: str) -> None:
        self._out.add(number, "")
        if kind == "endif":
            if self._conditions:
                self._conditions.pop()
            return
        asked = [name for name in re.split(r"[,+]", names) if name]
        known = self._attributes.keys() | _GIVEN
        holds = (any if "," in names else all)(name in known for name in asked)
        holds = holds if kind == "ifdef" else not holds
        if kind == "ifeval" or not all(name in known or _SURROUNDINGS.match(name) for name in asked):
            # The output format decides, so both branches belong to the file.
            holds = True
        if content and kind != "ifeval":
            # A single line, without an end marker.
            if holds and all(self._conditions):
                self._out.plain(number, content)
            return
        self._conditions.append(holds)

    def _plain(self, words: str) -> str:
        words = _REFERENCE.sub(lambda match: self._attributes.get(match[1], match.group()), words)
        for pattern, shown in _SUBS:
            words = pattern.sub(shown, words)
        return words
