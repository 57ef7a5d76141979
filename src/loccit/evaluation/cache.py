"""Caches the indexes of evaluation sets, and the vector of every text, so that they are computed once.

Everything in the folder can be recreated; deleting it is always safe. Two ways of reading the same documents give many
equal texts; comparing them then costs only the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import loccit
from loccit.config import IndexSettings
from loccit.errors import UsageError
from loccit.evaluation.datasets import EvalSet
from loccit.ingest.prepare import READER
from loccit.models.embedding import Embedder
from loccit.models.embedding.protocol import Vectors
from loccit.version import __version__

_UNUSED_SECONDS = 7 * 86_400
_KEPT = 4
_IN_USE_SECONDS = 3_600
_USED = "used"
# The code that determines how documents become an index, and texts become vectors.
_READING = ("ingest", "text", "stores", "model")
_EMBEDDING = ("embedding",)
_BATCH = 500
_PATIENCE = 60.0


class Place(NamedTuple):
    """Where an index goes, and where vectors are cached."""

    folder: Path
    vectors: Path


def default_folder() -> Path:
    """Return the cache folder: below ``XDG_CACHE_HOME``, or else ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "loccit" / "eval"


@contextmanager
def cache_folder(given: Path | None) -> Iterator[Path]:
    """Yield the folder to keep indexes in; a temporary one if none is given."""
    if given is not None:
        folder = given.expanduser().absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{given} cannot hold indexes: {error.strerror or error}") from error
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="loccit-eval-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def place_for(folder: Path, evalset: EvalSet, settings: IndexSettings, embedder: Embedder) -> Place:
    """Return the place for a set's index, named after everything it depends on."""
    entry = folder / f"{_plain(evalset.folder.absolute().name)}-{_key(evalset, settings, embedder)}"
    entry.mkdir(exist_ok=True)
    (entry / _USED).touch()
    _drop_unused(folder)
    model = _digest(embedder.name, embedder.dimension, embedder.max_tokens, _source_mark(_EMBEDDING))
    return Place(entry / "index", folder / f"vectors-{_plain(embedder.name)}-{model}.sqlite3")


def _key(evalset: EvalSet, settings: IndexSettings, embedder: Embedder) -> str:
    return _digest(
        __version__,
        READER,
        _source_mark(_READING),
        settings.fingerprint(),
        embedder.name,
        embedder.dimension,
        embedder.max_tokens,
        # Files are compared with the index one by one when it is updated.
        [str(path.resolve()) for path in evalset.paths],
        [(row.id, row.title, row.text) for row in evalset.rows],
        [(source.id, source.title, source.text) for source in evalset.sources],
    )


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=4)
def _source_mark(packages: tuple[str, ...]) -> str:
    """Hash the code of some packages, so that a change to how documents are read is measured."""
    digest = hashlib.sha256()
    root = Path(loccit.__file__).parent
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)[:60].strip("-.") or "set"


def _drop_unused(folder: Path) -> None:
    """Delete what was not used for a week, and the oldest of many indexes of one set unless they may be in use."""
    used: dict[str, list[tuple[float, Path]]] = {}
    for mark in folder.glob(f"*/{_USED}"):
        # Another process may be cleaning up at the same time.
        with suppress(OSError):
            name = mark.parent.name.rpartition("-")[0]
            used.setdefault(name, []).append((time.time() - mark.stat().st_mtime, mark.parent))
    for entries in used.values():
        for place, (age, entry) in enumerate(sorted(entries)):
            if age > _UNUSED_SECONDS or (place >= _KEPT and age > _IN_USE_SECONDS):
                shutil.rmtree(entry, ignore_errors=True)


class RememberingEmbedder:
    """An embedder with a cache file. Queries are always computed, since they are timed."""

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
        """Return one row for each text, from the cache if it has one."""
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
