"""The settings of a search that have no field of their own in a tool, under ``ranking``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema, create_model, field_validator
from pydantic_core import PydanticCustomError

from pinakes.config.agent.base import NOT_A_SWITCH, Number, Part, Switch, bounds, optional
from pinakes.config.settings import STAGES, SearchSettings, Setting, describe

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


_STAGES = {"type": "array", "items": {"type": "string", "enum": list(STAGES)}}
_LISTS: dict[str, Any] = {
    "boosts": dict[str, Number],
    "disabled": Annotated[list[str], WithJsonSchema(_STAGES)],
}


def _type(setting: Setting) -> Any:
    """Return what a field takes; bounds stand before the rest, else the JSON Schema loses them."""
    if setting.bounds:
        return Annotated[int if setting.is_whole else float, bounds(setting.name), NOT_A_SWITCH]
    return Switch if setting.is_switch else _LISTS.get(setting.name) or Literal[setting.choices]


_FIELDS: dict[str, Any] = {
    name: (_type(setting) | None, optional(name))
    for name, setting in describe(SearchSettings).items()
    if name not in ELSEWHERE
}


class RankingConfig(create_model("RankingFields", __base__=Part, **_FIELDS)):  # type: ignore[misc]
    """How results are ranked. What is not set keeps the default of the search settings."""

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
