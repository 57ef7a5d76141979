"""Plain text and Markdown: decode, settle line ends, find page breaks."""

from __future__ import annotations

from pathlib import Path

from pinakes.ingest.convert.encoding import Decoded, decode
from pinakes.ingest.convert.markup import to_markdown
from pinakes.ingest.convert.sniff import detect
from pinakes.model.document import Converted, LineStart, PageStart


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
