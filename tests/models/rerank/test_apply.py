from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.rerank.service import KEY, Service, reply, silence

from loccit.errors import LoccitError, UsageError
from loccit.models.rerank import PartialScores, Reranked, Reranker, RerankError, apply_reranker, load_reranker
from loccit.models.rerank import apply as deadline_module

SCORES = [0.9, 0.8, 0.7, 0.3, 0.1]
TEXTS = ["a", "b", "c", "d", "e"]


class Table:
    """A reranker that answers with what it was given, a value or an exception."""

    name = "table"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


def rerank(answer: Any, **options: Any) -> Reranked:
    return apply_reranker(Table(answer), "query", TEXTS, SCORES, **options)


def test_order_is_that_of_the_reranker() -> None:
    found = rerank([0.1, -3.0, 7.0, 0.1, 2.0])
    assert found.order == [2, 4, 0, 3, 1]
    assert found.relevance == [7.0, 2.0, 0.1, 0.1, -3.0]
    assert found.scores == pytest.approx([0.9, 0.5, 0.348, 0.348, 0.1])
    assert (found.reranked, found.note) == (5, "")


def test_only_the_first_are_asked_about() -> None:
    table = Table([1.0, 2.0, 3.0])
    found = apply_reranker(table, "query", TEXTS, SCORES, top_n=3)
    assert table.asked == [("query", ["a", "b", "c"])]
    assert found.order == [2, 1, 0, 3, 4]
    assert found.scores == pytest.approx([0.9, 0.8, 0.7, 0.3, 0.1])
    assert found.relevance == [3.0, 2.0, 1.0, None, None]


def test_what_is_pinned_stays() -> None:
    table = Table([1.0, 2.0])
    found = apply_reranker(table, "query", TEXTS, SCORES, top_n=2, keep=1)
    assert table.asked == [("query", ["b", "c"])]
    assert found.order == [0, 2, 1, 3, 4]
    assert found.scores == SCORES


def test_blend() -> None:
    answer = [0.0, 0.0, 0.0, 0.0, 1.0]
    assert rerank(answer, blend=1.0).order == [4, 0, 1, 2, 3]
    assert rerank(answer, blend=0.6).order == [4, 0, 1, 2, 3]
    assert rerank(answer, blend=0.4).order == [0, 1, 2, 4, 3]
    unchanged = rerank(answer, blend=0.0)
    assert unchanged.order == [0, 1, 2, 3, 4]
    assert unchanged.scores == pytest.approx(SCORES)


def test_equal_scores_change_nothing() -> None:
    found = rerank([0.5] * 5)
    assert (found.order, found.scores, found.note) == ([0, 1, 2, 3, 4], SCORES, "")


def test_nothing_to_rank_asks_nobody() -> None:
    table = Table(RuntimeError("must not be asked"))
    for count, options in ((0, {}), (1, {}), (5, {"top_n": 1}), (5, {"keep": 5}), (5, {"keep": 9})):
        found = apply_reranker(table, "query", TEXTS[:count], SCORES[:count], **options)
        assert (found.order, found.scores, found.note) == (list(range(count)), SCORES[:count], "")
    assert table.asked == []


def test_scores_that_stop_before_the_end() -> None:
    """What there was no time for follows what was judged, in its former order."""
    found = rerank(PartialScores([0.1, None, 0.9, None]), top_n=4)
    assert found.order == [2, 0, 1, 3, 4]
    assert found.relevance == [0.9, 0.1, None, None, None]
    assert found.scores == pytest.approx([0.9, 0.8, 0.7, 0.3, 0.1])
    assert "2 of 4" in found.note
    nothing = rerank(PartialScores([None] * 5))
    assert (nothing.order, nothing.scores, nothing.reranked) == ([0, 1, 2, 3, 4], SCORES, 0)
    assert "0 of 5" in nothing.note


def test_partial_scores_are_right_for_those_who_just_sort() -> None:
    scores = PartialScores([0.1, None, 0.9, None])
    assert sorted(range(4), key=lambda index: -scores[index]) == [2, 0, 1, 3]
    assert scores.known == {0, 2}
    assert all(math.isfinite(score) for score in PartialScores([None, None]))


# -- faults --------------------------------------------------------------------------------------------------


FAULTS: dict[str, tuple[Any, str]] = {
    "says what is wrong": (RerankError("the service is down."), "not reranked: the service is down."),
    "says it otherwise": (LoccitError("There is no model."), "There is no model."),
    "fails": (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    "fails without a word": (KeyError(), "KeyError"),
    "too few": ([1.0] * 4, "4 scores for 5 texts"),
    "too many": ([1.0] * 6, "6 scores for 5 texts"),
    "nothing": (None, "NoneType"),
    "not a number": ([1.0, math.nan, 1.0, 1.0, 1.0], "nan as a score"),
    "infinite": ([1.0, math.inf, 1.0, 1.0, 1.0], "inf as a score"),
    "text": (["1", "2", "3", "4", "5"], "'1' as a score"),
    "no value": ([1.0, None, 1.0, 1.0, 1.0], "TypeError"),
    "lists": ([[1.0]] * 5, "TypeError"),
}


@pytest.mark.parametrize("timeout", [None, 60.0])
@pytest.mark.parametrize(("answer", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_fault_costs_a_note_and_nothing_else(answer: Any, said: str, timeout: float | None) -> None:
    found = rerank(answer, timeout=timeout)
    assert (found.order, found.scores) == ([0, 1, 2, 3, 4], SCORES)
    assert (found.reranked, found.relevance) == (0, [None] * 5)
    assert said in found.note
    assert found.note.startswith("Results are not reranked: ")
    assert "\n" not in found.note


def test_reranker_cannot_end_the_program() -> None:
    assert "SystemExit" in rerank(SystemExit(3)).note


def test_long_reasons_are_cut() -> None:
    note = rerank(ValueError("word\n" * 1000)).note
    assert len(note) < 400
    assert "\n" not in note
    assert note.endswith("…")


def test_model_that_cannot_be_loaded(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_bytes((tiny / "tokenizer.json").read_bytes())
    found = apply_reranker(load_reranker(tmp_path), "query", TEXTS, SCORES)
    assert (found.order, found.scores) == ([0, 1, 2, 3, 4], SCORES)
    assert "Cannot load the model" in found.note


def test_service_that_fails(service: Service) -> None:
    reranker = load_reranker(f"tei:{service.url}", api_key=KEY)
    service.instead = [reply(200, [{"index": 0, "score": 1.0}])]
    assert "1 results for 5 texts" in apply_reranker(reranker, "e", TEXTS, SCORES).note
    found = apply_reranker(reranker, "e", TEXTS, SCORES)
    assert (found.order, found.note) == ([4, 0, 1, 2, 3], "")


def test_slow_service_is_given_up(service: Service) -> None:
    reranker = load_reranker(f"tei:{service.url}", api_key=KEY, timeout=30)
    service.instead = [silence]
    found = apply_reranker(reranker, "query", TEXTS, SCORES, timeout=0.1)
    assert (found.order, found.scores) == ([0, 1, 2, 3, 4], SCORES)
    assert "did not answer within 0.1 s" in found.note


class Hanging:
    """A reranker that does not come back until it is let go."""

    name = "hanging"

    def __init__(self) -> None:
        self.free = threading.Event()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.free.wait(30)
        return [float(index) for index in range(len(texts))]


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    reranker = Hanging()
    yield reranker
    reranker.free.set()
    _let_end()


def _let_end() -> None:
    for _, thread in list(deadline_module._abandoned):
        thread.join()


def test_calls_that_hang_do_not_pile_up(hanging: Hanging) -> None:
    notes = [
        apply_reranker(hanging, "query", TEXTS, SCORES, timeout=0.01).note
        for _ in range(deadline_module._MOST_ABANDONED + 2)
    ]
    assert ["still busy" in note for note in notes] == [False] * deadline_module._MOST_ABANDONED + [True] * 2
    other = apply_reranker(Table([1.0, 2.0, 3.0, 4.0, 5.0]), "query", TEXTS, SCORES, timeout=30)
    assert other.order == [4, 3, 2, 1, 0], "another reranker is not held up"
    hanging.free.set()
    _let_end()
    assert apply_reranker(hanging, "query", TEXTS, SCORES).order == [4, 3, 2, 1, 0]


def test_a_model_that_hangs_while_it_is_loaded_holds_nobody_up(hanging: Hanging) -> None:
    class Slow(Table):
        """Loads once, and lets others wait for it meanwhile."""

        lock = threading.Lock()

        def prepare(self) -> None:
            with self.lock:
                hanging.free.wait(30)

    slow = Slow([1.0, 2.0, 3.0, 4.0, 5.0])
    for _ in range(deadline_module._MOST_ABANDONED):
        found = apply_reranker(slow, "query", TEXTS, SCORES, timeout=0.01)
        assert (found.order, found.scores) == ([0, 1, 2, 3, 4], SCORES)
        assert "did not answer within 0.01 s" in found.note
    assert "still busy" in apply_reranker(slow, "query", TEXTS, SCORES, timeout=30).note
    hanging.free.set()
    _let_end()
    assert apply_reranker(slow, "query", TEXTS, SCORES, timeout=30).order == [4, 3, 2, 1, 0]


# -- the caller's own mistakes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"top_n": 0}, {"keep": -1}, {"blend": 1.1}, {"blend": math.nan}, {"timeout": 0}]
)
def test_wrong_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        rerank([1.0] * 5, **options)


def test_texts_without_scores() -> None:
    with pytest.raises(UsageError, match="5 texts"):
        apply_reranker(Table([]), "query", TEXTS, SCORES[:4])


# -- what holds for all answers ------------------------------------------------------------------------------


finite = st.floats(allow_nan=False, allow_infinity=False)
unit = st.floats(0.0, 1.0)


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[float], list[float | None], int, int, float]:
    scores = sorted(draw(st.lists(unit, max_size=12)), reverse=True)
    keep = draw(st.integers(0, 3))
    top_n = draw(st.integers(1, 14))
    size = len(range(keep, min(keep + top_n, len(scores))))
    # Few different values, so that equal ones are common.
    value = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), finite)
    answer = draw(st.lists(st.one_of(st.none(), value, value, value), min_size=size, max_size=size))
    return scores, answer, keep, top_n, draw(st.sampled_from([0.0, 0.3, 1.0]))


@given(situations())
def test_new_order_holds_what_it_promises(
    situation: tuple[list[float], list[float | None], int, int, float],
) -> None:
    scores, answer, keep, top_n, blend = situation
    partial = any(score is None for score in answer)
    table = Table(PartialScores(answer) if partial else list(answer))
    texts = [str(index) for index in range(len(scores))]
    found = apply_reranker(table, "query", texts, scores, top_n=top_n, keep=keep, blend=blend, timeout=None)

    assert sorted(found.order) == list(range(len(scores))), "a permutation"
    assert len(found.scores) == len(found.relevance) == len(scores)
    assert all(0.0 <= score <= 1.0 for score in found.scores), "within bounds"
    assert all(a >= b for a, b in zip(found.scores, found.scores[1:], strict=False)), "descending"
    pinned = min(keep, len(scores))
    assert found.order[:pinned] == list(range(pinned)), "what is kept stays on top"
    if len(answer) < 2:
        assert (found.order, found.scores) == (list(range(len(scores))), scores)
        return

    given_scores = dict(zip(range(keep, keep + len(answer)), answer, strict=True))
    judged = [index for index in found.order if given_scores.get(index) is not None]
    rest = [index for index in found.order if given_scores.get(index) is None]
    assert found.order == list(range(pinned)) + judged + rest[pinned:], "the judged above the others"
    assert rest == sorted(rest), "the others in their former order"
    assert found.reranked == len(judged)
    assert bool(found.note) == partial
    assert found.relevance == [given_scores.get(index) for index in found.order]
    assert found.scores[:pinned] == scores[:pinned]
    assert found.scores[pinned + len(judged) :] == scores[pinned + len(judged) :], "the others' scores remain"
    if blend == 1.0:
        stable = sorted(sorted(judged), key=lambda index: -_known(given_scores, index))
        assert judged == stable, "by the reranker's score, equals in their former order"
    if blend == 0.0:
        assert judged == sorted(judged), "as it was"


def _known(scores: dict[int, float | None], index: int) -> float:
    score = scores[index]
    assert score is not None
    return score


@given(st.lists(st.floats(), min_size=2, max_size=8), st.data())
def test_scores_that_were_out_of_order_are_put_in_order(scores: list[float], data: st.DataObject) -> None:
    answer = data.draw(st.lists(finite, min_size=len(scores), max_size=len(scores)))
    found = apply_reranker(Table(answer), "query", ["text"] * len(scores), scores, timeout=None)
    assert all(0.0 <= score <= 1.0 for score in found.scores)
    assert all(a >= b for a, b in zip(found.scores, found.scores[1:], strict=False))


@given(st.lists(unit, min_size=2, max_size=8))
def test_asking_twice_changes_nothing(answer: list[float]) -> None:
    scores = [1.0 - index / 10 for index in range(len(answer))]
    texts = [str(index) for index in range(len(answer))]
    first = apply_reranker(Table(answer), "query", texts, scores, timeout=None)
    again = apply_reranker(
        Table([answer[index] for index in first.order]), "query", texts, first.scores, timeout=None
    )
    assert again.order == list(range(len(answer)))
    np.testing.assert_allclose(again.scores, first.scores)


def test_numbers_of_numpy_are_numbers() -> None:
    assert rerank(np.array([1, 2, 3, 4, 5], np.float32)).order == [4, 3, 2, 1, 0]


def test_table_is_a_reranker() -> None:
    assert isinstance(Table([]), Reranker)
    assert not isinstance(object(), Reranker)
