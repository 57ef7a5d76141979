"""What a model is shown of a long document."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loccit.ingest.chunk import TokenIndex
from loccit.ingest.llm_context.plan import windows
from loccit.model import Chunk, Lines


class Words:
    """Every word is a token."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            spans.append((at, at + len(word)))
            at += len(word)
        return spans


def document(sizes: list[tuple[int, int]]) -> tuple[str, list[Chunk]]:
    """A text in which each (level, size) begins a section, and the chunks that tile it."""
    text, chunks = "", []
    for number, (level, size) in enumerate(sizes):
        own = f"{'#' * level} head{number}\n" + f"w{number} " * size + "\n"
        chunks.append(
            Chunk(
                source_path="d.md",
                chunk_index=number,
                content=own.strip(),
                start=len(text),
                end=len(text) + len(own),
                lines=Lines(1, 1),
                section=number,
                parent_chain=("book", f"head{number}"),
                heading_level=level,
            )
        )
        text += own
    return text, chunks


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 120)), min_size=1, max_size=40),
    st.integers(200, 2000),
)
def test_windows_hold_their_chunks_and_keep_the_limit(sizes: list[tuple[int, int]], limit: int) -> None:
    text, chunks = document(sizes)
    tokens = TokenIndex(text, Words())
    found = windows(text, chunks, tokens, limit)
    assert [at for window in found for at in window.chunks] == list(range(len(chunks)))
    for window in found:
        assert all(chunks[at].content in window.text for at in window.chunks)
        # The marks for gaps are all that comes on top.
        assert len(Words().offsets(window.text)) <= limit + 6 or len(window.chunks) == 1
    if len(tokens) <= limit:
        assert [window.text for window in found] == [text]
    for before, after in pairwise(found):
        # No window is so small that it could have gone with the one before.
        joined = sum(tokens.count(chunks[at].start, chunks[at].end) for at in [*before.chunks, *after.chunks])
        assert joined > limit // 4


def test_a_window_begins_with_a_chapter_rather_than_in_one() -> None:
    text, chunks = document([(1, 20)] + [(3, 50)] * 5 + [(2, 50)] + [(3, 50)] * 8)
    found = windows(text, chunks, TokenIndex(text, Words()), 600)
    assert found[1].chunks.start == 6


def test_neighbours_and_the_place_are_shown() -> None:
    text, chunks = document([(1, 20)] + [(2, 50)] * 30)
    found = windows(text, chunks, TokenIndex(text, Words()), 600)
    middle = found[1]
    before, after = middle.chunks.start - 1, middle.chunks.stop
    assert chunks[before].content in middle.text
    assert chunks[after].content in middle.text
    assert middle.text.startswith("# head0\nw0")
    assert f"book > head{before}" in middle.text
    assert middle.text.endswith("[…]")
    assert not found[-1].text.endswith("[…]")
