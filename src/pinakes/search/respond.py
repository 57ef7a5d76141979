"""Respond: how sure the answer is, what to say when it is not, and how much of it fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pinakes.model import SearchResult
from pinakes.search.candidates import Candidate

LOW_CONFIDENCE = 0.3
_MISSING_PLACE = 0.5
# Cosine at which a passage of the bundled model's kind has nothing, or everything, to do with a question.
_COSINE_NOTHING, _COSINE_SURE = 0.2, 0.7
_PIN_CONFIDENCE = {"section": 0.98, "holder": 0.5, "title": 0.95, "phrase": 0.9, "identifier": 0.85}


def confidence(best: Sequence[Candidate], coverage: float, *, missing: bool = False) -> float:
    """Estimate, between 0 and 1, that the first result is what was asked for.

    ``missing``: the query names a place that does not exist, so nothing can be quite what was asked for.
    """
    if not best:
        return 0.0
    first = best[0]
    cosine = max((candidate.scores.get("semantic", 0.0) for candidate in best[:3]), default=0.0)
    by_meaning = min(1.0, max(0.0, (cosine - _COSINE_NOTHING) / (_COSINE_SURE - _COSINE_NOTHING)))
    by_words = 0.7 * coverage**2
    plain = 1.0 - (1.0 - by_meaning) * (1.0 - by_words)
    plain = min(plain, _MISSING_PLACE if missing else 0.95)
    return round(max(_PIN_CONFIDENCE.get(first.reason, 0.0), plain), 3)


def note_for(
    results: Sequence[SearchResult], sure: float, *, filtered: bool, pending: int, missing: Sequence[str] = ()
) -> str:
    """Say in plain words what the reader should know about the answer."""
    where = "the documents searched" if filtered else "the library"
    notes = [f"There is no {name} in {where}." for name in missing]
    if not results:
        notes.append("No match found." + (" The filters may leave too little." if filtered else ""))
    elif sure < LOW_CONFIDENCE:
        notes.append("Nothing matches well; these are the nearest passages.")
    if pending:
        notes.append(f"{pending:,} passages have no vectors yet: search by meaning is incomplete.")
    return " ".join(notes)


def fit_budget(
    results: list[SearchResult], budget: int | None, count: Callable[[str], int]
) -> tuple[list[SearchResult], bool]:
    """Keep as many results as fit into a number of tokens; the last may be cut short."""
    if budget is None:
        return results, False
    kept: list[SearchResult] = []
    left = budget
    for result in results:
        need = count(result.format())
        if need <= left:
            kept.append(result)
            left -= need
            continue
        shortened = _shorten(result, left, count)
        if shortened and (not kept or left > 80):
            kept.append(shortened)
        return kept, True
    return kept, False


def _shorten(result: SearchResult, budget: int, count: Callable[[str], int]) -> SearchResult | None:
    """Cut a result's content at a word so that the whole fits, by halving."""
    low, high = 0, len(result.content)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_cut(result, middle).format()) <= budget:
            low = middle
        else:
            high = middle - 1
    return _cut(result, low) if low > 20 else None


def _cut(result: SearchResult, length: int) -> SearchResult:
    text = result.content[:length]
    if length < len(result.content):
        text = text.rsplit(None, 1)[0] + " …" if text.split() else ""
    return replace(result, content=text)
