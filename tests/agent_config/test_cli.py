"""``loccit config check``, ``loccit config schema`` and ``loccit config settings``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from loccit.agent import agent_schema
from loccit.cli.app import GuardedGroup
from loccit.cli.config import config
from loccit.config.settings import IndexSettings, SearchSettings, describe

from .conftest import Write

app = typer.Typer(cls=GuardedGroup)
app.add_typer(config, name="config")

GOOD = """\
name: clerk
model: {provider: openai, name: gpt-5, api_key: sk-hidden}
tools:
  - name: statutes
    description: Search the statutes.
    source: docs
  - {name: files, type: mcp, command: npx}
"""


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["config", *map(str, words)], prog_name="loccit")


def test_a_good_file_is_summed_up(write: Write, tmp_path: Path) -> None:
    result = run("check", write(GOOD))
    assert result.exit_code == 0
    assert "is valid." in result.stdout
    assert "agent clerk · model openai:gpt-5" in result.stdout
    assert f"tool statutes · hierarchical_document · {tmp_path / 'docs'}" in result.stdout
    assert "tool files · mcp · not run by Loccit" in result.stdout
    assert "sk-hidden" not in result.output


def test_faults_and_warnings_go_to_standard_error_and_the_code_is_2(write: Write) -> None:
    path = write(GOOD.replace("source: docs", "source: nowhere\n    semantic_weight: 0.9\n    topk: 3"))
    result = run("check", path)
    assert result.exit_code == 2
    assert f"error: {path}:6: tools[0].source: there is no file or folder 'nowhere'" in result.stderr
    assert f"error: {path}:8: tools[0].topk: unknown field (did you mean 'top_k'?)" in result.stderr
    assert f"warning: {path}:7: tools[0].semantic_weight: the three weights add up to 1.4" in result.stderr
    assert "cannot be used: 2 errors." in result.stdout


def test_json_is_one_document(write: Write, tmp_path: Path) -> None:
    result = run("check", write(GOOD), "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert answer["ok"] is True
    assert answer["agent"] == {
        "name": "clerk",
        "model": "openai:gpt-5",
        "tools": [
            {"name": "statutes", "type": "hierarchical_document", "source": str(tmp_path / "docs")},
            {"name": "files", "type": "mcp"},
        ],
    }
    result = run("check", write("name: [\n"), "--json")
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert (answer["ok"], answer["agent"], len(answer["faults"])) == (False, None, 1)
    assert set(answer["faults"][0]) == {"file", "line", "field", "message"}
    assert not result.stderr


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    result = run("check", tmp_path / "gone.yaml")
    assert result.exit_code == 2
    assert "gone.yaml: there is no such file" in result.stderr


def test_the_schema_is_printed_or_written(tmp_path: Path) -> None:
    assert json.loads(run("schema").stdout) == agent_schema()
    assert json.loads(run("schema", "--json").stdout) == agent_schema()
    target = tmp_path / "agent.schema.json"
    result = run("schema", "--output", target)
    assert result.exit_code == 0
    assert json.loads(target.read_text(encoding="utf-8")) == agent_schema()
    assert json.loads(run("schema", "--json", "-o", target).stdout) == {"written": str(target)}


def test_every_setting_is_listed() -> None:
    listed = json.loads(run("settings", "--json").stdout)
    assert listed["index"].keys() == describe(IndexSettings).keys()
    assert listed["search"]["top_k"] == {
        "default": 10,
        "range": "1 to 100",
        "help": "How many results a search returns.",
    }
    shown = " ".join(run("settings").stdout.split())
    for known in (*describe(IndexSettings).values(), *describe(SearchSettings).values()):
        assert f"{known.name} {known.said()}" in shown


def test_a_schema_that_cannot_be_written(tmp_path: Path) -> None:
    result = run("schema", "--output", tmp_path / "no/such/folder.json")
    assert result.exit_code == 1
    assert "Cannot write" in result.stderr


@pytest.mark.parametrize(
    "words", [("--help",), ("check", "--help"), ("schema", "--help"), ("settings", "--help")]
)
def test_help(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 0
