"""The tool that searches documents, as an agent file describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from loccit.agent import effects
from loccit.agent.base import (
    BLOCK,
    NAME,
    NOT_A_SWITCH,
    BlockOrName,
    Number,
    Part,
    Surroundings,
    Switch,
    Text,
    Whole,
    bounds,
    optional,
    shared,
)
from loccit.agent.database import DatabaseConfig
from loccit.agent.services import EmbeddingConfig, ModelConfig, RerankerConfig
from loccit.config.settings import (
    LANGUAGES,
    STAGE_SWITCHES,
    STAGES,
    TOKEN_BUDGETS,
    ChunkingStrategy,
    OcrMode,
    SearchMode,
    SearchSettings,
    Setting,
    by_own_names,
    describe,
    setting,
)

if TYPE_CHECKING:
    from pathlib import Path

    from loccit.config.settings import Settings
    from loccit.index.settings import DatabaseSettings
    from loccit.models.embedding import Embedder
    from loccit.models.llm import LanguageModel
    from loccit.models.rerank import Reranker

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
_FIELDS |= {
    name: (
        Switch | None,
        Field(default=None, description=f"Whether {stage} runs; false is the same in disabled."),
    )
    for name, stage in STAGE_SWITCHES.items()
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

    @model_validator(mode="after")
    def _switched_once(self) -> RankingConfig:
        for name, stage in STAGE_SWITCHES.items():
            if getattr(self, name) and stage in (self.disabled or ()):
                raise PydanticCustomError(
                    "switched_twice",
                    "{name} is true, but disabled has {stage}: give only one",
                    {"name": name, "stage": stage},
                )
        return self

    def given(self) -> dict[str, Any]:
        """Return what was set, by the names of the search settings."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        if self.disabled is not None:
            values["disabled"] = tuple(self.disabled)
        return by_own_names({name: value for name, value in values.items() if value is not None})


# The index that each way of searching needs.
INDEXES = {"semantic": "dense_index", "keyword": "keyword_index", "exact": "exact_index"}


def _off(value: Any) -> Any:
    """YAML takes the word ``off`` for ``false``."""
    return "off" if value is False else value


class HierarchicalDocumentToolConfig(Part):
    """A tool that searches a folder of documents."""

    name: str = Field(
        pattern=r"^[0-9A-Za-z_]+$", description="Name of the tool: letters, digits and underscores."
    )
    description: Text = Field(description="What the tool is for; a model chooses its tools by this.")
    type: Literal["hierarchical_document"] = Field(
        default="hierarchical_document", description="Kind of the tool: searches structured documents."
    )
    source: Text = Field(description="File, folder or pattern to search, relative to this file.")

    chunking_strategy: ChunkingStrategy = shared("chunking_strategy", default=ChunkingStrategy.STRUCTURE)
    max_chunk_tokens: Whole = shared("max_chunk_tokens")
    chunk_overlap: Whole = shared("chunk_overlap")

    ocr: Annotated[OcrMode, BeforeValidator(_off)] = shared("ocr", default=OcrMode.AUTO)
    ocr_languages: Text = shared("ocr_languages", pattern=LANGUAGES)
    ocr_max_pages: Whole = shared("ocr_max_pages")

    search_mode: SearchMode = shared("search_mode", default=SearchMode.HYBRID)
    top_k: Whole = shared("top_k")
    min_score: Annotated[float, bounds("min_score"), NOT_A_SWITCH] | None = optional("min_score")
    semantic_weight: Number = shared("semantic_weight")
    keyword_weight: Number = shared("keyword_weight")
    exact_weight: Number = shared("exact_weight")
    rrf_k: Whole = shared(
        "rrf_k",
        description=f"{setting('rrf_k').help} Setting it selects that fusion, unless ranking.fusion is set.",
    )

    rrf_k_constant: Annotated[int, bounds("rrf_k"), NOT_A_SWITCH] | None = Field(
        default=None, description="The same as rrf_k."
    )

    embedding_model: Text | None = optional("embedding_model")
    embedding_dimensions: Annotated[int, Field(ge=1, le=10000), NOT_A_SWITCH] | None = Field(
        default=None, description="Length of the vectors; the model's own if unset."
    )
    contextual_embeddings: Switch = shared("contextual_embeddings")
    context_model: (
        Annotated[Annotated[ModelConfig, Tag(BLOCK)] | Annotated[Text, Tag(NAME)], BlockOrName] | None
    ) = Field(
        default=None,
        description="Language model that writes a context for each chunk: a model, provider:name, or the word agent "
        "for the agent's own model. Nothing is sent anywhere if unset.",
    )
    context_max_tokens: Whole = shared("context_max_tokens")
    context_concurrency: Whole = shared("context_concurrency")
    context_window_tokens: Whole = shared("context_window_tokens")
    context_max_cost: Annotated[float, bounds("context_max_cost"), NOT_A_SWITCH] | None = optional(
        "context_max_cost"
    )

    extract_definitions: Switch = shared("extract_definitions")
    extract_cross_references: Switch = shared("extract_cross_references")
    dense_index: Switch = Field(default=True, description="Keep an index for semantic search.")
    keyword_index: Switch = Field(default=True, description="Use the index for keyword search.")
    exact_index: Switch = Field(default=True, description="Use the index of section numbers and phrases.")

    enable_reranking: Switch = shared("rerank_enabled")
    reranker_model: (
        Annotated[Annotated[ModelConfig, Tag(BLOCK)] | Annotated[Text, Tag(NAME)], BlockOrName] | None
    ) = Field(
        default=None,
        description=f"{setting('rerank_model').help} A block is a language model that ranks the results. "
        "Required with enable_reranking.",
    )

    database: (
        Annotated[Annotated[DatabaseConfig, Tag(BLOCK)] | Annotated[Text, Tag(NAME)], BlockOrName] | None
    ) = Field(
        default=None, description="Where the library is kept: a database, or the name of one under databases."
    )
    defer_loading: Switch = Field(
        default=True, description="Load the tool on first use instead of at startup."
    )

    index: Text | None = Field(
        default=None,
        description="Folder of the index, relative to this file; .loccit/NAME_OF_THE_TOOL if unset.",
    )
    filters: dict[str, Any] | None = Field(
        default=None,
        description="Search only documents with these properties, such as type: pdf or tags: [draft].",
    )
    token_budget: Annotated[int, Field(ge=TOKEN_BUDGETS[0], le=TOKEN_BUDGETS[1]), NOT_A_SWITCH] | None = (
        Field(default=None, description="Longest answer of a search, in tokens.")
    )
    ranking: RankingConfig | None = Field(
        default=None, description="Search settings by name, and stages to skip."
    )
    embedding: EmbeddingConfig | None = Field(
        default=None, description="The embedding model in full; the agent's embedding if unset."
    )
    reranker: RerankerConfig | None = Field(default=None, description="The reranker in full.")

    _around: Surroundings = PrivateAttr(default_factory=Surroundings)

    @field_validator("filters")
    @classmethod
    def _usable_filters(cls, filters: dict[str, Any] | None) -> dict[str, Any] | None:
        from loccit.errors import UsageError
        from loccit.search.understand.filters import compile_filter

        for name, value in (filters or {}).items():
            if isinstance(value, dict):
                raise PydanticCustomError(
                    "filter", "the filter {name} must be a value or a list of values", {"name": name}
                )
            try:
                compile_filter(name, value)
            except UsageError as error:
                raise PydanticCustomError("filter", "{why}", {"why": str(error)}) from error
        return filters

    @model_validator(mode="after")
    def _one_constant(self) -> HierarchicalDocumentToolConfig:
        if self.rrf_k_constant is None:
            return self
        if "rrf_k" in self.model_fields_set and self.rrf_k != self.rrf_k_constant:
            raise PydanticCustomError(
                "two_constants",
                "rrf_k and rrf_k_constant mean the same: give only one",
                {"place": ("rrf_k_constant",)},
            )
        self.rrf_k = self.rrf_k_constant
        return self

    @model_validator(mode="after")
    def _chunks_advance(self) -> HierarchicalDocumentToolConfig:
        if self.chunk_overlap >= self.max_chunk_tokens:
            raise PydanticCustomError(
                "overlap",
                "must be less than max_chunk_tokens, which is {most}, not {overlap}",
                {"most": self.max_chunk_tokens, "overlap": self.chunk_overlap, "place": ("chunk_overlap",)},
            )
        return self

    @model_validator(mode="after")
    def _reranker_is_named(self) -> HierarchicalDocumentToolConfig:
        if (
            self.enable_reranking
            and not self.reranker_model
            and not (self.reranker and self.reranker.is_named)
        ):
            raise PydanticCustomError(
                "no_reranker",
                "reranker_model is required with this, such as cohere:rerank-v3.5 or a folder",
                {"place": ("enable_reranking",)},
            )
        named = self.reranker.name if self.reranker else None
        if isinstance(self.reranker_model, ModelConfig) and self.reranker and self.reranker.is_named:
            raise PydanticCustomError(
                "two_rerankers",
                "reranker_model and reranker name two rerankers: give only one",
                {"place": ("reranker_model",)},
            )
        if self.reranker_model and named not in (None, self.reranker_model):
            raise PydanticCustomError(
                "two_rerankers",
                "reranker_model and reranker.name name two rerankers: give only one",
                {"place": ("reranker_model",)},
            )
        return self

    @model_validator(mode="after")
    def _one_embedding_model(self) -> HierarchicalDocumentToolConfig:
        block = self.embedding
        if block and block.name and self.embedding_model and block.name != self.embedding_model:
            raise PydanticCustomError(
                "two_embeddings",
                "embedding_model and embedding.name name two models: give only one",
                {"place": ("embedding_model",)},
            )
        if block and block.dimensions and self.embedding_dimensions not in (None, block.dimensions):
            raise PydanticCustomError(
                "two_lengths",
                "embedding_dimensions and embedding.dimensions differ: give only one",
                {"place": ("embedding_dimensions",)},
            )
        return self

    @model_validator(mode="after")
    def _something_searches(self) -> HierarchicalDocumentToolConfig:
        mode = self.search_mode.value
        if mode in INDEXES and not getattr(self, INDEXES[mode]):
            raise PydanticCustomError(
                "index_off",
                "{mode} needs {index}: true, or choose another search_mode",
                {"mode": mode, "index": INDEXES[mode], "place": ("search_mode",)},
            )
        weights = (self.semantic_weight, self.keyword_weight, self.exact_weight)
        if mode == "hybrid" and not any(
            weight > 0 and getattr(self, index)
            for weight, index in zip(weights, INDEXES.values(), strict=True)
        ):
            raise PydanticCustomError(
                "nothing_searches",
                "nothing is left to search with: at least one index that is on needs a weight above 0",
            )
        return self

    @model_validator(mode="after")
    def _weights_add_up(self, info: ValidationInfo) -> HierarchicalDocumentToolConfig:
        if not (info.context or {}).get("quiet"):
            # The search settings warn, once, of weights that do not.
            SearchSettings(
                self.search_mode.value,
                semantic_weight=self.semantic_weight,
                keyword_weight=self.keyword_weight,
                exact_weight=self.exact_weight,
            )
        return self

    def lint(self) -> list[tuple[str, str]]:
        """Return what is allowed but likely not meant: the field and a sentence."""
        from loccit.agent.lint import lint

        return lint(self, self._around)

    @property
    def search_modes(self) -> tuple[str, ...]:
        """The modes that a query may ask for: those whose index is on, and hybrid."""
        return ("hybrid", *(mode for mode, index in INDEXES.items() if getattr(self, index)))

    def settings(self, base_dir: Path | None = None) -> Settings:
        """Return what this tool asks of the index and of the search."""
        return effects.settings(self, self._around.at(base_dir))

    def source_path(self, base_dir: Path | None = None) -> Path:
        """Return where the documents are; a pattern stays one."""
        return effects.source_path(self.source, self._around.at(base_dir))

    def index_path(self, base_dir: Path | None = None) -> Path:
        """Return the folder of the index, or of what this machine keeps of a database's."""
        return effects.index_path(self, self._around.at(base_dir))

    def database_settings(self, base_dir: Path | None = None) -> DatabaseSettings | None:
        """Return the database that holds the library; None where the folder of the index does."""
        return effects.database_settings(self, self._around.at(base_dir))

    def check_source(self, base_dir: Path | None = None) -> None:
        """Raise ``UsageError`` when there is nothing at the source."""
        effects.check_source(self.source, self.source_path(base_dir))

    def build_embedder(self, base_dir: Path | None = None) -> Embedder | None:
        """Return the embedder where the name of the model in the settings does not say it all, else None."""
        return effects.build_embedder(self, self._around.at(base_dir))

    def build_reranker(self, base_dir: Path | None = None) -> Reranker | None:
        """Return the reranker where the name in the settings does not say it all, else None."""
        return effects.build_reranker(self, self._around.at(base_dir))

    def build_context_model(self) -> LanguageModel | None:
        """Return the model that writes contexts where its name does not say it all, else None."""
        return effects.build_context_model(self, self._around)
