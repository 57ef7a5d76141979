"""Distributed: many workers, on one machine or on several, read documents into one database at the same time.

Work is split by document. The tasks lie in the database itself (``leases``), each worker claims some for a while and
renews its claim as long as it lives (``worker``), and whoever asked for the run waits for the outcome (``pipeline``).
A worker may be killed at any moment: what it had claimed is claimed by another, and publishing the same document
twice is publishing it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pinakes.errors import UsageError
from pinakes.ingest.pipeline import Pipeline

if TYPE_CHECKING:
    from pinakes.ingest.pipeline import Pipeline
    from pinakes.stores.embedded.local import LocalIndex


def distributed_pipeline(runner: str) -> Callable[..., Pipeline]:
    """Return what makes a pipeline whose work is done by workers of a runner."""
    from pinakes.ingest.distributed import runners
    from pinakes.ingest.distributed.pipeline import DistributedPipeline

    def make(*arguments: Any, **options: Any) -> Pipeline:
        return DistributedPipeline(*arguments, runner=runners.load_runner(runner), **options)

    return make


def choose_pipeline(
    index: LocalIndex, workers: int | None, runner: str, *, own_model: bool, embed: bool
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
