"""Texinfo, MediaWiki, POD, Textile and Org as Markdown: headings, code and text."""

from __future__ import annotations

import re
from typing import Any

from loccit.read.written import Translated, Written, dedented

_TEXINFO_LEVELS = {
    **dict.fromkeys("top chapter unnumbered appendix majorheading chapheading centerchap".split(), 1),
    **dict.fromkeys("section unnumberedsec appendixsec appendixsection heading".split(), 2),
    **dict.fromkeys("subsection unnumberedsubsec appendixsubsec subheading".split(), 3),
    **dict.fromkeys("subsubsection unnumberedsubsubsec appendixsubsubsec subsubheading".split(), 4),
}
_TEXINFO_CODE = frozenset(
    "example smallexample lisp smalllisp verbatim display smalldisplay format smallformat".split()
)
_TEXINFO_SKIPPED = frozenset(
    "ignore iftex tex macro rmacro menu detailmenu direntry titlepage ifdocbook ifxml".split()
)
_TEXINFO_SILENT = frozenset(
    "node c comment end noindent indent need page sp vskip bye setfilename include cindex findex kindex vindex pindex "
    "tindex printindex dircategory set clear ifinfo ifhtml ifnottex ifplaintext ifset ifclear settitle title subtitle "
    "itemize enumerate table ftable vtable multitable group quotation cartouche contents shortcontents summarycontents "
    "documentlanguage documentencoding finalout setchapternewpage syncodeindex synindex defcodeindex paragraphindent "
    "exdent insertcopying copying author center headitem tab afourpaper smallbook raggedright".split()
)
_TEXINFO_LINE = re.compile(r"@([A-Za-z]+)(?:[ \t]+(.*))?$")
_TEXINFO_COMMAND = re.compile(r"@([A-Za-z]+)\{([^{}]{0,500})\}")
_TEXINFO_SIGNS = {
    "dots": "…",
    "copyright": "©",
    "result": "⇒",
    "bullet": "•",
    "TeX": "TeX",
    "minus": "-",
    "tie": " ",
}
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


def texinfo_to_markdown(text: str) -> Translated:
    """``@chapter`` and the like, examples, and the text of everything else."""
    lines = text.split("\n")
    out = Written()
    metadata: dict[str, Any] = {}
    index = 0
    while index < len(lines):
        line = lines[index]
        found = _TEXINFO_LINE.match(line)
        name, rest = (found[1], (found[2] or "").strip()) if found else ("", "")
        if name in ("settitle", "title", "author") and rest:
            metadata[{"settitle": "title"}.get(name, name)] = _texinfo(rest).replace("`", "")
        if name in _TEXINFO_CODE or name in _TEXINFO_SKIPPED:
            end = index + 1
            while end < len(lines) and lines[end].strip() != f"@end {name}":
                end += 1
            if name in _TEXINFO_CODE:
                body = lines[index + 1 : end]
                out.code(
                    index + 1, body if name == "verbatim" else [_texinfo(code, code=True) for code in body]
                )
            else:
                out.blank(index + 1, min(end + 1, len(lines)))
            index = end + 1
            continue
        if name in _TEXINFO_LEVELS and rest:
            out.heading(index + 1, _TEXINFO_LEVELS[name], _texinfo(rest))
        elif name in ("item", "itemx"):
            out.add(index + 1, f"- {_texinfo(rest)}" if rest else "")
        elif name in _TEXINFO_SILENT or line.startswith("\\input"):
            out.add(index + 1, "")
        elif name.startswith("def") and rest:
            out.plain(index + 1, _texinfo(rest))
        else:
            out.plain(index + 1, _texinfo(line))
        index += 1
    return out.result(metadata, str(metadata.get("title", "")))


def _texinfo(text: str, *, code: bool = False) -> str:
    if "@" not in text:
        return text
    text = text.replace("@@", "\x00").replace("@{", "\x01").replace("@}", "\x02")

    def shown(command: re.Match[str]) -> str:
        name, words = command[1], command[2]
        if name in _TEXINFO_SIGNS:
            return _TEXINFO_SIGNS[name]
        if name in ("anchor", "footnote", "pxref", "xref", "ref", "url", "uref", "email", "inforef"):
            parts = [part.strip() for part in words.split(",")]
            return "" if name == "anchor" else next((part for part in parts[1:3] if part), parts[0])
        if name in ("code", "command", "file", "option", "samp", "kbd", "key", "env", "verb") and not code:
            return f"`{words}`" if "`" not in words else words
        return words

    for _ in range(4):
        shorter = _TEXINFO_COMMAND.sub(shown, text)
        if shorter == text:
            break
        text = shorter
    text = re.sub(r"@([:*/. -])", lambda sign: "" if sign[1] in ":*/-" else sign[1], text)
    return text.replace("\x00", "@").replace("\x01", "{").replace("\x02", "}")


_WIKI_HEADING = re.compile(r"(={1,6})[ \t]*(\S.*?)[ \t]*\1[ \t]*(?:<!--.*-->)?[ \t]*")
_WIKI_CODE = re.compile(r"<(pre|nowiki|syntaxhighlight|source)\b([^>]*)>", re.I)
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|\[\w+://\S+ ([^\]]*)\]")


def mediawiki_to_markdown(text: str) -> Translated:
    """``== Headings ==``, lists, preformatted text."""
    lines = text.split("\n")
    out = Written()
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.lstrip().startswith("<!--"):
            while index < len(lines) and "-->" not in lines[index]:
                out.add(index + 1, "")
                index += 1
            out.add(index + 1, "")
        elif heading := _WIKI_HEADING.fullmatch(line):
            words = _WIKI_LINK.sub(lambda link: link[1] or link[2] or "", heading[2])
            words = words.replace("'''", "**").replace("''", "*")
            out.heading(index + 1, len(heading[1]), re.sub(r"</?(?:nowiki|code)>", "`", words))
        elif (code := _WIKI_CODE.match(line.strip())) and f"</{code[1]}" not in line:
            end = index + 1
            while end < len(lines) and f"</{code[1].lower()}" not in lines[end].lower():
                end += 1
            language = re.search(r"lang=[\"']?([\w+#-]+)", code[2])
            out.code(index + 1, lines[index + 1 : end], language[1] if language else "")
            index = end
        elif found := re.match(r"([*#:;]+)[ \t]*(.*)", line):
            mark = "1." if found[1][-1] == "#" else "-" if found[1][-1] == "*" else ""
            out.add(index + 1, f"{'   ' * (len(found[1]) - 1) if mark else ''}{mark} {found[2]}".rstrip())
        else:
            out.plain(index + 1, line.replace("'''", "**").replace("''", "*"))
        index += 1
    return out.result()


_POD_COMMAND = re.compile(r"=([a-z]+\d?)(?:[ \t]+(.*))?$")
_POD_INLINE = re.compile(r"([A-Z])(?:<([^<>]{1,300})>|<< (.{1,300}?) >>)")
_POD_SIGNS = {"gt": ">", "lt": "<", "verbar": "|", "sol": "/"}


def pod_to_markdown(text: str) -> Translated:
    """``=head1`` and the like; Perl between ``=cut`` and the next command is code."""
    lines = text.split("\n")
    out = Written()
    title, in_name, is_pod, hidden = "", False, True, False
    for number, line in enumerate(lines, 1):
        if command := _POD_COMMAND.match(line):
            name, words = command[1], _pod((command[2] or "").strip())
            is_pod = name != "cut"
            if name in ("begin", "end"):
                hidden = name == "begin" and words.strip(":") not in ("text", "")
            if name.startswith("head") and words:
                out.heading(number, int(name[4:] or 1), words)
                in_name = words.lower() == "name"
            else:
                out.add(number, f"- {words}" if name == "item" and words.strip("* ") else "")
            continue
        if hidden or not is_pod:
            out.add(number, "    " + line if line.strip() and not hidden else "")
            continue
        if in_name and line.strip():
            title, in_name = title or _pod(line.strip()).replace("`", ""), False
        out.plain(number, line if line[:1].isspace() else _pod(line))
    return out.result({}, title)


def _pod(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        words = found[2] if found[2] is not None else found[3]
        if found[1] == "E":
            return _POD_SIGNS.get(words, "")
        if found[1] == "L":
            return words.partition("|")[0]
        return {"C": f"`{words}`", "B": f"**{words}**", "I": f"*{words}*", "F": f"`{words}`"}.get(
            found[1], "" if found[1] in "XZ" else words
        )

    for _ in range(3):
        shorter = _POD_INLINE.sub(shown, text)
        if shorter == text:
            break
        text = shorter
    return text


_TEXTILE_BLOCK = re.compile(r"(h[1-6]|bc|pre|p|bq)(?:\([^)\n]*\)|\{[^}\n]*\}|[<>=])*\.(\.?)[ \t]+(.*)")


def textile_to_markdown(text: str) -> Translated:
    """``h1.`` to ``h6.``, and code blocks."""
    lines = text.split("\n")
    out = Written()
    index = 0
    while index < len(lines):
        block = _TEXTILE_BLOCK.fullmatch(lines[index])
        if block and block[1][0] == "h":
            out.heading(index + 1, int(block[1][1]), re.sub(r"@([^@]+)@", r"`\1`", block[3]))
        elif block and block[1] in ("bc", "pre"):
            end = index + 1
            while end < len(lines) and lines[end].strip():
                end += 1
            body = dedented([block[3], *lines[index + 1 : end]])
            out.fenced(list(enumerate(body, start=index + 1)), index + 1, end)
            index = end
            continue
        elif found := re.match(r"#+[ \t]+(.*)", lines[index]):
            out.add(index + 1, f"1. {found[1]}")
        else:
            out.plain(index + 1, block[3] if block else lines[index])
        index += 1
    return out.result()


def org_to_markdown(text: str) -> Translated:
    """Stars become headings, source blocks fences, and ``#+TITLE`` the title."""
    lines = text.split("\n")
    out = Written()
    metadata: dict[str, Any] = {}
    states = {"TODO", "DONE"}
    for line in lines:
        if found := _STATES.match(line.strip()):
            states |= {re.sub(r"\(.*?\)", "", word) for word in found[1].split() if word != "|"}
    # The last line that could close each block: a block that is never closed was never opened.
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
                out.blank(index + 1, end + 1)
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
        out.blank(index + 1, min(end + 1, len(lines)))
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
