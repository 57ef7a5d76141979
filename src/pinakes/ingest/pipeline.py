"""The pipeline: runs the stages of ingest over many files, so that stopping at any point loses nothing.

Text first: every document can be found by keyword and reference as soon as it is read. Vectors follow, taken
from whatever texts in the record have none yet, so an interrupted run simply goes on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pinakes.config import IndexSettings
from pinakes.embedding import Embedder
from pinakes.ingest.codec import decode
from pinakes.ingest.contextualize import passage_text
from pinakes.ingest.convert import DATA_EXTENSIONS, supported_extensions
from pinakes.ingest.discover import Discovery, FoundFile, discover
from pinakes.ingest.prepare import hash_stream
from pinakes.ingest.sandbox import Limits, Outcome, Sandbox
from pinakes.model import Failure, IndexReport, Progress
from pinakes.stores.embedded.index import EmbeddedIndex
from pinakes.stores.embedded.record import FileState
from pinakes.text.language import LANGUAGE_NAMES

# How long a document may wait until the keyword index knows it, and vectors until the matrix does.
_KEYWORD_SECONDS = 2.0
_VECTOR_SECONDS = 15.0
_EMBED_WINDOW = 512
_RETRY = -1
# Mostly settings and logs; taken when they are named, not when a folder is.
_NOT_UNASKED = DATA_EXTENSIONS - {".csv", ".tsv", ".tab"}
# Two writes within one tick of the clock look like one; a file this fresh is compared by content.
_FRESH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a run has to do."""

    read: list[FoundFile]
    gone: dict[str, FileState]


class Pipeline:
    """One run over some paths. The caller holds the writer lock."""

    def __init__(
        self,
        index: EmbeddedIndex,
        settings: IndexSettings,
        embedder: Embedder,
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._index = index
        self._record = index.record
        self._settings = settings
        self._embedder = embedder
        self._workers = workers or _available_cores()
        self._limits = limits or Limits()
        self._progress = progress or (lambda step: None)
        self.report = IndexReport()

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = self.report.stage_seconds
            seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start

    def run(
        self, paths: Sequence[str | Path], *, retry_failed: bool = False, embed: bool = True
    ) -> IndexReport:
        """Bring the index up to date with the files below ``paths``."""
        started = time.perf_counter()
        with self._timed("scan"):
            discovery = discover(paths, supported_extensions() - _NOT_UNASKED, self._index.folder)
            plan = self._plan(discovery, retry_failed)
            self._record.add_roots(os.path.abspath(os.path.expanduser(str(path))) for path in paths)
        self._remove(plan.gone)
        self._read(plan)
        if embed:
            self.embed()
        with self._timed("vectors"):
            self._record.drop_orphan_vectors()
            self._index.catch_up_keyword()
            self._index.catch_up_vectors()
            self._record.trim_changes(self._record.generation())
        self._warn_of_languages()
        self.report.seconds = time.perf_counter() - started
        return self.report

    # -- what to do ------------------------------------------------------------------------------------------

    def _plan(self, discovery: Discovery, retry_failed: bool) -> _Plan:
        states, failures = self._record.file_states(), self._record.failures()
        fingerprint = self._settings.fingerprint()
        read = []
        for count, file in enumerate(discovery.files, 1):
            self._progress(Progress("scan", count, len(discovery.files), file.path))
            state, failure = states.get(file.path), failures.get(file.path)
            if failure and failure[1:] == (file.size, file.mtime_ns) and not retry_failed:
                self.report.failed.append(Failure(file.path, failure[0]))
            elif state and state.settings == fingerprint and not self._changed(file, state):
                self.report.unchanged += 1
            else:
                read.append(file)
        found = {file.path for file in discovery.files}
        gone = {path: state for path, state in states.items() if path not in found and discovery.covers(path)}
        forgotten = [path for path in failures if path not in found and discovery.covers(path)]
        self._record.remove([path for path in forgotten if path not in gone])
        self.report.failed += [Failure(path, reason) for path, reason in discovery.unreadable]
        return _Plan(read, gone)

    def _changed(self, file: FoundFile, state: FileState) -> bool:
        """Size and time first; content only when the time says nothing."""
        if file.size != state.size:
            return True
        if file.mtime_ns == state.mtime_ns and not _fresh(state):
            return False
        try:
            with Path(file.path).open("rb") as stream:
                same = hash_stream(stream) == state.content_hash
        except OSError:
            return True
        if same:
            self._record.touch(file.path, file.mtime_ns)
        return not same

    def _remove(self, gone: dict[str, FileState]) -> None:
        if gone:
            self._record.remove(list(gone))
            self.report.removed += sorted(gone)

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, plan: _Plan) -> None:
        known = {file.path: file for file in plan.read}
        moved = {state.content_hash: path for path, state in plan.gone.items()}
        existing = self._record.file_states()
        total, last_commit = len(plan.read), time.perf_counter()
        setup = {"settings": asdict(self._settings), "model_tokens": self._embedder.max_tokens}
        workers = min(self._workers, max(1, total))
        with Sandbox(
            "pinakes.ingest.prepare:prepare", workers=workers, limits=self._limits, initializer_payload=setup
        ) as sandbox:
            readable = (file for file in plan.read if self._check_readable(file))
            outcomes = sandbox.run({"path": file.path} for file in readable)
            with self._timed("read"):
                for count, (payload, outcome) in enumerate(outcomes, 1):
                    file = known[payload["path"]]
                    self._store(file, outcome, file.path in existing, moved)
                    self._progress(Progress("read", count, total, file.path))
                    if time.perf_counter() - last_commit > _KEYWORD_SECONDS:
                        self._index.catch_up_keyword()
                        last_commit = time.perf_counter()
        with self._timed("keyword"):
            self._index.catch_up_keyword()

    def _check_readable(self, file: FoundFile) -> bool:
        if os.access(file.path, os.R_OK):
            return True
        self._fail(file, "it cannot be opened: permission denied", retry=True)
        return False

    def _store(self, file: FoundFile, outcome: Outcome, known: bool, moved: dict[str, str]) -> None:
        if outcome.value is None:
            self._fail(file, outcome.error or "it could not be read")
            return
        parsed = decode(outcome.value)
        if not parsed.chunks:
            self._fail(file, "no text found")
            return
        content_hash = str(outcome.value["content_hash"])
        document = replace(parsed.document, size=file.size, content_hash=content_hash)
        self._record.put(
            replace(parsed, document=document), mtime_ns=file.mtime_ns, settings=self._settings.fingerprint()
        )
        self.report.chunks += len(parsed.chunks)
        self.report.warnings += [f"{file.path}: {warning}" for warning in document.warnings]
        if known:
            self.report.updated.append(file.path)
        elif content_hash in moved:
            self.report.renamed.append((moved[content_hash], file.path))
            self.report.removed.remove(moved.pop(content_hash))
        else:
            self.report.added.append(file.path)

    def _fail(self, file: FoundFile, reason: str, *, retry: bool = False) -> None:
        """Report a file. An older version stays, unless the file was emptied, which somebody meant."""
        if file.size == 0:
            self._record.remove([file.path])
        self._record.put_failure(file.path, reason, file.size, _RETRY if retry else file.mtime_ns)
        self.report.failed.append(Failure(file.path, reason))

    # -- embedding -------------------------------------------------------------------------------------------

    def embed(self) -> None:
        """Give every text that has no vector one."""
        total = self._record.pending_count()
        done, after, last_sync = 0, 0, time.perf_counter()
        while done < total:
            with self._timed("read"):
                pending = self._record.pending(_EMBED_WINDOW, after)
            if not pending:
                break
            after = pending[-1].id
            unique = list({passage.text_hash: passage for passage in pending}.values())
            texts = [passage_text(passage.context, passage.text) for passage in unique]
            with self._timed("embed"):
                vectors = self._embedder.embed(texts)
            with self._timed("vectors"):
                self._record.put_vectors([passage.text_hash for passage in unique], vectors)
            done += len(unique)
            self._progress(Progress("embed", min(done, total), total))
            if time.perf_counter() - last_sync > _VECTOR_SECONDS:
                with self._timed("vectors"):
                    self._index.catch_up_vectors()
                last_sync = time.perf_counter()
        self.report.embedded = done

    def _warn_of_languages(self) -> None:
        covered = self._embedder.languages
        if covered is None:
            return
        for language, count in self._index.lookup.languages().items():
            if language and language not in covered:
                name = LANGUAGE_NAMES.get(language, language)
                self.report.warnings.append(
                    f"{count} document(s) in {name}: the embedding model {self._embedder.name} was not made for that "
                    "language. Keyword and exact search work; choose another model for search by meaning."
                )


def _fresh(state: FileState) -> bool:
    ingested = datetime.fromisoformat(state.ingested_at).timestamp()
    return ingested - state.mtime_ns / 1e9 < _FRESH_SECONDS


def _available_cores() -> int:
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
