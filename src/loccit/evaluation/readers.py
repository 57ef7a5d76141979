"""Reads evaluation sets from folders.

The kind of set is determined by the folder's files; docs/evaluation.md shows each kind. A folder may contain several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loccit.errors import UsageError
from loccit.evaluation.datasets import (
    ANSWERS,
    CLAUSES,
    DEFINITIONS,
    FIXED,
    LIBRARY,
    LOOKUPS,
    RETRIEVAL,
    SPANS,
    EvalSet,
    GoldSpan,
    Question,
    Row,
    SourceText,
    Target,
)
from loccit.evaluation.files import filled, number_of, offset_of, read_jsonl, read_tsv, text_of, wrong

_DOCUMENTS, _SPANS, _FOLDER = "documents.jsonl", "spans.tsv", "docs"
_OFFTOPIC = "offtopic.jsonl"
_CHUNK = "_chunk_"
_FORMS = (
    "An evaluation set is a folder with docs/, queries.jsonl and qrels.tsv, or corpus.jsonl, queries.jsonl and "
    "qrels.tsv, or queries.jsonl and spans.tsv, or docs/ and lookups.jsonl or answers.jsonl. See docs/evaluation.md."
)
QUERIES, QRELS, CORPUS = "queries.jsonl", "qrels.tsv", "corpus.jsonl"


def read_sets(folder: Path) -> list[EvalSet]:
    """Read all sets in a folder; it is an error if there are none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. {_FORMS}")

    def has(name: str) -> bool:
        return (folder / name).exists()

    found: list[EvalSet] = []
    if has(CORPUS):
        _require(folder, CORPUS, (QUERIES, QRELS))
        found.append(_read_fixed(folder) if has(_DOCUMENTS) else _read_retrieval(folder))
    elif has(QRELS):
        _require(folder, QRELS, (QUERIES, _FOLDER))
        found.append(_read_library(folder))
    if has(_SPANS):
        _require(folder, _SPANS, (QUERIES,))
        found.append(_read_spans(folder))
    if found and has(_OFFTOPIC):
        offtopic = tuple(read_questions(folder / _OFFTOPIC).values())
        found = [replace(one, offtopic=offtopic) for one in found]
    for kind, read in _LOOKUP_READERS.items():
        if has(f"{kind}.jsonl"):
            _require(folder, f"{kind}.jsonl", (_FOLDER,))
            found.append(_read_lookups(folder, kind, read))
    if not found:
        raise UsageError(f"{folder} contains no evaluation set. {_FORMS}")
    return found


def read_all(folders: Iterable[Path]) -> list[EvalSet]:
    """Read the sets of several folders; sets with the same name are distinguished by the parent folder."""
    sets: list[EvalSet] = []
    for folder in folders:
        for made in read_sets(folder):
            taken = {other.name for other in sets}
            name, number = made.name, 1
            while name in taken:
                number += 1
                parent = made.folder.absolute().parent.name
                name = f"{parent}/{made.name}" if number == 2 else f"{made.name} ({number})"
            sets.append(replace(made, name=name))
    return sets


def _require(folder: Path, because: str, names: Sequence[str]) -> None:
    for name in names:
        if not (folder / name).exists():
            raise UsageError(f"{folder} has {because} but no {name}. {_FORMS}")


def _name(folder: Path) -> str:
    return folder.absolute().name or str(folder)


def _read_retrieval(folder: Path) -> EvalSet:
    rows = read_rows(folder)
    questions, unanswered = read_judged(folder, row_checker(folder, rows))
    return EvalSet(_name(folder), RETRIEVAL, folder, questions, rows=tuple(rows), without_answer=unanswered)


def _read_fixed(folder: Path) -> EvalSet:
    path = folder / _DOCUMENTS
    sources: dict[str, SourceText] = {}
    for number, data in read_jsonl(path):
        source = SourceText(
            filled(path, number, data, "doc_id"),
            text_of(path, number, data, "title", default="").strip(),
            text_of(path, number, data, "content"),
        )
        if source.id in sources:
            raise wrong(path, number, f"the document {source.id!r} is there twice.")
        sources[source.id] = source
    rows = []
    for row in read_rows(folder):
        document = row.id.rpartition(_CHUNK)[0] or row.document
        if document not in sources:
            raise wrong(
                folder / CORPUS,
                row.line,
                f"the chunk {row.id!r} belongs to no document of {_DOCUMENTS}; a chunk's id is the document's, "
                f"then {_CHUNK} and a number.",
            )
        rows.append(replace(row, document=document))
    questions, unanswered = read_judged(folder, row_checker(folder, rows))
    return EvalSet(
        _name(folder),
        FIXED,
        folder,
        questions,
        rows=tuple(rows),
        sources=tuple(sources.values()),
        without_answer=unanswered,
    )


def _read_library(folder: Path) -> EvalSet:
    docs = folder / _FOLDER

    def known(name: str, line: int) -> str:
        if _inside(docs, name):
            return Path(name).as_posix()
        path, mark, section = name.rpartition("#")
        if not mark or not section or not _inside(docs, path):
            raise wrong(
                folder / QRELS,
                line,
                f"there is no file {name!r} in {docs}. Write the path below docs/, or path#section_id.",
            )
        return f"{Path(path).as_posix()}#{section}"

    questions, unanswered = read_judged(folder, known)
    return EvalSet(_name(folder), LIBRARY, folder, questions, paths=(docs,), without_answer=unanswered)


def _inside(folder: Path, name: str) -> bool:
    """Whether a relative path names a file below a folder."""
    return bool(name) and ".." not in Path(name).parts and (folder / name).is_file()


# -- spans -----------------------------------------------------------------------------------------------------


def _read_spans(folder: Path) -> EvalSet:
    questions = read_questions(folder / QUERIES)
    path = folder / _SPANS
    spans: dict[str, list[GoldSpan]] = {}
    for number, row in read_tsv(path, ("query-id", "file", "start", "end")):
        if row["query-id"] not in questions:
            raise wrong(path, number, f"there is no question {row['query-id']!r} in {QUERIES}.")
        if not _inside(folder, row["file"]):
            raise wrong(path, number, f"there is no file {row['file']!r} in {folder}.")
        start, end = offset_of(path, number, row, "start"), offset_of(path, number, row, "end")
        if start >= end:
            raise wrong(path, number, f"the span from {start} to {end} is empty.")
        gold = GoldSpan(Path(row["file"]).as_posix(), start, end, number)
        spans.setdefault(row["query-id"], []).append(gold)
    answered = tuple(
        replace(question, spans=tuple(spans[question.id]))
        for question in questions.values()
        if question.id in spans
    )
    if not answered:
        raise UsageError(f"{path} names no answer to any question.")
    # The folders with the files are the library, including whatever else is there.
    first = {Path(span.file).parts[0] for own in spans.values() for span in own}
    paths = tuple(folder / name for name in sorted(first))
    return EvalSet(
        _name(folder),
        SPANS,
        folder,
        answered,
        paths=paths,
        without_answer=len(questions) - len(answered),
    )


# -- look-ups --------------------------------------------------------------------------------------------------


def _lookup(path: Path, number: int, row: dict[str, Any]) -> Question:
    return _expecting(path, number, row, "query", ("label", "heading"))


def _clause(path: Path, number: int, row: dict[str, Any]) -> Question:
    return _expecting(path, number, row, "query", ("label", "contains"))


def _definition(path: Path, number: int, row: dict[str, Any]) -> Question:
    return _expecting(path, number, row, "term", ("text",))


def _given_answer(path: Path, number: int, row: dict[str, Any]) -> Question:
    return _expecting(path, number, row, "question", ("answer",))


def _expecting(path: Path, number: int, row: dict[str, Any], asked: str, names: tuple[str, ...]) -> Question:
    text = filled(path, number, row, asked)
    return Question(
        id=text_of(path, number, row, "id", default=text),
        text=text,
        group=text_of(path, number, row, "kind", default=""),
        expected={name: filled(path, number, row, name) for name in names},
    )


_LOOKUP_READERS: dict[str, Callable[[Path, int, dict[str, Any]], Question]] = {
    LOOKUPS: _lookup,
    CLAUSES: _clause,
    DEFINITIONS: _definition,
    ANSWERS: _given_answer,
}


def _read_lookups(folder: Path, kind: str, read: Callable[[Path, int, dict[str, Any]], Question]) -> EvalSet:
    path = folder / f"{kind}.jsonl"
    questions: dict[str, Question] = {}
    for number, row in read_jsonl(path):
        question = read(path, number, row)
        if question.id in questions:
            raise wrong(path, number, f"the id {question.id!r} is used twice.")
        questions[question.id] = question
    if not questions:
        raise UsageError(f"{path} contains no questions.")
    return EvalSet(
        f"{_name(folder)}/{kind}", kind, folder, tuple(questions.values()), paths=(folder / _FOLDER,)
    )


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
        raise UsageError(f"{path} contains no questions.")
    return found


def read_judged(folder: Path, known: Callable[[str, int], str]) -> tuple[tuple[Question, ...], int]:
    """Return the questions with an answer, and the number without; ``known`` checks what qrels name."""
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
    """Return the texts of a corpus, including empty ones, since answers may name them."""
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
        raise UsageError(f"{path} contains no texts.")
    return rows


def row_checker(folder: Path, rows: Sequence[Row]) -> Callable[[str, int], str]:
    """Return a function that refuses unknown ids."""
    ids = {row.id for row in rows}

    def known(name: str, line: int) -> str:
        if name not in ids:
            raise wrong(folder / QRELS, line, f"there is no text {name!r} in {CORPUS}.")
        return name

    return known
