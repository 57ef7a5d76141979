"""Headings and clauses were stored apart up to format 7: such an index, and such a published document, are taken over."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from loccit import Library
from loccit.stores.embedded import schema
from loccit.stores.embedded.database import Database
from loccit.stores.embedded.dump import dump_document, read_dump, restore_document

RECORD = "record.sqlite3"
ACT = (
    "# Harbour Act\n\nPilots come first.\n\n## Section 1. Masters\n\nA master:\n\n(a) keeps the harbour; and\n\n"
    "(b) keeps the books of\n\n(1) fees, and\n\n(2) dues under Section 2(a).\n\n### Deputies\n\nDeputies help.\n\n"
    "## Section 2. Fees\n\n(a) Fees are due.\n\n(b) Dues are fees.\n\n## Glossary\n\nWords.\n"
)
NOTES = "# Notes\n\nNothing is numbered here.\n\n## Tides\n\nThe tide turns at six.\n"
PLACES = "SELECT * FROM places ORDER BY document, ordinal"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "docs").mkdir()
    (folder / "docs" / "act.md").write_text(ACT)
    (folder / "docs" / "notes.md").write_text(NOTES)
    with Library(folder / "index") as library:
        library.index(folder / "docs")
    return folder


def in_parts(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The places of one document as format 7 had them: sections, and clauses with numbers and parents of their own."""
    sections = [row for row in rows if row["section"] == row["ordinal"]]
    levels = {row["ordinal"]: row["level"] for row in sections}
    clauses = [
        {
            **row,
            "ordinal": row["ordinal"] - len(sections),
            "parent": None if row["parent"] < len(sections) else row["parent"] - len(sections),
            "depth": row["level"] - levels[row["section"]],
        }
        for row in rows
        if row["section"] != row["ordinal"]
    ]
    return sections, clauses


def make_old(index: Path) -> None:
    """Make an index one of format 7."""
    connection = sqlite3.connect(index / RECORD, isolation_level=None)
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute(PLACES)]
    connection.execute("DROP TABLE places")
    old = [*schema._statements(schema._SCHEMA_1), *schema._statements(schema._SCHEMA_2)]
    for statement in old:
        if re.search(r"(?:TABLE|ON) (?:sections|clauses)\b", statement):
            connection.execute(statement)
    for document in {row["document"] for row in rows}:
        parts = in_parts([row for row in rows if row["document"] == document])
        for table, found in zip(("sections", "clauses"), parts, strict=True):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            connection.executemany(
                f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})",
                [[row[column] for column in columns] for row in found],
            )
    connection.execute("PRAGMA user_version = 7")
    connection.close()


def test_an_index_of_format_7_keeps_everything(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Path(shutil.copytree(made / "index", tmp_path / "index"))
    connection = sqlite3.connect(index / RECORD)
    before = connection.execute(PLACES).fetchall()
    connection.close()
    make_old(index)
    with Library(index) as library:
        monkeypatch.setattr(type(library.embedder), "embed", None)  # nothing is embedded again
        assert library.index(made / "docs").unchanged == 2
        assert [tuple(row) for row in library._index.database.rows(PLACES)] == before
        assert library.status().pending_passages == 0
        view = library.section("Section 1(b)(2)")
        assert (view.section_label, view.text) == ("Section 1(b)(2)", "(2) dues under Section 2(a).")
        assert view.parent_chain == ["Harbour Act", "Section 1. Masters", "Section 1(b)(2)"]
        assert library.search("Section 2(a)").results[0].section_label == "Section 2(a)"
        assert library.search("when does the tide turn", mode="semantic").results[0].heading == "Tides"
        (cited,) = library.references("Section 2(a)").cited_by
        assert cited.section_label == "Section 1(b)(2)"


def test_the_tree_is_one(made: Path) -> None:
    with Library(made / "index") as library:
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


def test_a_document_published_in_format_7_is_taken_up(made: Path, tmp_path: Path) -> None:
    source = Database(made / "index" / RECORD, create=False)
    (number,) = (row[0] for row in source.rows("SELECT id FROM documents WHERE source_path LIKE '%act.md'"))
    body = dump_document(source, number)
    data = json.loads(zlib.decompress(body))
    columns, rows = data["places"]["columns"], data["places"]["rows"]
    parts = in_parts([dict(zip(columns, row, strict=True)) for row in rows])
    del data["places"]
    for table, found, left_out in zip(
        ("sections", "clauses"), parts, (("marker",), ("heading", "title", "path")), strict=True
    ):
        names = [name for name in found[0] if name not in left_out]
        data[table] = {"columns": names, "rows": [[row[name] for name in names] for row in found]}
    data["format"] = 7
    target = Database(tmp_path / RECORD, create=True)
    for written in (body, zlib.compress(json.dumps(data).encode())):
        taken, _ = restore_document(target, read_dump(written), {})
        found_there = [
            tuple(row)[1:] for row in target.rows(f"SELECT * FROM places WHERE document = {taken}")
        ]
        assert found_there == [
            tuple(row)[1:] for row in source.rows(f"SELECT * FROM places WHERE document = {number}")
        ]
    source.close()
    target.close()
