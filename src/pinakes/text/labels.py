"""Labels, under the name by which they went before: see :mod:`pinakes.labels`."""

from pinakes.labels import (
    LEAF_KINDS,
    FoundLabel,
    Label,
    find_labels,
    normalise_number,
    parse_heading,
    parse_whole,
    roman_numeral,
    roman_value,
)
from pinakes.text.keys import slug

__all__ = [
    "LEAF_KINDS",
    "FoundLabel",
    "Label",
    "find_labels",
    "normalise_number",
    "parse_heading",
    "parse_whole",
    "roman_numeral",
    "roman_value",
    "slug",
]
