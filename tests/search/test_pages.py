"""Totals of searches, and how they go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import UsageError


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """130 notes with one phrase."""
    folder = tmp_path_factory.mktemp("pages")
    for number in range(130):
        (folder / f"{number:03}.md").write_text(
            f"# Log {number}\n\nVessel {number} waits at berth {number * 7} for the evening tide.\n"
        )
    library = Library(folder / ".loccit")
    library.index(folder, embed=False)
    return library


def test_a_quoted_phrase_says_how_many_there_are(logs: Library) -> None:
    found = logs.search('"for the evening tide"', top_k=5)
    assert (len(found.results), found.total_matches, found.next_offset) == (5, 130, 5)
    assert found.format().startswith("5 of 130 results, confidence")
    assert found.format().endswith("Go on with offset 5.")
    data = found.to_dict()
    assert (data["total_matches"], data["offset"], data["next_offset"]) == (130, 0, 5)


def test_pages_of_a_phrase_make_up_the_whole(logs: Library) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = logs.search('"for the evening tide"', top_k=40, offset=offset)
        assert [result.rank for result in page.results] == list(
            range(offset + 1, offset + 1 + len(page.results))
        )
        seen += [Path(result.source_path).name for result in page.results]
        offset = page.next_offset
    assert sorted(seen) == [f"{number:03}.md" for number in range(130)]


def test_a_page_is_the_end_of_a_longer_answer(logs: Library) -> None:
    whole = logs.search("vessel berth", mode="keyword", top_k=20)
    page = logs.search("vessel berth", mode="keyword", top_k=10, offset=10)
    assert [result.chunk_id for result in page.results] == [result.chunk_id for result in whole.results[10:]]
    assert page.total_matches is None and page.considered == 130 and page.next_offset == 20


def test_what_a_budget_cut_off_comes_next(logs: Library) -> None:
    cut = logs.search("vessel berth", mode="keyword", top_k=10, token_budget=300)
    assert cut.truncated and 0 < len(cut.results) < 10 and cut.next_offset == len(cut.results)


def test_the_end_is_said(logs: Library) -> None:
    last = logs.search("vessel 129", mode="keyword", top_k=100, offset=130)
    assert not last.results and last.next_offset is None
    assert last.note == "There are no results after the first 130."
    with pytest.raises(UsageError, match="find_all"):
        logs.search("vessel", offset=5000)
