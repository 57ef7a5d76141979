"""Contexts by a language model: for each chunk, a sentence or two that says where in its document it stands.

The recipe is contextual retrieval: the model is shown the whole document, which the service caches, and one chunk
after the other. What it writes takes the place of the structural context, in what is embedded and in what keyword
search sees. It costs money and sends documents to a service, so it is off unless a model is configured.
"""

from pinakes.ingest.llm_context.estimate import estimate_contexts
from pinakes.ingest.llm_context.stage import ContextStage

__all__ = ["ContextStage", "estimate_contexts"]
