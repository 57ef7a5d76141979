"""Vectors that all processes of a test run share: the examples are indexed by many of them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from loccit.models.embedding.onnx import OnnxEmbedder
from loccit.models.embedding.protocol import Vectors
from loccit.models.embedding.registry import BUNDLED_MODEL

Embed = Callable[[OnnxEmbedder, Sequence[str]], Vectors]


def embed_once(embed: Embed, path: Path) -> Embed:
    """Return ``embed`` so that the bundled model is asked for each text by one process alone.

    It gives a text the same vector whatever else is embedded, so that nobody sees a difference.
    """
    with closing(sqlite3.connect(path, timeout=60)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def shared(embedder: OnnxEmbedder, texts: Sequence[str]) -> Vectors:
        if embedder.folder.graph.parent != BUNDLED_MODEL or not texts:
            return embed(embedder, texts)
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with closing(sqlite3.connect(path, timeout=60)) as database:
            known = {
                key: row[0]
                for key in keys
                if (row := database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone())
            }
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                made = embed(embedder, list(missing.values()))
                known |= {key: vector.tobytes() for key, vector in zip(missing, made, strict=True)}
                with database:
                    rows = [(key, known[key]) for key in missing]
                    database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        return np.stack([np.frombuffer(known[key], np.float32) for key in keys])

    return shared
