"""What a user may change: the default of each setting, what it may be, and what it does, said once.

Agent files, options of the command line, the description of the HTTP API and the checks of the documentation take all
of it from here.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from loccit.errors import UsageError

logger: logging.Logger = logging.getLogger("loccit")


class SearchMode(str, Enum):
    """How to search."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    EXACT = "exact"


class ChunkingStrategy(str, Enum):
    """Where documents are divided: at their headings and sections, or every so many tokens."""

    STRUCTURE = "structure"
    TOKEN = "token"


class OcrMode(str, Enum):
    """Which pages are read from images: those without text, none, or all."""

    AUTO = "auto"
    OFF = "off"
    FORCE = "force"


MODES = tuple(mode.value for mode in SearchMode)
FUSIONS = ("scores", "rrf")
TOKEN_BUDGETS = (100, 1_000_000)
"""The least and most tokens of an answer for a model; below that, not even its frame fits."""
# Parts of a search that can be switched off by name, in the order in which a query meets them.
STAGES = (
    "spelling",
    "expansion",
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


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be said of a setting: a number has bounds, a word its choices; ``takes`` says it for anything else."""

    name: str
    default: Any
    help: str
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    takes: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.default, bool)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return self.bounds is not None and isinstance(self.bounds[0], int)

    def range(self) -> str:
        """Say what the setting may be, as in ``1 to 100``."""
        if self.bounds:
            return " to ".join(f"{bound:,.0f}" if bound >= 10_000 else f"{bound:g}" for bound in self.bounds)
        return ", ".join(("true", "false") if self.is_switch else self.choices) or self.takes

    def said(self) -> str:
        """Say in a line what the setting does, what it may be and what it is by default."""
        if self.is_switch:
            return f"{self.help} {'On' if self.default else 'Off'} by default."
        limits = f"One of {self.range()}" if self.choices else self.range() if self.bounds else ""
        usual = f"{self.written()} by default" if self.default not in (None, "", (), {}) else ""
        return " ".join(
            filter(None, (self.help, "; ".join(filter(None, (limits, usual))) + "."))
        ).removesuffix(" .")

    def written(self) -> str:
        """Write the default as people do."""
        return f"{self.default:,}" if self.is_whole and self.default >= 10_000 else str(self.default)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a number, a word out of several, or a switch."""
        if self.bounds:
            low, high = (int(bound) if bound == int(bound) else bound for bound in self.bounds)
            return {"type": "integer" if self.is_whole else "number", "minimum": low, "maximum": high}
        return {"type": "boolean"} if self.is_switch else {"type": "string", "enum": list(self.choices)}

    def check(self, value: Any) -> None:
        """Refuse a value that is out of range or of another kind."""
        if self.bounds:
            within(self.name, value, *self.bounds)
            if self.is_whole and not isinstance(value, int):
                raise UsageError(f"{self.name} must be a whole number, not {value!r}.")
        elif self.choices and value not in self.choices:
            raise UsageError(f"{self.name} must be one of {', '.join(self.choices)}, not {value!r}.")
        elif self.is_switch and not isinstance(value, bool):
            raise UsageError(f"{self.name} must be true or false, not {value!r}.")


def within(name: str, value: object, low: float, high: float) -> None:
    """Refuse what is no number between two others."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}.")
    if not low <= value <= high:
        raise UsageError(f"{name} must be between {low:g} and {high:g}, not {value:g}.")


def _number(default: float | None, low: float, high: float, help: str) -> Any:
    """Return the field of a number; whole, where the bounds are."""
    return field(default=default, metadata={"help": help, "bounds": (low, high)})


def _choice(default: str, choices: tuple[str, ...], help: str) -> Any:
    return field(default=default, metadata={"help": help, "choices": choices})


def _switch(default: bool, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def _text(default: str, takes: str, help: str) -> Any:
    return field(default=default, metadata={"help": help, "takes": takes})


@lru_cache(maxsize=64)
def _warn_of_weights(total: float) -> None:
    """Say it once: settings are made anew for every search."""
    logger.warning("The weights of hybrid search add up to %.2f, not 1.", total)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How documents become chunks and vectors.

    A change of these means reading the documents again, except for ``context_*``, which only write contexts anew.
    """

    chunking_strategy: str = _choice(
        "structure",
        tuple(strategy.value for strategy in ChunkingStrategy),
        "Split documents at headings and sections, or into windows of tokens.",
    )
    max_chunk_tokens: int = _number(800, 100, 2000, "Maximum length of a chunk, in tokens.")
    chunk_overlap: int = _number(
        50, 0, 200, "Tokens that consecutive chunks share where a section has to be split."
    )
    contextual_embeddings: bool = _switch(
        True,
        "Put the context of a chunk in front of it before it is embedded: title and path of headings, or what "
        "context_model writes.",
    )
    embedding_model: str = _text(
        "",
        "name of a model",
        "Embedding model: default, fast, thorough, multilingual, or such as BAAI/bge-small-en-v1.5 or "
        "openai:text-embedding-3-small; the default one if unset.",
    )
    extract_definitions: bool = _switch(True, "Extract definitions of terms.")
    extract_cross_references: bool = _switch(True, "Extract cross-references between sections.")
    context_model: str = _text(
        "",
        "name of a model",
        "Language model that writes a context for each chunk, such as anthropic:claude-haiku-5-5.",
    )
    context_max_tokens: int = _number(100, 50, 200, "Maximum length of a context, in tokens.")
    context_concurrency: int = _number(10, 1, 50, "How many contexts are requested at the same time.")
    context_window_tokens: int = _number(
        4000,
        1000,
        2_000_000,
        "How much of a document the context model is shown: all of a short one, else the outline and what is around "
        "the chunk.",
    )
    context_max_cost: float | None = _number(
        None, 0.0, 100_000.0, "Dollars that contexts may cost in one run; no limit if unset."
    )
    concept_vocabulary: bool = _switch(
        False, "Keep a vocabulary of the library's concepts, for query expansion."
    )
    ocr: str = _choice(
        "auto",
        tuple(mode.value for mode in OcrMode),
        "Have Tesseract read pages that are images: those without text, none (off), or all, and image files in "
        "folders (force).",
    )
    ocr_languages: str = _text(
        "eng",
        "Tesseract's names",
        "Languages of scanned pages, by Tesseract's names, such as eng,deu.",
    )
    ocr_max_pages: int = _number(1000, 1, 100_000, "Maximum number of pages per file that are read by OCR.")

    def __post_init__(self) -> None:
        _check(self)
        if self.chunk_overlap >= self.max_chunk_tokens:
            raise UsageError(
                f"chunk_overlap must be less than max_chunk_tokens, which is {self.max_chunk_tokens}, not "
                f"{self.chunk_overlap}."
            )
        if not isinstance(self.ocr_languages, str) or not re.match(LANGUAGES, self.ocr_languages):
            raise UsageError(
                f"ocr_languages must be names of Tesseract's languages, such as eng,deu, not {self.ocr_languages!r}."
            )

    @classmethod
    def from_stored(cls, data: Mapping[str, Any]) -> IndexSettings:
        """Read what an index keeps; a number that an older version allowed becomes the nearest that is."""
        values = {name: rule.default for name, rule in describe(cls).items()} | dict(data)
        for name, setting in describe(cls).items():
            if setting.bounds and isinstance(values.get(name), (int, float)):
                low, high = setting.bounds
                values[name] = min(high, max(low, values[name]))
        values["chunk_overlap"] = min(values["chunk_overlap"], values["max_chunk_tokens"] - 1)
        return cls(**values)

    def fingerprint(self) -> str:
        """Name these settings, to tell documents that were read under others."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a query becomes results."""

    search_mode: str = _choice(
        "hybrid", MODES, "Search by meaning, by keyword, by exact reference, or by all at once."
    )
    top_k: int = _number(10, 1, 100, "How many results a search returns.")
    min_score: float | None = _number(None, 0.0, 1.0, "Drop results with a lower fused score.")
    semantic_weight: float = _number(
        0.5, 0.0, 1.0, "Weight of semantic search in hybrid mode. The three weights should sum to 1."
    )
    keyword_weight: float = _number(0.3, 0.0, 1.0, "Weight of keyword search in hybrid mode.")
    exact_weight: float = _number(0.2, 0.0, 1.0, "Weight of exact matches in hybrid mode.")
    rrf_k: int = _number(
        60, 1, 1000, "Constant of reciprocal rank fusion; a larger one makes ranks count more alike."
    )
    fusion: str = _choice(
        "scores", FUSIONS, "Combine the result lists by normalised scores or by reciprocal ranks."
    )
    candidates: int = _number(
        100, 100, 10_000, "How many of the best-ranked candidates results are chosen from."
    )
    boosts: dict[str, float] = field(
        default_factory=dict,
        metadata={
            "help": "How much a match in a field of the keyword index counts: field to factor, 0 to 100.",
            "takes": "field to factor, 0 to 100",
        },
    )
    disabled: tuple[str, ...] = field(
        default=(), metadata={"help": "Stages of the search to skip.", "takes": "names of stages"}
    )
    query_expansion_enabled: bool = _switch(
        False, "Also search for near concepts of short queries, and for what abbreviations stand for."
    )
    query_expansion_terms: int = _number(3, 1, 20, "How many terms are added.")
    code_search_weight: float = _number(
        0.3, 0.0, 1.0, "Weight of code search in queries that name code; 0 turns it off."
    )
    graph_weight: float = _number(
        0.3, 0.0, 1.0, "How much chunks linked to strong hits rise; 0 turns the graph off."
    )
    recency_bias: float = _number(0.0, 0.0, 1.0, "How much recent documents are favoured.")
    document_weight: float = _number(
        0.3, 0.0, 10.0, "Weight of the document's evidence, relative to 1 for the chunk's own score."
    )
    section_weight: float = _number(
        0.1, 0.0, 10.0, "Weight of the section's evidence, relative to 1 for the chunk's own score."
    )
    min_confidence: float = _number(
        0.0, 0.0, 1.0, "Drop results below this confidence; the higher of this and min_score applies."
    )
    ngram_dedup_threshold: float = _number(
        0.7, 0.1, 1.0, "Share of common word trigrams from which two texts count as duplicates."
    )
    dedup_enabled: bool = _switch(False, "Also merge results that say the same in other words.")
    dedup_similarity_threshold: float = _number(
        0.85, 0.1, 1.0, "Cosine similarity from which two passages say the same."
    )
    mmr_enabled: bool = _switch(False, "Diversify the results (maximal marginal relevance).")
    mmr_lambda: float = _number(0.7, 0.0, 1.0, "With mmr_enabled: 1 is relevance alone, 0 difference alone.")
    max_chunks_per_doc: int = _number(0, 0, 100, "Maximum number of results per document; 0 means no limit.")
    rerank_enabled: bool = _switch(False, "Have a reranker reorder the best results.")
    rerank_model: str = _text("", "name of a reranker", "The reranker, as in docs/reranking.md.")
    rerank_top_n: int = _number(20, 1, 200, "How many of the best results are reranked.")
    rerank_timeout: float = _number(
        5.0, 0.05, 300.0, "Seconds after which reranking is given up and the order stays."
    )
    focus_threshold: float = _number(
        0.81, 0.0, 1.0, "How relevant a sentence must be, relative to the best one of its chunk, to be shown."
    )
    parent_retrieval_enabled: bool = _switch(
        False, "Return the whole section instead of the passage, if it is short enough."
    )
    parent_max_tokens: int = _number(
        1200, 100, 100_000, "Longest section that replaces its passage, in tokens."
    )

    def __post_init__(self) -> None:
        _check(self)
        for name, value in self.boosts.items():
            within(f"the boost of {name}", value, 0.0, 100.0)
        if isinstance(self.disabled, str):
            raise UsageError(f"disabled must be a list of stages, not {self.disabled!r}.")
        unknown = sorted(set(self.disabled) - set(STAGES))
        if unknown:
            raise UsageError(f"Unknown stage {', '.join(unknown)}; available: {', '.join(STAGES)}.")
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
        other = {
            name: value
            for name, value in values.items()
            if value is not None and value is not getattr(self, name)
        }
        return replace(self, **other) if other else self


ALIASES = {"rrf_k_constant": "rrf_k"}
"""Other names of settings."""
STAGE_SWITCHES = {"code_search_enabled": "code", "ngram_dedup_enabled": "ngram_dedup"}
"""Switches of stages that ``disabled`` names too."""


def by_own_names(given: Mapping[str, Any], disabled: Iterable[str] = ()) -> dict[str, Any]:
    """Return settings of a search under the names they have here; ``disabled`` are the stages that are off already.

    >>> by_own_names({"rrf_k_constant": 20, "ngram_dedup_enabled": False})
    {'rrf_k': 20, 'disabled': ('ngram_dedup',)}
    """
    values = {name: value for name, value in given.items() if name not in STAGE_SWITCHES}
    for other, name in ALIASES.items():
        if other in values:
            value = values.pop(other)
            if values.setdefault(name, value) != value:
                raise UsageError(f"{other} and {name} mean the same: give only one.")
    for name in [name for name in STAGE_SWITCHES if name in given]:
        stage, on = STAGE_SWITCHES[name], given[name]
        if not isinstance(on, bool):
            raise UsageError(f"{name} must be true or false, not {on!r}.")
        if on and stage in given.get("disabled", ()):
            raise UsageError(f"{name} is true, but disabled has {stage}: give only one.")
        others = [other for other in values.get("disabled", disabled) if other != stage]
        values["disabled"] = tuple(others if on else [*others, stage])
    return values


def describe(kind: Any) -> Mapping[str, Setting]:
    """Return what may be said of each setting of the index or of the search, by name."""
    return _described(kind)


@lru_cache(maxsize=2)
def _described(kind: Any) -> dict[str, Setting]:
    return {item.name: _setting(item) for item in fields(kind)}


def _setting(item: Field[Any]) -> Setting:
    # Only boosts have a default that is made anew each time.
    default = {} if item.default is MISSING else item.default
    return Setting(item.name, default, **item.metadata)


def setting(name: str) -> Setting:
    """Return what may be said of one setting, of the index or of the search.

    >>> setting("top_k").range()
    '1 to 100'
    """
    return {**describe(IndexSettings), **describe(SearchSettings)}[name]


def _check(settings: IndexSettings | SearchSettings) -> None:
    for name, rule in describe(type(settings)).items():
        value = getattr(settings, name)
        # What has no default may be left out.
        if value is not None or rule.default is not None:
            rule.check(value)


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
            raise UsageError(f"Unknown settings {', '.join(unknown)}; available: index and search.")
        index = _build(IndexSettings, data["index"]) if data.get("index") else None
        return cls(index, _build(SearchSettings, data.get("search") or {}))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


def _build(kind: Any, data: dict[str, Any]) -> Any:
    known = describe(kind)
    if kind is SearchSettings:
        data = by_own_names(data)
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise UsageError(f"Unknown setting {', '.join(unknown)}; available: {', '.join(sorted(known))}.")
    return kind(**data)
