"""Loading a tool: its library is opened and updated once, in the background, for all callers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loccit.agent.database import check_store, collection_name
from loccit.errors import (
    IndexLockedError,
    IndexReadOnlyError,
    LoccitError,
    ModelMismatchError,
    UsageError,
)
from loccit.library import Library
from loccit.model import IndexReport, Progress
from loccit.scoped import ScopedLibrary, below
from loccit.search.present.respond import count_tokens
from loccit.workers.readers import Readers

if TYPE_CHECKING:
    from loccit.agent import HierarchicalDocumentToolConfig
    from loccit.model import SearchResponse
    from loccit.models.embedding import Embedder

logger: logging.Logger = logging.getLogger("loccit")

Listener = Callable[[Progress], object]

# One at a time per index folder.
_turns: dict[Path, threading.Lock] = {}
_turns_guard = threading.Lock()
_TURN_SECONDS = 0.2


class ToolClosedError(LoccitError):
    """The tool was closed while it was being used."""


class ToolLibrary(ScopedLibrary):
    """The documents that a tool may show, as a library that is searched as the tool is configured."""

    __slots__ = ("config",)

    def __init__(
        self, whole: Library, config: HierarchicalDocumentToolConfig, *parts: Mapping[str, object]
    ) -> None:
        super().__init__(whole, *parts)
        self.config: HierarchicalDocumentToolConfig = config

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: str | None = None,
        token_budget: int | None = None,
        **options: Any,
    ) -> SearchResponse:
        """Find passages in these documents; missing arguments are as configured."""
        modes = self.config.search_modes
        if mode is not None and mode not in modes:
            raise UsageError(f"mode must be one of {', '.join(modes)}, not {mode!r}.")
        # The library has defaults; explicitly configured values take precedence.
        written = self.config.top_k if "top_k" in self.config.model_fields_set else None
        return super().search(
            query,
            top_k=written if top_k is None else top_k,
            mode=mode,
            token_budget=self.config.token_budget if token_budget is None else token_budget,
            **options,
        )


class Loader:
    """Opens the library of a tool and indexes its source, unless another process does that."""

    def __init__(
        self,
        config: HierarchicalDocumentToolConfig,
        base_dir: Path | None,
        embedder: Embedder | None,
        read_only: bool = False,
    ) -> None:
        self._config = config
        self.base_dir = base_dir
        self.embedder = embedder
        self._read_only = read_only
        self._guard = threading.Lock()
        self._ready: Future[IndexReport] | None = None
        self._listeners: list[Listener] = []
        self._library: Library | None = None
        self._readers = Readers()
        self.loaded: bool = False
        self._source_filter: dict[str, object] = {}
        self._scoped: Library | None = None
        self._index_path = config.index_path(base_dir)
        self._database = config.database_settings(base_dir)
        if self._database is not None:
            # An unusable one is refused here, before anything is read.
            field, problem = check_store(self._database, self._index_path)
            if problem:
                raise UsageError(f"Tool {config.name}: database.{field}: {problem}")

    def check_source(self) -> None:
        """Refuse a source that does not exist."""
        try:
            self._config.check_source(self.base_dir)
        except UsageError as error:
            raise UsageError(f"Tool {self._config.name}: {str(error).rstrip('.')}.") from None

    def start(self, listener: Listener | None = None, *, again: bool = False) -> Future[IndexReport]:
        """Start loading, or join a load in progress; a failed load is retried, a finished one repeated if asked to."""
        with self._guard:
            if self._readers.closed:
                raise self._refusal()
            if self._ready is None or (self._ready.done() and (again or self._ready.exception())):
                self._ready = Future()
                # From here on, no single waiting caller can cancel it.
                self._ready.set_running_or_notify_cancel()
                self._listeners = [listener] if listener else []
                name = f"loccit-load-{self._config.name}"
                threading.Thread(target=self._run, args=(self._ready,), name=name, daemon=True).start()
            elif listener and not self._ready.done() and listener not in self._listeners:
                self._listeners.append(listener)
            return self._ready

    def _refusal(self) -> ToolClosedError:
        return ToolClosedError(f"The tool {self._config.name} is closed.")

    @property
    def usable(self) -> bool:
        """Whether the library is loaded and open."""
        return self.loaded and not self._readers.closed

    def library(self) -> Library:
        """Return the loaded library."""
        if not self.usable:
            self.start().result()
        assert self._library is not None
        return self._library

    @contextmanager
    def reading(self) -> Iterator[Library]:
        """Return the loaded library; it is not closed meanwhile."""
        library = self.library()
        with self._readers.reading(self._refusal()):
            yield library

    def scoped(self) -> Library:
        """Return the library restricted to what the tool may show: documents of its source that pass its filters."""
        library = self.library()
        scoped = self._scoped
        if scoped is None:
            scoped = self._scoped = ToolLibrary(
                library, self._config, self._source_filter, self._config.filters or {}
            )
        return scoped

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""

        # This needs nothing that is closed.
        return count_tokens((self._library or self.library()).tokenizer, text)

    def close(self) -> None:
        """Stop loading at the next step, and close the library."""
        with self._guard:
            self._readers.close()
            ready = self._ready
        if ready is not None:
            ready.exception()
        if self._readers.wait() and self._library is not None:
            self._library.close()

    # -- in the background -----------------------------------------------------------------------------------

    def _run(self, ready: Future[IndexReport]) -> None:
        try:
            ready.set_result(self._load())
        except BaseException as error:
            ready.set_exception(error)

    def _load(self) -> IndexReport:
        if not self._read_only:
            self.check_source()
        if self._library is None:
            self._library = self._open()
        with self._taking_turns():
            report = IndexReport() if self._read_only else self._bring_up_to_date(self._library)
        for failure in report.failed:
            logger.warning("Tool %s: %s was not indexed: %s", self._config.name, failure.path, failure.reason)
        self._source_filter = self._filter_for_own(self._library)
        self._scoped = None
        self.loaded = True
        return report

    def _open(self) -> Library:
        try:
            return Library(
                self._index_path,
                settings=self._config.settings(self.base_dir),
                embedder=self.embedder or self._config.build_embedder(self.base_dir),
                reranker=self._config.build_reranker(self.base_dir),
                database=self._database,
                create=not self._read_only,
            )
        except UsageError as error:
            if self._database is None or str(error).startswith("Tool "):
                raise
            # Of several tools, the one whose database it is.
            raise UsageError(f"Tool {self._config.name}: {error}") from error

    @contextmanager
    def _taking_turns(self) -> Iterator[None]:
        """Tools of one process that share an index load one after the other."""
        with _turns_guard:
            turn = _turns.setdefault(self._index_path, threading.Lock())
        while not turn.acquire(timeout=_TURN_SECONDS):
            if self._readers.closed:
                raise self._refusal()
        try:
            yield
        finally:
            turn.release()

    def _filter_for_own(self, library: Library) -> dict[str, object]:
        """Return a filter for the documents of the source, if the index has others, or may get some."""
        source = str(self._config.source_path(self.base_dir))
        state = library.status()
        others = any(root != source for root in state.roots)
        if self._database is not None and not others:
            # Others may publish to the same collection.
            others = state.documents > len(library.documents(below(source)))
        return below(source) if others or self._config.index or self._shares_collection() else {}

    def _shares_collection(self) -> bool:
        """Whether the collection has an explicit name, which others may use too."""
        return self._database is not None and self._database.collection != collection_name(self._config.name)

    def _has_own(self, library: Library) -> bool:
        """Whether the index has documents of the source."""
        return bool(library.documents(below(str(self._config.source_path(self.base_dir)))))

    def index(self, library: Library, progress: Callable[[Progress], None], **options: Any) -> IndexReport:
        """Bring the library up to date with the source, in this thread."""
        return library.index(
            [self._config.source_path(self.base_dir)],
            progress=progress,
            embed=self._config.dense_index,
            language_model=self._config.build_context_model(),
            **options,
        )

    def _bring_up_to_date(self, library: Library) -> IndexReport:
        try:
            return self.index(library, self._tell, wait=False)
        except IndexLockedError:
            if not self._has_own(library):
                return self.index(library, self._tell)
            logger.warning(
                "Tool %s: another process is writing to its index; searching what is there.",
                self._config.name,
            )
        except IndexReadOnlyError:
            if not self._has_own(library):
                raise
            logger.warning("Tool %s: its index is read-only; searching what is there.", self._config.name)
        except ModelMismatchError:
            # An index that others use as well is not thrown away.
            if self._config.index or self._database is not None:
                raise
            logger.warning(
                "Tool %s: the embedding model has changed; rebuilding its index.", self._config.name
            )
            return self.index(library, self._tell, rebuild=True)
        return IndexReport(unchanged=library.status().documents)

    def _tell(self, progress: Progress) -> None:
        if self._readers.closed:
            raise ToolClosedError(f"The tool {self._config.name} was closed while it was loading.")
        for listener in list(self._listeners):
            # A listener's error, such as a closed event loop, must not stop work that others wait for.
            with suppress(Exception):
                listener(progress)
