"""Remembers the vector of every text that was embedded, whatever index it was embedded for.

Two ways of reading the same documents give many equal texts; comparing the two then costs only the others.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from pinakes.embedding import Embedder
from pinakes.embedding.protocol import Vectors

_BATCH = 500
_PATIENCE = 60.0


class RememberingEmbedder:
    """An embedder that looks into a file before it computes. Queries are always computed, since they are timed."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path

    @property
    def name(self) -> str:
        """Identity of the model."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads."""
        return self._embedder.max_tokens

    @property
    def languages(self) -> frozenset[str] | None:
        """Languages that the model covers."""
        return self._embedder.languages

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        return self._embedder.embed_query(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, from memory where there is one."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = np.asarray(self._embedder.embed(list(missing.values())), dtype=np.float32)
            fresh = dict(zip(missing, made, strict=True))
            with self._open() as database, database:
                database.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                    [(key, vector.tobytes()) for key, vector in fresh.items()],
                )
            known |= fresh
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dimension), np.float32)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        with self._open() as database:
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                query = f"SELECT * FROM vectors WHERE key IN ({','.join('?' * len(batch))})"
                for key, data in database.execute(query, batch):
                    if len(data) == 4 * self.dimension:
                        found[key] = np.frombuffer(data, dtype=np.float32)
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_PATIENCE)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
            )
            yield database
