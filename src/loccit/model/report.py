"""What an indexing run did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be indexed, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class IndexReport:
    """Counts of one run of ``Library.index``; lists hold paths. ``skipped`` counts files in folders by extension.

    ``contexts`` counts chunks that were given a context by a language model, ``context_failures`` those that wait for
    one, and ``context_calls`` the prompts that were answered. Of the input tokens, some were read from the service's
    cache, others written to it. ``context_dollars`` is None when the price is not known.
    """

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    chunks: int = 0
    embedded: int = 0
    contexts: int = 0
    context_calls: int = 0
    context_input_tokens: int = 0
    context_output_tokens: int = 0
    context_cached_tokens: int = 0
    context_cache_write_tokens: int = 0
    context_failures: int = 0
    context_dollars: float | None = None
    seconds: float = 0.0
    stage_seconds: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class MoveReport:
    """What ``Library.migrate`` did: from where to where, how much is there now, and how much had to be copied.

    ``dropped`` says whether what was in the old place was deleted.
    """

    source: str
    target: str
    documents: int = 0
    passages: int = 0
    copied: int = 0
    dropped: bool = False
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


@dataclass(slots=True)
class ContextEstimate:
    """What contexts by a language model would take: chunks that want one, prompts to send, and their tokens.

    Tokens are counted as the embedding model counts them. ``output_tokens`` is the most that may come back;
    ``dollars`` is None when the price is not known.
    """

    model: str
    documents: int = 0
    chunks: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a running job, for a progress bar: ``stage`` is ``scan``, ``read``, ``context`` or ``embed``."""

    stage: str
    done: int
    total: int
    item: str = ""
