"""Series: works that come in numbered files (`Part 32`, `Part 52`) and are named by their numbers: `52.232-16`."""

from __future__ import annotations

from pinakes.labels.document_keys import FileLabel, file_label, folder_number, folder_of
from pinakes.port.names import Entry, NameLookup, Work
from pinakes.text.keys import title_key

_IN_SERIES, _BESIDE_SERIES = 0.9, 0.75


class Series:
    """The numbered files of a library, by folder. What was looked up is kept."""

    def __init__(self, lookup: NameLookup) -> None:
        self._lookup = lookup
        self._works: dict[str | int, list[Work]] = {}
        self._members: dict[tuple[int, FileLabel], Entry | None] = {}

    def find(
        self, kind: str, number: tuple[str, ...], source: Entry, name: str
    ) -> tuple[Entry, float] | None:
        """Return the file that a number says it stands in, and how sure that is."""
        works = self._called(title_key(name)) if name else self._lying_in(folder_of(source.source_path))
        if len(works) != 1:
            return None
        (work,) = works
        label = file_label(source.title)
        own = label is not None and self._member(work.folder, label) == source
        for size in range(1, len(number) + 1):
            for member_kind in work.kinds if size < len(number) else work.kinds & {kind}:
                entry = self._member(work.folder, (member_kind, number[:size]))
                if entry is None or entry.id == source.id:
                    continue
                if own or name:
                    return entry, _IN_SERIES
                # Somebody else's `section 12.3` is not part 12 of a work that happens to lie in the same folder;
                # `section 12.301` hardly is anything else.
                code = len(number) > 1 and len(number[1]) > 2
                if kind in work.kinds | {""} or kind.removeprefix("sub") in work.kinds or code:
                    return entry, _BESIDE_SERIES
        return None

    def _called(self, name: str) -> list[Work]:
        if name not in self._works:
            self._works[name] = self._lookup.works(name)
        return self._works[name]

    def _lying_in(self, folder: str) -> list[Work]:
        number = folder_number(folder)
        if number not in self._works:
            work = self._lookup.work(number)
            self._works[number] = [work] if work is not None else []
        return self._works[number]

    def _member(self, folder: int, label: FileLabel) -> Entry | None:
        """Two files of one number are two works, and the number says neither."""
        if (folder, label) not in self._members:
            found = self._lookup.members(folder, label[0], "_".join(label[1]))
            self._members[folder, label] = found[0] if len(found) == 1 else None
        return self._members[folder, label]
