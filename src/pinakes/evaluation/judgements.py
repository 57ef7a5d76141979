"""Reads questions, texts, and which text answers which question: ``queries.jsonl``, ``corpus.jsonl``, ``qrels.tsv``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pinakes.errors import UsageError
from pinakes.evaluation.datasets import Question, Row, Target
from pinakes.evaluation.files import filled, number_of, read_jsonl, read_tsv, text_of, wrong

QUERIES, QRELS, CORPUS = "queries.jsonl", "qrels.tsv", "corpus.jsonl"


def read_questions(path: Path) -> dict[str, Question]:
    """Return the questions of a file by id, without their answers."""
    found: dict[str, Question] = {}
    for number, row in read_jsonl(path):
        group = text_of(path, number, row, "kind", default="") or text_of(
            path, number, row, "corpus", default=""
        )
        question = Question(filled(path, number, row, "id"), filled(path, number, row, "text"), group)
        if question.id in found:
            raise wrong(path, number, f"the id {question.id!r} is used twice.")
        found[question.id] = question
    if not found:
        raise UsageError(f"{path} holds no questions.")
    return found


def read_judged(folder: Path, known: Callable[[str, int], str]) -> tuple[tuple[Question, ...], int]:
    """Return the questions that have an answer, and how many have none; ``known`` checks what qrels name."""
    questions = read_questions(folder / QUERIES)
    path = folder / QRELS
    targets: dict[str, dict[str, Target]] = {}
    for number, row in read_tsv(path, ("query-id", "corpus-id", "score")):
        if row["query-id"] not in questions:
            raise wrong(path, number, f"there is no question {row['query-id']!r} in {QUERIES}.")
        target = Target(known(row["corpus-id"], number), number_of(path, number, row, "score"), number)
        own = targets.setdefault(row["query-id"], {})
        if target.id not in own or own[target.id].grade < target.grade:
            own[target.id] = target
    judged = [
        replace(question, targets=tuple(targets.get(question.id, {}).values()))
        for question in questions.values()
    ]
    answered = tuple(question for question in judged if question.relevant)
    if not answered:
        raise UsageError(f"{path} names no answer (a score above 0) to any question.")
    return answered, len(judged) - len(answered)


def read_rows(folder: Path) -> list[Row]:
    """Return the texts of a corpus; those that are empty too, since answers may name them."""
    path = folder / CORPUS
    rows: list[Row] = []
    seen: set[str] = set()
    for number, row in read_jsonl(path):
        made = Row(
            filled(path, number, row, "id"),
            text_of(path, number, row, "title", default="").strip(),
            text_of(path, number, row, "text"),
            text_of(path, number, row, "doc_id", default=""),
            number,
        )
        if made.id in seen:
            raise wrong(path, number, f"the id {made.id!r} is used twice.")
        seen.add(made.id)
        rows.append(made)
    if not any(row.text.strip() or row.title for row in rows):
        raise UsageError(f"{path} holds no texts.")
    return rows


def row_checker(folder: Path, rows: Sequence[Row]) -> Callable[[str, int], str]:
    """Return a function that refuses ids that no text has."""
    ids = {row.id for row in rows}

    def known(name: str, line: int) -> str:
        if name not in ids:
            raise wrong(folder / QRELS, line, f"there is no text {name!r} in {CORPUS}.")
        return name

    return known
