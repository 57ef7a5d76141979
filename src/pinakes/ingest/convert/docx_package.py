"""The package around a Word document: a zip of XML parts, read with suspicion.

Nothing here trusts the file: sizes are checked before anything is unpacked, entities are never expanded, and
whatever is wrong becomes a :class:`~pinakes.errors.ConversionError` that says so.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element

from pinakes.errors import ConversionError

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
    """The number that an attribute holds, or the default when it holds none."""
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default


def child_value(element: _Element | None, tag: str) -> str | None:
    """The ``w:val`` of a direct child, or nothing when there is no such child."""
    child = element.find(W + tag) if element is not None else None
    return None if child is None else str(child.get(W + "val", ""))


def flag(properties: _Element | None, tag: str) -> bool | None:
    """An on/off property: present means on unless its value says off; absent means undecided."""
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
        """The root of an XML part, or nothing when the package has no such part."""
        info = self._members.get(_normal(name))
        if info is None:
            return None
        if info.flag_bits & 1:
            raise ConversionError("the file is password protected")
        ratio = info.file_size / max(info.compress_size, 1)
        if info.file_size > MAX_PART_BYTES or (info.file_size > _RATIO_MATTERS_FROM and ratio > MAX_RATIO):
            raise ConversionError(f"part {name} is absurdly large ({info.file_size:,} bytes when unpacked)")
        try:
            data = self._zip.read(info)
        except _UNREADABLE as error:
            raise ConversionError(f"part {name} is damaged: {error}") from error
        return _parse(data, name)

    def main_part(self) -> str:
        """The name of the part that holds the text."""
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
    """Part names do not depend on case, and some writers use backslashes."""
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
    # Office files never declare a document type; the only use of one here is an entity attack.
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
