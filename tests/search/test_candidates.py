"""Candidates: the best of all that was found, with what each leg said of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.search.candidates import Candidates, RankedList, union

ids = st.lists(st.integers(0, 60), unique=True)


@given(st.lists(ids, min_size=1, max_size=4))
def test_a_union_has_every_id_once_and_in_order(lists: list[list[int]]) -> None:
    joined = union(*(np.array(one, np.int64) for one in lists))
    assert joined.tolist() == sorted(set().union(*lists))


@given(
    st.dictionaries(st.integers(0, 60), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    st.lists(ids, max_size=3),
    st.integers(1, 20),
    st.sets(st.integers(0, 70), max_size=3),
)
def test_the_top_is_the_best_with_ranks_and_scores_of_every_leg(
    scores: dict[int, float], found: list[list[int]], count: int, always: set[int]
) -> None:
    chunks = sorted(scores)
    legs = [
        RankedList.of(f"leg{number}", [(chunk, 1.0 / (rank + 1)) for rank, chunk in enumerate(one)])
        for number, one in enumerate(found)
    ]
    fused = Candidates(
        np.array(chunks, np.int64), legs, {"fused": np.array([scores[chunk] for chunk in chunks])}
    )
    order = sorted(chunks, key=lambda chunk: (-scores[chunk], chunk))
    top = fused.top(count, always)
    assert fused.chunks[fused.best(count)].tolist() == order[:count]
    assert [one.chunk for one in top] == order[:count] + [one for one in order[count:] if one in always]
    for one in top:
        ranks = {f"leg{at}": hits.index(one.chunk) + 1 for at, hits in enumerate(found) if one.chunk in hits}
        assert one.score == scores[one.chunk] and one.ranks == ranks
        assert one.scores == {name: 1.0 / rank for name, rank in ranks.items()}


@given(
    st.dictionaries(st.integers(0, 60), st.floats(0, 1)),
    st.dictionaries(st.integers(0, 90), st.floats(0, 1)),
)
def test_a_stage_adds_a_column_and_leaves_those_before_it(
    scores: dict[int, float], more: dict[int, float]
) -> None:
    chunks = sorted(scores)
    table = Candidates(np.array(chunks, np.int64), [], {"fused": np.array([scores[one] for one in chunks])})
    joined = table.joined(RankedList.of("graph", list(more.items())))
    joined.add("linked", joined.scores / 2)
    assert joined.chunks.tolist() == sorted({*scores, *more})
    for one in joined.top(1000):
        assert one.stages == {"fused": scores.get(one.chunk, 0.0), "linked": scores.get(one.chunk, 0.0) / 2}
        assert one.score == one.stages["linked"]
    with pytest.raises(ValueError, match="column fused already exists"):
        joined.add("fused", joined.scores)
    assert joined.kept(joined.scores > 0.25).chunks.tolist() == [one for one in chunks if scores[one] > 0.5]
