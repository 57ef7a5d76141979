"""Contexts say where a chunk stands; passages are what the model reads of it."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinakes.embedding import Tokenizer, load_tokenizer
from pinakes.ingest.chunk import ChunkingOptions, chunk_document
from pinakes.ingest.contextualize import contextualize, passage_text, structural_context, text_hash
from pinakes.ingest.parse import parse
from pinakes.ingest.sections import build_sections
from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk, Converted, Document


@lru_cache
def bundled() -> Tokenizer:
    return load_tokenizer()


def contextualized(
    text: str, *, title: str = "The Act", enabled: bool = True, model_tokens: int = 256, max_tokens: int = 800
) -> list[Chunk]:
    parsed = parse(Converted(text))
    tokens = TokenIndex(text, bundled())
    sections = build_sections(parsed)
    chunks = chunk_document(parsed, sections, "a.md", tokens, ChunkingOptions(max_tokens=max_tokens))
    document = Document(source_path="a.md", title=title, file_type=".md", text=text)
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
