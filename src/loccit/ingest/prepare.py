"""Prepare: the stages from a file to a parsed document.

A worker process runs this for each file. It touches no index: it takes a path and settings, and returns plain values.
Evaluation sets and other systems have chunks of their own: :func:`with_fixed_chunks` uses these instead, and makes
everything else (places, references, contexts, passages) from the whole document.
"""

from __future__ import annotations

import hashlib
import re
import warnings as warning_filter
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from loccit.config import IndexSettings
from loccit.extract import Extracted, describe_chunks, extract, place_references
from loccit.grammar.text.code_languages import language_of_file
from loccit.grammar.text.language import detect_language
from loccit.ingest.chunk import ChunkingOptions, TokenIndex, chunk_document, chunk_of
from loccit.ingest.contextualize import contextualize
from loccit.model import Chunk, Converted, Document, ParsedDocument, Place
from loccit.models.embedding import Tokenizer, load_tokenizer
from loccit.read import check_size, convert
from loccit.read.ocr import Ocr
from loccit.structure import Parsed, Positions, parse
from loccit.structure.code_names import code_sections
from loccit.structure.places import find_places
from loccit.structure.places.mentions import self_check
from loccit.structure.places.tree import build_sections

# Increase when the same file would be read differently: files read before are then read again.
READER = 12


def prepare(payload: dict[str, Any], setup: dict[str, Any]) -> ParsedDocument:
    """Read one file in a worker process: ``payload`` names it, ``setup`` has the settings."""
    warning_filter.simplefilter("ignore")
    path = Path(payload["path"])
    check_size(path)
    # The hash first: a file that changes in between is then read again next time.
    with path.open("rb") as stream:
        content_hash = hash_stream(stream)
    settings = IndexSettings(**setup["settings"])
    ocr = Ocr(settings.ocr, settings.ocr_languages, settings.ocr_max_pages, int(setup.get("processes", 1)))
    file_type, converted = convert(path, ocr)
    parsed = prepare_text(clean(payload["path"]), file_type, converted, settings, int(setup["model_tokens"]))
    return replace(parsed, document=replace(parsed.document, content_hash=content_hash))


def prepare_text(
    source_path: str, file_type: str, converted: Converted, settings: IndexSettings, model_tokens: int
) -> ParsedDocument:
    """Turn a converted text into a document with places and chunks."""
    parsed = parse(replace(converted, text=clean(converted.text)))
    parsed = replace(
        parsed,
        title=clean(parsed.title),
        metadata=clean(parsed.metadata),
        frontmatter=clean(parsed.frontmatter),
        warnings=clean(parsed.warnings),
    )
    if not language_of_file(source_path):
        # Numbers in code are not places.
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
    chunks = describe_chunks(chunks, found)
    chunks = _contextualized(document, chunks, tokens, settings, model_tokens)
    # Chunks of code are cut by size: a function is often too short to be found alone.
    places = (*found.places, *(code_sections(parsed, source_path) if len(sections) == 1 else ()))
    return ParsedDocument(
        document,
        places,
        tuple(chunks),
        definitions=tuple(found.definitions),
        references=tuple(found.references),
        links=tuple(parsed.links),
        obligations=tuple(found.obligations),
    )


_T = TypeVar("_T")


def clean(value: _T) -> _T:
    """Replace lone surrogates and NUL characters in JSON values: some converters let them through.

    No database accepts the former, and SQLite ends a text at the latter. Lengths stay the same.
    """
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    elif isinstance(value, dict):
        cleaned = {clean(name): clean(item) for name, item in value.items()}
    elif isinstance(value, (tuple, list)):
        cleaned = [clean(item) for item in value]
    return cast(_T, cleaned)


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


# -- titles and summaries ---------------------------------------------------------------------------------------


_TITLE_LENGTH = 300
_SUMMARY_LENGTH = 300
# A heading further down than this is the name of a part, even if it is the only one.
_TITLE_REACH = 1000
# What programs write into a file's properties if nobody gave it a title.
_NO_TITLE = re.compile(
    r"^(?:microsoft word - .*|(?:microsoft )?powerpoint presentation|untitled(?: document)?\s?\d*"
    r"|document\s?\d*|slide 1|title|.*\.(?:docx?|xlsx?|pptx?|odt|rtf|pdf|txt|html?|md|tex|dvi|indd|qxd|p65))$",
    re.IGNORECASE,
)
# File names that say nothing about the content.
_NO_NAME = frozenset(
    "readme read me index main default doc docs document home start about page text untitled new".split()
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKUP = re.compile(r"<!--|-->|</?[a-zA-Z][^<>]*>|[*_`>#|]+|!?\[\[?|\]\]?(?:\([^)]*\))?")


def document_title(parsed: Parsed, sections: Sequence[Place], path: str) -> str:
    """Return the title: stated in the text, the only top heading, from the file's properties, or its name.

    Of several top headings, the first is the title if it begins the document and the file has a similar name, or a
    meaningless one.
    """
    front = parsed.frontmatter.get("title")
    if isinstance(front, (str, int, float)) and not isinstance(front, bool) and str(front).strip():
        return _one_line(str(front), _TITLE_LENGTH)
    if parsed.title.strip():
        return _one_line(parsed.title, _TITLE_LENGTH)
    headings = [section for section in sections if section.level > 0]
    before = parsed.text[parsed.body_start : headings[0].start] if headings else ""
    only = headings and all(section.level > headings[0].level for section in headings[1:])
    if only and len(before) <= _TITLE_REACH:
        return headings[0].heading
    own = parsed.metadata.get("title")
    if isinstance(own, str) and own.strip() and not _NO_TITLE.match(own.strip()):
        return _one_line(own, _TITLE_LENGTH)
    if headings and not before.strip() and _is_title(headings, Path(path).stem):
        return headings[0].heading
    return Path(path).stem.replace("_", " ").replace("-", " ").strip() or path


def _is_title(headings: Sequence[Place], name: str) -> bool:
    """Whether the first of several top headings is a title rather than the name of the first part."""
    first = headings[0]
    if first.label or any(section.level < first.level for section in headings):
        return False
    named = set(_WORD.findall(name.lower()))
    return named <= _NO_NAME or not named.isdisjoint(_WORD.findall(first.heading.lower()))


def document_summary(parsed: Parsed) -> str:
    """Return the description that the document states, or its first paragraph."""
    for key in ("description", "summary", "abstract"):
        value = parsed.metadata.get(key)
        if isinstance(value, str) and value.strip():
            return _one_line(value, _SUMMARY_LENGTH)
    for block in parsed.blocks:
        if block.kind == "text":
            # Ten times what is kept: enough, however much markup there is, and bounded.
            end = min(block.end, block.start + 10 * _SUMMARY_LENGTH)
            words = _one_line(_MARKUP.sub(" ", parsed.text[block.start : end]), _SUMMARY_LENGTH)
            if len(words) > 40:
                return words
    return ""


def _one_line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit].rstrip()


# -- given chunks -----------------------------------------------------------------------------------------------


def with_fixed_chunks(
    parsed: ParsedDocument,
    pieces: Sequence[str],
    settings: IndexSettings,
    model_tokens: int,
    tokenizer: Tokenizer,
) -> ParsedDocument:
    """Return the document with these texts as its chunks, in this order and verbatim."""
    document = parsed.document
    tokens = TokenIndex(document.text, tokenizer)
    chunks = _chunks(parsed, [clean(piece) for piece in pieces], tokens)
    found = Extracted(parsed.places, parsed.definitions, parsed.references, parsed.obligations)
    # Places are found by bisection, which needs text order.
    in_order = sorted(chunks, key=lambda chunk: (chunk.start, chunk.chunk_index))
    found = place_references(found, in_order)
    chunks = describe_chunks(chunks, found)
    return replace(
        parsed,
        chunks=tuple(_contextualized(document, chunks, tokens, settings, model_tokens)),
        references=tuple(found.references),
    )


def with_title(
    parsed: ParsedDocument, title: str, settings: IndexSettings, model_tokens: int, tokenizer: Tokenizer
) -> ParsedDocument:
    """Return the document with another title, also in the contexts of its chunks."""
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
    """Return where each piece begins: after the previous one if possible, else anywhere, else None.

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
        # A piece that is not in the text verbatim is placed where the previous one ended, with an empty span:
        # all of it counts as repeated from elsewhere.
        start, end = (reached, reached) if at is None else (at, at + len(piece))
        section = sections[max(0, bisect_right(section_starts, start) - 1)]
        count = tokens.of(piece).count(0, len(piece)) if at is None else tokens.count(start, end)
        prefix = len(piece) if at is None else 0
        chunks.append(
            chunk_of(
                section, position, parsed.document.source_path, index, piece, (start, end), prefix, count
            )
        )
        reached = end
    return chunks
