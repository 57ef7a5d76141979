"""Defined terms of a query: whose definitions it asks for, and where the documents that were found disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinakes.model import Definition
from pinakes.port.names import NameLookup
from pinakes.search.links.define import asks_for_meaning
from pinakes.search.query.names import NameIndex

_SHOWN = 3


def asked_for(
    query: str, definitions: Sequence[Definition], names: NameIndex, documents: NameLookup
) -> list[Definition]:
    """Return the definitions that a query asks for: it asks what the term means, or names the document."""
    if not definitions:
        return []
    named = {document for called in names.find(query) for document in called.documents}
    owners = {entry.source_path for entry in documents.entries(named).values()}
    return [
        definition
        for definition in definitions
        if asks_for_meaning(query, definition.term) or definition.source_path in owners
    ]


def describe_disputed(disputed: Mapping[str, Sequence[str]]) -> str:
    """Say which terms the documents of an answer define differently.

    >>> describe_disputed({"Rent": ["Lease", "Loan"]})
    'These documents define “Rent” differently: Lease, Loan.'
    """
    parts = []
    for term, titles in list(disputed.items())[:_SHOWN]:
        more = f" and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else ""
        parts.append(f"These documents define “{term}” differently: {', '.join(titles[:_SHOWN])}{more}.")
    return " ".join(parts)
