"""Claude, through Anthropic's Messages API."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from loccit.models.llm import Completion, Prompt, PromptError
from loccit.models.llm.service import THINKING_ROOM, Service, Wishes

_ALWAYS_THINKS = "always"
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"


class AnthropicModel(Service):
    """A Claude model.

    Without ``api_key`` the SDK reads ``ANTHROPIC_API_KEY`` (and what else it knows), but not where ``base_url`` is
    given: a key for Anthropic must not go to another address. ``ANTHROPIC_BASE_URL`` names an address for both.
    """

    scheme = "anthropic"
    package = "anthropic"
    key_variable = "ANTHROPIC_API_KEY"
    words: ClassVar[dict[str, tuple[str, ...]]] = {"thinking": ("thinking",)}

    def missing_key(self) -> str:
        """Say that there is no key: this SDK notices it only when something is sent."""
        if missing := super().missing_key():
            return missing
        client = self._connect()
        known = client.auth_headers or getattr(client, "credentials", None) or os.environ.get(_HEADERS)
        return "" if known else str(self._no_key())

    def _make_wishes(self) -> Wishes:
        return Wishes(thinking=({"type": "disabled"}, {"type": "between_tools"}, _ALWAYS_THINKS))

    def _make_client(self, sdk: Any) -> Any:
        key = self._api_key or ("none" if self.base_url else None)
        # Attempts are counted in one place, by RetryPolicy.
        return sdk.Anthropic(base_url=self.base_url, api_key=key, timeout=self._timeout, max_retries=0)

    def _arguments(self, prompt: Prompt, wishes: dict[str, Any]) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": prompt.text}]
        if prompt.shared:
            cached = {"type": "text", "text": prompt.shared, "cache_control": {"type": "ephemeral"}}
            blocks.insert(0, cached)
        # No temperature: the API takes none any more.
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": "user", "content": blocks}],
        }
        if prompt.system:
            arguments["system"] = prompt.system
        if wishes["thinking"] == _ALWAYS_THINKS:
            arguments["max_tokens"] += THINKING_ROOM
            arguments["output_config"] = {"effort": "low"}
        else:
            arguments["thinking"] = wishes["thinking"]
        return arguments

    def _send(self, client: Any, arguments: dict[str, Any]) -> Any:
        return client.messages.create(**arguments)

    def _read(self, answer: Any) -> Completion:
        text = "".join(block.text for block in answer.content if block.type == "text").strip()
        if answer.stop_reason == "refusal":
            raise PromptError(f"{self._where} declined to answer.")
        if not text:
            raise PromptError(f"{self._where} gave no text ({answer.stop_reason}).")
        usage = answer.usage
        cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return Completion(text, usage.input_tokens + cached + written, usage.output_tokens, cached, written)

    @property
    def _where(self) -> str:
        return self.base_url or "Anthropic"
