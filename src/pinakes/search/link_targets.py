"""Link targets: which document a link means, by path or by name, in constant time.

A path may be relative to the document it stands in, or begin at the root of a site that the library knows nothing
about (`/docs/tasks/`): then its end must agree. A wiki link names a document by file name, title or alias. Where
several documents answer, the one nearest to the link is meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pinakes.search.names.forms import name_key

if TYPE_CHECKING:
    from pinakes.search.corpus import Entry

# Files that stand for their folder.
_FOLDER_FILES = frozenset({"index", "_index", "readme"})
# Endings that a link may have although the document's file has another, or leave out.
_PAGE_SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".html", ".htm"})


class LinkTargets:
    """The documents of a library as links name them."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_id: dict[int, Entry] = {}
        self._by_path: dict[str, Entry] = {}
        self._by_name: dict[str, list[Entry]] = {}
        self._by_last: dict[str, list[tuple[tuple[str, ...], Entry]]] = {}
        for entry in entries:
            self._by_id[entry.id] = entry
            self._by_path[entry.source_path] = entry
            for name in entry.names.full:
                self._by_name.setdefault(name, []).append(entry)
            for parts in _forms(entry.source_path):
                self._by_last.setdefault(parts[-1], []).append((parts, entry))

    def find(self, kind: str, target: str, source_path: str) -> tuple[Entry, str] | None:
        """Return the document that a link in ``source_path`` leads to, and the anchor after ``#``.

        ``kind`` is ``link`` for a path, anything else for a name.
        """
        name, _, anchor = unquote(target).partition("#")
        name = name.strip()
        if kind == "link":
            entry = self._at_path(name.partition("?")[0], source_path)
        else:
            entry = self._called(name, source_path)
        return (entry, anchor.strip()) if entry is not None else None

    def at(self, path: str) -> Entry | None:
        """Return the document at a path."""
        return self._by_path.get(path)

    def numbered(self, document: int) -> Entry | None:
        """Return a document by its id."""
        return self._by_id.get(document)

    def named(self, name: str) -> list[Entry]:
        """Return the documents that go by a name: file name, title or alias."""
        key = name_key(name)
        return self._by_name.get(key, []) if key else []

    def _at_path(self, target: str, source_path: str) -> Entry | None:
        if not target:
            return self._by_path.get(source_path)
        if target.startswith("/"):
            return self._by_path.get(target) or self._ending_with(_parts(target), source_path)
        page = PurePath(source_path)
        # Many sites show a page as a folder, and links in it start from there.
        for folder in (page.parent, page.parent / page.stem):
            path = os.path.normpath(folder / target)
            found = self._by_path.get(path) or self._exactly(_parts(path))
            if found is not None:
                return found
        return None

    def _exactly(self, wanted: tuple[str, ...]) -> Entry | None:
        same = (
            entry
            for last in _lasts(wanted)
            for parts, entry in self._by_last.get(last, [])
            if parts == (*wanted[:-1], last)
        )
        return next(same, None)

    def _called(self, name: str, source_path: str) -> Entry | None:
        if "/" in name:
            found = self._ending_with(_parts(name), source_path)
            if found is not None:
                return found
            name = name.rstrip("/").rpartition("/")[2]
        return _nearest(self.named(name), source_path)

    def _ending_with(self, wanted: tuple[str, ...], source_path: str) -> Entry | None:
        for last in _lasts(wanted):
            end = (*wanted[:-1], last)
            found = [
                entry for parts, entry in self._by_last.get(last, []) if parts[len(parts) - len(end) :] == end
            ]
            if found:
                return _nearest(found, source_path)
        return None


def _forms(source_path: str) -> list[tuple[str, ...]]:
    """Return the ways a path may be written: with its ending, without, and as its folder where it stands for it."""
    parts = _parts(source_path)
    stem = _split(parts[-1])[0] if parts else ""
    if not stem:
        return []
    forms = [parts] if parts[-1] == stem else [parts, (*parts[:-1], stem)]
    if stem in _FOLDER_FILES and len(parts) > 1:
        forms.append(parts[:-1])
    return forms


@lru_cache(maxsize=1 << 16)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.casefold().replace(os.sep, "/").split("/") if part not in ("", "."))


def _lasts(wanted: tuple[str, ...]) -> list[str]:
    """Return the last part of a path as written, and without the ending of a page."""
    if not wanted:
        return []
    stem, suffix = _split(wanted[-1])
    return [wanted[-1], stem] if suffix in _PAGE_SUFFIXES else [wanted[-1]]


def _split(name: str) -> tuple[str, str]:
    """Return a file name without its ending, and the ending; `.hidden` has none."""
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem else (name, "")


def _nearest(entries: list[Entry], source_path: str) -> Entry | None:
    if len(entries) < 2:
        return entries[0] if entries else None
    own = _parts(source_path)

    def distance(entry: Entry) -> tuple[int, str]:
        parts = _parts(entry.source_path)
        shared = 0
        while shared < len(own) and shared < len(parts) and own[shared] == parts[shared]:
            shared += 1
        return (len(own) + len(parts) - 2 * shared, entry.source_path)

    return min(entries, key=distance)
