"""An index of 100,000 chunks and more, without hours of embedding: the Kubernetes documentation several times over.

Each copy stands in a folder of its own, with a part of its words changed into words that no other copy has. It is read,
chunked, recorded and indexed like any other text. Its vectors are those of the original passages, moved: as near to the
original as neighbours in a real collection are (a cosine of about .85).
"""

from __future__ import annotations

import re
import shutil
import tarfile
import zlib
from pathlib import Path

import numpy as np

from benchmarks.common import RESULTS, eval_dir
from loccit import Library
from loccit.index.folder.index import EmbeddedIndex
from loccit.models.embedding.protocol import Vectors

_WORD = re.compile(r"[A-Za-z]{5,}")
_CHANGED = 15  # in a hundred distinct words
_NOISE = 0.62  # makes a cosine of .85
_BATCH = 512
_ORIGINAL = "original"


def large_index(original: Path, chunks: int) -> Path:
    """Return an index of about so many chunks, made from an index of the documentation; kept for the next time."""
    folder = RESULTS / f"k8s-{chunks}"
    docs, built = folder / "docs", folder / "index"
    if built.exists() and not docs.exists():
        return built
    copies = -(-chunks // _chunk_count(original))
    print(f"making an index of {chunks:,} chunks, {copies} times the documentation: some minutes", flush=True)
    shutil.rmtree(docs, ignore_errors=True)
    for number in range(copies):
        _write_copy(docs / (f"copy-{number}" if number else _ORIGINAL), number)
    with Library(built) as library:
        library.index([docs], embed=False)
    cut_down(built, chunks)
    _add_vectors(built, docs, _vectors_by_file(original))
    shutil.rmtree(docs)
    return built


def cut_down(index: Path, chunks: int) -> None:
    """Remove documents until about the wanted number of chunks is left."""
    embedded = EmbeddedIndex(index, create=False)
    rows = embedded.lookup.documents()
    total, paths = sum(row["total_chunks"] for row in rows), []
    for row in rows:
        if total - row["total_chunks"] >= chunks:
            total -= row["total_chunks"]
            paths.append(row["source_path"])
    embedded.record.remove(paths)
    embedded.refresh()
    embedded.close()


def _chunk_count(index: Path) -> int:
    embedded = EmbeddedIndex(index, create=False)
    try:
        return embedded.lookup.count("chunks")
    finally:
        embedded.close()


def _write_copy(folder: Path, number: int) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(eval_dir("k8s_docs.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    for path in folder.rglob("*.md") if number else ():
        path.write_text(_varied(path.read_text(encoding="utf-8"), number), encoding="utf-8")


def _varied(text: str, number: int) -> str:
    """Change some words, always the same ones into the same; code, links and front matter stay."""

    def change(match: re.Match[str]) -> str:
        word = match[0]
        if zlib.crc32(f"{word.lower()} {number}".encode()) % 100 >= _CHANGED:
            return word
        return "".join(chr((ord(letter) - 97 + number) % 26 + 97) for letter in word.lower())

    lines, fenced, front = [], False, text.startswith("---")
    for place, line in enumerate(text.split("\n")):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        keep = fenced or front or "](" in line or "{{" in line
        lines.append(line if keep else _WORD.sub(change, line))
        if place and line == "---":
            front = False
    return "\n".join(lines)


def _vectors_by_file(original: Path) -> dict[str, Vectors]:
    """Return the vectors of each file of the documentation, by its path below ``docs``."""
    embedded = EmbeddedIndex(original, create=False)
    try:
        dimension = embedded.model[1]
        return {
            row["source_path"].partition("/k8s/docs/")[2]: embedded.record.document_vectors(
                row["id"], dimension
            )[1]
            for row in embedded.lookup.documents()
        }
    finally:
        embedded.close()


def _add_vectors(index: Path, docs: Path, known: dict[str, Vectors]) -> None:
    """Give every passage the vector of the passage in the same place of the original file, moved."""
    embedded = EmbeddedIndex(index, create=False)
    anything = np.concatenate(list(known.values()))
    random = np.random.default_rng(7)
    hashes: list[bytes] = []
    vectors: list[Vectors] = []
    for row in embedded.lookup.documents():
        copy, _, file = str(Path(row["source_path"]).relative_to(docs)).partition("/")
        passages = embedded.database.rows(
            "SELECT text_hash FROM passages WHERE document = ? ORDER BY id", (row["id"],)
        )
        source = known.get(file, anything)
        moved = source[np.arange(len(passages)) % len(source)]
        if copy != _ORIGINAL:
            moved = moved + _NOISE / moved.shape[1] ** 0.5 * random.standard_normal(moved.shape, np.float32)
        hashes += [bytes(passage[0]) for passage in passages]
        vectors.append((moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32))
    stacked = np.concatenate(vectors)
    for start in range(0, len(hashes), _BATCH):
        embedded.record.put_vectors(hashes[start : start + _BATCH], stacked[start : start + _BATCH])
    embedded.refresh()
    embedded.record.trim_changes(embedded.record.generation())
    embedded.close()
