from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.evaluation import sets

from loccit.config.overrides import parse_settings
from loccit.errors import UsageError
from loccit.evaluation import compare_runs, evaluate, load_run, save_run
from loccit.evaluation.runs import Run
from loccit.models.embedding import Embedder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Run:
    folder = tmp_path_factory.mktemp("runs")
    return evaluate([sets.library_set(folder / "set")], modes=["hybrid", "keyword"], embedder=embedder)


def test_a_run_comes_back_from_its_file(tmp_path: Path, run: Run) -> None:
    save_run(run, tmp_path / "run.json")
    again = load_run(tmp_path / "run.json")
    assert json.dumps(again.to_dict()) == json.dumps(run.to_dict())
    assert again.sets[0].variants[0].calibration == run.sets[0].variants[0].calibration


def test_a_run_of_a_later_version_with_more_in_it_can_be_read(tmp_path: Path, run: Run) -> None:
    data = run.to_dict()
    data["weather"] = "fine"
    data["sets"][0]["variants"][0]["queries"][0]["mood"] = "good"
    (tmp_path / "run.json").write_text(json.dumps(data))
    assert load_run(tmp_path / "run.json").sets[0].name == run.sets[0].name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{oops", "is not JSON"),
        ("[]", "is not a run"),
        ('{"format": 99}', "is not a run of this version"),
        ('{"format": 1, "sets": [{}]}', "is damaged"),
        ('{"format": 1, "sets": 5}', "is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=says):
        load_run(tmp_path / "run.json")


def test_a_missing_file_and_a_missing_folder_are_said(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_run(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be written"):
        save_run(run, tmp_path / "none" / "run.json")


def test_runs_are_compared_question_by_question(tmp_path: Path, embedder: Embedder, run: Run) -> None:
    folder = sets.library_set(tmp_path / "set")
    lines = (folder / "queries.jsonl").read_text().splitlines()
    # Other words for two questions, one left out, one new.
    rows = [json.loads(line) for line in lines[1:]]
    rows[0]["text"] = "how long do rye loaves take in the oven"
    rows.append({"id": "new", "text": "vessel"})
    sets.write_jsonl(folder / "queries.jsonl", rows)
    sets.qrels(
        folder,
        ("section", "act.md#sec_3", 2),
        ("above", "act.md#sec_2", 1),
        ("clause", "act.md#sec_2_b", 1),
        ("new", "act.md", 1),
    )
    now = evaluate([folder], embedder=embedder)
    [compared] = compare_runs(run, now, "before.json")
    change = compared.differences["ndcg@10"]
    assert (compared.variant, compared.only_before, compared.only_now) == ("hybrid", 1, 1)
    assert (change.wins, change.losses, change.ties) == (0, 1, 2)
    assert change.before == 1.0 and change.after < 1.0 and change.change == pytest.approx(change.after - 1.0)


def test_runs_with_nothing_in_common_are_refused(tmp_path: Path, embedder: Embedder, run: Run) -> None:
    other = evaluate([sets.retrieval_set(tmp_path / "other")], embedder=embedder)
    with pytest.raises(UsageError, match=r"before\.json has no set.*it holds set, this run other"):
        compare_runs(run, other, "before.json")


def test_settings_are_written_as_name_and_value() -> None:
    made = parse_settings(
        [
            "fusion=rrf",
            "rrf_k = 10",
            "min_score=0.2",
            "disabled=mmr, graph",
            'boosts={"title": 2}',
            "max_chunk_tokens=300",
        ]
    )
    assert (made.search.fusion, made.search.rrf_k, made.search.min_score) == ("rrf", 10, 0.2)
    assert (made.search.disabled, made.search.boosts) == (("mmr", "graph"), {"title": 2})
    assert made.index is not None and made.index.max_chunk_tokens == 300
    assert (
        parse_settings(["contextual_embeddings=false"]).index
        != parse_settings(["contextual_embeddings=true"]).index
    )
    assert parse_settings([]).index is None


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ("fusion", "write name=value"),
        ("magic=1", "Unknown setting 'magic'; available: .*fusion"),
        ("rrf_k=many", "rrf_k must be a number"),
        ("rrf_k=true", "rrf_k must be a number"),
        ("contextual_embeddings=1", "must be true or false"),
        ("boosts=3", "must be a JSON object"),
        ("fusion=best", "fusion must be one of"),
        ("disabled=magic", "Unknown stage magic"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(pair: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_settings([pair])
