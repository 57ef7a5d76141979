from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.evaluation.metrics import Span, coverage, length, overlap, union

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: (min(pair), max(pair))), max_size=6
)


def characters(spans: list[Span]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


@given(SPANS)
def test_a_union_covers_the_same_characters_without_overlap(spans: list[Span]) -> None:
    joined = union(spans)
    assert characters(joined) == characters(spans)
    assert length(joined) == len(characters(spans))
    assert all(one[1] < other[0] for one, other in pairwise(joined))


@given(SPANS, SPANS)
def test_overlap_is_that_of_the_characters(one: list[Span], other: list[Span]) -> None:
    assert overlap(union(one), union(other)) == len(characters(one) & characters(other))


@given(st.dictionaries(st.sampled_from("fgh"), SPANS), st.dictionaries(st.sampled_from("fgh"), SPANS))
def test_coverage_is_counted_over_all_files(
    returned: dict[str, list[Span]], golden: dict[str, list[Span]]
) -> None:
    mine = {(file, at) for file, spans in returned.items() for at in characters(spans)}
    theirs = {(file, at) for file, spans in golden.items() for at in characters(spans)}
    shared = len(mine & theirs)
    expected = (
        shared / len(theirs) if theirs else 0.0,
        shared / len(mine) if mine else 0.0,
        shared / len(mine | theirs) if mine | theirs else 0.0,
    )
    assert coverage(returned, golden) == pytest.approx(expected)


def test_what_comes_from_another_file_only_costs_precision() -> None:
    assert coverage({"a": [(0, 10)], "b": [(0, 30)]}, {"a": [(0, 10)]}) == (1.0, 0.25, 0.25)
