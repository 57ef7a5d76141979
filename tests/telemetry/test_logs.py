"""Logs: one JSON object a line on standard error, and nothing else there."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox
from typer.testing import CliRunner

from loccit.cli.app import app
from loccit.cli.logs import JsonFormatter, LogFormat, LogLevel, _JsonStream, configure

Run = Callable[..., tuple[int, str, list[dict[str, Any]]]]


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("LOCCIT_INDEX", "LOCCIT_LOG_FORMAT", "LOCCIT_LOG_LEVEL", "LOCCIT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    logger = logging.getLogger("loccit")
    handlers, level, stream = list(logger.handlers), logger.level, sys.stderr
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)
    sys.stderr = stream


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command with JSON logs in a folder with documents; returns code, output and the objects of the log."""
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe ship to Zanzibar.\n", encoding="utf-8")
    (tmp_path / "docs" / "b.pdf").write_bytes(b"%PDF-1.7 nothing")

    def start(*args: str) -> tuple[int, str, list[dict[str, Any]]]:
        result = CliRunner().invoke(app, ["--log-format", "json", *args])
        return result.exit_code, result.stdout, [json.loads(line) for line in result.stderr.splitlines()]

    return start


def test_every_line_is_an_object_with_time_level_logger_and_message(run: Run) -> None:
    code, _, lines = run("--log-level", "info", "index", "docs", "--no-embed")
    assert code == 3
    assert lines
    for line in lines:
        assert datetime.fromisoformat(line["time"].replace("Z", "+00:00")).tzinfo is not None
        assert line["level"] in ("debug", "info", "warning", "error")
        assert line["logger"].startswith("loccit")
        assert line["message"]


def test_runs_and_searches_are_logged_with_fields_but_not_with_what_was_asked(run: Run) -> None:
    _, _, lines = run("--log-level", "info", "index", "docs", "--no-embed")
    (indexed,) = [line for line in lines if line["message"] == "index"]
    assert indexed["fields"]["loccit.index.added"] == 1
    assert indexed["fields"]["loccit.index.failed"] == 1
    _, _, lines = run("--log-level", "info", "search", "Zanzibar", "--mode", "keyword")
    (searched,) = [line for line in lines if line["message"] == "search"]
    assert searched["fields"]["loccit.search.results"] == 1
    assert searched["fields"]["milliseconds"] > 0
    assert "Zanzibar" not in json.dumps(lines)


def test_errors_are_objects_too_and_output_is_as_ever(run: Run) -> None:
    code, out, lines = run("search", "ship", "--json")
    assert code == 1
    assert json.loads(out)["error"]["type"] == "IndexNotFoundError"
    assert [line["level"] for line in lines] == ["error"]
    assert lines[0]["message"].startswith("There is no index here")


def test_a_traceback_is_one_object(run: Run) -> None:
    _, _, lines = run("--debug", "search", "ship")
    (trace,) = [line for line in lines if "Traceback" in line["message"]]
    assert "IndexNotFoundError" in trace["message"]
    assert trace["message"].count("\n") > 3


def test_by_default_only_warnings_are_shown(run: Run) -> None:
    run("index", "docs", "--no-embed", "--quiet")
    _, _, lines = run("search", "ship", "--mode", "keyword")
    assert lines == []


def test_in_plain_text_levels_show_fields_too(run: Run) -> None:
    run("index", "docs", "--no-embed", "--quiet")
    result = CliRunner().invoke(app, ["--log-level", "info", "search", "ship", "--mode", "keyword"])
    assert "info: search " in result.stderr
    assert "loccit.search.mode=keyword" in result.stderr
    result = CliRunner().invoke(app, ["search", "ship", "--mode", "keyword"])
    assert "info:" not in result.stderr


def test_the_environment_may_say_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCCIT_LOG_FORMAT", "json")
    result = CliRunner().invoke(app, ["status"])
    assert json.loads(result.stderr)["level"] == "error"


def test_an_unknown_format_is_refused() -> None:
    result = CliRunner().invoke(app, ["--log-format", "xml", "status"])
    assert result.exit_code == 2
    assert "'xml' is not one of 'text', 'json'" in result.stderr


# -- records ---------------------------------------------------------------------------------------------------


def record(message: str, *args: object, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord("loccit.test", logging.WARNING, __file__, 1, message, args, None)
    vars(made).update(extra)
    return made


def test_fields_are_whatever_a_caller_adds() -> None:
    line = json.loads(JsonFormatter().format(record("%d of %d", 1, 2, document="a.md", fields={"pages": 3})))
    assert line["message"] == "1 of 2"
    assert line["fields"] == {"document": "a.md", "pages": 3}


def test_a_record_is_one_line_that_no_terminal_obeys() -> None:
    text = JsonFormatter().format(record("two\nlines \x1b]0;owned\x07 \u202e \ud800", value=object()))
    assert text.isascii() and text.isprintable()
    assert json.loads(text)["message"].startswith("two\nlines \x1b]0;owned")


def test_an_error_comes_with_its_traceback() -> None:
    made = record("It failed")
    try:
        raise ValueError("bad")
    except ValueError:
        made.exc_info = sys.exc_info()
    assert "ValueError: bad" in json.loads(JsonFormatter().format(made))["exception"]


def test_lines_and_spans_find_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    tracer = sdk.TracerProvider().get_tracer("test")
    with tracer.start_as_current_span("request") as span:
        line = json.loads(JsonFormatter().format(record("now")))
    assert int(line["trace_id"], 16) == span.get_span_context().trace_id
    assert int(line["span_id"], 16) == span.get_span_context().span_id
    assert "trace_id" not in json.loads(JsonFormatter().format(record("later")))


def test_what_is_printed_becomes_objects() -> None:
    target = io.StringIO()
    stream = _JsonStream(target)
    print("Reading: 3 of 7 files", file=stream)
    print("warning: it is late", file=stream)
    print("two\nlines", file=stream)
    print("\n", file=stream)
    stream.write("half a line")
    stream.flush()
    said = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [(line["level"], line["message"]) for line in said] == [
        ("info", "Reading: 3 of 7 files"),
        ("warning", "it is late"),
        ("info", "two\nlines"),
        ("info", "half a line"),
    ]


def test_configuring_twice_leaves_one_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for _ in range(2):
        configure(LogFormat.json, LogLevel.info)
        configure(LogFormat.text, LogLevel.debug)
    logger = logging.getLogger("loccit")
    assert (len(logger.handlers), logger.level) == (1, logging.DEBUG)
    configure(LogFormat.text, None)
    assert (len(logger.handlers), logger.level) == (1, logging.WARNING)
