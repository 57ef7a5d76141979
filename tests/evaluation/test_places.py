from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from loccit import Library
from loccit.evaluation.places import Places
from loccit.model import SearchResult

ECHO = "Mind the step.\n\n"
TEXT = f"""# Guide

## First

{ECHO * 3}The quay is closed at night.

## Second

Boats are for hire.

### Prices

A boat costs nine crowns.
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Places, SearchResult]]:
    """The places of a small library, and the result that is its section "Prices"."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text(TEXT, encoding="utf-8")
    with Library(folder / "index") as library:
        library.index([folder / "docs"], embed=False)
        result = library.search("nine crowns", mode="keyword").results[0]
    places = Places(folder / "index")
    yield places, result
    places.close()


def text_at(span: tuple[int, int]) -> str:
    return TEXT[slice(*span)]


def test_a_result_gives_back_its_own_part(found: tuple[Places, SearchResult]) -> None:
    places, result = found
    assert text_at(places.of_result(result)) == TEXT[TEXT.index("### Prices") :]
    assert places.text(result.source_path) == TEXT
    assert result.source_path in places and "elsewhere.md" not in places


def test_what_was_widened_or_narrowed_is_found_around_the_chunk(found: tuple[Places, SearchResult]) -> None:
    places, result = found
    wider = TEXT[TEXT.index("## Second") :].rstrip()
    assert text_at(places.of_result(replace(result, content=wider))) == wider
    assert text_at(places.of_result(replace(result, content="nine crowns"))) == "nine crowns"
    changed = replace(result, content="words that stand nowhere")
    assert places.of_result(changed) == places.of_result(result)


def test_of_words_that_repeat_those_in_the_chunk_are_meant(found: tuple[Places, SearchResult]) -> None:
    places, result = found
    first = replace(result, chunk_id=result.chunk_id.rpartition("_")[0] + "_1", content="Mind the step.")
    start, end = places.of_result(first)
    assert text_at((start, end)) == "Mind the step." and start >= TEXT.index("## First")


def test_sections_have_places(found: tuple[Places, SearchResult]) -> None:
    places, result = found
    place = places.place(result.source_path, "second")
    assert place is not None and text_at(place) == TEXT[TEXT.index("## Second") :]
    assert places.place(result.source_path, "third") is None
