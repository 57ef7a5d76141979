"""The keyword and vector index of a list of tools, in memory: the same as for documents, one entry a tool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tantivy

from pinakes.embedding.protocol import Vectors
from pinakes.search.candidates import RankedList
from pinakes.stores.embedded.keyword_query import idfs, terms_query
from pinakes.stores.embedded.keyword_schema import CHUNK, KeywordEntry, build_schema, write_entry
from pinakes.stores.embedded.nearest import ordered
from pinakes.text.analysis import query_terms
from pinakes.text.compounds import LUMP
from pinakes.text.language import detect_language
from pinakes.tools.tool_sources import Tool

_HEAP_BYTES = 15_000_000
# Of fewer, all may be near to a request: the farthest of them does not show what unrelated tools are like.
_FEW = 20
# A word of the name says more of what a tool does than one of the description, and that more than a parameter.
_BOOSTS = {"title": 3.0, "body": 1.0, "context": 0.5}
# Words of a name: between underscores and the like, and where capitals show them.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+|[^\W\d_]+")


def spoken_name(name: str) -> str:
    """Return a name as words.

    >>> spoken_name("mcp__github__createPullRequest")
    'mcp github create pull request'
    """
    return " ".join(part.lower() for part in _PART.findall(name))


def meaning_text(tool: Tool) -> str:
    """Return what is embedded of a tool: what it is called and what it does."""
    said = tool.description or ", ".join(name for name, _ in tool.parameters)
    return f"{spoken_name(tool.name)}: {said}" if said else spoken_name(tool.name)


@dataclass(frozen=True, slots=True)
class KeywordSearch:
    """Finds tools by words. Made anew when the list changes, so that it does not depend on how the list came about."""

    schema: tantivy.Schema
    searcher: tantivy.Searcher
    languages: tuple[str, ...]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> KeywordSearch:
        """Index tools under their places in the list."""
        schema = build_schema()
        index = tantivy.Index(schema)
        writer = index.writer(_HEAP_BYTES, 1)
        languages = _languages(tools)
        for place, tool in enumerate(tools):
            parameters = "\n".join(f"{name} {spoken_name(name)} {text}" for name, text in tool.parameters)
            write_entry(
                writer,
                KeywordEntry(
                    document=place,
                    chunk=place,
                    language=languages[0],
                    title=f"{tool.name} {spoken_name(tool.name)}",
                    headings="",
                    body=tool.description,
                    context=parameters,
                ),
            )
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return cls(schema, index.searcher(), languages)

    def leg(self, query: str) -> RankedList:
        """Return the tools that have words of a request, best first."""
        terms = query_terms(query, self.languages)
        total = self.searcher.num_docs
        if not terms or not total:
            return RankedList.of("keyword", [])
        built = terms_query(self.schema, self.searcher, terms, _BOOSTS)
        hits = self.searcher.search(built, limit=total, count=False).hits
        places = self.searcher.fast_field_values(CHUNK, [address for _, address in hits])
        chunks = np.array([place or 0 for place in places], dtype=np.int64)
        scores = np.array([score for score, _ in hits], dtype=np.float64)
        order = np.lexsort((chunks, -scores))
        return RankedList("keyword", chunks[order], scores[order], full=sum(idfs(self.searcher, terms)))


def _languages(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The language that the descriptions are in, all together: each alone is too short to tell."""
    return (detect_language("\n".join(tool.description for tool in tools)) or "en",)


def semantic_leg(matrix: Vectors, query: Vectors) -> RankedList:
    """Return the tools nearest in meaning, best first."""
    found = ordered(matrix, query)
    floor = found.floor if len(matrix) >= _FEW else min(0.0, found.floor)
    return RankedList("semantic", found.chunks, found.scores, floor)


def has_words(query: str) -> bool:
    """Whether a request has anything in it that can be looked for."""
    return LUMP.search(query) is not None
