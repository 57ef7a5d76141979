"""Models behind the Chat Completions API: OpenAI, Azure, Ollama, vLLM and whatever else speaks it."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any, ClassVar

from loccit.models.llm import Completion, Prompt, PromptError
from loccit.models.llm.service import THINKING_ROOM, Service, Wishes

_OLLAMA_PORT = 11434
AZURE_VERSION = "2024-10-21"
_NOT_SENT = None
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class OpenAIModel(Service):
    """A model at OpenAI, or at any server that speaks its protocol.

    Without ``api_key`` the SDK reads ``OPENAI_API_KEY``, but not where ``base_url`` is given: a key for OpenAI must
    not go to another address. ``OPENAI_BASE_URL`` names an address for both. ``official`` says that the server is
    OpenAI's own and takes its newest fields; without it, the address decides.
    """

    scheme = "openai"
    package = "openai"
    key_variable = "OPENAI_API_KEY"
    words: ClassVar[dict[str, tuple[str, ...]]] = {
        "limit": ("max_tokens", "max_completion_tokens"),
        "effort": ("effort", "reasoning", "think"),
        "temperature": ("temperature",),
        "cache": ("prompt_cache",),
    }

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        official: bool | None = None,
        **options: Any,
    ) -> None:
        address = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        self._official = official if official is not None else not address or ".openai.com" in address
        super().__init__(model, base_url, api_key, **options)

    def _make_wishes(self) -> Wishes:
        if self._official:
            return Wishes(
                limit=("max_completion_tokens", "max_tokens"),
                effort=("none", "minimal", "low", _NOT_SENT),
                temperature=(True, False),
                cache=(True, False),
            )
        # Other servers may read what they do not know without a word, so they get what is oldest.
        return Wishes(
            limit=("max_tokens", "max_completion_tokens"),
            effort=("none", _NOT_SENT),
            temperature=(True, False),
            cache=(False,),
        )

    def _make_client(self, sdk: Any) -> Any:
        key = self._api_key or ("none" if self.base_url else None)
        # Attempts are counted in one place, by RetryPolicy.
        return sdk.OpenAI(base_url=self.base_url, api_key=key, timeout=self._timeout, max_retries=0)

    def _arguments(self, prompt: Prompt, wishes: dict[str, Any]) -> dict[str, Any]:
        effort = wishes["effort"]
        room = THINKING_ROOM if effort in ("minimal", "low") else 0
        arguments: dict[str, Any] = {"model": self.model, wishes["limit"]: prompt.max_tokens + room}
        if effort is not _NOT_SENT:
            arguments["reasoning_effort"] = effort
        if wishes["temperature"]:
            arguments["temperature"] = prompt.temperature
        content: Any = f"{prompt.shared}\n\n{prompt.text}" if prompt.shared else prompt.text
        if wishes["cache"] and prompt.shared:
            # Left to itself, the newest models' cache ends with the last message, which is never the same twice.
            content = [
                {"type": "text", "text": prompt.shared, "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "text", "text": prompt.text},
            ]
            arguments["extra_body"] = {
                "prompt_cache_options": {"mode": "explicit"},
                "prompt_cache_key": hashlib.sha256(prompt.shared.encode()).hexdigest()[:32],
            }
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if prompt.system:
            messages.insert(0, {"role": "system", "content": prompt.system})
        return {**arguments, "messages": messages}

    def _send(self, client: Any, arguments: dict[str, Any]) -> Any:
        return client.chat.completions.create(**arguments)

    def _read(self, answer: Any) -> Completion:
        choice = answer.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise PromptError(f"{self._where} declined to answer.")
        text = _THOUGHTS.sub("", choice.message.content or "").strip()
        if not text or text.startswith("<think>"):
            raise PromptError(f"{self._where} gave no text ({choice.finish_reason}).")
        usage = answer.usage
        if usage is None:
            return Completion(text)
        details = usage.prompt_tokens_details
        cached = getattr(details, "cached_tokens", 0) or 0
        written = getattr(details, "cache_write_tokens", 0) or 0
        return Completion(text, usage.prompt_tokens, usage.completion_tokens, cached, written)

    @property
    def _where(self) -> str:
        return self.base_url or "OpenAI"


class AzureModel(OpenAIModel):
    """A deployment at Azure: ``base_url`` or ``AZURE_OPENAI_ENDPOINT`` is its endpoint."""

    scheme = "azure"
    key_variable = "AZURE_OPENAI_API_KEY (and AZURE_OPENAI_ENDPOINT)"

    def __init__(
        self, model: str, base_url: str | None = None, api_key: str | None = None, **options: Any
    ) -> None:
        self._version = str(
            options.pop("api_version", "") or os.environ.get("OPENAI_API_VERSION") or AZURE_VERSION
        )
        super().__init__(model, base_url, api_key, **{"official": True, **options})

    def _make_client(self, sdk: Any) -> Any:
        endpoint = {"azure_endpoint": self.base_url} if self.base_url else {}
        key = self._api_key or ("none" if self.base_url else None)
        return sdk.AzureOpenAI(
            api_version=self._version, api_key=key, timeout=self._timeout, max_retries=0, **endpoint
        )

    @property
    def _where(self) -> str:
        return self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT") or "Azure"


class OllamaModel(OpenAIModel):
    """A model of the Ollama server at ``base_url``, at ``OLLAMA_HOST``, or on this machine."""

    scheme = "ollama"
    key_variable = "OLLAMA_HOST"

    def __init__(
        self, model: str, base_url: str | None = None, api_key: str | None = None, **options: Any
    ) -> None:
        super().__init__(model, ollama_url(base_url), api_key, **options)


def ollama_url(address: str | None = None) -> str:
    """Return where Ollama speaks this protocol: at an address, at that of the environment, or on this machine."""
    if address:
        # People write only the server's address.
        base = address.rstrip("/")
        return base if base.endswith("/v1") else f"{base}/v1"
    host = os.environ.get("OLLAMA_HOST", "").strip() or "localhost"
    address = host if "://" in host else f"http://{host}"
    scheme, _, rest = address.rstrip("/").partition("://")
    # The server's own form of "every address" is none that can be called.
    rest = rest.replace("0.0.0.0", "localhost")
    port = "" if ":" in rest or scheme == "https" else f":{_OLLAMA_PORT}"
    return f"{scheme}://{rest}{port}/v1"
