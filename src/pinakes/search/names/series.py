"""Series: works that come in numbered files (`Part 32`, `Part 52`) and are named by their numbers: `52.232-16`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING

from pinakes.labels import parse_heading
from pinakes.text.keys import title_key

if TYPE_CHECKING:
    from pinakes.search.corpus import Entry

FileLabel = tuple[str, tuple[str, ...]]

_IN_SERIES, _BESIDE_SERIES = 0.9, 0.75
_KINDS = frozenset(
    "part chapter title book division subpart subchapter section article rule regulation".split()
)
_COMMON_FOLDERS = frozenset(
    "doc docs document documents file files data src text texts md pdf html input".split()
)


def file_label(title: str) -> FileLabel | None:
    """Return kind and number of a file that is a numbered part of a work, by its title.

    >>> file_label("Part 52 - Solicitation Provisions"), file_label("Exhibit 10.1")
    (('part', ('52',)), None)
    """
    label = parse_heading(title)[0]
    if label is None or label.relative or label.kind not in _KINDS:
        return None
    return label.kind, tuple(part.lower() for part in label.number)


def folder_of(entry: Entry) -> str:
    """Return the folder that a document lies in."""
    return str(PurePath(entry.source_path).parent)


class Series:
    """The numbered files of a library, by folder."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        works: dict[str, dict[FileLabel, Entry | None]] = {}
        for entry in entries:
            if entry.label is not None:
                members = works.setdefault(folder_of(entry), {})
                # Two files of one number are two works, and the number says neither.
                members[entry.label] = entry if entry.label not in members else None
        # Two files may be numbered by chance.
        self._works = {folder: members for folder, members in works.items() if len(members) > 2}
        self._called: dict[str, set[str]] = {}
        for folder in self._works:
            for name in PurePath(folder).parts[-2:]:
                if title_key(name) not in _COMMON_FOLDERS:
                    self._called.setdefault(title_key(name), set()).add(folder)

    def find(
        self, kind: str, number: tuple[str, ...], source: Entry, name: str
    ) -> tuple[Entry, float] | None:
        """Return the file that a number says it stands in, and how sure that is."""
        folders = self._called.get(title_key(name), set()) if name else {folder_of(source)}
        members = self._works.get(next(iter(folders)), {}) if len(folders) == 1 else {}
        kinds = {member_kind for member_kind, _ in members}
        own = source.label is not None and members.get(source.label) is source
        for size in range(1, len(number) + 1):
            for member_kind in kinds if size < len(number) else kinds & {kind}:
                entry = members.get((member_kind, number[:size]))
                if entry is None or entry.id == source.id:
                    continue
                if own or name:
                    return entry, _IN_SERIES
                # Somebody else's `section 12.3` is not part 12 of a work that happens to lie in the same folder;
                # `section 12.301` hardly is anything else.
                code = len(number) > 1 and len(number[1]) > 2
                if kind in kinds | {""} or kind.removeprefix("sub") in kinds or code:
                    return entry, _BESIDE_SERIES
        return None
