"""The settings of a search that have no field of their own in a tool, under ``ranking``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from pinakes.config.agent.base import NOT_A_SWITCH, Number, Part, Switch
from pinakes.config.settings import STAGES

# Settings of a search that a tool has under a name of its own.
ELSEWHERE = {
    "search_mode": "search_mode",
    "top_k": "top_k",
    "min_score": "min_score",
    "semantic_weight": "semantic_weight",
    "keyword_weight": "keyword_weight",
    "exact_weight": "exact_weight",
    "rrf_k": "rrf_k",
    "rerank_enabled": "enable_reranking",
    "rerank_model": "reranker_model",
    "rerank_top_n": "reranker.top_n",
    "rerank_timeout": "reranker.timeout",
}


class RankingConfig(Part):
    """How results are ranked. What is not set keeps the default of the search settings."""

    fusion: Literal["scores", "rrf"] | None = Field(
        default=None, description="Join the legs by scores brought to one scale, or by reciprocal ranks."
    )
    candidates: Annotated[int, Field(ge=100, le=10_000), NOT_A_SWITCH] | None = Field(
        default=None,
        description="How many of the ranked candidates results are chosen from.",
    )
    boosts: dict[str, Number] | None = Field(
        default=None,
        description="How much a match in a field of the keyword index counts: field to factor, 0 to 100.",
    )
    disabled: list[str] | None = Field(
        default=None,
        description="Stages of the search to leave out.",
        json_schema_extra={"items": {"type": "string", "enum": list(STAGES)}},
    )
    query_expansion_enabled: Switch | None = Field(
        default=None,
        description="Also search for near concepts of short queries, and for what abbreviations stand for.",
    )
    query_expansion_terms: Annotated[int, Field(ge=1, le=20), NOT_A_SWITCH] | None = Field(
        default=None, description="How many terms are added."
    )
    code_search_weight: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="Say of the code leg in queries that name code; 0 switches it off.",
    )
    graph_weight: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="How much neighbours of strong hits rise; 0 switches the graph off.",
    )
    recency_bias: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None, description="How much new documents are favoured."
    )
    document_weight: Annotated[float, Field(ge=0.0, le=10.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="Evidence of the document, against 1 for the chunk's own score.",
    )
    section_weight: Annotated[float, Field(ge=0.0, le=10.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="Evidence of the section, against 1 for the chunk's own score.",
    )
    min_confidence: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="Leave out results below; the higher of this and min_score counts.",
    )
    ngram_dedup_threshold: Annotated[float, Field(ge=0.1, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None, description="Share of word triples from which on two texts are twins."
    )
    dedup_enabled: Switch | None = Field(default=None, description="Also merge other words for the same.")
    dedup_similarity_threshold: Annotated[float, Field(ge=0.1, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None, description="Cosine from which on it is the same."
    )
    mmr_enabled: Switch | None = Field(
        default=None, description="Prefer results that are unlike those before them."
    )
    mmr_lambda: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="With mmr_enabled: 1 is relevance alone, 0 difference alone.",
    )
    max_chunks_per_doc: Annotated[int, Field(ge=0, le=100), NOT_A_SWITCH] | None = Field(
        default=None, description="Most results of one document; 0 is no limit."
    )
    focus_threshold: Annotated[float, Field(ge=0.0, le=1.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="How good a sentence must be, against the best of its chunk, to be shown with it.",
    )
    parent_retrieval_enabled: Switch | None = Field(
        default=None,
        description="Return the section that a passage belongs to in its place, where it is short enough.",
    )
    parent_max_tokens: Annotated[int, Field(ge=100, le=100_000), NOT_A_SWITCH] | None = Field(
        default=None, description="Longest section that takes the place of its passage."
    )

    @field_validator("disabled")
    @classmethod
    def _known_stages(cls, names: list[str] | None) -> list[str] | None:
        for name in names or []:
            if name not in STAGES:
                raise PydanticCustomError(
                    "unknown_stage", "unknown stage {name}", {"name": repr(name), "known": list(STAGES)}
                )
        return names

    @field_validator("boosts")
    @classmethod
    def _sane_boosts(cls, boosts: dict[str, float] | None) -> dict[str, float] | None:
        for name, value in (boosts or {}).items():
            if not 0 <= value <= 100:
                raise PydanticCustomError(
                    "boost", "the boost of {name} must be between 0 and 100", {"name": name}
                )
        return boosts

    def given(self) -> dict[str, Any]:
        """Return what was set, by the names of the search settings."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        if self.disabled is not None:
            values["disabled"] = tuple(self.disabled)
        return {name: value for name, value in values.items() if value is not None}
