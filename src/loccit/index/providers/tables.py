"""Tables: what databases share that keep a library as two collections, points and entries.

A store says how to write, delete, read and scan rows of either, how to search, and how a point or an entry becomes a
row. Splitting requests, removing duplicates, checking the dimension and handling empty requests is done here.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from loccit.errors import StoreError
from loccit.index.store import Entry, Found, Point, Store
from loccit.models.embedding.protocol import Vectors

Item = TypeVar("Item")
Done = TypeVar("Done")
# What a store identifies a collection by, usually its name, and what it keeps there.
Where = TypeVar("Where")
Row = TypeVar("Row")
# The documents to search, if not all; and the weights of vectors and words in a fusion.
Documents: TypeAlias = list[str] | None
Weights: TypeAlias = tuple[float, float]


def batches(items: Sequence[Item], most: int) -> Iterator[list[Item]]:
    """Split a list into pieces of a maximum length.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    return (list(items[start : start + most]) for start in range(0, len(items), most))


def sized_batches(
    items: Iterable[Item], size: Callable[[Item], int], *, most: int, total: int
) -> Iterator[list[Item]]:
    """Split things into pieces of a maximum number and total size; one that is too large is alone.

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


def side_by_side(work: Callable[[Item], Done], tasks: Iterable[Item], parallel: int) -> list[Done]:
    """Run tasks, some of them concurrently; after the first error, those not started are dropped."""
    if parallel == 1:
        return [work(task) for task in tasks]
    done: list[Done] = []
    with ThreadPoolExecutor(parallel, thread_name_prefix="loccit-store") as pool:
        waiting = []
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) >= 2 * parallel:
                    done.append(waiting.pop(0).result())
            done += [future.result() for future in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return done


def text_only(text: str) -> str:
    """Return a text without lone surrogates, which some file names contain and no database accepts."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def wide_text(text: str) -> str:
    """Return the same for a database that stores text in 16 bits: surrogate pairs are joined."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def numbers(vector: Vectors, decimals: int = 9) -> list[float]:
    """Return a vector as JSON: nine decimals represent every float32 of a unit vector."""
    rounded: list[float] = np.round(np.asarray(vector, np.float64), decimals).tolist()
    return rounded


def read_vector(values: Any) -> Vectors | None:
    """Return a vector from a list of numbers, or None."""
    return None if values is None else np.asarray(values, np.float32)


_RECHECK_SMALL = 30.0
_RECHECK_LARGE = 600.0


class SizeWatch:
    """Caches whether a collection is below a threshold: then a service compares every vector, else it uses its index.

    A slightly outdated answer does no harm: both ways work.
    """

    def __init__(
        self, count: Callable[[], int], bound: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count = count
        self._bound = bound
        self._clock = clock
        self._guard = threading.Lock()
        self._known: tuple[bool, float] | None = None

    def small(self) -> bool:
        """Whether there are fewer points than the threshold."""
        if self._bound <= 0:
            return False
        known = self._known
        if known is None or self._clock() > known[1]:
            # Outside the lock: several threads may count at once, none waits for another's request.
            small = self._count() < self._bound
            known = small, self._clock() + (_RECHECK_SMALL if small else _RECHECK_LARGE)
            with self._guard:
                self._known = known
        return known[0]

    def forget(self) -> None:
        """Count again next time."""
        with self._guard:
            self._known = None


class TableStore(Store, Generic[Where, Row]):
    """A store whose points and entries are rows of two collections, ``_points`` and ``_entries``."""

    # Limits per request: entries and bytes written (for points: the batch of the capabilities), keys deleted,
    # rows read.
    entries_at_once: ClassVar[int] = 200
    bytes_at_once: ClassVar[int] = 8_000_000
    keys_at_once: ClassVar[int] = 1_000
    page: ClassVar[int] = 200

    _points: Where
    _entries: Where
    # How many requests write at the same time.
    _parallel = 1

    # -- what a store says -----------------------------------------------------------------------------------

    @abstractmethod
    def _write(self, where: Where, rows: list[Row]) -> None:
        """Store rows, replacing those with the same keys."""

    @abstractmethod
    def _delete(self, where: Where, keys: list[str]) -> None:
        """Delete rows by key; unknown keys are not an error."""

    @abstractmethod
    def _read(self, where: Where, keys: list[str]) -> Iterable[Row]:
        """Return rows by key."""

    @abstractmethod
    def _scan(self, where: Where, wanted: Mapping[str, str], *, whole: bool) -> Iterator[Sequence[Row]]:
        """Return the rows whose fields have some values, in pages; only keys unless they are to be whole."""

    @abstractmethod
    def _row(self, point: Point) -> Row:
        """Return the row of a point."""

    @abstractmethod
    def _point(self, row: Row) -> Point:
        """Return the point of a row, as far as it was read."""

    @abstractmethod
    def _entry_row(self, entry: Entry) -> Row:
        """Return the row of an entry."""

    @abstractmethod
    def _entry(self, row: Row) -> Entry:
        """Return the entry of a row."""

    @abstractmethod
    def _make(self, dimension: int) -> None:
        """Create what is missing of the two collections."""

    @abstractmethod
    def _nearest(self, vector: Vectors, limit: int, documents: Documents) -> Sequence[Found]:
        """Search vectors."""

    def _worded(self, terms: list[str], limit: int, documents: Documents) -> Sequence[Found]:
        """Search words."""
        raise NotImplementedError

    def _fused(
        self, vector: Vectors, terms: list[str], weights: Weights, limit: int, documents: Documents
    ) -> Sequence[Found]:
        """Search both; there may be no words."""
        raise NotImplementedError

    def _size(self, item: Point | Entry) -> int:
        """Return the approximate size of a point or an entry in a request."""
        if isinstance(item, Entry):
            return _bytes(item.value) + 400
        length = 0 if item.vector is None else 13 * len(item.vector)
        return length + sum(map(_bytes, (item.text, item.heading, item.source_path, 2 * item.terms))) + 500

    def _entry_key(self, key: str) -> str:
        """Return the key under which an entry is stored."""
        return key

    # -- what follows from it --------------------------------------------------------------------------------

    def create(self, dimension: int) -> None:
        """Create what is missing; refuse a collection with other vectors."""
        if (found := self.dimension()) is not None:
            self.check_dimension(found, dimension)
        self._make(dimension)
        # Another process may have created it at the same time, for other vectors.
        if (found := self.dimension()) is not None:
            self.check_dimension(found, dimension)

    def upsert(self, points: Sequence[Point]) -> None:
        """Store points, as many per request as allowed; of those with the same id the last."""
        latest = {point.id: point for point in points}
        batched = sized_batches(
            latest.values(), self._size, most=self.capabilities.batch, total=self.bytes_at_once
        )
        side_by_side(
            lambda batch: self._write(self._points, list(map(self._row, batch))), batched, self._parallel
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points."""
        self._delete_from(self._points, ids)

    def _delete_from(self, where: Where, keys: Sequence[str]) -> None:
        unique = list(dict.fromkeys(keys))
        side_by_side(
            lambda batch: self._delete(where, batch), batches(unique, self.keys_at_once), self._parallel
        )

    def fetch(self, ids: Sequence[str]) -> list[Point]:
        """Return whole points."""
        return [self._point(row) for row in self._read_all(self._points, ids)]

    def _read_all(self, where: Where, keys: Sequence[str]) -> Iterator[Row]:
        for batch in batches(keys, self._rows_at_once(where)):
            yield from self._read(where, batch)

    def _rows_at_once(self, where: Where) -> int:
        """Return how many whole rows to read at once; the values of entries can be large."""
        return self.page if where == self._points else min(self.page, self.entries_at_once)

    def points(self, document: str | None = None, *, vectors: bool = False) -> Iterator[list[Point]]:
        """Return points in pages."""
        wanted = {} if document is None else {"document": document}
        for rows in self._scan(self._points, wanted, whole=vectors):
            yield [self._point(row) for row in rows]

    def search(
        self, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search vectors, unless nothing can be found."""
        if limit < 1 or (documents is not None and not documents):
            return []
        return self._nearest(vector, limit, _listed(documents))

    def keyword(
        self, terms: Sequence[str], limit: int, documents: Collection[str] | None = None
    ) -> Sequence[Found]:
        """Search words, unless nothing can be found."""
        if limit < 1 or not terms or (documents is not None and not documents):
            return []
        return self._worded(list(terms), limit, _listed(documents))

    def hybrid(
        self,
        vector: Vectors,
        terms: Sequence[str],
        weights: tuple[float, float],
        limit: int,
        documents: Collection[str] | None = None,
    ) -> Sequence[Found]:
        """Search both, unless nothing can be found."""
        if limit < 1 or (documents is not None and not documents):
            return []
        return self._fused(vector, list(terms), weights, limit, _listed(documents))

    def put(self, entries: Sequence[Entry]) -> None:
        """Store entries; of those with the same key the last."""
        latest = {entry.key: entry for entry in entries}
        batched = sized_batches(
            latest.values(), self._size, most=self.entries_at_once, total=self.bytes_at_once
        )
        side_by_side(
            lambda batch: self._write(self._entries, list(map(self._entry_row, batch))),
            batched,
            self._parallel,
        )

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of entries."""
        rows = self._read_all(self._entries, list(map(self._entry_key, keys)))
        return {entry.key: entry.value for entry in map(self._entry, rows)}

    def entries(self, kind: str, group: str | None = None) -> Iterator[list[Entry]]:
        """Return entries in pages."""
        wanted = {"kind": kind} if group is None else {"kind": kind, "group": group}
        for rows in self._scan(self._entries, wanted, whole=True):
            yield [self._entry(row) for row in rows]

    def remove(self, keys: Sequence[str]) -> None:
        """Delete entries."""
        self._delete_from(self._entries, list(map(self._entry_key, keys)))

    def without_vector(self, point: Point) -> StoreError:
        """Return the error for a point without a vector, if the database requires one."""
        return StoreError(f"{self.provider}: the point {point.id} has no vector, and cannot be stored.")


def _listed(documents: Collection[str] | None) -> Documents:
    return None if documents is None else list(documents)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
