"""Enrich: candidates become results, with their places and the words that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pinakes.model import Match, SearchResult, chunk_id
from pinakes.search.candidates import Candidate
from pinakes.stores.embedded.lookup import StoredChunk

_CONTEXT = 90
_MAX_MATCHES = 50


def to_results(
    candidates: Iterable[Candidate],
    chunks: Mapping[int, StoredChunk],
    phrases: Sequence[str],
    *,
    explain: bool,
) -> list[SearchResult]:
    """Build the results, in the order of the candidates."""
    patterns = [PhrasePattern(phrase) for phrase in phrases]
    results: list[SearchResult] = []
    for candidate in candidates:
        chunk = chunks[candidate.chunk]
        matches = find_matches(chunk, patterns)
        results.append(
            SearchResult(
                rank=len(results) + 1,
                chunk_id=chunk_id(chunk.source_path, chunk.chunk_index),
                content=chunk.content,
                fused_score=round(candidate.score, 6),
                source_path=chunk.source_path,
                parent_chain=list(chunk.parent_chain),
                section_id=chunk.section_id,
                semantic_score=_rounded(candidate.scores.get("semantic")),
                keyword_score=_rounded(candidate.scores.get("keyword")),
                exact_match=bool(candidate.reason) or bool(matches),
                heading=chunk.heading,
                section_label=chunk.section_label,
                chunk_type=chunk.chunk_type,
                matched_by=sorted(candidate.ranks, key=("exact", "semantic", "keyword").index),
                lines=chunk.lines,
                pages=chunk.pages,
                document_title=chunk.document_title,
                matches=matches,
                explanation=_explanation(candidate) if explain else None,
            )
        )
    return results


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _explanation(candidate: Candidate) -> dict[str, object]:
    return {
        "ranks": candidate.ranks,
        "scores": {name: round(score, 4) for name, score in candidate.scores.items()},
        "exact": candidate.reason,
    }


class PhrasePattern:
    """Matches the words of a phrase in order, whatever white space, markup or case is between and around them."""

    def __init__(self, phrase: str) -> None:
        words = re.findall(r"\w+", phrase)
        self._first = words[0].lower()
        self._pattern = re.compile(
            r"(?<!\w)" + r"[\W_]+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find every place; a search for the first word alone skips most of the text."""
        lower = text.lower()
        if len(lower) != len(text):
            yield from self._pattern.finditer(text)
            return
        at = lower.find(self._first)
        while at >= 0:
            match = self._pattern.match(text, at)
            if match:
                yield match
            at = lower.find(self._first, match.end() if match else at + 1)


def find_matches(chunk: StoredChunk, patterns: Sequence[PhrasePattern]) -> list[Match]:
    """Return every place in a chunk where a phrase stands, with its line and what is around it."""
    matches = []
    for pattern in patterns:
        for match in pattern.finditer(chunk.content):
            start, end = match.span()
            low, high = max(0, start - _CONTEXT), min(len(chunk.content), end + _CONTEXT)
            context = " ".join(chunk.content[low:high].split())
            matches.append(Match(start, end, _line(chunk, start), context))
            if len(matches) == _MAX_MATCHES:
                return matches
    return sorted(matches, key=lambda item: item.start)


def _line(chunk: StoredChunk, offset: int) -> int:
    """Return the line of the document on which an offset of the content falls."""
    if offset >= chunk.prefix:
        own = chunk.content[chunk.prefix : offset]
        lead = len(chunk.content[chunk.prefix :]) - len(chunk.content[chunk.prefix :].lstrip())
        skipped = chunk.content[chunk.prefix : chunk.prefix + lead].count("\n")
        return chunk.lines.first + own.count("\n") - skipped
    return chunk.lines.first - chunk.content[offset : chunk.prefix].count("\n")
