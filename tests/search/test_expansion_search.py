"""Query expansion in a real library: words that the query does not use but seems to mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.search.asking import ask, files, scored, write

from loccit import IndexSettings, Library, Settings

FILES = {
    "login.md": "# Login\n\nAuthentication of users needs a password. Authentication fails after three attempts.\n",
    "service.md": "# Service\n\nThe authentication service issues credentials.\n",
    "garden.md": "# Garden\n\nRoses climb along the wall of the garden.\n",
    "boats.md": "# Quay\n\nA vessel moors at the quay of the harbour. The vessel leaves.\n",
    "kitchen.md": "# Kitchen\n\nPans hang above the stove in the kitchen.\n",
}
ON: dict[str, Any] = {"query_expansion_enabled": True}
CONCEPTS = Settings(index=IndexSettings(concept_vocabulary=True))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("expansion"), FILES)
    with Library(folder / ".loccit", settings=CONCEPTS) as library:
        assert not library.index([folder]).failed
        yield library


def added(library: Library, query: str, **settings: Any) -> list[str]:
    explanation = ask(library, query, **settings).explanation
    assert explanation
    return list(explanation["expansion"])


def test_an_abbreviation_finds_the_word(library: Library) -> None:
    response = ask(library, "auth", **ON)
    assert response.explanation and response.explanation["expansion"][0] == "authentication"
    assert set(files(response)[:2]) == {"login", "service"}
    assert all("expansion" in result.matched_by for result in response.results[:2])
    # Without vectors for the meaning, too.
    words = ask(library, "auth", semantic_weight=0.0, keyword_weight=0.8, **ON)
    assert set(files(words)) >= {"login", "service"}
    assert not ask(library, "auth", semantic_weight=0.0, keyword_weight=0.8).results


@pytest.mark.parametrize(
    ("query", "term", "name"), [("flower", "roses", "garden"), ("cooking", "stove", "kitchen")]
)
def test_words_of_the_same_meaning_are_added(library: Library, query: str, term: str, name: str) -> None:
    assert term in added(library, query, **ON)
    first = ask(library, query, **ON).results[0]
    assert Path(first.source_path).stem == name and "expansion" in first.matched_by


def test_as_many_words_as_wanted(library: Library) -> None:
    for count in (1, 2, 3):
        assert len(added(library, "flower", query_expansion_terms=count, **ON)) <= count


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {**ON, "disabled": ("expansion",)},
        {**ON, "search_mode": "keyword"},
        {**ON, "search_mode": "semantic"},
    ],
)
def test_nothing_is_added_unasked(library: Library, settings: dict[str, Any]) -> None:
    response = ask(library, "flower", **settings)
    assert response.explanation and response.explanation["expansion"] == []
    assert all("expansion" not in result.matched_by for result in response.results)


def test_switched_off_it_is_as_if_it_were_not_there(library: Library) -> None:
    assert scored(ask(library, "flower", disabled=("expansion",), **ON)) == scored(ask(library, "flower"))


def test_a_query_that_says_enough_is_left_alone(library: Library) -> None:
    assert added(library, "where do the roses climb along the wall of the garden in summer", **ON) == []


def test_what_is_excluded_or_filtered_does_not_come_back(library: Library) -> None:
    assert "garden" not in files(ask(library, "flower -roses", **ON))
    assert set(files(ask(library, "flower path:kitchen.md", **ON))) == {"kitchen"}


def test_the_vocabulary_follows_the_library(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", FILES)
    with Library(tmp_path / "index", settings=CONCEPTS) as library:
        library.index([folder])
        assert "bloom" not in added(library, "flower", **ON)
        write(folder, {"tulips.md": "# Bulbs\n\nTulips bloom in April. Plant the tulips in autumn.\n"})
        library.index()
        assert "bloom" in added(library, "flower", **ON)
        (folder / "tulips.md").unlink()
        library.index()
        assert "bloom" not in added(library, "flower", **ON)
    with Library(tmp_path / "index", settings=Settings(index=IndexSettings())) as library:
        library.index()
        assert added(library, "flower", **ON) == [], "no longer kept"
        assert added(library, "auth", **ON) == ["authentication"], "which needs no vocabulary"
