"""Word styles: what a paragraph style means (title, heading, contents line) and which numbering it brings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from lxml.etree import _Element

from pinakes.ingest.convert.docx_package import W, child_value, flag, integer

Kind = Literal["body", "title", "subtitle", "heading", "contents"]


class Role(NamedTuple):
    """What a paragraph is for; ``level`` counts from 1 and is 0 where it means nothing."""

    kind: Kind
    level: int = 0


BODY = Role("body")


@dataclass(frozen=True, slots=True)
class Style:
    """One style as the file states it, before inheritance. ``None`` means: ask the style it is based on."""

    id: str
    name: str
    based_on: str | None = None
    outline: int | None = None
    num_id: str | None = None
    num_level: int | None = None
    bold: bool | None = None
    italic: bool | None = None
    hidden: bool | None = None
    underlined: bool | None = None


class StyleLevel(NamedTuple):
    """A style and the list level that it states, if it states one."""

    style: str
    level: int | None


class StyleNumbering(NamedTuple):
    """The list that a style puts its paragraphs in; ``styles`` may say on which level, the nearest first."""

    num_id: str
    styles: tuple[StyleLevel, ...]


# Word keeps the English names of its own styles whatever its language; other writers and people do not.
_TITLE = re.compile(
    r"(?:document |doc |contract )?(?:title|titel|titre|título|titulo|titolo|tytuł|název|otsikko|cím"
    r"|название|заголовок|表題|标题|標題|제목)"
)
_SUBTITLE = re.compile(
    r"subtitle|untertitel|sous-titre|subtítulo|subtitulo|sottotitolo|ondertitel|underrubrik|undertitel|podtytuł"
    r"|подзаголовок|副題|副标题|副標題|부제"
)
_HEADING = re.compile(
    r"(?<!\w)(?:heading|überschrift|uberschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek"
    r"|nadpis|naslov|címsor|titlu|başlık|antraštė|virsraksts|pealkiri|encabezado|cabeçalho|intestazione"
    r"|заголовок|επικεφαλίδα|כותרת|عنوان|見出し|标题|標題|제목)[ _-]*([1-9])(?!\d)"
)
# "Heading 2 Body" is the text below a heading, not a heading.
_NOT_HEADING = re.compile(r"\b(?:body|text|para|paragraph|char)\b")
_CONTENTS = re.compile(
    r"(?:toc|contents)[ _-]*(?:[1-9]|heading)|table of figures|contents heading|toa heading"
)

_LIST = re.compile(r"list bullet ([2-5])")

_DEEPEST_OUTLINE = 8
# Word stops at about ten; far more than that is an attempt to waste time.
_LONGEST_CHAIN = 100


class Styles:
    """The styles of a document, with inheritance resolved. Loops in ``basedOn`` end where they close."""

    def __init__(self, root: _Element | None) -> None:
        self._styles: dict[str, Style] = {}
        self.default = ""
        for element in root.iterchildren(W + "style") if root is not None else ():
            style = _read(element)
            self._styles.setdefault(style.id, style)
            if element.get(W + "type") == "paragraph" and element.get(W + "default") in ("1", "true", "on"):
                self.default = style.id
        self.chain = lru_cache(maxsize=None)(self._chain)
        self.role = lru_cache(maxsize=None)(self._role)
        self.numbering = lru_cache(maxsize=None)(self._numbering)

    def bold(self, style_id: str) -> bool:
        """Whether a style makes text bold."""
        return next((style.bold for style in self.chain(style_id) if style.bold is not None), False)

    def italic(self, style_id: str) -> bool:
        """Whether a style makes text italic."""
        return next((style.italic for style in self.chain(style_id) if style.italic is not None), False)

    def underlined(self, style_id: str) -> bool:
        """Whether a character style underlines text; those of links do, which says nothing."""
        chain = self.chain(style_id)
        linked = any("hyperlink" in style.name for style in chain)
        return not linked and next(
            (style.underlined for style in chain if style.underlined is not None), False
        )

    def hidden(self, style_id: str) -> bool:
        """Whether a style hides its text."""
        return next((style.hidden for style in self.chain(style_id) if style.hidden is not None), False)

    def list_depth(self, style_id: str) -> int:
        """How deep a bullet style sits: "List Bullet 3" is a list of its own, drawn two levels in."""
        matches = (_LIST.fullmatch(style.name) for style in self.chain(style_id))
        return next((int(match[1]) - 1 for match in matches if match), 0)

    def _chain(self, style_id: str) -> tuple[Style, ...]:
        found: dict[str, Style] = {}
        style = self._styles.get(style_id)
        while style is not None and style.id not in found and len(found) < _LONGEST_CHAIN:
            found[style.id] = style
            style = self._styles.get(style.based_on or "")
        return tuple(found.values())

    def _role(self, style_id: str) -> Role:
        # A style id without a definition is often still a plain "Heading2".
        chain = self.chain(style_id) or (Style(style_id, style_id.casefold()),)
        # Only the style itself counts here: bibliographies have styles that are based on those of the contents.
        if _CONTENTS.fullmatch(chain[0].name):
            return Role("contents")
        for style in chain:
            if _SUBTITLE.fullmatch(style.name):
                return Role("subtitle")
            if _TITLE.fullmatch(style.name):
                return Role("title", 1)
            if style.outline is not None:
                return outline_role(style.outline)
            match = _HEADING.search(style.name)
            if match and not _NOT_HEADING.search(style.name):
                return Role("heading", int(match[1]))
        return BODY

    def _numbering(self, style_id: str) -> StyleNumbering | None:
        levels: list[StyleLevel] = []
        for style in self.chain(style_id):
            levels.append(StyleLevel(style.id, style.num_level))
            if style.num_id is not None:
                return StyleNumbering(style.num_id, tuple(levels))
        return None


def outline_role(outline: int) -> Role:
    """The role that an outline level gives; Word writes 9 for body text."""
    return Role("heading", outline + 1) if 0 <= outline <= _DEEPEST_OUTLINE else BODY


def _read(element: _Element) -> Style:
    paragraph, run = element.find(W + "pPr"), element.find(W + "rPr")
    numbering = paragraph.find(W + "numPr") if paragraph is not None else None
    outline = child_value(paragraph, "outlineLvl")
    level = child_value(numbering, "ilvl")
    underline = child_value(run, "u")
    style_id = element.get(W + "styleId", "")
    name = child_value(element, "name") or style_id
    return Style(
        id=style_id,
        name=" ".join(name.casefold().split()),
        based_on=child_value(element, "basedOn"),
        outline=None if outline is None else integer(outline, 9),
        num_id=child_value(numbering, "numId"),
        num_level=None if level is None else integer(level),
        bold=flag(run, "b"),
        italic=flag(run, "i"),
        hidden=flag(run, "vanish"),
        underlined=None if underline is None else underline not in ("", "none"),
    )
