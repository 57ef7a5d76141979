"""Search by meaning where a database has the vectors: its answers become chunks of the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.index.settings import DatabaseSettings
from loccit.index.shared.index import StoredIndex
from loccit.index.shared.vectors import StoreVectors

DOCUMENTS = 120


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"{number}.md").write_text(f"# Ship {number}\n\nShip {number} sails.\n", encoding="utf-8")
    return folder


@pytest.fixture
def library(docs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    with Library("unused", database=DatabaseSettings("in-memory"), embedder=WordEmbedder()) as opened:
        opened.index([docs])
        yield opened


def vectors_of(library: Library) -> StoreVectors:
    assert isinstance(library._index, StoredIndex)
    return library._index.vectors


def found_paths(library: Library, documents: Sequence[int] | None = None, limit: int = 5) -> list[str]:
    query = library.embedder.embed_query("Ship 7 sails.")
    found = vectors_of(library).search(query, limit, documents)
    rows = library._index.database.rows(
        "SELECT c.id, d.source_path FROM chunks c JOIN documents d ON d.id = c.document"
    )
    names = {int(row[0]): Path(row[1]).name for row in rows}
    return [names[chunk] for chunk in found.chunks.tolist()]


def test_a_search_after_a_change_reads_what_it_found(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = library.embedder.embed_query("Ship 7 sails.")
    vectors_of(library).search(query, 5)
    (docs / "7.md").write_text("# Ship 7\n\nShip 7 sails again.\n", encoding="utf-8")
    library.index([docs])
    database, read = library._index.database, []
    ask = database.rows

    def rows(query: str, values: Any = ()) -> list[Any]:
        answer = ask(query, values)
        read.extend(answer)
        return answer

    monkeypatch.setattr(database, "rows", rows)
    found = vectors_of(library).search(query, 5)
    # 55 points are asked for, each of another document; beside these, a few counters.
    assert len(found.chunks) == 5
    assert len(read) < 65


def test_what_is_not_known_here_is_left_out(library: Library) -> None:
    best, *others = found_paths(library)
    with library._index.database.transaction() as connection:
        connection.execute(
            "UPDATE stored SET version = 'ffffffff' WHERE document = "
            "(SELECT id FROM documents WHERE source_path LIKE ?)",
            (f"%/{best}",),
        )
    assert found_paths(library)[:4] == others
    assert best not in found_paths(library, limit=DOCUMENTS)


def test_documents_are_named_to_the_database_or_chosen_here(library: Library) -> None:
    rows = library._index.database.rows(
        "SELECT id FROM documents WHERE source_path LIKE '%/1_.md' ORDER BY id"
    )
    wanted = [int(row[0]) for row in rows]
    expected = {f"1{digit}.md" for digit in range(10)}
    assert set(found_paths(library, wanted, limit=20)) == expected
    everything = [int(row[0]) for row in library._index.database.rows("SELECT id FROM documents")]
    assert len(found_paths(library, everything, limit=200)) == DOCUMENTS
    assert found_paths(library, []) == []


def test_nothing_published_is_empty(library: Library) -> None:
    assert not vectors_of(library).empty
    with library._index.database.transaction() as connection:
        connection.execute("DELETE FROM stored")
    assert vectors_of(library).empty
