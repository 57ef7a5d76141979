"""Judges: each kind of set has one, which asks a question and says how good the answer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pinakes.evaluation.build import chunks_of
from pinakes.evaluation.datasets import CLAUSES, EvalSet, Question
from pinakes.evaluation.lookups import is_clause, is_definition, is_section
from pinakes.evaluation.metrics import MRR_AT, PASS_AT, pass_at, ranking_values, reciprocal_rank, unique
from pinakes.library import Library
from pinakes.model import DefineResponse, SearchResponse, SearchResult, chunk_number

_SHOWN = 3
_EXCERPT = 160


@dataclass(frozen=True, slots=True)
class Judged:
    """How good one answer is, and what came instead of what was wanted."""

    values: dict[str, float]
    right: bool
    found: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


class Judge(ABC):
    """Asks a library and judges its answer. ``right`` is whether the first result is a right one."""

    top_k = 100
    searches = True

    def ask(self, library: Library, question: Question) -> Any:
        """Return the answer. Only this is timed."""
        return library.search(question.text, top_k=self.top_k)

    @abstractmethod
    def judge(self, question: Question, answer: Any) -> Judged:
        """Compare the answer with what is right."""


class RowJudge(Judge):
    """Retrieval sets: each row is a document, and counts once, at its best chunk."""

    def __init__(self, evalset: EvalSet) -> None:
        self._texts = {row.id: row.title or row.text for row in evalset.rows}

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Compare the ranking of the rows with the grades."""
        ranked = unique(result.source_path for result in answer.results)
        relevant = question.relevant
        return Judged(
            ranking_values(ranked, relevant),
            right=bool(ranked) and ranked[0] in relevant,
            found=excerpts((name, self._texts[name]) for name in ranked),
            wanted=excerpts((name, self._texts[name]) for name in best_first(relevant)),
        )


class ChunkJudge(Judge):
    """Sets with given chunks: a chunk is found when one that reads the same is."""

    def __init__(self, evalset: EvalSet) -> None:
        self._texts = {row.id: row.text.strip() for row in evalset.rows}
        first: dict[str, str] = {}
        for name, text in self._texts.items():
            first.setdefault(text, name)
        # Chunks with the same text stand for one another.
        self._same = {name: first[text] for name, text in self._texts.items()}
        self._places = {
            (document, number): row.id
            for document, rows in chunks_of(evalset).items()
            for number, row in enumerate(rows)
        }

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Compare the texts of the chunks."""
        ranked = [self._same[self._row(result)] for result in answer.results]
        golden = [self._same[name] for name in question.relevant]
        grades: dict[str, float] = {}
        for name, grade in question.relevant.items():
            grades[self._same[name]] = max(grade, grades.get(self._same[name], 0.0))
        values = {f"pass@{k}": pass_at(ranked, golden, k) for k in PASS_AT}
        return Judged(
            values | ranking_values(unique(ranked), grades),
            right=bool(ranked) and ranked[0] in grades,
            found=excerpts((name, self._texts[name]) for name in ranked),
            wanted=excerpts((name, self._texts[name]) for name in best_first(grades)),
        )

    def _row(self, result: SearchResult) -> str:
        number = chunk_number(result.chunk_id)
        assert number is not None
        return self._places[result.source_path, number]


class LookupJudge(Judge):
    """Look-ups of sections and clauses by name: the first result should be the one."""

    top_k = 10

    def __init__(self, evalset: EvalSet) -> None:
        self._is_right = is_clause if evalset.kind == CLAUSES else is_section

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """See at which place the expected one comes."""
        hits = [self._is_right(result, question.expected) for result in answer.results]
        return Judged(
            first_and_rank(hits),
            right=bool(hits) and hits[0],
            found=excerpts((r.section_label or r.heading, r.content) for r in answer.results),
            wanted=excerpts(
                [
                    (
                        question.expected["label"],
                        question.expected.get("heading") or question.expected["contains"],
                    )
                ]
            ),
        )


class DefinitionJudge(Judge):
    """Terms that documents define: each should be found with its own text."""

    searches = False

    def ask(self, library: Library, question: Question) -> DefineResponse:
        """Ask what the term means."""
        return library.define(question.text)

    def judge(self, question: Question, answer: DefineResponse) -> Judged:
        """See whether the expected text is among the definitions."""
        found = [item.definition for item in answer.definitions]
        hits = [is_definition(item, question.text, question.expected["text"]) for item in found]
        return Judged(
            first_and_rank(hits),
            right=bool(hits) and hits[0],
            found=excerpts((item.term, item.definition_text) for item in found),
            wanted=excerpts([(question.text, question.expected["text"])]),
        )


def first_and_rank(hits: Sequence[bool]) -> dict[str, float]:
    """Return the measures of a look-up by name."""
    return {"top1": float(bool(hits) and hits[0]), f"mrr@{MRR_AT}": reciprocal_rank(hits)}


def best_first(grades: dict[str, float]) -> list[str]:
    """Return what is relevant, the highest grades first."""
    return sorted(grades, key=lambda name: -grades[name])


def excerpts(items: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the first few as a name and how the text begins, for people to read."""
    shown = []
    for (name, text), _ in zip(items, range(_SHOWN), strict=False):
        words = " ".join(text[: 4 * _EXCERPT].split())
        shown.append(f"{name}: {words[:_EXCERPT] + '…' if len(words) > _EXCERPT else words}")
    return tuple(shown)
