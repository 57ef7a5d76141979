"""Instruments: which document of the library a text means when it names one, and how sure that is.

A text names another document by its title, a usual short form, its official number or its file name. A work that
comes in numbered files (`Part 32`, `Part 52`) is named by its numbers: `52.232-16` says part 52. Nothing else leads
from one document to another: every contract has a section 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pinakes.labels import parse_heading
from pinakes.text.keys import title_key

if TYPE_CHECKING:
    from pinakes.search.corpus import Entry

TITLE, NUMBER, SHORT, FILE = 1.0, 0.95, 0.9, 0.85
"""How sure a name is: the title, the official number, a short form that the document gives, the name of its file."""
_SERIES, _BESIDE_SERIES, _COMMON = 0.9, 0.75, 0.7

# Titles made of nothing else say what a document is, not which one.
_COMMON_WORDS = frozenset(
    """
    a an the of and for form amended restated first second third master general
    act agreement amendment annex appendix article bill bylaws charter code constitution contract convention covenant
    credit decision deed directive document employment exhibit guarantee guaranty guide guidelines handbook index law
    lease letter license licence loan manual note notes notice order ordinance part plan policy protocol purchase
    readme regulation regulations report rules schedule section security services service software standard statute
    statutes stock terms treaty
    gesetz verordnung vertrag richtlinie satzung ordnung ley reglamento contrato loi contrat reglement
    """.split()
)
_COMMON_FOLDERS = frozenset(
    "doc docs document documents file files data src text texts md pdf html input".split()
)
_SHORT_FORM = re.compile(r"\(([^\W\d_][\w.&/-]{1,19}(?: \d{4})?)\)")
_BRACKETS = re.compile(r"\s*\([^()]{0,80}\)")
_SUBTITLE = re.compile(r"\s+[–—|]\s+|\s+-\s+|:\s+")
# RFC 5246, pep-0557: letters and a number that together are the name.
_DESIGNATION = re.compile(r"([A-Za-z]{2,6})[ _-]?0*(\d{1,6})")
_STEM_DESIGNATION = re.compile(r"(?:^|[\W_])([A-Za-z]{2,6})[ _-]?0*(\d{2,6})$")
# Regulation (EU) 2016/679, Ley 4/2012: what is numbered by year.
_OFFICIAL = re.compile(
    r"([^\W\d_]{3,20})\s+(?:\([A-Z, ]{2,12}\)\s+)?(?:(?:No|Nr|N|n)[.°º]?\s+)?(\d{1,4}/\d{1,4})(?!\d)"
)
_SAME_NOUN = {
    "verordnung": "regulation", "règlement": "regulation", "reglamento": "regulation", "regulations": "regulation",
    "richtlinie": "directive", "directiva": "directive", "directives": "directive", "decisión": "decision",
    "beschluss": "decision", "décision": "decision", "decisions": "decision",
}  # fmt: skip
_METADATA = (
    "jurabk",
    "abbreviation",
    "short_title",
    "shorttitle",
    "short",
    "identifier",
    "citation",
    "celex",
)
_SERIES_KINDS = frozenset(
    "part chapter title book division subpart subchapter section article rule regulation".split()
)

FileLabel = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Named:
    """The document that a name means; without one, why not."""

    entry: Entry | None
    sure: float = 0.0
    reason: str = ""


def names_of(source_path: str, title: str, metadata: Mapping[str, Any]) -> dict[str, float]:
    """Return the names that a document goes by in other texts, with how sure each is.

    >>> names_of("gdpr.md", "General Data Protection Regulation (EU) 2016/679", {})["gdpr"]
    0.85
    """
    names: dict[str, float] = {}
    for name, sure in _names(source_path, title, metadata):
        key = title_key(name)
        if len(key) > 1:
            names[key] = max(sure, names.get(key, 0.0))
    return names


def _names(source_path: str, title: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    stem = PurePath(source_path).stem
    yield stem, FILE
    found = _STEM_DESIGNATION.search(stem)
    if found:
        yield f"{found[1]} {found[2]}", NUMBER
    aliases = metadata.get("aliases") or []
    for alias in aliases if isinstance(aliases, list) else [aliases]:
        yield str(alias), TITLE
    for field in _METADATA:
        if isinstance(metadata.get(field), str):
            yield metadata[field], SHORT
    for whole in dict.fromkeys(
        [title, *(str(metadata[key]) for key in ("title", "Title") if metadata.get(key))]
    ):
        yield whole, TITLE
        yield _BRACKETS.sub("", whole), TITLE
        for short in _SHORT_FORM.finditer(whole):
            yield short[1], SHORT
        for official in _OFFICIAL.finditer(whole):
            yield _official(official), NUMBER
        head, *rest = _SUBTITLE.split(whole, maxsplit=1)
        if rest:
            yield head, SHORT
            yield rest[0], SHORT
        number = _DESIGNATION.match(head)
        if number and number[1].isupper():
            yield f"{number[1]} {number[2]}", NUMBER


def file_label(title: str) -> FileLabel | None:
    """Return kind and number of a file that is a numbered part of a work, by its title.

    >>> file_label("Part 52 - Solicitation Provisions"), file_label("Exhibit 10.1")
    (('part', ('52',)), None)
    """
    label = parse_heading(title)[0]
    if label is None or label.relative or label.kind not in _SERIES_KINDS:
        return None
    return label.kind, tuple(part.lower() for part in label.number)


def _official(match: re.Match[str]) -> str:
    noun = match[1].casefold()
    return f"{_SAME_NOUN.get(noun, noun)} {match[2]}"


def _keys(name: str) -> list[str]:
    """The forms under which a name in a text is looked up, the surest first."""
    keys = [title_key(name)]
    official = _OFFICIAL.search(name)
    if official:
        keys.append(title_key(_official(official)))
    designation = _DESIGNATION.fullmatch(name.strip())
    if designation:
        keys.append(title_key(f"{designation[1]} {designation[2]}"))
    return keys


class Instruments:
    """The documents of a library as texts name them."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_name: dict[str, list[tuple[float, Entry]]] = {}
        self._series: dict[str, dict[FileLabel, Entry | None]] = {}
        self._folders: dict[str, set[str]] = {}
        for entry in entries:
            for key, sure in entry.called.items():
                self._by_name.setdefault(key, []).append((sure, entry))
            self._number(entry)
        # Two files may be numbered by chance.
        self._series = {folder: members for folder, members in self._series.items() if len(members) > 2}
        self._kinds = {
            folder: frozenset(kind for kind, _ in members) for folder, members in self._series.items()
        }
        for folder in self._series:
            for name in PurePath(folder).parts[-2:]:
                if title_key(name) not in _COMMON_FOLDERS:
                    self._folders.setdefault(title_key(name), set()).add(folder)

    def _number(self, entry: Entry) -> None:
        if entry.label is not None:
            members = self._series.setdefault(_folder(entry), {})
            # Two files of one number are two works, and the number says neither.
            members[entry.label] = entry if entry.label not in members else None

    def named(self, name: str, source: Entry) -> Named:
        """Return the document that a text means by a name; never the document that the text stands in."""
        found = [
            (sure, entry)
            for key in _keys(name)
            for sure, entry in self._by_name.get(key, ())
            if entry.id != source.id
        ]
        if not found:
            return Named(None, reason=f"names {name}, which is not in the library")
        best = max(sure for sure, _ in found)
        entries = list({entry.id: entry for sure, entry in found if sure == best}.values())
        beside = [entry for entry in entries if _folder(entry) == _folder(source)]
        if set(title_key(name).split()) <= _COMMON_WORDS:
            # `the Loan Agreement` is that of the same matter, if any.
            if len(beside) == 1:
                return Named(beside[0], _COMMON)
            return Named(None, reason=f"{name} does not say which document is meant")
        if len(entries) > 1 and len(beside) != 1:
            return Named(None, reason=f"{len(entries)} documents go by the name {name}")
        return Named(entries[0], best) if len(entries) == 1 else Named(beside[0], _COMMON)

    def numbered(self, kind: str, number: tuple[str, ...], source: Entry, name: str = "") -> Named:
        """Return the file that a number says it stands in, of a work in numbered files.

        That is the work that the text itself belongs to, or the one it names.
        """
        folders = self._folders.get(title_key(name), set()) if name else {_folder(source)}
        members = self._series.get(next(iter(folders)), {}) if len(folders) == 1 else {}
        if not members:
            return Named(None)
        kinds = self._kinds[next(iter(folders))]
        own = source.label is not None and members.get(source.label) is source
        for size in range(1, len(number) + 1):
            for member_kind in kinds if size < len(number) else kinds & {kind}:
                entry = members.get((member_kind, number[:size]))
                if entry is None or entry.id == source.id:
                    continue
                if own or name:
                    return Named(entry, _SERIES)
                # Somebody else's `section 12.3` is not part 12 of a work that happens to lie in the same folder;
                # `section 12.301` hardly is anything else.
                code = len(number) > 1 and len(number[1]) > 2
                if kind in kinds | {""} or kind.removeprefix("sub") in kinds or code:
                    return Named(entry, _BESIDE_SERIES)
        return Named(None)


def _folder(entry: Entry) -> str:
    return str(PurePath(entry.source_path).parent)
