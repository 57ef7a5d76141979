"""Chunks: they tile the document, fit, and know where they stand."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.ingest.chunk import LONGEST_TOKEN, ChunkingOptions, TokenIndex, chunk_document
from loccit.model import Chunk, ChunkType, Converted, PageStart
from loccit.models.embedding import Tokenizer, load_tokenizer
from loccit.structure import parse
from loccit.structure.places.tree import build_sections


class Words:
    """A tokenizer whose tokens are words, single marks and single CJK characters."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+|[^\w\s]", text)]


@lru_cache
def bundled() -> Tokenizer:
    return load_tokenizer()


def chunks_of(
    text: str, max_tokens: int = 800, overlap: int = 50, strategy: str = "structure", *, markdown: bool = True
) -> list[Chunk]:
    return chunk_with(Words(), text, ChunkingOptions(strategy, max_tokens, overlap), markdown=markdown)


def chunk_with(
    tokenizer: Tokenizer, text: str, options: ChunkingOptions, *, markdown: bool = True
) -> list[Chunk]:
    parsed = parse(Converted(text, markdown=markdown))
    return chunk_document(parsed, build_sections(parsed), "d/a.md", TokenIndex(text, tokenizer), options)


ACT = "# Act\n\n## Chapter 1\n\n### Section 1 Scope\n\nIt applies.\n\n### Section 2\n\n(a) One.\n\n## Chapter 2\n\nEnd.\n"


def test_fields_of_a_chunk() -> None:
    chunk = chunks_of(ACT)[2]
    assert chunk.id == "d/a.md_chunk_2"
    assert (chunk.source_path, chunk.chunk_index) == ("d/a.md", 2)
    assert chunk.content == "### Section 1 Scope\n\nIt applies."
    assert chunk.parent_chain == ("Act", "Chapter 1", "Section 1 Scope")
    assert (chunk.section_id, chunk.section_label, chunk.heading) == ("sec_1", "Section 1", "Section 1 Scope")
    assert (chunk.heading_level, chunk.chunk_type, chunk.prefix) == (3, ChunkType.CONTENT, 0)
    assert chunk.lines == (5, 7)
    assert chunk.tokens == 9
    assert chunk.pages is None


def test_sections_without_text_of_their_own_are_headers() -> None:
    types = [chunk.chunk_type for chunk in chunks_of(ACT)]
    header, content = ChunkType.HEADER, ChunkType.CONTENT
    assert types == [header, header, content, content, content]
    assert [chunk.chunk_type for chunk in chunks_of("# A\n\n---\n\n# B\n\nx\n")] == [header, content]


def test_pages_of_chunks() -> None:
    text = "# A\n\none\n\n# B\n\ntwo\n"
    parsed = parse(Converted(text, pages=(PageStart(0, 3), PageStart(text.index("# B"), 4))))
    options = ChunkingOptions()
    chunks = chunk_document(parsed, build_sections(parsed), "a", TokenIndex(text, Words()), options)
    assert [chunk.pages for chunk in chunks] == [(3, 3), (4, 4)]


@pytest.mark.parametrize("strategy", ["structure", "token"])
@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n", "\u00a0\n"])
def test_blank_documents_have_no_chunks(text: str, strategy: str) -> None:
    assert chunks_of(text, strategy=strategy) == []
    assert chunks_of(text, strategy=strategy, markdown=False) == []


@pytest.mark.parametrize("text", ["***", "#", "<div>", "a", "---\ntitle: T\n---\n"])
def test_tiny_documents_have_one_chunk(text: str) -> None:
    assert [chunk.content for chunk in chunks_of(text)] == [text.rstrip()]


def test_frontmatter_is_in_no_chunk() -> None:
    chunks = chunks_of("---\ntitle: T\n---\n\n# H\n\ntext\n")
    assert [chunk.content.strip() for chunk in chunks] == ["# H\n\ntext"]
    assert chunks[0].lines == (5, 7)


@pytest.mark.parametrize("lead", ["\n\n", "---\n\n", '<div align="center">\n\n', "* * *\n"])
def test_marks_before_the_first_heading_are_no_chunk(lead: str) -> None:
    chunks = chunks_of(lead + "# H\n\ntext\n")
    assert len(chunks) == 1
    assert (chunks[0].start, chunks[0].heading) == (0, "H")


def test_token_strategy_cuts_windows_across_sections() -> None:
    text = "".join(f"# Head {number}\n\n{'word ' * 20}\n\n" for number in range(10))
    chunks = chunks_of(text, max_tokens=100, overlap=10, strategy="token")
    assert len(chunks) == 3
    assert chunks[0].heading == "Head 0"
    assert all(chunk.tokens <= 100 for chunk in chunks)
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text


def test_flat_text_is_cut_into_windows() -> None:
    text = "One sentence of words. " * 200
    chunks = chunks_of(text, max_tokens=100, markdown=False)
    assert len(chunks) > 5
    assert all(
        chunk.heading_level == 0 and chunk.parent_chain == () and chunk.section_id == "" for chunk in chunks
    )


def test_parts_of_a_table_say_what_their_columns_are() -> None:
    rows = "".join(f"| key {row} | value {row} |\n" for row in range(200))
    chunks = chunks_of(f"# T\n\n| name | value |\n|---|---|\n{rows}", max_tokens=200)
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.content.startswith("| name | value |\n|---|---|\n| key ")
        assert chunk.content[: chunk.prefix] == "| name | value |\n|---|---|\n"


_paragraph = st.builds(
    lambda words, end: " ".join(words) + end,
    st.lists(
        st.sampled_from(
            [
                "word",
                "internationalization",
                "Stop.",
                "a,",
                "文字文字。",
                "x" * 150,
                "café🎉",
                "1.",
                "$%&",
                "Ünï",
            ]
        ),
        min_size=1,
        max_size=120,
    ),
    st.sampled_from(["\n\n", ".\n\n", "\n\n\n  \n"]),
)
_part = st.one_of(
    _paragraph,
    st.tuples(st.integers(1, 5), st.sampled_from(["Scope", "1.2 Terms", "Article 6", "Ü 文"])).map(
        lambda heading: f"\n{'#' * heading[0]} {heading[1]}\n\n"
    ),
    st.integers(1, 40).map(lambda lines: "\n```\n" + "call(one, two)\n" * lines + "```\n\n"),
    st.integers(1, 40).map(lambda rows: "\n| a | b |\n|---|---|\n" + "| one | two |\n" * rows + "\n"),
    st.sampled_from(
        [
            "- item\n- item\n\n",
            "> quote\n\n",
            "<h2>Html</h2>\n\n",
            "***\n\n",
            "    code\n\n",
            "字" * 700 + "\n\n",
        ]
    ),
)
_documents = st.builds(
    lambda front, parts: front + "".join(parts),
    st.sampled_from(["", "---\ntitle: T\n---\n", "\n\n"]),
    st.lists(_part, min_size=1, max_size=15),
)
_options = st.builds(
    ChunkingOptions,
    st.sampled_from(["structure", "structure", "token"]),
    st.integers(100, 300),
    st.integers(0, 100),
)


def check(text: str, tokenizer: Tokenizer, options: ChunkingOptions, slack: int) -> None:
    parsed = parse(Converted(text))
    sections = build_sections(parsed)
    tokens = TokenIndex(text, tokenizer)
    chunks = chunk_document(parsed, sections, "d/a.md", tokens, options)

    if text[parsed.body_start :].strip():
        assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text[parsed.body_start :]
    starts = [section.start for section in sections[1:]]
    for index, chunk in enumerate(chunks):
        assert (chunk.chunk_index, chunk.id) == (index, f"d/a.md_chunk_{index}")
        assert chunk.content.strip()
        assert chunk.tokens <= options.max_tokens
        assert len(tokenizer.offsets(chunk.content)) <= options.max_tokens + slack
        own = text[chunk.start : chunk.end]
        assert chunk.content[chunk.prefix :] == own.rstrip()
        assert chunk.content[: chunk.prefix] in text[: chunk.start]
        first, last = chunk.lines
        assert own.strip() in "\n".join(text.split("\n")[first - 1 : last])
        section = sections[chunk.section]
        assert chunk.parent_chain == section.path
        if options.strategy == "structure":
            inside = [start for start in starts if chunk.start < start < chunk.end]
            assert all(not re.search(r"\w", text[chunk.start : start]) for start in inside)
            assert section.start <= chunk.start + len(own) - len(own.lstrip()) < section.end or inside
            if chunk.prefix and not chunk.content.startswith(("| a | b |", "\n| a | b |")):
                # What is repeated stands right before the chunk, in the same section.
                assert text.endswith(chunk.content[: chunk.prefix], 0, chunk.start)
                assert chunk.start - chunk.prefix >= section.start
                assert tokens.count(chunk.start - chunk.prefix, chunk.start) <= options.overlap
    if options.strategy == "structure":
        for block in parsed.blocks:
            if block.kind == "code" and tokens.count(block.start, block.end) <= options.max_tokens:
                assert any(chunk.start <= block.start and block.end <= chunk.end for chunk in chunks)


@settings(deadline=None, max_examples=120)
@given(_documents, _options)
def test_chunks_tile_fit_and_stay_in_their_sections(text: str, options: ChunkingOptions) -> None:
    check(text, Words(), options, slack=0)


@settings(deadline=None, max_examples=40)
@given(_documents, _options)
def test_the_same_with_the_tokenizer_of_the_model(text: str, options: ChunkingOptions) -> None:
    # A word that had to be cut may be read as other tokens: one at either end of a chunk, or of what it repeats.
    check(text, bundled(), options, slack=4)


@pytest.mark.parametrize("unit", ["word ", "Word word. ", "字", "x", "é", "\n", " .", "🎉 "])
def test_one_endless_line(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + "end"
    chunks = chunk_with(bundled(), text, ChunkingOptions())
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
    assert all(chunk.content.strip() and chunk.tokens <= 800 for chunk in chunks)
    assert all(len(chunk.content.strip()) <= 800 * LONGEST_TOKEN for chunk in chunks)
