"""Up to format 12 filters, terms and suggestions read everything: such an index gets its keys without being read again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library

TABLES = ("document_fields", "definition_keys", "suggestions", "files", "readings")
ACT = "---\ntags: [law, sea/harbour]\ndate: 2024-03-09\nfee: 12\n---\n# Harbour Act\n\n“Pilot Boat” means a boat.\n"


def rows(index: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(index / "record.sqlite3")
    found = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in TABLES}
    connection.close()
    return found


def test_an_index_of_format_12_gets_its_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    (docs / "act.md").write_text(ACT)
    (docs / "notes.txt").write_text("The tide turns at six.")
    with Library(index, embedder=WordEmbedder()) as library:
        library.index(docs)
    made = rows(index)
    assert all(made.values())
    connection = sqlite3.connect(index / "record.sqlite3")
    for name in TABLES:
        connection.execute(f"DROP TABLE {name}")
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE name LIKE 'file\\_%' ESCAPE '\\'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA user_version = 12")
    connection.commit()
    connection.close()
    with Library(index, embedder=WordEmbedder()) as library:
        assert rows(index) == made
        assert library.index(docs).unchanged == 2
        assert [info.title for info in library.documents({"tags": "sea", "fee": ">=10", "date": "2024"})] == [
            "Harbour Act"
        ]
        assert library.define("pilot boats").definitions[0].definition.term == "Pilot Boat"
        assert library.suggest("harb")[0].text == "Harbour Act"


def test_files_are_compared_at_and_below_the_paths_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    docs = tmp_path / "docs"
    for name in ("a/one.md", "a.md", "ab/two.md"):
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(f"Text of {name}.")
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        library.index(docs)
        record = library._index.record
        assert list(record.file_states([str(docs / "a")])) == [str(docs / "a/one.md")]
        assert list(record.file_states([str(docs / "a.md")])) == [str(docs / "a.md")]
        assert len(record.file_states([str(docs)])) == len(record.file_states()) == 3
        assert record.file_states([]) == {}
        (docs / "a/one.md").unlink()
        (docs / "ab/two.md").unlink()
        assert library.index(docs / "a").removed == [str(docs / "a/one.md")]
        assert len(record.file_states()) == 2
        record.touch(str(docs / "a.md"), 7)
        assert record.file_states()[str(docs / "a.md")].mtime_ns == 7
