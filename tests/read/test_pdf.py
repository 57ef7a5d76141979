"""PDF conversion, on files written object by object so that each test shows what it is about."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loccit.errors import ConversionError
from loccit.model.document import Converted
from loccit.read.ocr import Ocr
from loccit.read.pdf import convert_pdf

WIDTH, HEIGHT = 612, 792
FONTS = {"R": "Times-Roman", "B": "Times-Bold", "I": "Times-Italic", "H": "Helvetica", "HB": "Helvetica-Bold"}
PROSE = (
    "The harbour master keeps a register of every vessel that enters the port and of the",
    "berth it is given. Entries are made on the day of arrival and are open to inspection",
    "by the owners of the vessels, by the council and by anyone with a lawful interest in",
    "them. Corrections are signed and dated, and what was written before stays legible.",
)


@dataclass
class Page:
    """Drawing operators of one page, with y counted from the top as in a reader's eye."""

    operators: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, size: float = 11, font: str = "R", mcid: int = -1) -> Page:
        raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        draw = f"BT /{font} {size} Tf 1 0 0 1 {x} {HEIGHT - y} Tm ({raw.decode('latin-1')}) Tj ET"
        if mcid >= 0:
            draw = f"/P <</MCID {mcid}>> BDC {draw} EMC"
        self.operators.append(draw)
        return self

    def lines(self, x: float, y: float, texts: tuple[str, ...], size: float = 11, step: float = 13) -> float:
        """Lines one below the other; returns where the next would stand."""
        for text in texts:
            self.text(x, y, text, size)
            y += step
        return y

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> Page:
        self.operators.append(f"0.5 w {x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S")
        return self


@dataclass
class Pdf:
    """Objects of a file and what its catalogue and trailer say of them."""

    pages: list[Page]
    outline: list[tuple[int, str, int, float | None]] = field(default_factory=list)
    tags: list[list[tuple[str, int]]] = field(default_factory=list)
    info: dict[str, str] = field(default_factory=dict)
    image: bool = False
    password: bytes = b""
    more: dict[int, bytes] = field(default_factory=dict)
    """Objects beyond those of the pages, by number; the first of them is the font ``T``."""

    def write(self, path: Path) -> Path:
        objects: dict[int, bytes] = {}
        count = len(self.pages)
        page_ids = [10 + 2 * n for n in range(count)]
        face = "<</Type/Font/Subtype/Type1/BaseFont/{}/Encoding/WinAnsiEncoding>>"
        fonts = " ".join(f"/{k} {face.format(v)}" for k, v in FONTS.items())
        if self.more:
            fonts += f" /T {min(self.more)} 0 R"
            objects |= self.more
        kids = " ".join(f"{n} 0 R" for n in page_ids)
        objects[2] = f"<</Type/Pages/Kids[{kids}]/Count {count}>>".encode()
        for n, page in enumerate(self.pages):
            parents = f"/StructParents {n}" if self.tags else ""
            objects[page_ids[n]] = (
                f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {WIDTH} {HEIGHT}]{parents}"
                f"/Resources<</Font<<{fonts}>>/XObject<</Im 4 0 R>>>>/Contents {page_ids[n] + 1} 0 R>>"
            ).encode()
            stream = "\n".join(page.operators).encode("latin-1")
            if self.image:
                stream += b"\nq 600 0 0 780 0 0 cm /Im Do Q"
            objects[page_ids[n] + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream)
        objects[4] = (
            b"<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray"
            b"/Length 1>>stream\n\x80\nendstream"
        )
        catalogue = "/Type/Catalog/Pages 2 0 R"
        free = 10 + 2 * count
        if self.outline:
            catalogue += f"/Outlines {free} 0 R"
            free = self._outline(objects, free, page_ids)
        if self.tags:
            catalogue += f"/MarkInfo<</Marked true>>/StructTreeRoot {free} 0 R"
            free = self._tags(objects, free, page_ids)
        objects[1] = f"<<{catalogue}>>".encode()
        entries = "".join(f"/{k} ({v})" for k, v in self.info.items())
        objects[3] = f"<<{entries}>>".encode()
        path.write_bytes(_serialise(objects, self.password))
        return path

    def _outline(self, objects: dict[int, bytes], root: int, page_ids: list[int]) -> int:
        ids = [root + 1 + n for n in range(len(self.outline))]
        parents: list[int] = []
        stack: list[tuple[int, int]] = [(0, root)]
        for item, (level, *_) in zip(ids, self.outline, strict=True):
            while stack[-1][0] >= level:
                stack.pop()
            parents.append(stack[-1][1])
            stack.append((level, item))
        for n, (_, title, page, y) in enumerate(self.outline):
            siblings = [ids[m] for m in range(len(ids)) if parents[m] == parents[n]]
            place = siblings.index(ids[n])
            links = f"/Prev {siblings[place - 1]} 0 R" if place else ""
            links += f"/Next {siblings[place + 1]} 0 R" if place + 1 < len(siblings) else ""
            links += _ends(ids, parents, ids[n])
            at = "/Fit" if y is None else f"/XYZ 0 {HEIGHT - y} null"
            name = (b"\xfe\xff" + title.encode("utf-16-be")).hex()
            objects[ids[n]] = (
                f"<</Title <{name}>/Parent {parents[n]} 0 R/Dest[{page_ids[page]} 0 R {at}]{links}>>".encode()
            )
        objects[root] = f"<</Type/Outlines{_ends(ids, parents, root)}>>".encode()
        return root + 1 + len(ids)

    def _tags(self, objects: dict[int, bytes], root: int, page_ids: list[int]) -> int:
        free = root + 2
        top: list[int] = []
        numbers = []
        for n, elements in enumerate(self.tags):
            ids = []
            for kind, mcid in elements:
                objects[free] = (
                    f"<</Type/StructElem/S/{kind}/P {root + 1} 0 R/Pg {page_ids[n]} 0 R/K {mcid}>>".encode()
                )
                ids.append(free)
                free += 1
            top.extend(ids)
            numbers.append(f"{n}[{' '.join(f'{i} 0 R' for i in ids)}]")
        kids = " ".join(f"{i} 0 R" for i in top)
        objects[root + 1] = f"<</Type/StructElem/S/Document/P {root} 0 R/K[{kids}]>>".encode()
        tree = f"<</Nums[{' '.join(numbers)}]>>"
        objects[root] = f"<</Type/StructTreeRoot/K {root + 1} 0 R/ParentTree {tree}>>".encode()
        return free


def _ends(ids: list[int], parents: list[int], parent: int) -> str:
    kids = [i for i, p in zip(ids, parents, strict=True) if p == parent]
    return f"/First {kids[0]} 0 R/Last {kids[-1]} 0 R/Count {len(kids)}" if kids else ""


def _serialise(objects: dict[int, bytes], password: bytes) -> bytes:
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    trailer = b"/Root 1 0 R/Info 3 0 R"
    if password:
        encrypt = max(objects) + 1
        objects[encrypt] = _standard_encryption(password)
        trailer += b"/Encrypt %d 0 R/ID[<00><00>]" % encrypt
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    size = max(objects) + 1
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 65535 f \n"
    out += b"trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def _standard_encryption(password: bytes) -> bytes:
    """An encryption dictionary (revision 2) that asks for a password; the content itself may stay as it is."""
    pad = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
    padded = (password + pad)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    key = hashlib.md5(padded + owner + b"\xfc\xff\xff\xff" + b"\x00").digest()[:5]
    user = _rc4(key, pad)
    return b"<</Filter/Standard/V 1/R 2/O<%s>/U<%s>/P -4>>" % (owner.hex().encode(), user.hex().encode())


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def convert(tmp_path: Path, *pages: Page, ocr: Ocr | None = None, **options: object) -> Converted:
    return convert_pdf(Pdf(list(pages), **options).write(tmp_path / "file.pdf"), ocr)  # type: ignore[arg-type]


def headings(converted: Converted) -> list[str]:
    return [line for line in converted.text.splitlines() if line.startswith("#")]


def page_of(converted: Converted, needle: str) -> int:
    at = converted.text.index(needle)
    return max(s.page for s in converted.pages if s.offset <= at)


# Sources of structure


def test_bookmarks_give_the_headings_and_their_levels(tmp_path: Path) -> None:
    first, second = Page(), Page()
    first.text(72, 80, "Part one: the port")
    first.lines(72, 110, PROSE)
    first.text(72, 200, "Berths")
    first.lines(72, 230, PROSE)
    second.lines(72, 80, PROSE)
    outline = [(1, "Part one: The Port", 0, 70.0), (2, "Berths", 0, 190.0), (2, "Not on the page", 1, 60.0)]
    converted = convert(tmp_path, first, second, outline=outline)
    assert headings(converted) == ["# Part one: The Port", "## Berths", "## Not on the page"]
    assert page_of(converted, "## Not on the page") == 2
    assert converted.text.count("Berths") == 1


def test_a_bookmark_finds_a_title_over_two_lines_and_not_its_contents_entry(tmp_path: Path) -> None:
    page = Page()
    page.text(72, 60, "Contents", 14)
    for n, title in enumerate(("The register of vessels and berths", "Dues", "Appeals")):
        page.text(72, 90 + 14 * n, f"{title} {'.' * 40} {n + 1}")
    page.text(72, 180, "The register of vessels", 14).text(72, 196, "and berths", 14)
    page.lines(72, 220, PROSE)
    outline = [(1, "The register of vessels and berths", 0, None), (1, "Dues", 0, 400.0)]
    converted = convert(tmp_path, page, outline=outline)
    assert "# The register of vessels and berths\n\nThe harbour master" in converted.text


def test_few_bookmarks_are_filled_in_from_the_type(tmp_path: Path) -> None:
    pages = []
    for n in range(14):
        page = Page()
        if n in (0, 7):
            page.text(72, 70, "Volume of rules" if n == 0 else "Volume of forms", 20, "B")
        page.text(
            72, 110, f"{'Dues Berths Pilots Tugs Cranes Fuel Waste'.split()[n % 7]} of group {n}", 14, "B"
        )
        page.lines(72, 140, PROSE)
        pages.append(page)
    outline = [(1, "Volume of rules", 0, 60.0), (1, "Volume of forms", 7, 60.0)]
    found = headings(convert(tmp_path, *pages, outline=outline))
    assert found[:3] == ["# Volume of rules", "## Dues of group 0", "## Berths of group 1"]
    assert found[8:10] == ["# Volume of forms", "## Dues of group 7"]
    assert len(found) == 16


def test_articles_that_the_bookmarks_leave_out_are_added_below_them(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for label in ("CHAPTER I", "Article 1 Scope", "Article 2 Vessels", "CHAPTER II", "Article 3 Dues"):
        page.text(72, y, label)
        y = page.lines(72, y + 20, PROSE) + 12
    converted = convert(tmp_path, page, outline=[(1, "Chapter I", 0, 50.0), (1, "Chapter II", 0, 300.0)])
    assert headings(converted) == [
        "# Chapter I", "## Article 1 Scope", "## Article 2 Vessels", "# Chapter II", "## Article 3 Dues",
    ]  # fmt: skip


def test_fonts_alone_give_headings(tmp_path: Path) -> None:
    pages = []
    for n in range(3):
        page = Page()
        page.text(72, 80, f"Dues of {['barges', 'ferries', 'tugs'][n]}", 18, "HB")
        page.lines(72, 110, PROSE)
        page.text(72, 190, f"Payment in {['March', 'June', 'May'][n]}", 13, "HB")
        page.lines(72, 215, PROSE)
        pages.append(page)
    converted = convert(tmp_path, *pages)
    assert headings(converted) == [
        "# Dues of barges", "## Payment in March", "# Dues of ferries", "## Payment in June",
        "# Dues of tugs", "## Payment in May",
    ]  # fmt: skip


def test_numbers_order_headings_of_one_type(tmp_path: Path) -> None:
    page, y = Page(), 70.0
    for title in ("1 Scope", "1.1 Vessels", "1.1.1 Barges", "2 Dues"):
        page.text(72, y, title, 14, "B")
        y = page.lines(72, y + 24, PROSE) + 16
    assert headings(convert(tmp_path, page)) == [
        "# 1 Scope",
        "## 1.1 Vessels",
        "### 1.1.1 Barges",
        "# 2 Dues",
    ]


def test_names_in_a_bold_list_are_no_headings(tmp_path: Path) -> None:
    page = Page()
    page.text(72, 60, "Members of the council", 16, "B")
    page.lines(72, 90, PROSE)
    for n, name in enumerate(("Ada Berg", "Jon Dahl", "Ivar Eide", "Liv Foss", "Nils Grav", "Siri Holm")):
        page.text(72, 160 + 20 * n, name, 11, "B")
    page.lines(72, 300, PROSE)
    assert headings(convert(tmp_path, page)) == ["# Members of the council"]


def test_tags_give_headings_even_where_they_run_into_the_paragraph(tmp_path: Path) -> None:
    page = Page()
    page.text(72, 60, "Port rules", mcid=0)
    page.text(72, 90, "Berths.", font="B", mcid=1).text(
        115, 90, "Every vessel is given a berth on arrival", mcid=2
    )
    page.text(72, 103, "and keeps it until it leaves.", mcid=2)
    page.text(72, 130, "Dues", mcid=3)
    for n, text in enumerate(PROSE):
        page.text(72, 150 + 13 * n, text, mcid=4)
    page.text(72, 220, "Table 3 Dues by tonnage", font="B", mcid=5)
    tags = [[("H1", 0), ("H2", 1), ("P", 2), ("H2", 3), ("P", 4), ("H3", 5)]]
    converted = convert(tmp_path, page, tags=tags)
    assert headings(converted) == ["# Port rules", "## Berths.", "## Dues"]
    assert (
        "## Berths.\n\nEvery vessel is given a berth on arrival and keeps it until it leaves."
        in converted.text
    )


def test_labelled_lines_in_the_type_of_the_text(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for label in ("CHAPTER I", "Article 1 Scope", "Article 2 Vessels", "CHAPTER II", "Article 3 Dues"):
        page.text(72, y, label)
        y = page.lines(72, y + 20, PROSE) + 12
    page.text(72, y, "See Article 3 for what is owed by barges.")
    assert headings(convert(tmp_path, page)) == [
        "# CHAPTER I", "## Article 1 Scope", "## Article 2 Vessels", "# CHAPTER II", "## Article 3 Dues",
    ]  # fmt: skip


def test_a_centred_title_below_its_label_is_part_of_it(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for number, title in enumerate(("Scope", "Vessels", "Dues"), 1):
        page.text(277, y, f"Article {number}").text(301 - 3 * len(title), y + 18, title, font="I")
        y = page.lines(72, y + 44, PROSE) + 14
    assert headings(convert(tmp_path, page)) == [
        "# Article 1 Scope",
        "# Article 2 Vessels",
        "# Article 3 Dues",
    ]


def test_labels_that_run_into_their_text(tmp_path: Path) -> None:
    page, y = Page(), 60.0
    for number, title in enumerate(("Definitions", "Powers", "Dues"), 1):
        page.text(72, y, f"SEC. {number}. {title}. The words of this section apply to every vessel in")
        y = page.lines(72, y + 13, ("the port, and to those who own them or have hired them.",)) + 12
    converted = convert(tmp_path, page)
    assert headings(converted) == ["# SEC. 1. Definitions.", "# SEC. 2. Powers.", "# SEC. 3. Dues."]
    assert "\n\nThe words of this section apply to every vessel in the port" in converted.text


def test_neither_contents_entries_nor_their_title_are_headings(tmp_path: Path) -> None:
    contents, body = Page(), Page()
    contents.text(72, 60, "Contents", 18, "B")
    for n in range(6):
        contents.text(72, 90 + 18 * n, f"{n + 1} Chapter of the port {'. ' * 30} {n + 2}", 13, "B")
    body.text(72, 60, "1 Chapter of the port", 13, "B")
    body.lines(72, 90, PROSE)
    converted = convert(tmp_path, contents, body)
    assert [h.lstrip("# ") for h in headings(converted)] == ["1 Chapter of the port"]
    assert "Contents" in converted.text
    assert "3 Chapter of the port ... 4" in converted.text


# Text


def test_columns_are_read_one_after_the_other_under_a_heading_over_both(tmp_path: Path) -> None:
    page = Page()
    page.text(72, 60, "A heading that stands over both of the columns of this page", 16, "B")
    left = tuple(f"left column line {n} goes on and on" for n in range(8))
    right = tuple(f"right column line {n} goes on and on" for n in range(8))
    for n, (a, b) in enumerate(zip(left, right, strict=True)):  # written row by row
        page.text(72, 100 + 13 * n, a).text(320, 100 + 13 * n, b)
    text = convert(tmp_path, page).text
    assert text.index("heading") < text.index("left column line 0")
    assert text.index("left column line 7") < text.index("right column line 0")


def test_running_heads_are_no_headings_page_numbers_go_and_numbered_titles_stay(tmp_path: Path) -> None:
    pages = []
    for n in range(5):
        page = Page()
        page.text(72, 40, "Port Authority Annual Report 2024", 9, "I").text(300, 760, f"{n + 1}", 9)
        page.text(72, 100, f"Chapter {n + 1}", 18, "B")
        page.lines(72, 130, PROSE)
        pages.append(page)
    converted = convert(tmp_path, *pages)
    assert [line for line in converted.text.splitlines() if "Annual Report" in line] == 5 * [
        "[Port Authority Annual Report 2024]"
    ]
    assert not any(line.strip().isdigit() for line in converted.text.splitlines())
    assert headings(converted) == [f"# Chapter {n + 1}" for n in range(5)]


def test_a_running_head_stands_beside_the_text_that_runs_over(tmp_path: Path) -> None:
    pages = [Page().text(72, 40, "Rules of the Port", 9, "I") for _ in range(3)]
    for page in pages:
        page.lines(72, 300, PROSE[:3])
    converted = convert(tmp_path, *pages)
    assert converted.text.count("lawful interest in The harbour master") == 2
    assert converted.text.count("[Rules of the Port]") == 3


def test_words_that_run_upwards_come_through(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 80, PROSE)
    page.operators.append("BT /R 20 Tf 0 1 -1 0 32 256 Tm (Deposited in the archive) Tj ET")
    converted = convert(tmp_path, page)
    assert converted.text.endswith("stays legible.\n\n[Deposited in the archive]\n")


def test_words_broken_at_line_ends_are_mended(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 80, (
        "A long-term plan for the quay was made by the council, and the infor-",
        "mation in it was given to all. It has a cost-benefit part, and a long-",
        "term part, which the council will look at again when the year is over.",
    ))  # fmt: skip
    text = convert(tmp_path, page).text
    assert "the information in it" in text
    assert "a long-term part" in text


def test_paragraphs_and_clauses(tmp_path: Path) -> None:
    page = Page()
    y = page.lines(72, 80, PROSE)
    y = page.lines(72, y + 8, PROSE[:2])
    y = page.lines(72, y, ("(a) the owner of the vessel;", "(b) the master; and"))
    page.lines(72, y, ("\u2022 a bullet of its own",))
    blocks = convert(tmp_path, page).text.strip().split("\n\n")
    assert len(blocks) == 5
    assert blocks[0] == " ".join(PROSE)
    assert blocks[2:] == ["(a) the owner of the vessel;", "(b) the master; and", "- a bullet of its own"]


def test_a_ruled_table_becomes_a_pipe_table(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 60, PROSE)
    rows = (("Vessel", "Tonnage"), ("Barge", "40 | 60"), ("Ferry", "900"))
    for n, (a, b) in enumerate(rows):
        page.text(80, 145 + 20 * n, a).text(280, 145 + 20 * n, b)
    for n in range(4):
        page.rule(72, 130 + 20 * n, 480, 130 + 20 * n)
    for x in (72, 270, 480):
        page.rule(x, 130, x, 190)
    page.lines(72, 220, PROSE)
    text = convert(tmp_path, page).text
    assert "| Vessel | Tonnage |\n| --- | --- |\n| Barge | 40 \\| 60 |\n| Ferry | 900 |" in text
    assert text.index(PROSE[0]) < text.index("| Vessel")


def test_columns_of_figures_become_a_table_without_rules(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 60, PROSE)
    for n, row in enumerate(
        (("Year", "Income", "Costs"), ("2023", "920.0", "743.1"), ("2024", "932.5", "762.0"))
    ):
        for x, cell in zip((80, 240, 400), row, strict=True):
            page.text(x, 145 + 16 * n, cell)
    assert (
        "| Year | Income | Costs |\n| --- | --- | --- |\n| 2023 | 920.0 | 743.1 |"
        in convert(tmp_path, page).text
    )


def test_a_raised_note_mark_is_set_off_from_its_word(tmp_path: Path) -> None:
    page = Page()
    page.operators.append(
        "BT /R 11 Tf 72 700 Td (The register) Tj /R 6 Tf 4 Ts (12) Tj 0 Ts /R 11 Tf ( is open to all.) Tj ET"
    )
    assert "register[^12] is open" in convert(tmp_path, page).text


def test_text_never_becomes_markup_by_accident(tmp_path: Path) -> None:
    page = Page()
    for n, text in enumerate(("# not a heading", "---", "```", "<h1>loud</h1>", "===", "> said", "[a]: b")):
        page.text(72, 80 + 40 * n, text)
    blocks = convert(tmp_path, page).text.strip().split("\n\n")
    assert blocks == [
        "\\# not a heading",
        "\\---",
        "\\```",
        "\\<h1>loud\\</h1>",
        "\\===",
        "\\> said",
        "\\[a]: b",
    ]


def test_a_page_drawn_sideways_is_read(tmp_path: Path) -> None:
    page = Page()
    for n, text in enumerate(PROSE):
        page.operators.append(f"BT /R 11 Tf 0 1 -1 0 {100 + 13 * n} 72 Tm ({text}) Tj ET")
    assert convert(tmp_path, page).text.strip() == " ".join(PROSE)


# Pages, metadata, failures


def test_letters_turned_by_their_size_and_again_by_their_matrix_stand_upright(tmp_path: Path) -> None:
    page = Page()
    for n, text in enumerate(["Rule 5.101 Scope", "These rules apply to berths.", "Others apply to boats."]):
        page.operators.append(f"BT /R -11 Tf -1 0 0 -1 72 {700 - 13 * n} Tm ({text}) Tj ET")
    text = convert(tmp_path, page).text
    assert "Rule 5.101 Scope" in text and "These rules apply to berths. Others apply to boats." in " ".join(
        text.split()
    )


def test_pages_start_where_their_text_does_even_inside_a_paragraph(tmp_path: Path) -> None:
    first, second, third = Page(), Page(), Page()
    first.lines(72, 80, PROSE[:3])
    second.lines(72, 80, PROSE[3:])
    converted = convert(tmp_path, first, second, third, image=False)
    assert converted.text.strip() == " ".join(PROSE)
    assert [s.page for s in converted.pages] == [1, 2, 3]
    offsets = [s.offset for s in converted.pages]
    assert offsets == sorted(offsets)
    assert converted.text[offsets[1] :].startswith("them. Corrections")
    assert offsets[2] == len(converted.text)


def test_metadata(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 80, PROSE)
    info = {
        "Title": "Port rules",
        "Author": "A. Berg",
        "CreationDate": "D:20240229101500+01'00'",
        "ModDate": "soon",
    }
    converted = convert(tmp_path, page, info=info)
    assert converted.metadata == {
        "title": "Port rules",
        "author": "A. Berg",
        "created": "2024-02-29T10:15:00+01:00",
    }


def test_a_page_of_images_in_a_text_is_a_warning(tmp_path: Path) -> None:
    page = Page()
    page.lines(72, 80, PROSE)
    converted = convert(tmp_path, page, Page(), image=True, ocr=Ocr("off"))
    (warning,) = converted.warnings
    assert warning.startswith("page 2 without text: only images there. OCR is switched off")


def test_only_images_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"no text layer: the pages are images\. OCR is switched off"):
        convert(tmp_path, Page(), Page(), image=True, ocr=Ocr("off"))


def test_no_text_at_all_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="no text"):
        convert(tmp_path, Page())


@pytest.mark.slow
def test_thousands_of_empty_pages_are_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="no text"):
        convert(tmp_path, *(Page() for _ in range(10_000)))


def test_no_pages_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="no pages"):
        convert(tmp_path)
    # Also after a file that failed for another reason.
    (tmp_path / "other.pdf").write_bytes(b"nothing of the kind" * 50)
    with pytest.raises(ConversionError, match="not a PDF"):
        convert_pdf(tmp_path / "other.pdf")
    with pytest.raises(ConversionError, match="no pages"):
        convert(tmp_path)


def test_a_password_is_a_failure_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="password"):
        convert(tmp_path, Page().text(72, 80, "secret"), password=b"open sesame")


@pytest.mark.parametrize("keep", [0, 5, 200])
def test_a_truncated_file_is_a_failure(tmp_path: Path, keep: int) -> None:
    path = Pdf([Page().text(72, 80, "text")]).write(tmp_path / "file.pdf")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ConversionError, match=r"empty|damaged"):
        convert_pdf(path)


def test_something_else_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "file.pdf"
    path.write_bytes(b"PK\x03\x04 this is no such file" * 50)
    with pytest.raises(ConversionError, match="not a PDF"):
        convert_pdf(path)
