"""Models that a tool or an agent may use, and how each is loaded."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from pydantic import Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from loccit.agent.base import NOT_A_SWITCH, Part, Text, bounds, optional

# What each provider is called where models are loaded by name.
_SCHEMES = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure_openai": "azure",
    "ollama": "ollama",
    "openai_compatible": "openai",
}


class ModelProvider(str, Enum):
    """Who runs a language model."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    AZURE_OPENAI = "azure_openai"
    OLLAMA = "ollama"
    OPENAI_COMPATIBLE = "openai_compatible"


class EmbeddingProvider(str, Enum):
    """Who runs an embedding model; ``local`` is this machine."""

    LOCAL = "local"
    OPENAI = "openai"
    AZURE_OPENAI = "azure_openai"
    OLLAMA = "ollama"
    OPENAI_COMPATIBLE = "openai_compatible"


class RerankerProvider(str, Enum):
    """Who runs a reranker; ``llm`` asks a language model for the order."""

    LOCAL = "local"
    COHERE = "cohere"
    JINA = "jina"
    TEI = "tei"
    HTTP = "http"
    LLM = "llm"


class Service(Part):
    """Something that is reached under an address, with a key."""

    endpoint: Text | None = Field(
        default=None, description="Address of the service, if it is not the provider's own."
    )
    base_url: Text | None = Field(default=None, description="The same as endpoint, as the SDKs call it.")
    api_key: SecretStr | None = Field(
        default=None,
        description="Key of the service; write it as ${NAME_OF_A_VARIABLE} rather than in the file. By default the "
        "provider's usual environment variable is read.",
    )

    @model_validator(mode="after")
    def _one_address(self) -> Service:
        if self.endpoint and self.base_url and self.endpoint != self.base_url:
            raise PydanticCustomError("two_addresses", "endpoint and base_url mean the same: give only one")
        self.endpoint = self.base_url = self.endpoint or self.base_url
        return self

    @property
    def key(self) -> str | None:
        """The key in the clear, for the one who sends it; None where there is none."""
        return (self.api_key.get_secret_value() if self.api_key else "") or None


class ModelConfig(Service):
    """A language model."""

    provider: ModelProvider = Field(description="Who runs the model.")
    name: Text = Field(description="Name of the model, or of the deployment on Azure.")
    api_version: Text | None = Field(default=None, description="Version of the API; Azure only.")
    temperature: Annotated[float, Field(ge=0.0, le=2.0), NOT_A_SWITCH] | None = Field(
        default=None,
        description="Sampling temperature; the model's own default if unset.",
    )
    max_tokens: Annotated[int, Field(ge=1), NOT_A_SWITCH] | None = Field(
        default=None, description="Longest answer, in tokens."
    )

    @model_validator(mode="after")
    def _complete(self) -> ModelConfig:
        if self.api_version and self.provider is not ModelProvider.AZURE_OPENAI:
            raise PydanticCustomError("api_version", "api_version is for the provider azure_openai only")
        if self.provider is ModelProvider.OPENAI_COMPATIBLE and not self.endpoint:
            raise PydanticCustomError(
                "no_endpoint",
                "endpoint is required with the provider openai_compatible: where does it listen?",
            )
        return self

    @property
    def spec(self) -> str:
        """The model as the registry of language models names it: ``anthropic:claude-haiku-5-5``."""
        return f"{_SCHEMES[self.provider.value]}:{self.name}"

    def options(self) -> dict[str, Any]:
        """Return what the constructor of the model must be told beyond its name."""
        return _given(base_url=self.endpoint, api_key=self.key, api_version=self.api_version)


class EmbeddingConfig(Service):
    """An embedding model."""

    provider: EmbeddingProvider = Field(default=EmbeddingProvider.LOCAL, description="Who runs the model.")
    name: Text | None = Field(
        default=None,
        description="Name of the model; locally a folder, relative to this file, or a Hugging Face name. Without it "
        "the bundled model is used.",
    )
    dimensions: Annotated[int, Field(ge=1, le=10000), NOT_A_SWITCH] | None = Field(
        default=None, description="Length of the vectors."
    )
    api_version: Text | None = Field(default=None, description="Version of the API; Azure only.")
    batch_size: Annotated[int, Field(ge=1, le=2048), NOT_A_SWITCH] | None = Field(
        default=None, description="How many texts go into one request."
    )
    query_prefix: str | None = Field(
        default=None, description="Put in front of every query before it is embedded."
    )
    document_prefix: str | None = Field(
        default=None, description="Put in front of every passage before it is embedded."
    )

    @model_validator(mode="after")
    def _complete(self) -> EmbeddingConfig:
        if self.provider is EmbeddingProvider.OPENAI_COMPATIBLE and not self.endpoint:
            raise PydanticCustomError(
                "no_endpoint",
                "endpoint is required with the provider openai_compatible: where does it listen?",
            )
        if self.provider is not EmbeddingProvider.LOCAL and not self.name:
            raise PydanticCustomError("no_name", "name is required: which embedding model of the provider?")
        if self.provider is EmbeddingProvider.LOCAL and (remote := sorted(self.options())):
            raise PydanticCustomError(
                "no_provider",
                "{names} {verb} a provider that is reached over the network, such as openai_compatible",
                {
                    "names": " and ".join(remote).replace("base_url", "endpoint"),
                    "verb": "needs" if len(remote) == 1 else "need",
                },
            )
        if self.api_version and self.provider is not EmbeddingProvider.AZURE_OPENAI:
            raise PydanticCustomError("api_version", "api_version is for the provider azure_openai only")
        return self

    def options(self) -> dict[str, Any]:
        """Return what the constructor of the embedder must be told beyond the model's name."""
        name = "azure_endpoint" if self.provider is EmbeddingProvider.AZURE_OPENAI else "base_url"
        address = self.endpoint
        if address and self.provider is EmbeddingProvider.OLLAMA:
            from loccit.models.llm.openai import ollama_url

            address = ollama_url(address)
        return _given(
            **{name: address},
            api_key=self.key,
            api_version=self.api_version,
            batch_size=self.batch_size,
            query_prefix=self.query_prefix,
            document_prefix=self.document_prefix,
        )


class RerankerConfig(Service):
    """A reranker."""

    provider: RerankerProvider = Field(default=RerankerProvider.LOCAL, description="Who runs the reranker.")
    name: Text | None = Field(
        default=None,
        description="The model; locally a folder, relative to this file, or a Hugging Face name; with llm a language "
        "model such as anthropic:claude-haiku-5-5.",
    )
    top_n: Annotated[int, bounds("rerank_top_n"), NOT_A_SWITCH] | None = optional("rerank_top_n")
    timeout: Annotated[float, bounds("rerank_timeout"), NOT_A_SWITCH] | None = optional("rerank_timeout")

    @property
    def is_named(self) -> bool:
        """Whether this says which reranker to use; a service at an address may have only one."""
        return self.name is not None or self.provider in (RerankerProvider.TEI, RerankerProvider.HTTP)

    @model_validator(mode="after")
    def _complete(self) -> RerankerConfig:
        if self.provider in (RerankerProvider.TEI, RerankerProvider.HTTP) and not self.endpoint:
            raise PydanticCustomError(
                "no_endpoint",
                "endpoint is required with the provider {provider}: where does it listen?",
                {"provider": self.provider.value},
            )
        if self.provider is RerankerProvider.LOCAL and self.options():
            raise PydanticCustomError(
                "no_provider", "endpoint and api_key need a provider that is not local, such as http"
            )
        if self.provider is not RerankerProvider.LOCAL and not self.is_named:
            raise PydanticCustomError("no_name", "name is required: which model of the provider?")
        return self

    def options(self) -> dict[str, Any]:
        """Return what the constructor of the reranker must be told beyond its name."""
        # These have their address in their name.
        named = self.provider in (RerankerProvider.TEI, RerankerProvider.HTTP)
        return _given(base_url=None if named else self.endpoint, api_key=self.key)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
