from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation import sets

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set that tests only read, so that its index is made once."""
    return sets.library_set(tmp_path_factory.mktemp("eval") / "harbour")


def test_a_table_shows_the_measures_of_each_mode(folder: Path, run: Run) -> None:
    result = run("eval", str(folder), "--mode", "hybrid", "--mode", "keyword")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "harbour library · 2 documents, 6 chunks, 4 questions"
    assert lines[1] == "mode ndcg@10 recall@10 mrr@10 hit@10 p50 ms p95 ms"
    assert lines[2].startswith("hybrid 1.0000 1.0000 1.0000 1.0000 ")
    assert any(line.startswith("clause (1) 1.0000") for line in lines)
    assert any(line.startswith("keyword ") for line in lines[5:])
    assert "ndcg@10 against hybrid" in lines
    assert any(line.startswith("confidence is off by 0.") for line in lines)
    assert any(line.startswith("1 off-topic question: confidence 0.") for line in lines)


def test_json_is_one_document_with_everything(folder: Path, run: Run) -> None:
    result = run("eval", str(folder), "--mode", "all", "--limit", "2", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    [one] = data["sets"]
    assert [variant["name"] for variant in one["variants"]] == ["hybrid", "semantic", "keyword", "exact"]
    first = one["variants"][0]
    assert {"ndcg@5", "ndcg@10", "recall@10", "recall@100", "mrr@10", "latency_ms"} <= first["metrics"].keys()
    assert first["metrics"]["latency_ms"].keys() == {"p50", "p95"}
    assert [query["id"] for query in first["queries"]] == ["document", "above"]
    assert one["questions"] == 2 and one["differences"].keys() == {"semantic", "keyword", "exact"}


def test_a_run_is_saved_and_compared_with(folder: Path, run: Run, tmp_path: Path) -> None:
    before, page = tmp_path / "before.json", tmp_path / "report.html"
    saved = run("eval", str(folder), "--out", str(before), "--quiet")
    assert saved.exit_code == 0 and f"Wrote {before}" in saved.stderr
    result = run(
        *("eval", str(folder), "--set", "search_mode=hybrid", "--set", "fusion=rrf"),
        *("--compare", str(before), "--report", str(page)),
    )
    assert result.exit_code == 0, result.output
    assert f"Compared with {before}" in " ".join(result.stdout.split())
    assert "harbour, hybrid" in result.stdout and "0 / 0 / 4" in result.stdout
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "fusion = rrf" in page.read_text(encoding="utf-8")


def test_the_stages_are_switched_off_in_turn(folder: Path, run: Run) -> None:
    result = run("eval", str(folder), "--ablate", "--limit", "1", "--json")
    [one] = json.loads(result.stdout)["sets"]
    names = [variant["name"] for variant in one["variants"]]
    assert names[0] == "hybrid" and names[-3:] == ["semantic", "keyword", "exact"]
    assert "without hierarchy" in names and one["differences"]["without hierarchy"]["metric"] == "ndcg@10"


def test_documents_that_cannot_be_read_give_exit_code_3(run: Run, tmp_path: Path) -> None:
    folder = sets.library_set(tmp_path / "set")
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    result = run("eval", str(folder), "--mode", "exact", "--no-cache")
    assert result.exit_code == 3
    assert "could not be read: " in " ".join(result.stdout.split()) and "broken.pdf: " in result.stdout


def test_bad_lines_are_named_and_the_exit_code_is_2(run: Run, tmp_path: Path) -> None:
    folder = sets.retrieval_set(tmp_path / "set")
    with (folder / "qrels.tsv").open("a") as file:
        file.write("1\tnowhere\t1\n")
    result = run("eval", str(folder), "--json")
    assert result.exit_code == 2
    assert "qrels.tsv, line 6: there is no text 'nowhere'" in result.stderr
    assert json.loads(result.stdout)["error"]["type"] == "UsageError"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "DIR"),
        (["nowhere"], "is not a folder"),
        (["SET", "--mode", "magic"], "Unknown mode magic"),
        (["SET", "--limit", "0"], "--limit"),
        (["SET", "--set", "magic=1"], "Unknown setting 'magic'"),
        (["SET", "--compare", "none.json"], "none.json cannot be read"),
        (["SET", "--out", "nowhere/run.json"], "cannot be written"),
        (["SET", "--report", "."], "cannot be written"),
        (["SET", "--cache", "a", "--no-cache"], "not both"),
        (["SET", "--cache", "SET/queries.jsonl"], "cannot hold indexes"),
    ],
)
def test_wrong_usage_is_refused(folder: Path, run: Run, arguments: list[str], says: str) -> None:
    result = run("eval", *(argument.replace("SET", str(folder)) for argument in arguments))
    assert result.exit_code == 2, result.output
    assert says in " ".join(result.stderr.split())


def test_progress_goes_to_standard_error(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.cli.progress.EVERY", -1.0)
    loud = run("eval", str(folder), "--mode", "exact", "--json")
    assert "4 of 4" in loud.stderr
    json.loads(loud.stdout)
    quiet = run("eval", str(folder), "--mode", "exact", "--json", "--quiet")
    assert quiet.stderr == ""
