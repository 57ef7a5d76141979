"""Headings and code blocks of other light markups, as Markdown.

Only what carries structure is translated. What would mean something else in Markdown (a rule under a line,
a comment that starts with ``#``) is taken out of its way; everything else is left as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Translated = tuple[str, dict[str, Any]]

_RST_RULE = re.compile(r"([!-/:-@[-`{-~])\1{2,}\s*")
_RST_CODE = re.compile(r"\.\.\s+(?:code-block|code|sourcecode|parsed-literal|math)::\s*(\S*)")


def rst_to_markdown(text: str) -> Translated:
    """Underlined titles by order of appearance of their marks, literal blocks as fences."""
    lines = text.split("\n")
    levels: list[str] = []
    out: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        third = lines[index + 2] if index + 2 < len(lines) else ""
        if _RST_RULE.fullmatch(line) and following.strip() and third.rstrip() == line.rstrip():
            title, mark, used = following.strip(), line[0] * 2, 3
        elif _is_rst_title(line, following) and (not out or not out[-1].strip()):
            title, mark, used = line.strip(), following[0], 2
        else:
            index = _rst_line(lines, index, out)
            continue
        if mark not in levels:
            levels.append(mark)
        out += ["", f"{'#' * min(levels.index(mark) + 1, 6)} {title}", ""]
        index += used
    return "\n".join(out).strip("\n") + "\n", {}


def _is_rst_title(line: str, below: str) -> bool:
    return bool(
        line.strip()
        and not line[0].isspace()
        and not _RST_RULE.fullmatch(line)
        and _RST_RULE.fullmatch(below)
        and len(below.rstrip()) >= len(line.rstrip()) - 1
    )


def _rst_line(lines: list[str], index: int, out: list[str]) -> int:
    """Copy one line, and the literal block that it opens; the index after them."""
    line = lines[index]
    directive = _RST_CODE.match(line.strip())
    literal = line.rstrip().endswith("::") and not line.lstrip().startswith("..")
    if not directive and not literal:
        out.append("" if _RST_RULE.fullmatch(line) else line)
        return index + 1
    indent = len(line) - len(line.lstrip())
    end = index + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    block = lines[index + 1 : end]
    while block and not block[-1].strip():
        block.pop()
    if directive:
        while block and block[0].strip().startswith(":"):
            block.pop(0)
    else:
        out.append(line.rstrip()[:-1])
    while block and not block[0].strip():
        block.pop(0)
    if block:
        margin = min(len(code) - len(code.lstrip()) for code in block if code.strip())
        language = directive.group(1) if directive else ""
        out += ["", *_fence([code[margin:] for code in block], language), ""]
    return end


def _fence(code: list[str], language: str) -> list[str]:
    mark = "```"
    while any(mark in line for line in code):
        mark += "`"
    return [mark + language, *code, mark]


def adoc_to_markdown(text: str) -> Translated:
    """``=`` titles, listing blocks as fences, the attributes of the document header as metadata."""
    out: list[str] = []
    metadata: dict[str, Any] = {}
    closing = ""
    language = ""
    for line in text.split("\n"):
        bare = line.rstrip()
        if closing:
            if bare == closing:
                out.append("```")
                closing = ""
            else:
                out.append(line)
        elif re.fullmatch(r"-{4,}|\.{4,}|`{3,}\w*", bare):
            closing = "```" if bare.startswith("`") else bare
            out += ["", "```" + (bare.strip("`") if bare.startswith("`") else language)]
        elif heading := re.fullmatch(r"(={1,6})\s+(\S.*)", bare):
            out += ["", f"{'#' * len(heading[1])} {heading[2]}", ""]
        elif attribute := re.fullmatch(r":(author|revdate|description|keywords|lang):\s+(.+)", bare):
            metadata[{"revdate": "date", "lang": "language"}.get(attribute[1], attribute[1])] = attribute[2]
        elif re.fullmatch(r"={4,}|\*{4,}|_{4,}|\+{4,}|--|//.*|:[\w-]+!?:.*|\[\[.*\]\]", bare):
            out.append("")
        elif source := re.fullmatch(r"\[source,\s*([\w+-]+).*\]", bare):
            language = source[1]
            continue
        else:
            out.append(line)
        language = ""
    if closing:
        out.append("```")
    return "\n".join(out).strip("\n") + "\n", metadata


def org_to_markdown(text: str) -> Translated:
    """Stars become headings without their keywords and tags, source blocks fences, ``#+TITLE`` metadata."""
    out: list[str] = []
    metadata: dict[str, Any] = {}
    closing = ""
    for line in text.split("\n"):
        bare = line.strip()
        if closing:
            if bare.lower() == closing:
                out.append("```" if closing != ":end:" else "")
                closing = ""
            elif closing != ":end:":
                out.append(line)
        elif begin := re.match(r"#\+begin_(src|example)\b\s*(\S*)", bare, re.I):
            closing = f"#+end_{begin[1].lower()}"
            out += ["", "```" + begin[2]]
        elif re.fullmatch(r":(?:PROPERTIES|LOGBOOK):", bare, re.I):
            closing = ":end:"
        elif heading := re.match(r"(\*+)\s+(?:(?:TODO|DONE)\s+)?(?:\[#\w\]\s+)?(.*)", line):
            title = re.sub(r"\s+:[\w@:]+:\s*$", "", heading[2]).strip()
            out += ["", f"{'#' * min(len(heading[1]), 6)} {title}", ""]
        elif keyword := re.match(r"#\+(title|author|date|language|description|keywords):\s*(.+)", bare, re.I):
            metadata[keyword[1].lower()] = keyword[2].strip()
        elif re.match(r"#(?:\+|\s|$)", bare):
            continue
        else:
            out.append("" if re.fullmatch(r"-{5,}", bare) else line)
    if closing and closing != ":end:":
        out.append("```")
    return "\n".join(out).strip("\n") + "\n", metadata


_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_HEADING = re.compile(r"\\(" + "|".join(_TEX_LEVELS) + r")\*?(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEX_CODE = re.compile(r"\\begin\{(verbatim|lstlisting|minted)\}.*?\n(.*?)\\end\{\1\}", re.S)


def tex_to_markdown(text: str) -> Translated:
    """Sectioning commands become headings, verbatim text fences; comments and the preamble go."""
    metadata: dict[str, Any] = {}
    for name in ("title", "author", "date"):
        if found := re.search(rf"\\{name}\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}", text):
            metadata[name] = _plain_tex(found[1])
    if (start := text.find("\\begin{document}")) >= 0:
        text = text[start + len("\\begin{document}") :]
    text = text.partition("\\end{document}")[0]
    blocks: list[str] = []

    def keep(match: re.Match[str]) -> str:
        blocks.append("\n".join(["", *_fence(match[2].rstrip("\n").split("\n"), ""), ""]))
        return f"\x02{len(blocks) - 1}\x03"

    text = _TEX_CODE.sub(keep, text)
    text = re.sub(r"(?<!\\)%.*", "", text)
    used = [name for name in _TEX_LEVELS if re.search(rf"\\{name}\*?[\[{{]", text)]

    def heading(match: re.Match[str]) -> str:
        return f"\n\n{'#' * min(used.index(match[1]) + 1, 6)} {_plain_tex(match[2])}\n\n"

    text = _TEX_HEADING.sub(heading, text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"
    return re.sub("\x02(\\d+)\x03", lambda match: blocks[int(match[1])], text), metadata


def _plain_tex(text: str) -> str:
    text = re.sub(r"\\(?:label|footnote|thanks)\{[^{}]*\}", "", text)
    text = re.sub(r"\\[A-Za-z]+\s*\{([^{}]*)\}", r"\1", text).replace("~", " ").replace("\\\\", " ")
    return " ".join(re.sub(r"\\([&%$#_{}])", r"\1", text).split())


MARKUP: dict[str, Callable[[str], Translated]] = {
    ".rst": rst_to_markdown,
    ".adoc": adoc_to_markdown,
    ".org": org_to_markdown,
    ".tex": tex_to_markdown,
}
