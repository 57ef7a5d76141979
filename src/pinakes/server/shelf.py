"""Shelves: the libraries that a server answers from, opened in the background and again when their files change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pinakes.errors import IndexNotFoundError, IndexStateError, ModelMismatchError, PinakesError, UsageError
from pinakes.tools.readers import Readers
from pinakes.tools.scope import Scope

if TYPE_CHECKING:
    from pinakes.embedding import Tokenizer
    from pinakes.library import Library
    from pinakes.model import (
        DefineResponse,
        DocumentInfo,
        IndexReport,
        Outline,
        Progress,
        ReferencesResponse,
        SearchResponse,
        SectionView,
        Status,
    )

T = TypeVar("T")
RECORD = "record.sqlite3"


class NotReadyError(PinakesError):
    """The library is still being read; the same question can be answered later."""


class Shelf(Protocol):
    """One library as a server sees it."""

    @property
    def name(self) -> str:
        """What the library is called where there are several; the name of its search tool."""
        ...

    @property
    def description(self) -> str:
        """What its documents are about; empty when nobody said."""
        ...

    @property
    def token_budget(self) -> int | None:
        """The budget of an answer that asks for none, where the library has one of its own."""
        ...

    @property
    def ready(self) -> bool:
        """Whether a question is answered without waiting for files to be read first."""
        ...

    def ask(self, question: Callable[[Scope], T], patience: float | None = None) -> T:
        """Put a question to the documents that may be shown; ``patience`` is how long to wait while they are read."""
        ...

    def tokenizer(self) -> Tokenizer:
        """Return what the library counts tokens with."""
        ...

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search with the settings of this library."""
        ...

    def section(self, reference: str, document: str | None) -> SectionView:
        """Return a section."""
        ...

    def text(self, document: str) -> SectionView:
        """Return a whole document."""
        ...

    def define(self, term: str, document: str | None) -> DefineResponse:
        """Return what a term means."""
        ...

    def references(self, reference: str, document: str | None) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it."""
        ...

    def outline(self, document: str | None, clauses: bool) -> list[Outline]:
        """Return the heading trees of one document, or of all."""
        ...

    def documents(self, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
        """Return the documents that pass the filters."""
        ...

    def status(self) -> Status:
        """Return the state of the index."""
        ...

    def roots(self) -> list[Path]:
        """Return the folders that a caller may have indexed."""
        ...

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Bring the library up to date with its files."""
        ...

    def warm(self) -> None:
        """Load whatever the first search would have to wait for."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


class Door:
    """Opens a library when it is first asked for, and again when another index was put in its place.

    What another process adds or removes the library sees by itself. It does not see that its folder was deleted and
    made anew, or rebuilt with another embedding model.
    """

    def __init__(self, opener: Callable[[], Library]) -> None:
        self._opener = opener
        self._guard = threading.Lock()
        self._readers = Readers()
        self._library: Library | None = None
        self._mark: tuple[int, int] | None = None

    def library(self) -> Library:
        """Return the library that stands in the folder now."""
        with self._guard:
            if self._library is None or _identity(self._library.path) != self._mark:
                # Not closed: another thread may still read from the old one.
                self._library = self._opener()
                self._mark = _identity(self._library.path)
            return self._library

    def ask(self, question: Callable[[Library], T]) -> T:
        """Put a question; when the index turns out to be of another model by now, open it again and ask once more."""
        with self._readers.reading(IndexStateError("The server is closing.")):
            library = self.library()
            try:
                return question(library)
            except ModelMismatchError:
                with self._guard:
                    if self._library is library:
                        self._library = None
                return question(self.library())

    def close(self) -> None:
        """Close the library if it was opened, when nobody reads from it any more."""
        self._readers.close()
        idle = self._readers.wait()
        with self._guard:
            if idle and self._library is not None:
                self._library.close()
                self._library = None


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells a record from another one under the same name."""
    try:
        found = (folder / RECORD).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class IndexShelf:
    """An index folder. ``locate`` says where it is; it may come into being while the server runs."""

    name = "library"
    description = ""
    token_budget: int | None = None

    def __init__(self, locate: Callable[[], Path | None], *, create_at: Path | None = None) -> None:
        self._locate = locate
        self._create_at = create_at
        self._door = Door(self._open)
        self._warming = threading.Lock()
        self._warm = False
        self._known_roots: list[str] = []

    def _open(self) -> Library:
        from pinakes.library import Library

        path = self._locate()
        if path is not None and (path / RECORD).exists():
            library = Library(path, create=False)
            self._known_roots = library.roots or self._known_roots
            return library
        if path is None:
            raise IndexNotFoundError(
                "There is no index yet, here or in a folder above. Make one with: pinakes index PATH"
            )
        raise IndexNotFoundError(
            f"There is no index at {path}. Make one with: pinakes index PATH --index {path}"
        )

    @property
    def path(self) -> Path | None:
        """Where the index is, if it is anywhere yet."""
        return self._locate()

    @property
    def ready(self) -> bool:
        """Whether the index and its model are loaded."""
        return self._warm

    def ask(self, question: Callable[[Scope], T], patience: float | None = None) -> T:
        """Put a question to the library; an index is there or not, so there is nothing to be patient about."""
        return self._door.ask(lambda library: question(Scope(library, {}, {})))

    def tokenizer(self) -> Tokenizer:
        """Return what the library counts tokens with."""
        return self._door.ask(lambda library: library.tokenizer)

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search the library."""
        document, wanted = options.pop("document", None), options.pop("filters", None)

        def ask(library: Library) -> SearchResponse:
            filters = Scope(library, {}, {}).filters(wanted, document)
            return library.search(query, filters=filters, **options)

        found = self._door.ask(ask)
        self._warm = True
        return found

    def section(self, reference: str, document: str | None) -> SectionView:
        """Return a section."""
        return self._door.ask(lambda library: library.section(reference, document=document))

    def text(self, document: str) -> SectionView:
        """Return a whole document."""
        return self._door.ask(lambda library: library.document(document))

    def define(self, term: str, document: str | None) -> DefineResponse:
        """Return what a term means."""
        return self._door.ask(lambda library: library.define(term, document=document))

    def references(self, reference: str, document: str | None) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it."""
        return self._door.ask(lambda library: library.references(reference, document=document))

    def outline(self, document: str | None, clauses: bool) -> list[Outline]:
        """Return the heading trees of one document, or of all."""
        return self._door.ask(lambda library: library.outline(document, clauses=clauses))

    def documents(self, filters: Mapping[str, object] | None) -> list[DocumentInfo]:
        """Return the documents that pass the filters."""
        return self._door.ask(lambda library: library.documents(filters))

    def status(self) -> Status:
        """Return the state of the index."""
        return self._door.ask(lambda library: library.status())

    def roots(self) -> list[Path]:
        """Return the folder that the index stands in, and those that were indexed before."""
        index = self._locate() or self._create_at
        home = [index.absolute().parent] if index is not None else []
        try:
            return [*home, *(Path(root) for root in self._door.ask(lambda library: library.roots))]
        except IndexNotFoundError:
            return home

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Read files into the index, which is made if it is not there yet; again, if it was there and is gone."""
        from pinakes.library import Library

        try:
            self._door.library()
        except IndexNotFoundError:
            if self._create_at is None:
                raise
            Library(self._locate() or self._create_at).close()
            paths = paths or self._known_roots or None
        report = self._door.ask(lambda library: library.index(paths, progress=progress))
        self._known_roots = self._door.ask(lambda library: library.roots)
        return report

    def warm(self) -> None:
        """Open the index and load its model."""
        with self._warming:
            self.search("a", top_k=1)

    def close(self) -> None:
        """Let go of files and connections, when nobody is opening them any more."""
        with self._warming:
            self._door.close()


def check_paths(shelf: Shelf, paths: list[str]) -> None:
    """Refuse files that nobody offered: a document may talk a model, or a page, into reading what it should not."""
    folders = [root.resolve() for root in shelf.roots()]
    for path in paths:
        resolved = Path(path).expanduser().resolve()
        if not any(resolved == folder or folder in resolved.parents for folder in folders):
            allowed = ", ".join(map(str, folders)) or "none"
            raise UsageError(
                f"{path} is not below a folder that this server may read ({allowed}). Index it with: pinakes index PATH"
            )
