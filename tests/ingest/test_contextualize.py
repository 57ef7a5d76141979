"""Contexts say where a chunk stands; passages are what the model reads of it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.ingest.chunk import ChunkingOptions, TokenIndex, chunk_document
from loccit.ingest.contextualize import (
    MAX_NAMES_CHARACTERS,
    contextualize,
    passage_text,
    structural_context,
    text_hash,
)
from loccit.model import Chunk, Converted, Document
from loccit.models.embedding import Tokenizer, load_tokenizer
from loccit.structure import parse
from loccit.structure.places.tree import build_sections


@lru_cache
def bundled() -> Tokenizer:
    return load_tokenizer()


def contextualized(
    text: str,
    *,
    title: str = "The Act",
    enabled: bool = True,
    model_tokens: int = 256,
    max_tokens: int = 800,
    name: str = "a.md",
) -> list[Chunk]:
    markdown = name.endswith(".md")
    parsed = parse(Converted(text, markdown=markdown))
    tokens = TokenIndex(text, bundled())
    sections = build_sections(parsed)
    chunks = chunk_document(parsed, sections, name, tokens, ChunkingOptions(max_tokens=max_tokens))
    document = Document(source_path=name, title=title, file_type=Path(name).suffix, text=text)
    return contextualize(document, chunks, tokens, enabled=enabled, model_tokens=model_tokens)


def check_passages(chunk: Chunk, model_tokens: int) -> None:
    assert chunk.passages
    position = 0
    for passage in chunk.passages:
        window = chunk.content[passage.start : passage.end]
        assert window.strip()
        assert passage.start <= position
        position = passage.end
        text = passage_text(chunk.context, window)
        assert len(bundled().offsets(text)) + 2 <= model_tokens
        assert passage.text_hash == text_hash(text)
    assert chunk.passages[0].start == 0
    assert position == len(chunk.content)
    starts = [passage.start for passage in chunk.passages]
    assert starts == sorted(set(starts))


# -- context -------------------------------------------------------------------------------------------------


def test_context_is_title_and_path() -> None:
    assert structural_context("Act", ["Act", "Chapter 1", "Section 2"]) == "Act\nChapter 1 > Section 2"
    assert structural_context("Act", []) == "Act"
    assert structural_context("", ["Chapter 1"]) == "Chapter 1"
    assert structural_context("", []) == ""


def test_long_paths_lose_their_middle_first() -> None:
    path = [f"{name} {'x' * 60}" for name in ("first", "second", "third", "fourth", "fifth")]
    context = structural_context("Act", path)
    assert len(context) <= 250
    assert "first" in context
    assert "fifth" in context
    assert "third" not in context


def test_endless_headings_and_titles_are_cut() -> None:
    assert len(structural_context("t" * 1000, ["h" * 1000, "i" * 1000])) <= 481


def test_equal_text_in_two_places_has_two_contexts() -> None:
    one, two = contextualized("# A\n\n## Scope\n\nSame.\n\n# B\n\n## Scope\n\nSame.\n")[1::2]
    assert one.content == two.content
    assert one.context != two.context
    assert one.passages[0].text_hash != two.passages[0].text_hash
    assert one.contextualized_content == f"{one.context}\n\n{one.content}"


def test_equal_text_in_equal_places_shares_a_vector() -> None:
    one, two = (contextualized("# A\n\nSame.\n")[0] for _ in range(2))
    assert one.passages == two.passages


def test_context_can_be_turned_off() -> None:
    (chunk,) = contextualized("# A\n\nText.\n", enabled=False)
    assert chunk.context == ""
    assert chunk.contextualized_content == chunk.content
    assert chunk.passages[0].text_hash == text_hash(chunk.content)


@pytest.mark.parametrize("heading", ["条文" * 100, "Überschrift " * 30, "ß" * 240, "x1" * 120, "🎉" * 240])
def test_context_leaves_room_for_the_text_in_any_script(heading: str) -> None:
    text = f"# {heading}\n\n## {heading} b\n\n{'Some text of words. ' * 100}\n"
    for chunk in contextualized(text, title=heading):
        assert chunk.context
        check_passages(chunk, 256)


# -- contexts of code ----------------------------------------------------------------------------------------

CODE = "import os\n\n\nclass PumpController:\n    limit = 3\n\n" + "\n".join(
    f"    def step_{n}(self):\n        total = self.limit + {n}\n        return total * {n}\n"
    for n in range(40)
)


def test_the_context_of_code_is_the_names_of_its_file_and_of_what_it_is_inside() -> None:
    chunks = contextualized(CODE, title="pump.py", name="pump.py", max_tokens=200)
    assert len(chunks) > 3
    assert all(chunk.context.startswith("pump.py\nPumpController, step_0, step_1") for chunk in chunks)
    inside = [chunk.context.splitlines()[2:] for chunk in chunks]
    assert inside[0] == [], "the first is inside of nothing"
    assert all(lines and lines[0].startswith("PumpController") for lines in inside[1:])
    for chunk in chunks:
        check_passages(chunk, 256)


def test_a_chunk_in_the_middle_of_a_function_says_which() -> None:
    long = (
        "def outer():\n"
        + "\n".join(f"    value_{n} = compute({n}, 'a longer argument')" for n in range(80))
        + "\n"
    )
    chunks = contextualized(long, title="long.py", name="long.py", max_tokens=200)
    assert [chunk.context for chunk in chunks] == [
        "long.py\nouter",
        *["long.py\nouter\nouter"] * (len(chunks) - 1),
    ]


def test_prose_with_some_code_has_headings_only() -> None:
    prose = "Words about the pump, and how it is used. " * 10
    text = f"# Guide\n\n{prose}\n\n```python\nclass Pump:\n    pass\n```\n"
    assert {chunk.context for chunk in contextualized(text, title="Guide")} == {"Guide"}


def test_many_names_leave_room_for_the_text() -> None:
    text = "\n".join(f"def a_rather_long_function_name_{n}():\n    return {n}\n" for n in range(300))
    for chunk in contextualized(text, title="many.py", name="many.py"):
        names = chunk.context.splitlines()[1]
        assert len(names) <= MAX_NAMES_CHARACTERS
        assert names.startswith("a_rather_long_function_name_0, ") and not names.endswith(",")
        check_passages(chunk, 256)


def test_contexts_of_code_can_be_turned_off() -> None:
    chunks = contextualized(CODE, name="pump.py", enabled=False)
    assert all(chunk.context == "" for chunk in chunks)


# -- passages ------------------------------------------------------------------------------------------------


def test_a_short_chunk_is_one_passage() -> None:
    (chunk,) = contextualized("# A\n\nText.\n")
    assert [(passage.start, passage.end) for passage in chunk.passages] == [(0, len(chunk.content))]


def test_windows_overlap_and_begin_with_words() -> None:
    (chunk,) = contextualized("# A\n\n" + "internationalization of words " * 100)
    assert len(chunk.passages) > 2
    for before, after in zip(chunk.passages, chunk.passages[1:], strict=False):
        assert after.start < before.end
        assert chunk.content[after.start - 1].isspace()


def test_a_repeated_table_header_counts() -> None:
    header = "|" + "".join(f" column {number} |" for number in range(30)) + "\n|" + "---|" * 30 + "\n"
    rows = ("|" + " v |" * 30 + "\n") * 60
    chunks = contextualized(f"# T\n\n{header}{rows}")
    assert len(chunks) > 2
    for chunk in chunks:
        check_passages(chunk, 256)


@pytest.mark.parametrize("model_tokens", [32, 128, 256, 512, 8192])
def test_passages_fit_models_of_any_size(model_tokens: int) -> None:
    for chunk in contextualized(
        "# A heading\n\n" + "Some words, and more. " * 300, model_tokens=model_tokens
    ):
        check_passages(chunk, model_tokens)


_words = st.lists(
    st.sampled_from(
        ["word", "internationalization", "Stop.", "文字", "x" * 150, "café", "$%&", "\n\n", "- a\n", "🎉"]
    ),
    min_size=1,
    max_size=600,
)


@settings(deadline=None, max_examples=40)
@given(
    _words,
    st.sampled_from(["", "# Title\n\n", "# 第三章 文字 Über alles\n\n## Sub heading\n\n"]),
    st.booleans(),
)
def test_passages_cover_the_content_in_order_and_fit(words: list[str], heading: str, enabled: bool) -> None:
    for chunk in contextualized(heading + " ".join(words), enabled=enabled):
        check_passages(chunk, 256)


def test_hash_depends_on_the_text_alone() -> None:
    assert text_hash("a") == text_hash("a") != text_hash("b")
    assert re.fullmatch(r"[0-9a-f]{32}", text_hash("\ud800"))
