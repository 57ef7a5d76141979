"""Services: the libraries that a server answers from, by name: index folders, and tools of an agent file."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from loccit.errors import IndexNotFoundError, IndexStateError, LoccitError, ModelMismatchError, UsageError
from loccit.workers.readers import Readers

if TYPE_CHECKING:
    from loccit.library import Library
    from loccit.model import IndexReport, Progress, SearchResponse
    from loccit.tools.document_tool import HierarchicalDocumentTool

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("loccit")

TOKEN_BUDGET = 6000
"""The default token budget of an answer: up to ten pages, not a book."""
RECORD = "record.sqlite3"
_CLOSING = "The server is closing."
# How long a call waits for documents that are being read; clients give up after a minute.
WAIT_SECONDS = 25.0
_BETWEEN_STEPS = 0.2


class NotReadyError(LoccitError):
    """The library is still being read; the same question can be answered later."""


class LibraryService(Protocol):
    """One library as a server sees it."""

    @property
    def name(self) -> str:
        """The library's name if there are several; also the name of its search tool."""
        ...

    @property
    def description(self) -> str:
        """What its documents are about; may be empty."""
        ...

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Configured defaults for arguments that a call leaves out."""
        ...

    @property
    def ready(self) -> bool:
        """Whether questions are answered without waiting for files to be read."""
        ...

    @property
    def loaded(self) -> bool:
        """Whether the library is in its final state, so that other processes may answer from it too."""
        ...

    def reader(self) -> Callable[[], LibraryService] | None:
        """Return what opens the library read-only in another process; None if there is nothing to open."""
        ...

    @property
    def generation(self) -> int | None:
        """A number that changes with the library; None if there is no library, or it has not been opened."""
        ...

    def ask(self, question: Callable[[Library], T], wait_seconds: float | None = None) -> T:
        """Put a question to the part of the library that may be shown; it stays open meanwhile.

        ``wait_seconds`` is how long to wait while its documents are read.
        """
        ...

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search with this service's defaults."""
        ...

    def roots(self) -> list[Path]:
        """Return the folders that a caller may index."""
        ...

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Bring the library up to date with its files."""
        ...

    def warm(self) -> None:
        """Load whatever the first search would wait for."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


class _Opened:
    """An open library and its readers; a replaced one is closed when the last reader is done."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.identity = _identity(library.path)
        self.readers = Readers(library.close)


class LibraryHandle:
    """Opens a library on first use, and again if another index has replaced it.

    A library notices by itself what other processes add or remove. It does not notice that its folder was deleted and
    recreated, or rebuilt with another embedding model.
    """

    def __init__(self, opener: Callable[[], Library]) -> None:
        self._opener = opener
        self._changing = threading.RLock()
        self._opened: _Opened | None = None
        self._closed = False

    def ask(self, question: Callable[[Library], T]) -> T:
        """Put a question; if the index has another model by now, open it again and repeat the question."""
        with self._reading() as opened:
            try:
                return question(opened.library)
            except ModelMismatchError:
                self._retire(opened)
        with self._reading() as opened:
            return question(opened.library)

    @contextmanager
    def _reading(self) -> Iterator[_Opened]:
        with ExitStack() as stack:
            with self._changing:
                opened = self._current()
                stack.enter_context(opened.readers.reading(IndexStateError(_CLOSING)))
            yield opened

    def _current(self) -> _Opened:
        """Return the library that is currently in the folder."""
        if self._closed:
            raise IndexStateError(_CLOSING)
        opened = self._opened
        if opened is not None and _identity(opened.library.path) != opened.identity:
            self._retire(opened)
        if self._opened is None:
            self._opened = _Opened(self._opener())
        return self._opened

    def _retire(self, opened: _Opened) -> None:
        with self._changing:
            if self._opened is opened:
                self._opened = None
            opened.readers.close()

    def close(self) -> None:
        """Close the library, if open, when the last reader is done."""
        with self._changing:
            self._closed = True
            opened = self._opened
        # A library that is read for very long stays open.
        if opened is not None and opened.readers.wait():
            self._retire(opened)


def _identity(folder: Path) -> tuple[int, int] | None:
    """What distinguishes a record from another one at the same path."""
    try:
        found = (folder / RECORD).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class IndexService:
    """An index folder. ``locate`` returns its path; it may be created while the server runs."""

    name = "library"
    description = ""
    loaded = True
    defaults: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, locate: Callable[[], Path | None], *, create_at: Path | None = None) -> None:
        self._locate = locate
        self._create_at = create_at
        self._handle = LibraryHandle(self._open)
        self._warming = threading.Lock()
        self._warm = False
        self._known_roots: list[str] = []

    def _open(self) -> Library:
        from loccit.library import Library

        path = self._locate()
        if path is not None and (path / RECORD).exists():
            library = Library(path, create=False)
            self._known_roots = library.roots or self._known_roots
            return library
        if path is None:
            raise IndexNotFoundError(
                "There is no index yet, here or in a folder above. Make one with: loccit index PATH"
            )
        raise IndexNotFoundError(
            f"There is no index at {path}. Make one with: loccit index PATH --index {path}"
        )

    def reader(self) -> Callable[[], LibraryService] | None:
        """Return what opens the index at its current path, if there is one."""
        path = self._locate()
        return None if path is None else partial(IndexService, partial(Path, path.absolute()))

    @property
    def ready(self) -> bool:
        """Whether the index and its model are loaded."""
        return self._warm

    @property
    def generation(self) -> int | None:
        """The generation of the index, if there is one."""
        try:
            return self.ask(lambda library: library.generation)
        except LoccitError:
            return None

    def ask(self, question: Callable[[Library], T], wait_seconds: float | None = None) -> T:
        """Put a question to the library; an index exists or not, so there is nothing to wait for."""
        return self._handle.ask(question)

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search the library."""
        found = self.ask(lambda library: library.search(query, **options))
        self._warm = True
        return found

    def roots(self) -> list[Path]:
        """Return the folder that contains the index, and those indexed before."""
        index = self._locate() or self._create_at
        home = [index.absolute().parent] if index is not None else []
        try:
            return [*home, *(Path(root) for root in self.ask(lambda library: library.roots))]
        except IndexNotFoundError:
            return home

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Read files into the index, which is created if missing, or recreated if it was deleted."""
        from loccit.library import Library

        try:
            self.ask(lambda library: library.path)
        except IndexNotFoundError:
            if self._create_at is None:
                raise
            Library(self._locate() or self._create_at).close()
            paths = paths or self._known_roots or None
        report = self.ask(lambda library: library.index(paths, progress=progress))
        self._known_roots = self.ask(lambda library: library.roots)
        return report

    def warm(self) -> None:
        """Open the index and load its model."""
        with self._warming:
            self.search("a", top_k=1)

    def close(self) -> None:
        """Release files and connections once nothing is being opened."""
        with self._warming:
            self._handle.close()


class ToolService:
    """A document tool, loaded on first use, or immediately if configured so."""

    def __init__(self, tool: HierarchicalDocumentTool, wait_seconds: float = WAIT_SECONDS) -> None:
        self._tool = tool
        self._wait_seconds = wait_seconds
        self._step: Progress | None = None

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self._tool.name

    @property
    def description(self) -> str:
        """What the tool is for."""
        return self._tool.description

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Those of the configuration."""
        from loccit.tools.document_tool import defaults_of

        return defaults_of(self._tool.config)

    # -- loading ---------------------------------------------------------------------------------------------

    def _load(self) -> Future[IndexReport]:
        """Start reading the documents, or join in; a failed load is retried."""
        return self._tool.start(self._hear)

    def _hear(self, step: Progress) -> None:
        self._step = step

    @property
    def loaded(self) -> bool:
        """Whether the documents have been read."""
        return self._tool.loaded

    def reader(self) -> Callable[[], LibraryService] | None:
        """Return what opens the index of the tool as it is."""
        return self._tool.reader and partial(_read_tool, self._tool.reader)

    @property
    def ready(self) -> bool:
        """Whether the documents have been read, or are read on first use."""
        return self._tool.loaded or self._tool.config.defer_loading

    def _wait(self, seconds: float | None = None) -> None:
        """Wait for the documents; if reading takes long, say so instead of keeping the caller waiting."""
        if self._tool.loaded:
            return
        loading = self._load()
        wait([loading], self._wait_seconds if seconds is None else seconds)
        if loading.done():
            loading.result()
            return
        step = self._step
        so_far = f" ({step.stage} {step.done} of {step.total})" if step else ""
        raise NotReadyError(f"The documents of {self.name} are being read{so_far}. Ask again in a minute.")

    def warm(self) -> None:
        """Load the tool, unless it is loaded on first use."""
        if not self._tool.config.defer_loading:
            self._load().result()
            self.search("a", top_k=1)

    def close(self) -> None:
        """Release files and connections."""
        self._tool.close()

    # -- asking ----------------------------------------------------------------------------------------------

    @property
    def generation(self) -> int | None:
        """The generation of the index, once the documents have been read."""
        return self._tool.ask(lambda library: library.generation) if self._tool.loaded else None

    def ask(self, question: Callable[[Library], T], wait_seconds: float | None = None) -> T:
        """Put a question to the documents that the tool may show."""
        self._wait(wait_seconds)
        return self._tool.ask(question)

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search as configured."""
        return self.ask(lambda library: library.search(query, **options))

    def roots(self) -> list[Path]:
        """Return the source, which is all that the tool reads."""
        return [self._tool.config.source_path()]

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Bring the index up to date with the source."""
        if self._tool.loaded:
            return self._tool.update_sync(progress)
        # What is loaded now is up to date; loading continues even if this call is cancelled.
        loading = self._load()
        while wait([loading], _BETWEEN_STEPS).not_done:
            if self._step is not None:
                progress(self._step)
        return loading.result()


def tool_services(path: Path) -> list[ToolService]:
    """Return a service for each document tool of an agent file."""
    from loccit.agent import load_agent
    from loccit.tools.document_tool import open_tools

    return [ToolService(tool) for tool in open_tools(load_agent(path))]


def _read_tool(opener: Callable[[], HierarchicalDocumentTool]) -> ToolService:
    return ToolService(opener())


def check_paths(service: LibraryService, paths: list[str]) -> None:
    """Refuse files that nobody offered: a document may talk a model, or a page, into reading what it should not."""
    folders = [root.resolve() for root in service.roots()]
    for path in paths:
        resolved = Path(path).expanduser().resolve()
        if not any(resolved == folder or folder in resolved.parents for folder in folders):
            allowed = ", ".join(map(str, folders)) or "none"
            raise UsageError(
                f"{path} is not below a folder that this server may read ({allowed}). Index it with: loccit index PATH"
            )


class LibraryRegistry:
    """The libraries of a server. With ``write``, it may also update them."""

    def __init__(
        self,
        services: Sequence[LibraryService],
        *,
        configured: bool = False,
        write: bool = False,
        token_budget: int = TOKEN_BUDGET,
        structured: bool = True,
        mark: str = "",
    ) -> None:
        if not services:
            raise UsageError("There is nothing to serve: the configuration has no document tool.")
        self.services: dict[str, LibraryService] = {service.name: service for service in services}
        self.configured = configured
        self.write = write
        self.token_budget = token_budget
        self.structured = structured
        self.mark: str = mark or secrets.token_hex(4)
        """Distinguishes this run of the server from others, whose indexes may have had the same generations."""

    def reader(self) -> Callable[[], LibraryRegistry] | None:
        """Return what opens the same libraries read-only in another process; None if one cannot be opened."""
        readers = [reader for service in self.services.values() if (reader := service.reader())]
        if len(readers) < len(self.services):
            return None
        names = ("configured", "write", "token_budget", "structured", "mark")
        return partial(_read_registry, readers, **{name: getattr(self, name) for name in names})

    @property
    def several(self) -> bool:
        """Whether a question must name its library, or goes to all of them."""
        return len(self.services) > 1

    def choose(self, name: str | None) -> list[LibraryService]:
        """Return the service with a name, or all of them."""
        if name is None:
            return list(self.services.values())
        if name not in self.services:
            raise UsageError(f"There is no tool {name!r} here; available: {', '.join(self.services)}.")
        return [self.services[name]]

    def budget(self, asked: int | None, service: LibraryService | None = None) -> int:
        """Return the token budget of an answer."""
        own: int | None = service.defaults.get("token_budget") if service is not None else None
        return asked or own or self.token_budget

    def warm(self) -> threading.Thread:
        """Open everything in the background, so that it is ready for the first question."""

        def load() -> None:
            for service in self.services.values():
                _prepare(service)

        thread = threading.Thread(target=load, name="loccit-warm", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Release everything."""
        with ExitStack() as stack:
            for service in self.services.values():
                stack.callback(service.close)


def _read_registry(readers: Sequence[Callable[[], LibraryService]], **options: Any) -> LibraryRegistry:
    return LibraryRegistry([reader() for reader in readers], **options)


def _prepare(service: LibraryService) -> None:
    """Open one service. Errors are only logged: the first caller gets them."""
    try:
        service.warm()
    except IndexNotFoundError as error:
        logger.info("%s", error)
    except LoccitError as error:
        logger.warning("%s", error)
    except Exception:
        logger.exception("Cannot prepare %s", service.name)
