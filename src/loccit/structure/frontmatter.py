"""Frontmatter: the block of metadata at the top of a Markdown file."""

from __future__ import annotations

import datetime as dt
import re
import sys
from typing import Any

import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Nobody writes this much by hand; a larger block is content, or an attack on the parser.
MAX_CHARACTERS = 64 * 1024


_MAX_DEPTH = 100
_OPENING = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n")
_LOOKS_LIKE_DATA = re.compile(r"(?:#.*\n\s*)*[\w\"'.-]+[ \t]*[:=]")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that leaves ``no``, ``12:30`` and ``0123`` as text, as their authors meant."""


def _timestamp(loader: Any, node: Any) -> Any:
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:
        # The thirty-second of May is not a date, but no reason to lose the title either.
        return node.value


_TAG = "tag:yaml.org,2002:"
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if tag.removeprefix(_TAG) not in {"bool", "int", "float"}
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, _pattern, _firsts in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", "-+0123456789."),
):
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), list(_firsts))
_Loader.add_constructor(_TAG + "timestamp", _timestamp)


def split_frontmatter(text: str) -> tuple[dict[str, Any], int, str]:
    """Return the metadata, where the body begins, and a warning if the block could not be read.

    >>> split_frontmatter("---\\ntitle: A note\\n---\\nBody")
    ({'title': 'A note'}, 22, '')
    """
    nothing: tuple[dict[str, Any], int, str] = ({}, 1 if text.startswith("\ufeff") else 0, "")
    opening = _OPENING.match(text)
    end = _closing_fence(text, opening[1], opening.end()) if opening else None
    if not opening or end is None:
        return nothing
    block = text[opening.end() : end[0]]
    try:
        data = _load_yaml(block) if opening[1] == "---" else tomllib.loads(block.replace("\r\n", "\n"))
        data = to_json(data)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        if not _LOOKS_LIKE_DATA.match(block):
            return nothing
        reason = " ".join(str(error).split())[:120]
        return {}, end[1], f"the frontmatter could not be read: {reason}"
    if isinstance(data, dict):
        return data, end[1], ""
    # Two rules around a line of prose, or around a heading, look like frontmatter but are not.
    return nothing if block.strip() else ({}, end[1], "")


def _load_yaml(block: str) -> Any:
    """Read a block without aliases and deep nesting: the one can expand to gigabytes, the other crash the process."""
    if "*" in block or len(block) > _MAX_DEPTH:
        depth = 0
        for event in yaml.parse(block, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise yaml.YAMLError("it is nested too deeply")
            if isinstance(event, yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not allowed")
    return yaml.load(block, Loader=_Loader)


def _closing_fence(text: str, fence: str, position: int) -> tuple[int, int] | None:
    """Find the line that ends the block: where the block stops and where the body starts."""
    closers = {fence, "..."} if fence == "---" else {fence}
    while position < min(len(text), MAX_CHARACTERS):
        line_end = text.find("\n", position)
        stop = len(text) if line_end < 0 else line_end
        if text[position:stop].rstrip() in closers:
            return position, min(stop + 1, len(text))
        position = stop + 1
    return None


def to_json(value: Any) -> Any:
    """Convert a parsed value to JSON values: dates become ISO text, keys become text."""
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [to_json(item) for item in value]
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return str(value)
