"""Sniff: what a file really is; its content decides, its name only chooses between kinds of text."""

from __future__ import annotations

import re
import struct
import zipfile
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from loccit.errors import ConversionError

HEAD = 16384
# Stream in the root folder > (kind, why it is refused).
_STREAMS = {
    "EncryptedPackage": ("", "is password protected; save a copy without a password"),
    "WordDocument": ("", "is an old Word file (.doc); open it in Word or LibreOffice and save it as .docx"),
    "PowerPoint Document": (
        "",
        "is an old PowerPoint file (.ppt); open it in PowerPoint or LibreOffice and save it as .pptx",
    ),
    "Workbook": ("xls", ""),
    "Book": ("xls", ""),
    "__properties_version1.0": ("", "is an Outlook message (.msg); save it as .eml"),
}
_UNKNOWN = ("", "is an older Office or Windows file; save it in a current format or as PDF")
_MAX_SECTORS = 1000


# Manual sections: `ls.1`. Logs and libraries may have such names too.
MANUAL_EXTENSIONS = tuple(f".{section}" for section in range(1, 10))


class FileType(str, Enum):
    """File types: the usual extension without its dot, the common name, the reader, and the extensions of texts.

    The reader is a converter, from a path to a ``Converted``, or for markup a function from text to Markdown; it is
    imported when the first such file comes up.
    """

    label: str
    reader: str
    extensions: tuple[str, ...]

    MARKDOWN = "md", "Markdown", "text:convert_markdown", ".md .markdown .mdown .mkd .mdx .qmd .rmd"
    TEXT = "txt", "text", "text:convert_text", ".txt .text .log .nfo .asc"
    RST = "rst", "reStructuredText", "rst:rst_to_markdown", ".rst .rest"
    ASCIIDOC = "adoc", "AsciiDoc", "adoc:adoc_to_markdown", ".adoc .asciidoc"
    ORG = "org", "Org", "light:org_to_markdown", ".org"
    TEX = "tex", "LaTeX", "tex:tex_to_markdown", ".tex .ltx"
    MAN = "man", "manual page", "roff:roff_to_markdown", " ".join((*MANUAL_EXTENSIONS, ".man", ".mdoc"))
    TEXINFO = "texi", "Texinfo", "light:texinfo_to_markdown", ".texi .texinfo .txi"
    MEDIAWIKI = "mediawiki", "MediaWiki", "light:mediawiki_to_markdown", ".wiki .mediawiki"
    POD = "pod", "POD", "light:pod_to_markdown", ".pod"
    TEXTILE = "textile", "Textile", "light:textile_to_markdown", ".textile"
    SGML = "sgml", "SGML", "sgml:sgml_to_markdown", ".sgml .sgm"
    HTML = "html", "HTML", "html:convert_html", ".html .htm .xhtml"
    PDF = "pdf", "PDF", "pdf:convert_pdf"
    DOCX = "docx", "Word", "docx:convert_docx"
    PPTX = "pptx", "PowerPoint", "office:convert_pptx"
    XLSX = "xlsx", "Excel", "data:convert_xlsx"
    XLS = "xls", "Excel", "data:convert_xls"
    ODT = "odt", "OpenDocument", "office:convert_odt"
    EPUB = "epub", "EPUB", "epub:convert_epub"
    RTF = "rtf", "RTF", "office:convert_rtf"
    CSV = "csv", "CSV", "data:convert_csv", ".csv"
    TSV = "tsv", "TSV", "data:convert_csv", ".tsv .tab"
    JSON = "json", "JSON", "data:convert_json", ".json"
    JSONL = "jsonl", "JSON Lines", "data:convert_jsonl", ".jsonl .ndjson"
    YAML = "yaml", "YAML", "data:convert_yaml", ".yaml .yml"
    XML = "xml", "XML", "data:convert_xml", ".xml"
    IPYNB = "ipynb", "notebook", "notebook:convert_ipynb", ".ipynb"
    EML = "eml", "e-mail", "mail:convert_eml", ".eml .mht .mhtml"
    IMAGE = "image", "image", "pdf:convert_image"
    # Those below are recognised so that the refusal can say why.
    ARCHIVE = "archive"
    OLE = "ole"
    BINARY = "binary"
    EMPTY = "empty"

    def __new__(cls, value: str, label: str = "", reader: str = "", extensions: str = "") -> FileType:
        """Create a member from the values beside its name."""
        member = str.__new__(cls, value)
        member._value_, member.label, member.reader = value, label, reader
        member.extensions = tuple(extensions.split())
        return member

    @property
    def extension(self) -> str:
        """The extension, such as ``.docx``."""
        return f".{self.value}"


class Detection(NamedTuple):
    """A type, and why it cannot be read, if so."""

    type: FileType
    refusal: str = ""


TEXT_EXTENSIONS = {extension: kind for kind in FileType for extension in kind.extensions}

# (offset, bytes, type, what it is) for everything recognised by fixed bytes.
_MAGIC: tuple[tuple[int, bytes, FileType, str], ...] = (
    (0, b"{\\rtf", FileType.RTF, ""),
    (0, b"\x89PNG\r\n\x1a\n", FileType.IMAGE, "a PNG image"),
    (0, b"\xff\xd8\xff", FileType.IMAGE, "a JPEG image"),
    (0, b"GIF87a", FileType.IMAGE, "a GIF image"),
    (0, b"GIF89a", FileType.IMAGE, "a GIF image"),
    (8, b"WEBPVP8", FileType.IMAGE, "a WebP image"),
    (0, b"II*\x00", FileType.IMAGE, "a TIFF image"),
    (0, b"MM\x00*", FileType.IMAGE, "a TIFF image"),
    (4, b"ftyphei", FileType.IMAGE, "a HEIC image"),
    (4, b"ftypavif", FileType.IMAGE, "an AVIF image"),
    (4, b"ftyp", FileType.BINARY, "a video"),
    (0, b"\x1f\x8b", FileType.ARCHIVE, "a gzip archive"),
    (4, b"1AY&SY", FileType.ARCHIVE, "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", FileType.ARCHIVE, "an xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", FileType.ARCHIVE, "a 7z archive"),
    (0, b"Rar!\x1a\x07", FileType.ARCHIVE, "a RAR archive"),
    (0, b"(\xb5/\xfd", FileType.ARCHIVE, "a Zstandard archive"),
    (257, b"ustar", FileType.ARCHIVE, "a tar archive"),
    (0, b"\x7fELF", FileType.BINARY, "a program"),
    (0, b"MZ\x90\x00", FileType.BINARY, "a Windows program"),
    (0, b"\xcf\xfa\xed\xfe", FileType.BINARY, "a program"),
    (0, b"\xca\xfe\xba\xbe", FileType.BINARY, "a program"),
    (0, b"SQLite format 3\x00", FileType.BINARY, "an SQLite database"),
    (0, b"PAR1\x15", FileType.BINARY, "a Parquet file"),
    (0, b"ID3\x03", FileType.BINARY, "an MP3 recording"),
    (0, b"ID3\x04", FileType.BINARY, "an MP3 recording"),
    (0, b"OggS\x00", FileType.BINARY, "an Ogg recording"),
    (0, b"fLaC\x00", FileType.BINARY, "a FLAC recording"),
    (0, b"wOFF", FileType.BINARY, "a font"),
    (0, b"wOF2", FileType.BINARY, "a font"),
    (0, b"%!PS", FileType.BINARY, "a PostScript file; convert it to PDF"),
    (0, b"AT&TFORM", FileType.BINARY, "a DjVu file; convert it to PDF"),
    (60, b"BOOKMOBI", FileType.BINARY, "a Kindle book; convert it to EPUB"),
)

# Images that Tesseract reads, if their extension is that of an image.
IMAGE_EXTENSIONS = frozenset((".png", ".jpg", ".jpeg", ".tif", ".tiff"))
_READABLE = frozenset(("a PNG image", "a JPEG image", "a TIFF image"))

_HTML = re.compile(rb"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype\s+html|html[\s>])", re.I | re.S)
_TAG = re.compile(rb"<[A-Za-z!/?]")
_ROFF = re.compile(rb"^[.'](?:TH|Dd|Dt|Sh|SH)[ \t]", re.M)
_ASCIIDOC = re.compile(rb"^={1,4}[ \t]+\S|^\[(?:source|\[|NOTE|TIP|WARNING)", re.M)
_ARMOUR = b"-----BEGIN PGP "
_NOTEBOOK = re.compile(rb'\s*\{.*"cell_type"\s*:', re.S)
_MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3}")
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x08\x1b") + b"\x7f"


def detect(path: Path) -> FileType:
    """The type of a file, from its first bytes and, for zip files, its directory."""
    return sniff(path).type


def sniff(path: Path) -> Detection:
    """The type of a file and, if it cannot be read, the reason."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise ConversionError(f"cannot be opened: {error.strerror or error}") from error
    if not head:
        return Detection(FileType.EMPTY, "the file is empty")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(path)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        kind, refusal = ole_kind(path)
        return Detection(FileType.XLS if kind == "xls" else FileType.OLE, refusal)
    for offset, magic, kind_found, what in _MAGIC:
        if head.startswith(magic, offset):
            if kind_found is FileType.IMAGE and path.suffix.lower() in IMAGE_EXTENSIONS and what in _READABLE:
                return Detection(kind_found)
            return Detection(kind_found, f"looks like {what}, not text" if what else "")
    # Some writers put a few bytes before the PDF header.
    if b"%PDF-" in head[:1024]:
        return Detection(FileType.PDF)
    return _text(path, head)


def _text(path: Path, head: bytes) -> Detection:
    from loccit.read.text import unicode_encoding

    by_name = TEXT_EXTENSIONS.get(path.suffix.lower())
    encoding = unicode_encoding(head)
    if encoding is None:
        if b"\x00" in head and head.count(b"\x00") * 100 > len(head):
            return Detection(FileType.BINARY, "looks like a binary file, not text")
        if len(head.translate(None, _CONTROLS)) < 0.9 * len(head):
            return Detection(FileType.BINARY, "looks like a binary file, not text")
    elif encoding != "utf-8-sig":
        head = head.decode(encoding, "ignore").encode()
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head) and by_name is not FileType.EML:
        return Detection(FileType.HTML)
    if by_name is FileType.HTML and not _TAG.search(head):
        # A page without a single tag is a text with the wrong extension.
        return Detection(FileType.TEXT)
    if by_name is FileType.JSON and _NOTEBOOK.match(head):
        return Detection(FileType.IPYNB)
    if by_name is FileType.MAN and not _ROFF.search(head):
        return Detection(FileType.TEXT)
    if by_name not in (None, FileType.TEXT):
        return Detection(by_name)
    if head.startswith(_ARMOUR) and not head.startswith(_ARMOUR + b"SIGNED MESSAGE"):
        return Detection(FileType.BINARY, "is a PGP key, signature or message, not a document")
    if path.suffix.lower() == ".asc" and _ASCIIDOC.search(head):
        return Detection(FileType.ASCIIDOC)
    if by_name is None and _MAIL.match(head) and re.search(rb"^(?:From|Subject|Date):", head, re.M):
        return Detection(FileType.EML)
    return Detection(FileType.TEXT)


def _zip(path: Path) -> Detection:
    damaged = "the file is damaged or was not copied completely"
    by_name = {".docx": FileType.DOCX, ".pptx": FileType.PPTX, ".xlsx": FileType.XLSX, ".epub": FileType.EPUB}
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            mimetype = b""
            if "mimetype" in names:
                with archive.open("mimetype") as file:
                    mimetype = file.read(200).strip()
    except Exception:  # every kind of damage has its own exception
        return Detection(by_name.get(path.suffix.lower(), FileType.ARCHIVE), damaged)
    if mimetype == b"application/epub+zip" or "META-INF/container.xml" in names:
        return Detection(FileType.EPUB)
    if mimetype.startswith(b"application/vnd.oasis.opendocument."):
        if mimetype.startswith(b"application/vnd.oasis.opendocument.text"):
            return Detection(FileType.ODT)
        return Detection(
            FileType.ARCHIVE,
            "is an OpenDocument sheet, drawing or presentation; save it as .xlsx, .pptx or PDF",
        )
    if "[Content_Types].xml" in names:
        for folder, kind in (("word/", FileType.DOCX), ("ppt/", FileType.PPTX), ("xl/", FileType.XLSX)):
            if any(name.startswith(folder) for name in names):
                if "xl/workbook.bin" in names:
                    return Detection(FileType.ARCHIVE, "is a binary Excel workbook (.xlsb); save it as .xlsx")
                return Detection(kind)
    return Detection(FileType.ARCHIVE, "looks like a zip archive, not a document; unpack it first")


def ole_kind(path: Path) -> tuple[str, str]:
    """``("xls", "")`` for an old Excel workbook, otherwise ``("", reason)``."""
    try:
        names = _stream_names(path)
    except (OSError, struct.error, ValueError):
        return _UNKNOWN
    return next((found for name, found in _STREAMS.items() if name in names), _UNKNOWN)


def _stream_names(path: Path) -> set[str]:
    """Names in the directory, following its chain of sectors through the allocation table."""
    names: set[str] = set()
    with path.open("rb") as file:
        header = file.read(512)
        size = 1 << struct.unpack_from("<H", header, 30)[0]
        if not 512 <= size <= 4096:
            raise ValueError("sector size")
        tables = struct.unpack_from("<109I", header, 76)
        sector = struct.unpack_from("<I", header, 48)[0]
        for _ in range(_MAX_SECTORS):
            if sector >= 0xFFFFFFFA:
                break
            file.seek((sector + 1) * size)
            data = file.read(size)
            for offset in range(0, len(data) - 127, 128):
                length = min(struct.unpack_from("<H", data, offset + 64)[0], 64)
                names.add(data[offset : offset + max(length - 2, 0)].decode("utf-16-le", "replace"))
            table, index = divmod(sector, size // 4)
            if table >= len(tables):
                break
            file.seek((tables[table] + 1) * size + 4 * index)
            sector = struct.unpack("<I", file.read(4))[0]
    return names
