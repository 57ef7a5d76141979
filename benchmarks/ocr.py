"""How well pages are read from images, against what their text layers give, and how fast.

Takes a few pages in a row from the middle of each PDF in ``pdf_headings/docs`` and ``real/pdf`` under
``LOCCIT_EVAL_DIR`` (default ``../shared/eval``), or in the folders that are given. Each run of pages is read twice:
by its text layer, without bookmarks, and as images at 300 dots an inch (``--ocr force``).

``words``     share of the words on the pages, by pdfium's own text, that were read from the images
``headings``  share of the headings found by the text layer that were found in the images too, on the same page and
              with at least .85 of the letters alike
``others``    share of the headings found in the images that the text layer does not give
``s/page``    seconds of processor time for a page, drawing and layout included
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

import pypdfium2

from benchmarks.common import save
from loccit.errors import ConversionError
from loccit.model.document import Converted
from loccit.read.ocr import Ocr, missing
from loccit.read.pdf import convert_pdf

_WORD = re.compile(r"[^\W_]{2,}")
_ALIKE = 0.85


@dataclass
class Row:
    """What came of the pages of one folder."""

    folder: str
    files: int = 0
    pages: int = 0
    expected: int = 0
    read: int = 0
    headings: int = 0
    matched: int = 0
    found: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.folder:24} {self.files:3} files {self.pages:4} pages  words {_share(self.read, self.expected)}  "
            f"headings {_share(self.matched, self.headings)} of {self.headings}  "
            f"others {_share(self.found - self.matched, self.found)}  {self.seconds / max(self.pages, 1):.1f} s/page"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def measure(path: Path, row: Row, pages: int) -> None:
    """Read some pages of a file in both ways, and add what came of it; say why not where that fails."""
    try:
        _measure(path, row, pages)
    except ConversionError as error:
        print(f"{path.name}: {error}")


def _measure(path: Path, row: Row, pages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "pages.pdf"
        source, some = pypdfium2.PdfDocument(path), pypdfium2.PdfDocument.new()
        first = max(0, len(source) // 2 - pages // 2)
        some.import_pages(source, list(range(first, min(first + pages, len(source)))))
        texts = [page.get_textpage().get_text_range() for page in some]
        some.save(str(part))
        by_text = convert_pdf(part, Ocr("off"))
        before = sum(os.times()[:4])
        by_image = convert_pdf(part, Ocr("force"))
        row.seconds += sum(os.times()[:4]) - before
    row.files += 1
    row.pages += len(texts)
    expected = _words(" ".join(texts).replace("\ufffe\r\n", "").replace("\ufffe", ""))
    row.expected += expected.total()
    row.read += (expected & _words(by_image.text)).total()
    true, found = _headings(by_text), _headings(by_image)
    row.headings += len(true)
    row.found += len(found)
    for page, title in true:
        match = next((h for h in found if h[0] == page and _alike(h[1], title)), None)
        if match is not None:
            found.remove(match)
            row.matched += 1


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text))


def _headings(converted: Converted) -> list[tuple[int, str]]:
    found, offset = [], 0
    for line in converted.text.splitlines(keepends=True):
        if line.startswith("#"):
            page = max((start.page for start in converted.pages if start.offset <= offset), default=0)
            found.append((page, "".join(filter(str.isalnum, line.lower()))))
        offset += len(line)
    return found


def _alike(a: str, b: str) -> bool:
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= _ALIKE


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=2, help="pages of each file (2)")
    parser.add_argument("--files", type=int, default=100, help="most files of each folder (100)")
    parser.add_argument("--save", action="store_true", help="keep the figures for the report")
    given = parser.parse_args()
    if reason := missing(Ocr()):
        print(f"skipped: {reason}")
        return
    base = Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval"))
    rows = []
    for folder in given.folders or [base / "pdf_headings/docs", base / "real/pdf"]:
        row = Row("/".join(folder.resolve().parts[-2:]))
        for path in sorted(folder.glob("*.pdf"))[: given.files]:
            measure(path, row, given.pages)
        print(row, flush=True)
        rows.append(row)
    if given.save:
        save("ocr", {"folders": [asdict(row) for row in rows]})


if __name__ == "__main__":
    main()
