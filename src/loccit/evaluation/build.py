"""Builds the index of an evaluation set with the same stages as any other index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from loccit.config import IndexSettings, Settings
from loccit.errors import UsageError
from loccit.evaluation.datasets import EvalSet, Row
from loccit.index.folder.index import EmbeddedIndex
from loccit.ingest.pipeline import Pipeline
from loccit.ingest.prepare import prepare_text, with_fixed_chunks, with_title
from loccit.library import Library
from loccit.model import Converted, Failure, ParsedDocument, Progress
from loccit.models.embedding import Embedder, load_tokenizer

_DONE = "evaluation"
_TITLE_LENGTH = 300
Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Built:
    """An index that is ready for questions."""

    path: Path
    documents: int
    chunks: int
    seconds: float
    failed: tuple[Failure, ...] = ()


def build(
    evalset: EvalSet, path: Path, settings: IndexSettings, embedder: Embedder, progress: Report | None = None
) -> Built:
    """Build the index of a set, or bring it up to date."""
    started = time.perf_counter()
    failed: tuple[Failure, ...] = ()
    if evalset.rows:
        _build_rows(evalset, path, settings, embedder, progress)
    else:
        failed = _build_files(evalset, path, settings, embedder, progress)
    with Library(path, embedder=embedder, create=False) as library:
        status = library.status()
    if not status.documents:
        why = f" {failed[0].path}: {failed[0].reason}" if failed else ""
        raise UsageError(f"No document of {evalset.folder} could be read.{why}")
    return Built(path, status.documents, status.chunks, time.perf_counter() - started, failed)


def _build_files(
    evalset: EvalSet, path: Path, settings: IndexSettings, embedder: Embedder, progress: Report | None
) -> tuple[Failure, ...]:
    with Library(path, settings=Settings(index=settings), embedder=embedder) as library:
        return tuple(library.index(list(evalset.paths), progress=progress).failed)


def _build_rows(
    evalset: EvalSet, path: Path, settings: IndexSettings, embedder: Embedder, progress: Report | None
) -> None:
    index = EmbeddedIndex(path, create=True)
    try:
        with index.lock.held(wait=True):
            if index.record.meta(_DONE):
                return
            index.record.set_meta(
                {
                    "model": embedder.name,
                    "dimension": str(embedder.dimension),
                    "settings": settings.fingerprint(),
                }
            )
            total = len(evalset.sources or evalset.rows)
            for count, parsed in enumerate(_documents(evalset, settings, embedder), 1):
                if parsed.chunks:
                    index.record.put(parsed, mtime_ns=0, settings=_DONE)
                if progress:
                    progress(Progress("read", count, total, parsed.document.source_path))
            # A run without files: it embeds what is new and updates everything derived.
            Pipeline(index, settings, embedder, progress=progress).run([])
            index.record.set_meta({_DONE: "complete"})
    finally:
        index.close()


def _documents(evalset: EvalSet, settings: IndexSettings, embedder: Embedder) -> Iterator[ParsedDocument]:
    tokenizer = load_tokenizer(settings.embedding_model or None)
    room = embedder.max_tokens
    if not evalset.sources:
        for row in evalset.rows:
            yield with_title(
                _read(row.id, row.title, row.text or row.title, settings, room),
                _title(row.title),
                settings,
                room,
                tokenizer,
            )
        return
    chunks = chunks_of(evalset)
    for source in evalset.sources:
        pieces = [row.text for row in chunks.get(source.id, [])]
        parsed = _read(source.id, source.title, source.text, settings, room)
        parsed = with_title(parsed, _title(source.title), settings, room, tokenizer)
        yield with_fixed_chunks(parsed, pieces, settings, room, tokenizer)


def chunks_of(evalset: EvalSet) -> dict[str, list[Row]]:
    """Return the given chunks of each document; a chunk's position in the list is its number in the index."""
    found: dict[str, list[Row]] = {}
    for row in evalset.rows:
        found.setdefault(row.document, []).append(row)
    return found


def _read(
    source_path: str, title: str, text: str, settings: IndexSettings, model_tokens: int
) -> ParsedDocument:
    """Read a text as it is, without looking for markup."""
    converted = Converted(text, markdown=False, metadata={"title": title} if title else {})
    return prepare_text(source_path, ".txt", converted, settings, model_tokens)


def _title(given: str) -> str:
    """A text without a title has none: its id says nothing, unlike a file name."""
    return " ".join(given.split())[:_TITLE_LENGTH].rstrip()
