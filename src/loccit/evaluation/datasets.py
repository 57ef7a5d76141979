"""Evaluation sets: documents, questions and their right answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

RETRIEVAL, FIXED, SPANS, LIBRARY = "retrieval", "fixed chunks", "spans", "library"
LOOKUPS, CLAUSES, DEFINITIONS, ANSWERS = "lookups", "clauses", "definitions", "answers"


@dataclass(frozen=True, slots=True)
class Row:
    """One text of a retrieval set, or one given chunk of a document."""

    id: str
    title: str
    text: str
    document: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class SourceText:
    """A whole document whose chunks are the rows."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Target:
    """Something that answers a question, its grade, and the line of the file that states it."""

    id: str
    grade: float
    line: int


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters of a file that answer a question."""

    file: str
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its right answers. ``group`` is the kind of question, if a set has several."""

    id: str
    text: str
    group: str = ""
    targets: tuple[Target, ...] = ()
    spans: tuple[GoldSpan, ...] = ()
    expected: dict[str, str] = field(default_factory=dict)

    @property
    def relevant(self) -> dict[str, float]:
        """What answers the question, with grades; those of 0 and below do not."""
        return {target.id: target.grade for target in self.targets if target.grade > 0}


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Documents with questions. Documents are ``rows`` (and ``sources``), or the files below ``paths``.

    ``offtopic`` are questions that nothing in the documents answers: the search should have a low confidence for them.
    """

    name: str
    kind: str
    folder: Path
    questions: tuple[Question, ...]
    rows: tuple[Row, ...] = ()
    sources: tuple[SourceText, ...] = ()
    paths: tuple[Path, ...] = ()
    without_answer: int = 0
    offtopic: tuple[Question, ...] = ()

    def limited(self, count: int | None) -> EvalSet:
        """Return the set with at most ``count`` of its questions, spread evenly over all of them."""
        if count is None:
            return self
        return replace(self, questions=_spread(self.questions, count), offtopic=_spread(self.offtopic, count))


def _spread(questions: tuple[Question, ...], count: int) -> tuple[Question, ...]:
    if count >= len(questions):
        return questions
    return tuple(questions[int(number * len(questions) / count)] for number in range(count))
