"""Library: the one object that every interface calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pinakes.errors import DamagedIndexError, UsageError
from pinakes.library_base import INDEX_FOLDER, LibraryBase, find_index
from pinakes.model import (
    Check,
    Comparison,
    DefineResponse,
    DoctorReport,
    DocumentInfo,
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
    from pinakes.search.links.map import DocumentMap, LibraryMap
    from pinakes.search.links.questions import Suggestion
    from pinakes.search.links.reading import DocumentView
    from pinakes.stores.settings import DatabaseSettings

__all__ = ["INDEX_FOLDER", "Library", "find_index"]

Owner = TypeVar("Owner")
P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Owner, P], T],
) -> Callable[Concatenate[Owner, P], Coroutine[Any, Any, T]]:
    """Return a method that does the same in a thread, without blocking the event loop."""

    async def call(self: Owner, /, *args: P.args, **options: P.kwargs) -> T:
        # By name, so that what a subclass does instead is done here too.
        return await asyncio.to_thread(getattr(self, method.__name__), *args, **options)

    update_wrapper(call, method)
    call.__name__ = f"a{method.__name__}"
    call.__doc__ = f"Like :meth:`{method.__name__}`, without blocking the event loop."
    return call


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
        """Open a library that a database holds, and copy its record into a folder of this machine.

        Raises ``NotFoundError`` where the database has none, and makes no folder then. ``options`` are those of
        ``Library`` itself.
        """
        from pinakes.stores.home import check_library

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
        """Find passages by meaning, keyword and exact reference; in one document, if one is named.

        With ``offset``, an answer begins after so many results: ``next_offset`` of the one before.
        With ``until``, the search stops after a stage, such as ``retrieve`` or ``rank``: then there are no results,
        and ``explanation`` says what it had.
        """
        if document is not None:
            from pinakes.scoped import narrowed

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
            # Bad bytes in the keyword index show only when they are read.
            if not self._index.mend_keyword():
                raise
            return search()

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
        """Return every place where a phrase, all of some words, or a regular expression stands, by path and line.

        ``kind`` is ``phrase``, ``words`` (all in one paragraph) or ``regex`` (the syntax is RE2's). With the ``cursor``
        of an answer the same question goes on where that ended.
        """
        from pinakes.scoped import narrowed
        from pinakes.search.verbatim.find_all import find_all

        if document is not None:
            filters = narrowed(self, [filters] if filters else [], document)
        self._index.refresh()
        return find_all(
            self._index, pattern, kind, filters=filters, limit=limit, cursor=cursor, ignore_case=ignore_case
        )

    def verify_quotes(
        self,
        quotations: str | Sequence[str],
        *,
        document: str | None = None,
        filters: Mapping[str, object] | None = None,
    ) -> QuotesReport:
        """Check quotations, or all those in a text: each is exact, altered (with what differs) or absent.

        Of a text, what stands within quotation marks and in block quotes is checked, if it has three words or more.
        """
        from pinakes.scoped import narrowed
        from pinakes.search.verbatim.quotes import verify_quotes

        if document is not None:
            filters = narrowed(self, [filters] if filters else [], document)
        self._index.refresh()
        return verify_quotes(self._index, quotations, filters=filters)

    def compare(self, old: str, new: str, *, files: bool = True) -> Comparison:
        """Return what was added, removed, moved, renumbered or changed between two documents.

        Each is a document of the library, by its path, file name or title, or the path of a file that is read for it;
        not without ``files``, as for callers who may see the library alone.
        """
        from pinakes.comparing import find_compared
        from pinakes.search.verbatim.compare import compare

        self._index.refresh()
        settings = self.index_settings if files else None
        return compare(*find_compared(self._index, (old, new), settings))

    def scoped(self, *filters: Mapping[str, object]) -> Library:
        """Return a library of the documents that pass all of some filters; the index, models and settings are these."""
        from pinakes.scoped import ScopedLibrary

        return ScopedLibrary(self, *filters)

    # -- reading ---------------------------------------------------------------------------------------------

    def section(
        self,
        reference: str,
        *,
        document: str | None = None,
        step: str | None = None,
        lines: str | tuple[int, int] | None = None,
    ) -> SectionView:
        """Return the section or clause that a reference, an id or a heading names, in the document that either names.

        With ``step``, the ``next``, ``previous`` or ``parent`` one; with ``lines`` (``2031-2035``), some of its lines.
        """
        found = self.sections(reference, document=document, step=step, lines=lines).sections
        if len(found) > 1:
            raise UsageError(f"{reference!r} names {len(found)} places: ask for them with sections.")
        return found[0]

    def sections(
        self,
        references: str | Sequence[str],
        *,
        document: str | None = None,
        step: str | None = None,
        lines: str | tuple[int, int] | None = None,
        with_references: bool = False,
    ) -> SectionsResponse:
        """Return several sections: a list of references, or a text such as ``4.2, 4.3 and 7`` or ``Articles 12 to 15``.

        A text is understood whole or refused; of a list, what is not found is said in ``missing``. With
        ``with_references`` comes what they refer to, one step far. ``step`` and ``lines`` are those of ``section``.
        """
        from pinakes.search.links.read_places import read_sections
        from pinakes.search.query.place_lists import read_lines

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
            with_references=with_references,
        )

    def _within(self) -> set[int] | None:
        """Return the documents in which places are looked for; None for all."""
        return None

    def document(self, name: str) -> SectionView:
        """Return a whole document as one section; ``name`` is its path, its file name or its title."""
        from pinakes.search.links.questions import whole_document

        self._index.refresh()
        return whole_document(self._index, name)

    def paths_of(self, name: str) -> list[str]:
        """Return the paths of the documents that a path, the end of one, a file name or a title means."""
        from pinakes.search.links.find_places import find_documents

        self._index.look()
        return [entry.source_path for entry in find_documents(self._index, name)]

    def define(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Return what the documents say a term means, and which define it differently."""
        from pinakes.search.links.questions import define

        self._index.look()
        return define(self._index, term, document)

    def references(
        self, reference: str | Sequence[str], *, document: str | None = None
    ) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it; of several, named as for :meth:`sections`, too."""
        from pinakes.search.links.read_places import follow_references

        self._index.refresh()
        return follow_references(self._index, reference, document)

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
        """Return who shall do what by when, for how much and unless what, as the documents say it.

        ``kind`` is ``duty``, ``prohibition``, ``permission``, ``recommendation``, ``statement``, or ``deadline`` or
        ``amount`` for all rows that have one; ``unit`` is that of a deadline or an amount (``day``, ``EUR``, ``%``);
        ``gap`` asks for what was not understood. ``bearer`` and ``text`` are words that must occur.
        """
        from pinakes.search.links.obligations import list_obligations

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

    def outline(self, document: str | None = None, *, clauses: bool = False) -> list[Outline]:
        """Return the heading trees of one document, or of all; with ``clauses``, the numbering below them too."""
        from pinakes.search.links.questions import outlines

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
        from pinakes.search.links.questions import suggest

        self._index.look()
        return suggest(self._index.suggestions, prefix, limit, paths)

    def documents(self, filters: Mapping[str, object] | None = None) -> list[DocumentInfo]:
        """Return the documents of the library, those that pass the filters."""
        from pinakes.search.links.questions import list_documents

        self._index.look()
        return list_documents(self._index, filters)

    # -- state -----------------------------------------------------------------------------------------------

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
        more = [Check("scanned pages", True, describe_program())]
        return DoctorReport([*report.checks, *self._examine_model(), *more])

    # -- for callers that await ------------------------------------------------------------------------------

    asearch = _awaited(search)
    afind_all = _awaited(find_all)
    averify_quotes = _awaited(verify_quotes)
    acompare = _awaited(compare)
    asection = _awaited(section)
    asections = _awaited(sections)
    adocument = _awaited(document)
    adefine = _awaited(define)
    areferences = _awaited(references)
    aobligations = _awaited(obligations)
    aoutline = _awaited(outline)
    adocuments = _awaited(documents)
