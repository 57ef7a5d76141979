"""Links from an answer to the resources that it cites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from loccit.ask.answers import Answer
from loccit.ask.fit import Limit
from loccit.model.uris import document_uri, section_uri

# What a client can still show beside an answer.
_MOST = 20


def linked(answer: Answer, limit: Limit) -> Answer:
    """Return an answer with links to the places that it shows: as many as the text leaves room for."""
    data = answer.data
    room = limit.budget - limit.tokens.count(answer.text)
    found: dict[str, dict[str, str]] = {}
    for uri, name in _places(data, data.get("tool")):
        if uri not in found:
            link = {"uri": uri, "name": name}
            room -= limit.size({"type": "resource_link", **link})
            if room < 0 or len(found) == _MOST:
                break
            found[uri] = link
    return replace(answer, make_data=lambda: data, links=tuple(found.values()))


def _places(value: Any, tool: str | None) -> Iterator[tuple[str, str]]:
    """Yield the places among an answer's values; a document without an id goes by its path."""
    if isinstance(value, list):
        for item in value:
            yield from _places(item, tool)
    elif isinstance(value, dict):
        path = value.get("source_path") or ""
        name = str(value.get("section_label") or value.get("heading") or value.get("title") or path)
        if "place_id" in value:
            yield section_uri(value["place_id"], tool), name or value["place_id"]
        elif path and "title" in value:
            yield document_uri(path, tool), name
        for item in value.values():
            yield from _places(item, tool)
