"""The content of a Word paragraph: runs, fields, links, notes and tracked changes, as spans of text.

Tracked changes are read as accepted. Fields keep their result and lose their code; a field may begin in one paragraph
and end in another, so the reader remembers open ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml.etree import _Element

from loccit.errors import ConversionError
from loccit.read.docx.markdown import EXPLICIT, RENDERED, TURNS, Span, turned
from loccit.read.docx.package import MC, M, R, Styles, W, child_value, flag

_TRANSPARENT = frozenset(
    W + name for name in ("ins", "moveTo", "smartTag", "customXml", "sdtContent", "dir", "bdo", "rubyBase")
)
DRAWN = frozenset(W + name for name in ("drawing", "pict", "object"))
# Word itself nests fields 20 deep at most.
_DEEPEST_FIELD = 200
BOX = W + "txbxContent"
# A title has no more words than these.
_MOST_WORDS = 12
_HYPERLINK = re.compile(r'HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))', re.IGNORECASE)
_CROSS_REFERENCE = re.compile(r"(?:PAGE)?REF\s|HYPERLINK\s+\\l", re.IGNORECASE)
_PICTURES = (
    "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic",
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart",
    "{urn:schemas-microsoft-com:vml}imagedata",
)

# White space of every kind is one space here; soft hyphens and zero-width characters only steer line breaks.
_CLEAN = str.maketrans(
    {
        **dict.fromkeys("\n\r\t\v\f\x1c\x1d\x1e\x85\u00a0\u2007\u202f", " "),
        "\u2028": "\n",
        "\u2029": "\n",
        "\u2011": "-",
    }
    | dict.fromkeys("\u00ad\u200b\ufeff" + TURNS, None)
)
_GREEK_UPPER = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_GREEK_LOWER = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = {
    **{0x41 + index: letter for index, letter in enumerate(_GREEK_UPPER)},
    **{0x61 + index: letter for index, letter in enumerate(_GREEK_LOWER)},
    **{code: chr(code) for code in range(0x20, 0x40)},
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5B: "[", 0x5D: "]",
    0x5F: "_", 0x7B: "{", 0x7C: "|", 0x7D: "}", 0x7E: "∼", 0xA2: "′", 0xA3: "≤", 0xA5: "∞",
    0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″",
    0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡",
    0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈",
    0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√",
    0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE2: "®",
    0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x21: "✏", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■",
    0x6F: "☐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x78: "☒", 0x9E: "·",
    0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑",
    0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐", 0x97: "•"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
# Symbol fonts sit in this part of the private use area.
_PRIVATE = range(0xF000, 0xF100)


@dataclass(slots=True)
class _Field:
    """An open field: its code so far and, once past the code, what to do with the result."""

    code: str = ""
    in_result: bool = False
    dropped: bool = False
    href: str = ""
    internal: bool = False

    def separate(self) -> None:
        self.in_result = True
        code = self.code.strip()
        self.dropped = is_contents_field(code)
        self.internal = _CROSS_REFERENCE.match(code) is not None
        link = _HYPERLINK.match(code)
        self.href = (link[1] or link[2] or "") if link else ""


class Notes:
    """Footnotes and endnotes in the order of their first mention, with the paragraphs that mention them."""

    def __init__(self, known: dict[str, set[str]]) -> None:
        self._known = known
        self.numbers: dict[tuple[str, str], int] = {}
        self.paragraphs: dict[int, int] = {}
        self.missing: int = 0

    def marker(self, kind: str, note_id: str, paragraph: int) -> str:
        """The Markdown reference to a note in a paragraph; "" if the file lacks the note."""
        if note_id not in self._known.get(kind, ()):
            self.missing += 1
            return ""
        number = self.numbers.setdefault((kind, note_id), len(self.numbers) + 1)
        self.paragraphs.setdefault(number, paragraph)
        return f"[^{number}]"


class InlineReader:
    """Reads paragraphs into spans. ``links`` are the link addresses of the current part.

    ``turns`` are the pages begun since the last text; ``paged`` is false for text beside the pages. ``paragraph`` is
    the number of the current paragraph; text beside the main text keeps the previous one.
    """

    def __init__(
        self, styles: Styles, notes: Notes, links: dict[str, str], set_off_by_style: bool = False
    ) -> None:
        self.links = links
        self._set_off = set_off_by_style
        self.pictures: int = 0
        self.turns: str = ""
        self.paged = True
        self.paragraph = 0
        self._styles = styles
        self._notes = notes
        self._fields: list[_Field] = []
        self._unbalanced = False
        self._spans: list[Span] = []
        self._boxes: list[_Element] = []
        self._href = ""
        self._anchored = False
        self._style = ""
        self._inherited = False, False

    def begin_story(self, root: _Element) -> None:
        """Start another text (the body, a note): fields do not extend across."""
        kinds = [element.get(W + "fldCharType") for element in root.iter(W + "fldChar")]
        self._unbalanced = kinds.count("begin") != kinds.count("end")
        self._fields = []

    def read(self, paragraph: _Element, style_id: str) -> tuple[list[Span], list[_Element]]:
        """The spans of a paragraph, and the text boxes anchored in it."""
        self._spans, self._boxes, self._style = [], [], style_id
        self._inherited = self._styles.bold(style_id), self._styles.italic(style_id)
        self._children(paragraph)
        if self._unbalanced:
            # A field that never ends must not swallow the rest of the document.
            self._fields = []
        return self._without_uniform_look(), self._boxes

    def _without_uniform_look(self) -> list[Span]:
        """Formatting of a style means something only if some words have it and others do not.

        But a few words in a bold style may be what heads a text without headings.
        """
        spans, (bold, italic) = self._spans, self._inherited
        words = [span for span in spans if any(map(str.isalnum, span.text))]
        titled = self._set_off and sum(len(span.text.split()) for span in words) <= _MOST_WORDS
        if bold and all(span.bold for span in words) and not titled:
            spans = [replace(span, bold=False) for span in spans]
        if italic and all(span.italic for span in words):
            spans = [replace(span, italic=False) for span in spans]
        return spans

    @property
    def in_contents(self) -> bool:
        """Whether a table of contents is open."""
        return any(field.dropped for field in self._fields)

    def _children(self, parent: _Element) -> None:
        for child in parent:
            tag = child.tag
            if tag == W + "r":
                self._run(child)
            elif tag in _TRANSPARENT:
                self._children(child)
            elif tag == W + "hyperlink":
                self._hyperlink(child)
            elif tag == W + "sdt":
                if not is_contents_control(child):
                    self._children(child)
            elif tag == W + "fldSimple":
                self._simple_field(child)
            elif tag == MC + "AlternateContent":
                branch = chosen_branch(child)
                if branch is not None:
                    self._children(branch)
            elif tag in (M + "oMath", M + "oMathPara"):
                self._add(linear_math(child))

    def _hyperlink(self, element: _Element) -> None:
        outer = self._href, self._anchored
        self._href = self.links.get(element.get(R + "id", ""), "")
        self._anchored = not self._href and element.get(W + "anchor") is not None
        self._children(element)
        self._href, self._anchored = outer

    def _simple_field(self, element: _Element) -> None:
        field = _Field(element.get(W + "instr", ""))
        field.separate()
        self._fields.append(field)
        self._children(element)
        if self._fields and self._fields[-1] is field:
            self._fields.pop()

    def _run(self, run: _Element) -> None:
        properties = run.find(W + "rPr")
        character = child_value(properties, "rStyle") or ""
        hidden = flag(properties, "vanish")
        if hidden is None:
            hidden = bool(character and self._styles.hidden(character)) or self._styles.hidden(self._style)
        bold, italic = flag(properties, "b"), flag(properties, "i")
        underline = child_value(properties, "u")
        look = (
            bold if bold is not None else self._styles.bold(character) or self._inherited[0],
            italic if italic is not None else self._styles.italic(character) or self._inherited[1],
            self._styles.underlined(character) if underline is None else underline not in ("", "none"),
        )
        self._run_children(run, look, hidden)

    def _run_children(self, run: _Element, look: tuple[bool, bool, bool], hidden: bool) -> None:
        for child in run:
            tag = child.tag
            if tag == W + "fldChar":
                self._field_mark(child, hidden)
            elif tag == W + "instrText":
                if self._fields and not self._fields[-1].in_result:
                    self._fields[-1].code += child.text or ""
            elif tag == W + "lastRenderedPageBreak":
                self._turn(RENDERED)
            elif hidden or tag == W + "rPr":
                continue
            elif tag == W + "t":
                text = (child.text or "").translate(_CLEAN)
                self._add(text if text.isascii() else translate(text, _font(run)), *look)
            elif tag in (W + "tab", W + "ptab"):
                self._add(" ", *look)
            elif tag in (W + "br", W + "cr"):
                if child.get(W + "type") == "page":
                    self._turn(EXPLICIT)
                elif child.get(W + "type") != "column":
                    self._add("\n", *look)
            elif tag == W + "noBreakHyphen":
                self._add("-", *look)
            elif tag == W + "sym":
                self._add(_symbol(child), *look)
            elif tag in (W + "footnoteReference", W + "endnoteReference"):
                kind = "footnote" if tag == W + "footnoteReference" else "endnote"
                if self._visible:
                    marker = self._notes.marker(kind, child.get(W + "id", ""), self.paragraph)
                    self._spans.append(Span(marker, note=True))
            elif tag in DRAWN:
                self._drawn(child)
            elif tag == W + "ruby":
                self._children(child)
            elif tag == MC + "AlternateContent":
                branch = chosen_branch(child)
                if branch is not None:
                    self._run_children(branch, look, hidden)

    @property
    def _visible(self) -> bool:
        return all(field.in_result and not field.dropped for field in self._fields)

    def _field_mark(self, element: _Element, hidden: bool) -> None:
        kind = element.get(W + "fldCharType")
        if kind == "begin":
            box = element.find(f"{W}ffData/{W}checkBox")
            if box is not None and not hidden:
                checked = flag(box, "checked")
                self._add("☒" if (flag(box, "default") if checked is None else checked) else "☐")
            if len(self._fields) >= _DEEPEST_FIELD:
                raise ConversionError("the document nests fields too deeply")
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].separate()
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _drawn(self, element: _Element) -> None:
        boxes = outermost_boxes(element)
        if boxes and self._visible:
            self._boxes.extend(boxes)
        elif next(element.iter(*_PICTURES), None) is not None:
            self.pictures += 1

    def _turn(self, turn: str) -> None:
        if self.paged:
            self.turns = turned(self.turns, turn)

    def _add(self, text: str, bold: bool = False, italic: bool = False, underlined: bool = False) -> None:
        if text and self._visible:
            href = self._href or next((field.href for field in reversed(self._fields) if field.href), "")
            internal = self._anchored or any(field.internal for field in self._fields)
            if self.turns and self.paged and not text.isspace():
                text, self.turns = self.turns + text, ""
            self._spans.append(
                Span(text, bold, italic, href, internal=internal, underlined=underlined and not href)
            )


def is_contents_field(code: str) -> bool:
    """Whether a field's code makes a table of contents (or of figures, which is the same field)."""
    return code.upper().split(maxsplit=1)[:1] == ["TOC"]


def is_contents_control(element: _Element) -> bool:
    """Whether a content control is the gallery's table of contents."""
    properties = element.find(W + "sdtPr")
    gallery = (
        child_value(properties.find(W + "docPartObj"), "docPartGallery") if properties is not None else None
    )
    return gallery == "Table of Contents"


def chosen_branch(element: _Element) -> _Element | None:
    """One branch of alternate content: the first one with text, or else the first."""
    branches = [child for child in element if child.tag in (MC + "Choice", MC + "Fallback")]
    with_text = (branch for branch in branches if next(branch.iter(W + "t", M + "t"), None) is not None)
    return next(with_text, branches[0] if branches else None)


def outermost_boxes(element: _Element) -> list[_Element]:
    """The text boxes in a drawing, without those inside other boxes or in branches not chosen."""
    found: list[_Element] = []
    waiting = [element]
    while waiting:
        current = waiting.pop()
        if current.tag == BOX:
            found.append(current)
        elif current.tag == MC + "AlternateContent":
            branch = chosen_branch(current)
            waiting.extend([] if branch is None else [branch])
        else:
            waiting.extend(reversed(current))
    return found


def linear_math(element: _Element) -> str:
    """An equation on one line: ``a/b``, ``x^2``, ``x_i``."""
    name = element.tag
    if name == M + "t":
        return (element.text or "").translate(_CLEAN)
    parts = [linear_math(child) for child in element if isinstance(child.tag, str)]
    joint = {M + "f": "/", M + "sSup": "^", M + "sSub": "_"}.get(name)
    if joint:
        return joint.join(
            f"({part})" if len(part) > 1 and not part.isalnum() else part for part in parts if part
        )
    return "".join(parts)


def _font(run: _Element) -> str:
    fonts = run.find(f"{W}rPr/{W}rFonts")
    return "" if fonts is None else str(fonts.get(W + "ascii") or fonts.get(W + "hAnsi") or "")


def _symbol(element: _Element) -> str:
    try:
        code = int(element.get(W + "char", ""), 16)
    except ValueError:
        return ""
    return symbol(code, element.get(W + "font", "")).translate(_CLEAN)


def symbol(code: int, font: str) -> str:
    """The character for a font's code; "" if it is private and unknown."""
    known = _FONTS.get(font.casefold())
    if known is not None:
        return known.get(code - 0xF000 if code in _PRIVATE else code, "")
    if code in _PRIVATE:
        return "•" if code == 0xF0B7 else ""
    printable = 0x20 <= code < 0xD800 or 0xF900 <= code < 0x110000
    return chr(code) if printable else ""


def translate(text: str, font: str) -> str:
    """Text with its private characters replaced."""
    if not any(ord(character) in _PRIVATE for character in text):
        return text
    return "".join(symbol(ord(c), font) if ord(c) in _PRIVATE else c for c in text)
