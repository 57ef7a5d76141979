"""Respond: how sure the answer is, what to say when it is not, and how much of it fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pinakes.model import SearchResult

LOW_CONFIDENCE = 0.15


def note_for(
    results: Sequence[SearchResult],
    sure: float,
    *,
    filtered: bool,
    pending: int,
    missing: Sequence[str] = (),
    besides: Sequence[str] = (),
) -> str:
    """Say in plain words what the reader should know about the answer."""
    where = "the documents searched" if filtered else "the library"
    notes = [f"There is no {name} in {where}." for name in missing]
    if not results:
        notes.append("No match found." + (" The filters may leave too little." if filtered else ""))
    elif sure < LOW_CONFIDENCE:
        notes.append("Nothing matches well; these are the nearest passages.")
    notes += [note for note in besides if note]
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
