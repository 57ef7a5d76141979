"""Typed parts: what counts as a filter or an exclusion, what is plain text, and what both do to a search."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.errors import UsageError
from loccit.search.candidates import RankedList
from loccit.search.understand.filters import allowed_documents, compile_filters
from loccit.search.understand.query import understand
from loccit.search.understand.query_syntax import describe_typed, read_typed
from loccit.search.understand.scope import Scope


@pytest.mark.parametrize(
    ("text", "left", "filters"),
    [
        ("breach type:pdf", "breach", {"type": ["pdf"]}),
        ("type:.PDF breach", "breach", {"type": ["pdf"]}),
        ("breach type:pdf,word type:md", "breach", {"type": ["pdf", "docx", "md"]}),
        ('breach title:"annual report"', "breach", {"title": ["annual report"]}),
        ("breach title:„annual report“", "breach", {"title": ["annual report"]}),
        ("breach path:docs/*.md", "breach", {"path": ["docs/*.md"]}),
        ("breach language:de", "breach", {"language": ["de"]}),
        ("breach lang:German", "breach", {"language": ["de"]}),
        ("breach after:2024-05 before:2025", "breach", {"after": ["2024-05"], "before": ["2025"]}),
        ("breach tag:runbook tags:ops", "breach", {"tags": ["runbook", "ops"]}),
        ("breach Author:Nobody, please", "breach please", {"author": ["Nobody"]}),
        (
            "category:legal breach keywords:privacy",
            "breach",
            {"category": ["legal"], "keywords": ["privacy"]},
        ),
    ],
)
def test_a_known_field_is_a_filter(text: str, left: str, filters: dict[str, list[str]]) -> None:
    parts = read_typed(text)
    assert (parts.text, parts.filters) == (left, filters)


@pytest.mark.parametrize(
    "text",
    [
        "see http://example.org/a",
        "file://x and path://x",
        "std::vector",
        "path::Path::new",
        "Note: this",
        "title: how to write one",
        "at 12:30",
        "RFC:1234",
        "PATH:/usr/bin",
        "kubernetes.io/name:x",
        "a/type:pdf",
        "type:ClusterIP",
        "language:python",
        "before:breakfast",
        'title:"" empty',
        "tags:, none",
        '"type:pdf in quotes"',
        "`type:pdf` in code",
        "(type:pdf)",
        "32.706-2",
        "state-of-the-art",
        "git --flag",
        "tar -x file",
        "- bullet",
        "below -5 degrees",
        "pre- and post-war",
        "a–b –c",
        '"leave -draft here"',
        "`tar -xvf` archive",
        'nothing -"" here',
    ],
)
def test_what_is_plain_text_stays_so(text: str) -> None:
    parts = read_typed(text)
    assert parts.text == " ".join(text.split())
    assert not (parts.filters or parts.excluded_filters or parts.excluded_words or parts.excluded_phrases)


@pytest.mark.parametrize(
    ("text", "left", "words", "phrases"),
    [
        ("breach -draft", "breach", ("draft",), ()),
        ("-draft breach -draft -old.", "breach", ("draft", "old"), ()),
        ("Datenschutz -Überblick", "Datenschutz", ("Überblick",), ()),
        ('breach -"first draft" now', "breach now", (), ("first draft",)),
        ("breach -«first draft»", "breach", (), ("first draft",)),
        ("server -kube-apiserver", "server", (), ("kube-apiserver",)),
        ("C++ -std::vector", "C++", (), ("std::vector",)),
        ("service -type:ClusterIP", "service", (), ("type:ClusterIP",)),
    ],
)
def test_a_minus_before_a_word_leaves_it_out(
    text: str, left: str, words: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    parts = read_typed(text)
    assert (parts.text, parts.excluded_words, parts.excluded_phrases) == (left, words, phrases)


def test_a_minus_before_a_filter_turns_it_round() -> None:
    parts = read_typed('breach -type:pdf -title:"annual report" tags:a')
    assert parts.excluded_filters == {"type": ["pdf"], "title": ["annual report"]}
    assert parts.filters == {"tags": ["a"]}


@pytest.mark.parametrize("text", ["type:pdf", "-draft", 'tags:a -"old one" -type:md'])
def test_a_query_without_anything_to_look_for_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="only filters and exclusions") as refused:
        understand(text)
    assert describe_typed(read_typed(text)) in str(refused.value)


def test_a_query_remembers_what_was_typed() -> None:
    query = understand('"best efforts" Section 4 -draft type:pdf')
    assert query.original == '"best efforts" Section 4 -draft type:pdf'
    assert query.text == '"best efforts" Section 4'
    assert (query.phrases, query.rest, query.title_key) == (("best efforts",), "", "best efforts section 4")
    assert [label.section_id for label in query.references] == ["sec_4"]
    assert understand('"best efforts" type:pdf').is_only_phrases


def test_typed_parts_can_be_plain_text() -> None:
    query = understand("type:pdf -draft", typed=False)
    assert query.text == "type:pdf -draft"
    assert not query.filters
    assert not query.excluded_words


_pieces = st.sampled_from(
    [
        "breach",
        "-draft",
        '-"two words"',
        "type:pdf",
        "-tags:a",
        '"kept -here"',
        "`a -b`",
        "--flag",
        "title:x",
        "32.706-2",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_pieces, max_size=8).map(" ".join)))
def test_what_was_taken_out_is_not_taken_out_again(text: str) -> None:
    folded = " ".join(text.split())
    parts = read_typed(folded)
    again = read_typed(parts.text)
    assert again.text == parts.text
    assert not (again.filters or again.excluded_filters or again.excluded_words or again.excluded_phrases)


# -- what they do --------------------------------------------------------------------------------------------


@pytest.fixture
def notes(small: Library, tmp_path: Path) -> Library:
    texts = {
        "plan.md": "---\ntags: [ops]\nauthor: Ada\n---\n# Plan\n\nThe harbour opens at noon.",
        "draft.md": "---\ntags: [draft]\nauthor: Bo\n---\n# Draft\n\nThe harbour opens at dawn.",
        "log.txt": "The harbour was closed because of the opening ceremony.",
    }
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    small.index([tmp_path / "docs"], embed=False)
    return small


@pytest.mark.parametrize(
    ("query", "given", "names"),
    [
        ("harbour type:md", None, {"plan.md", "draft.md"}),
        ("harbour -type:md", None, {"log.txt"}),
        ("harbour -tags:draft,other", None, {"plan.md", "log.txt"}),
        ("harbour author:ada author:bo", None, {"plan.md", "draft.md"}),
        ("harbour type:md -author:ada", None, {"draft.md"}),
        ("harbour type:md", {"author": "Ada"}, {"plan.md"}),
        ("harbour path:nowhere", None, set()),
    ],
)
def test_documents_pass_the_filters_of_caller_and_query(
    notes: Library, query: str, given: dict[str, object] | None, names: set[str]
) -> None:
    index, read = notes._index, understand(query)
    asked = compile_filters([given, read.filters], read.excluded_filters, index.lookup.languages)
    allowed = allowed_documents(index.fields, asked.documents)
    assert allowed is not None
    assert {Path(path).name for path in index.lookup.paths(allowed).values()} == names


def test_without_filters_there_is_nothing_to_pass(notes: Library) -> None:
    read = understand("harbour -draft")
    assert not compile_filters([None, read.filters], read.excluded_filters)


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="not a date"):
        compile_filters([understand("harbour after:2024-13-45").filters])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("harbour -ceremonies", {"log.txt"}),
        ('harbour -"opens at dawn"', {"draft.md"}),
        ('harbour -dawn -"opens at noon"', {"draft.md", "plan.md"}),
        ("harbour -unheard", set()),
        ("harbour", set()),
    ],
)
def test_chunks_that_hold_unwanted_words_are_left_out(notes: Library, query: str, names: set[str]) -> None:
    index, read = notes._index, understand(query)
    scope = Scope(
        None,
        ["en"],
        texts=index.keyword,
        owners=index.lookup.documents_of,
        unwanted=[*read.excluded_words, *read.excluded_phrases],
    )
    every = [row[0] for row in index.database.rows("SELECT id FROM chunks")]
    kept = scope.keep(RankedList.of("keyword", [(chunk, 1.0) for chunk in every])).chunks.tolist()
    assert {
        Path(chunk.source_path).name for chunk in index.lookup.chunks(set(every) - set(kept)).values()
    } == names
    only = index.keyword.holding(["harbour"], ["en"], index.record.document_ids()[:1])
    assert len(only) == 1
