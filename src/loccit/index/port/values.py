"""Values of a document's fields: dates with their spans, ranges, and when a value matches.

An index stores values as ``field_value`` reads them; filters are compiled (``wanted_value``) into comparable form, so
that nothing has to be parsed while documents are selected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

_RANGE = re.compile(r"(?P<sign><=|>=|<|>)\s*(?P<bound>\S.*)|(?P<low>.*?)\s*\.\.\s*(?P<high>.*)")
_SPELLED = ("%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%d.%m.%Y", "%B %Y", "%Y%m%d")
_YEAR = re.compile(r"\d{4}")  # which each of these has
_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:[-/.](\d{1,2}))?\Z")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_Span = tuple[float, float]
# A longer value is compared by its beginning.
_LONGEST = 400


class FieldValue(NamedTuple):
    """A value as stored: as text to compare, and as number and moment if it can be read as such."""

    text: str
    number: float | None
    moment: float | None


class WantedValue(NamedTuple):
    """What a value must be: this text, a number in this range, or a moment in that one.

    Moments count if the value is not a number, or none is wanted.
    """

    text: str
    numbers: _Span | None
    moments: _Span | None


def parse_date(text: str) -> datetime | None:
    """Parse a date or time, ISO or spelled out; a year or month is its first day, no zone means UTC."""
    text = text.strip()
    if len(text) > _LONGEST or not any(map(str.isdigit, text)):
        return None
    if found := _YEAR_OR_MONTH.match(text):
        text = f"{found[1]}-{int(found[2] or 1):02}-01"
    text = re.sub(r"\A(\d{4})[/.](\d{1,2})[/.](\d{1,2})", _iso, text)
    date: datetime | None
    try:
        date = datetime.fromisoformat(re.sub(r"[Zz]\Z", "+00:00", text))
    except ValueError:
        forms = _SPELLED if _YEAR.search(text) else ()
        date = next((read for form in forms if (read := _read(text, form))), None)
    if date is None or date.tzinfo:
        return date
    return date.replace(tzinfo=timezone.utc)


def _iso(found: re.Match[str]) -> str:
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"


def _read(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def date_span(text: str) -> tuple[datetime, datetime] | None:
    """The time span of a date, from its first moment to the first after it: a year, a month, a day."""
    start = parse_date(text)
    if start is None:
        return None
    found = _YEAR_OR_MONTH.match(text.strip())
    if start.year > 9998:
        return start, start
    if found:
        return start, (start + timedelta(days=31 if found[2] else 366)).replace(day=1)
    has_time = any((start.hour, start.minute, start.second, start.microsecond))
    return start, start + (timedelta(seconds=1) if has_time else timedelta(days=1))


def field_value(value: Any) -> FieldValue:
    """Parse a value of the frontmatter."""
    text = plain(value)
    if isinstance(value, bool):
        return FieldValue(text, None, None)
    number, moment = _number(text), _date(text)
    return FieldValue(text[:_LONGEST], number and number[0], moment and moment[0])


def wanted_value(wanted: str) -> WantedValue:
    """Parse the value of a filter, which may be a range (``3..5``, ``>=2024-06``)."""
    numbers, moments = (_range(wanted, read) or read(wanted) for read in _READERS)
    return WantedValue(plain(wanted)[:_LONGEST], numbers, moments)


def is_range(wanted: str) -> bool:
    """Whether this is written as a range of numbers or dates."""
    return any(_range(wanted, read) for read in _READERS)


def plain(value: Any) -> str:
    """A value as text to compare: ignoring case, and without what people put around tags and links."""
    text = str(value).strip().casefold()
    link = _WIKILINK.fullmatch(text)
    return (link[1].strip() if link else text).lstrip("#")


def leaves(value: Any) -> Iterator[Any]:
    """The single values in lists and nested mappings."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value


def _number(text: str) -> _Span | None:
    """A number with the next larger one, so that it is in its own range."""
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text.strip()):
        return None
    number = float(text)
    return number, number + max(abs(number), 1.0) * 1e-12


def _date(text: str) -> _Span | None:
    span = date_span(text)
    return (span[0].timestamp(), span[1].timestamp()) if span else None


_Reader = Callable[[str], _Span | None]
# Numbers first: "2020..2024" and a year can be read either way and mean the same.
_READERS: tuple[_Reader, ...] = (_number, _date)


def _range(wanted: str, read: _Reader) -> _Span | None:
    """The ends of a range whose bounds can be parsed; both bounds of ``a..b`` are included."""
    found = _RANGE.fullmatch(wanted.strip())
    if not found:
        return None
    if found["sign"]:
        bound = read(found["bound"])
        if bound is None:
            return None
        least, above = float("-inf"), float("inf")
        start, end = bound
        return {">=": (start, above), ">": (end, above), "<": (least, start), "<=": (least, end)}[
            found["sign"]
        ]
    low = read(found["low"]) if found["low"] else (float("-inf"),) * 2
    high = read(found["high"]) if found["high"] else (float("inf"),) * 2
    return (low[0], high[1]) if low and high and (found["low"] or found["high"]) else None
