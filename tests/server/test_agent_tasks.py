"""The research tasks of the benchmark whose documents are in the repository, done over stdio."""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.agent_tasks.perform import Outcome, perform, write_library
from benchmarks.agent_tasks.tasks import TASKS, Task, plain

from loccit import Library

MOST_CALLS = 4
SMALL = [task for task in TASKS if not task.evaluation]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Outcome]:
    folder = tmp_path_factory.mktemp("tasks")
    with Library(folder / "index") as library:
        library.index([write_library(folder / "documents")])
    _, done = asyncio.run(perform(folder / "index", SMALL, "text"))
    return {outcome.number: outcome for outcome in done}


@pytest.mark.parametrize("task", SMALL, ids=lambda task: str(task.number))
def test_an_agent_is_told_everything_within_four_calls(task: Task, outcomes: dict[int, Outcome]) -> None:
    outcome = outcomes[task.number]
    assert not outcome.missing
    assert outcome.calls <= MOST_CALLS
    assert not outcome.noise


def test_a_fact_is_missed_where_its_words_or_its_place_are_not_told() -> None:
    task = next(task for task in TASKS if task.number == 3)
    payment = next(fact for fact in task.facts if fact.place == "3.3")
    assert payment.within("3.3, paragraph 51: pay each invoice **within 30 day** (after receiving it)")
    assert not payment.within("3.3, paragraph 51: pay each invoice within 60 days after receiving it")
    assert not payment.within("33.3: within 30 days after receiving it")


def test_a_change_is_read_as_the_old_and_the_new_words() -> None:
    assert plain("records [-seven-] {+six+} years") == "records seven years records six years"
