"""Frontmatter: the block of metadata at the top of a Markdown file."""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import Any

import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Nobody writes this much by hand; a larger block is content, or an attack on the parser.
MAX_CHARACTERS = 64 * 1024


class _PlainLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader without anchors: a few nested aliases can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed in frontmatter")
        return super().compose_node(parent, index)


def split_frontmatter(text: str) -> tuple[dict[str, Any], int, str]:
    """Return the metadata, where the body begins, and a warning when the block could not be read.

    >>> split_frontmatter("---\\ntitle: A note\\n---\\nBody")
    ({'title': 'A note'}, 23, '')
    """
    opening = text[:4]
    if opening not in ("---\n", "+++\n"):
        return {}, 0, ""
    fence = opening[:3]
    end = _closing_fence(text, fence)
    if end is None:
        return {}, 0, ""
    block = text[4 : end[0]]
    try:
        data = yaml.load(block, Loader=_PlainLoader) if fence == "---" else tomllib.loads(block)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        return {}, end[1], f"the frontmatter could not be read: {reason}"
    if data is None:
        return {}, end[1], ""
    if not isinstance(data, dict):
        # Two rules around a line of prose look like frontmatter and are not.
        return {}, 0, ""
    return {str(key): to_json(value) for key, value in data.items()}, end[1], ""


def _closing_fence(text: str, fence: str) -> tuple[int, int] | None:
    """Find the line that ends the block: where the block stops and where the body starts."""
    closers = {fence, "..."} if fence == "---" else {fence}
    position = 4
    while position < min(len(text), MAX_CHARACTERS):
        line_end = text.find("\n", position)
        stop = len(text) if line_end < 0 else line_end
        if text[position:stop].rstrip() in closers:
            return position, min(stop + 1, len(text))
        position = stop + 1
    return None


def to_json(value: Any) -> Any:
    """Make a parsed value fit for JSON: dates become ISO text, keys become text."""
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
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return str(value)
