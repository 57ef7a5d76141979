"""Judges: each kind of set has one, which asks a question and rates the answer."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loccit.evaluation.build import chunks_of
from loccit.evaluation.datasets import (
    ANSWERS,
    CLAUSES,
    DEFINITIONS,
    FIXED,
    LIBRARY,
    RETRIEVAL,
    SPANS,
    EvalSet,
    Question,
)
from loccit.evaluation.files import wrong
from loccit.evaluation.metrics import (
    MRR_AT,
    PASS_AT,
    SPANS_AT,
    Span,
    coverage,
    pass_at,
    ranking_values,
    reciprocal_rank,
    unique,
)
from loccit.evaluation.places import Places
from loccit.grammar.text.keys import title_key
from loccit.library import Library
from loccit.model import (
    DefineResponse,
    Definition,
    QuotesReport,
    SearchResponse,
    SearchResult,
    chunk_number,
)
from loccit.model.quotes import ABSENT, ALTERED, EXACT

_SHOWN = 3
_EXCERPT = 160
_MARKER = re.compile(r"^\W*\w{1,4}[.)]\s*")
_MEANS = re.compile(r"[’\"”][^’‘\"“”;]{0,30} means")


@dataclass(frozen=True, slots=True)
class Judged:
    """How good one answer is, and what was returned instead of what was expected."""

    values: dict[str, float]
    right: bool
    found: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


class Judge(ABC):
    """Asks a library and rates its answer. ``right`` is whether the first result is right."""

    top_k = 100
    searches = True
    way = ""
    """What is measured, if it is not a search."""

    def ask(self, library: Library, question: Question) -> Any:
        """Return the answer. Only this is timed."""
        return library.search(question.text, top_k=self.top_k)

    @abstractmethod
    def judge(self, question: Question, answer: Any) -> Judged:
        """Compare the answer with the expected one."""


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
    """Sets with given chunks: a chunk counts as found if one with the same text is."""

    def __init__(self, evalset: EvalSet) -> None:
        self._texts = {row.id: row.text.strip() for row in evalset.rows}
        first: dict[str, str] = {}
        for name, text in self._texts.items():
            first.setdefault(text, name)
        # Chunks with the same text are equivalent.
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
    """Lookups of sections and clauses by name: the first result should be the one."""

    top_k = 10

    def __init__(self, evalset: EvalSet) -> None:
        self._is_right = is_clause if evalset.kind == CLAUSES else is_section

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Determine the rank of the expected one."""
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
    """Defined terms: each should be found with its own text."""

    searches = False
    way = "define"

    def ask(self, library: Library, question: Question) -> DefineResponse:
        """Ask for the definition of the term."""
        return library.define(question.text)

    def judge(self, question: Question, answer: DefineResponse) -> Judged:
        """Check whether the expected text is among the definitions."""
        found = [item.definition for item in answer.definitions]
        hits = [is_definition(item, question.text, question.expected["text"]) for item in found]
        return Judged(
            first_and_rank(hits),
            right=bool(hits) and hits[0],
            found=excerpts((item.term, item.definition_text) for item in found),
            wanted=excerpts([(question.text, question.expected["text"])]),
        )


class AnswerJudge(Judge):
    """Given answers: what they quote should be in the documents, word for word."""

    searches = False
    way = "verify"

    def ask(self, library: Library, question: Question) -> QuotesReport:
        """Check the quotations of the answer."""
        return library.verify_quotes(question.expected["answer"])

    def judge(self, question: Question, answer: QuotesReport) -> Judged:
        """Return the shares of exact, altered and absent quotations; all 0 for an answer without quotations."""
        total = len(answer.checks)
        shares = {f"quotes_{kind}": answer.count(kind) / max(1, total) for kind in (EXACT, ALTERED, ABSENT)}
        return Judged(
            {**shares, "quoting": float(total > 0)},
            right=answer.ok,
            found=excerpts(
                (check.status, check.quotation) for check in answer.checks if check.status != EXACT
            ),
            wanted=excerpts(
                (place.location, place.text)
                for check in answer.checks
                if check.status == ALTERED
                for place in check.places
            ),
        )


def judge_for(evalset: EvalSet, places: Places) -> Judge:
    """Return the judge for a set."""
    if evalset.kind == RETRIEVAL:
        return RowJudge(evalset)
    if evalset.kind == FIXED:
        return ChunkJudge(evalset)
    if evalset.kind == SPANS:
        return SpanJudge(evalset, places)
    if evalset.kind == LIBRARY:
        return PlaceJudge(evalset, places)
    if evalset.kind == ANSWERS:
        return AnswerJudge()
    return DefinitionJudge() if evalset.kind == DEFINITIONS else LookupJudge(evalset)


def first_and_rank(hits: Sequence[bool]) -> dict[str, float]:
    """Return the metrics of a lookup by name."""
    return {"top1": float(bool(hits) and hits[0]), f"mrr@{MRR_AT}": reciprocal_rank(hits)}


def best_first(grades: dict[str, float]) -> list[str]:
    """Return the relevant targets, highest grades first."""
    return sorted(grades, key=lambda name: -grades[name])


def excerpts(items: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the first few with a name and the beginning of the text, for people to read."""
    shown = []
    for (name, text), _ in zip(items, range(_SHOWN), strict=False):
        words = " ".join(text[: 4 * _EXCERPT].split())
        shown.append(f"{name}: {words[:_EXCERPT] + '…' if len(words) > _EXCERPT else words}")
    return tuple(shown)


class SpanJudge(Judge):
    """Span sets: the characters returned against those expected."""

    top_k: int = max(SPANS_AT)

    def __init__(self, evalset: EvalSet, places: Places) -> None:
        self._places = places
        self._paths = {}
        for question in evalset.questions:
            for gold in question.spans:
                path = os.path.abspath(evalset.folder / gold.file)
                self._paths[gold.file] = path
                if path in places and gold.end > len(places.text(path)):
                    raise wrong(
                        evalset.folder / "spans.tsv",
                        gold.line,
                        f"the span ends at {gold.end:,}, but the text of {gold.file} has "
                        f"{len(places.text(path)):,} characters.",
                    )

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Measure recall, precision and overlap of the first results together."""
        golden: dict[str, list[Span]] = {}
        for gold in question.spans:
            golden.setdefault(self._paths[gold.file], []).append((gold.start, gold.end))
        values: dict[str, float] = {}
        returned: dict[str, list[Span]] = {}
        right = False
        spans = [(result.source_path, self._places.of_result(result)) for result in answer.results]
        for count in range(1, self.top_k + 1):
            if count <= len(spans):
                returned.setdefault(spans[count - 1][0], []).append(spans[count - 1][1])
            if count in SPANS_AT:
                recall, precision, iou = coverage(returned, golden)
                values |= {
                    f"span_recall@{count}": recall,
                    f"span_precision@{count}": precision,
                    f"span_iou@{count}": iou,
                }
            if count == 1:
                right = coverage(returned, golden)[0] > 0
        wanted = [
            (f"{gold.file} {gold.start}–{gold.end}", self._text(gold.file)[gold.start : gold.end])
            for gold in question.spans
        ]
        return Judged(values, right, _found(answer), excerpts(wanted))

    def _text(self, file: str) -> str:
        path = self._paths[file]
        return self._places.text(path) if path in self._places else ""


class PlaceJudge(Judge):
    """Library sets: answers are documents, or sections of them.

    A document or section counts once, at its best result. A result answers with a section if it is in or below it, or
    contains it.
    """

    def __init__(self, evalset: EvalSet, places: Places) -> None:
        self._places = places
        self._root = Path(os.path.abspath(evalset.paths[0]))
        self._sections: dict[str, tuple[str, Span]] = {}
        for question in evalset.questions:
            for target in question.targets:
                if self._is_file(target.id):
                    continue
                name, _, section = target.id.rpartition("#")
                path = str(self._root / name)
                place = places.place(path, section) if path in places else (0, 0)
                if place is None:
                    raise wrong(
                        evalset.folder / "qrels.tsv",
                        target.line,
                        f"{name} has no section {section!r}. `loccit outline {name} --json` lists its ids.",
                    )
                self._sections[target.id] = (path, place)

    def _is_file(self, name: str) -> bool:
        return (self._root / name).is_file()

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Compare the ranking of documents, or of sections if some are expected."""
        relevant = question.relevant
        by_section = any(name in self._sections for name in relevant)
        names: list[str] = []
        right = False
        for position, result in enumerate(answer.results):
            path = self._relative(result)
            hits = [path] if path in relevant else []
            hits += [name for name in relevant if name in self._sections and self._holds(result, name)]
            right = right or (position == 0 and bool(hits))
            names += hits or [f"{path}#{result.section_id}" if by_section else path]
        ranked = unique(names)
        return Judged(
            ranking_values(ranked, relevant),
            right,
            _found(answer),
            tuple(best_first(relevant)[:3]),
        )

    def _relative(self, result: SearchResult) -> str:
        return result.source_path.removeprefix(str(self._root)).lstrip("/\\").replace("\\", "/")

    def _holds(self, result: SearchResult, target: str) -> bool:
        path, (start, end) = self._sections[target]
        if result.source_path != path:
            return False
        low, high = self._places.of_result(result)
        return low < end and start < high


def _found(answer: SearchResponse) -> tuple[str, ...]:
    return excerpts((result.location, result.content) for result in answer.results)


def is_section(result: SearchResult, expected: Mapping[str, str]) -> bool:
    """Whether a result is in the expected section, by heading or label."""
    return title_key(result.heading) == title_key(expected["heading"]) or (
        title_key(result.section_label) == title_key(expected["label"])
    )


def is_clause(result: SearchResult, expected: Mapping[str, str]) -> bool:
    """Whether a result is the expected clause and, after its marker, begins with the expected words."""
    return result.section_label == expected["label"] and (
        _MARKER.sub("", result.content).startswith(expected["contains"])
    )


def is_definition(definition: Definition, term: str, text: str) -> bool:
    """Whether a definition is that of the term, begins as it should, and does not run into the next one."""
    return (
        definition.term == term
        and definition.definition_text.startswith(text)
        and len(_MEANS.findall(definition.definition_text)) <= 1
    )
