"""reStructuredText as Markdown: titles, literal blocks, comments; the rest stays as written.

Titles follow the rules of docutils: a line of text at the margin that begins a block, with a rule of one character
below it that is at least as long, or the same rule above and below. Levels follow the order in which rules first
appear.
"""

from __future__ import annotations

import re
import unicodedata

from loccit.read.written import Translated, Written, dedented

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\s*")
_CODE = re.compile(r"\.\.\s+(?:code-block|code|sourcecode|parsed-literal|math|highlight|raw)::[ \t]*(\S*)")
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
# What docutils recognises as something else before it looks for a title.
_NOT_TITLE = re.compile(r"(?:[-*+•‣⁃]|\.\.|__|\|)(?:\s|$)|:[^:\s][^:]*:(?:\s|$)|>{3}\s|\+-[-+]+\+")
_SHORTEST = 4

_ROLE = re.compile(r"(?::[\w:.+-]{1,60}:)?`([^`\n]{1,500})`(?::[\w:.+-]{1,60}:|__?)?")
_TARGET = re.compile(r"^(.*\S)\s*<[^<>]*>$")
_SUBSTITUTION = re.compile(r"^\.\.\s+\|([^|\n]{1,100})\|\s+replace::[ \t]*(\S.*)$", re.M)
_HEADER_FIELD = re.compile(r"([A-Z][A-Za-z-]{1,30}):[ \t]+(\S.*)")
_DOC_FIELD = re.compile(r":(authors?|date):[ \t]+(\S.*)", re.I)
_LITERAL = re.compile(r"``([^`\n]+)``")


def rst_to_markdown(text: str) -> Translated:
    """Titles become headings, literal blocks fences."""
    lines = text.split("\n")
    out = Written()
    metadata, title = _header(lines)
    names = dict(_SUBSTITUTION.findall(text)) if "replace::" in text else {}
    levels: list[str] = []
    fresh = True  # whether a block may begin here
    index = 0
    while index < len(lines):
        found = _title(lines, index) if fresh else None
        if found:
            words, mark, used = found
            if mark not in levels:
                levels.append(mark)
            if used == 3:
                out.blank(index + 1, index + 1)
            out.heading(index + used - 1, levels.index(mark) + 1, _plain(words, names))
            index += used
            out.blank(index, index)
            fresh = True
            continue
        line = lines[index]
        following = _copied(lines, index, out)
        # After a literal block, a comment or an empty line something new begins.
        fresh = following > index + 1 or not line.strip() or _is_rule(line) or bool(_DIRECTIVE.match(line))
        index = following
    return out.result(metadata, title)


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line)) and len(line.rstrip()) >= _SHORTEST


def _title(lines: list[str], index: int) -> tuple[str, str, int] | None:
    """The words of a title, the marker of its level, and the number of lines it takes."""
    line = lines[index].rstrip()
    if not line:
        return None
    below = lines[index + 1].rstrip() if index + 1 < len(lines) else ""
    if _RULE.fullmatch(line):
        under = lines[index + 2].rstrip() if index + 2 < len(lines) else ""
        fits = len(line) >= _SHORTEST or _width(below) <= len(line)
        if below.strip() and under == line and fits and not _RULE.fullmatch(below):
            return below.strip(), line[0] * 2, 3
        if len(line) > 1:
            return None
    if line[0].isspace() or not below or not _RULE.fullmatch(below) or _NOT_TITLE.match(line):
        return None
    if len(below) < _SHORTEST and len(below) < _width(line):
        return None
    return line.strip(), below[0], 2


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text.rstrip())


def _copied(lines: list[str], index: int, out: Written) -> int:
    """Copy one line, and the literal block that it opens; return the index after them."""
    line = lines[index]
    bare = line.strip()
    directive = _CODE.match(bare)
    literal = bare.endswith("::") and not bare.startswith("..")
    if not directive and not literal:
        if _is_rule(line):
            out.add(index + 1, "")
        else:
            out.plain(index + 1, line)
        return index + 1
    indent = len(line) - len(line.lstrip())
    end = index + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    last = end
    while last > index + 1 and not lines[last - 1].strip():
        last -= 1
    first = index + 1
    while first < last and (
        not lines[first].strip() or (directive and lines[first].lstrip().startswith(":"))
    ):
        first += 1
    if literal:
        out.plain(index + 1, line.rstrip()[:-1] if bare != "::" else "")
    elif first - 1 > index or first == last:
        out.add(index + 1, "")
    if first == last:
        return index + 1
    out.blank(index + 2, first - 1)
    language = directive[1] if directive and not bare.startswith(".. math") else ""
    # The closing fence replaces the blank line that ends the block.
    out.code(first, dedented(lines[first:last]), language)
    return last + 1 if last < len(lines) and not lines[last].strip() else last


def _plain(words: str, names: dict[str, str]) -> str:
    """A title with the words that its roles, links and substitutions show; code stays code."""
    for name, value in names.items():
        words = words.replace(f"|{name}|", value)
    parts = _LITERAL.split(words)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"`{part}`"
            continue
        shown = re.sub(r"(?<=\w)__?(?!\w)", "", _ROLE.sub(_shown, part))
        # An underscore is no emphasis here.
        parts[number] = re.sub(r"(?<!\w)_+|_+(?!\w)", lambda match: "\\_" * len(match.group()), shown)
    return "".join(parts)


def _shown(role: re.Match[str]) -> str:
    target = _TARGET.match(role[1])
    return target[1] if target else role[1].removeprefix("~").removeprefix("!")


def _header(lines: list[str]) -> tuple[dict[str, str], str]:
    """The fields before the text: message headers, as in PEPs, or a field list."""
    fields: dict[str, str] = {}
    for line in lines[:60]:
        if field := _HEADER_FIELD.fullmatch(line.rstrip()):
            fields[field[1].lower()] = field[2].strip()
        elif not line[:1].isspace() and (line.strip() or fields):
            break
    if "title" in fields and len(fields) > 1:
        metadata = {"author": fields.get("author", ""), "date": fields.get("created", "")}
        number = f"PEP {fields['pep']} – " if "pep" in fields else ""
        return {name: value for name, value in metadata.items() if value}, number + fields["title"]
    found = [field for line in lines[:60] if (field := _DOC_FIELD.fullmatch(line.rstrip()))]
    return {field[1].lower().rstrip("s"): field[2] for field in found}, ""
