"""Respond: notes about an answer, how it came about, and how to keep it within a token budget."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from loccit.config import SearchSettings
from loccit.index.port.index import SearchIndex
from loccit.index.port.names import NameLookup
from loccit.model import Definition, SearchResponse, SearchResult, chunk_id
from loccit.models.embedding import Tokenizer
from loccit.search.candidates import Candidate, RankedList
from loccit.search.understand.names import NameIndex

if TYPE_CHECKING:
    from loccit.search.run import Run


LOW_CONFIDENCE = 0.2


def note_for(
    results: Sequence[SearchResult],
    sure: float,
    *,
    before: int,
    filtered: bool,
    pending: int,
    about: Sequence[str] = (),
    besides: Sequence[str] = (),
) -> str:
    """Return what the reader should know about the answer; ``about`` are notes on what was named but not found.

    ``before`` is the number of results on earlier pages.
    """
    notes = list(dict.fromkeys(about))
    if not results and before:
        notes.append(f"There are no results after the first {before:,}.")
    elif not results:
        notes.append("No match found." + (" The filters may be too narrow." if filtered else ""))
    elif sure < LOW_CONFIDENCE and not results[0].exact_match:
        # What is named exactly may be unsure for another reason: that several documents have it.
        notes.append("Nothing matches well; these are the nearest passages.")
    notes += [note for note in besides if note]
    if pending:
        notes.append(f"{pending:,} passages have no vectors yet: search by meaning is incomplete.")
    return " ".join(notes)


def below_threshold(stats: Mapping[str, int], settings: SearchSettings) -> str:
    """Say so if there were passages but all scored below the threshold."""
    found, lowest = stats.get("original_count", 0), max(settings.min_confidence, settings.min_score or 0.0)
    if not found or stats.get("after_threshold", found):
        return ""
    name = "min_score" if (settings.min_score or 0.0) >= settings.min_confidence else "min_confidence"
    number = "1 passage was" if found == 1 else f"{found:,} passages were"
    return f"{number} found, but below {name}={lowest:g}."


# -- defined terms of a query: whose definitions it asks for, and where the documents found disagree ----------


_SHOWN = 3


def asked_for(
    query: str, definitions: Sequence[Definition], names: NameIndex, documents: NameLookup
) -> list[Definition]:
    """Return the definitions that a query asks for: those of the documents that it names."""
    if not definitions:
        return []
    named = {document for called in names.find(query) for document in called.documents}
    owners = {entry.source_path for entry in documents.entries(named).values()}
    return [definition for definition in definitions if definition.source_path in owners]


def describe_disputed(disputed: Mapping[str, Sequence[str]]) -> str:
    """Say which terms are defined differently in the documents of an answer.

    >>> describe_disputed({"Rent": ["Lease", "Loan"]})
    'These documents define “Rent” differently: Lease, Loan.'
    """
    parts = []
    for term, titles in list(disputed.items())[:_SHOWN]:
        more = f" and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else ""
        parts.append(f"These documents define “{term}” differently: {', '.join(titles[:_SHOWN])}{more}.")
    return " ".join(parts)


# -- fit: cut an answer to a number of tokens, frame included ------------------------------------------------


Count = Callable[[str], int]
"""Counts the tokens of a text."""

NO_LIMIT = sys.maxsize
"""As a budget: the caller makes the answer fit."""

# A shortened passage with fewer characters of its text is useless.
_FEWEST_CHARACTERS = 40
# On average no tokenizer packs more characters into a token; longer text cannot fit anyway.
_MOST_CHARACTERS = 64
# Nor does it produce more tokens for a character than it has bytes.
_MOST_TOKENS = 4
_NEAR_ENOUGH = 8
ELLIPSIS = " …"


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    """Return the number of tokens of a text; tokenizers that can count without encoding do so, which is faster."""
    count = getattr(tokenizer, "count", None)
    return int(count(text)) if count is not None else len(tokenizer.offsets(text))


def shorten(text: str, length: int) -> str:
    """Return at most this many characters of a text, cut at a word."""
    if length >= len(text):
        return text
    cut = text[:length].rsplit(None, 1)
    return cut[0].rstrip() + ELLIPSIS if len(cut) == 2 else ""


def longest_fit(text: str, whole: Callable[[str], str], budget: int, count: Count) -> str:
    """Return as much of ``text`` as lets ``whole`` of it fit into a budget; "" if nothing does."""
    text = text[: max(0, budget) * _MOST_CHARACTERS]
    low, used, high, needed = 0, count(whole("")), len(text), count(whole(text))
    if needed <= budget:
        return text
    turn = 0
    while high - low > _NEAR_ENOUGH and budget - used > 1:
        # Tokens are spread evenly enough to guess the right length; every other turn halves, to be sure.
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
    """Return the response with as many results as ``response.format()`` can fit; the last one may be cut short.

    The results also fit when they are formatted one by one: each definition is attached to only one of them.
    """
    if token_budget is None or token_budget >= NO_LIMIT:
        return response
    return fit_text(response, token_budget, count)[0]


def fit_text(response: SearchResponse, token_budget: int, count: Count) -> tuple[SearchResponse, str]:
    """Return a response as :func:`fit_response` does, and the text of it."""
    whole = response.format()
    if len(whole) * _MOST_TOKENS <= token_budget:
        return response, whole
    if len(whole) <= token_budget * _MOST_CHARACTERS:
        fitted = _told_once(response)
        if _size(fitted, whole, token_budget, count) <= token_budget:
            return fitted, whole
    if not response.results:
        fitted = _without_results(response, token_budget, count)
        return fitted, fitted.format()
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
) -> tuple[SearchResponse, str]:
    """Return the response with these results, or with fewer: parts may take more tokens together than alone."""
    results = list(shown)
    while results:
        fitted = _told_once(replace(response, results=list(results)))
        whole = fitted.format()
        excess = _size(fitted, whole, token_budget, count) - token_budget
        if excess <= 0:
            return fitted, whole
        last = results.pop()
        results += _shortened(last, count(last.format()) - excess, count)
    found = len(response.results)
    were = "result was" if found == 1 else "results were"
    note = f"{found} {were} found; none fits into a budget of {token_budget} tokens."
    fitted = replace(response, results=[], note=note)
    return fitted, fitted.format()


def _told_once(response: SearchResponse) -> SearchResponse:
    return replace(response, results=list(response.with_definitions_once()))


def _size(response: SearchResponse, whole: str, budget: int, count: Count) -> int:
    """Return the number of tokens of a response: in one piece, or as single results, which repeat their paths."""
    together = count(whole)
    # What is the same in the whole as alone has been counted with it. So has the rest of a result whose head
    # is longer there, unless parts not meant for reading were removed.
    alone = [text for result in response.results if (text := result.format()) not in whole]
    heads = [text.partition("\n") for text in alone]
    if together + sum(count(head) for head, _, _ in heads) <= budget and all(
        rest in whole for _, _, rest in heads
    ):
        return together
    return max(together, sum(count(result.format()) for result in response.results))


def _without_results(response: SearchResponse, token_budget: int, count: Count) -> SearchResponse:
    """Return a response with only a note, which may name many things and be long."""
    note = longest_fit(response.note, lambda text: replace(response, note=text).format(), token_budget, count)
    return response if note == response.note else replace(response, note=note)


def _shortened(result: SearchResult, budget: int, count: Count) -> list[SearchResult]:
    """Return the result cut to a budget, without optional parts if need be; None if too little is left."""
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


# -- explain: what each stage of a search did, as plain values, as far as it ran -----------------------------


def explain_run(run: Run, index: SearchIndex) -> dict[str, Any]:
    """Explain how a query was read, what each leg found and weighed, and what determined the confidence.

    For a search that was stopped early, also the passages found so far: the first of each leg as ``hits``, or those of
    the ``table`` with their score after every ranking stage.
    """
    query, settings = run.query, run.settings
    explained: dict[str, Any] = {
        "searched_for": query.text,
        "phrases": list(query.phrases),
        "references": [{"text": label.text, "section_id": label.section_id} for label in query.references],
        "filters": query.filters,
        "excluded": [*query.excluded_words, *query.excluded_phrases, *query.excluded_filters],
        "fusion": settings.fusion,
        "rrf_k": settings.rrf_k,
        "weights": {name: round(weight, 4) for name, weight in run.weights.items()},
        "disabled": list(settings.disabled),
    }
    found, ranked, chosen = (getattr(run, name, None) for name in ("found", "ranked", "chosen"))
    if found is not None:
        explained |= {
            "corrections": {item.word: item.replacement for item in found.corrections},
            "expansion": [item.term for item in found.expanded],
            "legs": [
                {"name": leg.name, "weight": run.weights[leg.name], "found": len(leg), "best": leg.best(3)}
                for leg in found.legs
            ],
        }
    if ranked is not None:
        explained["candidates"] = len(ranked.table)
    if chosen is not None:
        explained |= {
            "evidence": asdict(chosen.evidence),
            "reranker": chosen.reordered.name,
            "shown": chosen.shown,
        }
    if run.until == "present":
        return explained
    explained["until"] = run.until
    if chosen is not None:
        explained["confidence"] = chosen.confidence
        explained["compression_stats"] = chosen.stats
        explained["table"] = _rows(chosen.candidates, index)
    elif ranked is not None:
        explained["table"] = _rows(ranked.table.top(settings.top_k), index)
    elif found is not None:
        explained["hits"] = {leg.name: _hits(leg, settings.top_k, index) for leg in found.legs}
    return explained


def _hits(leg: RankedList, count: int, index: SearchIndex) -> list[dict[str, Any]]:
    best = leg.best(count)
    places = _places([chunk for chunk, _ in best], index)
    return [{**places[chunk], "score": round(score, 4)} for chunk, score in best if chunk in places]


def _rows(candidates: Sequence[Candidate], index: SearchIndex) -> list[dict[str, Any]]:
    """One row per candidate: its position, its ranks and scores in the lists, and its score after each stage."""
    places = _places([candidate.chunk for candidate in candidates], index)
    return [
        {**places[candidate.chunk], **explain_candidate(candidate)}
        for candidate in candidates
        if candidate.chunk in places
    ]


def _places(chunks: Sequence[int], index: SearchIndex) -> dict[int, dict[str, Any]]:
    return {
        number: {
            "chunk_id": chunk_id(chunk.source_path, chunk.chunk_index),
            "section": chunk.section_label or chunk.heading or chunk.document_title,
        }
        for number, chunk in index.lookup.chunks(chunks).items()
    }


def explain_candidate(candidate: Candidate) -> dict[str, Any]:
    """Explain a candidate's scores in the lists and stages, and how the query names it."""
    return {
        "ranks": candidate.ranks,
        "scores": {name: round(score, 4) for name, score in candidate.scores.items()},
        "stages": {name: round(score, 4) for name, score in candidate.stages.items()},
        "exact": candidate.reason,
    }
