from __future__ import annotations

import time

import pytest

from loccit.cli.snippet import LINES, Mark, Marker, best_window, plain_lines, snippet
from loccit.model import Match, SearchResult


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("## Heading ##", "Heading"),
        ("# In C#", "In C#"),
        (
            "**bold** and *slanted* and __both__ and snake_case_name",
            "bold and slanted and both and snake_case_name",
        ),
        ("a [link](http://x.example/a_(b)) and ![image](i.png) and [ref][1]", "a link and image and ref"),
        ("[[Page|shown]] and [[Page]]", "shown and Page"),
        ("`code *stays*` but *this* goes", "code *stays* but this goes"),
        ("> [!note] quoted", "quoted"),
        ("| a | b |", "a | b"),
        ("one<br>two <T> &amp; \\*three\\*", "one two <T> & *three*"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("before <!-- hidden --> after", "before  after"),
    ],
)
def test_markdown_is_read_down_to_its_words(markdown: str, plain: str) -> None:
    assert plain_lines(markdown) == [plain]


def test_rules_and_fences_go_but_code_stays() -> None:
    text = "Title\n=====\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n```python\n# *not* a heading\n```\nafter"
    assert plain_lines(text) == ["Title", "a | b", "1 | 2", "# *not* a heading", "after"]


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "[",
        "_a",
        "*a ",
        "_a ",
        "<!--",
        "`a",
        "``a ",
        "-",
        "-x",
        "[a](",
        "<a ",
        "[[",
        "> ",
        "#",
        "# ",
        "|",
    ],
)
@pytest.mark.parametrize("last", ["", "x"])
def test_hostile_text_takes_little_work(text: str, last: str) -> None:
    start = time.process_time()
    plain_lines(text * (19_000 // len(text)) + last)
    assert time.process_time() - start < 1


def result(content: str, **fields: object) -> SearchResult:
    values: dict[str, object] = {
        "rank": 1,
        "chunk_id": "a_chunk_0",
        "content": content,
        "fused_score": 0.5,
        "source_path": "a.md",
        "parent_chain": ["A", "B"],
        "section_id": "",
        **fields,
    }
    return SearchResult(**values)  # type: ignore[arg-type]


def test_inflected_words_are_marked() -> None:
    marker = Marker("reported duties", "The master of the vessel reports what is in his duty.")
    line = "He reports his duty."
    assert [line[mark.start : mark.end] for mark in marker.marks(line)] == ["reports", "duty"]


def test_german_words_are_marked() -> None:
    marker = Marker("Liegeplätze", "Der Hafenmeister weist den Liegeplatz zu, und er ist nicht zu ändern.")
    assert len(marker.marks("den Liegeplatz")) == 1


def test_the_window_with_most_words_is_chosen() -> None:
    lines = [[], [Mark(0, 1, "a")], [], [], [], [], [Mark(0, 1, "a")], [Mark(0, 1, "b")], [], [], []]
    assert best_window(lines, 3) == 6
    assert best_window([], 3) == 0
    assert best_window([[], []], 3) == 0


def test_a_long_passage_is_cut_around_the_words() -> None:
    content = "\n\n".join(
        [f"Paragraph {number} says nothing." for number in range(30)] + ["The xylophone is here."]
    )
    lines = [line.plain for line in snippet(result(content), "xylophone", 60)]
    assert len(lines) == LINES
    assert lines[0].startswith("… ")
    assert lines[-1] == "The xylophone is here."


def test_the_heading_is_not_said_twice() -> None:
    lines = snippet(result("## B\n\nText."), "text", 60)
    assert [line.plain for line in lines] == ["Text."]
    assert [line.plain for line in snippet(result("## B"), "text", 60)] == ["B"]


def test_literal_matches_are_marked_whole() -> None:
    content = "Say dangerous cargo once."
    (line,) = snippet(result(content, matches=[Match(4, 19, 1)]), "zzz", 60)
    assert [(span.start, span.end) for span in line.spans] == [(4, 19)]


def test_wide_characters_fit_the_width() -> None:
    lines = snippet(result("港" * 100), "x", 40)
    assert all(line.cell_len <= 40 for line in lines)
