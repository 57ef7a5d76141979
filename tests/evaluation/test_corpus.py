"""The labelled corpus of our own, in ``tests/corpus``: when search gets worse on it, something fails here.

The thresholds are a little below what was measured last (``loccit eval tests/corpus --mode all``), because sums of
small numbers come out slightly different from one machine to the next.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from loccit.evaluation import evaluate
from loccit.evaluation.runs import SetRun, Variant
from loccit.models.embedding import Embedder

CORPUS = Path(__file__).parents[1] / "corpus"
KINDS = {"paraphrase", "fact", "identifier", "named-document", "navigational", "multi", "definition", "typo"}


@pytest.fixture(scope="session")
def measured(embedder: Embedder) -> SetRun:
    """The corpus, indexed once and asked in three ways."""
    [one] = evaluate([CORPUS], modes=["hybrid", "semantic", "keyword"], embedder=embedder).sets
    return one


@pytest.fixture
def hybrid(measured: SetRun) -> Variant:
    return variant(measured, "hybrid")


def variant(run: SetRun, name: str) -> Variant:
    return next(one for one in run.variants if one.name == name)


def test_all_of_it_is_read_and_asked(measured: SetRun) -> None:
    assert (measured.documents, measured.questions, measured.failed) == (50, 100, [])
    assert measured.without_answer == 0


@pytest.mark.parametrize(
    ("metric", "at_least"), [("hit@10", 0.93), ("ndcg@10", 0.72), ("mrr@10", 0.70), ("recall@100", 0.97)]
)
def test_hybrid_search_is_as_good_as_it_was(hybrid: Variant, metric: str, at_least: float) -> None:
    worst = sorted(hybrid.queries, key=lambda query: query.values[metric])[:8]
    lines = "\n".join(f"{query.values[metric]:.2f} {query.id} {query.text}" for query in worst)
    assert hybrid.metrics[metric] >= at_least, f"the worst are\n{lines}"


@pytest.mark.parametrize("mode", ["semantic", "keyword"])
def test_hybrid_search_is_better_than_each_leg_alone(measured: SetRun, hybrid: Variant, mode: str) -> None:
    alone = variant(measured, mode)
    assert hybrid.metrics["ndcg@10"] > alone.metrics["ndcg@10"] + 0.02
    assert hybrid.metrics["hit@10"] >= alone.metrics["hit@10"]


def test_no_kind_of_question_falls_behind(hybrid: Variant) -> None:
    assert hybrid.groups.keys() == KINDS
    for kind, values in hybrid.groups.items():
        assert values["hit@10"] >= 0.75, kind


def test_questions_that_nothing_answers_come_out_low(hybrid: Variant) -> None:
    on = mean(query.confidence for query in hybrid.queries if query.confidence is not None)
    assert hybrid.offtopic and hybrid.offtopic.questions == 25
    assert hybrid.offtopic.confidence < 0.5 * on
    assert hybrid.offtopic.above_half <= 0.12
    assert hybrid.offtopic.told_apart and hybrid.offtopic.told_apart > 0.85


def test_right_answers_are_surer_than_wrong_ones(hybrid: Variant) -> None:
    right = [query.confidence or 0.0 for query in hybrid.queries if query.right]
    wrong = [query.confidence or 0.0 for query in hybrid.queries if not query.right]
    assert right and wrong
    assert mean(right) > mean(wrong)
