"""What the keyword index is told of a document: its chunks with title, headings, frontmatter, context and code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinakes.ingest.code_blocks import chunk_code, document_code
from pinakes.stores.embedded.keyword_schema import KeywordEntry
from pinakes.stores.embedded.lookup import Lookup

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
        # The title is mostly the first heading too; it has a field of its own.
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
    """The text of a field, under whichever names the frontmatter has it; lists and nested values are joined.

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
    """What a context says beyond the title and the path of headings, which have fields of their own.

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
