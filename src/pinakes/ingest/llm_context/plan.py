"""Plan: the questions about one document, and the chunks that their answers are for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pinakes.config import IndexSettings
from pinakes.embedding import Tokenizer
from pinakes.ingest.contextualize import contextualize, passage_text, text_hash
from pinakes.ingest.llm_context.prompt import context_key, context_prompt, digest, shared_part
from pinakes.ingest.llm_context.windows import windows
from pinakes.ingest.tokens import TokenIndex
from pinakes.llm.protocol import Prompt
from pinakes.model import Chunk, ChunkType, Document
from pinakes.port.rows import StoredChunk
from pinakes.stores.embedded.contexts import ChunkContext, ContextStore
from pinakes.stores.embedded.index import EmbeddedIndex


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the key under which its answer is kept."""

    key: bytes
    prompt: Prompt

    def alone(self) -> Question:
        """Return the same question, in a form that shares nothing with others."""
        text = f"{self.prompt.shared}\n\n{self.prompt.text}"
        return Question(self.key, replace(self.prompt, shared="", text=text))


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """A document, its chunks by id, and what to ask: ``questions`` has a list for each window.

    ``wanted`` is the key that each chunk should have, ``present`` the one it has.
    """

    id: int
    document: Document
    chunks: dict[int, Chunk]
    tokens: TokenIndex
    questions: list[list[Question]]
    wanted: dict[int, bytes]
    present: dict[int, bytes | None]

    def taking(self, answers: dict[bytes, str], model_tokens: int) -> list[ChunkContext]:
        """Return the changes that some answers mean for the chunks."""
        changes = []
        for number, key in self.wanted.items():
            if key in answers and self.present[number] != key:
                chunk = self._with_context(self.chunks[number], answers[key], model_tokens)
                changes.append(ChunkContext(number, chunk.context, key, chunk.passages))
        return changes

    def structural(self, settings: IndexSettings, model_tokens: int) -> list[ChunkContext]:
        """Return the changes that give the chunks their structural contexts back."""
        chunks = contextualize(
            self.document,
            list(self.chunks.values()),
            self.tokens,
            enabled=settings.contextual_embeddings,
            model_tokens=model_tokens,
        )
        pairs = zip(self.chunks, chunks, strict=True)
        return [
            ChunkContext(number, chunk.context, None, chunk.passages)
            for number, chunk in pairs
            if self.present.get(number) is not None
        ]

    def _with_context(self, chunk: Chunk, context: str, model_tokens: int) -> Chunk:
        # Half of the embedding model's window belongs to the text itself.
        measured, most = self.tokens.of(context), model_tokens // 2
        if len(measured) > most:
            context = context[: measured.after(0, most)]
            context = context.rpartition(" ")[0] or context
        size = min(len(measured), most)
        bare = contextualize(
            self.document, [chunk], self.tokens, enabled=False, model_tokens=model_tokens - size
        )[0]
        passages = tuple(
            replace(one, text_hash=text_hash(passage_text(context, chunk.content[one.start : one.end])))
            for one in bare.passages
        )
        return replace(chunk, context=context, passages=passages)


def plan_document(
    index: EmbeddedIndex, store: ContextStore, number: int, settings: IndexSettings, tokenizer: Tokenizer
) -> DocumentPlan:
    """Read a document from the record and work out what to ask about it."""
    document = store.document(number)
    stored = index.lookup.chunks_of_document(number)
    chunks = {one.id: _chunk(one) for one in stored}
    tokens = TokenIndex(document.text, tokenizer)
    present = store.keys(number)
    questions: list[list[Question]] = []
    wanted: dict[int, bytes] = {}
    if settings.context_model:
        ordered = list(chunks.values())
        for window in windows(document.text, ordered, tokens, settings.context_window_tokens):
            shared = shared_part(window.text)
            mark = digest(shared)
            asked: dict[bytes, Question] = {}
            for at in window.chunks:
                if stored[at].id not in present:
                    continue
                prompt = context_prompt(shared, ordered[at].content, settings.context_max_tokens)
                key = context_key(settings.context_model, mark, prompt)
                wanted[stored[at].id] = key
                asked.setdefault(key, Question(key, prompt))
            questions.append(list(asked.values()))
    return DocumentPlan(number, document, chunks, tokens, questions, wanted, present)


def _chunk(stored: StoredChunk) -> Chunk:
    return Chunk(
        source_path=stored.source_path,
        chunk_index=stored.chunk_index,
        content=stored.content,
        start=stored.start,
        end=stored.end,
        lines=stored.lines,
        section=stored.section,
        prefix=stored.prefix,
        parent_chain=stored.parent_chain,
        section_id=stored.section_id,
        section_label=stored.section_label,
        heading=stored.heading,
        heading_level=stored.heading_level,
        chunk_type=ChunkType(stored.chunk_type),
        pages=stored.pages,
        tokens=stored.tokens,
        context=stored.context,
    )
