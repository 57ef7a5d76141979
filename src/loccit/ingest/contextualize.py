"""Contextualize: the context of a chunk, and the windows of it that are embedded.

A sentence such as "The Administrator shall report within 90 days" means little alone. The document's title and the
section path, put in front of it, are included in both vectors and keywords. Source code has names where prose has
headings: those that the file defines, and those of the enclosing definitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from loccit.grammar.text.code_blocks import document_code
from loccit.ingest.chunk import TokenIndex
from loccit.model import Chunk, Document, Passage
from loccit.structure.code_names import Definition, definitions, names_line, scope

MAX_CONTEXT_CHARACTERS = 240
MAX_NAMES_CHARACTERS = 200
PASSAGE_TOKENS = 160
PASSAGE_OVERLAP = 20
# Two special tokens, and what cutting inside a word may add.
SPARE_TOKENS = 10


class _Place(NamedTuple):
    """What determines a chunk's context: headings in prose, names in code."""

    path: tuple[str, ...]
    inside: tuple[str, ...] = ()


def structural_context(
    document_title: str,
    path: Sequence[str],
    characters: int = MAX_CONTEXT_CHARACTERS,
    *,
    names: str = "",
    inside: Sequence[str] = (),
) -> str:
    """Return title and path on one line each; the middle of a long path is left out first.

    For code, ``names`` are those that the file defines, and ``inside`` those of the enclosing definitions.
    """
    parts = [part for part in path if part != document_title]
    while len(parts) > 2 and sum(map(len, parts)) + len(document_title) > characters:
        parts.pop(len(parts) // 2)
    trail = " > ".join(parts)[-characters:]
    lines = (document_title[:characters], trail, names[:characters], " > ".join(inside)[:characters])
    return "\n".join(line for line in lines if line)


def contextualize(
    document: Document, chunks: Sequence[Chunk], tokens: TokenIndex, *, enabled: bool, model_tokens: int
) -> list[Chunk]:
    """Give each chunk its context and its passages."""
    named = _code_definitions(document) if enabled else []
    places = [_place(document, chunk, named) for chunk in chunks]
    # Most of the model's window belongs to the text itself.
    names = names_line(named, MAX_NAMES_CHARACTERS)
    wanted = list(dict.fromkeys(places)) if enabled else []
    contexts = _contexts(document.title, names, wanted, tokens, model_tokens // 3)
    done = []
    for chunk, place in zip(chunks, places, strict=True):
        context, size = contexts.get(place, ("", 0))
        passages = tuple(
            Passage(start, end, text_hash(passage_text(context, chunk.content[start:end])))
            for start, end in _windows(
                document.text, chunk, tokens, max(1, model_tokens - SPARE_TOKENS - size)
            )
        )
        done.append(replace(chunk, context=context, passages=passages))
    return done


def _code_definitions(document: Document) -> list[Definition]:
    """Return the definitions in a source file; none for a document that is not mostly code."""
    body = len(document.text) - document.body_start
    code = sum(block.end - block.start for block in document_code(document.text, document.source_path))
    return definitions(document.text) if code > body / 2 else []


def _place(document: Document, chunk: Chunk, named: list[Definition]) -> _Place:
    inside = scope(named, document.text, chunk.start) if named else ()
    return _Place(chunk.parent_chain, tuple(inside))


def _contexts(
    title: str, names: str, places: Sequence[_Place], tokens: TokenIndex, max_tokens: int
) -> dict[_Place, tuple[str, int]]:
    """Return the context of each place, at most ``max_tokens`` long, and its number of tokens.

    Characters cannot be used instead: some scripts take a token or more for each of them.
    """
    contexts: dict[_Place, tuple[str, int]] = {}
    characters = MAX_CONTEXT_CHARACTERS
    while places and characters:
        texts = [
            structural_context(title, place.path, characters, names=names, inside=place.inside)
            for place in places
        ]
        # All at once, because a tokenizer takes longer to start than to run.
        measured = tokens.of("\n".join(texts))
        end = 0
        for place, text in zip(places, texts, strict=True):
            start, end = end, end + len(text) + 1
            contexts[place] = (text, measured.count(start, end))
        places = [place for place in places if contexts[place][1] > max_tokens]
        characters = characters * 3 // 4
    return contexts | dict.fromkeys(places, ("", 0))


def passage_text(context: str, text: str) -> str:
    """Return the exact text that is embedded for a window of a chunk."""
    return f"{context}\n\n{text}" if context else text


def text_hash(text: str) -> str:
    """Return the content hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _windows(text: str, chunk: Chunk, tokens: TokenIndex, room: int) -> list[tuple[int, int]]:
    """Return the spans of the chunk's content to embed: all of it if it fits, or else overlapping windows."""
    content = chunk.content
    if chunk.tokens <= room or tokens.unlimited:
        return [(0, len(content))]
    starts = _token_starts(text, chunk, tokens)
    size = min(PASSAGE_TOKENS, room)
    overlap = min(PASSAGE_OVERLAP, size // 4)
    count = max(1, -(-(len(starts) - overlap) // (size - overlap)))
    step = (len(starts) - overlap) / count
    windows = []
    for number in range(count):
        first, last = round(number * step), round((number + 1) * step) + overlap
        low = starts[_word_start(content, starts, first)] if number else 0
        windows.append((low, starts[last] if number < count - 1 else len(content)))
    return [(low, high) for low, high in windows if content[low:high].strip()]


def _token_starts(text: str, chunk: Chunk, tokens: TokenIndex) -> list[int]:
    """Where the tokens of a chunk's content begin, in the content."""
    begin = chunk.start - chunk.prefix
    if begin >= 0 and text.startswith(chunk.content[: chunk.prefix], begin):
        return [at - begin for at in tokens.starts(begin, begin + len(chunk.content))]
    # The header of a table is repeated from further up.
    own = tokens.starts(chunk.start, begin + len(chunk.content))
    header = tokens.of(chunk.content[: chunk.prefix]).starts(0, chunk.prefix)
    return header + [at - begin for at in own]


def _word_start(content: str, starts: Sequence[int], index: int) -> int:
    """Go back to the token that begins the word, unless that is far."""
    for earlier in range(index, max(0, index - 5), -1):
        if content[starts[earlier] - 1].isspace():
            return earlier
    return index
