"""What a user may change, with the default and the bounds of each."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from pinakes.errors import UsageError

logger = logging.getLogger("pinakes")

MODES = ("hybrid", "semantic", "keyword", "exact")
STRATEGIES = ("structure", "token")
FUSIONS = ("rrf", "scores")
OCR_MODES = ("auto", "off", "force")
MAX_TOP_K = 100
# Parts of a search that can be switched off by name, in the order in which a query meets them.
STAGES = (
    "spelling",
    "expansion",
    "adaptive_weights",
    "code",
    "hierarchy",
    "smoothing",
    "graph",
    "recency",
    "headers",
    "content_dedup",
    "ngram_dedup",
    "semantic_dedup",
    "mmr",
    "doc_limit",
    "rerank",
    "focus",
    "parents",
)


LANGUAGES = r"^[A-Za-z][A-Za-z0-9_/]*(?:[,+ ]+[A-Za-z][A-Za-z0-9_/]*)*$"


def _within(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}.")
    if not low <= value <= high:
        raise UsageError(f"{name} must be between {low:g} and {high:g}, not {value:g}.")


@lru_cache(maxsize=64)
def _warn_of_weights(total: float) -> None:
    """Say it once: settings are made anew for every search."""
    logger.warning("The weights of hybrid search add up to %.2f, not 1.", total)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How documents become chunks and vectors.

    A change of these means reading the documents again, except for ``context_*``, which only write contexts anew.
    """

    chunking_strategy: str = "structure"
    max_chunk_tokens: int = 800
    chunk_overlap: int = 50
    contextual_embeddings: bool = True
    embedding_model: str = ""
    extract_definitions: bool = True
    extract_cross_references: bool = True
    context_model: str = ""
    context_max_tokens: int = 100
    context_concurrency: int = 10
    context_window_tokens: int = 100_000
    concept_vocabulary: bool = False
    ocr: str = "auto"
    ocr_languages: str = "eng"
    ocr_max_pages: int = 1000

    def __post_init__(self) -> None:
        _one_of("chunking_strategy", self.chunking_strategy, STRATEGIES)
        _within("max_chunk_tokens", self.max_chunk_tokens, 100, 2000)
        _within("chunk_overlap", self.chunk_overlap, 0, 200)
        _within("context_max_tokens", self.context_max_tokens, 20, 1000)
        _within("context_concurrency", self.context_concurrency, 1, 100)
        _within("context_window_tokens", self.context_window_tokens, 1000, 2_000_000)
        _one_of("ocr", self.ocr, OCR_MODES)
        if not isinstance(self.ocr_languages, str) or not re.match(LANGUAGES, self.ocr_languages):
            raise UsageError(
                f"ocr_languages must be names of Tesseract's languages, such as eng,deu, not {self.ocr_languages!r}."
            )
        _within("ocr_max_pages", self.ocr_max_pages, 1, 100_000)

    def fingerprint(self) -> str:
        """Name these settings, to tell documents that were read under others."""
        return json.dumps(asdict(self), sort_keys=True)


_BOUNDS = (
    ("query_expansion_terms", 1, 20),
    ("code_search_weight", 0.0, 1.0),
    ("graph_weight", 0.0, 1.0),
    ("recency_bias", 0.0, 1.0),
    ("document_weight", 0.0, 10.0),
    ("section_weight", 0.0, 10.0),
    ("min_confidence", 0.0, 1.0),
    ("ngram_dedup_threshold", 0.1, 1.0),
    ("dedup_similarity_threshold", 0.1, 1.0),
    ("mmr_lambda", 0.0, 1.0),
    ("max_chunks_per_doc", 0, 100),
    ("rerank_top_n", 1, 200),
    ("rerank_timeout", 0.05, 300.0),
    ("focus_threshold", 0.0, 1.0),
    ("parent_max_tokens", 100, 100_000),
)


_COUNTS = (
    "top_k",
    "candidates",
    "query_expansion_terms",
    "max_chunks_per_doc",
    "rerank_top_n",
    "parent_max_tokens",
)
_SWITCHES = (
    "query_expansion_enabled",
    "dedup_enabled",
    "mmr_enabled",
    "rerank_enabled",
    "parent_retrieval_enabled",
)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a query becomes results."""

    search_mode: str = "hybrid"
    top_k: int = 10
    min_score: float | None = None
    semantic_weight: float = 0.5
    keyword_weight: float = 0.3
    exact_weight: float = 0.2
    rrf_k: int = 60
    fusion: str = "scores"
    candidates: int = 100
    boosts: dict[str, float] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    query_expansion_enabled: bool = False
    query_expansion_terms: int = 3
    code_search_weight: float = 0.3
    graph_weight: float = 0.3
    recency_bias: float = 0.0
    document_weight: float = 0.3
    section_weight: float = 0.1
    min_confidence: float = 0.0
    ngram_dedup_threshold: float = 0.7
    dedup_enabled: bool = False
    dedup_similarity_threshold: float = 0.85
    mmr_enabled: bool = False
    mmr_lambda: float = 0.7
    max_chunks_per_doc: int = 0
    rerank_enabled: bool = False
    rerank_model: str = ""
    rerank_top_n: int = 20
    rerank_timeout: float = 5.0
    focus_threshold: float = 0.81
    parent_retrieval_enabled: bool = False
    parent_max_tokens: int = 1200

    def __post_init__(self) -> None:
        _one_of("search_mode", self.search_mode, MODES)
        _one_of("fusion", self.fusion, FUSIONS)
        _within("top_k", self.top_k, 1, MAX_TOP_K)
        _within("rrf_k", self.rrf_k, 1, 1000)
        _within("candidates", self.candidates, 100, 10_000)
        for name in ("semantic_weight", "keyword_weight", "exact_weight"):
            _within(name, getattr(self, name), 0.0, 1.0)
        for name, value in self.boosts.items():
            _within(f"the boost of {name}", value, 0.0, 100.0)
        if self.min_score is not None:
            _within("min_score", self.min_score, 0.0, 1.0)
        for name, low, high in _BOUNDS:
            _within(name, getattr(self, name), low, high)
        for name in _COUNTS:
            if not isinstance(getattr(self, name), int):
                raise UsageError(f"{name} must be a whole number, not {getattr(self, name)!r}.")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} must be true or false, not {getattr(self, name)!r}.")
        if isinstance(self.disabled, str):
            raise UsageError(f"disabled must be a list of stages, not {self.disabled!r}.")
        unknown = sorted(set(self.disabled) - set(STAGES))
        if unknown:
            raise UsageError(f"Unknown stage {', '.join(unknown)}; known are {', '.join(STAGES)}.")
        total = self.semantic_weight + self.keyword_weight + self.exact_weight
        if self.search_mode == "hybrid" and total <= 0:
            raise UsageError("At least one of the weights must be above 0 in hybrid mode.")
        if self.search_mode == "hybrid" and abs(total - 1.0) > 0.01:
            _warn_of_weights(round(total, 2))

    def uses(self, stage: str) -> bool:
        """Whether a stage is not switched off by name."""
        return stage not in self.disabled

    def with_overrides(self, **values: Any) -> SearchSettings:
        """Return these settings with some values replaced; None leaves a value as it is."""
        return replace(self, **{name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured about a library; without ``index``, what the index was made with holds."""

    index: IndexSettings | None = None
    search: SearchSettings = field(default_factory=SearchSettings)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Settings:
        """Build settings from plain values, unknown names refused with the list of known ones."""
        unknown = sorted(set(data) - {"index", "search"})
        if unknown:
            raise UsageError(f"Unknown settings {', '.join(unknown)}; known are index and search.")
        index = _build(IndexSettings, data["index"]) if data.get("index") else None
        return cls(index, _build(SearchSettings, data.get("search") or {}))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


def _build(kind: Any, data: dict[str, Any]) -> Any:
    known = {item.name for item in fields(kind)}
    unknown = sorted(set(data) - known)
    if unknown:
        raise UsageError(f"Unknown setting {', '.join(unknown)}; known are {', '.join(sorted(known))}.")
    return kind(**data)
