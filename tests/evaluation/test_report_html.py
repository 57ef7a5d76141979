from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.evaluation import sets

from loccit.errors import UsageError
from loccit.evaluation import compare_runs, evaluate
from loccit.evaluation.plots import gains, reliability
from loccit.evaluation.report_html import render, write_report
from loccit.evaluation.runs import Run
from loccit.models.embedding import Embedder

VOID = {"meta", "line", "br"}
HOSTILE = 'rye loaves </title><script>alert("x")</script> & an oven'


class Checker(HTMLParser):
    """Notes every tag, and whether they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: dict[str, int] = {}
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def check(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Run:
    folder = sets.library_set(tmp_path_factory.mktemp("report") / "<set> & co")
    rows = [
        {"id": "section", "text": HOSTILE, "kind": "odd"},
        {"id": "document", "text": "a mooring line of hemp", "kind": "plain"},
    ]
    sets.write_jsonl(folder / "queries.jsonl", rows)
    sets.qrels(folder, ("document", "sub/diary.md", 1), ("section", "act.md#sec_3", 2))
    return evaluate([folder], ablate=True, embedder=embedder)


def test_the_page_is_whole_and_needs_nothing_else(run: Run) -> None:
    page = render(run)
    found = check(page)
    assert found.seen["svg"] >= 5 and found.seen["style"] == 1 and "script" not in found.seen
    assert not re.search(r"https?://|@import|url\(", page)
    assert not [name for name, _ in found.attributes if name in ("src", "onclick", "onload")]
    assert all(value.startswith("#set-") for name, value in found.attributes if name == "href")
    assert "prefers-color-scheme: dark" in page
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", page.lower())


def test_it_shows_what_was_measured(run: Run) -> None:
    words = " ".join(check(render(run)).words)
    for expected in (
        "Quality by mode",
        "What each stage contributes",
        "Each mode alone",
        "Time to answer",
        "the best single mode",
        "Does confidence mean what it says?",
        "Answered worst",
        "a mooring line of hemp",
        "<set> & co",
        "default settings",
        "ndcg@10 by kind of question",
        "odd (1)",
        "1 questions that nothing answers",
    ):
        assert expected in words, expected
    assert f"{run.sets[0].variants[0].metrics['ndcg@10']:.4f}" in words


def test_text_from_questions_cannot_become_markup(run: Run) -> None:
    page = render(run)
    assert "<script" not in page
    assert HOSTILE in " ".join(check(page).words)


def test_a_comparison_is_drawn_against_the_run_before(tmp_path: Path, run: Run) -> None:
    compared = replace(run, compared_with="before.json", comparison=compare_runs(run, run, "before.json"))
    write_report(compared, tmp_path / "report.html", run)
    words = " ".join(check((tmp_path / "report.html").read_text(encoding="utf-8")).words)
    assert "Compared with before.json" in words
    assert "hybrid against hybrid in before.json" in words
    assert "0 questions are better, 0 worse, 2 the same" in words
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(run, tmp_path)


def test_look_ups_without_modes_have_a_report_too(tmp_path: Path, embedder: Embedder) -> None:
    page = render(evaluate([sets.lookup_set(tmp_path / "look")], embedder=embedder, modes=["exact"]))
    assert "look/definitions" in " ".join(check(page).words)


def test_thousands_of_questions_are_drawn_within_reason() -> None:
    drawn = gains([(number / 5000 - 0.5, f"question {number}") for number in range(5000)])
    assert drawn.count("<rect") == 600
    assert "question 0<" in drawn and "question 4999<" in drawn and "question 2501<" not in drawn
    check(gains([]))
    check(reliability([]))
