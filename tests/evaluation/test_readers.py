from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.evaluation import sets

from loccit.errors import UsageError
from loccit.evaluation.readers import read_all, read_sets


def test_a_retrieval_set_keeps_grades_and_leaves_out_what_has_no_answer(tmp_path: Path) -> None:
    [found] = read_sets(sets.retrieval_set(tmp_path / "sea"))
    assert (found.name, found.kind, len(found.rows)) == ("sea", "retrieval", 4)
    assert [question.id for question in found.questions] == ["1", "2", "3"]
    assert found.questions[0].relevant == {"tides": 2.0}
    assert found.without_answer == 1


def test_ids_and_columns_may_be_written_as_public_collections_do(tmp_path: Path) -> None:
    sets.write_jsonl(tmp_path / "corpus.jsonl", [{"_id": "d", "title": "T", "text": "words", "metadata": {}}])
    sets.write_jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "words?", "metadata": {}}])
    (tmp_path / "qrels.tsv").write_text("score\tquery-id\tcorpus-id\r\n1\tq\td\r\n")
    [found] = read_sets(tmp_path)
    assert found.questions[0].relevant == {"d": 1.0}


def test_a_chunk_belongs_to_the_document_before_the_last_mark(tmp_path: Path) -> None:
    [found] = read_sets(sets.fixed_set(tmp_path))
    assert found.kind == "fixed chunks"
    assert [row.document for row in found.rows] == ["a", "a", "a", "b_chunk_b", "b_chunk_b"]


def test_a_library_set_names_documents_and_sections(tmp_path: Path) -> None:
    [found] = read_sets(sets.library_set(tmp_path))
    assert found.kind == "library"
    assert found.questions[0].relevant == {"sub/diary.md": 1.0}
    assert found.questions[1].relevant == {"act.md#sec_3": 2.0}
    assert [question.group for question in found.questions] == ["plain"] * 3 + ["clause"]
    assert [question.text for question in found.offtopic] == ["price of copper in Peru"]


def test_spans_and_look_ups(tmp_path: Path) -> None:
    [found] = read_sets(sets.span_set(tmp_path / "s"))
    assert (found.kind, found.paths) == ("spans", (tmp_path / "s" / "files",))
    assert found.questions[0].spans[0].file == "files/act.md"
    several = read_sets(sets.lookup_set(tmp_path / "l"))
    assert [one.name for one in several] == ["l/lookups", "l/clauses", "l/definitions"]


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [sets.retrieval_set(tmp_path / above / "same") for above in ("x", "y", "z/y")]
    assert [one.name for one in read_all(folders)] == ["same", "y/same", "same (3)"]


def test_a_limit_takes_questions_from_everywhere(tmp_path: Path) -> None:
    sets.retrieval_set(tmp_path)
    sets.write_jsonl(tmp_path / "queries.jsonl", [{"id": str(n), "text": f"q {n}"} for n in range(10)])
    sets.qrels(tmp_path, *((str(n), "tides", 1) for n in range(10)))
    [found] = read_sets(tmp_path)
    assert [question.id for question in found.limited(5).questions] == ["0", "2", "4", "6", "8"]
    assert found.limited(99) == found.limited(None) == found


def append(name: str, line: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return change


def replace_with(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("make", "change", "says"),
    [
        (sets.retrieval_set, append("corpus.jsonl", "{oops"), r"corpus\.jsonl, line 5: is not JSON"),
        (sets.retrieval_set, append("corpus.jsonl", '["a"]'), r"corpus\.jsonl, line 5: is not a JSON object"),
        (sets.retrieval_set, append("corpus.jsonl", '{"text": "x"}'), r"corpus\.jsonl, line 5: has no 'id'"),
        (sets.retrieval_set, append("corpus.jsonl", '{"id": "y"}'), r"corpus\.jsonl, line 5: has no 'text'"),
        (
            sets.retrieval_set,
            append("corpus.jsonl", '{"id": "y", "text": 1, "title": []}'),
            r"line 5: 'title' is not",
        ),
        (
            sets.retrieval_set,
            append("corpus.jsonl", '{"id": "tides", "text": ""}'),
            r"line 5: the id 'tides' is used twice",
        ),
        (
            sets.retrieval_set,
            append("queries.jsonl", '\n{"id": "9", "text": " "}'),
            r"queries\.jsonl, line 6: 'text' is empty",
        ),
        (
            sets.retrieval_set,
            append("qrels.tsv", "9\ttides\t1"),
            r"qrels\.tsv, line 6: there is no question '9'",
        ),
        (
            sets.retrieval_set,
            append("qrels.tsv", "1\tnone\t1"),
            r"qrels\.tsv, line 6: there is no text 'none'",
        ),
        (sets.retrieval_set, append("qrels.tsv", "1\ttides"), r"qrels\.tsv, line 6: has 2 columns where"),
        (
            sets.retrieval_set,
            append("qrels.tsv", "1\ttides\thigh"),
            r"line 6: the score 'high' is not a number",
        ),
        (
            sets.retrieval_set,
            append("qrels.tsv", "1\ttides\tnan"),
            r"line 6: the score 'nan' is not a number",
        ),
        (
            sets.retrieval_set,
            replace_with("qrels.tsv", "1\ttides\t1\n"),
            r"line 1: .*query-id, corpus-id, score",
        ),
        (sets.retrieval_set, replace_with("qrels.tsv", ""), r"qrels\.tsv is empty"),
        (sets.retrieval_set, replace_with("qrels.tsv", "query-id\tcorpus-id\tscore\n"), "names no answer"),
        (sets.retrieval_set, replace_with("queries.jsonl", "\n"), "contains no questions"),
        (sets.retrieval_set, replace_with("corpus.jsonl", ""), "contains no texts"),
        (sets.retrieval_set, remove("queries.jsonl"), "has corpus.jsonl but no queries.jsonl"),
        (sets.retrieval_set, remove("qrels.tsv"), "has corpus.jsonl but no qrels.tsv"),
        (
            sets.fixed_set,
            append("corpus.jsonl", '{"id": "zz_chunk_0", "text": "t"}'),
            r"line 6: the chunk 'zz_chunk_0'",
        ),
        (
            sets.fixed_set,
            append("documents.jsonl", '{"doc_id": "a", "content": ""}'),
            r"line 3: the document 'a' is",
        ),
        (sets.library_set, append("qrels.tsv", "clause\tnone.md\t1"), r"line 6: there is no file 'none\.md'"),
        (sets.library_set, append("qrels.tsv", "clause\t../qrels.tsv\t1"), r"line 6: there is no file"),
        (sets.library_set, append("qrels.tsv", "clause\tact.md#\t1"), r"line 6: there is no file 'act\.md#'"),
        (
            sets.span_set,
            append("spans.tsv", "1\tfiles/none.md\t0\t1"),
            r"spans\.tsv, line 4: there is no file",
        ),
        (
            sets.span_set,
            append("spans.tsv", "1\tfiles/act.md\t5\t5"),
            r"line 4: the span from 5 to 5 is empty",
        ),
        (
            sets.span_set,
            append("spans.tsv", "1\tfiles/act.md\t-1\t5"),
            r"line 4: the start '-1' is not a character",
        ),
        (sets.span_set, append("spans.tsv", "8\tfiles/act.md\t0\t5"), r"line 4: there is no question '8'"),
        (
            sets.lookup_set,
            append("lookups.jsonl", '{"query": "x", "label": "y"}'),
            r"lookups\.jsonl, line 4: has no 'head",
        ),
        (
            sets.lookup_set,
            append("clauses.jsonl", '{"id": "c", "query": "x", "label": "y", "contains": "z"}'),
            "used twice",
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, make: Callable[[Path], Path], change: Callable[[Path], None], says: str
) -> None:
    folder = make(tmp_path / "set")
    change(folder)
    with pytest.raises(UsageError) as caught:
        read_sets(folder)
    assert re.search(says, str(caught.value)), caught.value
    assert str(folder) in str(caught.value)


def test_bytes_that_are_not_text_are_located(tmp_path: Path) -> None:
    folder = sets.retrieval_set(tmp_path)
    (folder / "queries.jsonl").write_bytes(b'{"id": "1", "text": "a"}\n{"id": "2", "text": "\xff"}\n')
    with pytest.raises(UsageError, match=r"queries\.jsonl, line 2: is not UTF-8"):
        read_sets(folder)


def test_a_folder_without_a_set_says_what_one_looks_like(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"contains no evaluation set.*docs/, queries\.jsonl and qrels\.tsv"):
        read_sets(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        read_sets(tmp_path / "nowhere")
