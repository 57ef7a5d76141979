from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "one.md").write_text("# One\n\nThe first document.\n", encoding="utf-8")
    (tmp_path / "docs" / "two.md").write_text("# Two\n\nThe second document.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_from_the_first_run_to_the_last(folder: Path, run: Run) -> None:
    first = run("index", "docs", "--no-embed")
    assert first.exit_code == 0
    assert first.stdout.startswith("2 added · 2 chunks")
    assert (folder / ".loccit").is_dir()

    (folder / "docs" / "one.md").write_text("# One\n\nThe first document, changed.\n", encoding="utf-8")
    (folder / "docs" / "two.md").unlink()
    second = run("index", "--no-embed", "--json")
    report = json.loads(second.stdout)
    assert [len(report[name]) for name in ("added", "updated", "removed", "failed")] == [0, 1, 1, 0]
    assert "1 unchanged" in run("index", "--no-embed").stdout


def test_vectors_can_be_made_later(folder: Path, run: Run) -> None:
    run("index", "docs", "--no-embed")
    assert "have no vector yet" in run("status").stdout
    run("index", "--quiet")
    assert json.loads(run("status", "--json").stdout)["pending_passages"] == 0


def test_a_document_that_fails_is_named_and_the_exit_code_is_3(folder: Path, run: Run, spawn: Run) -> None:
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    done = spawn("index", "docs", "--no-embed", folder=folder)
    assert done.returncode == 3
    assert "2 added, 1 failed" in done.stdout
    assert "docs/broken.pdf: " in done.stdout
    status = run("status")
    assert "docs/broken.pdf: " in status.stdout
    as_json = run("index", "--no-embed", "--retry-failed", "--json")
    assert as_json.exit_code == 3
    assert Path(json.loads(as_json.stdout)["failed"][0]["path"]).name == "broken.pdf"


def test_settings_are_kept_and_changed_one_at_a_time(folder: Path, run: Run) -> None:
    run("index", "docs", "--no-embed", "--max-tokens", "200")
    run("index", "--no-embed", "--overlap", "0")
    settings = json.loads(run("status", "--json").stdout)["settings"]["index"]
    assert (settings["max_chunk_tokens"], settings["chunk_overlap"]) == (200, 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], "nothing"),
        ([], "loccit index PATH"),
        (["docs", "--strategy", "magic"], "structure, token"),
        (["docs", "--max-tokens", "3"], "between 100 and 2000"),
        (["docs", "--workers", "0"], "--workers"),
    ],
)
def test_wrong_usage_makes_no_index(folder: Path, run: Run, arguments: list[str], says: str) -> None:
    result = run("index", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not (folder / ".loccit").exists()


def test_without_waiting_a_busy_index_is_an_error(folder: Path, run: Run) -> None:
    from loccit.library import Library

    run("index", "docs", "--no-embed", "--quiet")
    with Library(folder / ".loccit") as library, library._index.lock.held(wait=True, on_wait=None):
        result = run("index", "--no-wait", "--no-embed")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")


def test_nothing_to_read_is_said(folder: Path, run: Run) -> None:
    (folder / "empty").mkdir()
    result = run("index", "empty", "--no-embed")
    assert result.exit_code == 0
    assert "No readable documents found" in result.stdout


def test_a_vocabulary_of_concepts_is_kept_until_it_is_not_wanted(folder: Path, run: Run) -> None:
    (folder / "docs" / "roses.md").write_text(
        "# Garden\n\nRoses climb. The roses are red.\n", encoding="utf-8"
    )
    question = ("search", "flower", "--json", "--explain", "--set", "query_expansion_enabled=true")

    def added() -> list[str]:
        return list(json.loads(run(*question).stdout)["explanation"]["expansion"])

    run("index", "docs", "--quiet")
    assert added() == []
    changed = run("index", "--quiet", "--concepts", "--json")
    assert json.loads(changed.stdout)["updated"] == [], "the documents need not be read again"
    assert "roses" in added()
    run("index", "--quiet")
    assert "roses" in added(), "the setting is kept"
    run("index", "--quiet", "--no-concepts")
    assert added() == []
