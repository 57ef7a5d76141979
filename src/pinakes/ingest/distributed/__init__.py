"""Distributed: many workers, on one machine or on several, read documents into one database at the same time.

Work is split by document. The tasks lie in the database itself (``leases``), each worker claims some for a while and
renews its claim as long as it lives (``worker``), and whoever asked for the run waits for the outcome (``pipeline``).
A worker may be killed at any moment: what it had claimed is claimed by another, and publishing the same document
twice is publishing it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.ingest.pipeline import Pipeline


def distributed_pipeline(runner: str) -> Callable[..., Pipeline]:
    """Return what makes a pipeline whose work is done by workers of a runner."""
    from pinakes.ingest.distributed import runners
    from pinakes.ingest.distributed.pipeline import DistributedPipeline

    def make(*arguments: Any, **options: Any) -> Pipeline:
        return DistributedPipeline(*arguments, runner=runners.load_runner(runner), **options)

    return make
