"""Fixed: a document whose chunks are given, instead of being cut by Pinakes.

Evaluation sets and other systems come with chunks of their own. Everything else (places, references, contexts,
passages) is made of the whole document, as for any other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from pinakes.config import IndexSettings
from pinakes.embedding import Tokenizer
from pinakes.ingest.codec import clean
from pinakes.ingest.contextualize import contextualize
from pinakes.ingest.extract import Extracted, describe_chunks, place_references
from pinakes.ingest.parse import Positions
from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk, Document, ParsedDocument
from pinakes.text.code_languages import language_of_file


def with_fixed_chunks(
    parsed: ParsedDocument,
    pieces: Sequence[str],
    settings: IndexSettings,
    model_tokens: int,
    tokenizer: Tokenizer,
) -> ParsedDocument:
    """Return the document with these texts as its chunks, in this order and word for word."""
    document = parsed.document
    tokens = TokenIndex(document.text, tokenizer)
    chunks = _chunks(parsed, [clean(piece) for piece in pieces], tokens)
    found = Extracted(list(parsed.places), list(parsed.definitions), list(parsed.references))
    # Places are found by bisection, which needs the order of the text.
    in_order = sorted(chunks, key=lambda chunk: (chunk.start, chunk.chunk_index))
    found = place_references(found, in_order)
    chunks = describe_chunks(chunks, found, document.language)
    return replace(
        parsed,
        chunks=tuple(_contextualized(document, chunks, tokens, settings, model_tokens)),
        references=tuple(found.references),
    )


def with_title(
    parsed: ParsedDocument, title: str, settings: IndexSettings, model_tokens: int, tokenizer: Tokenizer
) -> ParsedDocument:
    """Return the document under another title, which its chunks have in their contexts."""
    if parsed.document.title == title:
        return parsed
    document = replace(parsed.document, title=title)
    tokens = TokenIndex(document.text, tokenizer)
    chunks = _contextualized(document, parsed.chunks, tokens, settings, model_tokens)
    return replace(parsed, document=document, chunks=tuple(chunks))


def _contextualized(
    document: Document,
    chunks: Sequence[Chunk],
    tokens: TokenIndex,
    settings: IndexSettings,
    model_tokens: int,
) -> list[Chunk]:
    return contextualize(
        document, chunks, tokens, enabled=settings.contextual_embeddings, model_tokens=model_tokens
    )


def locate(text: str, pieces: Sequence[str]) -> list[int | None]:
    """Return where each piece begins: after the one before it if it can, else anywhere, else None.

    >>> locate("one two one", ["one two", "two", "one", "three"])
    [0, 4, 8, None]
    """
    places: list[int | None] = []
    after = 0
    for piece in pieces:
        at = text.find(piece, after) if piece.strip() else -1
        if at < 0 and piece.strip():
            at = text.find(piece)
        places.append(at if at >= 0 else None)
        # From the next character on, because chunks may overlap.
        after = at + 1 if at >= 0 else after
    return places


def _chunks(parsed: ParsedDocument, pieces: Sequence[str], tokens: TokenIndex) -> list[Chunk]:
    text = parsed.document.text
    # Functions and classes are read by name; what is cut from code belongs to the file.
    code = language_of_file(parsed.document.source_path)
    sections = parsed.places[:1] if code else [place for place in parsed.places if place.is_heading]
    position = Positions(text, parsed.document.pages, parsed.document.line_starts)
    section_starts = [section.start for section in sections]
    chunks: list[Chunk] = []
    reached = parsed.document.body_start
    for index, (piece, at) in enumerate(zip(pieces, locate(text, pieces), strict=True)):
        # What is not in the text, word for word, stands where the piece before it ended, and has no span of its own:
        # all of it counts as repeated from elsewhere.
        start, end = (reached, reached) if at is None else (at, at + len(piece))
        section = sections[max(0, bisect_right(section_starts, start) - 1)]
        chunks.append(
            Chunk(
                source_path=parsed.document.source_path,
                chunk_index=index,
                content=piece,
                start=start,
                end=end,
                lines=position.lines(start, end),
                section=section.ordinal,
                prefix=len(piece) if at is None else 0,
                parent_chain=section.path,
                section_id=section.section_id,
                section_label=section.label,
                heading=section.heading,
                heading_level=section.level,
                pages=position.pages(start, end),
                tokens=tokens.of(piece).count(0, len(piece)) if at is None else tokens.count(start, end),
            )
        )
        reached = end
    return chunks
