"""Split: where long text is cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.ingest.chunk import LONGEST_TOKEN, Piece, Stretch, TokenIndex, split
from loccit.model import Converted
from loccit.structure import parse


class Words:
    """A tokenizer whose tokens are words, single marks and single CJK characters."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+|[^\w\s]", text)]


def pieces_of(text: str, max_tokens: int, overlap: int = 0, *, markdown: bool = True) -> list[Piece]:
    parsed = parse(Converted(text, markdown=markdown))
    tokens = TokenIndex(text, Words())
    heading_end = parsed.headings[0].body if parsed.headings else 0
    return split(text, Stretch(0, len(text), parsed.blocks, heading_end), tokens, max_tokens, overlap)


def cut(text: str, max_tokens: int, overlap: int = 0) -> list[str]:
    return [text[piece.start : piece.end] for piece in pieces_of(text, max_tokens, overlap)]


def sentence(words: int, name: str = "word") -> str:
    return " ".join([name.capitalize(), *[name] * (words - 2)]) + "."


def test_what_fits_is_not_cut() -> None:
    assert cut("# H\n\nOne. Two.\n", 7) == ["# H\n\nOne. Two.\n"]


def test_cuts_fall_between_paragraphs_first() -> None:
    paragraphs = [f"{sentence(10)} {sentence(10)}\n\n" for _ in range(4)]
    assert cut("".join(paragraphs), 50) == ["".join(paragraphs[:2]), "".join(paragraphs[2:])]


def test_then_between_sentences() -> None:
    sentences = [sentence(10) + " " for _ in range(8)]
    assert cut("".join(sentences), 45) == ["".join(sentences[:4]), "".join(sentences[4:])]


def test_then_between_clauses() -> None:
    clauses = [" ".join(["word"] * 9) + ", " for _ in range(8)]
    assert cut("".join(clauses), 45) == ["".join(clauses[:4]), "".join(clauses[4:])]


def test_then_between_words() -> None:
    parts = cut("word " * 100, 30)
    assert len(parts) == 4
    assert all(part.endswith(" ") for part in parts)


def test_words_without_blanks_are_cut_anyway() -> None:
    assert max(map(len, cut("字" * 1000, 100))) == 100
    assert max(map(len, cut("x" * 100_000, 100))) <= 100 * LONGEST_TOKEN
    assert max(map(len, cut("a" + " " * 100_000 + "b", 100))) > 0


def test_a_blank_far_back_is_no_place_to_cut() -> None:
    assert len(cut("標題 " + "字" * 198, 100)[0]) > 50


def test_pieces_are_even() -> None:
    sizes = [len(part.split()) for part in cut(" ".join(sentence(7) for _ in range(30)), 100)]
    assert max(sizes) - min(sizes) <= 30


def test_a_heading_stays_with_its_text() -> None:
    text = f"# A heading\n\n{sentence(98)}\n\n{sentence(50)}\n"
    first, *_ = cut(text, 100)
    assert first.startswith("# A heading\n\nWord")


def test_a_monstrous_heading_is_cut_like_text() -> None:
    parts = cut(f"# {'word ' * 500}\n\nText.\n", 100)
    assert all(len(part.split()) <= 100 for part in parts)


def test_overlap_repeats_whole_sentences_of_running_text() -> None:
    text = " ".join(sentence(10, f"w{number}") for number in range(10))
    first, second, *_ = pieces_of(text, 50, overlap=25)
    assert second.prefix is not None
    repeated = text[slice(*second.prefix)]
    assert second.prefix[1] == second.start == first.end
    assert repeated.strip() == text[: first.end].strip()[-len(repeated.strip()) :]
    assert re.fullmatch(r"W\d( w\d)+\. (W\d( w\d)+\. )?", repeated)


def test_half_a_table_or_program_is_never_repeated() -> None:
    code = "```\n" + "x = 1\n" * 20 + "```\n\n"
    for text in (f"{code}{sentence(10)}\n\n{sentence(60)}\n", f"{code}{sentence(60)}\n"):
        for piece in pieces_of(text, 70, overlap=30):
            assert not piece.prefix or "x = 1" not in text[slice(*piece.prefix)]


def test_code_that_fits_is_never_cut() -> None:
    code = "```\n" + "call one two\n" * 30 + "```\n"
    for lead in (10, 60, 95):
        parts = cut(f"# H\n\n{sentence(lead)}\n\n{code}\n{sentence(50)}\n", 100, 20)
        assert any(code in part for part in parts)


def test_code_that_does_not_fit_is_cut_between_lines() -> None:
    parts = cut("```\n" + "call one two three\n" * 60 + "```\n", 100)
    assert len(parts) > 1
    assert all(part.endswith("\n") for part in parts)


def test_every_part_of_a_table_has_the_header() -> None:
    header = "| name | value |\n|---|---|\n"
    text = "# T\n\n" + header + "".join(f"| n{row} | v{row} |\n" for row in range(60))
    pieces = pieces_of(text, 100, overlap=20)
    assert len(pieces) > 2
    assert header + "| n0 " in text[pieces[0].start : pieces[0].end]
    for piece in pieces[1:]:
        assert piece.prefix is not None
        assert text[slice(*piece.prefix)] == header


def test_header_that_would_take_the_room_is_not_repeated() -> None:
    text = "|" + " h |" * 60 + "\n|" + "---|" * 60 + "\n" + ("|" + " v |" * 60 + "\n") * 5
    assert all(piece.prefix is None for piece in pieces_of(text, 100))


def test_crumbs_join_their_neighbours() -> None:
    text = f"{sentence(74)}\n\n{sentence(74)}\n\n{sentence(5)}\n"
    assert [len(part.split()) for part in cut(text, 100)] == [73, 77]


_paragraph = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(
        st.sampled_from(["word", "Word.", "a,", "b;", "文字文字。", "x" * 200, "é🎉", "1.", "-"]),
        min_size=1,
        max_size=80,
    ),
    st.sampled_from(["\n\n", "\n", ".\n\n", "\n\n\n   \n"]),
)
_code = st.integers(1, 60).map(lambda lines: "\n```\n" + "x = 1\n\n" * lines + "```\n\n")
_table = st.integers(1, 60).map(lambda rows: "\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * rows + "\n")
_blank = st.sampled_from(["\n\n", "   \n", "***\n\n", "> quote\n\n", "- item\n- item\n\n"])
_bodies = st.lists(st.one_of(_paragraph, _code, _table, _blank), min_size=1, max_size=12).map("".join)


@settings(deadline=None, max_examples=150)
@given(
    _bodies,
    st.sampled_from(["", "# H\n\n", "# A long heading of many words\n"]),
    st.integers(20, 120),
    st.integers(0, 40),
)
def test_pieces_tile_the_text_and_fit(body: str, heading: str, max_tokens: int, overlap: int) -> None:
    text = heading + body
    pieces = pieces_of(text, max_tokens, overlap)
    tokens = TokenIndex(text, Words())
    position = 0
    for piece in pieces:
        assert piece.start == position < piece.end
        position = piece.end
        own = tokens.count(piece.start, piece.end)
        repeated = tokens.count(*piece.prefix) if piece.prefix else 0
        if text[piece.start : piece.end].strip():
            assert own + repeated <= max_tokens
        if piece.prefix:
            assert 0 <= piece.prefix[0] < piece.prefix[1] <= piece.start
            is_header = text[slice(*piece.prefix)].startswith(("| a |", "\n| a |"))
            assert is_header or (piece.prefix[1] == piece.start and repeated <= overlap)
    assert position == len(text)
    for before, after in pairwise(pieces):
        sizes = [tokens.count(before.start, before.end), tokens.count(after.start, after.end)]
        repeated = tokens.count(*before.prefix) if before.prefix else 0
        assert min(sizes) >= max_tokens // 10 or sum(sizes) + repeated > max_tokens


@pytest.mark.parametrize("unit", ["word ", "word. ", "word, ", "字", "x", "\n", "a\n\n", ".", "| a |\n"])
def test_a_long_line_of_anything_is_cut_to_the_end(unit: str) -> None:
    text = unit * (400_000 // len(unit)) + "end"
    pieces = pieces_of(text, 800, 50, markdown=False)
    assert (pieces[0].start, pieces[-1].end) == (0, len(text))
    assert all(before.end == after.start for before, after in pairwise(pieces))
