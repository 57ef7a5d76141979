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
    assert "act.md, [" in llm and "], lines " in llm
    paths = run("search", "collision", "-m", "keyword", "--format", "paths").stdout
    assert paths.splitlines() == ["docs/act.md"]


def test_explain_shows_legs_and_timings(here: Path, run: Run) -> None:
    result = run("search", "Section 21", "--explain")
    for word in ("How it was found", "keyword", "semantic", "weight", "total", "references: Section 21"):
        assert word in result.stdout


STAGES = "understand retrieve fuse hierarchy smoothing graph recency rank select".split()


@pytest.mark.parametrize("stage", STAGES)
def test_a_search_can_be_stopped_after_any_stage(here: Path, run: Run, stage: str) -> None:
    result = run("search", "report a collision", "-k", "2", "--until", stage)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"After {stage}\n")
    assert ("semantic" in result.stdout) and ("total" in result.stdout)
    answer = json.loads(run("search", "report a collision", "-k", "2", "--until", stage, "--json").stdout)
    assert answer["results"] == []
    explained = answer["explanation"]
    assert (explained["until"], explained["searched_for"]) == (stage, "report a collision")
    rows = explained.get("table", [])
    assert len(rows) == (0 if stage in ("understand", "retrieve") else 2)
    columns = ["fused", "judged", "smoothed", "linked", "recent"]
    done = STAGES[2:].index(stage) + 1 if rows else 0
    assert all(list(row["stages"])[:5] == columns[:done] for row in rows)
    assert ("hits" in explained) == (stage == "retrieve")
    assert ("confidence" in explained) == (stage == "select")


def test_the_last_stage_is_the_answer(here: Path, run: Run) -> None:
    whole, stopped = (
        run("search", "report a collision", "--json", *more) for more in ([], ["--until", "present"])
    )
    assert found(whole) == found(stopped)
    assert run("search", "zzqx", "-m", "exact", "--until", "select").exit_code == 0


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
        (
            ["x", "--until", "magic"],
            "Unknown stage 'magic'; a search has understand, retrieve, fuse, hierarchy",
        ),
        (["x", "--set", "top_k"], "write name=value"),
        (["x", "--set", "magic=1"], "Unknown setting 'magic'; available: boosts, candidates"),
        (["x", "--set", "mmr_lambda=2"], "mmr_lambda must be between 0 and 1"),
        (["x", "--set", "mmr_enabled=maybe"], "true or false"),
        (["x", "--set", "disabled=magic"], "Unknown stage magic; available: spelling, expansion"),
        (["x", "--reranker", "magic"], "Unknown reranker 'magic'"),
        (["x", "--set", "rerank_enabled=true"], "No reranker is configured"),
        ([""], "empty"),
        ([" \x07\x1b "], "empty"),
        ([" \x00 "], "query must not contain the character NUL"),
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


def found(result: Any) -> list[tuple[str, float]]:
    return [(entry["chunk_id"], entry["fused_score"]) for entry in json.loads(result.stdout)["results"]]


def test_settings_can_be_changed_for_one_query(here: Path, run: Run) -> None:
    query = ("search", "report a collision", "--json")
    assert len(found(run(*query, "--set", "top_k=1"))) == 1
    assert len(found(run(*query, "--set", "top_k=1", "-k", "2"))) == 2, "an option of its own counts more"
    bare = run(*query, "--explain", "--set", "disabled=graph,smoothing", "--set", "search_mode=keyword")
    response = json.loads(bare.stdout)
    assert response["mode"] == "keyword"
    assert response["explanation"]["disabled"] == ["graph", "smoothing"]
    once = run(*query, "--set", "max_chunks_per_doc=1")
    paths = [entry["source_path"] for entry in json.loads(once.stdout)["results"]]
    assert len(paths) == len(set(paths)) > 1
    assert found(run(*query)) == found(run(*query, "--set", "max_chunks_per_doc=0"))


def test_a_threshold_finds_nothing(here: Path, run: Run) -> None:
    result = run("search", "how to cook an egg", "--set", "min_confidence=0.9")
    assert result.exit_code == 4
    assert "No match" in result.stderr


def test_a_reranker_can_be_named(here: Path, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    from scripts.build_tiny_reranker import build

    query = ("search", "report a collision to the Harbour Master", "--json", "--explain")
    result = run(*query, "--reranker", str(build(tmp_path)))
    response = json.loads(result.stdout)
    assert result.exit_code == 0
    assert response["explanation"]["reranker"] == "tiny-overlap-reranker"
    relevance = [entry["explanation"]["relevance"] for entry in response["results"]]
    assert relevance == sorted(relevance, reverse=True) and len(relevance) > 1


def test_a_reranker_that_is_down_is_said_and_the_results_are_shown(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    query = ("search", "report a collision", "--json")
    result = run(*query, "--reranker", "tei:http://127.0.0.1:9")
    assert result.exit_code == 0
    assert "Results are not reranked" in json.loads(result.stdout)["note"]
    assert found(result) == found(run(*query))
