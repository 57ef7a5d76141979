"""Distributed: many workers, on one machine or several, read documents into one database at the same time.

Work is split by document. The tasks are in the database itself (``leases``); each worker leases some for a while and
renews its leases as long as it lives (``worker``), and the process that started the run waits for the results
(``pipeline``). A worker may be killed at any moment: another one takes over its leases, and publishing a document twice
has the same effect as once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loccit.errors import UsageError
from loccit.ingest.pipeline import Pipeline

if TYPE_CHECKING:
    from loccit.index.folder.local import LocalIndex
    from loccit.ingest.pipeline import Pipeline


def distributed_pipeline(runner: str) -> Callable[..., Pipeline]:
    """Return a factory for a pipeline whose work is done by a runner's workers."""
    from loccit.ingest.distributed import runners
    from loccit.ingest.distributed.pipeline import DistributedPipeline

    def make(*arguments: Any, **options: Any) -> Pipeline:
        return DistributedPipeline(*arguments, runner=runners.load_runner(runner), **options)

    return make


def choose_pipeline(
    index: LocalIndex, workers: int | None, runner: str, *, own_model: bool, embed: bool
) -> Callable[..., Pipeline]:
    """Return a factory for the pipeline. ``own_model``: the caller passed an embedding model as an object."""
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
            "Workers load the embedding model by name: embed=False and model objects cannot be combined with a runner."
        )
    from loccit.ingest.distributed import distributed_pipeline

    return distributed_pipeline(runner or "local")
