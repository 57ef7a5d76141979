"""Document keys: by which keys a document is found, and a link or a reference in it finds another.

Both are stored in the index with the document. What a link or a reference *may* mean shares a key with it; which of the
documents with that key it does mean, if any, is decided on demand, because documents come and go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote

from loccit.grammar.labels.names import INITIALS, name_key, names_of, official_names, unparted_forms
from loccit.grammar.labels.readers import parse_heading
from loccit.grammar.text.keys import title_key

# Longer paths lead nowhere.
_LONGEST_PATH = 4096
# Files that represent their folder.
_FOLDER_FILES = frozenset({"index", "_index", "readme"})
# Extensions that a link may have although the document's file has another, or omit.
_PAGE_SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".html", ".htm"})
_WIKI = re.compile(r"!?\[\[([^\]|]+)(?:\|[^\]]*)?\]\]")
# Titles of files that are numbered parts of a larger work.
_PARTS_OF_A_WORK = frozenset(
    "part chapter title book division subpart subchapter section article rule regulation".split()
)
_COMMON_FOLDERS = frozenset(
    "doc docs document documents file files data src text texts md pdf html input".split()
)
LINKS = frozenset({"link", "wiki", "transclusion"})
"""Kinds of references that are links."""

FileLabel = tuple[str, tuple[str, ...]]


class DocumentKey(NamedTuple):
    """A key of a document; ``kind`` is full, short, word, initials, acronym, path or title.

    ``folder`` is the number of its folder, for full names; ``sure`` the confidence that a text means it by this key.
    """

    kind: str
    key: str
    folder: int = 0
    sure: float = 0.0


class Lead(NamedTuple):
    """Something in a document that may lead to another: ``source`` is link, related or reference."""

    key: str
    source: str
    start: int
    number: str = ""
    """The number that comes with a reference."""
    kind: str = ""
    target: str = ""


class NumberedFile(NamedTuple):
    """A file of a work in numbered files: its folder, the names of that and its parent, and its number."""

    folder: int
    kind: str
    number: str
    name: str
    above: str


# -- what a document is found by -----------------------------------------------------------------------------


def document_keys(source_path: str, title: str, metadata: Mapping[str, Any]) -> list[DocumentKey]:
    """Return the keys of a document: its names, their words and initials, and its path, read from the end."""
    names = names_of(source_path, title, metadata)
    folder = folder_number(folder_of(source_path))
    keys = [DocumentKey("full", key, folder, sure) for key, sure in names.full.items()]
    keys += [DocumentKey("short", key, folder, sure) for key, sure in names.short.items()]
    keys += [DocumentKey("word", word) for word in sorted(names.words)]
    for initials in sorted(names.initials):
        keys.append(DocumentKey("acronym", initials))
        # So that any of its suffixes begins a key.
        keys += [DocumentKey("initials", initials[at:]) for at in range(len(initials) - INITIALS + 1)]
    keys += [DocumentKey("path", path_key(parts)) for parts in path_forms(source_path)]
    if key := title_key(title):
        keys.append(DocumentKey("title", key))
    return list(dict.fromkeys(keys))


def numbered_file(source_path: str, title: str) -> NumberedFile | None:
    """Return what is known about a file that is a numbered part of a work, by its title."""
    label = file_label(title)
    if label is None:
        return None
    folder = folder_of(source_path)
    above, name = ["", "", *map(title_key, PurePath(folder).parts)][-2:]
    return NumberedFile(folder_number(folder), label[0], "_".join(label[1]), _telling(name), _telling(above))


def _telling(folder: str) -> str:
    return "" if folder in _COMMON_FOLDERS else folder


def file_label(title: str) -> FileLabel | None:
    """Return kind and number of a file that is a numbered part of a work, by its title.

    >>> file_label("Part 52 - Solicitation Provisions"), file_label("Exhibit 10.1")
    (('part', ('52',)), None)
    """
    label = parse_heading(title)[0]
    if label is None or label.relative or label.kind not in _PARTS_OF_A_WORK:
        return None
    return label.kind, tuple(part.lower() for part in label.number)


def folder_of(source_path: str) -> str:
    """Return the folder of a document."""
    return str(PurePath(source_path).parent)


@lru_cache(maxsize=1 << 12)
def folder_number(folder: str) -> int:
    """Return a number for a folder, the same everywhere; collisions are practically impossible."""
    digest = blake2b(folder.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# -- paths ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def path_parts(path: str) -> tuple[str, ...]:
    """Return the folders and the file of a path, in lower case."""
    return tuple(part for part in path.casefold().replace(os.sep, "/").split("/") if part not in ("", "."))


def path_forms(source_path: str) -> list[tuple[str, ...]]:
    """Return the ways to write a path: with its extension, without, and as its folder if it represents it."""
    parts = path_parts(source_path)
    stem = _split(parts[-1])[0] if parts else ""
    if not stem:
        return []
    forms = [parts] if parts[-1] == stem else [parts, (*parts[:-1], stem)]
    if stem in _FOLDER_FILES and len(parts) > 1:
        forms.append(parts[:-1])
    return forms


def path_key(parts: tuple[str, ...]) -> str:
    """Return the key of a path: its parts in reverse order, so that paths with a common end share a prefix.

    >>> path_key(("docs", "guide.md"))
    'guide.md/docs/'
    """
    return "".join(f"{part}/" for part in reversed(parts))


def last_parts(wanted: tuple[str, ...]) -> list[str]:
    """Return the last part of a path as written, and without the extension of a page."""
    if not wanted:
        return []
    stem, suffix = _split(wanted[-1])
    return [wanted[-1], stem] if suffix in _PAGE_SUFFIXES else [wanted[-1]]


def _split(name: str) -> tuple[str, str]:
    """Return a file name without its extension, and the extension; `.hidden` has none."""
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem else (name, "")


def pages_of(target: str, source_path: str) -> list[str]:
    """Return the paths that a relative link in a document may mean.

    Many sites show a page as a folder, and links in it are relative to that.
    """
    # Documents have thousands of links, and joining paths as objects takes three times as long.
    return [os.path.normpath(os.path.join(folder, target)) for folder in _folders(source_path)]  # noqa: PTH118


@lru_cache(maxsize=1 << 10)
def _folders(source_path: str) -> tuple[str, str]:
    page = PurePath(source_path)
    return str(page.parent), str(page.parent / page.stem)


# -- what leads to other documents ---------------------------------------------------------------------------


def link_keys(kind: str, target: str, source_path: str) -> set[str]:
    """Return the keys of possible targets of a link; ``kind`` is ``link`` for a path, anything else for a name."""
    if len(target) > _LONGEST_PATH:
        return set()
    name = unquote(target).partition("#")[0].strip()
    if kind == "link":
        path = name.partition("?")[0]
        if not path:
            return set()
        paths = [path] if path.startswith("/") else pages_of(path, source_path)
        return {_path_lead(parts) for parts in map(path_parts, paths) if parts}
    keys = set()
    if "/" in name:
        if parts := path_parts(name):
            keys.add(_path_lead(parts))
        name = name.rstrip("/").rpartition("/")[2]
    if key := name_key(name):
        keys.add(f"name {key}")
    return keys


def related_names(metadata: Mapping[str, Any]) -> list[str]:
    """Return what a document names as ``related`` in its frontmatter."""
    lower = {str(name).lower(): value for name, value in metadata.items()}
    return list(_names(lower.get("related")))


def _names(value: object) -> Iterator[str]:
    """Extract names from a list or a line with commas; YAML parses an unquoted `[[name]]` as nested lists."""
    if isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif isinstance(value, (str, int, float)):
        yield from filter(None, (name.strip() for name in str(value).split(",")))


def related_keys(name: str, source_path: str) -> set[str]:
    """Return the keys of documents named as related: a wiki link, a path or a name."""
    return set().union(*(link_keys(kind, target, source_path) for kind, target in related_forms(name)))


def related_forms(name: str) -> list[tuple[str, str]]:
    """Return the kinds and targets of links that a related document may be written as, in order."""
    wiki = _WIKI.fullmatch(name)
    return [("wiki", wiki[1])] if wiki else [("link", name), ("wiki", name)]


def reference_keys(kind: str, target: str, number_key: str, source_path: str) -> set[str]:
    """Return the keys of what a reference that its own document cannot resolve may mean in another."""
    if kind in LINKS:
        return link_keys(kind, target, source_path)
    if not target:
        return {f"beside {folder_number(folder_of(source_path))}"} if number_key else set()
    keys = {f"name {key}" for key in spoken_keys(target)}
    if number_key and (work := title_key(target)):
        keys.add(f"work {work}")
    return keys


def spoken_keys(name: str) -> list[str]:
    """Return the keys of the document that a text refers to by name, the name's own first."""
    keys = [
        name_key(name),
        *(key for key, _, _ in official_names(name)),
        *map(name_key, unparted_forms(name)),
    ]
    return [key for key in dict.fromkeys(keys) if len(key) > 1]


def keys_leading_to(
    source_path: str, title: str, names: Iterable[str]
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the keys by which something may lead to a document with these names.

    Those of works in numbered files are separate, with the range of numbers that lead to this file.
    """
    keys = [f"name {name}" for name in names]
    for parts in path_forms(source_path):
        for size in range(1, len(parts) + 1):
            keys += [_path_lead((*parts[len(parts) - size : -1], last)) for last in last_parts(parts)]
    works = []
    numbered = numbered_file(source_path, title)
    if numbered is not None:
        called = [f"work {name}" for name in (numbered.name, numbered.above) if name]
        for key in (f"beside {numbered.folder}", *called):
            works.append((key, numbered.number, numbered.number))
            # Numbers are joined by `_`: those below 4 are between `4_` and the character after it, a
            # backtick.
            works.append((key, f"{numbered.number}_", f"{numbered.number}`"))
    return list(dict.fromkeys(keys)), works


def _path_lead(parts: tuple[str, ...]) -> str:
    return f"path {path_key((*parts[:-1], last_parts(parts)[-1]))}"
