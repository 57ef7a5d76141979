"""Prepare: the stages from a file to a parsed document, one after the other.

This is what a worker process runs for each file. It touches no index: it takes a path and settings, and
returns plain values.
"""

from __future__ import annotations

import hashlib
import warnings as warning_filter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pinakes.config import IndexSettings
from pinakes.embedding import Tokenizer, load_tokenizer
from pinakes.ingest.chunk import ChunkingOptions, chunk_document
from pinakes.ingest.code_sections import code_sections
from pinakes.ingest.codec import clean, encode
from pinakes.ingest.contextualize import contextualize
from pinakes.ingest.convert import convert
from pinakes.ingest.convert.ocr import Ocr
from pinakes.ingest.describe import document_summary, document_title
from pinakes.ingest.extract import describe_chunks, extract, place_references
from pinakes.ingest.parse import parse
from pinakes.ingest.places import find_places
from pinakes.ingest.places.check import self_check
from pinakes.ingest.sections import build_sections
from pinakes.ingest.tokens import TokenIndex
from pinakes.model import Converted, Document, ParsedDocument
from pinakes.text.code_languages import language_of_file
from pinakes.text.language import detect_language

# Raise when the same file would be read differently: what was read before is then read again.
READER = 7


def prepare(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Read one file, in a worker process: ``payload`` names it, ``setup`` holds the settings."""
    warning_filter.simplefilter("ignore")
    path = Path(payload["path"])
    # The hash first: a file that changes in between is then read again next time.
    with path.open("rb") as stream:
        content_hash = hash_stream(stream)
    settings = IndexSettings(**setup["settings"])
    ocr = Ocr(settings.ocr, settings.ocr_languages, settings.ocr_max_pages, int(setup.get("processes", 1)))
    file_type, converted = convert(path, ocr)
    parsed = prepare_text(payload["path"], file_type, converted, settings, int(setup["model_tokens"]))
    return {"content_hash": content_hash, **encode(parsed)}


def prepare_text(
    source_path: str, file_type: str, converted: Converted, settings: IndexSettings, model_tokens: int
) -> ParsedDocument:
    """Turn a converted text into a document with places and chunks."""
    parsed = parse(replace(converted, text=clean(converted.text)))
    if not language_of_file(source_path):
        # Numbers in code are no places.
        parsed = find_places(parsed, file_type)
    sections = build_sections(parsed)
    tokens = TokenIndex(parsed.text, _tokenizer(settings.embedding_model))
    options = ChunkingOptions(settings.chunking_strategy, settings.max_chunk_tokens, settings.chunk_overlap)
    language = _language(parsed.metadata, parsed.text[parsed.body_start :])
    found = extract(
        parsed,
        sections,
        source_path,
        language,
        definitions=settings.extract_definitions,
        references=settings.extract_cross_references,
    )
    document = Document(
        source_path=source_path,
        title=document_title(parsed, sections, source_path),
        file_type=file_type,
        text=parsed.text,
        body_start=parsed.body_start,
        language=language,
        doc_summary=document_summary(parsed),
        metadata=parsed.metadata,
        pages=parsed.pages,
        warnings=(*parsed.warnings, *found.warnings),
        self_check=self_check(parsed, found.places, found.references),
        line_starts=parsed.line_starts,
    )
    chunks = chunk_document(parsed, sections, source_path, tokens, options)
    found = place_references(found, chunks)
    chunks = describe_chunks(chunks, found, language)
    chunks = contextualize(
        document, chunks, tokens, enabled=settings.contextual_embeddings, model_tokens=model_tokens
    )
    return ParsedDocument(
        document,
        # Chunks of code are cut by size: a function is often too short to be found alone.
        (*found.places, *(code_sections(parsed, source_path) if len(sections) == 1 else ())),
        tuple(chunks),
        definitions=tuple(found.definitions),
        references=tuple(found.references),
        links=tuple(parsed.links),
    )


def _language(metadata: dict[str, Any], text: str) -> str:
    stated = metadata.get("language") or metadata.get("lang")
    if (
        isinstance(stated, str)
        and len(stated) >= 2
        and stated[:2].isalpha()
        and (len(stated) == 2 or stated[2] in "-_")
    ):
        return stated[:2].lower()
    return detect_language(text)


@lru_cache(maxsize=2)
def _tokenizer(model: str) -> Tokenizer:
    return load_tokenizer(model or None)


def hash_stream(stream: Any) -> str:
    """Return the content hash of an open binary file."""
    digest = hashlib.sha256()
    while block := stream.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
