from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_words_need_no_quotes_and_results_say_where_they_stand(here: Path, run: Run) -> None:
    result = run("search", "who", "must", "report", "a", "collision")
    assert result.exit_code == 0
    assert "Harbour Act › CHAPTER 2 — Emergencies › Section 21. Duty to report occurrences" in result.stdout
    assert "docs/act.md, lines 13–" in result.stdout
    assert "report a collision to the Harbour Master" in result.stdout


def test_the_passage_is_shown_without_markdown(here: Path, run: Run) -> None:
    result = run("search", "appoint harbour master", "-k", "1")
    assert "shall appoint a Harbour Master for each" in result.stdout
    assert "**" not in result.stdout
    full = run("search", "appoint harbour master", "-k", "1", "--full")
    assert "**Harbour Master**" in full.stdout


def test_json_is_one_document_and_nothing_else(spawn: Run) -> None:
    done = spawn("search", "collision", "--json", "-k", "2")
    response = json.loads(done.stdout)
    assert done.returncode == 0
    assert done.stderr == ""
    assert response["query"] == "collision"
    assert response["results"][0]["section_label"] == "Section 21"
    assert len(response["results"]) <= 2


def test_query_from_standard_input(here: Path, run: Run) -> None:
    result = run("search", "-", "--json", input="gale warning\n")
    assert json.loads(result.stdout)["query"] == "gale warning"


def test_words_after_two_dashes_are_words(here: Path, run: Run) -> None:
    result = run("search", "--json", "-m", "keyword", "--", "--json", "collision")
    assert json.loads(result.stdout)["query"] == "--json collision"


def test_nothing_found_is_exit_code_4(here: Path, run: Run) -> None:
    result = run("search", "qwxyzzy", "--mode", "keyword")
    assert result.exit_code == 4
    assert result.stdout == ""
    assert "No match" in result.stderr
    as_json = run("search", "qwxyzzy", "--mode", "keyword", "--json")
    assert as_json.exit_code == 4
    assert json.loads(as_json.stdout)["results"] == []


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--filter", "tags=runbook"], {"note.md"}),
        (["--filter", "tags=nothing", "--filter", "tags=queue"], {"note.md"}),
        (["--path", "docs/act.md"], {"act.md"}),
        (["--type", "md", "--before", "2025-06-01"], {"note.md"}),
        (["--type", "pdf"], set()),
    ],
)
def test_filters(here: Path, run: Run, options: list[str], found: set[str]) -> None:
    result = run("search", "harbour queue", "--json", *options)
    paths = {Path(entry["source_path"]).name for entry in json.loads(result.stdout)["results"]}
    assert paths == found
    assert result.exit_code == (0 if found else 4)


def test_formats(here: Path, run: Run) -> None:
    markdown = run("search", "collision", "-k", "1", "--format", "markdown").stdout
    assert markdown.startswith("# collision\n")
    assert "\n> " in markdown
    llm = run("search", "collision", "-k", "1", "--format", "llm").stdout
    assert "Location: Harbour Act > CHAPTER 2" in llm
    paths = run("search", "collision", "-m", "keyword", "--format", "paths").stdout
    assert paths.splitlines() == ["docs/act.md"]


def test_explain_shows_legs_and_timings(here: Path, run: Run) -> None:
    result = run("search", "Section 21", "--explain")
    for word in ("How it was found", "keyword", "semantic", "weight", "total", "references: Section 21"):
        assert word in result.stdout


def test_a_named_section_is_read_from_its_beginning(here: Path, run: Run) -> None:
    result = run("search", "Section 21", "-k", "1")
    assert "| (a) The master of a vessel" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x", "--top-k", "0"], "between 1 and 100"),
        (["x", "--mode", "magic"], "hybrid, semantic, keyword, exact"),
        (["x", "--filter", "tags"], "KEY=VALUE"),
        (["x", "--after", "soon"], "not a date"),
        (["x", "--min-score", "7"], "min_score"),
        (["x", "--token-budget", "0"], "token_budget"),
        (["x", "--format", "xml"], "markdown"),
        (["x", "--top-k", "many"], "--top-k"),
        (["x", "--unknown"], "--unknown"),
        ([""], "empty"),
        ([" \x00\x1b "], "empty"),
        ([], "QUERY"),
        (["word " * 200_000], "characters"),
    ],
)
def test_wrong_usage_is_exit_code_2(here: Path, run: Run, arguments: list[str], says: str) -> None:
    result = run("search", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert says in result.stderr
    assert len(result.stderr) < 1000
