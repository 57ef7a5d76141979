"""From the name of a language model to the model."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from pinakes.errors import PinakesError, UsageError
from pinakes.llm.protocol import LanguageModel

_GROUP = "pinakes.llms"
_SCHEMES = {
    "anthropic": "pinakes.llm.anthropic:AnthropicModel",
    "openai": "pinakes.llm.openai:OpenAIModel",
    "azure": "pinakes.llm.openai:AzureModel",
    "ollama": "pinakes.llm.openai:OllamaModel",
}


def load_model(spec: str, **options: Any) -> LanguageModel:
    """Return the language model that ``spec`` names; ``options`` (``base_url``, ``api_key``) go to its constructor.

    Forms: ``anthropic:MODEL``, ``openai:MODEL``, ``azure:DEPLOYMENT``, ``ollama:MODEL``, and ``NAME:MODEL`` where an
    installed package registered NAME under the entry point ``pinakes.llms``. Nothing is sent yet.
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
        raise PinakesError(f"The language model {spec!r} ({point.value}) does not offer what Pinakes needs.")
    return model


def _unknown(spec: str) -> UsageError:
    names = sorted(point.name for point in metadata.entry_points(group=_GROUP))
    registered = f" Registered here: {', '.join(names)}." if names else ""
    return UsageError(
        f"Unknown language model {spec!r}. Use anthropic:MODEL, openai:MODEL, azure:DEPLOYMENT, ollama:MODEL, or the "
        f"name of one that a package registered.{registered}"
    )
