"""What a document says of itself in its frontmatter: found by its words, and filtered by."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.search.asking import ask, files, write

from loccit import Library

PAGE = """---
title: Zither maintenance
description: Restringing and lubricating the instrument
keywords: [fretboard, humidity]
tags: [workshop/strings, luthier]
aliases: [Psaltery upkeep]
author: Ottilie Brandt
category: Handbook
created: 2021-02-03
modified: 2023-11-20
related: ["[[kitchen]]", attic.md]
---

Nothing is said here in so many words.
"""
FILES = {
    "zither.md": PAGE,
    "kitchen.md": "# Kitchen\n\nPans hang above the stove.\n",
    "attic.md": "---\nauthor: Emil\ncategory: Note\ndate: 2019-07-01\n---\n# Attic\n\nTrunks stand in rows.\n",
    # The words of the page above, in running text: a title or a keyword counts more than this.
    "letter.md": (
        "# Letter\n\nWe spoke of the maintenance of a zither, of the humidity in the house, of the fretboard and of "
        "strings, of a luthier in the town and of what the psaltery of his aunt had cost, and then we spoke of much else.\n"
    ),
    "garden.md": "# Garden\n\nRoses climb along the wall.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("frontmatter"), FILES)
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


@pytest.mark.parametrize(
    "query",
    [
        "zither maintenance",
        "restringing the instrument",
        "luthier",
        "psaltery upkeep",
        "Ottilie Brandt",
        "handbook Brandt",
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_every_field_is_searched_and_counts_more_than_running_text(
    library: Library, query: str, mode: str
) -> None:
    assert files(library.search(query, mode=mode))[0] == "zither"


def test_keywords_count_more_than_running_text(library: Library) -> None:
    assert files(library.search("fretboard humidity", mode="keyword"))[:2] == ["zither", "letter"]
    assert "zither" in files(library.search("fretboard humidity"))[:2]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "Ottilie Brandt"}, {"zither"}),
        ({"author": "brandt"}, {"zither"}),
        ({"category": "handbook"}, {"zither"}),
        ({"category": ["Handbook", "Note"]}, {"zither", "attic"}),
        ({"tags": "workshop"}, {"zither"}),
        ({"keywords": "humidity"}, {"zither"}),
        ({"aliases": "psaltery upkeep"}, {"zither"}),
        ({"related": "kitchen"}, {"zither"}),
        ({"related": "[[Kitchen]]"}, {"zither"}),
        ({"related": "attic.md"}, {"zither"}),
        ({"related": "garden"}, set()),
        ({"created": "2021"}, {"zither"}),
        ({"created": "2019-07-01"}, {"attic"}),
        ({"modified": "2023-11"}, {"zither"}),
        ({"created": "<2020", "category": "note"}, {"attic"}),
        ({"before": "2020"}, {"attic"}),
        ({"after": "2023-11-01", "before": "2023-12-01"}, {"zither"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_every_field_can_be_filtered_by(
    library: Library, filters: dict[str, object], expected: set[str], mode: str
) -> None:
    response = library.search("things in a house", mode=mode, filters=filters, top_k=50)
    assert set(files(response)) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("author:brandt", {"zither"}),
        ('author:"Ottilie Brandt"', {"zither"}),
        ("category:note", {"attic"}),
        ("related:kitchen", {"zither"}),
        ("tag:luthier", {"zither"}),
        ("created:2021", {"zither"}),
        ("before:2020", {"attic"}),
        ("-category:note -author:brandt", {"kitchen", "letter", "garden"}),
    ],
)
def test_filters_can_be_typed(library: Library, typed: str, expected: set[str]) -> None:
    assert set(files(library.search(f"things in a house {typed}", top_k=50))) == expected


def test_documents_that_are_related_come_along(library: Library) -> None:
    response = ask(library, "zither maintenance", graph_weight=1.0)
    edges = {
        name: result.explanation["edge"]
        for name, result in zip(files(response), response.results, strict=True)
        if result.explanation and "edge" in result.explanation
    }
    assert edges.get("kitchen") == edges.get("attic") == "related"
    assert files(response).index("kitchen") < files(response).index("garden")
