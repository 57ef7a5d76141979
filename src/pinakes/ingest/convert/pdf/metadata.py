"""The properties a PDF states about itself."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

_DATE = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-])(\d{2})'?(\d{2})?'?)?")


def read_metadata(document: Any) -> dict[str, Any]:
    """Title, author, subject, keywords and dates, as far as they are given."""
    result: dict[str, Any] = {}
    for key in ("Title", "Author", "Subject", "Keywords"):
        try:
            value = " ".join(document.get_metadata_value(key).replace("\x00", "").split())
        except UnicodeDecodeError:
            continue
        if value:
            result[key.lower()] = value
    for key, name in (("CreationDate", "created"), ("ModDate", "modified")):
        try:
            date = iso_date(document.get_metadata_value(key))
        except UnicodeDecodeError:
            continue
        if date:
            result[name] = date
    return result


def iso_date(text: str) -> str | None:
    """A PDF date such as ``D:20220301120000+01'00'`` in ISO form; None when it is not one."""
    match = _DATE.match(text.strip())
    if not match:
        return None
    year, month, day, hour, minute, second = (int(g) if g else None for g in match.groups()[:6])
    try:
        moment = datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0)
    except ValueError:
        return None
    if match[7]:
        moment = moment.replace(tzinfo=timezone.utc)
    elif match[8]:
        offset = timedelta(hours=int(match[9]), minutes=int(match[10] or 0))
        if offset < timedelta(days=1):
            moment = moment.replace(tzinfo=timezone(-offset if match[8] == "-" else offset))
    return moment.isoformat()
