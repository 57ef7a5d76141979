"""Judges of sets whose answers are places in files: spans of characters, documents and sections."""

from __future__ import annotations

import os
from pathlib import Path

from pinakes.evaluation.datasets import EvalSet, Question
from pinakes.evaluation.files import wrong
from pinakes.evaluation.judge import Judge, Judged, best_first, excerpts
from pinakes.evaluation.metrics import ranking_values, unique
from pinakes.evaluation.places import Places
from pinakes.evaluation.spans import SPANS_AT, Span, coverage
from pinakes.model import SearchResponse, SearchResult


class SpanJudge(Judge):
    """Span sets: the characters that came back against those that were wanted."""

    top_k = max(SPANS_AT)

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

    A document or section counts once, at its best result. A result answers with a section when it lies in it or
    below it, or holds it.
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
                        f"{name} has no section {section!r}. `pinakes outline {name} --json` lists its ids.",
                    )
                self._sections[target.id] = (path, place)

    def _is_file(self, name: str) -> bool:
        return (self._root / name).is_file()

    def judge(self, question: Question, answer: SearchResponse) -> Judged:
        """Compare the ranking of documents, or of sections where some are wanted."""
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
