"""Library: the one object that every interface calls."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pinakes.awaiting import awaited
from pinakes.config import IndexSettings, Settings
from pinakes.errors import (
    DamagedIndexError,
    IndexNotFoundError,
    ModelMismatchError,
    NotFoundError,
    UsageError,
)
from pinakes.model import (
    Check,
    ContextEstimate,
    DefineResponse,
    DoctorReport,
    DocumentInfo,
    IndexReport,
    MoveReport,
    Outline,
    Progress,
    ReferencesResponse,
    SearchResponse,
    SectionView,
    Status,
)
from pinakes.parts import Models, Views

if TYPE_CHECKING:
    from pinakes.embedding import Embedder, Tokenizer
    from pinakes.llm import LanguageModel
    from pinakes.rerank import Reranker
    from pinakes.search.links.map import DocumentMap, LibraryMap
    from pinakes.search.links.reading import DocumentView
    from pinakes.search.links.suggest import Suggestion
    from pinakes.stores.embedded.index import EmbeddedIndex
    from pinakes.stores.settings import DatabaseSettings

INDEX_FOLDER = ".pinakes"


def find_index(start: Path | None = None) -> Path | None:
    """Return the nearest ``.pinakes`` folder, from ``start`` upwards."""
    here = (start or Path.cwd()).absolute()
    return next(
        (folder / INDEX_FOLDER for folder in (here, *here.parents) if (folder / INDEX_FOLDER).is_dir()), None
    )


class Library:
    """A searchable collection of documents in one index folder. Safe to share between threads."""

    def __init__(
        self,
        path: str | Path,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        create: bool = True,
        database: DatabaseSettings | None = None,
    ) -> None:
        """Open the library in a folder.

        ``database`` is the one that holds it, where the folder does not say so yet; one in memory keeps nothing in
        the folder either.
        """
        from pinakes.stores.embedded.index import RECORD
        from pinakes.stores.home import open_index

        self._scratch: TemporaryDirectory[str] | None = None
        if database is not None and database.provider == "in-memory":
            self._scratch = TemporaryDirectory(prefix="pinakes-", ignore_cleanup_errors=True)
            path = Path(self._scratch.name) / INDEX_FOLDER
        self.path = Path(path).expanduser().absolute()
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is a file; an index is a folder.")
        if not create and not (self.path / RECORD).exists():
            raise IndexNotFoundError(f"There is no index at {self.path}. Make one with: pinakes index PATH")
        if not (self.path / RECORD).exists() and self.path.is_dir() and _holds_other_files(self.path):
            raise UsageError(
                f"{self.path} holds other files; an index needs a folder of its own, such as "
                f"{self.path / INDEX_FOLDER}."
            )
        self._index: EmbeddedIndex = open_index(self.path, create=create, database=database)
        self.settings = settings or Settings()
        self.index_settings = self.settings.index or self._stored_settings()
        self._models = Models(embedder, reranker)
        self._views = self._make_views()
        self._guard = threading.RLock()
        self._former: list[EmbeddedIndex] = []

    @classmethod
    def connect(
        cls,
        path: str | Path,
        database: DatabaseSettings,
        *,
        progress: Callable[[Progress], None] | None = None,
        **options: Any,
    ) -> Library:
        """Open a library that a database holds, and copy its record into a folder of this machine.

        Raises ``NotFoundError`` where the database has none, and makes no folder then. ``options`` are those of
        ``Library`` itself.
        """
        from pinakes.stores.joining import check_library

        check_library(Path(path).expanduser().absolute(), database)
        library = cls(path, database=database, **options)
        try:
            library.follow(progress=progress)
        except BaseException:
            library.close()
            raise
        return library

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections."""
        with self._guard:
            self._index.close()
            for former in self._former:
                former.close()
            self._former.clear()
            if self._scratch is not None:
                self._scratch.cleanup()

    def _stored_settings(self) -> IndexSettings:
        stored = self._index.record.meta("settings")
        return IndexSettings.from_stored(json.loads(stored)) if stored else IndexSettings()

    # -- what is loaded when it is needed --------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """The embedding model of this library, loaded when first used."""
        embedder = self._models.embedder(self.index_settings.embedding_model)
        self._check_model(embedder)
        return embedder

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that lengths are counted with."""
        return self._models.tokenizer(self.index_settings.embedding_model)

    def _check_model(self, embedder: Embedder) -> None:
        name, dimension = self._index.model
        if name and (name != embedder.name or dimension != embedder.dimension):
            raise ModelMismatchError(
                f"The index at {self._index.where} was made with the embedding model {name} ({dimension} "
                f"dimensions), not with {embedder.name} ({embedder.dimension}). Use that model, or make the index anew "
                "with: pinakes index --rebuild"
            )

    def _make_views(self) -> Views:
        return Views(self._index, lambda: self.embedder, lambda: self.tokenizer)

    # -- indexing --------------------------------------------------------------------------------------------

    def index(
        self,
        paths: Sequence[str | Path] | str | Path | None = None,
        *,
        rebuild: bool = False,
        retry_failed: bool = False,
        workers: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        wait: bool = True,
        on_wait: Callable[[str], None] | None = None,
        embed: bool = True,
        language_model: LanguageModel | None = None,
        runner: str = "",
    ) -> IndexReport:
        """Bring the index up to date with files and folders; without ``paths``, with those given before.

        ``language_model`` writes the contexts in place of the one that ``context_model`` names. With a database that
        several can write to, more than one of ``workers`` read, embed and publish side by side; ``runner`` says where:
        ``local`` or ``ray``.
        """
        from pinakes.ingest.choosing import choose_pipeline
        from pinakes.stores.embedded.database import explain_errors
        from pinakes.stores.home import check_home

        if isinstance(paths, (str, Path)):
            paths = [paths]
        wanted = [str(Path(path).expanduser()) for path in paths] if paths else self._index.record.roots()
        if not wanted:
            raise UsageError("Nothing to index: give a folder, a file or a pattern.")
        for path in wanted if paths else ():
            if not os.path.lexists(path) and not _is_pattern(path):
                raise UsageError(
                    f"{path} does not exist. Give a folder, a file or a pattern such as 'docs/**/*.md'."
                )
        with explain_errors(self._index.database.path), self._index.lock.held(wait=wait, on_wait=on_wait):
            check_home(self._index)
            self._join()
            if rebuild:
                self._forget()
            embedder = self.embedder
            self._index.record.set_meta(
                {
                    "model": embedder.name,
                    "dimension": str(embedder.dimension),
                    "settings": self.index_settings.fingerprint(),
                }
            )
            pipeline = choose_pipeline(
                self._index, workers, runner, own_model=self._models.given_embedder is not None, embed=embed
            )(
                self._index,
                self.index_settings,
                embedder,
                workers=workers,
                progress=progress,
                language_model=language_model,
            )
            return pipeline.run(wanted, retry_failed=retry_failed, embed=embed)

    def estimate_contexts(self, settings: IndexSettings | None = None) -> ContextEstimate:
        """Say what contexts by the configured language model would cost; nothing is sent."""
        from pinakes.ingest.llm_context import estimate_contexts

        return estimate_contexts(self._index, settings or self.index_settings)

    def forget(self, paths: Sequence[str | Path] | str | Path) -> list[str]:
        """Take the documents below some paths out of the index, and the paths off its list; return which."""
        from pinakes.stores.embedded.database import explain_errors
        from pinakes.stores.home import check_home

        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        wanted = [str(Path(path).expanduser().absolute()) for path in given]
        with explain_errors(self._index.database.path), self._index.lock.held(wait=True):
            check_home(self._index)
            record = self._index.record
            known = [*record.file_states(wanted), *record.failures()]
            gone = [path for path in known if any(path == root or _is_below(path, root) for root in wanted)]
            roots = [root for root in record.roots() if root in wanted]
            if not gone and not roots:
                raise NotFoundError(f"The index holds nothing of {', '.join(map(str, given))}.")
            record.remove(gone)
            record.forget_roots(roots)
            self._index.catch_up_keyword()
            self._index.catch_up_vectors()
        return sorted(set(gone))

    def _forget(self) -> None:
        with self._guard:
            self._views = self._make_views()
            self._index.record.clear()
            self._index.record.set_meta({"model": "", "dimension": "0"})
            for name in ("columns", "keyword", "vectors", "concepts"):
                self._index.discard_derived(name)

    # -- the database ----------------------------------------------------------------------------------------

    def follow(self, *, progress: Callable[[Progress], None] | None = None) -> bool:
        """Take over what others published in the database; return whether that was anything."""
        from pinakes.stores.embedded.database import explain_errors
        from pinakes.stores.joining import follow

        with explain_errors(self._index.database.path), self._index.lock.held(wait=True):
            changed = follow(self._index, _steps("copy", progress))
            self._take_over_settings()
        return changed

    def migrate(
        self,
        database: DatabaseSettings,
        *,
        replace: bool = False,
        drop_old: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> MoveReport:
        """Move the library to another database, or with the provider ``embedded`` into its folder alone.

        Nothing is embedded again. ``replace`` puts it in the place of another library in the collection; ``drop_old``
        deletes it where it was, once the copy was checked. Interrupted, the library is where it was.
        """
        from pinakes.stores.embedded.database import explain_errors
        from pinakes.stores.home import check_home
        from pinakes.stores.moving import move

        if self._scratch is not None:
            raise UsageError(
                "A library in memory cannot be moved: index the documents into the other database."
            )
        with explain_errors(self._index.database.path), self._index.lock.held(wait=True):
            check_home(self._index)
            moved, report = move(
                self._index,
                database,
                replace_other=replace,
                drop_old=drop_old,
                step=_steps("copy", progress),
            )
            with self._guard:
                # Searches in other threads finish with what they began with.
                self._former.append(self._index)
                self._index = moved
                self._views = self._make_views()
        return report

    def _join(self) -> None:
        """Take over a library that was there before this copy of it; needs the lock."""
        from pinakes.stores.joining import follow

        if not self._index.record.meta("model"):
            follow(self._index)
            self._take_over_settings()

    def _take_over_settings(self) -> None:
        if self.settings.index is None:
            self.index_settings = self._stored_settings()

    # -- searching -------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: str | None = None,
        filters: Mapping[str, object] | None = None,
        document: str | None = None,
        token_budget: int | None = None,
        rerank: bool | None = None,
        explain: bool = False,
        min_score: float | None = None,
    ) -> SearchResponse:
        """Find passages by meaning, keyword and exact reference; in one document, if one is named."""
        if document is not None:
            return self.scoped().search(
                query,
                filters=filters,
                document=document,
                top_k=top_k,
                mode=mode,
                token_budget=token_budget,
                rerank=rerank,
                explain=explain,
                min_score=min_score,
            )
        settings = self.settings.search.with_overrides(
            search_mode=mode, top_k=top_k, min_score=min_score, rerank_enabled=rerank
        )
        reranker, trouble = self._models.reranker(settings)
        self._index.refresh()
        ask = partial(
            self._views.engine().search,
            query,
            settings,
            filters=filters,
            token_budget=token_budget,
            explain=explain,
            every_occurrence=top_k is None,
            reranker=reranker,
            trouble=trouble,
        )
        try:
            return ask()
        except DamagedIndexError:
            # Bad bytes in the keyword index show only when they are read.
            if not self._index.mend_keyword():
                raise
            return ask()

    def scoped(self, *filters: Mapping[str, object]) -> Library:
        """Return a library of the documents that pass all of some filters; the index, models and settings are these."""
        from pinakes.scoped import ScopedLibrary

        return ScopedLibrary(self, *filters)

    # -- reading ---------------------------------------------------------------------------------------------

    def section(self, reference: str, *, document: str | None = None) -> SectionView:
        """Return the section or clause that a reference or a heading names, in the document that either names."""
        from pinakes.search.links.read import read_section
        from pinakes.search.query.names import NameIndex

        self._index.refresh()
        names = None if document else NameIndex(self._index.names)
        return read_section(self._index, reference, document, names)

    def document(self, name: str) -> SectionView:
        """Return a whole document as one section; ``name`` is its path, its file name or its title."""
        from pinakes.search.links.read import whole_document

        self._index.refresh()
        return whole_document(self._index, name)

    def paths_of(self, name: str) -> list[str]:
        """Return the paths of the documents that a path, the end of one, a file name or a title means."""
        from pinakes.search.links.navigate import find_documents

        self._index.look()
        return [entry.source_path for entry in find_documents(self._index.names, name)]

    def define(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Return what the documents say a term means, and which define it differently."""
        from pinakes.search.links.ask import define

        self._index.look()
        return define(self._index, term, document)

    def references(self, reference: str, *, document: str | None = None) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it."""
        from pinakes.search.links.ask import references

        self._index.refresh()
        return references(self._index, reference, document)

    def outline(self, document: str | None = None, *, clauses: bool = False) -> list[Outline]:
        """Return the heading trees of one document, or of all; with ``clauses``, the numbering below them too."""
        from pinakes.search.links.navigate import outlines

        self._index.look()
        return outlines(self._index, document, clauses=clauses)

    def reader(self, path: str) -> DocumentView:
        """Return everything that a reader of one document needs: text, places, references, terms."""
        from pinakes.search.links.reading import read_document

        self._index.look()
        return read_document(self._index, path)

    def file_state(self, path: str) -> tuple[str, int, int, str] | None:
        """Return type, size, time of change and hash of the file that a document was read from."""

        self._index.look()
        return self._index.reading.file_state(path)

    def map(self) -> LibraryMap:
        """Return which documents of the library refer to which."""
        self._index.look()
        return self._views.maps().get()

    def map_of(self, path: str) -> DocumentMap:
        """Return the sections of one document, and which places they refer to."""
        from pinakes.search.links.map import map_document

        self._index.look()
        return map_document(self._index, path)

    def suggest(
        self, prefix: str, limit: int = 8, *, paths: Collection[str] | None = None
    ) -> list[Suggestion]:
        """Return titles, headings, labels and defined terms that begin with, or hold, what somebody types."""
        from pinakes.search.links.suggest import suggest

        self._index.look()
        return suggest(self._index.suggestions, prefix, limit, paths)

    def documents(self, filters: Mapping[str, object] | None = None) -> list[DocumentInfo]:
        """Return the documents of the library, those that pass the filters."""
        from pinakes.search.links.navigate import list_documents

        self._index.look()
        return list_documents(self._index, filters)

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """A number that grows with every change of the index."""
        return self._index.record.generation()

    @property
    def roots(self) -> list[str]:
        """The files, folders and patterns that the index is kept up to date with."""
        return self._index.record.roots()

    def status(self) -> Status:
        """Return what the index holds and how it is."""
        from pinakes.stores.embedded.health import status
        from pinakes.stores.home import publishing

        self._index.look()
        found = status(self._index, replace(self.settings, index=self.index_settings).to_dict())
        database, unpublished = publishing(self._index)
        return replace(found, database=database, unpublished_passages=unpublished)

    def doctor(self, *, repair: bool = True) -> DoctorReport:
        """Compare the record with the derived indexes, and put right what is wrong."""
        from pinakes.ingest.convert.ocr import describe_program

        report = self._index.examine(repair=repair)
        return DoctorReport([*report.checks, Check("scanned pages", True, describe_program())])

    # -- for callers that await ------------------------------------------------------------------------------

    asearch = awaited(search)
    asection = awaited(section)
    adocument = awaited(document)
    adefine = awaited(define)
    areferences = awaited(references)
    aoutline = awaited(outline)
    adocuments = awaited(documents)


def _steps(stage: str, progress: Callable[[Progress], None] | None) -> Callable[[int, int], None]:
    """Report counts as steps of a stage."""

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress(Progress(stage, done, total))

    return step


def _is_pattern(path: str) -> bool:
    return any(c in path for c in "*?[")


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _holds_other_files(folder: Path) -> bool:
    """Whether a folder is somebody's folder of documents, rather than one where an index was, or is being made."""
    ours = ("record.sqlite3", "writer.", "columns", "keyword", "vectors", "concepts", "database.json", ".")
    return any(not path.name.startswith(ours) for path in folder.iterdir())
