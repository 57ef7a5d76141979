from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.search.candidates import Candidates
from loccit.search.rank.recency import Recency, recency_factors

NOW = datetime(2025, 3, 31, 12, tzinfo=timezone.utc)
ages = st.timedeltas(timedelta(0), timedelta(days=40_000))
biases = st.floats(0.0, 1.0)


def recency_factor(date: datetime | None, now: datetime, bias: float) -> float:
    stamp = np.nan if date is None else date.timestamp()
    return round(float(recency_factors(np.array([stamp]), now.timestamp(), bias)[0]), 12)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(0), 1.2),
        (timedelta(days=6, hours=23), 1.2),
        (timedelta(days=7), 1.1),
        (timedelta(days=29, hours=23), 1.1),
        (timedelta(days=30), 1.0),
        (timedelta(days=4000), 1.0),
        # A clock that is ahead, or midnight in a zone further east.
        (timedelta(hours=-14), 1.2),
        # A date far ahead is when something will happen, not when it was written.
        (timedelta(days=-40), 1.0),
    ],
)
def test_the_tiers(age: timedelta, expected: float) -> None:
    assert recency_factor(NOW - age, NOW, 1.0) == expected
    assert recency_factor(NOW - age, NOW, 0.5) == pytest.approx(1 + (expected - 1) / 2)


@given(biases)
def test_without_a_date_nothing_changes(bias: float) -> None:
    assert recency_factor(None, NOW, bias) == 1.0


@given(ages, ages, biases)
def test_the_newer_never_counts_less(one: timedelta, other: timedelta, bias: float) -> None:
    newer, older = sorted((one, other))
    assert recency_factor(NOW - newer, NOW, bias) >= recency_factor(NOW - older, NOW, bias)


@given(ages, biases, biases)
def test_factors_lie_between_1_and_what_the_bias_allows(age: timedelta, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1.0 <= recency_factor(NOW - age, NOW, low) <= recency_factor(NOW - age, NOW, high) <= 1.2


@given(st.lists(st.one_of(st.floats(-1e11, 1e11), st.just(float("nan")))), biases)
def test_many_at_once_are_as_one_by_one(dates: list[float], bias: float) -> None:
    now = NOW.timestamp()
    together = recency_factors(np.array(dates, np.float64), now, bias)
    assert together.tolist() == [recency_factors(np.array([date]), now, bias)[0] for date in dates]


@given(st.lists(st.floats(-1e11, 1e11)))
def test_a_bias_of_nothing_changes_nothing(dates: list[float]) -> None:
    assert recency_factors(np.array(dates, np.float64), NOW.timestamp(), 0.0).tolist() == [1.0] * len(dates)


# -- in a library --------------------------------------------------------------------------------------------

NOTES = {
    "new.md": "---\nmodified: 2025-03-29\ndate: 2001-01-01\n---\nThe lamp is lit.",
    "recent.md": "---\ndate: 2025-03-10T08:00:00+02:00\n---\nThe lamp is trimmed.",
    "old.md": "---\nupdated: 2019-05-05\n---\nThe lamp is bought.",
    "odd.md": "---\ndate: soon\n---\nThe lamp is out.",
    "file.md": "The lamp is sold.",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        when = (NOW - timedelta(days=3 if name == "file.md" else 1000)).timestamp()
        os.utime(path, (when, when))
    with Library(folder / ".loccit") as library:
        library.index([folder], embed=False)
        yield library


def found_in(library: Library, score: float = 0.5) -> tuple[Candidates, list[str]]:
    rows = library._index.database.rows(
        "SELECT c.id, d.source_path FROM chunks c JOIN documents d ON d.id = c.document ORDER BY c.id"
    )
    names = [Path(row[1]).name for row in rows]
    chunks = np.array([row[0] for row in rows], np.int64)
    return Candidates(chunks, [], {"fused": np.full(len(rows), score)}), names


def test_documents_are_dated_by_themselves_or_by_their_file(notes: Library) -> None:
    fused, names = found_in(notes)
    favoured = Recency(notes._index).favour(fused, 1.0, now=NOW.timestamp())
    factors = dict(zip(names, (favoured / fused.scores).round(6).tolist(), strict=True))
    assert factors == {"new.md": 1.2, "recent.md": 1.1, "old.md": 1.0, "odd.md": 1.0, "file.md": 1.2}


def test_scores_stay_between_0_and_1_and_keep_their_distance(notes: Library) -> None:
    fused, names = found_in(notes, 0.95)
    favoured = Recency(notes._index).favour(fused, 1.0, now=NOW.timestamp())
    scores = dict(zip(names, favoured.tolist(), strict=True))
    assert scores["new.md"] == pytest.approx(1.0)
    assert scores["new.md"] / scores["old.md"] == pytest.approx(1.2)


def test_without_bias_and_without_hits_nothing_is_read(notes: Library) -> None:
    fused, _ = found_in(notes)
    nothing = Candidates(np.zeros(0, np.int64), [], {"fused": np.zeros(0)})
    recency = Recency(notes._index)
    assert recency.favour(fused, 0.0) is fused.scores
    assert recency.favour(nothing, 1.0) is nothing.scores


def test_a_chunk_that_is_gone_is_left_as_it_is(notes: Library) -> None:
    gone = Candidates(np.array([10**9], np.int64), [], {"fused": np.array([0.4])})
    assert Recency(notes._index).favour(gone, 1.0).tolist() == [0.4]
