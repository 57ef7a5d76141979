"""Paths in answers: relative to the library's root, which a model need not read with every result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

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
    )
)
_PLAIN = frozenset((str, int, float, bool, dict))
# Arguments that name documents.
_DOCUMENTS = ("document", "old", "new")


def absolute(library: Library, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with full document paths, if they are given relative to the root."""
    named = {name: library.below_root(given[name]) for name in _DOCUMENTS if given.get(name)}
    return {**given, **named}


def relative(value: Any, root: str) -> Any:
    """Return what a library found with paths relative to a folder; paths outside it are unchanged."""
    return _relative(value, root.rstrip(os.sep) + os.sep) if root else value


def _relative(value: Any, prefix: str) -> Any:
    if isinstance(value, list):
        return [_relative(item, prefix) for item in value]
    changed = {}
    for name in _names(value.__class__):
        item = getattr(value, name)
        # Most fields are plain, and skipped quickly.
        if name in _PATHS:
            changed[name] = _cut(item, prefix)
        elif item and type(item) not in _PLAIN:
            inner = _relative(item, prefix)
            if inner is not item:
                changed[name] = inner
    return replace(value, **changed) if changed else value


def _cut(path: Any, prefix: str) -> Any:
    return (
        [item.removeprefix(prefix) for item in path] if isinstance(path, list) else path.removeprefix(prefix)
    )


@lru_cache(maxsize=64)
def _names(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a dataclass; nothing else has any."""
    return tuple(item.name for item in fields(kind) if item.init) if is_dataclass(kind) else ()
