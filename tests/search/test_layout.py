"""The layout of a library: which chunks are relatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.search.asking import write

from pinakes import IndexSettings, Library, Settings
from pinakes.search.layout import Grouping, Layout, read_layout

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
    folder = write(tmp_path_factory.mktemp("layout"), FILES)
    settings = Settings(index=IndexSettings(max_chunk_tokens=200))
    with Library(folder / ".pinakes", settings=settings) as library:
        assert not library.index([folder], embed=False).failed
        yield library


@pytest.fixture
def layout(library: Library) -> Layout:
    return read_layout(library._index.lookup)


def names(library: Library, layout: Layout) -> list[tuple[str, str]]:
    """File and heading of each chunk, in the order of the layout."""
    chunks = library._index.lookup.chunks(layout.chunks.tolist())
    return [(Path(chunks[chunk].source_path).name, chunks[chunk].heading) for chunk in layout.chunks.tolist()]


def groups(library: Library, layout: Layout, grouping: Grouping, file: str) -> set[frozenset[str]]:
    """The headings of one file that are grouped together."""
    found: dict[int, set[str]] = {}
    for (name, heading), group in zip(names(library, layout), grouping.groups.tolist(), strict=True):
        if name == file:
            found.setdefault(group, set()).add(heading)
    return {frozenset(headings) for headings in found.values()}


def test_the_section_of_a_chunk_is_the_smallest_that_holds_another_too(
    library: Library, layout: Layout
) -> None:
    assert groups(library, layout, layout.sections, "guide.md") == {
        frozenset({"Guide", "B"}),
        frozenset({"A", "A.1", "A.2"}),
        frozenset({"C"}),
        frozenset({"C.1", "C.1.1"}),
    }


def test_chunks_whose_only_relatives_are_the_document_have_it_as_their_section(
    library: Library, layout: Layout
) -> None:
    assert groups(library, layout, layout.sections, "tops.md") == {frozenset({"One", "Two"})}
    assert groups(library, layout, layout.sections, "plain.txt") == {frozenset({""})}


def test_the_parts_of_a_long_section_are_relatives(library: Library, layout: Layout) -> None:
    parts = [at for at, (_, heading) in enumerate(names(library, layout)) if heading == "Log"]
    assert len(parts) > 3
    (group,) = {int(layout.sections.groups[at]) for at in parts}
    assert layout.sections.sizes[group] == len(parts)


def test_sizes_count_the_chunks_of_each_group(library: Library, layout: Layout) -> None:
    for grouping in (layout.sections, layout.documents):
        counted = Counter(grouping.groups.tolist())
        assert {group: int(size) for group, size in enumerate(grouping.sizes)} == dict(counted)
        assert grouping.sizes.sum() == len(layout)


def test_documents_are_told_apart(library: Library, layout: Layout) -> None:
    by_file: dict[str, set[int]] = {}
    for (name, _), group in zip(names(library, layout), layout.documents.groups.tolist(), strict=True):
        by_file.setdefault(name, set()).add(group)
    assert by_file.keys() == FILES.keys()
    assert all(len(found) == 1 for found in by_file.values())
    assert len(set().union(*by_file.values())) == len(FILES)
    # A section never reaches into another document.
    pairs = set(zip(layout.sections.groups.tolist(), layout.documents.groups.tolist(), strict=True))
    assert len(pairs) == len(layout.sections.sizes)


def test_chunks_come_in_order_of_their_ids(layout: Layout) -> None:
    assert (np.diff(layout.chunks) > 0).all()


def test_chunks_are_found_and_unknown_ones_are_minus_1(layout: Layout) -> None:
    known = layout.chunks.tolist()
    asked = np.array([known[-1] + 1, known[2], -5, known[0], 10**12, known[-1]])
    assert layout.places(asked).tolist() == [-1, 2, -1, 0, -1, len(known) - 1]
    assert layout.places(np.zeros(0, np.int64)).tolist() == []


def test_some_chunks_keep_the_sizes_of_the_library(library: Library, layout: Layout) -> None:
    where = {heading: at for at, (_, heading) in enumerate(names(library, layout))}
    places = np.array([where["A.1"], where["B"], where["A.2"]])
    part = layout.sections.of(places)
    assert part.groups[0] == part.groups[2] != part.groups[1]
    assert set(part.groups.tolist()) == {0, 1}
    assert part.sizes[part.groups].tolist() == [3.0, 2.0, 3.0]


def test_an_empty_library_has_a_layout(tmp_path: Path) -> None:
    with Library(tmp_path / "index") as empty:
        layout = read_layout(empty._index.lookup)
        assert len(layout) == 0
        assert layout.places(np.array([1, 2])).tolist() == [-1, -1]


def test_the_layout_follows_the_library(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {"a.md": "# A\n\nOne.\n"})
    with Library(tmp_path / "index") as library:
        library.index([folder], embed=False)
        before = library._views.corpora().get().layout
        write(folder, {"a.md": "# A\n\nOne.\n\n## More\n\nTwo.\n", "b.md": "# B\n\nThree.\n"})
        library.index(embed=False)
        after = library._views.corpora().get().layout
        assert (len(before), len(after)) == (1, 3)
        assert after.places(before.chunks).tolist() == [-1], "a document that was read again has new ids"


# -- any library ---------------------------------------------------------------------------------------------


class Rows:
    """What the record says about chunks and sections, made up."""

    def __init__(self, parents: dict[tuple[int, int], int | None], sections: list[tuple[int, int]]) -> None:
        self.parents = parents
        self.sections = sections

    def chunk_places(self) -> NDArray[np.int64]:
        places = [(number, *place) for number, place in enumerate(self.sections, 1)]
        return np.array(places[::-1], np.int64).reshape(-1, 3)

    def section_parents(self) -> NDArray[np.int64]:
        rows = [(*place, -1 if parent is None else parent) for place, parent in self.parents.items()]
        return np.array(rows, np.int64).reshape(-1, 3)


@st.composite
def libraries(draw: st.DrawFn) -> Rows:
    """Documents of sections, each below an earlier one, and chunks that stand in some of them."""
    parents: dict[tuple[int, int], int | None] = {}
    for document in range(1, draw(st.integers(1, 4)) + 1):
        parents[document, 0] = None
        for section in range(1, draw(st.integers(0, 8)) + 1):
            parents[document, section] = draw(st.integers(0, section - 1))
    return Rows(parents, draw(st.lists(st.sampled_from(sorted(parents)), max_size=25)))


@given(libraries())
def test_relatives_are_those_in_the_smallest_section_with_two(rows: Rows) -> None:
    parents = rows.parents

    def around(place: tuple[int, int]) -> list[tuple[int, int]]:
        """The section and those above it, the smallest first."""
        above = parents[place]
        return [place, *(around((place[0], above)) if above is not None else ())]

    places = rows.sections
    holding = Counter(section for place in places for section in around(place))
    nearest = [next((s for s in around(place) if holding[s] > 1), around(place)[-1]) for place in places]
    layout = read_layout(rows)  # type: ignore[arg-type]
    groups = layout.sections.groups.tolist()
    assert len(set(zip(groups, nearest, strict=True))) == len(set(groups)) == len(set(nearest))
    assert [layout.sections.sizes[group] for group in groups] == [
        nearest.count(section) for section in nearest
    ]
    owners = [document for document, _ in places]
    documents = layout.documents.groups.tolist()
    assert len(set(zip(documents, owners, strict=True))) == len(set(documents)) == len(set(owners))


def test_a_document_that_has_just_gone_does_no_harm() -> None:
    layout = read_layout(Rows({(1, 0): None, (1, 1): 0}, [(1, 1), (2, 3), (1, 0), (2, 3)]))  # type: ignore[arg-type]
    assert len(layout) == 4
    assert layout.documents.sizes.tolist() == [2.0, 2.0]
    groups = layout.sections.groups
    assert groups[0] == groups[2] != groups[1] == groups[3]
