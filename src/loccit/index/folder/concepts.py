"""The concept vocabulary: the library's topics, each term with its vector, to find words near a query.

They are counted over at most ``MAX_CHUNKS`` chunks, evenly spread, so that a large library costs no more than a
middling one; of ten thousand terms, hardly any would come out differently.

Derived from the record like the other indexes, but only a help: a search works without it and with an old one, so
a vocabulary that cannot be read counts as empty, and is made again by the next update. A manifest names the files
that belong together and is replaced last.
"""

from __future__ import annotations

import json
import logging
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from loccit.errors import DamagedIndexError
from loccit.expressions import expression
from loccit.grammar.text.folding import fold, lower
from loccit.grammar.text.stemming import algorithm_for, index_forms
from loccit.grammar.text.stopwords import STOPWORDS
from loccit.index.folder.digests import checksum
from loccit.index.folder.files import read_json, write_json
from loccit.index.folder.record import Record
from loccit.models.embedding.protocol import Embedder, Vectors

MAX_CHUNKS = 20_000
_BATCH = 500
_MAX_PAIRS = 1_000_000
# A pair is a term when it is met this often, and is a fair share of the uses of its rarer word.
_MIN_PAIRS, _PAIR_SHARE = 3, 0.1
_NAMED_SHARE = 0.25
_MAX_NAME_WORDS, _MAX_NAME_LENGTH = 4, 60

# Words with nothing but a space between them; letters only, since numbers and identifiers are no concepts.
# Scripts without spaces between words are left out: what stands together there is no word.
_LETTERS = r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]{1,40}"
_RUN = expression(rf"(?<![\w-]){_LETTERS}(?: {_LETTERS})*(?![\w-])")
_MIN_LETTERS = 3


def corpus_terms(record: Record, limit: int) -> list[str]:
    """Return the terms of the documents, the most distinctive first: names, then words and pairs by frequency."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    pairs: Counter[tuple[str, str]] = Counter()
    for language, text in _texts(record):
        seen, following = _terms_of(text, _function_words(language))
        words[language].update(seen)
        pairs.update(following)
        if len(pairs) > _MAX_PAIRS:
            pairs = Counter({pair: count for pair, count in pairs.items() if count > 1})
    counts = _merged(words)
    named = _names(record, int(limit * _NAMED_SHARE))
    totals = sum(words.values(), Counter())
    for (first, second), count in pairs.items():
        if count >= max(_MIN_PAIRS, _PAIR_SHARE * min(totals[first], totals[second])):
            counts[f"{first} {second}"] = count
    # By name where counts are equal: the same documents give the same terms.
    ranked = sorted(counts, key=lambda term: (-counts[term], term))
    return list(dict.fromkeys([*named, *ranked]))[:limit]


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    total = int(record.database.value("SELECT COUNT(*) FROM chunks"))
    stride, last = max(1, -(-total // MAX_CHUNKS)), 0
    while rows := record.database.rows(
        "SELECT c.id, d.language, c.content FROM chunks c JOIN documents d ON d.id = c.document "
        "WHERE c.id > ? AND c.id % ? = 0 ORDER BY c.id LIMIT ?",
        (last, stride, _BATCH),
    ):
        yield from ((row[1], row[2]) for row in rows)
        last = rows[-1][0]


def _terms_of(text: str, function_words: frozenset[str]) -> tuple[set[str], set[tuple[str, str]]]:
    """The words of a text and the pairs of adjacent ones, without duplicates."""
    words: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    lowered = text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()
    for run in _RUN.findall(lowered):
        before = ""
        for word in run.split(" "):
            if len(word) < _MIN_LETTERS or fold(word) in function_words:
                before = ""
                continue
            words.add(word)
            if before:
                pairs.add((before, word))
            before = word
    return words, pairs


@cache
def _function_words(language: str) -> frozenset[str]:
    return STOPWORDS["en"] | STOPWORDS.get(language, frozenset())


def _merged(words: dict[str, Counter[str]]) -> Counter[str]:
    """Count the forms of a word together, under the most frequent one."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for language, counts in words.items():
        algorithm = algorithm_for(language or "en")
        for word, count in counts.items():
            groups[index_forms(word, algorithm)[0]][word] += count
    return Counter(
        {max(forms, key=lambda word: (forms[word], word)): forms.total() for forms in groups.values()}
    )


def _names(record: Record, limit: int) -> list[str]:
    """Headings and defined terms of a few words, the most frequent first."""
    counts: Counter[str] = Counter()
    for query in (
        "SELECT MIN(term), COUNT(*) FROM definitions GROUP BY term_normalized",
        "SELECT MIN(title), COUNT(*) FROM places WHERE title_key != '' GROUP BY title_key",
    ):
        for text, count in record.database.rows(query):
            name = " ".join(re.findall(r"[\w'’-]+", lower(text[: 2 * _MAX_NAME_LENGTH])))
            if len(name) <= _MAX_NAME_LENGTH and _is_name(name.split()):
                counts[name] += count
    return sorted(counts, key=lambda name: (-counts[name], name))[:limit]


def _is_name(words: Sequence[str]) -> bool:
    telling = [word for word in words if len(word) >= _MIN_LETTERS and fold(word) not in STOPWORDS["en"]]
    return bool(telling) and len(words) <= _MAX_NAME_WORDS and not any(map(str.isdigit, "".join(words)))


logger: logging.Logger = logging.getLogger("loccit")

FORMAT = 2
MAX_TERMS = 10_000
_TERMS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class _Snapshot:
    generation: int
    terms: tuple[str, ...]
    matrix: Vectors
    files: tuple[str, ...] = field(default=())


class ConceptIndex:
    """The terms of a library and their vectors. Safe to share between threads."""

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        self._folder = folder
        self._model = model
        self._dimension = dimension
        self._manifest = folder / "manifest.json"
        self._stamp: tuple[int, int] | None = None
        self._snapshot = self._empty()
        self.reload()

    def _empty(self) -> _Snapshot:
        return _Snapshot(0, (), np.zeros((0, self._dimension), dtype=np.float32))

    @property
    def model(self) -> tuple[str, int]:
        """Name and dimension of the model that made the vectors."""
        return self._model, self._dimension

    @property
    def generation(self) -> int:
        """The record's generation of these terms; 0 if there are none."""
        return self._snapshot.generation

    @property
    def terms(self) -> Sequence[str]:
        """All terms, the most distinctive first."""
        return self._snapshot.terms

    def reload(self) -> None:
        """Notice what another process wrote; costs one ``stat`` if nothing changed."""
        try:
            stat = self._manifest.stat()
        except OSError:
            self._stamp, self._snapshot = None, self._empty()
            return
        stamp = (stat.st_mtime_ns, stat.st_ino)
        if stamp == self._stamp:
            return
        try:
            self._snapshot = self._load()
        except (DamagedIndexError, OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("The concept vocabulary in %s is rebuilt: %s", self._folder, error)
            self._snapshot = self._empty()
        self._stamp = stamp

    def _load(self) -> _Snapshot:
        manifest = read_json(self._manifest)
        if manifest is None or manifest.get("format") != FORMAT:
            raise DamagedIndexError("it has another format")
        if (manifest.get("model"), manifest.get("dimension")) != self.model:
            raise DamagedIndexError("it was made by another model")
        # Read rather than mapped: a few megabytes, of which every search needs all.
        parts = [(self._folder / manifest[name]).read_bytes() for name in ("terms", "matrix")]
        if [checksum(part) for part in parts] != manifest["checksums"]:
            raise DamagedIndexError("its files were changed by something else")
        terms = json.loads(parts[0])
        shape = (len(terms), self._dimension)
        matrix = np.frombuffer(parts[1], dtype=np.float32)
        if matrix.size != shape[0] * shape[1] or not all(isinstance(term, str) for term in terms):
            raise DamagedIndexError("its files do not match")
        return _Snapshot(
            int(manifest["generation"]),
            tuple(terms),
            np.nan_to_num(matrix.reshape(shape), nan=0.0, posinf=0.0, neginf=0.0),
            (manifest["terms"], manifest["matrix"]),
        )

    # -- writing ---------------------------------------------------------------------------------------------

    def update(
        self,
        record: Record,
        embedder: Embedder,
        generation: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Update the terms; return how many had to be embedded. The caller holds the writer lock.

        ``progress`` is called with the numbers of new terms done and in all.
        """
        self.reload()
        old = self._snapshot
        if old.generation == generation and old.files:
            return 0
        terms = corpus_terms(record, MAX_TERMS)
        rows = {term: row for row, term in enumerate(old.terms)}
        new = [term for term in terms if term not in rows]
        vectors = self._embedded(new, embedder, progress)
        both = np.concatenate([old.matrix, vectors])
        rows |= {term: len(old.terms) + row for row, term in enumerate(new)}
        self._publish(terms, both[[rows[term] for term in terms]], generation)
        return len(new)

    def _embedded(
        self, terms: Sequence[str], embedder: Embedder, progress: Callable[[int, int], None] | None
    ) -> Vectors:
        parts = [np.zeros((0, self._dimension), dtype=np.float32)]
        for start in range(0, len(terms), _TERMS_AT_ONCE):
            parts.append(np.asarray(embedder.embed(terms[start : start + _TERMS_AT_ONCE]), dtype=np.float32))
            if progress is not None:
                progress(min(start + _TERMS_AT_ONCE, len(terms)), len(terms))
        return np.concatenate(parts)

    def _publish(self, terms: Sequence[str], matrix: Vectors, generation: int) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        terms_name, matrix_name = (
            self._unused(f"terms-{generation}", "json"),
            self._unused(f"matrix-{generation}", "f32"),
        )
        parts = {
            terms_name: json.dumps(list(terms), ensure_ascii=False).encode(),
            matrix_name: np.ascontiguousarray(matrix, dtype=np.float32).tobytes(),
        }
        for name, content in parts.items():
            _write(self._folder / name, content)
        write_json(
            self._manifest,
            {
                "format": FORMAT,
                "model": self._model,
                "dimension": self._dimension,
                "generation": generation,
                "terms": terms_name,
                "matrix": matrix_name,
                "checksums": [checksum(content) for content in parts.values()],
            },
        )
        self.reload()
        for path in self._folder.iterdir():
            if path.name not in (terms_name, matrix_name, self._manifest.name):
                # What is still open elsewhere may resist; it goes the next time.
                try:
                    path.unlink()
                except OSError:
                    continue

    def _unused(self, stem: str, suffix: str) -> str:
        """An unused file name: files that a reader's manifest names must not change."""
        number = 0
        while (self._folder / f"{stem}-{number}.{suffix}").exists():
            number += 1
        return f"{stem}-{number}.{suffix}"

    # -- searching -------------------------------------------------------------------------------------------

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Return the terms nearest to a vector with their cosine, the nearest first."""
        snapshot = self._snapshot
        if not snapshot.terms or limit < 1:
            return []
        scores = snapshot.matrix @ vector
        limit = min(limit, len(scores))
        best = np.argpartition(scores, -limit)[-limit:]
        best = best[np.argsort(-scores[best], kind="stable")]
        return [(snapshot.terms[row], float(scores[row])) for row in best]


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
