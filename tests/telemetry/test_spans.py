"""Spans: made by the real OpenTelemetry SDK, one for each stage, without what was asked or read."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library, SearchSettings, Settings, telemetry
from loccit.errors import LoccitError, UsageError

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")

SECRET = "Zanzibar"


class Spans:
    """What was collected; ``take`` returns and forgets it."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter

    def take(self) -> list[Any]:
        spans = list(self._exporter.get_finished_spans())
        self._exporter.clear()
        return spans


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    """A provider as an application would configure it, taken away again: the API allows one for a process."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.delenv(telemetry.CONTENT_VARIABLE, raising=False)
    yield Spans(exporter)
    provider.shutdown()


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "travel.md").write_text(f"# Travel\n\nThe ship to {SECRET} leaves at noon.\n", encoding="utf-8")
    (folder / f"{SECRET}.pdf").write_bytes(f"%PDF-1.7 {SECRET}".encode())
    with Library(tmp_path / "shelf" / ".loccit", embedder=WordEmbedder()) as library:
        yield library


def indexed(library: Library) -> Library:
    library.index(library.path.parents[1] / "docs", workers=1)
    return library


def named(found: list[Any], name: str) -> Any:
    (span,) = [span for span in found if span.name == name]
    return span


def everything_in(found: list[Any]) -> str:
    return "\n".join(span.to_json() for span in found)


# -- search ----------------------------------------------------------------------------------------------------


def test_a_search_is_one_span_with_its_stages_below(library: Library, spans: Spans) -> None:
    indexed(library)
    spans.take()
    response = library.search(f"ship to {SECRET}", top_k=3)
    found = spans.take()
    root = named(found, "search")
    assert root.parent is None
    stages = [span for span in found if span is not root]
    assert all(span.parent.span_id == root.context.span_id for span in stages)
    timed = [name for name in response.timings_ms if name != "total"]
    assert [span.name for span in stages] == timed
    assert {"understand", "exact", "keyword", "semantic", "rank", "refine", "enrich", "respond"} <= set(timed)


def test_a_search_has_the_attributes_of_a_retrieval(library: Library, spans: Spans) -> None:
    indexed(library)
    spans.take()
    response = library.search("ship", top_k=3)
    found = spans.take()
    assert dict(named(found, "search").attributes) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "shelf/.loccit",
        "gen_ai.retrieval.top_k": 3,
        "gen_ai.request.model": "words",
        "loccit.search.mode": "hybrid",
        "loccit.search.results": len(response.results),
        "loccit.search.confidence": response.confidence,
        "loccit.search.truncated": False,
    }
    assert dict(named(found, "embed").attributes) == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "loccit",
        "gen_ai.request.model": "words",
        "gen_ai.embeddings.dimension.count": 32,
    }
    library.search("ship", mode="keyword")
    assert "gen_ai.request.model" not in named(spans.take(), "search").attributes


def test_spans_hang_below_those_of_the_application(library: Library, spans: Spans) -> None:
    indexed(library)
    spans.take()
    tracer = trace.get_tracer("application")
    with tracer.start_as_current_span("request"):
        asyncio.run(library.asearch("ship"))
    found = spans.take()
    assert named(found, "search").parent.span_id == named(found, "request").context.span_id


def test_a_failing_search_marks_its_span(library: Library, spans: Spans) -> None:
    indexed(library)
    spans.take()
    with pytest.raises(UsageError):
        library.search("ship", filters={"after": SECRET})
    found = spans.take()
    for name in ("understand", "search"):
        assert named(found, name).status.status_code.name == "ERROR"
        assert named(found, name).attributes["error.type"] == "UsageError"
    assert SECRET not in everything_in(found)


# -- ingest ----------------------------------------------------------------------------------------------------


def test_a_run_of_the_index_is_one_span_with_its_stages_below(library: Library, spans: Spans) -> None:
    indexed(library)
    found = spans.take()
    root = named(found, "index")
    names = {span.context.span_id: span.name for span in found}
    below = {(names[span.parent.span_id], span.name) for span in found if span.parent}
    assert {("index", "scan"), ("index", "read"), ("index", "embed"), ("index", "vectors")} <= below
    assert ("read", "store") in below
    assert root.attributes["loccit.index.added"] == 1
    assert root.attributes["loccit.index.failed"] == 1
    assert root.attributes["loccit.index.embedded"] > 0
    embedded = next(span for span in found if span.name == "embed")
    assert embedded.attributes["gen_ai.request.model"] == "words"


def test_each_document_is_a_span(library: Library, spans: Spans) -> None:
    indexed(library)
    stored = {span.attributes["loccit.document.type"]: span for span in spans.take() if span.name == "store"}
    assert stored[".md"].attributes["loccit.document.chunks"] == 1
    assert stored[".md"].status.status_code.name == "UNSET"
    assert stored[".pdf"].attributes["error.type"] == "failed"
    assert stored[".pdf"].status.status_code.name == "ERROR"


def test_a_failing_model_marks_the_run(library: Library, spans: Spans) -> None:
    def refuse() -> None:
        raise LoccitError(f"no vectors for {SECRET}")

    library._models._embedder = WordEmbedder(before=refuse)
    with pytest.raises(LoccitError):
        indexed(library)
    found = spans.take()
    assert named(found, "embed").attributes["error.type"] == "LoccitError"
    assert named(found, "index").status.status_code.name == "ERROR"
    assert SECRET not in everything_in(found)


# -- content ---------------------------------------------------------------------------------------------------


def test_nothing_that_was_asked_or_read_is_in_a_span(library: Library, spans: Spans) -> None:
    indexed(library)
    library.search(f"ship to {SECRET}")
    assert SECRET not in everything_in(spans.take())


def test_content_can_be_allowed(library: Library, spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(telemetry.CONTENT_VARIABLE, "1")
    indexed(library)
    found = spans.take()
    paths = [span.attributes["loccit.document.path"] for span in found if span.name == "store"]
    assert any(path.endswith("travel.md") for path in paths)
    response = library.search(f"ship to {SECRET}")
    root = named(spans.take(), "search")
    assert root.attributes["gen_ai.retrieval.query.text"] == f"ship to {SECRET}"
    assert json.loads(root.attributes["gen_ai.retrieval.documents"]) == [
        {"id": result.chunk_id, "score": result.fused_score} for result in response.results
    ]


def test_the_program_may_decide_about_content(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(telemetry.CONTENT_VARIABLE, "1")
    try:
        telemetry.capture_content(False)
        assert not telemetry.captures_content()
        telemetry.capture_content(None)
        assert telemetry.captures_content()
    finally:
        telemetry.capture_content(None)


def test_a_call_of_a_tool(spans: Spans) -> None:
    with telemetry.tool_span("search_regulations"):
        pass
    (span,) = spans.take()
    assert span.name == "execute_tool search_regulations"
    assert span.attributes["gen_ai.operation.name"] == "execute_tool"
    assert span.attributes["gen_ai.tool.name"] == "search_regulations"


# -- off -------------------------------------------------------------------------------------------------------


def test_the_loaded_but_unconfigured_package_makes_no_spans(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.delenv("OTEL_PYTHON_TRACER_PROVIDER", raising=False)
    assert telemetry.span("rank") is telemetry.span("embed")
    assert telemetry.span("rank") is telemetry.tool_span("x")
    indexed(library).search("ship")


def test_answers_are_the_same_with_and_without(library: Library, spans: Spans) -> None:
    traced = indexed(library).search("ship").results
    spans.take()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "_TRACER_PROVIDER", None)
        plain = library.search("ship").results
    assert (traced, spans.take()) == (plain, [])


def test_a_provider_configured_later_is_found(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = trace._TRACER_PROVIDER
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "_TRACER_PROVIDER", None)
        with telemetry.span("rank"):
            pass
    assert trace._TRACER_PROVIDER is provider
    with telemetry.span("refine"):
        pass
    assert [span.name for span in spans.take()] == ["refine"]


PROGRAM = """
import sys
from pathlib import Path
from loccit import Library
Path("docs").mkdir()
Path("docs/a.md").write_text("# A\\n\\nA ship.\\n")
with Library(".loccit") as library:
    library.index("docs", workers=1)
    assert library.search("ship").results
print([name for name in sys.modules if name.partition(".")[0] == "opentelemetry"])
"""


def test_without_a_provider_the_package_is_not_even_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_settings_of_a_search_are_taken_from_the_call(library: Library, spans: Spans) -> None:
    indexed(library)
    spans.take()
    library.settings = Settings(search=SearchSettings(search_mode="keyword", top_k=7))
    library.search("ship")
    root = named(spans.take(), "search")
    assert (root.attributes["loccit.search.mode"], root.attributes["gen_ai.retrieval.top_k"]) == (
        "keyword",
        7,
    )
