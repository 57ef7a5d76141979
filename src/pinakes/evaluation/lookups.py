"""Whether a look-up gave the place or the definition that was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pinakes.model import Definition, SearchResult
from pinakes.text.keys import title_key

_MARKER = re.compile(r"^\W*\w{1,4}[.)]\s*")
_MEANS = re.compile(r"[’\"”][^’‘\"“”;]{0,30} means")


def is_section(result: SearchResult, expected: Mapping[str, str]) -> bool:
    """Whether a result stands in the expected section: by its heading, or by its label."""
    return title_key(result.heading) == title_key(expected["heading"]) or (
        title_key(result.section_label) == title_key(expected["label"])
    )


def is_clause(result: SearchResult, expected: Mapping[str, str]) -> bool:
    """Whether a result is the expected clause and, after its marker, begins with the expected words."""
    return result.section_label == expected["label"] and (
        _MARKER.sub("", result.content).startswith(expected["contains"])
    )


def is_definition(definition: Definition, term: str, text: str) -> bool:
    """Whether a definition is that of the term, begins as it should, and does not run into the next one."""
    return (
        definition.term == term
        and definition.definition_text.startswith(text)
        and len(_MEANS.findall(definition.definition_text)) <= 1
    )
