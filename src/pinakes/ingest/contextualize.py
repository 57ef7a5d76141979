"""Contextualize: what a chunk says about where it stands, and the windows of it that are embedded.

A sentence such as "The Administrator shall report within 90 days" means little alone. The document's title and
the section path, put in front of it, are what both the vectors and the keywords see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Chunk, Document, Passage

# Room for the context in front of a passage; the rest of the model's window belongs to the text itself.
MAX_CONTEXT_CHARACTERS = 240
PASSAGE_TOKENS = 160
PASSAGE_OVERLAP = 20


def structural_context(document_title: str, path: Sequence[str]) -> str:
    """Return title and path on one line each; the middle of a long path is left out first."""
    parts = [part for part in path if part != document_title]
    while len(parts) > 2 and sum(map(len, parts)) + len(document_title) > MAX_CONTEXT_CHARACTERS:
        parts.pop(len(parts) // 2)
    trail = " > ".join(parts)[-MAX_CONTEXT_CHARACTERS:]
    return "\n".join(line for line in (document_title[:MAX_CONTEXT_CHARACTERS], trail) if line)


def contextualize(
    document: Document, chunks: Sequence[Chunk], tokens: TokenIndex, *, enabled: bool, model_tokens: int
) -> list[Chunk]:
    """Give each chunk its context and its passages."""
    done = []
    for chunk in chunks:
        context = structural_context(document.title, chunk.parent_chain) if enabled else ""
        room = model_tokens - 2 - len(context) // 3 if context else model_tokens - 2
        windows = _windows(chunk, tokens, room)
        passages = tuple(
            Passage(start, end, text_hash(passage_text(context, chunk.content[start:end])))
            for start, end in windows
        )
        done.append(replace(chunk, context=context, passages=passages))
    return done


def passage_text(context: str, text: str) -> str:
    """Return exactly what is embedded for a window of a chunk."""
    return f"{context}\n\n{text}" if context else text


def text_hash(text: str) -> str:
    """Name a text by its content."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _windows(chunk: Chunk, tokens: TokenIndex, room: int) -> list[tuple[int, int]]:
    """Return the spans of the chunk's content to embed: all of it when it fits, else windows that overlap."""
    length = len(chunk.content)
    if chunk.tokens <= max(room, PASSAGE_TOKENS):
        return [(0, length)]
    # A repeated table header is not next to the rows in the source; the first window takes it whole.
    starts = [chunk.prefix + at - chunk.start for at in tokens.starts(chunk.start, chunk.end)]
    count = -(-(len(starts) - PASSAGE_OVERLAP) // (PASSAGE_TOKENS - PASSAGE_OVERLAP))
    if count <= 1:
        return [(0, length)]
    step = (len(starts) - PASSAGE_OVERLAP) / count
    edges = []
    for number in range(count):
        low = starts[round(number * step)] if number else 0
        last = min(round(number * step) + round(step) + PASSAGE_OVERLAP, len(starts))
        high = starts[last] if last < len(starts) and number < count - 1 else length
        edges.append((_word_start(chunk.content, low), min(high, length)))
    return [(low, high) for low, high in edges if chunk.content[low:high].strip()] or [(0, length)]


def _word_start(content: str, at: int) -> int:
    """Move a cut back to the beginning of the word it falls into, unless that is far."""
    blank = max(content.rfind(" ", max(0, at - 30), at), content.rfind("\n", max(0, at - 30), at))
    return blank + 1 if blank >= 0 else at
