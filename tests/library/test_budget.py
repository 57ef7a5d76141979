"""A token budget bounds the answer as a model reads it: results, marks of quotation and notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import UsageError
from loccit.search.present.respond import count_tokens

QUERIES = ("vessel at anchor", '"white light"', "Section 1", "zebra crossing", "anchor type:pdf")


def tokens(library: Library, text: str) -> int:
    return count_tokens(library.tokenizer, text)


@pytest.mark.parametrize("budget", (40, 100, 150, 300, 700, 1500, 4000))
@pytest.mark.parametrize("query", QUERIES)
def test_the_formatted_answer_fits(library: Library, query: str, budget: int) -> None:
    whole = library.search(query)
    cut = library.search(query, token_budget=budget)
    assert tokens(library, cut.format()) <= budget
    if tokens(library, whole.format()) <= budget:
        assert cut.format() == whole.format() and not cut.truncated
    elif whole.results:
        assert cut.truncated
        assert [item.chunk_id for item in whole.results][: len(cut.results)] == [
            item.chunk_id for item in cut.results
        ]


@pytest.mark.parametrize("budget", (400, 800))
def test_most_of_the_budget_is_used(library: Library, budget: int) -> None:
    answer = library.search("vessel at anchor", token_budget=budget)
    assert 0.7 * budget < tokens(library, answer.format()) <= budget


def test_a_budget_that_is_too_small_is_said(library: Library) -> None:
    response = library.search("vessel at anchor", token_budget=12)
    assert not response.results and response.truncated
    assert response.note == "10 results were found; none fits into a budget of 12 tokens."
    assert response.format() == "No result fits into the token budget. Ask again with a larger one."


def test_a_budget_of_nothing_is_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="token_budget must be at least 1 and at most 1,000,000, not 0"):
        library.search("vessel", token_budget=0)


@pytest.mark.parametrize("budget", (240, 500, 1200))
def test_the_command_prints_no_more_than_the_budget(library: Library, folder: Path, budget: int) -> None:
    words = ["search", "vessel at anchor", "--format", "llm", "--token-budget", str(budget)]
    result = CliRunner().invoke(app, [*words, "--index", str(folder / ".loccit")])
    assert result.exit_code == 0, result.output
    assert "Cut to fit the token budget" in result.stdout
    assert 0.7 * budget < tokens(library, result.stdout) <= budget
