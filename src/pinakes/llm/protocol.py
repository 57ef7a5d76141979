"""What a language model must offer to be used by Pinakes: one prompt in, one text out, and what that cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pinakes.errors import PinakesError


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


class ModelError(PinakesError):
    """A model gave no usable answer. ``lasting``: nor will it to any other prompt (a wrong key, no such model)."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


class PromptError(ModelError):
    """A model would not answer this prompt: too long, declined. Another prompt may fare better."""
