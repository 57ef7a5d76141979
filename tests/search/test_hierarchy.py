"""Evidence from sections and documents: what may move a chunk, and how far."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import ask, files, write

from loccit import Library
from loccit.search.rank.hierarchy import group_evidence, judge

scores_between_0_and_1 = st.floats(0.0, 1.0)
# The group of each chunk and its score.
scored_chunks = st.lists(st.tuples(st.integers(0, 5), scores_between_0_and_1), min_size=1, max_size=40)


def evidence(chunks: list[tuple[int, float]], sizes: list[int], total: int | None = None) -> list[float]:
    groups = np.array([group for group, _ in chunks], np.int64)
    scores = np.array([score for _, score in chunks])
    found = group_evidence(scores, groups, np.array(sizes, np.int32)[groups], total or sum(sizes))
    return [float(value) for value in found]


def blend(
    scores: list[float], sections: list[float], documents: list[float], **weights: float
) -> list[float]:
    own, around, above = (np.array(values) for values in (scores, sections, documents))
    return [float(value) for value in judge(own, around, above, **weights)]


@given(scored_chunks, st.lists(st.integers(0, 500), min_size=6, max_size=6))
def test_evidence_is_between_0_and_1_and_the_best_group_has_all_of_it(
    chunks: list[tuple[int, float]], others: list[int]
) -> None:
    known = sorted({group for group, _ in chunks})
    chunks = [(known.index(group), score) for group, score in chunks]
    held = Counter(group for group, _ in chunks)
    found = evidence(chunks, [held[group] + others[group] for group in range(len(known))])
    assert all(0.0 <= value <= 1.0 for value in found)
    if max(score for _, score in chunks) > 0.001:
        assert max(found) == 1.0
    by_group = {(group, value) for (group, _), value in zip(chunks, found, strict=True)}
    assert len(by_group) == len(known), "all chunks of a group have the same"


@given(
    st.lists(scores_between_0_and_1, min_size=1, max_size=30), scores_between_0_and_1, scores_between_0_and_1
)
def test_a_group_of_one_knows_no_more_than_its_chunk(
    scores: list[float], section: float, document: float
) -> None:
    alone = [(number, score) for number, score in enumerate(scores)]
    found = evidence(alone, [1] * len(scores))
    judged = blend(scores, found, found, section_weight=section, document_weight=document)
    order = np.argsort(-np.array(scores), kind="stable")
    assert all(judged[a] >= judged[b] - 1e-12 for a, b in pairwise(order))


@given(st.floats(0.3, 1.0), st.integers(2, 10), st.integers(0, 90))
def test_several_that_agree_lift_their_group(score: float, agreeing: int, others: int) -> None:
    chunks = [(0, score)] + [(1, score)] * agreeing
    size = agreeing + others
    found = evidence(chunks, [size, size])
    assert found[1] > found[0]
    more = evidence([*chunks, (1, score)], [size + 1, size + 1])
    assert more[0] / more[1] < found[0] / found[1], "the more agree, the further apart"


@given(st.floats(0.5, 1.0), st.integers(2, 1000))
def test_a_long_group_counts_less_for_the_same_chunk_but_is_not_drowned(score: float, size: int) -> None:
    short, long = evidence([(0, score), (1, score)], [1, size])
    assert short > long > 0.3 * short


def test_a_strong_chunk_of_a_long_document_beats_a_middling_one_that_is_all_of_its() -> None:
    chunks = [(0, 0.9), *[(0, 0.1)] * 20, (1, 0.6)]
    scores = [score for _, score in chunks]
    found = evidence(chunks, [500, 1], total=5000)
    judged = blend(scores, [0.0] * len(scores), found, section_weight=0.0, document_weight=0.3)
    assert judged[0] > judged[-1]


def test_one_strong_chunk_says_more_than_many_weak_ones() -> None:
    found = evidence([(0, 1.0), *[(1, 0.3)] * 10], [10, 10], total=1000)
    assert found[0] == 1.0
    assert found[-1] < 0.5


@given(st.lists(scores_between_0_and_1, min_size=1, max_size=20), st.data())
def test_weights_of_0_change_nothing(scores: list[float], data: st.DataObject) -> None:
    around = data.draw(st.lists(scores_between_0_and_1, min_size=len(scores), max_size=len(scores)))
    assert blend(scores, around, around, section_weight=0.0, document_weight=0.0) == scores


@given(
    st.lists(st.tuples(*[scores_between_0_and_1] * 3), min_size=1, max_size=20),
    st.floats(0.0, 10.0),
    st.floats(0.0, 10.0),
)
def test_what_is_judged_stays_between_0_and_1(
    rows: list[tuple[float, float, float]], section: float, document: float
) -> None:
    own, sections, documents = (list(column) for column in zip(*rows, strict=True))
    judged = blend(own, sections, documents, section_weight=section, document_weight=document)
    for value, row in zip(judged, rows, strict=True):
        assert min(row) - 1e-12 <= value <= max(row) + 1e-12


def test_nothing_and_noughts_have_no_evidence() -> None:
    assert evidence([], []) == []
    assert evidence([(0, 0.0), (1, 0.0)], [3, 1]) == [0.0, 0.0]
    # What is unrelated may score below nought, and says nothing then.
    assert evidence([(0, -0.2), (1, 0.5)], [1, 1])[0] < 0.9


SAME = "## Interval\n\nIt is due every ninety days, and sooner after a failure.\n"
BOILERS = "\n".join(
    f"## {part}\n\nThe {part.lower()} of the boiler is cleaned when the heating engineer services the boiler.\n"
    for part in ("Burner", "Flue", "Heat exchanger", "Pressure vessel")
)
CATS = "\n".join(
    f"## {part}\n\nThe {part.lower()} of the cat is looked at when the veterinarian has time for the animal.\n"
    for part in ("Fur", "Teeth", "Claws", "Whiskers")
)


@pytest.fixture
def duplicates(small: Library, tmp_path: Path) -> Library:
    # Of equals the first one indexed comes first: the document about the query is not.
    write(tmp_path / "docs", {"a.md": f"# Notes\n\n{CATS}\n{SAME}", "b.md": f"# Notes\n\n{BOILERS}\n{SAME}"})
    for name in ("a.md", "b.md"):
        small.index([tmp_path / "docs" / name])
    return small


def test_of_two_equal_passages_the_one_in_the_document_about_the_query_is_first(duplicates: Library) -> None:
    query = "boiler service interval"
    alone = ("smoothing", "graph", "content_dedup", "ngram_dedup")

    def places(*disabled: str) -> list[str]:
        response = ask(duplicates, query, disabled=(*alone, *disabled), top_k=20)
        equal = [result for result in response.results if "ninety days" in result.content]
        assert len(equal) == 2
        return [Path(result.source_path).stem for result in equal]

    assert places("hierarchy") == ["a", "b"], "nothing else tells them apart"
    assert places() == ["b", "a"]
    # With everything on they are one result, in the place of the better.
    response = ask(duplicates, query, top_k=20)
    shown = next(result for result in response.results if "ninety days" in result.content)
    assert shown.source_path.endswith("b.md")
    assert [Path(place.source_path).stem for place in shown.also_in] == ["a"]


def test_more_weight_brings_more_of_the_document(duplicates: Library) -> None:
    query = "ninety days boiler"
    light = files(ask(duplicates, query, document_weight=0.0, section_weight=0.0, top_k=6))
    heavy = files(ask(duplicates, query, document_weight=10.0, top_k=6))
    assert heavy.count("b") >= 5
    assert heavy.count("b") >= light.count("b")
