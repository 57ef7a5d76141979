"""Writing Markdown: emphasis, links and tables, text escaped where it would become structure, and page turns.

While a file is read, two characters that no text may contain mark where a page begins in the last saved layout: one
where the file says that a page was rendered, the other for an explicit break without such a record. They are removed
from the finished text, and become page starts only if there are as many as the file says it has pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loccit.model.document import PageStart
from loccit.read.written import pipe_table

_SPACES = re.compile(r"[ \t]{2,}")
_BLANK_LINES = re.compile(r"[ \t]*\n\s*")
_TAG = re.compile(r"(?<!\\)<(?=[A-Za-z/!?][^<>]*>)")
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s|$)")
_LIST_MARKER = re.compile(r"(?:-|\d{1,9}[.)])[ \t]+(?=\S)")
# What CommonMark reads as a heading, quote, fence, list, HTML block or link definition at a line's start.
_BLOCK_START = re.compile(r"#{1,6}(?:\s|$)|>|`{3}|~{3}|[*+](?:\s|$)|<[A-Za-z/!?]|\[[^\]\n]+\]:")
# A line that is a rule, the underline of a heading, or the second row of a table.
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}|-+|=+|(?=[^\n]*-)[|:][ :|-]*|(?=[^\n]*[|:])-[ :|-]+")
# Nobody nests lists on one line; more markers than this are a drawing, and are escaped.
_MOST_MARKERS = 8
_CLOSING_HASHES = re.compile(r"(?<=\s)(#+)$")
_SAFE_SCHEME = re.compile(r"(?:https?|ftp|mailto|tel):", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URL_UNSAFE = {character: f"%{ord(character):02X}" for character in ' ()<>"\\\n\t|*'}
RENDERED = "\ufdd0"
EXPLICIT = "\ufdd1"
TURNS = RENDERED + EXPLICIT
# This many pages without any text are not pages.
_MOST_WAITING = 1000
_TURNS = re.compile(f"[{TURNS}]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text with uniform formatting.

    ``note`` marks a footnote reference, which is written as it is; ``internal`` a link within the document, which is
    written as its text. Markdown has no underlining: it becomes emphasis in titles.
    """

    text: str
    bold: bool = False
    italic: bool = False
    href: str = ""
    note: bool = False
    internal: bool = False
    underlined: bool = False

    @property
    def look(self) -> tuple[bool, bool, str, bool]:
        """What must agree to merge two spans."""
        return (self.bold, self.italic, self.href, self.note)


def plain(spans: Iterable[Span]) -> str:
    """One line of plain text, for headings."""
    text = " ".join("".join(span.text for span in spans if not span.note).split())
    return _TAG.sub(r"\\<", text)


def inline(spans: Iterable[Span]) -> str:
    """Markdown for a paragraph's text; line breaks are kept, and nothing is escaped needlessly."""
    merged = _merge(spans)
    emphasis = any(span.bold or span.italic for span in merged)
    stars = len(_STAR.findall("".join(span.text for span in merged)))
    if stars > 1 or (stars and emphasis):
        merged = [replace(span, text=_STAR.sub(r"\\*", span.text)) for span in merged]
    text = ""
    for index, span in enumerate(merged):
        following = merged[index + 1].text if index + 1 < len(merged) else ""
        if span.href:
            text += _link(span)
        elif (span.bold or span.italic) and not text.endswith("*"):
            text += _emphasised(span, text[-1:], following[:1])
        else:
            text += span.text
    text = _BLANK_LINES.sub("\n", _SPACES.sub(" ", text)).strip()
    return _TAG.sub(r"\\<", text)


def block(text: str) -> str:
    """A paragraph's lines, escaped so that each is read as text."""
    peeled = (peel(line.strip()) for line in text.split("\n"))
    return "\n".join(turns + _guarded(line) for turns, line in peeled)


def heading(level: int, text: str) -> str:
    """An ATX heading; trailing hashes are escaped, as they would be taken for its end."""
    return f"{'#' * level} " + _CLOSING_HASHES.sub(r"\\\1", text)


def bullet(depth: int, text: str) -> str:
    """A list item, with further lines below its text."""
    first, *others = block(text).split("\n")
    return "\n".join([f"{'  ' * depth}- {first}", *(f"{'  ' * (depth + 1)}{line}" for line in others)])


def table(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table."""
    return pipe_table([[cell.replace("|", r"\|").replace("\n", "<br>") for cell in row] for row in rows])


def _guarded(line: str) -> str:
    # The text after a list marker is a block of its own, so it is treated in the same way.
    at = 0
    for _ in range(_MOST_MARKERS):
        if _RULE.fullmatch(line, at) or _BLOCK_START.match(line, at):
            break
        marker = _LIST_MARKER.match(line, at)
        if marker is None:
            return line
        at = marker.end()
    return f"{line[:at]}\\{line[at:]}"


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Merge adjacent spans with the same formatting; white space between two of a kind takes theirs."""
    texts: list[list[str]] = []
    looks: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if not span.href and not span.note and not any(c.isalnum() for c in span.text):
            # Bold spaces and commas carry no meaning; as plain text they do not interrupt their surroundings.
            span = replace(span, bold=False, italic=False)
        if len(looks) > 1 and looks[-2].look == span.look != _PLAIN and not "".join(texts[-1]).strip():
            looks.pop()
            texts[-2].extend(texts.pop())
            texts[-1].append(span.text)
        elif looks and looks[-1].look == span.look and not span.note:
            texts[-1].append(span.text)
        else:
            looks.append(span)
            texts.append([span.text])
    return [replace(span, text="".join(parts)) for span, parts in zip(looks, texts, strict=True)]


_PLAIN = Span("").look


def _emphasised(span: Span, before: str, after: str) -> str:
    """Emphasis with its marks where CommonMark recognises them: next to a letter, or free on the outside."""
    core = span.text.strip()
    start = span.text.index(core)
    head, tail = span.text[:start], span.text[start + len(core) :]
    if not head and before.isalnum():
        inner = core.lstrip(_punctuation(core))
        head, core = core[: len(core) - len(inner)], inner
    if not tail and after.isalnum():
        inner = core.rstrip(_punctuation(core))
        core, tail = inner, core[len(inner) :]
    if not core:
        return span.text
    mark = "*" * (2 * span.bold + span.italic)
    return f"{head}{mark}{core}{mark}{tail}"


def _punctuation(text: str) -> str:
    return "".join({character for character in text if not character.isalnum()})


def _link(span: Span) -> str:
    core = span.text.strip()
    if not core or not _is_address(span.href) or core in (span.href, span.href.removeprefix("mailto:")):
        return span.text
    head, _, tail = span.text.partition(core)
    address = "".join(_URL_UNSAFE.get(character, character) for character in span.href)
    label = " ".join(core.replace("[", r"\[").replace("]", r"\]").split())
    return f"{head}[{label}]({address}){tail}"


def _is_address(href: str) -> bool:
    """Whether it is a web or mail address, or a path; not a script."""
    return bool(_SAFE_SCHEME.match(href)) or not _SCHEME.match(href)


def turned(waiting: str, turn: str) -> str:
    """Add a page turn to those waiting for text. A break and the record of it are one."""
    if len(waiting) >= _MOST_WAITING:
        return waiting
    return (waiting[:-1] if turn == RENDERED and waiting.endswith(EXPLICIT) else waiting) + turn


def peel(text: str) -> tuple[str, str]:
    """Split off the page turns before a text."""
    bare = text.lstrip(TURNS)
    return text[: len(text) - len(bare)], bare


def without_turns(text: str) -> str:
    """A text without its page turns."""
    return _TURNS.sub("", text)


def page_starts(text: str, pages: int) -> tuple[str, tuple[PageStart, ...]]:
    """The text without its page turns, and where pages begin; none if their number does not match.

    A file changed by another program after Word saved it keeps its page records, which are then wrong.
    """
    for turns in (RENDERED, TURNS):
        if RENDERED in text and sum(map(text.count, turns)) + 1 == pages:
            return without_turns(text), _starts(text, turns)
    return without_turns(text), ()


def _starts(text: str, turns: str) -> tuple[PageStart, ...]:
    starts = {0: 1}
    page, removed = 1, 0
    for found in _TURNS.finditer(text):
        page += sum(map(found[0].count, turns))
        # Pages without text, such as a table of contents, begin and end here.
        starts[found.start() - removed] = page
        removed += len(found[0])
    return tuple(PageStart(offset, page) for offset, page in starts.items())
