"""Writing to the keyword index, one writer at a time over all threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import tantivy

from pinakes.errors import IndexLockedError
from pinakes.stores.embedded.keyword_files import damage_reported, read_manifest, write_manifest
from pinakes.stores.embedded.keyword_schema import DOCUMENT, KeywordEntry, write_entry

_HEAP_BYTES = 64_000_000
_THREADS = 1  # analysis, in Python, is the slower half; a second thread would only make more segments


class KeywordWriter:
    """Use as a context manager: entering takes the lock, leaving drops what was not committed.

    Everything may be repeated: adding a document replaces what the index had of it.
    """

    def __init__(
        self, index: tantivy.Index, folder: Path, timeout: float, committed: Callable[[], None]
    ) -> None:
        self._index = index
        self._folder = folder
        self._timeout = timeout
        self._committed = committed
        self._writer: Any = None
        self._pending = False
        self._generation = 0

    @property
    def generation(self) -> int:
        """What the index reflects now that nobody else can write: the point to catch up from."""
        return self._generation

    def __enter__(self) -> KeywordWriter:
        self._writer = self._lock()
        try:
            self._generation = read_manifest(self._folder).generation
            if self._generation == 0:
                # Whatever a first commit left behind without a manifest is not known to anybody.
                self._writer.delete_all_documents()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def delete(self, document: int) -> None:
        """Remove a document's entries."""
        self._pending = True
        self._writer.delete_documents_by_term(DOCUMENT, document)

    def add_document(self, document: int, entries: Sequence[KeywordEntry]) -> None:
        """Put a document's entries in, in place of those that the index has of it."""
        if any(entry.document != document for entry in entries):
            raise ValueError(f"entries of another document than {document}")
        self.delete(document)
        for entry in entries:
            write_entry(self._writer, entry)

    def commit(self, generation: int) -> None:
        """Make everything so far visible and durable, as the state of that generation."""
        with damage_reported(self._folder):
            self._writer.commit()
        # In this order: after a crash between the two, the index is merely ahead of what it says.
        write_manifest(self._folder, generation)
        self._pending = False
        self._generation = generation
        self._committed()

    def _lock(self) -> Any:
        deadline = time.monotonic() + self._timeout
        pause = 0.01
        while True:
            try:
                return self._index.writer(_HEAP_BYTES, _THREADS)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    with damage_reported(self._folder):
                        raise
                if time.monotonic() >= deadline:
                    raise IndexLockedError(
                        f"Another process has been writing to the keyword index in {self._folder} "
                        f"for {self._timeout:.0f} seconds. Try again when it is done."
                    ) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.25)

    def _release(self) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with damage_reported(self._folder):
            if self._pending:
                writer.rollback()
            # Lets merges finish, so that many small commits do not pile up segments, and gives the lock back.
            writer.wait_merging_threads()
