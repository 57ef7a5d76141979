"""Language models: a small protocol, and from the name of a model to the service that is spoken to through it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol, runtime_checkable

from loccit.errors import LoccitError, UsageError

__all__ = ["Completion", "LanguageModel", "ModelError", "Prompt", "PromptError", "load_model", "missing_key"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question for a model.

    ``system`` says what the model is to do. ``shared`` is what many prompts begin with, such as a whole document: it
    is sent before ``text``, in a form that the service can cache. ``text`` is what differs. ``temperature`` is asked
    for where the service still takes one; many models no longer do.
    """

    system: str
    shared: str
    text: str
    max_tokens: int
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, and the tokens it took.

    ``input_tokens`` counts everything that was read, ``cached_tokens`` and ``cache_write_tokens`` included, whatever
    way a service has of counting.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0


@runtime_checkable
class LanguageModel(Protocol):
    """Answers prompts. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Identity of the model, as in ``anthropic:claude-haiku-5-5``."""
        ...

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to a prompt; raise ``ModelError`` when there is none, after the usual retries."""
        ...


def missing_key(model: object) -> str:
    """Say which key the service of a model misses; empty when it has one or needs none, or the model cannot tell."""
    tell = getattr(model, "missing_key", None)
    return str(tell()) if callable(tell) else ""


class ModelError(LoccitError):
    """A model gave no usable answer. ``lasting``: nor will it to any other prompt (a wrong key, no such model)."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


class PromptError(ModelError):
    """A model would not answer this prompt: too long, declined. Another prompt may fare better."""


_GROUP = "loccit.llms"
_SCHEMES = {
    "anthropic": "loccit.models.llm.anthropic:AnthropicModel",
    "openai": "loccit.models.llm.openai:OpenAIModel",
    "azure": "loccit.models.llm.openai:AzureModel",
    "ollama": "loccit.models.llm.openai:OllamaModel",
}


def load_model(spec: str, **options: Any) -> LanguageModel:
    """Return the language model that ``spec`` names; ``options`` (``base_url``, ``api_key``) go to its constructor.

    Forms: ``anthropic:MODEL``, ``openai:MODEL``, ``azure:DEPLOYMENT``, ``ollama:MODEL``, and ``NAME:MODEL`` where an
    installed package registered NAME under the entry point ``loccit.llms``. Nothing is sent yet.
    """
    scheme, _, name = spec.strip().partition(":")
    if scheme in _SCHEMES and name:
        module, _, attribute = _SCHEMES[scheme].partition(":")
        point = metadata.EntryPoint(attribute, f"{module}:{attribute}", _GROUP)
    else:
        registered = next(iter(metadata.entry_points(group=_GROUP, name=scheme)), None)
        if registered is None:
            raise _unknown(spec)
        point = registered
    model = point.load()(name, **options)
    if not isinstance(model, LanguageModel):
        raise LoccitError(f"The language model {spec!r} ({point.value}) lacks members that Loccit needs.")
    return model


def _unknown(spec: str) -> UsageError:
    names = sorted(point.name for point in metadata.entry_points(group=_GROUP))
    registered = f" Registered here: {', '.join(names)}." if names else ""
    return UsageError(
        f"Unknown language model {spec!r}. Use anthropic:MODEL, openai:MODEL, azure:DEPLOYMENT, ollama:MODEL, or the "
        f"name of one that a package registered.{registered}"
    )
