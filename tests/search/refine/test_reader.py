"""Texts and vectors as they lie in a real index."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from loccit import Library
from loccit.config import SearchSettings
from loccit.index.folder.index import EmbeddedIndex
from loccit.search.candidates import Candidate
from loccit.search.reader import IndexReader
from loccit.search.select.refine import refine

LONG = "# Tides\n\n" + " ".join(
    f"On day {number} the {what} rose by {number} feet before the pilot came aboard."
    for number in range(1, 40)
    for what in ("water", "wind", "fog")
)


def chunk_ids(index: EmbeddedIndex, name: str) -> list[int]:
    documents = [row["id"] for row in index.lookup.documents() if row["source_path"].endswith(name)]
    return [chunk.id for document in documents for chunk in index.lookup.chunks_of_document(document)]


def expected(index: EmbeddedIndex, chunk: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """The normalised mean of all rows of a chunk, found by looking at every row."""
    snapshot = index.vectors.snapshot
    mean = np.asarray(snapshot.matrix[snapshot.owners() == chunk]).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def test_a_chunk_points_where_its_passages_point(
    small: Library, opened: EmbeddedIndex, tmp_path: Path
) -> None:
    (tmp_path / "docs" / "long.md").write_text(LONG)
    (tmp_path / "docs" / "short.md").write_text("# Lamp\n\nThe lamp burns.")
    small.index([tmp_path / "docs"])
    opened.refresh()
    ids = chunk_ids(opened, ".md")
    owners = opened.vectors.snapshot.owners()
    # A slow machine stores vectors in several goes, and leaves deleted rows.
    assert max(np.bincount(owners[owners >= 0])) > 1, "some chunk has several passages"
    vectors = IndexReader(opened).vectors([*ids[::-1], 10_000, -1])
    assert vectors.keys() == set(ids)
    for chunk in ids:
        assert np.allclose(vectors[chunk], expected(opened, chunk), atol=1e-5)
        assert np.isclose(np.linalg.norm(vectors[chunk]), 1.0, atol=1e-5)


def test_vectors_follow_what_happens_to_the_documents(
    small: Library, opened: EmbeddedIndex, tmp_path: Path
) -> None:
    reader = IndexReader(opened)
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe lamp burns.")
    (tmp_path / "docs" / "b.md").write_text("# B\n\nThe tide turns.")
    small.index([tmp_path / "docs"], embed=False)
    opened.refresh()
    old = chunk_ids(opened, "a.md")
    assert reader.vectors(old) == {} and set(reader.chunks(old)) == set(old)
    small.index()
    opened.refresh()
    assert set(reader.vectors(old)) == set(old)
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe lamp was put out at dawn.")
    small.index()
    opened.refresh()
    reader = IndexReader(opened)
    new = chunk_ids(opened, "a.md")
    assert not set(new) & set(old)
    assert reader.vectors(old) == {} and reader.chunks(old) == {}
    for chunk in [*new, *chunk_ids(opened, "b.md")]:
        assert np.allclose(reader.vectors([chunk])[chunk], expected(opened, chunk), atol=1e-5)


def test_a_small_library_is_refined(small: Library, opened: EmbeddedIndex, tmp_path: Path) -> None:
    notice = (
        "Either side may end this lease by giving notice in writing {days} days before the end of a quarter."
    )
    texts = {
        "first": f"# Lease of the boathouse\n\n## 7 Notice\n\n{notice.format(days=30)}",
        "second": f"# Lease of the boathouse\n\n## 9 Notice\n\n{notice.format(days=30)}",
        "third": f"# Lease of the boathouse\n\n## 7 Notice\n\n{notice.format(days=90)}",
        "other": "# Cooking\n\nStir the soup until it boils, then leave it to stand for a while.",
    }
    for name, text in texts.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    small.index([tmp_path / "docs"])
    opened.refresh()
    bodies = [
        chunk
        for name in texts
        for chunk in chunk_ids(opened, f"{name}.md")
        if opened.lookup.chunks([chunk])[chunk].chunk_type != "header"
    ]
    assert len(bodies) == 4
    first, second, third, other = bodies
    reader = IndexReader(opened)
    candidates = [Candidate(chunk, 0.9 - 0.1 * rank) for rank, chunk in enumerate(bodies)]
    for settings in (SearchSettings(), SearchSettings(dedup_enabled=True, dedup_similarity_threshold=0.6)):
        refined = refine(candidates, settings, reader, limit=10)
        assert [candidate.chunk for candidate in refined.candidates] == [first, third, other]
        assert refined.also_in == {first: [second]}
        assert refined.chunks[second].source_path.endswith("second.md")
    diverse = refine(candidates, SearchSettings(mmr_enabled=True, mmr_lambda=0.3), reader, limit=10)
    assert [candidate.chunk for candidate in diverse.candidates] == [first, other, third]
