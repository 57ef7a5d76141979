"""Change data at a place: what is wrong is taken out, so that the rest can be validated too."""

from __future__ import annotations

from typing import Any

from pinakes.config.agent.faults import Place

_REQUIRED = ("name", "description", "source")


def take_out(data: Any, place: Place, kind: str) -> None:
    """Remove the value at a place, or put a harmless one there where one is required; ``kind`` is that of the error."""
    if (
        len(place) == 3
        and place[0] == "tools"
        and place[2] in _REQUIRED
        and isinstance(data["tools"][place[1]], dict)
    ):
        data["tools"][place[1]][place[2]] = _harmless(place[1])[str(place[2])]
    elif place[:1] == ("tools",) and len(place) == (3 if kind == "tool_type" else 2):
        data["tools"][place[1]] = _harmless(place[1])
    else:
        # A block that lacks a field is of no use without it.
        _remove(data, place[:-1] if kind == "missing" else place)


def _harmless(number: str | int) -> dict[str, str]:
    return {"name": f"_tool_{number}", "description": ".", "source": "."}


def put(data: Any, place: Place, value: Any) -> None:
    """Put another value at a place, where there is one."""
    holder = _holder(data, place)
    if holder is not None:
        holder[place[-1]] = value


def _remove(data: Any, place: Place) -> None:
    holder = _holder(data, place)
    if holder is not None:
        del holder[place[-1]]


def _holder(data: Any, place: Place) -> Any:
    """Return the mapping or list that has the value at a place, or None where there is no such value."""
    for part in place[:-1]:
        if not _has(data, part):
            return None
        data = data[part]
    return data if place and _has(data, place[-1]) else None


def _has(data: Any, part: str | int) -> bool:
    if isinstance(data, dict):
        return part in data
    return isinstance(data, list) and isinstance(part, int) and part < len(data)
