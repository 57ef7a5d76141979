"""The model of an agent file, as the agent library wants it, and what can go wrong with it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from loccit.errors import LoccitError, MissingExtraError, UsageError
from loccit.models.llm import ModelError

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from loccit.agent import ModelConfig


_NO_KEY = "none"
_IN_FILE = "model.api_key in the agent file"
_FEATURE = "A conversation with a model"

NO_MODEL = """No model is configured. Add one to {file}, for example

model:
  provider: anthropic        # or openai, azure_openai, ollama, openai_compatible
  name: claude-haiku-5-5

and set ANTHROPIC_API_KEY (OPENAI_API_KEY, AZURE_OPENAI_API_KEY), or write api_key: ${{NAME_OF_A_VARIABLE}} below it. \
A server of your own needs endpoint: http://localhost:8000/v1; Ollama needs no key."""


@dataclass(frozen=True)
class ChatModel:
    """A model that is ready to be asked, and what to call it in messages."""

    model: Model
    settings: ModelSettings
    name: str
    where: str
    key_variable: str
    secrets: tuple[str, ...] = field(default=(), repr=False)


def require_library() -> None:
    """Refuse where the agent library is not installed, or cannot be."""
    if sys.version_info < (3, 11):
        raise LoccitError(f"{_FEATURE} needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    try:
        import pydantic_ai
    except ImportError as error:
        raise MissingExtraError(_FEATURE, "chat") from error
    # The terminal is ours: the library would introduce itself there.
    pydantic_ai.BANNER_ENABLED = False


def build_model(config: ModelConfig | None, file: str = "the agent file") -> ChatModel:
    """Return the configured model; nothing is sent yet."""
    if config is None:
        raise UsageError(NO_MODEL.format(file=file))
    require_library()
    build = _BUILDERS[str(config.provider.value)]
    try:
        model, where, variable = build(config)
    except ImportError as error:
        raise MissingExtraError(_FEATURE, "chat") from error
    except LoccitError:
        raise
    except Exception as error:  # an address that is none, a version that does not fit the address
        raise LoccitError(f"The model {config.name} cannot be used: {_first_sentence(error)}") from error
    settings: ModelSettings = {}
    if config.temperature is not None:
        settings["temperature"] = config.temperature
    if config.max_tokens is not None:
        settings["max_tokens"] = config.max_tokens
    sent = getattr(getattr(model, "client", None), "api_key", None)
    given = (config.key, sent, *_hidden_in(config.endpoint))
    secrets = tuple(key for key in given if isinstance(key, str) and len(key) > len(_NO_KEY))
    return ChatModel(model, settings, config.name, where, variable, secrets)


Built = tuple["Model", str, str]


def _anthropic(config: ModelConfig) -> Built:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key, variable = _key(config, "ANTHROPIC_API_KEY", ".anthropic.com")
    provider = AnthropicProvider(api_key=key, base_url=config.endpoint)
    return AnthropicModel(config.name, provider=provider), _shown(config.endpoint) or "Anthropic", variable


def _openai(config: ModelConfig) -> Built:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    if config.endpoint and not _is_below(config.endpoint, ".openai.com"):
        return _compatible(config)
    key, variable = _key(config, "OPENAI_API_KEY", ".openai.com")
    provider = OpenAIProvider(base_url=config.endpoint, api_key=key)
    return OpenAIChatModel(config.name, provider=provider), _shown(config.endpoint) or "OpenAI", variable


def _compatible(config: ModelConfig) -> Built:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    assert config.endpoint is not None
    provider = OpenAICompatibleProvider(
        "openai_compatible", base_url=config.endpoint, api_key=config.key or _NO_KEY
    )
    return OpenAIChatModel(config.name, provider=provider), _shown(config.endpoint), _IN_FILE


def _azure(config: ModelConfig) -> Built:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.azure import AzureProvider

    from loccit.models.llm.openai import AZURE_VERSION

    endpoint = config.endpoint or os.environ.get("AZURE_OPENAI_ENDPOINT")
    if not endpoint:
        raise UsageError("azure_openai needs an endpoint: set model.endpoint or AZURE_OPENAI_ENDPOINT.")
    key, variable = _key(config, "AZURE_OPENAI_API_KEY", ".azure.com", ".azure.us", ".azure.cn")
    version = config.api_version or os.environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    provider = AzureProvider(
        azure_endpoint=endpoint,
        # The newer interface has its version in the address.
        api_version=None if endpoint.rstrip("/").endswith("/v1") else version,
        api_key=key,
    )
    return OpenAIChatModel(config.name, provider=provider), _shown(endpoint), variable


def _ollama(config: ModelConfig) -> Built:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    from loccit.models.llm.openai import ollama_url

    address = ollama_url(config.endpoint)
    provider = OllamaProvider(base_url=address, api_key=config.key or _NO_KEY)
    return OllamaModel(config.name, provider=provider), _shown(address), _IN_FILE


_BUILDERS: dict[str, Any] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "azure_openai": _azure,
    "ollama": _ollama,
    "openai_compatible": _compatible,
}


def _key(config: ModelConfig, variable: str, *domains: str) -> tuple[str, str]:
    """Return the key to send, and where it is set; that of the environment goes to no address but the provider's."""
    if config.key:
        return config.key, _IN_FILE
    if config.endpoint and not any(_is_below(config.endpoint, domain) for domain in domains):
        return _NO_KEY, _IN_FILE
    found = os.environ.get(variable, "").strip()
    if not found:
        raise UsageError(
            f"The model {config.name} needs an API key: set {variable}, or model.api_key in the agent file."
        )
    return found, variable


def _is_below(address: str, domain: str) -> bool:
    return (urlsplit(address).hostname or "").endswith(domain)


def _hidden_in(address: str | None) -> tuple[str | None, ...]:
    """Return what an address holds that is not for messages."""
    parts = urlsplit(address or "")
    return parts.password, parts.query


def _shown(address: str | None) -> str:
    """Return an address as messages may have it: without the name, password or key that it may hold."""
    if not address:
        return ""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).split(". ")[0]


_LONGEST = 300


def explain(error: Exception, model: ChatModel) -> ModelError:
    """Return the error to show for one that the agent library raised; ``lasting`` when asking again is no use."""
    from pydantic_ai import exceptions as known

    where, name = model.where, model.name
    detail = _detail(error, model)
    if isinstance(error, known.ModelAuthenticationError):
        return ModelError(
            f"{where} refused the API key. Check {model.key_variable} and what the key may use.", lasting=True
        )
    if isinstance(error, known.ModelNotFoundError):
        return ModelError(
            f"{where} has no model {name!r}, or is not the right address. Check model.name (or pull the model first) "
            f"and model.endpoint{detail}",
            lasting=True,
        )
    if isinstance(error, known.ModelQuotaExceededError):
        return ModelError(f"{where} wants to be paid first{detail}", lasting=True)
    if isinstance(error, known.ModelRateLimitError):
        wait = f" for {error.retry_after:g} s" if error.retry_after else ""
        return ModelError(f"{where} refuses more requests for now. Wait{wait}, then ask again{detail}")
    if isinstance(error, known.ModelContextWindowExceededError):
        return ModelError(
            "The conversation has become too long for the model. Start a new one with /new, or lower --token-budget."
        )
    if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout):
        return ModelError(f"{where} did not answer in time. Ask again, or raise --timeout.")
    if isinstance(error, known.ModelConnectionError):
        if error.phase == "read" or error.in_stream:
            return ModelError(f"{where} broke off in the middle of its answer. Ask again.")
        return ModelError(f"Cannot reach {where}. Is the server running, and is model.endpoint right?")
    if isinstance(error, known.ModelUnavailableError | known.ModelServerError):
        return ModelError(f"{where} is in trouble. Wait a little, then ask again{detail}")
    if isinstance(error, known.ContentFilterError):
        return ModelError(f"{where} declined to answer. Ask in another way.")
    if isinstance(error, known.ModelRequestRejectedError):
        return ModelError(f"{where} refused the request{detail}")
    if isinstance(error, known.UsageLimitExceeded):
        return ModelError(
            "The model kept calling tools and gave no answer. Ask for less at once, or raise --max-tool-calls."
        )
    if isinstance(error, known.IncompleteToolCall):
        return ModelError("The answer was cut before it was whole. Raise model.max_tokens in the agent file.")
    if isinstance(error, known.ModelAPIError):
        return ModelError(f"{where} gave no answer{detail}")
    return ModelError(f"{where} gave an answer that cannot be used{detail}")


def _detail(error: Exception, model: ChatModel) -> str:
    """Return what the service says, on one line, short, and without the keys that some print."""
    text = _said(getattr(error, "body", None)) or str(getattr(error, "message", "") or error)
    for secret in model.secrets:
        text = text.replace(secret, "***")
    line = " ".join(text.split())
    line = line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
    return f": {line}" if line else "."


def _said(body: Any) -> str:
    """Return the message within the body of a refusal, wherever the service puts it."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            inner = inner.get("message", "")
        return str(inner or "")
    return body if isinstance(body, str) else ""
