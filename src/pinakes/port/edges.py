"""What the look-ups for the graph answer with: plain rows, most of them a chunk and something beside it."""

from __future__ import annotations

from typing import NamedTuple


class Holder(NamedTuple):
    """A chunk and where it stands."""

    id: int
    document: int
    section: int
    start: int
    end: int


class SectionOf(NamedTuple):
    """The section of a chunk, and what others may call it and the clauses in the chunk."""

    parent: int | None
    start: int
    end: int
    number_key: str
    ids: tuple[str, ...]


class Mention(NamedTuple):
    """A reference from a chunk to a span of the same document."""

    chunk: int
    kind: str
    start: int
    end: int
    mentions: int


class Backward(NamedTuple):
    """A place that refers to a chunk."""

    chunk: int
    kind: str
    document: int
    offset: int
    mentions: int


class Relative(NamedTuple):
    """A section near the one of a chunk: its parent, a child, or one with the same parent."""

    chunk: int
    ordinal: int
    parent: int | None
    start: int
    end: int
    own_end: int
    """Where the text of its own ends and the first section below it begins."""


class Outward(NamedTuple):
    """A reference that its own document does not answer: the number it names, and the document if it says one."""

    kind: str
    number_kind: str
    number_key: str
    name: str
