"""Which documents a tool may show: those of its source that pass its filters, whatever a caller asks for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pinakes.errors import NotFoundError

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.model import (
        DefineResponse,
        DocumentInfo,
        Outline,
        ReferencesResponse,
        SectionView,
        TermDefinition,
    )


class Scope:
    """The documents of one tool in a library that may hold more.

    ``source`` is a filter for the tool's own documents, empty when there are no others in the index.
    """

    def __init__(
        self, library: Library, source: Mapping[str, object], configured: Mapping[str, object]
    ) -> None:
        self.library = library
        self._fixed = [dict(part) for part in (source, configured) if part]

    def filters(self, wanted: Mapping[str, object] | None, document: str | None) -> dict[str, object] | None:
        """Return one set of filters for the tool's documents among those that are wanted."""
        parts: list[Mapping[str, object]] = [*self._fixed, *([wanted] if wanted else [])]
        if document:
            parts.append(exactly(self._named(document)))
        names = [name for part in parts for name in part]
        if len(names) == len(set(names)):
            return {name: value for part in parts for name, value in part.items()} or None
        # Two filters of one name must both hold, which only the documents themselves can say.
        paths = self._paths(parts)
        if not paths:
            raise NotFoundError("No document of this tool passes these filters. Leave some of them out.")
        return exactly(sorted(paths))

    def section(self, reference: str, document: str | None) -> SectionView:
        """Return the section that a reference names in the tool's documents."""
        allowed = self._allowed()
        if allowed is None:
            return self.library.section(reference, document=document)
        nothing = NotFoundError(f"No document of this tool has a section {reference!r}.")
        try:
            view = self.library.section(reference, document=document)
        except NotFoundError:
            # What is near may stand in documents that are not the tool's.
            raise nothing from None
        places = [place.rpartition("#") for place in view.alternatives]
        inside = [(path, section) for path, _, section in places if path in allowed]
        if view.source_path not in allowed:
            if inside:
                (path, section), *inside = inside
                view = self.library.section(section, document=path)
            elif document is None and (found := self._in_each(allowed, reference)):
                # The list of alternatives ends somewhere; the documents themselves do not.
                view = found
            else:
                raise nothing
        return replace(view, alternatives=[f"{path}#{section}" for path, section in inside])

    def definition(self, term: str, document: str | None) -> DefineResponse:
        """Return what the tool's documents say a term means."""
        allowed = self._allowed()
        if allowed is None:
            return self.library.define(term, document=document)
        nothing = NotFoundError(f"No document of this tool defines {term!r}.")
        try:
            answer = self.library.define(term, document=document)
        except NotFoundError:
            raise nothing from None
        kept = _defined_in(answer, allowed)
        near = [other for other in answer.near if _defined_in(self.library.define(other), allowed)]
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
        """Return a whole document of the tool."""
        found, *others = self._named(name)
        if others:
            paths = ", ".join((found, *others))
            raise NotFoundError(f"Several documents are called {name!r}: {paths}. Give the whole path.")
        return self.library.document(found)

    def documents(self, filters: Mapping[str, object] | None = None) -> list[DocumentInfo]:
        """Return the tool's documents that pass the filters."""
        return self.library.documents(self.filters(filters, None))

    def outline(self, document: str | None, *, clauses: bool) -> list[Outline]:
        """Return the heading trees of one document, or of all of the tool."""
        allowed = self._allowed()
        if document is None and allowed is None:
            return self.library.outline(clauses=clauses)
        paths = sorted(allowed or ()) if document is None else self._named(document)
        return [found for path in paths for found in self.library.outline(path, clauses=clauses)]

    def references(self, reference: str, document: str | None) -> ReferencesResponse:
        """Return what a section refers to, and what refers to it within the tool's documents."""
        allowed = self._allowed()
        if allowed is None:
            return self.library.references(reference, document=document)
        view = self.section(reference, document)
        found = self.library.references(view.section_id or reference, document=view.source_path)
        return replace(found, cited_by=[item for item in found.cited_by if item.source_path in allowed])

    def _named(self, name: str) -> list[str]:
        """Return the paths of the tool's documents that a name means."""
        allowed = self._allowed()
        if allowed is None:
            return self.library.paths_of(name)
        try:
            found = [path for path in self.library.paths_of(name) if path in allowed]
        except NotFoundError:
            found = []
        if not found:
            # What is near may be documents that are not the tool's.
            raise NotFoundError(f"No document of this tool is called {name!r}.")
        return found

    def _allowed(self) -> set[str] | None:
        """Return the paths of the tool's documents, or None when there are no others."""
        if not self._fixed:
            return None
        allowed = self._paths(self._fixed)
        return None if len(allowed) == len(self.library.documents()) else allowed

    def _in_each(self, paths: set[str], reference: str) -> SectionView | None:
        for path in sorted(paths):
            with suppress(NotFoundError):
                return self.library.section(reference, document=path)
        return None

    def _paths(self, parts: list[Mapping[str, object]] | list[dict[str, object]]) -> set[str]:
        sets = [{info.source_path for info in self.library.documents(part)} for part in parts]
        return set.intersection(*sets)


def exactly(paths: Iterable[str]) -> dict[str, object]:
    """Return a filter for the documents of these paths, whatever signs of a pattern they hold."""
    return {"path": [glob.escape(path) for path in paths]}


def own_documents(source: str) -> dict[str, object]:
    """Return a filter for the documents of a source: a file, what is below a folder, or what a pattern matches."""
    if os.path.lexists(source):
        plain = glob.escape(source)
        return {"path": [source] if plain == source else [plain, f"{plain}{os.sep}*"]}
    # In a filter, unlike in a source, ``**/`` is at least one folder.
    return {"path": list(dict.fromkeys((source, source.replace("**/", ""))))}


def _defined_in(answer: DefineResponse, paths: set[str]) -> list[TermDefinition]:
    return [item for item in answer.definitions if item.definition.source_path in paths]
