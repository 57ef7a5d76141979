"""Relatives in any tree of sections, against going up the tree chunk by chunk."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pinakes.search.layout import _keys, _relatives

# The parents of the sections of a document: each stands before its children.
Tree = list[int]
_TREES = st.lists(
    st.lists(st.integers(0, 9), max_size=9).map(
        lambda drawn: [n % (at + 1) - 1 for at, n in enumerate(drawn)]
    ),
    max_size=4,
)


def climb(trees: list[Tree], chunks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    def chain(document: int, section: int) -> list[int]:
        found = [section]
        while section < len(trees[document]) and (section := trees[document][section]) >= 0:
            found.append(section)
        return found

    holds: dict[tuple[int, int], int] = {}
    for document, section in chunks:
        for above in chain(document, section):
            holds[document, above] = holds.get((document, above), 0) + 1
    nearest = []
    for document, section in chunks:
        around = chain(document, section)
        shared = [above for above in around if holds[document, above] > 1]
        nearest.append((document, (shared or around[-1:])[0]))
    return nearest


@given(_TREES, st.data())
def test_relatives_are_those_of_going_up_the_tree(trees: list[Tree], data: st.DataObject) -> None:
    places = [(document, section) for document, tree in enumerate(trees) for section in range(len(tree))]
    # Beyond the list: a document that went between the two questions to the record.
    unlisted = [(document, len(tree)) for document, tree in enumerate(trees)]
    chunks = data.draw(st.lists(st.sampled_from(places + unlisted), max_size=20)) if trees else []
    owners = np.array(chunks, np.int64).reshape(-1, 2)
    listed = np.array(places, np.int64).reshape(-1, 2)
    parents = np.array([parent for tree in trees for parent in tree], np.int64)
    found = _relatives(_keys(*owners.T), _keys(*listed.T), parents).tolist()
    expected = climb(trees, chunks)
    assert len(found) == len(expected)
    # Numbers are free; which chunks share one is not.
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


@given(st.lists(st.integers(-3, 12), max_size=10), st.lists(st.integers(0, 12), max_size=10))
def test_no_damaged_tree_leads_in_circles(parents: list[int], sections: list[int]) -> None:
    listed = _keys(np.zeros(len(parents), np.int64), np.arange(len(parents)))
    inside = _keys(np.zeros(len(sections), np.int64), np.array(sections, np.int64))
    assert len(_relatives(inside, listed, np.array(parents, np.int64))) == len(sections)
