"""Small sets of every kind, measured for real: indexed, embedded and asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.evaluation import sets

from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.config.settings import STAGES
from loccit.errors import UsageError
from loccit.evaluation import evaluate
from loccit.evaluation.runs import SetRun, Variant
from loccit.model import Progress
from loccit.models.embedding import Embedder

Measure = Callable[..., list[SetRun]]


@pytest.fixture
def measure(embedder: Embedder) -> Measure:
    return lambda folder, **options: evaluate([folder], embedder=embedder, **options).sets


def by_id(variant: Variant, metric: str) -> dict[str, float]:
    return {query.id: query.values[metric] for query in variant.queries}


def test_rows_are_documents_with_their_titles(tmp_path: Path, measure: Measure) -> None:
    [one] = measure(sets.retrieval_set(tmp_path), modes=["keyword", "hybrid"])
    assert (one.documents, one.chunks, one.questions, one.without_answer) == (3, 3, 3, 1)
    hybrid, keyword = one.variants
    assert by_id(hybrid, "ndcg@10") == {"1": 1.0, "2": 1.0, "3": 1.0}
    assert keyword.values("mrr@10")["2"] == 1.0, "the title alone has the word"
    assert {"ndcg@5", "ndcg@10", "recall@10", "recall@100", "mrr@10", "latency_ms"} <= hybrid.metrics.keys()
    assert 0 < hybrid.metrics["latency_ms"]["p50"] <= hybrid.metrics["latency_ms"]["p95"]
    assert hybrid.queries[1].found[0].startswith("bread: Sourdough")
    assert all(query.right and 0 <= (query.confidence or 0) <= 1 for query in hybrid.queries)
    assert hybrid.calibration is not None and sum(b.count for b in hybrid.calibration.bins) == 3


def test_what_is_not_found_counts_as_nothing(tmp_path: Path, measure: Measure) -> None:
    folder = sets.retrieval_set(tmp_path)
    sets.qrels(folder, ("1", "empty", 1), ("2", "bread", 1), ("2", "empty", 1))
    [one] = measure(folder)
    assert by_id(one.variants[0], "recall@100") == {"1": 0.0, "2": 0.5}
    assert not one.variants[0].queries[0].right


def test_given_chunks_are_compared_by_their_text(tmp_path: Path, measure: Measure) -> None:
    [one] = measure(sets.fixed_set(tmp_path))
    assert (one.documents, one.chunks, one.main) == (2, 5, "pass@10")
    variant = one.variants[0]
    assert by_id(variant, "mrr@10") == {"sum": 1.0, "queue": 1.0, "terms": 1.0}
    assert variant.metrics["pass@5"] == variant.metrics["pass@20"] == 1.0
    assert variant.queries[0].found[0].startswith("a_chunk_1: def alpha_total")


def test_sections_hold_what_is_below_them_and_chunks_their_clauses(tmp_path: Path, measure: Measure) -> None:
    [one] = measure(sets.library_set(tmp_path))
    variant = one.variants[0]
    assert by_id(variant, "ndcg@10") == dict.fromkeys(("document", "section", "above", "clause"), 1.0)
    assert {name: group["questions"] for name, group in variant.groups.items()} == {"clause": 1, "plain": 3}
    assert variant.offtopic is not None and variant.offtopic.questions == 1
    assert variant.offtopic.confidence < 0.5


def test_a_clause_elsewhere_in_the_section_is_not_the_one(tmp_path: Path, measure: Measure) -> None:
    folder = sets.library_set(tmp_path)
    sets.write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "Section 2(a)"}])
    sets.qrels(folder, ("q", "act.md#sec_2_b", 1))
    [wrong] = measure(folder, modes=["exact"])
    assert wrong.variants[0].queries[0].right is False, "the result is narrowed to (a)"
    sets.qrels(folder, ("q", "act.md#sec_2_a", 1), ("q", "act.md", 1))
    [right] = measure(folder, modes=["exact"])
    assert right.variants[0].queries[0].right and right.variants[0].metrics["recall@10"] == 1.0


def test_a_section_that_does_not_exist_is_named_with_its_line(tmp_path: Path, measure: Measure) -> None:
    folder = sets.library_set(tmp_path)
    sets.qrels(folder, ("section", "act.md#sec_3", 1), ("clause", "act.md#sec_9", 1))
    with pytest.raises(UsageError, match=r"qrels\.tsv, line 3: act\.md has no section 'sec_9'"):
        measure(folder)


def test_spans_are_measured_in_characters(tmp_path: Path, measure: Measure) -> None:
    [one] = measure(sets.span_set(tmp_path))
    variant = one.variants[0]
    closure = next(query for query in variant.queries if query.id == "1")
    assert closure.values["span_recall@1"] == 1.0
    assert closure.values["span_iou@1"] == closure.values["span_precision@1"] == 1.0, (
        "the section and nothing else"
    )
    diary = next(query for query in variant.queries if query.id == "2")
    assert diary.values["span_recall@1"] == 1.0
    assert diary.values["span_precision@1"] == pytest.approx(24 / len(sets.DIARY), abs=1e-3)
    assert variant.metrics["span_precision@10"] < variant.metrics["span_precision@1"]
    assert {
        f"span_{name}@{k}" for name in ("recall", "precision", "iou") for k in (1, 3, 5, 10)
    } <= variant.metrics.keys()


def test_a_span_beyond_the_end_is_named_with_its_line(tmp_path: Path, measure: Measure) -> None:
    folder = sets.span_set(tmp_path)
    with (folder / "spans.tsv").open("a") as file:
        file.write("1\tfiles/act.md\t0\t99999\n")
    with pytest.raises(UsageError, match=r"spans\.tsv, line 4: the span ends at 99,999"):
        measure(folder)


def test_answers_are_measured_by_what_they_quote(tmp_path: Path, measure: Measure) -> None:
    sets.write_documents(tmp_path / "docs")
    line = next(line for line in sets.ACT.splitlines() if line.startswith("(b) A written account"))
    words = line.removeprefix("(b) ").split()
    quoted = " ".join(words[:6])
    changed = " ".join([*words[:3], "never", *words[4:6]])
    answers = [
        {"id": "right", "question": "What is sent?", "answer": f"It says “{quoted}”."},
        {
            "id": "wrong",
            "question": "What else?",
            "answer": f"“{quoted}”, but “{changed}”, and “zebras are fed twice a day”.",
        },
        {"id": "none", "question": "Why?", "answer": "Nobody knows."},
    ]
    sets.write_jsonl(tmp_path / "answers.jsonl", answers)
    (answered,) = measure(tmp_path, modes=["all"])
    (variant,) = answered.variants
    assert (answered.kind, answered.main, variant.name) == ("answers", "quotes_exact", "verify")
    right, wrong, none = variant.queries
    assert (right.values["quotes_exact"], right.right) == (1.0, True)
    assert [round(wrong.values[f"quotes_{kind}"], 2) for kind in ("exact", "altered", "absent")] == [0.33] * 3
    assert not wrong.right and any("zebras" in text for text in wrong.found)
    assert none.values == {"quotes_exact": 0, "quotes_altered": 0, "quotes_absent": 0, "quoting": 0}
    assert variant.metrics["quoting"] == pytest.approx(2 / 3, abs=0.001)


def test_look_ups_of_sections_clauses_and_definitions(tmp_path: Path, measure: Measure) -> None:
    lookups, clauses, definitions = measure(sets.lookup_set(tmp_path), modes=["all"])
    hybrid = lookups.variants[0]
    assert by_id(hybrid, "top1") == {"n": 1.0, "t": 1.0, "x": 0.0}
    assert hybrid.groups["number"]["top1"] == 0.5
    assert clauses.variants[0].metrics["top1"] == 1.0
    assert [variant.name for variant in lookups.variants] == ["hybrid", "semantic", "keyword", "exact"]
    assert [variant.name for variant in definitions.variants] == ["define"]
    assert definitions.variants[0].metrics["mrr@10"] == 1.0


def test_ablation_switches_off_each_stage_and_leaves_each_mode_alone(
    tmp_path: Path, measure: Measure
) -> None:
    steps: list[Progress] = []
    [one] = measure(
        sets.retrieval_set(tmp_path),
        ablate=True,
        settings=Settings(search=SearchSettings(disabled=STAGES[:1])),
        progress=steps.append,
    )
    names = [variant.name for variant in one.variants]
    assert names == ["hybrid", *(f"without {stage}" for stage in STAGES[1:]), "semantic", "keyword", "exact"]
    assert one.variants[1].disabled == (STAGES[0], STAGES[1])
    assert [variant.name for variant in one.plain] == ["hybrid", "semantic", "keyword", "exact"]
    assert one.differences.keys() == set(names[1:])
    exact = one.differences["exact"]
    assert exact.change < 0 and exact.losses >= 2 and exact.before == one.variants[0].metrics["ndcg@10"]
    assert {step.stage for step in steps} >= {"read", "embed", "ask"}
    assert max(step.done for step in steps if step.stage == "ask") == 3


def test_index_settings_are_used(tmp_path: Path, measure: Measure) -> None:
    folder = sets.span_set(tmp_path)
    long = "\n\n".join(
        f"Paragraph {n} speaks of mooring lines and of nothing else at all." for n in range(80)
    )
    (folder / "files" / "long.md").write_text(long)
    [whole] = measure(folder, modes=["keyword"])
    [cut] = measure(
        folder,
        modes=["keyword"],
        settings=Settings(
            index=IndexSettings(chunking_strategy="token", max_chunk_tokens=100, chunk_overlap=0)
        ),
    )
    assert cut.chunks > whole.chunks


def test_documents_that_cannot_be_read_are_listed(tmp_path: Path, measure: Measure) -> None:
    folder = sets.library_set(tmp_path)
    (folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    sets.qrels(folder, ("document", "broken.pdf", 1), ("section", "act.md#sec_3", 1))
    [one] = measure(folder)
    assert len(one.failed) == 1 and "broken.pdf: " in one.failed[0]
    assert by_id(one.variants[0], "recall@100") == {"document": 0.0, "section": 1.0}


def test_a_question_that_cannot_be_asked_is_named(tmp_path: Path, measure: Measure) -> None:
    folder = sets.retrieval_set(tmp_path)
    sets.write_jsonl(
        folder / "queries.jsonl", [{"id": "1", "text": "tides"}, {"id": "long", "text": "sea " * 50_000}]
    )
    sets.qrels(folder, ("1", "tides", 1), ("long", "tides", 1))
    with pytest.raises(UsageError, match="The question 'long' cannot be asked"):
        measure(folder, modes=["keyword"])


def test_wrong_usage_is_refused_before_any_work(tmp_path: Path, measure: Measure) -> None:
    folder = sets.retrieval_set(tmp_path)
    with pytest.raises(UsageError, match="Unknown mode magic; available: hybrid"):
        measure(folder, modes=["magic"])
    with pytest.raises(UsageError, match="at least 1"):
        measure(folder, limit=0)
    with pytest.raises(UsageError, match="Nothing to evaluate"):
        evaluate([])
