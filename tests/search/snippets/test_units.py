"""Units: where long texts may be cut, and where they may not."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loccit.search.select.snippets.evidence import uncut_blocks, unit_spans

WORDS = ["tide", "harbour", "master", "shall", "keep", "record", "vessel", "berth", "of", "every", "lantern"]

words = st.lists(st.sampled_from(WORDS), min_size=2, max_size=40)
sentences = st.builds(
    lambda chosen, mark: f"The {' '.join(chosen)}{mark}", words, st.sampled_from([".", "!", "?", '."', ".)"])
)
paragraphs = st.lists(sentences, min_size=1, max_size=8)
fences = st.builds(
    lambda indent, mark, info, body: "\n".join(f"{indent}{line}" for line in (f"{mark}{info}", *body, mark)),
    st.sampled_from(["", "  ", "> "]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["python", ""]),
    st.lists(
        st.sampled_from(["pump.start()", "", "# Done. Next.", "| not a table"]), min_size=1, max_size=30
    ),
)
tables = st.builds(
    lambda outer, rows: "\n".join(
        f"{outer}{' | '.join(cells)}{outer}" for cells in [("Name", "Use"), ("---", "---"), *rows]
    ),
    st.sampled_from(["|", ""]),
    st.lists(st.tuples(sentences, sentences), min_size=1, max_size=12),
)


def boundaries(text: str) -> list[int]:
    return [end for _, end in unit_spans(text)[:-1]]


@settings(deadline=None)
@given(st.text(alphabet="ab.!? \n\t|`~-()1\u3000。語\x85é", max_size=2000))
@example("")
@example("\n" * 900 + "Text. " * 60 + " " * 900)
@example("```\n" + "x " * 400)
def test_units_tile_any_text_and_none_is_blank(text: str) -> None:
    spans = unit_spans(text)
    assert spans[0][0] == 0 and spans[-1][1] == len(text)
    assert all(spans[at][1] == spans[at + 1][0] for at in range(len(spans) - 1))
    if text.strip():
        assert all(text[low:high].strip() for low, high in spans)
    else:
        assert spans == ((0, len(text)),)


@settings(deadline=None)
@given(paragraphs, st.sampled_from([" ", "\n", "\n\n", "  \n"]))
def test_sentences_are_not_cut(sentences: list[str], between: str) -> None:
    text = between.join(sentences)
    starts = set(accumulate(len(sentence) + len(between) for sentence in sentences))
    assert set(boundaries(text)) <= starts


@settings(deadline=None)
@given(st.lists(paragraphs.map(" ".join) | fences | tables, min_size=1, max_size=6))
def test_tables_and_blocks_of_code_are_not_cut(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    starts = [0, *accumulate(len(block) + 2 for block in blocks)]
    cuts = boundaries(text)
    for block, start in zip(blocks, starts[:-1], strict=True):
        if not block.startswith("The "):
            inside = [cut for cut in cuts if start < cut < start + len(block)]
            assert not inside, text[inside[0] - 40 : inside[0] + 40]


def test_a_unit_is_a_sentence_or_two() -> None:
    text = " ".join(f"Sentence number {number} is about the tides and the moon." for number in range(60))
    sizes = [high - low for low, high in unit_spans(text)]
    assert all(200 <= size <= 300 for size in sizes[:-1]) and 80 <= sizes[-1] < 300


@pytest.mark.parametrize("text", ["", "   \n", "A short text.", "x" * 280, "One sentence. " * 20])
def test_what_is_short_is_one_unit(text: str) -> None:
    assert unit_spans(text) == ((0, len(text)),)


def test_a_paragraph_of_some_length_is_a_unit() -> None:
    paragraph = (
        "The tide turns twice a day, and the harbour master notes when it does, to the minute, in ink."
    )
    text = "\n\n".join([f"{paragraph} So it is."] * 5)
    # What is left for the last one is hardly more than it: it takes that along.
    assert [text[low:high].count("The tide") for low, high in unit_spans(text)] == [1, 1, 1, 2]


@pytest.mark.parametrize("marker", ["- ", "* ", "(a) ", "(iv) ", "12. ", "3) "])
def test_items_of_a_list_end_units(marker: str) -> None:
    item = f"{marker}a lantern at the mast, a bell at the bow and a horn wherever the mate finds room for it"
    text = "\n".join([item] * 12)
    assert boundaries(text)
    assert all(text[cut:].startswith(marker) for cut in boundaries(text))


def test_a_line_that_begins_with_a_short_word_is_no_item() -> None:
    line = "which nobody has seen since the harbour was built and the old lighthouse fell into the sea with\nit) "
    assert boundaries(line * 5 + "and so on.") == []


def test_indentation_stays_with_its_line() -> None:
    text = "\n\n".join(
        ["    The pump is started with care. It is stopped with more care, and it is oiled daily." * 2] * 4
    )
    assert all(text[cut:].startswith("    The pump") for cut in boundaries(text))


def test_a_sentence_without_end_is_cut_between_words() -> None:
    text = "lanterns " * 1000
    assert all(text[cut - 1] == " " and text[cut] == "l" for cut in boundaries(text))
    assert all(high - low <= 1000 for low, high in unit_spans(text)[:-1])


def test_what_has_neither_words_nor_sentences_is_cut_anyway() -> None:
    assert [high - low for low, high in unit_spans("x" * 2500)] == [1000, 1000, 500]


def test_scripts_without_spaces_are_cut_after_sentences() -> None:
    text = "港の管理者は、すべての船舶の到着と出発を記録しなければならない。" * 40
    assert boundaries(text) and all(text[cut - 1] == "。" for cut in boundaries(text))


@pytest.mark.parametrize(
    "text",
    [
        "code();\n" * 20 + "```\n\n" + "Prose that follows the code. " * 10,
        "```\n" + "code();\n" * 60,
        "code();\n" * 20 + "```\n\nProse.\n\n```\ncode();\n```\n" + "More. " * 40,
    ],
)
def test_where_it_is_open_which_side_is_code_nothing_is_cut(text: str) -> None:
    assert unit_spans(text) == ((0, len(text)),)


def test_code_that_goes_on_in_the_next_chunk_is_not_cut_but_what_is_before_it_is() -> None:
    prose = "Prose that comes before the code. " * 10
    text = f"{prose}\n\n```python\n" + "code()\n" * 60
    assert uncut_blocks(text) == [(text.index("```"), len(text))]
    cuts = boundaries(text)
    assert cuts and all(cut <= text.index("```") for cut in cuts)


def test_a_closing_fence_may_be_longer_and_has_no_name() -> None:
    text = "````\n```python\nx\n```\n`````\nafter"
    assert uncut_blocks(text) == [(0, text.index("\nafter"))]


def test_a_bar_in_a_sentence_is_no_table() -> None:
    assert uncut_blocks("Use a | b to join.\nThen go on.\n") == []
    assert uncut_blocks("> | a |\n") == [(0, 8)]
    assert uncut_blocks("a | b\n--- | ---\n1 | 2\n\nText") == [(0, 22)]
