"""Candidates: the best of all that was found, with what each leg said of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pinakes.search.candidates import Fused, Leg, union

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
        Leg.of(f"leg{number}", [(chunk, 1.0 / (rank + 1)) for rank, chunk in enumerate(one)])
        for number, one in enumerate(found)
    ]
    fused = Fused(np.array(chunks, np.int64), np.array([scores[chunk] for chunk in chunks]), legs)
    order = sorted(chunks, key=lambda chunk: (-scores[chunk], chunk))
    top = fused.top(count, always)
    assert fused.chunks[fused.best(count)].tolist() == order[:count]
    assert [one.chunk for one in top] == order[:count] + [one for one in order[count:] if one in always]
    for one in top:
        ranks = {f"leg{at}": hits.index(one.chunk) + 1 for at, hits in enumerate(found) if one.chunk in hits}
        assert one.score == scores[one.chunk] and one.ranks == ranks
        assert one.scores == {name: 1.0 / rank for name, rank in ranks.items()}
