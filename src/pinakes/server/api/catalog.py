"""The catalogue: short ids in place of paths, so that a request can only name documents that the index holds."""

from __future__ import annotations

import hashlib
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinakes.server.api.problems import ProblemError

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.tools.scope import Scope


def document_id(source_path: str) -> str:
    """Return the id of a document: the same as long as it stays at its place."""
    return hashlib.sha256(source_path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The documents that one library shows, in one of its states."""

    generation: int
    paths: dict[str, str]
    ids: dict[str, str]

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

    def of(self, name: str, scope: Scope) -> Catalog:
        """Return the documents that a scope shows now."""
        generation = scope.library.generation
        library, catalog = self._known.get(name, (None, None))
        if (
            catalog is None
            or library is None
            or library() is not scope.library
            or catalog.generation != generation
        ):
            paths = {document_id(info.source_path): info.source_path for info in scope.documents()}
            catalog = Catalog(generation, paths, {path: doc for doc, path in paths.items()})
            with self._guard:
                self._known[name] = (weakref.ref(scope.library), catalog)
        return catalog
