"""Choosing what runs over the files: this process, or workers that share a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pinakes.errors import UsageError
from pinakes.ingest.pipeline import Pipeline

if TYPE_CHECKING:
    from pinakes.stores.embedded.index import EmbeddedIndex


def choose_pipeline(
    index: EmbeddedIndex, workers: int | None, runner: str, *, own_model: bool, embed: bool
) -> Callable[..., Pipeline]:
    """Return what makes the pipeline. ``own_model`` says that the caller gave an embedding model as an object."""
    if not index.shared:
        if runner:
            raise UsageError(
                "A runner needs a database that several processes can write to at once; docs/stores.md says which can."
            )
        return Pipeline
    if not runner and ((workers or 1) < 2 or own_model or not embed):
        return Pipeline
    if own_model or not embed:
        raise UsageError(
            "Workers load the embedding model by its name; they cannot do without, nor be given one."
        )
    from pinakes.ingest.distributed import distributed_pipeline

    return distributed_pipeline(runner or "local")
