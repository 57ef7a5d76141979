"""Telemetry: spans for the stages of both flows, where the program that uses Loccit collects them.

Nothing is sent anywhere from here. Spans are made when the application has loaded OpenTelemetry and configured a
tracer provider; otherwise this costs a look into a dictionary and imports nothing. Names follow the GenAI semantic
conventions where those have one. Queries, documents and their paths appear only when ``capture_content`` allows it:
see docs/observability.md.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from loccit.version import __version__

if TYPE_CHECKING:
    from loccit.model import IndexReport, SearchResponse

P = ParamSpec("P")
R = TypeVar("R")

logger: logging.Logger = logging.getLogger("loccit.telemetry")

CONTENT_VARIABLE = "LOCCIT_TRACE_CONTENT"
_API = "opentelemetry.trace"
_OFF: AbstractContextManager[Any] = nullcontext()
_ON = ("1", "true", "yes", "on")

# The provider that was seen last, with the tracer it gave.
_known: tuple[Any, Any] = (None, None)
_content: bool | None = None
# The embedding model of the flow that is running, for the spans of its stages.
_model: ContextVar[tuple[str, int]] = ContextVar("loccit_model", default=("", 0))


def capture_content(allowed: bool | None) -> None:
    """Allow or forbid queries, paths and error messages in spans; None leaves it to ``LOCCIT_TRACE_CONTENT``."""
    global _content
    _content = allowed


def captures_content() -> bool:
    """Whether spans may hold what was asked and what was found."""
    return os.environ.get(CONTENT_VARIABLE, "").lower() in _ON if _content is None else _content


def span(stage: str) -> AbstractContextManager[Any]:
    """Return a span for one stage, below the one that is current; nothing when nobody collects spans."""
    tracer = _tracer()
    if tracer is None:
        return _OFF
    return _open(tracer, stage, _embedding() if stage == "embed" else {})


def tool_span(name: str) -> AbstractContextManager[Any]:
    """Return a span for a call of a tool by a model."""
    tracer = _tracer()
    if tracer is None:
        return _OFF
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "datastore",
    }
    return _open(tracer, f"execute_tool {name}", attributes)


# -- the two flows ---------------------------------------------------------------------------------------------


def traced_search(search: Callable[P, SearchResponse]) -> Callable[P, SearchResponse]:
    """Make ``SearchEngine.search`` one span, the parent of its stages, and one line of the log."""

    @functools.wraps(search)
    def traced(*args: P.args, **kwargs: P.kwargs) -> SearchResponse:
        tracer = _tracer()
        logged = logger.isEnabledFor(logging.INFO)
        if tracer is None and not logged:
            return search(*args, **kwargs)
        given = inspect.signature(search).bind(*args, **kwargs).arguments
        index, settings = given["self"]._index, given["settings"]
        by_meaning = settings.search_mode in ("hybrid", "semantic")
        attributes = {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.data_source.id": _short(index.folder),
            "gen_ai.retrieval.top_k": settings.top_k,
            "loccit.search.mode": settings.search_mode,
            **({"gen_ai.request.model": index.model[0]} if by_meaning and index.model[0] else {}),
            **({"gen_ai.retrieval.query.text": str(given["text"])} if captures_content() else {}),
        }
        with _flow(tracer, "search", attributes, index.model) as current:
            response = search(*args, **kwargs)
            outcome = {
                "loccit.search.results": len(response.results),
                "loccit.search.confidence": response.confidence,
                "loccit.search.truncated": response.truncated,
            }
            _set(current, outcome)
            if current is not None and captures_content():
                found = [{"id": item.chunk_id, "score": item.fused_score} for item in response.results]
                current.set_attribute("gen_ai.retrieval.documents", json.dumps(found))
        if logged:
            fields = {**attributes, **outcome, "milliseconds": response.timings_ms.get("total")}
            logger.info("search", extra=_fields(fields))
        return response

    return traced


def traced_index(run: Callable[P, IndexReport]) -> Callable[P, IndexReport]:
    """Make ``Pipeline.run`` one span, the parent of its stages, and one line of the log."""

    @functools.wraps(run)
    def traced(*args: P.args, **kwargs: P.kwargs) -> IndexReport:
        tracer = _tracer()
        logged = logger.isEnabledFor(logging.INFO)
        if tracer is None and not logged:
            return run(*args, **kwargs)
        pipeline: Any = args[0]
        embedder = pipeline._embedder
        attributes = {"gen_ai.data_source.id": _short(pipeline._index.folder)}
        with _flow(tracer, "index", attributes, (embedder.name, embedder.dimension)) as current:
            report = run(*args, **kwargs)
            outcome = {
                f"loccit.index.{name}": len(value) if isinstance(value, list) else value
                for name in (
                    "added",
                    "updated",
                    "renamed",
                    "removed",
                    "unchanged",
                    "failed",
                    "chunks",
                    "embedded",
                )
                for value in [getattr(report, name)]
            }
            _set(current, outcome)
        if logged:
            logger.info(
                "index",
                extra=_fields({**attributes, **outcome, "milliseconds": round(1000 * report.seconds, 3)}),
            )
        return report

    return traced


def traced_document(store: Callable[P, R]) -> Callable[P, R]:
    """Make ``Pipeline._store``, which takes in what was read from one file, a span."""

    @functools.wraps(store)
    def traced(*args: P.args, **kwargs: P.kwargs) -> R:
        tracer = _tracer()
        if tracer is None:
            return store(*args, **kwargs)
        given = inspect.signature(store).bind(*args, **kwargs).arguments
        file, outcome, report = given["file"], given["outcome"], given["self"].report
        attributes = {
            "loccit.document.type": Path(file.path).suffix.lower(),
            "loccit.document.size": file.size,
            **({"loccit.document.path": file.path} if captures_content() else {}),
        }
        before, failed = report.chunks, len(report.failed)
        with _open(tracer, "store", attributes) as current:
            result = store(*args, **kwargs)
            current.set_attribute("loccit.document.chunks", report.chunks - before)
            if len(report.failed) > failed:
                _failed(
                    current, outcome.kind if outcome.kind != "ok" else "no_text", report.failed[-1].reason
                )
        return result

    return traced


@contextmanager
def _flow(tracer: Any, name: str, attributes: dict[str, Any], model: tuple[str, int]) -> Iterator[Any]:
    """Open the span of a flow, or nothing where only the log wants to know."""
    token = _model.set(model)
    try:
        with _open(tracer, name, attributes) if tracer is not None else _OFF as current:
            yield current
    finally:
        _model.reset(token)


# -- OpenTelemetry ---------------------------------------------------------------------------------------------


def _tracer() -> Any:
    """Return a tracer, or None when the application collects no spans.

    Whoever configured a provider has loaded the package, so there is no need to import it to find out.
    """
    global _known
    api: Any = sys.modules.get(_API)
    current = getattr(api, "get_tracer_provider", None)
    if current is None:
        return None
    provider = current()
    seen, tracer = _known
    if provider is seen:
        return tracer
    # Until one is configured, the package answers with a stand-in.
    stand_in = isinstance(provider, (api.ProxyTracerProvider, api.NoOpTracerProvider))
    tracer = None if stand_in else provider.get_tracer("loccit", __version__)
    _known = (provider, tracer)
    return tracer


@contextmanager
def _open(tracer: Any, name: str, attributes: dict[str, Any]) -> Iterator[Any]:
    # The messages of errors quote what was asked and read, so the package must not record them by itself.
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except BaseException as error:
            _failed(current, type(error).__qualname__, str(error))
            raise


def _failed(current: Any, kind: str, message: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    current.set_attribute("error.type", kind)
    current.set_status(Status(StatusCode.ERROR, message if captures_content() else None))


def _set(current: Any, attributes: dict[str, Any]) -> None:
    if current is not None:
        current.set_attributes(attributes)


def _embedding() -> dict[str, Any]:
    name, dimension = _model.get()
    attributes: dict[str, Any] = {"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "loccit"}
    if name:
        attributes |= {"gen_ai.request.model": name, "gen_ai.embeddings.dimension.count": dimension}
    return attributes


def _short(folder: Path) -> str:
    """Name an index by its folder and the one that is in, without the path to them."""
    return "/".join(folder.parts[-2:])


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    return {"fields": values}
