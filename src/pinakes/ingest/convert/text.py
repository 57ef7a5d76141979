"""Plain text and Markdown: decode, settle line ends, find page breaks."""

from __future__ import annotations

from pathlib import Path

from pinakes.ingest.convert.encoding import Decoded, decode
from pinakes.ingest.convert.markup import MARKUP
from pinakes.model.document import Converted, PageStart


def read_text(path: Path) -> Decoded:
    """A file's text with ``\\n`` line ends and without NULs, otherwise as it stands."""
    decoded = decode(path.read_bytes())
    return decoded._replace(text=normalise(decoded.text))


def normalise(text: str) -> str:
    """One kind of line end, and no NULs, which no store or parser takes well."""
    return text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def split_pages(text: str) -> tuple[str, tuple[PageStart, ...]]:
    """Text with form feeds taken out, and where the pages that they ended begin."""
    parts = text.split("\f")
    if len(parts) == 1:
        return text, ()
    pages: list[PageStart] = []
    joined: list[str] = []
    offset = 0
    for number, part in enumerate(parts, start=1):
        if number > 1 and offset and not joined[-1].endswith("\n"):
            joined[-1] += "\n"
            offset += 1
        if number == len(parts) and not part.strip():
            # A form feed at the end closes the last page; it does not open another.
            break
        pages.append(PageStart(offset, number))
        joined.append(part)
        offset += len(part)
    return "".join(joined), tuple(pages)


def convert_text(path: Path) -> Converted:
    """Plain text: no headings to parse, page breaks kept as pages."""
    decoded = read_text(path)
    text, pages = split_pages(decoded.text)
    return Converted(text, markdown=False, pages=pages, warnings=decoded.warnings)


def convert_markdown(path: Path) -> Converted:
    """Markdown is what everything else is turned into: it passes through."""
    decoded = read_text(path)
    text, pages = split_pages(decoded.text)
    return Converted(text, pages=pages, warnings=decoded.warnings)


def convert_markup(path: Path) -> Converted:
    """reStructuredText, AsciiDoc, Org and LaTeX: their headings become Markdown's, the rest stays text."""
    decoded = read_text(path)
    to_markdown = MARKUP[
        {".rest": ".rst", ".asciidoc": ".adoc"}.get(path.suffix.lower(), path.suffix.lower())
    ]
    text, metadata = to_markdown(decoded.text.replace("\f", "\n"))
    return Converted(text, metadata=metadata, warnings=decoded.warnings)
