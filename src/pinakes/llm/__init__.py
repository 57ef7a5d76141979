"""Language models: a small protocol, and the services that are spoken to through it."""

from pinakes.llm.protocol import Completion, LanguageModel, ModelError, Prompt, PromptError
from pinakes.llm.registry import load_model

__all__ = ["Completion", "LanguageModel", "ModelError", "Prompt", "PromptError", "load_model"]
