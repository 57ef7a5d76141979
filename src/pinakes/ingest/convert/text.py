"""Plain text and Markdown: decode, settle line ends, find page breaks; markups are handed to their readers.

Bytes are Unicode where they are Unicode; where they are not, an informed guess.
"""

from __future__ import annotations

import codecs
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pinakes.errors import ConversionError
from pinakes.ingest.convert.sniff import FileType, detect
from pinakes.ingest.convert.written import Translated
from pinakes.model.document import Converted, LineStart, PageStart

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What documents are really found in; the guesser knows ninety more, which only give it chances to be wrong.
_LEGACY = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "mac_roman"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "cp874", "iso8859_2", "iso8859_15", "iso2022_jp"),
]
_CENTRAL_EUROPEAN = ("cp1250", "iso8859_2")
_CENTRAL_EUROPEAN_LANGUAGES = ("pl", "cs", "sk", "hu", "hr", "bs", "sr", "sl", "ro", "sq")
_EAST_ASIAN = ("cp932", "euc_jp", "gb18030", "big5", "cp949", "iso2022_jp")
_SAMPLE = 65536


class Decoded(NamedTuple):
    """Text, what it was read as, and what the reader should know about it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def unicode_encoding(data: bytes) -> str | None:
    """The Unicode encoding that a byte order mark, or a pattern of zero bytes, gives away."""
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
    """Decode a file; ``declared`` is what it says of itself, tried after Unicode."""
    if encoding := unicode_encoding(data):
        return _finish(data.decode(encoding, "replace"), encoding)
    if _is_utf8(data):
        return _finish(data.decode("utf-8"), "utf-8")
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - bad
    if beyond_ascii >= max(1, 4 * bad):
        # Mostly valid multi-byte characters do not happen by chance: this is UTF-8 with some damage.
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
    """What charset_normalizer says, where that is worth more than the commonest of these encodings."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_LEGACY, enable_fallback=False).best()
    if best is None:
        return "cp1252"
    text = str(best)
    if best.encoding in _CENTRAL_EUROPEAN:
        # It cannot tell these from Western European by the letters alone and names them first.
        from py3langid import classify

        return best.encoding if classify(text[:5000])[0] in _CENTRAL_EUROPEAN_LANGUAGES else "cp1252"
    if best.encoding in _EAST_ASIAN:
        wide = sum(char >= "\u3000" and not "\uff61" <= char <= "\uff9f" for char in text)
        return best.encoding if wide >= 2 and wide > 0.05 * len(text) else "cp1252"
    high = sum(byte > 0x7F for byte in sample)
    return best.encoding if best.coherence > 0 or high > 0.3 * len(sample) else "cp1252"


def _finish(text: str, encoding: str, *warnings: str) -> Decoded:
    """Check that the outcome is text at all."""
    replaced = text.count("\ufffd")
    odd = replaced + sum(map(text.count, map(chr, (*range(1, 8), *range(14, 27), *range(28, 32)))))
    if odd > 0.1 * len(text):
        raise ConversionError("its text encoding could not be determined; save it as UTF-8")
    if replaced and encoding.startswith("utf"):
        warnings += (f"{replaced} characters could not be decoded and were replaced",)
    return Decoded(text, encoding, warnings)


def _is_utf8(data: bytes, *, cut: bool = False) -> bool:
    """Whether this is valid; a sample that was ``cut`` may end in the middle of a character."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.start >= len(data) - 3 and error.reason == "unexpected end of data"
    return True


def _plausible(sample: bytes, encodings: tuple[str, ...]) -> str | None:
    """The one of these in which the sample reads like text: printable, in letters of common use."""
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
    """A file's text with ``\\n`` line ends and without NULs, otherwise as it stands."""
    decoded = decode(path.read_bytes())
    return decoded._replace(text=normalise(decoded.text))


def normalise(text: str) -> str:
    """One kind of line end, and no NULs, which no store or parser takes well.

    A carriage return alone ends a line, as it does in Python, in Unicode's newline guidelines and in editors that show
    what follows it on a line of its own (decision 24). Only where two stand before most line feeds, which is how a
    program writes Windows line ends twice, are they one end of a line.
    """
    text = text.replace("\x00", "").removeprefix("\ufeff")
    if "\r" not in text:
        return text
    if 2 * text.count("\r\r\n") > text.count("\n"):
        text = text.replace("\r\r\n", "\n")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_pages(text: str) -> tuple[str, tuple[PageStart, ...], tuple[LineStart, ...]]:
    """Text with form feeds taken out, where the pages that they ended begin, and which lines these begin with.

    A form feed ends a line as well as a page, as the Unicode newline guidelines have it (decision 24).
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
    """Markdown is what everything else is turned into: it passes through."""
    decoded = read_text(path)
    text, pages, starts = split_pages(decoded.text)
    return Converted(text, pages=pages, warnings=decoded.warnings, line_starts=starts)


def convert_markup(path: Path) -> Converted:
    """reStructuredText, AsciiDoc, Org, LaTeX and their like: their headings become Markdown's, the rest stays text."""
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
