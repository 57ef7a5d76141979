"""Batches: what goes to a database, cut into pieces that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Sequence[Item], most: int) -> Iterator[list[Item]]:
    """Cut a list into pieces of so many things.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    return (list(items[start : start + most]) for start in range(0, len(items), most))


def sized_batches(
    items: Iterable[Item], size: Callable[[Item], int], *, most: int, total: int
) -> Iterator[list[Item]]:
    """Cut things into pieces that have at most so many and are together at most so large; one too large is alone.

    >>> list(sized_batches(["a", "bcd", "e", "f", "g"], len, most=2, total=4))
    [['a', 'bcd'], ['e', 'f'], ['g']]
    """
    batch: list[Item] = []
    length = 0
    for item in items:
        more = size(item)
        if batch and (len(batch) >= most or length + more > total):
            yield batch
            batch, length = [], 0
        batch.append(item)
        length += more
    if batch:
        yield batch
