"""Library: the one object that every interface uses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from loccit.config.bounds import (
    LONGEST_DRAFT,
    LONGEST_PATTERN,
    LONGEST_TERM,
    MOST_SUGGESTIONS,
    bounded,
    check_text,
)
from loccit.errors import DamagedIndexError, LoccitError, UsageError
from loccit.library_base import INDEX_FOLDER, LibraryBase, find_index
from loccit.model import (
    Check,
    Comparison,
    DefineResponse,
    DoctorReport,
    DocumentInfo,
    Excerpt,
    FoundAll,
    ObligationsResponse,
    Outline,
    Progress,
    QuotesReport,
    ReferencesResponse,
    SearchResponse,
    SectionsResponse,
    SectionView,
    Status,
)

if TYPE_CHECKING:
    from loccit.answers.map import DocumentMap, LibraryMap
    from loccit.answers.questions import Suggestion
    from loccit.answers.reading import DocumentView
    from loccit.index.settings import DatabaseSettings

__all__ = ["INDEX_FOLDER", "Library", "find_index"]

Owner = TypeVar("Owner")
P = ParamSpec("P")
T = TypeVar("T")


def _awaiting(
    method: Callable[Concatenate[Owner, P], T],
) -> Callable[[Callable[..., Any]], Callable[Concatenate[Owner, P], Coroutine[Any, Any, T]]]:
    """Make of a declaration the async version of a method, which runs in a thread and does not block the event loop.

    Declared as a method, it has a type that every checker reads alike.
    """

    def decorate(declared: Callable[..., Any]) -> Callable[Concatenate[Owner, P], Coroutine[Any, Any, T]]:
        async def call(self: Owner, /, *args: P.args, **options: P.kwargs) -> T:
            import asyncio

            # By name, so that what a subclass does instead is done here too.
            return await asyncio.to_thread(getattr(self, method.__name__), *args, **options)

        update_wrapper(call, method)
        for name in ("__name__", "__qualname__", "__doc__"):
            setattr(call, name, getattr(declared, name))
        return call

    return decorate


class Library(LibraryBase):
    """A searchable collection of documents in one index folder. Safe to share between threads."""

    @classmethod
    def connect(
        cls,
        path: str | Path,
        database: DatabaseSettings,
        *,
        progress: Callable[[Progress], None] | None = None,
        **options: Any,
    ) -> Library:
        """Open a library that a database holds, and copy its record into a folder on this machine.

        Raises ``NotFoundError``, and creates no folder, if the database has no such library. ``options`` are those
        of ``Library``.
        """
        from loccit.index.home import check_library

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

    # -- searching -------------------------------------------------------------------------------------------

    @bounded()
    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: str | None = None,
        filters: Mapping[str, object] | None = None,
        document: str | None = None,
        token_budget: int | None = None,
        offset: int = 0,
        rerank: bool | None = None,
        explain: bool = False,
        min_score: float | None = None,
        until: str | None = None,
    ) -> SearchResponse:
        """Find passages by meaning, keyword and exact reference, in ``document`` only if that is given.

        ``offset`` skips results: pass ``next_offset`` of the previous answer to continue. ``until`` stops the search
        after a stage, such as ``retrieve`` or ``rank``: then there are no results, and ``explanation`` shows what it
        had.
        """
        if document is not None:
            from loccit.scoped import narrowed

            filters = narrowed(self, [filters] if filters else [], document)
        settings = self.settings.search.with_overrides(
            search_mode=mode, top_k=top_k, min_score=min_score, rerank_enabled=rerank
        )
        reranker, trouble = self._models.reranker(settings)
        self._index.refresh()
        search = partial(
            self._views.engine().search,
            query,
            settings,
            filters=filters,
            token_budget=token_budget,
            offset=offset,
            explain=explain,
            every_occurrence=top_k is None,
            reranker=reranker,
            trouble=trouble,
            until=until,
        )
        try:
            with self._index.database.remembering():
                return search()
        except DamagedIndexError:
            # Bad bytes show only when they are read.
            if not self._index.mend():
                raise
            return search()

    @bounded(pattern=LONGEST_PATTERN)
    def find_all(
        self,
        pattern: str,
        *,
        kind: str = "phrase",
        filters: Mapping[str, object] | None = None,
        document: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        ignore_case: bool = True,
    ) -> FoundAll:
        """Return every occurrence of a phrase, of several words together, or of a regular expression, by path and line.

        ``kind`` is ``phrase``, ``words`` (all in one paragraph) or ``regex`` (RE2 syntax). Pass the ``cursor`` of an
        answer to continue where it ended.
        """
        from loccit.answers.verbatim.find_all import find_all
        from loccit.scoped import narrowed

        if document is not None:
            filters = narrowed(self, [filters] if filters else [], document)
        self._index.refresh()
        return find_all(
            self._index, pattern, kind, filters=filters, limit=limit, cursor=cursor, ignore_case=ignore_case
        )

    @bounded(quotations=LONGEST_DRAFT)
    def verify_quotes(
        self,
        quotations: str | Sequence[str],
        *,
        document: str | None = None,
        filters: Mapping[str, object] | None = None,
    ) -> QuotesReport:
        """Check quotations, or all those in a text: each is exact, altered (with what differs) or absent.

        In a text, everything of three words or more in quotation marks or block quotes is checked, and whether it is
        in the place that is cited beside it. An entry of a list is one quotation: bare, or in quotation marks with its
        citation behind it.
        """
        from loccit.answers.verbatim.quotes import verify_quotes
        from loccit.scoped import narrowed

        if document is not None:
            filters = narrowed(self, [filters] if filters else [], document)
        self._index.refresh()
        return verify_quotes(self._index, quotations, filters=filters)

    @bounded()
    def compare(self, old: str, new: str, *, files: bool = True) -> Comparison:
        """Return what was added, removed, moved, renumbered or changed between two documents.

        Each is a document of the library, by path, file name or title, or the path of any other file.
        ``files=False`` refuses the latter, for callers who may see only the library.
        """
        from loccit.answers.comparing import find_compared
        from loccit.answers.verbatim.compare import compare

        self._index.refresh()
        settings = self.index_settings if files else None
        return compare(*find_compared(self._index, (old, new), settings))

    def scoped(self, *filters: Mapping[str, object]) -> Library:
        """Return a library of the documents that pass all filters; it shares this one's index, models and settings."""
        from loccit.scoped import ScopedLibrary

        check_text("filters", filters)
        return ScopedLibrary(self, *filters)

    # -- reading ---------------------------------------------------------------------------------------------

    @bounded()
    def section(
        self,
        reference: str,
        *,
        document: str | None = None,
        step: str | None = None,
        lines: str | tuple[int, int] | None = None,
        exact: bool = True,
    ) -> SectionView:
        """Return the section or clause that a reference, an id or a heading names, in ``document`` if that is given.

        ``step`` selects the ``next``, ``previous`` or ``parent`` one, ``lines`` (``2031-2035``) some of its lines.
        Unless ``exact``, a number of no place leads to the nearest place with a line that has it; ``doubt`` says so.
        """
        found = self.sections(reference, document=document, step=step, lines=lines, exact=exact).sections
        if len(found) > 1:
            raise UsageError(f"{reference!r} names {len(found)} places: ask for them with sections.")
        return found[0]

    @bounded()
    def sections(
        self,
        references: str | Sequence[str],
        *,
        document: str | None = None,
        step: str | None = None,
        lines: str | tuple[int, int] | None = None,
        exact: bool = True,
        with_references: bool = False,
    ) -> SectionsResponse:
        """Return several sections: a list of references, or a text such as ``4.2, 4.3 and 7`` or ``Articles 12 to 15``.

        A text that is only partly understood is refused; ``missing`` has the items of a list that were not found.
        ``with_references`` adds what they refer to directly. The other arguments are those of ``section``.
        """
        from loccit.answers.read_places import read_sections
        from loccit.search.understand.place_lists import read_lines

        self._index.refresh()
        if document is not None:
            self.paths_of(document)
        return read_sections(
            self._index,
            references,
            document,
            within=self._within(),
            step=step,
            lines=None if lines is None else read_lines(lines),
            exact=exact,
            with_references=with_references,
        )

    def _within(self) -> set[int] | None:
        """Return the documents to look for places and citations in; None for all."""
        return None

    @bounded()
    def document(self, name: str) -> SectionView:
        """Return a whole document as one section; ``name`` is its path, its file name or its title."""
        from loccit.answers.questions import whole_document

        self._index.refresh()
        return whole_document(self._index, name)

    @bounded()
    def paths_of(self, name: str) -> list[str]:
        """Return the paths of the documents that a path, the end of one, a file name or a title stands for."""
        from loccit.answers.find_places import find_documents

        self._index.look()
        return [entry.source_path for entry in find_documents(self._index, name)]

    @bounded(term=LONGEST_TERM)
    def define(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Return how the documents define a term, and which define it differently."""
        from loccit.answers.questions import define

        self._index.look()
        return define(self._index, term, document)

    @bounded()
    def references(
        self, reference: str | Sequence[str], *, document: str | None = None
    ) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it; or several, named as for :meth:`sections`."""
        from loccit.answers.follow import follow_references

        self._index.refresh()
        if document is not None:
            self.paths_of(document)
        return follow_references(self._index, reference, document, within=self._within())

    @bounded()
    def obligations(
        self,
        document: str | None = None,
        *,
        filters: Mapping[str, object] | None = None,
        kind: str | None = None,
        bearer: str | None = None,
        text: str | None = None,
        unit: str | None = None,
        gap: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> ObligationsResponse:
        """Return who must do what, by when, for how much and with what exceptions, as the documents say it.

        ``kind`` is ``duty``, ``prohibition``, ``permission``, ``recommendation``, ``statement``, or ``deadline`` or
        ``amount`` for all rows that have one; ``unit`` is that of a deadline or an amount (``day``, ``EUR``, ``%``);
        ``gap`` selects what was not understood. ``bearer`` and ``text`` are words that must occur.
        """
        from loccit.answers.obligations import list_obligations

        self._index.look()
        return list_obligations(
            self._index,
            document,
            filters,
            kind=kind,
            bearer=bearer,
            text=text,
            unit=unit,
            gap=gap,
            limit=limit,
            offset=offset,
        )

    @bounded()
    def outline(self, document: str | None = None, *, clauses: bool = False) -> list[Outline]:
        """Return the heading trees of one document, or of all; with ``clauses``, the numbering below them too."""
        from loccit.answers.questions import outlines

        self._index.look()
        return outlines(self._index, document, clauses=clauses)

    @bounded()
    def reader(self, path: str) -> DocumentView:
        """Return everything needed to show one document to a reader: text, places, references, terms."""
        from loccit.answers.reading import read_document

        self._index.look()
        return read_document(self._index, path, within=self._within())

    @bounded()
    def excerpt(self, document: str, start: int, end: int) -> Excerpt:
        """Return the words between two offsets of a document, whole and without markup, and the place to cite.

        Offsets are those of :meth:`find_all` and :meth:`verify_quotes`.
        """
        paths = self.paths_of(document)
        if len(paths) > 1:
            raise UsageError(f"{document!r} is the name of {len(paths)} documents: give the path of one.")
        view = self.reader(paths[0])
        return view.cited.excerpt(start, end, view.body_start)

    def file_state(self, path: str) -> tuple[str, int, int, str] | None:
        """Return type, size, modification time and hash of the file that a document was read from."""
        self._index.look()
        return self._index.reading.file_state(path)

    def map(self) -> LibraryMap:
        """Return which documents of the library refer to which."""
        self._index.look()
        return self._views.maps().get()

    @bounded()
    def map_of(self, path: str) -> DocumentMap:
        """Return the sections of one document, and which places they refer to."""
        from loccit.answers.map import map_document

        self._index.look()
        return map_document(self._index, path, within=self._within())

    @bounded()
    def suggest(
        self, prefix: str, limit: int = 8, *, paths: Collection[str] | None = None
    ) -> list[Suggestion]:
        """Return titles, headings, labels and defined terms that begin with or contain what the user types."""
        from loccit.answers.questions import suggest

        if not 1 <= limit <= MOST_SUGGESTIONS:
            raise UsageError(f"The limit must be between 1 and {MOST_SUGGESTIONS}.")
        self._index.look()
        return suggest(self._index.suggestions, prefix, limit, paths)

    @bounded()
    def documents(self, filters: Mapping[str, object] | None = None) -> list[DocumentInfo]:
        """Return the documents of the library that pass the filters."""
        from loccit.answers.questions import list_documents

        self._index.look()
        return list_documents(self._index, filters)

    # -- state -----------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return what the index contains, and its state."""
        from loccit.index.folder.health import status
        from loccit.index.home import publishing
        from loccit.models.embedding.multilingual import unspoken

        self._index.look()
        found = status(self._index, replace(self.settings, index=self.index_settings).to_dict())
        database, unpublished = publishing(self._index)
        lack = ""
        # What keeps a model from being loaded is told where one is needed.
        with suppress(LoccitError):
            lack = unspoken(found.languages, self.embedder)
        found = replace(found, unspoken=lack, lost=self._index.missing)
        return replace(found, database=database, unpublished_passages=unpublished)

    def doctor(self, *, repair: bool = True) -> DoctorReport:
        """Compare the record with the derived indexes, and repair what does not agree."""
        from loccit.read.ocr import describe_program

        report = self._index.examine(repair=repair)
        more = [Check("scanned pages", True, describe_program())]
        return DoctorReport([*report.checks, *self._examine_model(), *more])

    # -- for callers that await ------------------------------------------------------------------------------

    @_awaiting(search)
    def asearch(self) -> None:
        """Like :meth:`search`, without blocking the event loop."""

    @_awaiting(find_all)
    def afind_all(self) -> None:
        """Like :meth:`find_all`, without blocking the event loop."""

    @_awaiting(verify_quotes)
    def averify_quotes(self) -> None:
        """Like :meth:`verify_quotes`, without blocking the event loop."""

    @_awaiting(compare)
    def acompare(self) -> None:
        """Like :meth:`compare`, without blocking the event loop."""

    @_awaiting(section)
    def asection(self) -> None:
        """Like :meth:`section`, without blocking the event loop."""

    @_awaiting(sections)
    def asections(self) -> None:
        """Like :meth:`sections`, without blocking the event loop."""

    @_awaiting(document)
    def adocument(self) -> None:
        """Like :meth:`document`, without blocking the event loop."""

    @_awaiting(define)
    def adefine(self) -> None:
        """Like :meth:`define`, without blocking the event loop."""

    @_awaiting(references)
    def areferences(self) -> None:
        """Like :meth:`references`, without blocking the event loop."""

    @_awaiting(obligations)
    def aobligations(self) -> None:
        """Like :meth:`obligations`, without blocking the event loop."""

    @_awaiting(outline)
    def aoutline(self) -> None:
        """Like :meth:`outline`, without blocking the event loop."""

    @_awaiting(documents)
    def adocuments(self) -> None:
        """Like :meth:`documents`, without blocking the event loop."""
