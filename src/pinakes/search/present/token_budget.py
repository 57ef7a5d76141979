"""Fit: cut an answer to a number of tokens, frame included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pinakes.embedding import Tokenizer
from pinakes.model import SearchResponse, SearchResult

Count = Callable[[str], int]
"""Says how many tokens a text has."""

# A shortened passage with fewer characters of its text is not worth showing.
_FEWEST_CHARACTERS = 40
# On average no tokenizer packs more characters into a token; what is beyond cannot fit anyway.
_MOST_CHARACTERS = 64
_NEAR_ENOUGH = 8
ELLIPSIS = " …"


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    """Return how many tokens a text has; tokenizers that can count alone do so, which is quicker."""
    count = getattr(tokenizer, "count", None)
    return int(count(text)) if count is not None else len(tokenizer.offsets(text))


def shorten(text: str, length: int) -> str:
    """Return at most so many characters of a text, ended at a word."""
    if length >= len(text):
        return text
    cut = text[:length].rsplit(None, 1)
    return cut[0].rstrip() + ELLIPSIS if len(cut) == 2 else ""


def longest_fit(text: str, whole: Callable[[str], str], budget: int, count: Count) -> str:
    """Return as much of ``text`` as lets ``whole`` of it fit into a budget; nothing when nothing does."""
    text = text[: max(0, budget) * _MOST_CHARACTERS]
    low, used, high, needed = 0, count(whole("")), len(text), count(whole(text))
    if needed <= budget:
        return text
    turn = 0
    while high - low > _NEAR_ENOUGH and budget - used > 1:
        # Tokens are spread evenly enough that the right length can be guessed; every other turn halves, to be sure.
        guess = (
            low + (high - low) * (budget - used) // max(1, needed - used)
            if turn % 2 == 0
            else (low + high) // 2
        )
        middle = min(max(guess, low + 1), high - 1)
        tokens = count(whole(shorten(text, middle)))
        if tokens <= budget:
            low, used = middle, tokens
        else:
            high, needed = middle, tokens
        turn += 1
    return shorten(text, low)


def fit_response(response: SearchResponse, token_budget: int | None, count: Count) -> SearchResponse:
    """Return the response with as many results as let ``response.format()`` fit; the last one may be cut short."""
    if token_budget is None:
        return response
    whole = response.format()
    if len(whole) <= token_budget * _MOST_CHARACTERS and count(whole) <= token_budget:
        return response
    if not response.results:
        return _without_results(response, token_budget, count)
    cut = replace(response, truncated=True)
    before, blocks, after = cut.format_parts()
    left = token_budget - count(before) - count(after)
    kept = 0
    for block in blocks:
        need = count(block[: max(0, left) * _MOST_CHARACTERS])
        if need > left or len(block) > left * _MOST_CHARACTERS:
            break
        left -= need
        kept += 1
    shown = response.results[:kept]
    if kept < len(blocks):
        result = response.results[kept]
        frame = count(blocks[kept]) - count(result.format())
        shown += _shortened(result, left - frame, count)
    return _checked(cut, shown, token_budget, count)


def _checked(
    response: SearchResponse, shown: Sequence[SearchResult], token_budget: int, count: Count
) -> SearchResponse:
    """Return the response with these results, or with fewer: parts may count for more together than alone."""
    results = list(shown)
    while results:
        fitted = replace(response, results=list(results))
        excess = count(fitted.format()) - token_budget
        if excess <= 0:
            return fitted
        last = results.pop()
        results += _shortened(last, count(last.format()) - excess, count)
    found = len(response.results)
    were = "result was" if found == 1 else "results were"
    note = f"{found} {were} found; a budget of {token_budget} tokens is too small for one."
    return replace(response, results=[], note=note)


def _without_results(response: SearchResponse, token_budget: int, count: Count) -> SearchResponse:
    """Return a response that has only a note, which may name many things and be long."""
    note = longest_fit(response.note, lambda text: replace(response, note=text).format(), token_budget, count)
    return response if note == response.note else replace(response, note=note)


def _shortened(result: SearchResult, budget: int, count: Count) -> list[SearchResult]:
    """Return the result cut to a budget, without what only accompanies it where need be; nothing if it is no use."""
    alone = replace(result, definitions_context=[], also_in=[])
    for candidate in (result, alone):
        content = longest_fit(
            candidate.content,
            lambda text, candidate=candidate: replace(candidate, content=text).format(),  # type: ignore[misc]
            budget,
            count,
        )
        shown = replace(candidate, content=content)
        if (
            len(content) >= min(_FEWEST_CHARACTERS, len(candidate.content))
            and count(shown.format()) <= budget
        ):
            return [shown]
    return []
