"""PDF pages written from right to left."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loccit.read.pdf import convert_pdf
from loccit.read.pdf.letters import is_leftward, mirror_words
from loccit.read.pdf.page import Style

from .test_pdf import Page, Pdf
from .test_pdf_type import drawn_font

LETTERS = {chr(ord("a") + n): chr(0x5D0 + n) for n in range(26)}


def leftward_font() -> dict[int, bytes]:
    """A drawn font whose small letters are those of the Hebrew alphabet."""
    objects = drawn_font(0.01)
    pairs = "\n".join(f"<{ord(a):02x}> <{ord(b):04x}>" for a, b in LETTERS.items())
    named = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /H def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(LETTERS)} beginbfchar\n{pairs}\nendbfchar\n"
        "endcmap end end"
    )
    objects[5000] = objects[5000].replace(b"/Type3", b"/Type3/ToUnicode 6000 0 R", 1)
    objects[6000] = f"<</Length {len(named)}>>stream\n{named}\nendstream".encode()
    return objects


def test_lines_are_read_from_right_to_left(tmp_path: Path) -> None:
    lines = (
        ("abcde", "fghij", "klmno", "pqrst", "abfgk", "bcdfg"),
        ("edcba", "jihgf", "onmlk", "tsrqp", "kgfba", "gfdcb"),
    )
    page = Page()
    for n, words in enumerate(lines):
        x = 450.0
        for word in words:
            x -= 5.5 * len(word)
            page.text(x, 80 + 14 * n, word[::-1], 11, "T")
            x -= 3
    converted = convert_pdf(Pdf([page], more=leftward_font()).write(tmp_path / "leftward.pdf"))
    expected = " ".join(" ".join(words) for words in lines)
    assert converted.text.strip() == "".join(LETTERS.get(c, c) for c in expected)


def test_which_pages_are_written_leftwards() -> None:
    assert is_leftward("שלום OWASP עולם")
    assert is_leftward("السلام عليكم")
    assert not is_leftward("Shalom שלום")
    assert not is_leftward("本法 Übung мир")
    assert not is_leftward("")


@given(
    st.lists(st.tuples(st.sampled_from(["שלום", "עולם"]), st.floats(0, 500), st.floats(0, 90)), max_size=20)
)
def test_mirroring_twice_gives_a_page_back(rows: list[tuple[str, float, float]]) -> None:
    words = [(text, x, x + wide, 100.0, _Set()) for text, x, wide in rows]
    again = mirror_words(mirror_words(words, 612.0), 612.0)
    assert [(w[0], round(w[1], 6), round(w[2], 6)) for w in again] == [
        (w[0], round(w[1], 6), round(w[2], 6)) for w in words
    ]


def test_names_in_a_leftward_line_keep_their_order() -> None:
    words = [("שלום", 400.0, 440.0, 100.0, _Set()), ("Cheat", 340.0, 365.0, 100.0, _Set())]
    words += [("Sheet", 368.0, 393.0, 100.0, _Set()), ("עולם", 290.0, 330.0, 100.0, _Set())]
    assert [w[0] for w in mirror_words(words, 612.0)] == ["שלום", "Cheat Sheet", "עולם"]


class _Set:
    """Words in one style."""

    @property
    def style(self) -> Style:
        return Style(11.0, False, False, 0, 0)
