"""Plain text and Markdown: decode, normalise line ends, find page breaks; other markup goes to its readers.

Valid Unicode is read as Unicode; anything else by an informed guess.
"""

from __future__ import annotations

import codecs
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from loccit.errors import ConversionError
from loccit.model.document import Converted, LineStart, PageStart
from loccit.read.sniff import FileType, detect
from loccit.read.written import Translated

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that documents really have; the detector knows ninety more, which only give it chances to be
# wrong.
_LEGACY = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "mac_roman"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "cp874", "iso8859_2", "iso8859_15", "iso2022_jp"),
]
_CENTRAL_EUROPEAN = ("cp1250", "iso8859_2")
_CENTRAL_EUROPEAN_LANGUAGES = ("pl", "cs", "sk", "hu", "hr", "bs", "sr", "sl", "ro", "sq")
_EAST_ASIAN = ("cp932", "euc_jp", "gb18030", "big5", "cp949", "iso2022_jp")
_SAMPLE = 65536


class Decoded(NamedTuple):
    """Text, its encoding, and what the reader should know about it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def unicode_encoding(data: bytes) -> str | None:
    """The Unicode encoding that a byte order mark, or a pattern of zero bytes, indicates."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return name
    sample = data[:4096]
    zeros = sample.count(0)
    if not zeros:
        return None
    if zeros > 0.6 * len(sample):
        return _plausible(sample, ("utf-32-le", "utf-32-be"))
    if zeros > 0.2 * len(sample) or not _is_utf8(sample, cut=True):
        return _plausible(sample, ("utf-16-le", "utf-16-be"))
    return None


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode a file; ``declared`` is the encoding it states, tried after Unicode."""
    if encoding := unicode_encoding(data):
        return _finish(data.decode(encoding, "replace"), encoding)
    if _is_utf8(data):
        return _finish(data.decode("utf-8"), "utf-8")
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - bad
    if beyond_ascii >= max(1, 4 * bad):
        # Mostly valid multi-byte sequences do not occur by chance: this is UTF-8 with some damage.
        return _finish(text, "utf-8")
    if declared:
        try:
            return _finish(data.decode(declared), declared)
        except (LookupError, UnicodeDecodeError):
            pass
    return _guess(data)


def _guess(data: bytes) -> Decoded:
    data = data.replace(b"\x00", b"")
    for encoding in (_best_guess(data[:_SAMPLE]), "cp1252", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return _finish(text, encoding, f"the file is not Unicode; it was read as {encoding}")
    raise ConversionError("its text encoding could not be determined; save it as UTF-8")


def _best_guess(sample: bytes) -> str:
    """The result of charset_normalizer, if it is more plausible than the commonest encodings."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_LEGACY, enable_fallback=False).best()
    if best is None:
        return "cp1252"
    text = str(best)
    if best.encoding in _CENTRAL_EUROPEAN:
        # It cannot tell these from Western European by letters alone, and puts them first.
        from py3langid import classify

        return best.encoding if classify(text[:5000])[0] in _CENTRAL_EUROPEAN_LANGUAGES else "cp1252"
    if best.encoding in _EAST_ASIAN:
        wide = sum(char >= "\u3000" and not "\uff61" <= char <= "\uff9f" for char in text)
        return best.encoding if wide >= 2 and wide > 0.05 * len(text) else "cp1252"
    high = sum(byte > 0x7F for byte in sample)
    return best.encoding if best.coherence > 0 or high > 0.3 * len(sample) else "cp1252"


def _finish(text: str, encoding: str, *warnings: str) -> Decoded:
    """Check that the result is text at all."""
    replaced = text.count("\ufffd")
    odd = replaced + sum(map(text.count, map(chr, (*range(1, 8), *range(14, 27), *range(28, 32)))))
    if odd > 0.1 * len(text):
        raise ConversionError("its text encoding could not be determined; save it as UTF-8")
    if replaced and encoding.startswith("utf"):
        warnings += (f"{replaced} characters could not be decoded and were replaced",)
    return Decoded(text, encoding, warnings)


def _is_utf8(data: bytes, *, cut: bool = False) -> bool:
    """Whether the bytes are valid; a sample that was ``cut`` may end in the middle of a character."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.start >= len(data) - 3 and error.reason == "unexpected end of data"
    return True


def _plausible(sample: bytes, encodings: tuple[str, ...]) -> str | None:
    """The encoding in which the sample reads like text: printable, with common letters."""
    best: tuple[float, str] | None = None
    for encoding in encodings:
        try:
            text = sample[: len(sample) // 4 * 4].decode(encoding)
        except UnicodeDecodeError:
            continue
        if sum(char.isprintable() or char in "\r\n\t\f" for char in text) <= 0.95 * len(text):
            continue
        # With the bytes swapped these land among rare ideographs.
        common = sum(char < "\u0500" or "\u3000" <= char < "\u3100" for char in text) / max(len(text), 1)
        if common > 0.1 and (best is None or common > best[0]):
            best = common, encoding
    return best[1] if best else None


# -- files of text -------------------------------------------------------------------------------------------


def read_text(path: Path) -> Decoded:
    """A file's text with ``\\n`` line ends and without NULs, otherwise unchanged."""
    decoded = decode(path.read_bytes())
    return decoded._replace(text=normalise(decoded.text))


def normalise(text: str) -> str:
    """Normalise line ends and remove NULs, which no store or parser handles well.

    A lone carriage return ends a line, as in Python, in Unicode's newline guidelines and in editors that show what
    follows it on a separate line (decision 24). Only if most line feeds are preceded by two, which is how a program
    writes Windows line ends twice, do they count as one line end.
    """
    text = text.replace("\x00", "").removeprefix("\ufeff")
    if "\r" not in text:
        return text
    if 2 * text.count("\r\r\n") > text.count("\n"):
        text = text.replace("\r\r\n", "\n")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_pages(text: str) -> tuple[str, tuple[PageStart, ...], tuple[LineStart, ...]]:
    """Text without form feeds, where the pages they end begin, and with which lines.

    A form feed ends a line as well as a page, according to the Unicode newline guidelines (decision 24).
    """
    parts = text.split("\f")
    if len(parts) == 1:
        return text, (), ()
    pages: list[PageStart] = []
    starts: list[LineStart] = []
    joined: list[str] = []
    offset, line = 0, 1
    for number, part in enumerate(parts, start=1):
        if number > 1 and offset and not joined[-1].endswith("\n"):
            joined[-1] += "\n"
            offset += 1
        if number == len(parts) and not part.strip():
            # A form feed at the end closes the last page; it does not open another.
            break
        pages.append(PageStart(offset, number))
        starts.append(LineStart(offset, line))
        joined.append(part)
        offset += len(part)
        line += part.count("\n") + 1
    return "".join(joined), tuple(pages), tuple(starts)


def convert_text(path: Path) -> Converted:
    """Plain text: no headings to parse, page breaks kept as pages."""
    decoded = read_text(path)
    text, pages, starts = split_pages(decoded.text)
    return Converted(text, markdown=False, pages=pages, warnings=decoded.warnings, line_starts=starts)


def convert_markdown(path: Path) -> Converted:
    """Markdown is the common format, so it passes through."""
    decoded = read_text(path)
    text, pages, starts = split_pages(decoded.text)
    return Converted(text, pages=pages, warnings=decoded.warnings, line_starts=starts)


def convert_markup(path: Path) -> Converted:
    """reStructuredText, AsciiDoc, Org, LaTeX and the like: headings become Markdown's, the rest stays text."""
    decoded = read_text(path)
    # A form feed is white space to all of these.
    found = to_markdown(detect(path).extension, decoded.text.replace("\f", " "))
    return Converted(
        found.text,
        metadata=found.metadata,
        warnings=decoded.warnings,
        title=found.title,
        line_starts=found.line_starts,
    )


def to_markdown(file_type: str, text: str) -> Translated:
    """Translate the text of a file of this type, given as an extension: ``.rst``."""
    module, _, name = FileType(file_type.removeprefix(".")).reader.partition(":")
    read: Callable[[str], Translated] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    return read(text)
