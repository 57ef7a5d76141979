from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.config import IndexSettings
from loccit.ingest.contextualize import passage_text, text_hash
from loccit.ingest.prepare import locate, prepare_text, with_fixed_chunks, with_title
from loccit.model import Chunk, Converted, ParsedDocument
from loccit.models.embedding import load_tokenizer

TOKENIZER = load_tokenizer()
SETTINGS = IndexSettings()
ROOM = 256
LAW = """# Act

## Section 1. Duties

The owner shall give notice under section 2.

## Section 2. Notice

Notice is given in writing, on paper or by post.
"""
WORDS = st.lists(
    st.sampled_from("alpha beta gamma, delta. epsilon {zeta} η\n\n".split(" ")), min_size=5, max_size=900
)


def read(text: str, *, markdown: bool = True) -> ParsedDocument:
    return prepare_text("doc", ".txt", Converted(text, markdown=markdown), SETTINGS, ROOM)


def fixed(text: str, pieces: list[str], *, markdown: bool = True) -> ParsedDocument:
    return with_fixed_chunks(read(text, markdown=markdown), pieces, SETTINGS, ROOM, TOKENIZER)


def assert_embedded_whole(chunk: Chunk) -> None:
    """Every word of a chunk is in a window, and each window is what its hash says and fits the model."""
    covered = set[int]()
    for passage in chunk.passages:
        window = chunk.content[passage.start : passage.end]
        covered.update(range(passage.start, passage.end))
        whole = passage_text(chunk.context, window)
        assert passage.text_hash == text_hash(whole)
        assert len(TOKENIZER.offsets(whole)) <= ROOM
    assert all(at in covered for at, c in enumerate(chunk.content) if not c.isspace())


def test_chunks_are_word_for_word_and_know_their_section() -> None:
    start = LAW.index("Notice is given")
    made = fixed(
        LAW, ["# Act\n\n## Section 1. Duties", "give notice under section 2.\n\n## Sec", LAW[start:]]
    )
    first, second, third = made.chunks
    assert second.content == "give notice under section 2.\n\n## Sec"
    assert [chunk.section_id for chunk in made.chunks] == ["act", "sec_1", "sec_2"]
    assert third.parent_chain == ("Act", "Section 2. Notice")
    assert (third.start, third.end, third.lines.first) == (start, len(LAW), 9)
    assert second.cross_references == ("sec_2",)
    assert made.references[0].target_chunk == second.id, "section 2 begins in the second chunk"
    assert "Section 2. Notice" in third.context
    assert first.id == "doc_chunk_0"


def test_code_has_no_sections_and_a_comment_is_no_heading() -> None:
    code = "# not a heading\nfn main() {\n    run();\n}\n"
    made = fixed(code, [code[:16], code[16:]], markdown=False)
    assert [chunk.parent_chain for chunk in made.chunks] == [(), ()]
    assert "".join(chunk.content for chunk in made.chunks) == code


def test_a_piece_that_is_not_in_the_text_keeps_its_words_and_is_embedded_whole() -> None:
    strange = " ".join(f"word{n} rewritten" for n in range(400))
    made = fixed("Some text.\n\nMore text.", ["Some text.", strange, "More text."], markdown=False)
    lost = made.chunks[1]
    assert lost.content == strange
    assert (lost.start, lost.end) == (10, 10)
    assert len(lost.passages) > 2
    for chunk in made.chunks:
        assert_embedded_whole(chunk)


def test_pieces_are_found_in_order_also_when_they_overlap_or_repeat() -> None:
    text = "one two three one two three"
    assert locate(text, ["one two", "two three", "one two", "three"]) == [0, 4, 14, 22]
    assert locate(text, ["three one", "one two three", "nowhere", " "]) == [8, 14, None, None]
    assert locate("b a", ["a", "b"]) == [2, 0], "a piece out of order is found all the same"


@settings(max_examples=40, deadline=None)
@given(WORDS, st.lists(st.integers(0, 4000), min_size=1, max_size=8), st.integers(0, 300))
def test_however_a_text_is_cut_every_piece_is_embedded_whole(
    words: list[str], cuts: list[int], overlap: int
) -> None:
    text = " ".join(words)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[max(0, low - overlap) : high] for low, high in pairwise(edges) if text[low:high].strip()]
    made = fixed(text, pieces, markdown=False)
    assert [chunk.content for chunk in made.chunks] == pieces
    for chunk in made.chunks:
        assert chunk.end - chunk.start == len(chunk.content)
        assert text[chunk.start : chunk.end] == chunk.content
        assert_embedded_whole(chunk)


def test_a_title_is_what_it_is_said_to_be() -> None:
    plain = read("Words about tides.", markdown=False)
    titled = with_title(plain, "High Water", SETTINGS, ROOM, TOKENIZER)
    assert titled.document.title == "High Water"
    assert titled.chunks[0].context == "High Water"
    assert titled.chunks[0].passages[0].text_hash != plain.chunks[0].passages[0].text_hash
    untitled = with_title(titled, "", SETTINGS, ROOM, TOKENIZER)
    assert (untitled.document.title, untitled.chunks[0].context) == ("", "")
    for chunk in (*titled.chunks, *untitled.chunks):
        assert_embedded_whole(chunk)
