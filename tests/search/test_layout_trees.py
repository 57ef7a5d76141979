"""Trees of sections as they should never be: a damaged record must not keep a search from ending."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pinakes.search.layout import _keys, _relatives


@given(st.lists(st.integers(-3, 12), max_size=10), st.lists(st.integers(0, 12), max_size=10))
def test_no_damaged_tree_leads_in_circles(parents: list[int], sections: list[int]) -> None:
    listed = _keys(np.zeros(len(parents), np.int64), np.arange(len(parents)))
    inside = _keys(np.zeros(len(sections), np.int64), np.array(sections, np.int64))
    assert len(_relatives(inside, listed, np.array(parents, np.int64))) == len(sections)
