"""A scoped library: a library that shows only the documents that pass some filters, whatever is asked."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loccit.errors import NotFoundError, UsageError
from loccit.library import Library

if TYPE_CHECKING:
    from loccit.answers.questions import Suggestion
    from loccit.answers.reading import DocumentView
    from loccit.model import (
        Comparison,
        DefineResponse,
        DocumentInfo,
        FoundAll,
        IndexReport,
        MoveReport,
        ObligationsResponse,
        Outline,
        QuotesReport,
        SearchResponse,
        SectionView,
        TermDefinition,
    )


class ScopedLibrary(Library):
    """Some of the documents of a library, as a library. Made by :meth:`Library.scoped`."""

    # Beside what it shares with the whole library, whose attributes are its own: both see one index, also after a move.
    __slots__ = ("_parts", "whole")

    def __init__(self, whole: Library, *parts: Mapping[str, object]) -> None:
        self.__dict__ = whole.__dict__
        self.whole: Library = whole
        self._parts = [dict(part) for part in parts if part]

    def scoped(self, *filters: Mapping[str, object]) -> Library:
        """Return a library of those of these documents that pass more filters."""
        return ScopedLibrary(self.whole, *self._parts, *filters)

    def close(self) -> None:
        """Do nothing: whoever opened the whole library closes it."""

    def index(self, *_: Any, **__: Any) -> IndexReport:
        """Refuse: what is indexed need not pass the filters."""
        raise UsageError(
            "A scoped library only answers questions; index with the library that it is a part of."
        )

    def forget(self, paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str]) -> list[str]:
        """Refuse, as :meth:`index` does."""
        raise UsageError("A scoped library only answers questions; change the library that it is a part of.")

    def migrate(self, *_: Any, **__: Any) -> MoveReport:
        """Refuse, as :meth:`index` does."""
        raise UsageError("A scoped library only answers questions; move the library that it is a part of.")

    # -- asking ----------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        filters: Mapping[str, object] | None = None,
        document: str | None = None,
        **options: Any,
    ) -> SearchResponse:
        """Find passages in these documents."""
        return self.whole.search(query, filters=self._joined(filters, document), **options)

    def find_all(
        self,
        pattern: str,
        *,
        filters: Mapping[str, object] | None = None,
        document: str | None = None,
        **options: Any,
    ) -> FoundAll:
        """Return every place in these documents where a pattern stands."""
        return self.whole.find_all(pattern, filters=self._joined(filters, document), **options)

    def verify_quotes(
        self,
        quotations: str | Sequence[str],
        *,
        document: str | None = None,
        filters: Mapping[str, object] | None = None,
    ) -> QuotesReport:
        """Check quotations against these documents."""
        return self.whole.verify_quotes(quotations, filters=self._joined(filters, document))

    def compare(self, old: str, new: str, *, files: bool = False) -> Comparison:
        """Compare two of these documents; no other files are read."""
        found = []
        for name in (old, new):
            first, *others = self.paths_of(name)
            if others:
                paths = ", ".join((first, *others))
                raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
            found.append(first)
        return self.whole.compare(*found, files=False)

    def _within(self) -> set[int] | None:
        allowed = self._allowed()
        return None if allowed is None else {entry.id for entry in self._index.names.at(allowed).values()}

    def define(self, term: str, *, document: str | None = None) -> DefineResponse:
        """Return what these documents say a term means, and which define it differently."""
        allowed = self._allowed()
        if allowed is None:
            return self.whole.define(term, document=document)
        if document is not None:
            self.paths_of(document)
        nothing = NotFoundError(f"No document of this tool defines {term!r}.", "term")
        try:
            answer = self.whole.define(term, document=document)
        except NotFoundError:
            raise nothing from None
        kept = _defined_in(answer, allowed)
        near = [other for other in answer.near if _defined_in(self.whole.define(other), allowed)]
        if not kept and not near:
            raise nothing
        titles = {item.document_title for item in kept}
        return replace(
            answer,
            near=near,
            definitions=[
                replace(item, conflicts_with=[title for title in item.conflicts_with if title in titles])
                for item in kept
            ],
        )

    def document(self, name: str) -> SectionView:
        """Return one of these documents whole."""
        found, *others = self.paths_of(name)
        if others:
            paths = ", ".join((found, *others))
            raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
        return self.whole.document(found)

    def documents(self, filters: Mapping[str, object] | None = None) -> list[DocumentInfo]:
        """Return those of these documents that pass the filters."""
        return self.whole.documents(self._joined(filters, None))

    def obligations(
        self, document: str | None = None, *, filters: Mapping[str, object] | None = None, **options: Any
    ) -> ObligationsResponse:
        """Return the duties, deadlines and amounts of these documents."""
        return self.whole.obligations(filters=self._joined(filters, document), **options)

    def outline(self, document: str | None = None, *, clauses: bool = False) -> list[Outline]:
        """Return the heading trees of one of these documents, or of all."""
        allowed = self._allowed()
        if document is None and allowed is None:
            return self.whole.outline(clauses=clauses)
        paths = sorted(allowed or ()) if document is None else self.paths_of(document)
        return [found for path in paths for found in self.whole.outline(path, clauses=clauses)]

    def reader(self, path: str) -> DocumentView:
        """Return everything that a reader of one of these documents needs."""
        allowed = self._allowed()
        if allowed is not None and path not in allowed:
            raise NotFoundError(f"No document of this tool is called {path!r}.", "document")
        return super().reader(path)

    def suggest(
        self, prefix: str, limit: int = 8, *, paths: Collection[str] | None = None
    ) -> list[Suggestion]:
        """Return titles, headings, labels and defined terms of these documents."""
        allowed = self._allowed()
        if allowed is not None:
            paths = allowed if paths is None else allowed & set(paths)
        return self.whole.suggest(prefix, limit, paths=paths)

    def below_root(self, name: str) -> str:
        """Return the path of the one of these documents that stands there below the root; any other name as it is."""
        path = self.whole.below_root(name)
        with suppress(NotFoundError):
            self.paths_of(path)
            return path
        return name

    def paths_of(self, name: str) -> list[str]:
        """Return the paths of these documents that a name means."""
        from loccit.answers.near import near_names

        allowed = self._allowed()
        if allowed is None:
            return self.whole.paths_of(name)
        try:
            found = [path for path in self.whole.paths_of(name) if path in allowed]
        except NotFoundError:
            found = []
        if not found:
            # What is near in the whole library may be documents that are not shown.
            shown = [(info.source_path, info.title) for info in self.documents()]
            raise NotFoundError(
                f"No document of this tool is called {name!r}.{near_names(name, shown)}", "document"
            )
        return found

    # -- which documents -------------------------------------------------------------------------------------

    def _joined(self, wanted: Mapping[str, object] | None, document: str | None) -> dict[str, object] | None:
        """Return one set of filters for these documents among those that are wanted."""
        return narrowed(self, [*self._parts, *([wanted] if wanted else [])], document)

    def _allowed(self) -> set[str] | None:
        """Return the paths of these documents, or None when there are no others."""
        if not self._parts:
            return None
        allowed = _paths(self.whole, self._parts)
        return None if len(allowed) == self._index.lookup.count("documents") else allowed


def narrowed(
    library: Library, filters: Sequence[Mapping[str, object]], document: str | None
) -> dict[str, object] | None:
    """Return one set of filters for what passes all of some, in the document that a name means, if one is given."""
    parts = list(filters)
    if document:
        parts.append(exactly(library.paths_of(document)))
    names = [name for part in parts for name in part]
    if len(names) == len(set(names)):
        return {name: value for part in parts for name, value in part.items()} or None
    # Two filters of one name must both hold, which only the documents themselves can say.
    paths = _paths(library.whole if isinstance(library, ScopedLibrary) else library, parts)
    if not paths:
        raise NotFoundError("No document of this tool passes these filters. Leave some of them out.")
    return exactly(sorted(paths))


def _paths(library: Library, parts: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the paths of the documents of a whole library that pass all of some filters."""
    from loccit.answers.questions import allowed_documents

    index = library._index
    index.look()
    documents = set.intersection(*(allowed_documents(index, part) for part in parts))
    return {entry.source_path for entry in index.names.entries(documents).values()}


def exactly(paths: Iterable[str]) -> dict[str, object]:
    """Return a filter for the documents of these paths, whatever signs of a pattern they hold."""
    return {"path": [glob.escape(path) for path in paths]}


def below(source: str) -> dict[str, object]:
    """Return a filter for the documents of a source: a file, what is below a folder, or what a pattern matches."""
    if os.path.lexists(source):
        plain = glob.escape(source)
        return {"path": [source] if plain == source else [plain, f"{plain}{os.sep}*"]}
    # In a filter, unlike in a source, ``**/`` is at least one folder.
    return {"path": list(dict.fromkeys((source, source.replace("**/", ""))))}


def _defined_in(answer: DefineResponse, paths: set[str]) -> list[TermDefinition]:
    return [item for item in answer.definitions if item.definition.source_path in paths]
