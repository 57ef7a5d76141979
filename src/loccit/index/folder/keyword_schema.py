"""The fields of the keyword index, the entry of a chunk, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import tantivy

from loccit.grammar.text.analysis import index_and_exact_terms, index_terms
from loccit.grammar.text.code_blocks import chunk_code, document_code
from loccit.grammar.text.code_terms import code_tokens
from loccit.grammar.text.decompound import COMPOUNDING
from loccit.index.folder.lookup import Lookup

DEFAULT_BOOSTS: Mapping[str, float] = {
    "title": 3.0,
    "headings": 2.5,
    "keywords": 2.5,
    "description": 2.0,
    "tags": 2.0,
    "aliases": 1.5,
    "author": 1.0,
    "category": 1.0,
    "path": 1.0,
    "context": 1.0,
    "body": 1.0,
}
"""The boosts of fields, as occurrences in the text. These are also the fields that are searched."""

DOCUMENT, CHUNK, BODY, EXACT = "document", "chunk", "body", "exact"
COMPOUND = "compound"
"""The words of texts in languages that write compounds as one word: only to know which words exist."""
CODE, CODE_PARTS, CODE_LANGUAGE = "code", "code_parts", "code_language"
RANKED = frozenset({"title", "context", "body"})
"""Fields that every chunk has or none: term frequency and length are comparable.

In the others, only the presence of a word counts. If one tag per hundred documents is the average, any tag at all would
look like a very long list.
"""


@dataclass(frozen=True, slots=True)
class KeywordEntry:
    """What is searched of one chunk.

    ``headings`` is the heading it is under, ``path`` those above that one, without the title; ``fields`` has
    frontmatter: keywords, tags and the like; ``context`` is what was written about the chunk; ``code`` the code in it,
    as (language, text).
    """

    document: int
    chunk: int
    language: str
    title: str
    headings: str
    body: str
    fields: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    context: str = ""
    code: Sequence[tuple[str, str]] = ()


def build_schema() -> tantivy.Schema:
    """Analysed fields for search, the words as written for phrases, code, and two numbers that identify the chunk."""
    builder = tantivy.SchemaBuilder()
    # Signed: deleting by an unsigned field's term silently deletes nothing, for ints become signed terms there.
    builder.add_integer_field(DOCUMENT, indexed=True, fast=True)
    builder.add_integer_field(CHUNK, fast=True)
    for name in DEFAULT_BOOSTS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="freq" if name in RANKED else "basic")
    builder.add_text_field(EXACT, tokenizer_name="raw", index_option="position")
    builder.add_text_field(COMPOUND, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(CODE, tokenizer_name="raw", index_option="freq")
    builder.add_text_field(CODE_PARTS, tokenizer_name="raw", index_option="freq")
    builder.add_text_field(CODE_LANGUAGE, tokenizer_name="raw", index_option="basic")
    return builder.build()


# Title, path and frontmatter are those of many chunks.
_terms = lru_cache(maxsize=256)(index_terms)


def write_entry(writer: tantivy.IndexWriter, entry: KeywordEntry) -> None:
    """Add an entry as terms from our own analysis; the texts themselves are not stored."""
    texts = {
        **entry.fields,
        "title": entry.title,
        "headings": entry.headings,
        "path": entry.path,
        "context": entry.context,
    }
    fields = {
        name: _terms(text, entry.language)
        for name, text in texts.items()
        if text and name in DEFAULT_BOOSTS and name != BODY
    }
    fields[BODY], fields[EXACT] = index_and_exact_terms(entry.body, entry.language)
    if entry.language in COMPOUNDING:
        words = dict.fromkeys(term for term, _ in fields[BODY] if len(term) > 2 and term.isalpha())
        fields[COMPOUND] = [(word, position) for position, word in enumerate(words)]
    if entry.code:
        fields.update(_code_fields(entry.code))
    if not hasattr(tantivy, "PreTokenizedString"):
        # tantivy before 0.27, the last for Python 3.10, takes ready-made terms only as JSON, three times as slowly.
        writer.add_json(_as_json(entry, fields))
        return
    document = tantivy.Document()
    document.add_integer(DOCUMENT, entry.document)
    document.add_integer(CHUNK, entry.chunk)
    token = tantivy.Token
    for name, terms in fields.items():
        tokens = [token(text, position, 0, 0) for text, position in terms]
        document.add_pre_tokenized_text(name, tantivy.PreTokenizedString("", tokens))
    writer.add_document(document)


def _code_fields(code: Sequence[tuple[str, str]]) -> dict[str, list[tuple[str, int]]]:
    """Identifiers and operators in one field, the words that identifiers consist of in another."""
    found = [token for _, text in code for token in code_tokens(text)]
    languages = dict.fromkeys(language for language, _ in code if language)
    return {
        CODE: [(token.text, position) for position, token in enumerate(found)],
        CODE_PARTS: [(part, position) for position, token in enumerate(found) for part in token.parts],
        CODE_LANGUAGE: [(language, position) for position, language in enumerate(languages)],
    }


def _as_json(entry: KeywordEntry, fields: Mapping[str, list[tuple[str, int]]]) -> str:
    data: dict[str, Any] = {DOCUMENT: entry.document, CHUNK: entry.chunk}
    for name, terms in fields.items():
        tokens = [
            {"text": text, "position": position, "offset_from": 0, "offset_to": 0, "position_length": 1}
            for text, position in terms
        ]
        data[name] = {"text": "", "tokens": tokens}
    return json.dumps(data)


_SYNONYMS = {
    "keywords": ("keywords", "keyword"),
    "description": ("description", "summary", "abstract"),
    "tags": ("tags", "tag"),
    "aliases": ("aliases", "alias"),
    "author": ("author", "authors"),
    "category": ("category", "categories", "type"),
}


def document_entries(lookup: Lookup, document: int) -> list[KeywordEntry]:
    """The entries of a document's chunks, from what the record has of it."""
    chunks = lookup.chunks_of_document(document)
    if not chunks:
        return []
    metadata = lookup.metadata(document)
    fields = {name: text for name in _SYNONYMS if (text := metadata_text(metadata, name))}
    text = lookup.document_text(document, 0, max(chunk.end for chunk in chunks))
    code = document_code(text, chunks[0].source_path)
    entries = []
    for chunk in chunks:
        # The title is usually the first heading too, and has its own field.
        headings = [heading for heading in chunk.parent_chain if heading != chunk.document_title]
        blocks = chunk_code(code, chunk.content, chunk.prefix, chunk.start)
        entries.append(
            KeywordEntry(
                document=document,
                chunk=chunk.id,
                language=chunk.language,
                title=chunk.document_title,
                headings=headings[-1] if headings else "",
                path="\n".join(headings[:-1]),
                body=chunk.content,
                fields=fields,
                context=written_context(chunk.context, chunk.document_title, chunk.parent_chain),
                code=[(block.language, block.text) for block in blocks],
            )
        )
    return entries


def metadata_text(metadata: Mapping[str, Any], name: str) -> str:
    """The text of a field, under any of its names in frontmatter; lists and nested values are joined.

    >>> metadata_text({"authors": [{"name": "Ada"}, "Bob"]}, "author")
    'Ada, Bob'
    """
    texts = (text for key in _SYNONYMS[name] for text in _texts(metadata.get(key)))
    return ", ".join(dict.fromkeys(texts))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool) and (text := str(value).strip()):
        yield text


def written_context(context: str, title: str, headings: Sequence[str]) -> str:
    """The part of a context beyond the title and the path of headings, which have their own fields.

    >>> written_context("Report\\nPart I > Costs\\nAbout the costs of 2024.", "Report", ["Report", "Part I", "Costs"])
    'About the costs of 2024.'
    """
    return "\n".join(
        line for line in context.splitlines() if not _is_structure(line.strip(), title, headings)
    )


def _is_structure(line: str, title: str, headings: Sequence[str]) -> bool:
    """Whether a line is the title or the path; long ones are cut, the title at its end, the path at its beginning."""
    if not line or title.startswith(line):
        return True
    parts = line.split(" > ")
    # A heading may have the separator in it itself.
    return " > ".join(headings).endswith(line) or (
        any(heading.endswith(parts[0]) for heading in headings)
        and all(part in headings for part in parts[1:])
    )
