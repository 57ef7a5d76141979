"""Up to format 11 the names of documents were not stored: such an index gets them without reading a file."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from loccit import Library

TABLES = ("document_names", "numbered_files", "leads")


def contents(index: Path) -> list[list[tuple[object, ...]]]:
    connection = sqlite3.connect(index / "record.sqlite3")
    found = [sorted(connection.execute(f"SELECT * FROM {table}").fetchall()) for table in TABLES]
    connection.close()
    return found


def test_an_index_without_names_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    for number in (7, 32, 41):
        (docs / f"part{number}.md").write_text(
            f"# Part {number}\n\n## {number}.101 Fees\n\nSee 32.101, [the next](part41.md) and the Harbour Act.\n"
        )
    (docs / "act.md").write_text(
        "---\nrelated: part7\n---\n# Harbour Act (HA)\n\n## Section 1\n\nFees are due.\n"
    )
    with Library(index) as library:
        library.index(docs, embed=False)
    before = contents(index)
    assert all(before)
    connection = sqlite3.connect(index / "record.sqlite3")
    for table in TABLES:
        connection.execute(f"DROP TABLE {table}")
    connection.execute("PRAGMA user_version = 11")
    connection.close()
    shutil.rmtree(docs)
    with Library(index) as library:
        assert library.section("Section 1 of the Harbour Act").heading == "Section 1"
    assert contents(index) == before


def test_what_a_document_was_called_goes_with_it(tmp_path: Path) -> None:
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    (docs / "part1.md").write_text("# Part 1\n\nSee [[lamp]].\n")
    with Library(index) as library:
        library.index(docs, embed=False)
        (docs / "part1.md").unlink()
        (docs / "lamp.md").write_text("# Lamp\n\nIt needs oil.\n")
        library.index(docs, embed=False)
    names, numbered, leads = contents(index)
    assert names and not numbered and not leads
    assert len({row[3] for row in names}) == 1
