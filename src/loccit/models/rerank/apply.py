"""Apply a reranker to the best candidates, within a time limit.

Whatever a reranker does wrong costs a note, never the search: the candidates then keep their order.
"""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from loccit.errors import LoccitError, UsageError
from loccit.models.rerank.registry import PartialScores, Preparable, Reranker, RerankError

_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Reranked:
    """The new order: ``order[i]`` is the previous position of what is now at ``i``, and ``scores[i]`` its score.

    ``relevance[i]`` is the reranker's score for it, on its own scale, or None. ``reranked`` counts those it scored.
    ``note`` says what went wrong, and is empty otherwise.
    """

    order: list[int]
    scores: list[float]
    relevance: list[float | None]
    reranked: int = 0
    note: str = ""


def apply_reranker(
    reranker: Reranker,
    query: str,
    texts: Sequence[str],
    scores: Sequence[float],
    *,
    top_n: int = 20,
    timeout: float | None = 5.0,
    blend: float = 1.0,
    keep: int = 0,
) -> Reranked:
    """Rerank the first ``top_n`` candidates, given best first.

    The first ``keep`` candidates stay where they are, such as those that the query names literally. ``blend`` is the
    weight of the reranker: 1 orders by its scores alone, 0 keeps the order. Ties keep their order. The new scores are
    spread over the range that the reranked candidates had before, so that they stay within 0 to 1, descend, and are not
    below those of the rest.
    """
    _check(texts, scores, top_n, timeout, blend, keep)
    unchanged = Reranked(list(range(len(texts))), list(scores), [None] * len(texts))
    head = range(keep, min(keep + top_n, len(texts)))
    if len(head) < 2:
        return unchanged
    try:
        found = _ask(reranker, query, [texts[index] for index in head], timeout)
    except Exception as error:  # a reranker may be anybody's code
        note = f"Results are not reranked: {_reason(error)}"
        return Reranked(unchanged.order, unchanged.scores, unchanged.relevance, note=note)
    return _arrange(found, scores, head, blend)


def _check(
    texts: Sequence[str],
    scores: Sequence[float],
    top_n: int,
    timeout: float | None,
    blend: float,
    keep: int,
) -> None:
    if len(texts) != len(scores):
        raise UsageError(f"There are {len(texts)} texts to rerank, but {len(scores)} scores.")
    if top_n < 1 or keep < 0:
        raise UsageError("top_n must be at least 1, and keep at least 0.")
    if not 0.0 <= blend <= 1.0:
        raise UsageError(f"blend must be between 0 and 1, not {blend!r}.")
    if timeout is not None and not timeout > 0:
        raise UsageError(f"The time for reranking must be above 0 s, not {timeout!r}.")


def _ask(reranker: Reranker, query: str, texts: list[str], timeout: float | None) -> list[float | None]:
    """Return the reranker's scores, None for those it had no time for."""
    # Loading a model may hang as well as calling it: a search waits for neither.
    answer = call_within(timeout, partial(_load_and_ask, reranker, query, texts), reranker)
    if len(answer) != len(texts):
        raise RerankError(f"the reranker gave {len(answer)} scores for {len(texts)} texts.")
    known = answer.known if isinstance(answer, PartialScores) else range(len(texts))
    return [_number(answer[index]) if index in known else None for index in range(len(texts))]


def _load_and_ask(reranker: Reranker, query: str, texts: list[str]) -> list[float]:
    if isinstance(reranker, Preparable):
        reranker.prepare()
    return reranker.rerank(query, texts)


def _number(value: object) -> float:
    number = math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise RerankError(f"the reranker gave {value!r} as a score.")
    return number


def _arrange(found: list[float | None], scores: Sequence[float], head: range, blend: float) -> Reranked:
    relevance = {index: score for index, score in zip(head, found, strict=True) if score is not None}
    places = [_bounded(score) for score in scores]
    # No position gets a higher score than the one above it, whatever was given.
    for place in range(1, len(places)):
        places[place] = min(places[place], places[place - 1])
    joined = _join(relevance, places, blend)
    # If widely spaced numbers leave no room for a small difference, the reranker's own score decides.
    best = sorted(joined, key=lambda index: (-joined[index], -relevance[index] if blend else 0.0))
    order = [*range(head.start), *best]
    order += [index for index in range(head.start, len(scores)) if index not in relevance]
    places[head.start : head.start + len(best)] = _share_out(
        places[head.start : head.start + len(best)], [joined[index] for index in best]
    )
    note = ""
    if len(best) < len(head):
        note = (
            f"Only {len(best)} of {len(head)} results could be reranked in the time allowed; the others follow in "
            "their former order."
        )
    return Reranked(order, places, [relevance.get(index) for index in order], len(best), note)


def _join(relevance: dict[int, float], places: list[float], blend: float) -> dict[int, float]:
    """Return the weighted sum of the reranker's and the search's scores, each scaled to 0 to 1."""
    theirs = _spread(list(relevance.values()))
    ours = _spread([places[index] for index in relevance])
    return {
        index: blend * their + (1 - blend) * our
        for index, their, our in zip(relevance, theirs, ours, strict=True)
    }


def _share_out(places: list[float], joined: list[float]) -> list[float]:
    """Return scores spaced like ``joined``, between the first and the last score that these positions had."""
    if not joined or min(joined) == max(joined):
        return places
    first, last = places[0], places[-1]
    return [min(first, last + (first - last) * share) for share in _spread(joined)]


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, float(score))) if not math.isnan(score) else 0.0


def _spread(values: Sequence[float]) -> list[float]:
    """Scale values to 0 to 1; if all are equal, nothing tells them apart."""
    if not values:
        return []
    low, high = min(values), max(values)
    # Halves, because the difference between two finite numbers need not be finite.
    width = high / 2 - low / 2
    return [(value / 2 - low / 2) / width if width > 0 else 1.0 for value in values]


def _reason(error: Exception) -> str:
    """Say in one short line what went wrong."""
    text = " ".join(str(error).split())
    if not isinstance(error, LoccitError):
        text = f"the reranker failed with {type(error).__name__}" + (f": {text}" if text else ".")
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


T = TypeVar("T")

# A call cannot be stopped from outside and continues unseen. This many calls of one reranker may hang before
# no new one is started.
_MOST_ABANDONED = 2
_abandoned: list[tuple[object, threading.Thread]] = []
_lock = threading.Lock()


class _Call(Generic[T]):
    """The result of a call in another thread."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.result: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result.append(self.function())
        except BaseException as error:  # handed over to the thread that waits
            self.error = error


def call_within(seconds: float | None, function: Callable[[], T], owner: object) -> T:
    """Return the function's result; raise `RerankError` if it takes longer than ``seconds``.

    ``owner`` is the reranker called: its hanging calls are counted, and nobody else's.
    """
    if seconds is None:
        return function()
    with _lock:
        _abandoned[:] = [(other, thread) for other, thread in _abandoned if thread.is_alive()]
        hanging = sum(other is owner for other, _ in _abandoned)
        if hanging >= _MOST_ABANDONED:
            raise RerankError(f"the reranker is still busy with {hanging} earlier searches.")
    call = _Call(function)
    # A daemon, so that a hanging call does not keep the program from exiting.
    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(call.run,), name="loccit-rerank", daemon=True
    )
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        with _lock:
            _abandoned.append((owner, thread))
        raise RerankError(f"the reranker did not answer within {seconds:g} s.")
    if isinstance(call.error, Exception):
        raise call.error
    if call.error is not None:
        # What ends that thread, such as SystemExit, must not end ours.
        raise RerankError(f"the reranker stopped with {type(call.error).__name__}.")
    return call.result[0]
