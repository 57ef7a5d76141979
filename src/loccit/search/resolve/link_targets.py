"""Link targets: which document a link points to, by path or by name.

A path may be relative to the linking document, or start at the root of a site that the library knows nothing about
(`/docs/tasks/`): then its end must match. A wiki link names a document by file name, title or alias. If several
documents match, the one nearest to the link wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from loccit.grammar.labels.document_keys import last_parts, pages_of, path_key, path_parts
from loccit.grammar.labels.names import name_key
from loccit.index.port.names import Entry, NameLookup


class LinkTargets:
    """The documents of a library as links name them. Lookups are cached: make one per question."""

    def __init__(self, lookup: NameLookup) -> None:
        self._lookup = lookup
        self._by_path: dict[str, Entry | None] = {}
        self._by_name: dict[str, list[Entry]] = {}
        self._whole: dict[str, list[Entry]] = {}
        self._ends: dict[str, list[Entry]] = {}

    def find(self, kind: str, target: str, source_path: str) -> tuple[Entry, str] | None:
        """Return the document that a link in ``source_path`` points to, and the anchor after ``#``.

        ``kind`` is ``link`` for a path, anything else for a name.
        """
        name, anchor = _parts_of(kind, target)
        entry = self._at_path(name, source_path) if kind == "link" else self._called(name, source_path)
        return (entry, anchor) if entry is not None else None

    def preload(self, links: Iterable[tuple[str, str, str]]) -> None:
        """Look up what several links may point to, given as for ``find``, at once."""
        paths: set[str] = set()
        whole: set[str] = set()
        ends: set[str] = set()
        names: set[str] = set()
        for kind, target, source_path in set(links):
            name, _ = _parts_of(kind, target)
            if kind == "link":
                near = (
                    [name] if name.startswith("/") else pages_of(name, source_path) if name else [source_path]
                )
                paths.update(near)
                (ends if name.startswith("/") else whole).update(key for path in near for key in _keys(path))
            else:
                ends.update(_keys(name) if "/" in name else ())
                names.add(name_key(_last(name)))
        self._look_up_paths(paths)
        self._look_up_names(names)
        self._look_up_ends(self._whole, whole, exactly=True)
        self._look_up_ends(self._ends, ends, exactly=False)

    # -- looking up ------------------------------------------------------------------------------------------

    def _look_up_paths(self, paths: set[str]) -> None:
        if new := [path for path in paths if path not in self._by_path]:
            self._by_path.update(dict.fromkeys(new) | self._lookup.at(new))

    def _look_up_names(self, names: set[str]) -> None:
        if new := [name for name in names if name not in self._by_name]:
            found = self._lookup.called([name for name in new if name])
            for name in new:
                self._by_name[name] = [one.entry for one in found.get(name, ()) if one.full]

    def _look_up_ends(self, known: dict[str, list[Entry]], keys: set[str], *, exactly: bool) -> None:
        if new := [key for key in keys if key not in known]:
            known.update({key: [] for key in new} | self._lookup.ending(new, whole=exactly))

    # -- deciding --------------------------------------------------------------------------------------------

    def _at(self, path: str) -> Entry | None:
        self._look_up_paths({path})
        return self._by_path[path]

    def _at_path(self, target: str, source_path: str) -> Entry | None:
        if not target:
            return self._at(source_path)
        if target.startswith("/"):
            return self._at(target) or self._ending_with(target, source_path)
        for path in pages_of(target, source_path):
            found = self._at(path) or self._exactly(path)
            if found is not None:
                return found
        return None

    def _exactly(self, path: str) -> Entry | None:
        keys = _keys(path)
        self._look_up_ends(self._whole, set(keys), exactly=True)
        # Of files that differ only in their extension, the first.
        same = (min(found, key=_path_of) for key in keys if (found := self._whole[key]))
        return next(same, None)

    def _called(self, name: str, source_path: str) -> Entry | None:
        if "/" in name:
            found = self._ending_with(name, source_path)
            if found is not None:
                return found
        key = name_key(_last(name))
        self._look_up_names({key})
        return _nearest(self._by_name[key], source_path)

    def _ending_with(self, path: str, source_path: str) -> Entry | None:
        keys = _keys(path)
        self._look_up_ends(self._ends, set(keys), exactly=False)
        return next((_nearest(found, source_path) for key in keys if (found := self._ends[key])), None)


def _parts_of(kind: str, target: str) -> tuple[str, str]:
    """Return the path or name in a link, and what follows the `#`."""
    name, _, anchor = unquote(target).partition("#")
    name = name.strip()
    return name.partition("?")[0] if kind == "link" else name, anchor.strip()


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


def _keys(path: str) -> list[str]:
    """Return the keys of a path as written, and without the extension of a page."""
    parts = path_parts(path)
    return [path_key((*parts[:-1], last)) for last in last_parts(parts)]


def _path_of(entry: Entry) -> str:
    return entry.source_path


def _nearest(entries: list[Entry], source_path: str) -> Entry | None:
    if len(entries) < 2:
        return entries[0] if entries else None
    own = path_parts(source_path)

    def distance(entry: Entry) -> tuple[int, str]:
        parts = path_parts(entry.source_path)
        shared = 0
        while shared < len(own) and shared < len(parts) and own[shared] == parts[shared]:
            shared += 1
        return (len(own) + len(parts) - 2 * shared, entry.source_path)

    return min(entries, key=distance)
