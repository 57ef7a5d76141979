"""``loccit index`` with a language model, as somebody at a terminal sees it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm.services import KEY, RefusedError, Service
from typer.testing import CliRunner

from loccit.cli.app import app

Run = Callable[..., Any]
MODEL = "anthropic:claude-haiku-4-5"


@pytest.fixture
def run() -> Run:
    runner = CliRunner()
    return lambda *args: runner.invoke(app, list(args))


@pytest.fixture
def folder(tmp_path: Path, messages: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("one", "two"):
        text = f"# {name}\n\nThe document {name}.\n\n## Part\n\nMore about {name}.\n"
        (tmp_path / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages.address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("LOCCIT_INDEX", raising=False)
    # Lines are compared whole.
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_estimate_sends_nothing_and_changes_no_setting(folder: Path, run: Run, messages: Service) -> None:
    shown = run("index", "docs", "--context-model", MODEL, "--estimate", "--quiet")
    assert shown.exit_code == 0
    assert "4 chunks of 2 documents need a context." in shown.stdout
    assert f"{MODEL}: 4 prompts" in shown.stdout
    assert "less than $0.01" in shown.stdout
    assert "Nothing was sent." in shown.stdout
    estimate = json.loads(run("index", "--context-model", MODEL, "--estimate", "--json").stdout)
    assert (estimate["calls"], estimate["output_tokens"]) == (4, 400)
    assert f"{estimate['input_tokens']:,} tokens in" in shown.stdout
    assert messages.requests == []

    after = json.loads(run("index", "--json").stdout)
    assert (after["context_calls"], messages.requests) == (0, [])

    report = json.loads(run("index", "--context-model", MODEL, "--json").stdout)
    assert report["context_calls"] == estimate["calls"]
    assert report["context_input_tokens"] == estimate["input_tokens"]
    again = run("index", "--estimate", "--quiet")
    assert f"Every chunk has its context from {MODEL}." in again.stdout


def test_what_a_run_took_is_printed(folder: Path, run: Run) -> None:
    first = run("index", "docs", "--context-model", MODEL, "--context-tokens", "50", "--quiet")
    assert first.exit_code == 0, first.stderr
    line = next(line for line in first.stdout.splitlines() if "prompts" in line)
    assert line.startswith("  4 contexts · 4 prompts · ")
    assert "% from the cache)" in line
    assert line.endswith("less than $0.01")
    settings = json.loads(run("status", "--json").stdout)["settings"]["index"]
    assert (settings["context_model"], settings["context_max_tokens"]) == (MODEL, 50)
    assert "prompt" not in run("index", "--quiet").stdout


def test_none_turns_it_off(folder: Path, run: Run, messages: Service) -> None:
    run("index", "docs", "--context-model", MODEL, "--quiet")
    report = json.loads(run("index", "--context-model", "none", "--json").stdout)
    assert (report["unchanged"], report["embedded"]) == (2, 4)
    (folder / "docs" / "three.md").write_text("# Three\n\nNew.\n", encoding="utf-8")
    run("index", "--quiet")
    assert len(messages.requests) == 4


def test_a_model_that_is_down_is_a_warning(folder: Path, run: Run, messages: Service) -> None:
    messages.always = RefusedError(401, "no")
    result = run("index", "docs", "--context-model", MODEL, "--quiet")
    assert result.exit_code == 0
    assert "2 added" in result.stdout
    assert f"warning: 4 chunk(s) have no context from {MODEL} yet" in " ".join(result.stdout.split())
    assert len(messages.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--context-model", "claude"], 2, "Unknown language model 'claude'"),
        (["--context-model", MODEL, "--context-tokens", "5"], 2, "between 50 and 200"),
        (["--estimate"], 2, "--context-model"),
    ],
)
def test_wrong_usage(folder: Path, run: Run, arguments: list[str], code: int, says: str) -> None:
    result = run("index", "docs", *arguments, "--quiet")
    assert result.exit_code == code
    assert says in " ".join(result.stderr.split())
    assert not (folder / ".loccit").exists()


def test_a_missing_package_is_said_before_anything_is_done(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    result = run("index", "docs", "--context-model", MODEL)
    assert result.exit_code == 1
    assert "loccit[anthropic]" in result.stderr
    assert not (folder / ".loccit").exists()
