"""Parents in a real index: what is returned around a hit, and where it says it stands."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from loccit import IndexSettings, Library, Settings
from loccit.config import SearchSettings
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.port.records import StoredChunk
from loccit.model import chunk_id
from loccit.search.candidates import Candidate
from loccit.search.present.enrich import PhrasePattern, find_matches
from loccit.search.select.parents import Expanded, expand_parents

PARENTS = SearchSettings(parent_retrieval_enabled=True)
SMALL = """---
title: Harbour
---

# Harbour rules

These rules hold for everybody.

## 1 Lights

Every vessel carries lights.

### 1.1 Masthead

A masthead light is white.

### 1.2 Sides

The port light is red and the starboard light is green.

## 2 Speed

No vessel exceeds five knots.
"""


def day(number: int) -> str:
    return (
        f"On day {number} the watch saw sail number {number} far to the east of the outer reef, "
        f"and nobody on deck could say whose it was."
    )


LONG = "\n\n<div>\n\n# Log\n\n" + "\n\n".join(map(day, range(1, 91))) + "\n\n# Other\n\nNothing.\n"


def chunks_of(index: EmbeddedIndex, name: str) -> list[StoredChunk]:
    index.refresh()
    document = next(row["id"] for row in index.lookup.documents() if row["source_path"].endswith(name))
    return index.lookup.chunks_of_document(document)


def holding(chunks: list[StoredChunk], phrase: str) -> StoredChunk:
    return next(chunk for chunk in chunks if phrase in chunk.content[chunk.prefix :])


def expand(
    index: EmbeddedIndex,
    *chunks: StoredChunk,
    settings: SearchSettings = PARENTS,
    pinned: bool = False,
    limit: int | None = None,
    hidden: tuple[int, ...] = (),
) -> list[Expanded]:
    candidates = [
        Candidate(chunk.id, 0.9 - 0.1 * rank, pin=0.8 if pinned else 0.0) for rank, chunk in enumerate(chunks)
    ]
    found = {chunk.id: chunk for chunk in chunks}
    return expand_parents(candidates, found, settings, index.lookup, limit=limit, hidden=hidden)


def check_places(found: Expanded, path: Path, phrase: str) -> None:
    """What is quoted stands on the lines it claims, and a phrase is found on its own line."""
    lines = path.read_text().splitlines()
    quoted = lines[found.chunk.lines.first - 1 : found.chunk.lines.last]
    assert found.chunk.content.strip().splitlines() == quoted
    matches = find_matches(found.chunk, [PhrasePattern(phrase)])
    assert matches
    for match in matches:
        assert phrase in found.chunk.content[match.start : match.end]
        assert phrase in lines[match.line - 1]


@pytest.fixture
def rules(
    small: Library, opened: EmbeddedIndex, tmp_path: Path
) -> tuple[EmbeddedIndex, list[StoredChunk], Path]:
    path = tmp_path / "docs" / "rules.md"
    path.write_text(SMALL)
    small.index([path], embed=False)
    return opened, chunks_of(opened, "rules.md"), path


@pytest.fixture(params=["structure", "token"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[EmbeddedIndex, list[StoredChunk], Path]:
    path = tmp_path / "log.md"
    path.write_text(LONG)
    settings = IndexSettings(chunking_strategy=request.param, max_chunk_tokens=200, chunk_overlap=40)
    with Library(tmp_path / "index", settings=Settings(index=settings)) as library:
        library.index([path], embed=False)
    index = EmbeddedIndex(tmp_path / "index", create=False)
    request.addfinalizer(index.close)
    return index, chunks_of(index, "log.md"), path


def test_a_whole_section_becomes_the_section_above(
    rules: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, path = rules
    hit = holding(chunks, "port light")
    (found,) = expand(index, hit)
    assert found.chunk.heading == "1 Lights" and found.chunk.section_label == "1"
    assert found.chunk.parent_chain == ("Harbour rules", "1 Lights")
    assert found.chunk.content.startswith("## 1 Lights") and found.chunk.content.endswith("is green.")
    assert found.chunk_ids == tuple(chunk_id(str(path), number) for number in (1, 2, 3))
    assert hit.id in found.members and found.candidate.chunk == hit.id == found.chunk.id
    check_places(found, path, "masthead light")


def test_children_of_one_parent_are_one_result_in_the_place_of_the_best(
    rules: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, _ = rules
    port, speed, white = (holding(chunks, text) for text in ("port light", "five knots", "is white"))
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=100)
    found = expand(index, port, white, settings=settings)
    assert [(item.chunk.heading, item.candidate.chunk, item.merged) for item in found] == [
        ("1 Lights", port.id, (white.id,))
    ]
    # The section above `2 Speed` is the whole of the rules, and takes in what is there already.
    (whole,) = expand(index, port, speed, white)
    assert whole.chunk.heading == "Harbour rules" and whole.candidate.chunk == port.id
    assert whole.merged == (speed.id, white.id) and len(whole.members) == len(chunks)
    assert whole.candidate.score == 0.9


def test_what_the_query_names_is_not_widened_beyond_its_section(
    rules: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, _ = rules
    hit = holding(chunks, "port light")
    (found,) = expand(index, hit, pinned=True)
    assert found.chunk == hit and found.members == (hit.id,)
    (whole,) = expand(index, holding(chunks, "carries lights"), pinned=True)
    assert whole.chunk.heading == "1 Lights" and whole.chunk.content.endswith("is green.")


def test_nothing_is_widened_unless_asked_for(rules: tuple[EmbeddedIndex, list[StoredChunk], Path]) -> None:
    index, chunks, _ = rules
    off = SearchSettings(parent_retrieval_enabled=True, disabled=("parents",))
    for settings in (SearchSettings(), off):
        found = expand(index, *chunks, settings=settings)
        assert [item.chunk for item in found] == chunks
        assert all(item.members == (item.chunk.id,) and not item.merged for item in found)
    assert len(expand(index, *chunks, settings=off, limit=2)) == 2


def test_a_part_of_a_section_becomes_the_section_when_it_fits(
    log: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, path = log
    hit = holding(chunks, "On day 45 the")
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=10_000)
    (found,) = expand(index, hit, settings=settings)
    assert all(day(number) in found.chunk.content for number in range(1, 91))
    assert found.chunk.heading == "Log" and found.chunk.prefix == 0
    assert (
        index.lookup.document_text(hit.document, found.chunk.start, found.chunk.end).rstrip()
        == found.chunk.content
    )
    if "Nothing." not in holding(chunks, "On day 90 the").content:
        assert "Nothing" not in found.chunk.content
    check_places(found, path, "day 45")


def test_a_part_of_a_long_section_takes_in_its_neighbours(
    log: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, path = log
    hit = holding(chunks, "On day 45 the")
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=700)
    (found,) = expand(index, hit, settings=settings)
    numbers = [chunk.chunk_index for chunk in chunks if chunk.id in found.members]
    assert numbers == list(range(hit.chunk_index - 1, hit.chunk_index + 2))
    assert sum(chunk.tokens for chunk in chunks if chunk.id in found.members) <= 700
    assert found.chunk.section_id == hit.section_id and found.chunk.id == hit.id
    text = found.chunk.content
    assert text.count("On day 45 the") == 1, "what neighbours repeat of one another is there once"
    check_places(found, path, "day 45")


def test_a_parent_does_not_bring_back_what_is_not_wanted(
    rules: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, _ = rules
    port, white = holding(chunks, "port light"), holding(chunks, "is white")
    (found,) = expand(index, port, hidden=(white.id,))
    assert found.chunk == port and found.members == (port.id,)
    (other,) = expand(index, port, hidden=(holding(chunks, "five knots").id,))
    assert other.chunk.heading == "1 Lights", "what is hidden elsewhere does not matter"


def test_neighbours_stop_at_what_is_not_wanted(log: tuple[EmbeddedIndex, list[StoredChunk], Path]) -> None:
    index, chunks, _ = log
    hit = holding(chunks, "On day 45 the")
    after = next(chunk for chunk in chunks if chunk.chunk_index == hit.chunk_index + 1)
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=700)
    (found,) = expand(index, hit, settings=settings, hidden=(after.id,))
    assert hit.id in found.members and after.id not in found.members
    assert len(found.members) > 1


@pytest.mark.parametrize("tokens", [100, 700, 1500, 10_000])
def test_no_text_is_shown_twice(log: tuple[EmbeddedIndex, list[StoredChunk], Path], tokens: int) -> None:
    index, chunks, _ = log
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=tokens)
    found = expand(index, *reversed(chunks), settings=settings)
    members = [member for item in found for member in item.members]
    assert sorted(members) == [chunk.id for chunk in chunks]
    seen = [*(item.candidate.chunk for item in found), *(chunk for item in found for chunk in item.merged)]
    assert sorted(seen) == [chunk.id for chunk in chunks]
    spans = sorted((item.chunk.start, item.chunk.end) for item in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    scores = [item.candidate.score for item in found]
    assert scores == sorted(scores, reverse=True)


def test_the_first_chunk_of_a_section_is_a_neighbour_although_marks_stand_before_the_heading(
    log: tuple[EmbeddedIndex, list[StoredChunk], Path],
) -> None:
    index, chunks, path = log
    settings = SearchSettings(parent_retrieval_enabled=True, parent_max_tokens=700)
    (found,) = expand(index, chunks[1], settings=settings)
    if chunks[0].section == chunks[1].section:
        assert found.members == tuple(chunk.id for chunk in chunks[:3])
        section = index.lookup.place(chunks[0].document, chunks[0].section)
        assert section and found.chunk.start == chunks[0].start < section.place.start
    check_places(found, path, "day 10")


def test_pages_are_those_of_the_section(library: Library) -> None:
    index = EmbeddedIndex(library.path, create=False)
    try:
        chunks = chunks_of(index, "annual-report.pdf")
        hit = next(chunk for chunk in chunks if chunk.pages and chunk.heading_level > 1)
        (found,) = expand(index, hit)
        section = index.lookup.place(hit.document, found.chunk.section)
        assert section and found.chunk.pages == section.place.pages
        assert found.chunk.pages and hit.pages and found.chunk.pages.first <= hit.pages.first
    finally:
        index.close()
