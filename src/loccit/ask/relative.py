"""Paths for outsiders: relative to the library's root, in arguments, results, addresses and errors.

A model need not read the folders of a machine with every result, and a client elsewhere should not learn them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loccit.errors import LoccitError
from loccit.model.uris import SCHEME, document_uri, place_of

if TYPE_CHECKING:
    from loccit.library import Library

# Fields that hold paths, or begin with one.
_PATHS = frozenset(
    (
        "source_path",
        "target_path",
        "target_chunk",
        "chunk_id",
        "chunk_ids",
        "old_path",
        "new_path",
        "alternatives",
        "path",
        "roots",
        "added",
        "updated",
        "removed",
        "renamed",
    )
)
# Fields that say something in our own words, which may name files.
_SAID = frozenset(("reason", "note", "notes", "warnings", "detail"))
# A path from the root of a file system, up to its last part.
_FOLDERS = re.compile(r"""(?<![\w/:.…~])(?:[A-Za-z]:\\|/)(?:[^\s/\\'",;()]+[/\\])+(?=[^\s/\\'",;()])""")
_PLAIN = frozenset((str, int, float, bool, dict))
# Arguments that name documents.
_DOCUMENTS = ("document", "old", "new")


def absolute(library: Library, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with full document paths, if they are given relative to the root."""
    named: dict[str, Any] = {name: library.below_root(given[name]) for name in _DOCUMENTS if given.get(name)}
    if reference := given.get("reference"):
        several = isinstance(reference, list)
        named["reference"] = (
            [_addressed(library, one) for one in reference] if several else _addressed(library, reference)
        )
    return {**given, **named}


def _addressed(library: Library, reference: str) -> str:
    """Return a reference with a full path, if it is an address with the path of a document below the root."""
    place = place_of(reference) if isinstance(reference, str) else None
    if place is None or not place.document:
        return reference
    path = library.below_root(place.document)
    if path == place.document:
        return reference
    whole = reference.strip().startswith(SCHEME) and not place.section_id
    return document_uri(path, place.tool) if whole else f"{path}#{place.section_id}"


def relative(value: Any, root: str) -> Any:
    """Return what a library found with paths relative to a folder; of paths outside it, only the last part."""
    return _relative(value, root.rstrip(os.sep) + os.sep) if root else value


@contextmanager
def told_relative(library: Library) -> Iterator[None]:
    """Have errors name files relative to the library's root."""
    try:
        yield
    except LoccitError as error:
        root = library.root
        error.args = (
            _said(str(error), root.rstrip(os.sep) + os.sep) if root else str(error),
            *error.args[1:],
        )
        raise


def without_folders(text: str) -> str:
    """Return a message of ours without the folders of this machine.

    >>> without_folders("There is no index at /home/ann/docs/.loccit, and/or /api.")
    'There is no index at …/.loccit, and/or /api.'
    """
    return _FOLDERS.sub("…/", text)


def _said(text: str, prefix: str) -> str:
    if prefix == os.sep:
        # Documents that share no folder: of each path, only where it begins.
        return _FOLDERS.sub(lambda path: path.group().removeprefix(os.sep), text)
    return without_folders(text.replace(prefix, ""))


def _relative(value: Any, prefix: str) -> Any:
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_relative(item, prefix) for item in value)
    changed = {}
    for name in _names(value.__class__):
        item = getattr(value, name)
        # Most fields are plain, and skipped quickly.
        if name in _PATHS:
            changed[name] = _cut(item, prefix)
        elif name in _SAID and item:
            changed[name] = _spoken(item, prefix)
        elif item and type(item) not in _PLAIN:
            inner = _relative(item, prefix)
            if inner is not item:
                changed[name] = inner
    return replace(value, **changed) if changed else value


def _cut(path: Any, prefix: str) -> Any:
    if isinstance(path, (list, tuple)):
        return type(path)(_cut(item, prefix) for item in path)
    if path.startswith(prefix):
        return path[len(prefix) :]
    if path + os.sep == prefix:
        return "."
    return without_folders(path)


def _spoken(said: Any, prefix: str) -> Any:
    if isinstance(said, list):
        return [_spoken(item, prefix) for item in said]
    return _said(said, prefix) if isinstance(said, str) else said


@lru_cache(maxsize=64)
def _names(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a dataclass; nothing else has any."""
    return tuple(item.name for item in fields(kind) if item.init) if is_dataclass(kind) else ()
