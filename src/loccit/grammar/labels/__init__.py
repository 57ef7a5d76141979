"""Labels: how people number the parts of documents, and how they write those numbers.

One grammar serves three readers: for the labels printed in headings (``Article 6``, ``SEC. 203.``, ``第三条``), the
references in running text (``Art. 6 (1) f``, ``§§ 3-5``), and what queries name. All become a :class:`Label` with a
normalised number, so that they can be compared. The vocabulary is data: see :mod:`loccit.grammar.labels.lexicon`.
"""

from __future__ import annotations

from loccit.grammar.labels.model import LEAF_KINDS, FoundLabel, Label
from loccit.grammar.labels.numbers import normalise_number, roman_numeral, roman_value
from loccit.grammar.labels.places import FoundPlaces, find_places
from loccit.grammar.labels.readers import find_labels, parse_heading, parse_whole

__all__ = [
    "LEAF_KINDS",
    "FoundLabel",
    "FoundPlaces",
    "Label",
    "find_labels",
    "find_places",
    "normalise_number",
    "parse_heading",
    "parse_whole",
    "roman_numeral",
    "roman_value",
]
