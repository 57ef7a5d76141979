"""A run: one search in progress, to which every stage adds its output."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loccit.config import SearchSettings
from loccit.model import SearchResponse
from loccit.search.rank.signal import Ranked
from loccit.search.retrieve.leg import Retrieved
from loccit.search.select.selector import Chosen
from loccit.search.understand.names import NameIndex
from loccit.search.understand.query import Query
from loccit.search.understand.scope import Scope
from loccit.telemetry import span

if TYPE_CHECKING:
    from loccit.models.rerank import Reranker


@dataclass(slots=True)
class Run:
    """The request, and the output of each stage in a group of fields."""

    text: str
    settings: SearchSettings
    filters: Mapping[str, object] | None
    token_budget: int | None
    offset: int
    explain: bool
    every_occurrence: bool
    reranker: Reranker | None
    trouble: str
    until: str

    query: Query = field(init=False)
    names: NameIndex = field(init=False)
    scope: Scope = field(init=False)
    weights: dict[str, float] = field(init=False)

    found: Retrieved = field(init=False)

    ranked: Ranked = field(init=False)

    chosen: Chosen = field(init=False)

    response: SearchResponse = field(init=False)

    milliseconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a stage or a part of one."""
        start = time.perf_counter()
        with span(name):
            yield
        self.milliseconds[name] = round((time.perf_counter() - start) * 1000, 3)

    def finished(self) -> SearchResponse:
        """Return the response with its timings."""
        self.milliseconds["total"] = round((time.perf_counter() - self.started) * 1000, 3)
        return replace(self.response, timings_ms=self.milliseconds)
