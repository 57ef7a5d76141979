"""Model families: what the published files of well-known embedding models do not state, by model name.

A model's own files take precedence (`folder.py`). The table is shown in docs/configuration.md.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Literal, TypeAlias

Pooling: TypeAlias = Literal["mean", "cls", "max"]

_ENGLISH = frozenset({"en"})
_FOR_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


@dataclass(frozen=True)
class Family:
    """How models whose name matches ``pattern`` are used; ``languages`` None means many."""

    pattern: str
    pooling: Pooling
    query: str = ""
    document: str = ""
    max_tokens: int = 512
    languages: frozenset[str] | None = None


# The first match wins, so special patterns come before general ones.
FAMILIES = (
    Family("bge-m3*", "cls", max_tokens=8192),
    Family("bge-*-en*", "cls", _FOR_SEARCH, languages=_ENGLISH),
    Family("bge-*-zh*", "cls", "为这个句子生成表示以用于检索相关文章：", languages=frozenset({"zh"})),
    Family("multilingual-e5-*-instruct*", "mean", _INSTRUCTION),
    Family("multilingual-e5-*", "mean", "query: ", "passage: "),
    Family("e5-*", "mean", "query: ", "passage: ", languages=_ENGLISH),
    Family("gte-multilingual-*", "cls", max_tokens=8192),
    Family("gte-modernbert-*", "cls", max_tokens=8192, languages=_ENGLISH),
    Family("gte-*-en-v1.5*", "cls", max_tokens=8192, languages=_ENGLISH),
    Family("gte-*", "mean", languages=_ENGLISH),
    Family(
        "nomic-embed-text-v1*",
        "mean",
        "search_query: ",
        "search_document: ",
        max_tokens=8192,
        languages=_ENGLISH,
    ),
    Family(
        "modernbert-embed-*",
        "mean",
        "search_query: ",
        "search_document: ",
        max_tokens=8192,
        languages=_ENGLISH,
    ),
    Family("mxbai-embed-large-*", "cls", _FOR_SEARCH, languages=_ENGLISH),
    Family("snowflake-arctic-embed-*v2.0*", "cls", "query: ", max_tokens=8192),
    Family("snowflake-arctic-embed-*", "cls", _FOR_SEARCH, languages=_ENGLISH),
    Family("jina-embeddings-v2-*-en*", "mean", max_tokens=8192, languages=_ENGLISH),
    Family("jina-embeddings-v2-*", "mean", max_tokens=8192),
    Family(
        "jina-embeddings-v3*",
        "mean",
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        max_tokens=8192,
    ),
    Family("potion-multilingual-*", "mean"),
    Family("potion-*", "mean", languages=_ENGLISH),
    Family("paraphrase-multilingual-*", "mean", max_tokens=128),
    Family("all-minilm-*", "mean", max_tokens=256, languages=_ENGLISH),
    Family("all-mpnet-*", "mean", max_tokens=384, languages=_ENGLISH),
)

GRAPHS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")
# Publishers of browser versions add a small graph next to the large one, which is why people choose theirs.
_CONVERTERS = ("xenova/", "onnx-community/")


def family_of(name: str) -> Family | None:
    """Return the family of a model, by the last part of its name.

    >>> family_of("BAAI/bge-small-en-v1.5").pooling
    'cls'
    """
    last = name.rstrip("/").rpartition("/")[2].lower()
    return next((family for family in FAMILIES if fnmatch.fnmatchcase(last, family.pattern)), None)


def graphs_of(name: str) -> tuple[str, ...]:
    """Return the possible names of a model's graph, the preferred one first."""
    if name.lower().startswith(_CONVERTERS):
        return (*GRAPHS[2:], *GRAPHS[:2])
    return GRAPHS


def table() -> str:
    """Return the families as a Markdown table."""
    rows = ["| model | pooling | before a query | before a document | tokens |", "|---|---|---|---|---|"]
    for family in FAMILIES:
        prefixes = " | ".join(_shown(prefix) for prefix in (family.query, family.document))
        rows.append(f"| `{family.pattern}` | {family.pooling} | {prefixes} | {family.max_tokens} |")
    return "\n".join(rows)


def _shown(prefix: str) -> str:
    escaped = prefix.replace("\n", "\\n")
    return f"`{escaped}`" if prefix else ""
