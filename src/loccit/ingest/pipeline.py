"""The pipeline: runs the ingest stages over many files; stopping at any point loses nothing.

Text comes first: every document can be found by keyword and reference as soon as it is read, and by the meaning of its
beginning soon after. Contexts by a language model follow, if configured, then vectors for everything in the record that
has none yet, short documents first; so an interrupted run simply continues.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from loccit.config import IndexSettings
from loccit.errors import DamagedDocumentError, LoccitError, UsageError
from loccit.index.folder.local import CONCEPTS, LocalIndex
from loccit.index.folder.record import LOST, FileState
from loccit.ingest.discover import Discovery, FoundFile, discover, is_at_or_below, remembered
from loccit.ingest.llm_context import ContextStage
from loccit.ingest.prepare import READER, hash_stream
from loccit.ingest.repeats import Repeats
from loccit.model import Failure, IndexReport, ParsedDocument, Progress
from loccit.models.embedding import Embedder
from loccit.models.embedding.folder import LocalModel
from loccit.models.embedding.multilingual import unspoken
from loccit.models.embedding.protocol import Vectors
from loccit.models.llm import LanguageModel
from loccit.read import DATA_EXTENSIONS, IMAGE_EXTENSIONS, supported_extensions
from loccit.telemetry import span, traced_document, traced_index
from loccit.workers.sandbox import Limits, Outcome, Sandbox

# How long a document may wait for the keyword index, and vectors for the matrix.
_KEYWORD_SECONDS = 2.0
_VECTOR_SECONDS = 15.0
_EMBED_WINDOW = 512
_BEGINNINGS = 16
_RETRY = -1
# A larger file without any text was hardly emptied on purpose.
_BLANK_BYTES = 1 << 16
# Mostly settings and logs; read if they are named, not if a folder is.
_NOT_UNASKED = DATA_EXTENSIONS - {".csv", ".tsv", ".tab"}
# Two writes within one clock tick look like one; a file this new is compared by content.
_FRESH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to do; ``known`` are the files that the record has a version of."""

    read: list[FoundFile]
    gone: dict[str, FileState]
    known: frozenset[str]

    def moved(self) -> dict[str, list[str]]:
        """Return the deleted files by content: one that turns up elsewhere was moved."""
        found: dict[str, list[str]] = {}
        for path, state in sorted(self.gone.items(), reverse=True):
            found.setdefault(state.content_hash, []).append(path)
        return found


class Pipeline:
    """One run over some paths. The caller holds the writer lock."""

    def __init__(
        self,
        index: LocalIndex,
        settings: IndexSettings,
        embedder: Embedder,
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
        language_model: LanguageModel | None = None,
    ) -> None:
        self._index = index
        self._record = index.record
        self._settings = settings
        # Documents read under other settings, or by another version of the stages, are read again.
        self._fingerprint = f"{_reading(settings)} {READER}"
        self._embedder = embedder
        self._workers = workers or _available_cores()
        self._limits = limits or Limits()
        self._progress = progress or (lambda step: None)
        self._language_model = language_model
        self._embeds_early = False
        self._begun = 0
        self._repeats = Repeats(embedder, index.record.vectors_of)
        self._within: list[float] = []
        self.report: IndexReport = IndexReport()

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        self._within.append(0.0)
        try:
            with span(stage):
                yield
        finally:
            seconds, taken = self.report.stage_seconds, time.perf_counter() - start
            # Time spent in a nested stage belongs to that stage.
            seconds[stage] = seconds.get(stage, 0.0) + taken - self._within.pop()
            if self._within:
                self._within[-1] += taken

    @traced_index
    def run(
        self, paths: Sequence[str | Path], *, retry_failed: bool = False, embed: bool = True
    ) -> IndexReport:
        """Bring the index up to date with the files below ``paths``.

        A path that does not exist is an error, unless it is remembered from an earlier run.
        """
        started = time.perf_counter()
        with self._timed("keyword"):
            # Before anything changes: afterwards, indexes ahead of the record could not be told from late
            # ones.
            self._index.catch_up_without_damaged()
        with self._timed("scan"):
            discovery = discover(paths, _taken_unasked(self._settings), self._index.home)
            self._check_missing(discovery)
            plan = self._plan(discovery, retry_failed)
            self._record.add_roots(
                [*discovery.folders, *sorted(discovery.singles.difference(discovery.missing))]
            )
        self._record.remove(list(plan.gone))
        # Not with a service, which may be slow; and contexts still to be written would change the texts.
        contexts = self._settings.context_model or self._language_model is not None
        self._embeds_early = embed and not contexts and isinstance(self._embedder, LocalModel)
        self._read(plan)
        if embed:
            self.write_contexts()
            self.embed()
            self._gather_concepts()
        with self._timed("vectors"):
            self._record.drop_orphan_vectors()
            self._index.catch_up_keyword()
            self._index.catch_up_vectors()
            self._record.trim_changes(self._record.generation())
        if lost := self._record.meta(LOST):
            self.report.warnings.append(lost)
            self._record.set_meta({LOST: ""})
        if lack := unspoken(self._index.lookup.languages(), self._embedder):
            self.report.warnings.append(lack)
        self.report.seconds = time.perf_counter() - started
        return self.report

    # -- what to do ------------------------------------------------------------------------------------------

    def _check_missing(self, discovery: Discovery) -> None:
        """A remembered file that is missing was deleted; a folder may come back, so its documents are kept."""
        if not discovery.missing:
            return
        roots, states = set(self._record.roots()), self._record.file_states(discovery.missing)
        for path in discovery.missing:
            if path not in roots:
                raise UsageError(
                    f"{path} does not exist. Give a folder, a file or a pattern such as 'docs/**/*.md'."
                )
            kept = sum(is_at_or_below(known, path) for known in states)
            if path in states and Path(path).parent.is_dir():
                self._record.forget_roots([path])
            elif kept:
                discovery.singles.discard(path)
                self.report.warnings.append(
                    f"{path} is no longer there. Its documents ({kept}) are kept until it is back; to drop them, run: "
                    "loccit forget"
                )
            else:
                self._record.forget_roots([path])

    def _plan(self, discovery: Discovery, retry_failed: bool) -> Plan:
        """Compare what was found with the record, mostly by sets: hardly any file has changed."""
        places, fingerprint = discovery.places, self._fingerprint
        failures, total = self._record.failures(), len(discovery.files)
        settled = self._record.settled(places, fingerprint, _FRESH_SECONDS)
        doubtful = [file for file in discovery.files if file not in settled]
        # Deleted files are in the record, but were not found in that state.
        lost = settled.difference(discovery.files) if len(settled) + len(doubtful) > total else ()
        if failures:
            doubtful = [file for file in discovery.files if file not in settled or file.path in failures]
        states = self._record.states_of([*(path for path, *_ in lost), *failures])
        if self._record.count_files(places) > len(settled):
            states |= self._record.unsettled(places, fingerprint, _FRESH_SECONDS)
        read: list[FoundFile] = []
        forgiven: list[str] = []
        self.report.unchanged = total - len(doubtful)
        for count, file in enumerate(doubtful, self.report.unchanged + 1):
            self._progress(Progress("scan", count, total, file.path))
            state, failure = states.get(file.path), failures.get(file.path)
            if failure and failure[1:] == (file.size, file.mtime_ns) and not retry_failed:
                self.report.failed.append(Failure(file.path, failure[0]))
            elif state and state.settings == fingerprint and not self._changed(file, state):
                self.report.unchanged += 1
                if failure:
                    forgiven.append(file.path)
            else:
                read.append(file)
        self._progress(Progress("scan", total, total))
        found = {file.path for file in doubtful}
        kept = self._named_before(discovery)
        gone = {
            path: state
            for path, state in states.items()
            if path not in found
            and discovery.covers(path)
            and not (kept.covers(path) and Path(path).is_file())
        }
        forgiven += [path for path in failures if path not in found and discovery.covers(path)]
        self._record.forget_failures(forgiven)
        self.report.failed += [Failure(path, reason) for path, reason in discovery.unreadable]
        self.report.skipped = {extension: count for extension, count in discovery.skipped.items() if count}
        return Plan(read, gone, frozenset(states.keys() - gone.keys()))

    def _named_before(self, discovery: Discovery) -> Discovery:
        """Paths that earlier runs named inside the folders of this one: hidden or ignored, they were asked for."""
        given = {*discovery.folders, *discovery.singles}
        return remembered(
            root
            for root in self._record.roots()
            if root not in given and any(is_at_or_below(root, folder) for folder in discovery.folders)
        )

    def _changed(self, file: FoundFile, state: FileState) -> bool:
        """Compare size and time first; content only if the time is inconclusive."""
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
            try:
                self._record.touch(file.path, file.mtime_ns)
            except DamagedDocumentError:
                return True
        return not same

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, plan: Plan) -> None:
        files = {file.path: file for file in plan.read}
        moved = plan.moved()
        total, last_commit = len(plan.read), time.perf_counter()
        workers = min(self._workers, max(1, total))
        setup = {
            "settings": asdict(self._settings),
            "model_tokens": self._embedder.max_tokens,
            # A single scan gets all cores.
            "processes": max(1, self._workers // workers),
        }
        with Sandbox(
            "loccit.ingest.prepare:prepare",
            result=ParsedDocument,
            workers=workers,
            limits=self._limits,
            initializer_payload=setup,
        ) as sandbox:
            readable = (file for file in plan.read if self._check_readable(file))
            outcomes = sandbox.run({"path": file.path} for file in readable)
            with self._timed("read"):
                for count, (payload, outcome) in enumerate(outcomes, 1):
                    file = files[payload["path"]]
                    self._store(file, outcome, file.path in plan.known, moved)
                    self._progress(Progress("read", count, total, file.path))
                    if time.perf_counter() - last_commit > _KEYWORD_SECONDS:
                        self._index.catch_up_keyword()
                        if self._embeds_early:
                            self._embed_beginnings()
                        last_commit = time.perf_counter()
        self.report.removed = sorted(plan.gone.keys() - {old for old, _ in self.report.renamed})
        with self._timed("keyword"):
            self._index.catch_up_keyword()

    def _check_readable(self, file: FoundFile) -> bool:
        if os.access(file.path, os.R_OK):
            return True
        self._fail(file, "it cannot be opened: permission denied", retry=True)
        return False

    @traced_document
    def _store(self, file: FoundFile, outcome: Outcome, known: bool, moved: dict[str, list[str]]) -> None:
        if outcome.value is None:
            self._fail(file, outcome.error or "it could not be read", retry=outcome.again)
            return
        parsed: ParsedDocument = outcome.value
        if not parsed.chunks:
            self._fail(file, "no text found")
            return
        content_hash = parsed.document.content_hash
        document = replace(parsed.document, size=file.size)
        self._record.put(
            replace(parsed, document=document),
            mtime_ns=file.mtime_ns,
            settings=self._fingerprint,
            renamed_from="" if known else next(iter(moved.get(content_hash, ())[-1:]), ""),
        )
        self.report.chunks += len(parsed.chunks)
        self.report.warnings += [f"{file.path}: {warning}" for warning in document.warnings]
        self._count(file, content_hash, known, moved)

    def _count(self, file: FoundFile, content_hash: str, known: bool, moved: dict[str, list[str]]) -> None:
        if known:
            self.report.updated.append(file.path)
        elif moved.get(content_hash):
            self.report.renamed.append((moved[content_hash].pop(), file.path))
        else:
            self.report.added.append(file.path)

    def _fail(self, file: FoundFile, reason: str, *, retry: bool = False) -> None:
        """Report a failed file. An older version is kept, unless the file was emptied, presumably on purpose."""
        if _is_blank(file):
            self._record.remove([file.path])
        self._record.put_failure(file.path, reason, file.size, _RETRY if retry else file.mtime_ns)
        self.report.failed.append(Failure(file.path, reason))

    # -- contexts by a language model --------------------------------------------------------------------------

    def write_contexts(self) -> None:
        """Have a language model write contexts, if configured. An unavailable model is not a failure."""
        stage = ContextStage(
            self._index,
            self._settings,
            self._embedder.max_tokens,
            self.report,
            model=self._language_model,
            progress=self._progress,
        )
        if stage.idle:
            return
        with self._timed("context"):
            stage.run()
        with self._timed("keyword"):
            self._index.catch_up_keyword()

    # -- embedding -------------------------------------------------------------------------------------------

    def embed(self) -> None:
        """Embed every text that has no vector."""
        order = self._record.embedding_order()
        last_sync = time.perf_counter()
        for start in range(0, len(order), _EMBED_WINDOW):
            self._embed(order[start : start + _EMBED_WINDOW])
            self._progress(Progress("embed", min(start + _EMBED_WINDOW, len(order)), len(order)))
            if time.perf_counter() - last_sync > _VECTOR_SECONDS:
                with self._timed("vectors"):
                    self._index.catch_up_vectors()
                last_sync = time.perf_counter()

    def _embed_beginnings(self) -> None:
        """Make the documents read so far findable by the meaning of their beginnings."""
        first = self._record.first_passages(self._begun)
        started = time.perf_counter()
        for start in range(0, len(first), _BEGINNINGS):
            # A slow model must not delay the reading of documents.
            if time.perf_counter() - started > _KEYWORD_SECONDS / 2:
                break
            self._embed(first[start : start + _BEGINNINGS], partly=True)
            self._begun = first[start : start + _BEGINNINGS][-1]
        if first:
            with self._timed("vectors"):
                self._index.catch_up_vectors()

    def _embed(self, passages: Sequence[int], *, partly: bool = False) -> None:
        with self._timed("read"):
            pending = self._record.pending_at(passages)
        if not pending:
            return
        with self._timed("embed"):
            vectors = self._repeats.embed(pending, self._checked)
        with self._timed("vectors"):
            self._record.put_vectors([passage.text_hash for passage in pending], vectors, partly=partly)
        self.report.embedded += len(pending)

    def _gather_concepts(self) -> None:
        """Update the concept vocabulary, if there is one."""
        if not self._settings.concept_vocabulary:
            self._index.discard_derived(CONCEPTS)
            return
        with self._timed("concepts"):
            self._index.concepts.update(
                self._record,
                self._embedder,
                self._record.generation(),
                lambda done, total: self._progress(Progress("concepts", done, total)),
            )

    def _checked(self, vectors: Any, count: int) -> Vectors:
        """Validate vectors: models are third-party code, and nothing invalid must get into the record."""
        checked: Vectors = np.asarray(vectors, dtype=np.float32)
        expected = (count, self._embedder.dimension)
        if checked.shape != expected or not np.isfinite(checked).all():
            raise LoccitError(
                f"The embedding model {self._embedder.name} returned {checked.shape} numbers; {expected} finite ones "
                "were expected."
            )
        return checked


def _taken_unasked(settings: IndexSettings) -> frozenset[str]:
    """Return the extensions of files that are read if a folder is named. Most images there are not pages."""
    taken = supported_extensions() - _NOT_UNASKED
    return taken | IMAGE_EXTENSIONS if settings.ocr == "force" else taken


def _reading(settings: IndexSettings) -> str:
    """Identify everything that affects how a file is read. Contexts by a model and concepts come later."""
    later = ("context_", "concept_")
    values = {name: value for name, value in asdict(settings).items() if not name.startswith(later)}
    return json.dumps(values, sort_keys=True)


def _is_blank(file: FoundFile) -> bool:
    if file.size > _BLANK_BYTES:
        return False
    try:
        return not Path(file.path).read_bytes().strip()
    except OSError:
        return False


def _fresh(state: FileState) -> bool:
    return _timestamp(state.ingested_at) - state.mtime_ns / 1e9 < _FRESH_SECONDS


# Many files are read within one second, the resolution of what is stored.
@lru_cache(maxsize=1 << 10)
def _timestamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _available_cores() -> int:
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
