"""What the record keeps of documents: their files, their names, and the tree of their places."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library

_ACT = (
    "# Harbour Act\n\nPilots come first.\n\n## Section 1. Masters\n\nA master:\n\n(a) keeps the harbour; and\n\n"
    "(b) keeps the books of\n\n(1) fees, and\n\n(2) dues under Section 2(a).\n\n### Deputies\n\nDeputies help.\n\n"
    "## Section 2. Fees\n\n(a) Fees are due.\n\n(b) Dues are fees.\n\n## Glossary\n\nWords.\n"
)


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


def test_what_a_document_was_called_goes_with_it(tmp_path: Path) -> None:
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    (docs / "part1.md").write_text("# Part 1\n\nSee [[lamp]].\n")
    with Library(index) as library:
        library.index(docs, embed=False)
        (docs / "part1.md").unlink()
        (docs / "lamp.md").write_text("# Lamp\n\nIt needs oil.\n")
        library.index(docs, embed=False)
    connection = sqlite3.connect(index / "record.sqlite3")
    names, numbered, leads = (
        connection.execute(f"SELECT * FROM {table}").fetchall()
        for table in ("document_names", "numbered_files", "leads")
    )
    connection.close()
    assert names and not numbered and not leads
    assert len({row[3] for row in names}) == 1


def test_headings_and_clauses_are_one_tree(tmp_path: Path) -> None:
    (tmp_path / "act.md").write_text(_ACT)
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "act.md", embed=False)
        (outline,) = library.outline("act.md", clauses=True)

    def written(nodes: list[Any]) -> list[Any]:
        return [(node.label or node.heading, node.level, *written(node.children)) for node in nodes]

    assert written(outline.nodes[0].children) == [
        (
            "Section 1",
            2,
            ("Section 1(a)", 3),
            ("Section 1(b)", 3, ("Section 1(b)(1)", 4), ("Section 1(b)(2)", 4)),
            ("Deputies", 3),
        ),
        ("Section 2", 2, ("Section 2(a)", 3), ("Section 2(b)", 3)),
        ("Glossary", 2),
    ]
