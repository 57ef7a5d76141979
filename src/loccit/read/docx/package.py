"""The package around a Word document: a zip of XML parts, treated as untrusted.

Nothing here trusts the file: sizes are checked before anything is unpacked, entities are never expanded, and every
fault becomes a :class:`~loccit.errors.ConversionError` with the reason.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element

from loccit.errors import ConversionError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"

# "Strict" Office files use other namespaces for the same elements.
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": W[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": R[1:-1].encode(),
    b"http://purl.oclc.org/ooxml/officeDocument/math": M[1:-1].encode(),
}

MAX_TOTAL_BYTES = 500 * 2**20
MAX_PART_BYTES = 150 * 2**20
# Word's XML packs 10 to 60 to 1; deflate can do 1,000 to 1 only with a file made to do so.
MAX_RATIO = 300
_RATIO_MATTERS_FROM = 10 * 2**20

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


def integer(text: str | None, default: int = 0) -> int:
    """The number in an attribute, or the default."""
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default


def child_value(element: _Element | None, tag: str) -> str | None:
    """The ``w:val`` of a direct child, or None if there is no such child."""
    child = element.find(W + tag) if element is not None else None
    return None if child is None else str(child.get(W + "val", ""))


def flag(properties: _Element | None, tag: str) -> bool | None:
    """An on/off property: on if present unless its value says off; None if absent."""
    child = properties.find(W + tag) if properties is not None else None
    if child is None:
        return None
    return child.get(W + "val", "true") not in ("0", "false", "off", "none")


class Package:
    """The parts of an Office file, by name, and the relations between them."""

    def __init__(self, path: Path) -> None:
        _refuse_ole(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _UNREADABLE as error:
            raise ConversionError(f"the file is damaged or cut short: {error}") from error
        self._known_relations: dict[str, dict[str, tuple[str, str, bool]]] = {}
        self._members = {_normal(info.filename): info for info in self._zip.infolist()}
        if sum(info.file_size for info in self._members.values()) > MAX_TOTAL_BYTES:
            self._zip.close()
            raise ConversionError(f"the file unpacks to more than {MAX_TOTAL_BYTES // 2**20} MB")

    def __enter__(self) -> Package:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._zip.close()

    def xml(self, name: str) -> _Element | None:
        """The root of an XML part, or None if the package has no such part."""
        info = self._members.get(_normal(name))
        if info is None:
            return None
        if info.flag_bits & 1:
            raise ConversionError("the file is password protected")
        ratio = info.file_size / max(info.compress_size, 1)
        if info.file_size > MAX_PART_BYTES or (info.file_size > _RATIO_MATTERS_FROM and ratio > MAX_RATIO):
            raise ConversionError(f"part {name} is too large ({info.file_size:,} bytes when unpacked)")
        try:
            data = self._zip.read(info)
        except _UNREADABLE as error:
            raise ConversionError(f"part {name} is damaged: {error}") from error
        return _parse(data, name)

    def main_part(self) -> str:
        """The name of the part with the text."""
        for kind, target, _ in self._relations("").values():
            if kind == "officeDocument" and _normal(target) in self._members:
                return target
        return "word/document.xml"

    def related(self, part: str, kind: str, default: str) -> str:
        """The part that another one points to as its styles, its numbering and so on."""
        for found, target, external in self._relations(part).values():
            if found == kind and not external:
                return target
        return posixpath.join(posixpath.dirname(part), default) if part else default

    def links(self, part: str) -> dict[str, str]:
        """Addresses outside the file, by relation id."""
        return {key: target for key, (_, target, external) in self._relations(part).items() if external}

    def _relations(self, part: str) -> dict[str, tuple[str, str, bool]]:
        """Kind, target and whether it is outside the file, by relation id."""
        if part not in self._known_relations:
            self._known_relations[part] = self._read_relations(part)
        return self._known_relations[part]

    def _read_relations(self, part: str) -> dict[str, tuple[str, str, bool]]:
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", name + ".rels"))
        if root is None:
            return {}
        relations = {}
        for relation in root.iter(_RELATIONSHIP):
            target = relation.get("Target", "")
            external = relation.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            relations[relation.get("Id", "")] = (
                relation.get("Type", "").rpartition("/")[2],
                target,
                external,
            )
        return relations


def _normal(name: str) -> str:
    """Part names are case-insensitive, and some writers use backslashes."""
    return name.replace("\\", "/").lstrip("/").lower()


def _refuse_ole(path: Path) -> None:
    try:
        with path.open("rb") as file:
            if file.read(len(_OLE_MAGIC)) != _OLE_MAGIC:
                return
            encrypted = _ENCRYPTED in file.read(2**20)
    except OSError as error:
        raise ConversionError(f"the file cannot be read: {error.strerror or error}") from error
    if encrypted:
        raise ConversionError("the file is password protected")
    raise ConversionError("the file is an old binary Office file, or password protected; save it as .docx")


def _parse(data: bytes, name: str) -> _Element:
    # Office files never declare a document type; the only use of one here would be an entity attack.
    if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
        raise ConversionError(f"part {name} declares a document type, which Word files never do")
    if b"purl.oclc.org/ooxml" in data[:8192]:
        for strict, usual in _STRICT.items():
            data = data.replace(strict, usual)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ConversionError(f"part {name} is not well-formed XML: {error}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise ConversionError(f"part {name} declares a document type, which Word files never do")
    return root


# -- styles -----------------------------------------------------------------------------------------------------


Kind = Literal["body", "title", "subtitle", "heading", "contents"]


class Role(NamedTuple):
    """The role of a paragraph; ``level`` counts from 1 and is 0 if it has no meaning."""

    kind: Kind
    level: int = 0


BODY = Role("body")


@dataclass(frozen=True, slots=True)
class Style:
    """One style as stated in the file, before inheritance. ``None`` means inherited."""

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
    """A style and its list level, if it states one."""

    style: str
    level: int | None


class StyleNumbering(NamedTuple):
    """The list of a style's paragraphs; ``styles`` may state the level, the nearest first."""

    num_id: str
    styles: tuple[StyleLevel, ...]


# Word keeps the English names of its own styles in every language; other writers and people do not.
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
# Word stops at about ten; far more are an attempt to waste time.
_LONGEST_CHAIN = 100


class Styles:
    """The styles of a document, with inheritance resolved. Loops in ``basedOn`` end where they close."""

    def __init__(self, root: _Element | None) -> None:
        self._styles: dict[str, Style] = {}
        self.default: str = ""
        for element in root.iterchildren(W + "style") if root is not None else ():
            style = _read(element)
            self._styles.setdefault(style.id, style)
            if element.get(W + "type") == "paragraph" and element.get(W + "default") in ("1", "true", "on"):
                self.default = style.id
        self.chain: Callable[[str], tuple[Style, ...]] = lru_cache(maxsize=None)(self._chain)
        self.role: Callable[[str], Role] = lru_cache(maxsize=None)(self._role)
        self.numbering: Callable[[str], StyleNumbering | None] = lru_cache(maxsize=None)(self._numbering)

    def bold(self, style_id: str) -> bool:
        """Whether a style makes text bold."""
        return next((style.bold for style in self.chain(style_id) if style.bold is not None), False)

    def italic(self, style_id: str) -> bool:
        """Whether a style makes text italic."""
        return next((style.italic for style in self.chain(style_id) if style.italic is not None), False)

    def underlined(self, style_id: str) -> bool:
        """Whether a character style underlines text, except for link styles, where it means nothing."""
        chain = self.chain(style_id)
        linked = any("hyperlink" in style.name for style in chain)
        return not linked and next(
            (style.underlined for style in chain if style.underlined is not None), False
        )

    def hidden(self, style_id: str) -> bool:
        """Whether a style hides its text."""
        return next((style.hidden for style in self.chain(style_id) if style.hidden is not None), False)

    def list_depth(self, style_id: str) -> int:
        """The depth of a bullet style: "List Bullet 3" is a list of its own, drawn two levels in."""
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
        # An undefined style id is often a plain "Heading2".
        chain = self.chain(style_id) or (Style(style_id, style_id.casefold()),)
        # Only the style itself counts here: bibliography styles are based on those of the contents.
        if _CONTENTS.fullmatch(chain[0].name):
            return Role("contents")
        for style in chain:
            if _SUBTITLE.fullmatch(style.name):
                return Role("subtitle")
            if _TITLE.fullmatch(style.name):
                return Role("title", 1)
            if style.outline is not None:
                # That of the default style is on every paragraph, and says nothing.
                return outline_role(style.outline) if style.id != self.default else BODY
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
    """The role for an outline level; Word writes 9 for body text."""
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
