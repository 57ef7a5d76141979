"""What a user may change, with the default and the bounds of each."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from pinakes.errors import UsageError

logger = logging.getLogger("pinakes")

MODES = ("hybrid", "semantic", "keyword", "exact")
STRATEGIES = ("structure", "token")
FUSIONS = ("rrf", "scores")
MAX_TOP_K = 100


def _within(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}.")
    if not low <= value <= high:
        raise UsageError(f"{name} must be between {low:g} and {high:g}, not {value:g}.")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How documents become chunks and vectors. A change of these means reading the documents again."""

    chunking_strategy: str = "structure"
    max_chunk_tokens: int = 800
    chunk_overlap: int = 50
    contextual_embeddings: bool = True
    embedding_model: str = ""
    extract_definitions: bool = True
    extract_cross_references: bool = True

    def __post_init__(self) -> None:
        _one_of("chunking_strategy", self.chunking_strategy, STRATEGIES)
        _within("max_chunk_tokens", self.max_chunk_tokens, 100, 2000)
        _within("chunk_overlap", self.chunk_overlap, 0, 200)

    def fingerprint(self) -> str:
        """Name these settings, to tell documents that were read under others."""
        return json.dumps(asdict(self), sort_keys=True)


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

    def __post_init__(self) -> None:
        _one_of("search_mode", self.search_mode, MODES)
        _one_of("fusion", self.fusion, FUSIONS)
        _within("top_k", self.top_k, 1, MAX_TOP_K)
        if not isinstance(self.top_k, int):
            raise UsageError(f"top_k must be a whole number, not {self.top_k!r}.")
        _within("rrf_k", self.rrf_k, 1, 1000)
        _within("candidates", self.candidates, 100, 10_000)
        for name in ("semantic_weight", "keyword_weight", "exact_weight"):
            _within(name, getattr(self, name), 0.0, 1.0)
        for name, value in self.boosts.items():
            _within(f"the boost of {name}", value, 0.0, 100.0)
        if self.min_score is not None:
            _within("min_score", self.min_score, 0.0, 1.0)
        total = self.semantic_weight + self.keyword_weight + self.exact_weight
        if self.search_mode == "hybrid" and total <= 0:
            raise UsageError("At least one of the weights must be above 0 in hybrid mode.")
        if self.search_mode == "hybrid" and abs(total - 1.0) > 0.01:
            logger.warning("The weights of hybrid search add up to %.2f, not 1.", total)

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
