"""What can go wrong between a question and its answer, in words that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.llm.protocol import ModelError

if TYPE_CHECKING:
    from pinakes.chat.models import ChatModel

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
