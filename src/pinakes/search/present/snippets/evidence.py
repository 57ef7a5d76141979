"""Evidence: how well each unit of some chunks answers, by its words, its meaning, its chunk and its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.port.rows import StoredChunk
from pinakes.search.present.snippets.mentions import Mentions
from pinakes.search.present.snippets.units import unit_spans

# Tokens up to which a section is read as one thing: half a page.
SHORT = 300
_WORDS, _MEANING, _CHUNK = 0.5, 0.5, 1.5
# How much of its best neighbour's score a unit gains, and how far away neighbours are.
_NEIGHBOUR, _REACH = 0.6, 2


class PassageReader(Protocol):
    """What is asked about the vectors of chunks."""

    def passage_scores(
        self, ids: Sequence[int], query: Vectors
    ) -> Mapping[int, Sequence[tuple[int, int, float]]]:
        """Return the passages of chunks (start and end in their contents) with their cosines to a query."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What units are judged by: the query's words, what each is worth, and its vector where it has one.

    ``floor`` is the cosine of what has nothing to do with the query.
    """

    mentions: Mentions
    idf: Sequence[float]
    vector: Vectors | None = None
    floor: float = 0.0

    def share(self, text: str, language: str) -> float:
        """Return what the words of the query that a text has are worth, of all of them."""
        present = np.zeros((1, self.mentions.count), np.float32)
        for mention in self.mentions.find(text, language):
            present[0, mention.what] = 1
        worth = np.asarray(self.idf, np.float32)
        total = float(worth.sum())
        return float(self.mentions.shares(present)[0] @ worth) / total if total else 1.0


@dataclass(slots=True, eq=False)
class Unit:
    """A sentence or two of a chunk, from and to these places of the document's text."""

    chunk: int
    start: int
    end: int
    score: float = 0.0
    taken: bool = False


def cut(chunk: StoredChunk, *, whole: bool) -> list[Unit]:
    """Return the units of a chunk's own part of the text; a short one is one unit."""
    own = chunk.content[chunk.prefix :]
    spans = ((0, len(own)),) if whole or chunk.tokens <= SHORT else unit_spans(own)
    units = [Unit(chunk.id, chunk.start + low, chunk.start + high) for low, high in spans]
    # White space at the end of a chunk is not in its content.
    units[-1].end = max(units[-1].end, chunk.end)
    return units


def weigh_units(
    rows: Sequence[Sequence[Unit]],
    scores: Mapping[int, float],
    chunks: Mapping[int, StoredChunk],
    asked: Asked,
    passages: PassageReader,
) -> None:
    """Score units in place; those of a row are neighbours."""
    units = [unit for row in rows for unit in row]
    own = (
        _WORDS * _words(units, chunks, asked)
        + _MEANING * _meaning(units, chunks, asked, passages)
        + _CHUNK * np.array([scores[unit.chunk] for unit in units])
    ).tolist()
    first = 0
    for row in rows:
        last = first + len(row)
        for at, unit in enumerate(row, first):
            near = own[max(first, at - _REACH) : min(last, at + _REACH + 1)]
            unit.score = own[at] + _NEIGHBOUR * max(near)
        first = last


def _words(units: Sequence[Unit], chunks: Mapping[int, StoredChunk], asked: Asked) -> Vectors:
    """Return what the words in each unit are worth, each counted once, of the best of them."""
    present = np.zeros((len(units), asked.mentions.count), np.float32)
    starts = {unit.chunk: at for at, unit in reversed(list(enumerate(units)))}
    for chunk, at in starts.items():
        stored = chunks[chunk]
        for mention in asked.mentions.find(stored.content[stored.prefix :], stored.language):
            while units[at].end - stored.start <= mention.at:
                at += 1
            present[at, mention.what] = 1
    values = asked.mentions.shares(present) @ np.asarray(asked.idf, np.float32)
    return np.asarray(values / (values.max(initial=0.0) or 1.0))


def _meaning(
    units: Sequence[Unit], chunks: Mapping[int, StoredChunk], asked: Asked, passages: PassageReader
) -> Vectors:
    """Return how near the passage around each unit, or the best inside it, is to the query, of the nearest."""
    values = np.zeros(len(units), np.float32)
    if asked.vector is None:
        return values
    found = passages.passage_scores(list(dict.fromkeys(unit.chunk for unit in units)), asked.vector)
    top = max((score for windows in found.values() for *_, score in windows), default=asked.floor)
    for at, unit in enumerate(units):
        stored = chunks[unit.chunk]
        offset = stored.prefix - stored.start
        start, end = unit.start + offset, unit.end + offset
        middle = (start + end) / 2
        windows = found.get(unit.chunk, ())
        near = [
            score for low, high, score in windows if low <= middle < high or (start <= low and high <= end)
        ]
        values[at] = max(near or [score for *_, score in windows], default=asked.floor)
    return np.asarray(np.maximum(values - asked.floor, 0.0) / max(top - asked.floor, 1e-9))
