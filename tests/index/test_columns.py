"""The columns of chunks: which are relatives, and that a file of them follows the record whatever happens."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.asking import write

from loccit import IndexSettings, Library, Settings
from loccit.index.folder.columns import relatives
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.port.columns import ChunkColumns
from loccit.model import Chunk, ChunkType, Document, Lines, ParsedDocument

GUIDE = """# Guide

Words ahead of it all.

## A

### A.1

One.

### A.2

Two.

## B

Three.

## C

### C.1

#### C.1.1

Four.
"""
FILES = {
    "guide.md": GUIDE,
    "plain.txt": "Nothing but words, without a heading.\n",
    "tops.md": "# One\n\nFirst.\n\n# Two\n\nSecond.\n",
    "long.md": "# Long\n\n## Log\n\n" + "\n\n".join(f"Day {n}: {'wind and rain ' * 12}" for n in range(30)),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("columns"), FILES)
    chosen = Settings(index=IndexSettings(max_chunk_tokens=200))
    with Library(folder / ".loccit", settings=chosen) as library:
        assert not library.index([folder], embed=False).failed
        yield library


def rows(library: Library, file: str = "") -> list[tuple[str, Any]]:
    """Heading and columns of each chunk of a file, or of all."""
    found = library._index.database.rows(
        "SELECT c.id, d.source_path, p.heading FROM chunks c JOIN documents d ON d.id = c.document "
        "JOIN places p ON p.document = c.document AND p.ordinal = c.section ORDER BY c.id"
    )
    found = [row for row in found if str(row[1]).endswith(file)]
    values = library._index.columns.of(np.array([row[0] for row in found], np.int64))
    return [(row[2], value) for row, value in zip(found, values, strict=True)]


def groups(library: Library, file: str) -> set[frozenset[str]]:
    """The headings of one file that are grouped together."""
    found: dict[int, set[str]] = {}
    for heading, value in rows(library, file):
        found.setdefault(int(value["section"]), set()).add(heading)
    return {frozenset(headings) for headings in found.values()}


def test_the_section_of_a_chunk_is_the_smallest_that_holds_another_too(library: Library) -> None:
    assert groups(library, "guide.md") == {
        frozenset({"Guide", "B"}),
        frozenset({"A", "A.1", "A.2"}),
        frozenset({"C"}),
        frozenset({"C.1", "C.1.1"}),
    }


def test_chunks_whose_only_relatives_are_the_document_have_it_as_their_section(library: Library) -> None:
    assert groups(library, "tops.md") == {frozenset({"One", "Two"})}
    assert groups(library, "plain.txt") == {frozenset({""})}


def test_the_parts_of_a_long_section_are_relatives(library: Library) -> None:
    parts = [value for heading, value in rows(library, "long.md") if heading == "Log"]
    assert len(parts) > 3
    assert len({int(value["section"]) for value in parts}) == 1
    assert {int(value["section_chunks"]) for value in parts} == {len(parts)}


def test_sizes_count_the_chunks_of_each_group(library: Library) -> None:
    values = [value for _, value in rows(library)]
    for keys, size in ((("document",), "document_chunks"), (("document", "section"), "section_chunks")):
        counted = Counter(tuple(value[list(keys)].tolist()) for value in values)
        assert all(value[size] == counted[tuple(value[list(keys)].tolist())] for value in values)
    assert len({int(value["document"]) for value in values}) == len(FILES)
    assert library._index.columns.total == len(values)


def test_headers_are_told(library: Library) -> None:
    headers = {heading for heading, value in rows(library, "guide.md") if value["header"]}
    assert "A" in headers and "B" not in headers


def test_chunks_that_do_not_exist_have_no_document(library: Library) -> None:
    columns: ChunkColumns = library._index.columns
    known = int(library._index.database.value("SELECT MAX(id) FROM chunks"))
    found = columns.of(np.array([known + 1, 2, -5, 0, 10**12, known]))["document"] > 0
    assert found.tolist() == [False, True, False, False, False, True]
    assert len(columns.of(np.zeros(0, np.int64))) == 0


# -- any tree --------------------------------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[int, int], list[int]]:
    """Sections, each below an earlier one, and the sections that chunks stand in."""
    parents = {
        section: draw(st.integers(0, section - 1)) for section in range(1, draw(st.integers(0, 8)) + 1)
    }
    return parents, draw(st.lists(st.sampled_from([0, *parents]), max_size=25))


@given(trees())
def test_relatives_are_those_in_the_smallest_section_with_two(tree: tuple[dict[int, int], list[int]]) -> None:
    parents, sections = tree

    def around(section: int) -> list[int]:
        return [section, *(around(parents[section]) if section in parents else ())]

    holding = Counter(above for section in sections for above in around(section))
    nearest = [
        next((s for s in around(section) if holding[s] > 1), around(section)[-1]) for section in sections
    ]
    assert relatives(sections, parents) == nearest


@given(st.dictionaries(st.integers(-3, 12), st.integers(-3, 12)), st.lists(st.integers(-3, 12), max_size=10))
def test_no_damaged_tree_leads_in_circles(parents: dict[int, int], sections: list[int]) -> None:
    assert len(relatives(sections, parents)) == len(sections)


# -- any history -----------------------------------------------------------------------------------------------


def document(name: str, chunks: int) -> ParsedDocument:
    text = "word " * chunks
    return ParsedDocument(
        Document(source_path=name, title=name, file_type=".md", text=text, content_hash="x"),
        (),
        tuple(
            Chunk(
                source_path=name,
                chunk_index=number,
                content="word",
                start=5 * number,
                end=5 * number + 5,
                lines=Lines(1, 1),
                section=0,
                chunk_type=ChunkType.HEADER if number == 0 else ChunkType.CONTENT,
            )
            for number in range(chunks)
        ),
    )


steps = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abc"), st.integers(1, 4)),
    st.tuples(st.just("remove"), st.sampled_from("abc"), st.just(0)),
    st.tuples(st.sampled_from(["feed", "interrupted", "trim", "reopen", "lost"]), st.just(""), st.just(0)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=14))
def test_any_history_ends_in_the_columns_of_the_record(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    index = EmbeddedIndex(folder / "index", create=True)
    manifest = folder / "index" / "columns" / "manifest.json"
    try:
        for act, name, chunks in history:
            if act == "put":
                index.record.put(document(name, chunks), mtime_ns=0, settings="")
            elif act == "remove":
                index.record.remove([name])
            elif act == "feed":
                index._feed_columns()
            elif act == "interrupted":
                # Everything was written but the manifest, which comes last.
                before = manifest.read_bytes() if manifest.exists() else None
                index._feed_columns()
                if before is not None:
                    manifest.write_bytes(before)
            elif act == "trim":
                index.record.trim_changes(index.columns.generation)
            elif act == "reopen":
                index.close()
                index = EmbeddedIndex(folder / "index", create=False)
            else:
                shutil.rmtree(manifest.parent, ignore_errors=True)
            # Before anything is brought up to date, the answers are those of the record.
            index.columns.reload()
            living = [row[0] for row in index.database.rows("SELECT id FROM chunks")]
            found = index.columns.of(np.array(living, np.int64))
            assert (found["document"] > 0).all()
        index._feed_columns()
        assert index.columns.generation == index.record.generation()
        assert index.columns.verify() == ""
        assert index.columns.total == index.lookup.count("chunks")
    finally:
        index.close()
        shutil.rmtree(folder)


def test_columns_follow_what_another_process_wrote(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {"a.md": "# A\n\nOne.\n"})
    with Library(tmp_path / "index") as library, Library(tmp_path / "index") as reader:
        library.index([folder], embed=False)
        reader.search("one", mode="keyword")
        assert reader._index.columns.total == 1
        write(folder, {"a.md": "# A\n\nOne.\n\n## More\n\nTwo.\n", "b.md": "# B\n\nThree.\n"})
        library.index(embed=False)
        assert {Path(r.source_path).name for r in reader.search("three").results} >= {"b.md"}
        assert reader._index.columns.total == 3
        gone = reader._index.columns.of(np.array([1]))
        assert gone["document"].tolist() == [0], "a document that was read again has new ids"


def test_files_of_another_format_are_made_anew(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {"a.md": "# A\n\nOne.\n"})
    with Library(tmp_path / "index") as library:
        library.index([folder], embed=False)
    path = tmp_path / "index" / "columns" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 0}))
    with Library(tmp_path / "index") as library:
        assert library.search("one").results
        assert library._index.columns.verify() == ""
