"""Codes: letters and digits by which standards name their requirements (`V5.2`, `AC-2(1)`, `MASVS-CODE-4`).

They are no numbers of a sequence that could be told from versions and part numbers, so no place is numbered by one. A
heading that begins with the code which is asked for is the place all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pinakes.port.records import Records
from pinakes.port.rows import StoredPlace
from pinakes.text.keys import title_key

_MOST = 3
# `V5.2`, `R1.2a`, `AC-2(1)`, `MUST-3`, `MASVS-CODE-4`, `E2c+`
_CODE = re.compile(
    r"(?<![\w.\-/])(?=[A-Za-z])(?=[A-Za-z.\-]{1,24}\d)[A-Za-z0-9]{1,16}(?:[.\-][A-Za-z0-9]{1,16}){0,6}"
    r"(?:\([A-Za-z0-9]{1,3}\)){0,3}\+{0,2}(?![\w/])"
)


def find_codes(text: str) -> list[str]:
    """Return the codes that a query names.

    >>> find_codes("what does V5.2 say about AC-2(1), and Section 4")
    ['V5.2', 'AC-2(1)']
    """
    return list(dict.fromkeys(_CODE.findall(text)))[:_MOST]


def sections_with_code(code: str, lookup: Records, documents: Collection[int] | None) -> list[StoredPlace]:
    """Return the sections whose heading begins with a code, and goes on with a title or not at all."""
    begins = re.compile(rf"\W{{0,6}}{re.escape(code)}(?![\w(+]|[.\-]\w)", re.IGNORECASE)
    found = lookup.places_by_first_words(title_key(code), documents)
    return [item for item in found if begins.match(item.place.heading)]
