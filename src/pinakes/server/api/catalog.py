"""The catalogue: short ids in place of paths, so that a request can only name documents that the index holds."""

from __future__ import annotations

import hashlib
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pinakes.server.api.problems import ProblemError

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.search.links.reading import DocumentView


def document_id(source_path: str) -> str:
    """Return the id of a document: the same as long as it stays at its place."""
    return hashlib.sha256(source_path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# A document and its terms are asked for one after the other, by a few people at a time.
_VIEWS = 2


@dataclass(frozen=True, slots=True)
class Catalog:
    """The documents that one library shows, in one of its states."""

    generation: int
    paths: dict[str, str]
    ids: dict[str, str]
    views: dict[str, DocumentView] = field(default_factory=dict)

    def view(self, library: Library, path: str) -> DocumentView:
        """Return a document as a reader needs it; those that were read last are at hand."""
        view = self.views.get(path)
        if view is None:
            view = library.reader(path)
            for old in list(self.views)[: 1 - _VIEWS]:
                self.views.pop(old, None)
            self.views[path] = view
        return view

    def path(self, doc: str) -> str:
        """Return the path of a document."""
        if doc not in self.paths:
            raise ProblemError(404, "There is no document with this id in the library.")
        return self.paths[doc]

    def named(self, doc: str | None) -> str | None:
        """Return the path of a document, or None for none."""
        return None if doc is None else self.path(doc)

    def mark(
        self, item: dict[str, Any], path_field: str = "source_path", name: str = "doc"
    ) -> dict[str, Any]:
        """Add the id of the document that a field of an item names; null when it names none."""
        item[name] = self.ids.get(item.get(path_field) or "")
        return item


class Catalogs:
    """Keeps the catalogue of each library for as long as its index does not change."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[str, tuple[weakref.ref[Library], Catalog]] = {}

    def of(self, name: str, library: Library) -> Catalog:
        """Return the documents that a library shows now."""
        generation = library.generation
        known, catalog = self._known.get(name, (None, None))
        if catalog is None or known is None or known() is not library or catalog.generation != generation:
            paths = {document_id(info.source_path): info.source_path for info in library.documents()}
            catalog = Catalog(generation, paths, {path: doc for doc, path in paths.items()})
            with self._guard:
                self._known[name] = (weakref.ref(library), catalog)
        return catalog
