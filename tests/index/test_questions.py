"""The questions that every search asks find their rows by an index, however large the record is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import Library
from loccit.index.folder.contexts import ContextStore
from loccit.index.folder.suggestions import EmbeddedSuggestions

# Asked once after each change, not for each search.
ONCE = (
    "GROUP BY language",
    "SELECT id, document, section FROM chunks",
    "SELECT document, ordinal, coalesce(parent, -1) FROM places",
    "COUNT(DISTINCT",
    "FROM documents ORDER BY source_path",
    "FROM failures",
    "FROM definitions f",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("questions")
    headings = "".join(f"## Section {number}. Title {number}\n\nText {number}.\n\n" for number in range(1200))
    (folder / "long.md").write_text(f"# Long\n\n{headings}")
    (folder / "short.md").write_text("# Short\n\n## Section 7. Title 7\n\nText.\n")
    with Library(folder / "index") as opened:
        opened.index(folder, embed=False)
        yield opened


def test_no_question_reads_a_whole_table(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    database = library._index.database
    connection = database.connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    try:
        library.search("Section 7", mode="exact")
        library.search("Title 7", mode="exact")
        library.search("text", mode="keyword")
        asked_by_search = [question for question in asked if question.startswith("SELECT")]
        asked.clear()
        document = library._index.record.document_ids()[0]
        asked.clear()
        library._index.record.is_embedded(document)
        library._index.record.pending(10)
        library._index.record.document_vectors(document, 384)
        library._index.lookup.chunk_indexes_between(document, 0, 10)
    finally:
        connection.set_trace_callback(None)
    questions = {*asked_by_search, *asked}
    assert any("places" in question for question in questions)
    for question in questions:
        if any(words in question for words in ONCE):
            continue
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {question}")]
        # What an inner question found, which has a limit, and values that were given may be gone through.
        inner = {step.split()[1] for step in plan if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
        scans = [step for step in plan if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
        assert not [step for step in scans if step.split()[1] not in inner], question


def test_a_long_document_is_shown_whole(library: Library, tmp_path: Path) -> None:
    (outline,) = library.outline("long.md")
    assert len(outline.nodes[0].children) == 1200
    assert library.section("Section 1199").heading == "Section 1199. Title 1199"
    assert library.section("Section 7", document="short.md").text.endswith("Text.")


def test_a_run_does_not_look_through_all_chunks_for_contexts(library: Library) -> None:
    connection = library._index.database.connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    try:
        assert ContextStore(library._index.database).written() == []
    finally:
        connection.set_trace_callback(None)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    assert not [step for step in plan if step.startswith("SCAN")]


def test_a_suggestion_that_many_documents_give_is_not_gone_through_to_its_end(library: Library) -> None:
    database = library._index.database
    document = library._index.record.document_ids()[0]
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    connection = database.connection
    connection.execute("BEGIN")
    try:
        rows = [("same words", document, item) for item in range(1, 10_001)]
        connection.executemany("INSERT INTO suggestions VALUES (0, ?, 3, ?, ?)", rows)
        connection.set_progress_handler(count, 100)
        found = list(EmbeddedSuggestions(database).beginning("same"))
    finally:
        connection.set_progress_handler(None, 0)
        connection.execute("ROLLBACK")
    assert found
    # A thousand of them are compared by their paths.
    assert steps[0] * 100 < 40_000
