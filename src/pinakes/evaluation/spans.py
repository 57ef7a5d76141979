"""Character spans: how much of what was wanted came back, and how much else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SPANS_AT = (1, 3, 5, 10)

Span = tuple[int, int]
Spans = Mapping[str, Iterable[Span]]


def union(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; in order.

    >>> union([(5, 9), (0, 3), (2, 5), (12, 12)])
    [(0, 9)]
    """
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Span]) -> int:
    """Return how many characters spans that do not overlap cover."""
    return sum(end - start for start, end in spans)


def overlap(one: list[Span], other: list[Span]) -> int:
    """Return how many characters two lists of joined spans share."""
    shared, i, j = 0, 0, 0
    while i < len(one) and j < len(other):
        shared += max(0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
    return shared


def coverage(returned: Spans, golden: Spans) -> tuple[float, float, float]:
    """Return recall, precision and intersection over union, in characters over all files."""
    mine = {file: union(spans) for file, spans in returned.items()}
    theirs = {file: union(spans) for file, spans in golden.items()}
    shared = sum(overlap(spans, theirs.get(file, [])) for file, spans in mine.items())
    given, wanted = sum(map(length, mine.values())), sum(map(length, theirs.values()))
    return (
        shared / wanted if wanted else 0.0,
        shared / given if given else 0.0,
        shared / (given + wanted - shared) if given + wanted else 0.0,
    )
