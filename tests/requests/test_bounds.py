"""What a question may hold: the bounds that every interface shares, and what would take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loccit import Library
from loccit.answers.verbatim import patterns
from loccit.config.bounds import (
    LONGEST_PATTERN,
    LONGEST_TERM,
    LONGEST_TEXT,
    MOST_FILTERS,
    MOST_QUOTATIONS,
    MOST_VALUES,
)
from loccit.errors import LoccitError, NotFoundError, UsageError
from loccit.grammar.text.code_terms import query_code

ASKED: dict[str, Callable[[Library, Any], object]] = {
    "query": lambda library, text: library.search(text),
    "document": lambda library, text: library.search("vessel", document=text),
    "references": lambda library, text: library.sections(text),
    "reference": lambda library, text: library.references([text]),
    "term": lambda library, text: library.define(text),
    "pattern": lambda library, text: library.find_all(text),
    "cursor": lambda library, text: library.find_all("vessel", cursor=text),
    "quotations": lambda library, text: library.verify_quotes([text]),
    "old": lambda library, text: library.compare(text, "act.md"),
    "bearer": lambda library, text: library.obligations(bearer=text),
    "unit": lambda library, text: library.obligations(unit=text),
    "prefix": lambda library, text: library.suggest(text),
    "path": lambda library, text: library.reader(text),
    "lines": lambda library, text: library.section("Section 1", lines=text),
    "filters: tags": lambda library, text: library.documents({"tags": ["a", text]}),
    "each name in filters": lambda library, text: library.documents({text: "a"}),
    "filters": lambda library, text: library.scoped({"title": text}),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    ("text", "fault"), [("a\0b", "NUL"), ("a\ud800b", "surrogate"), ("\udcff.md", "surrogate")]
)
def test_characters_that_no_document_has(library: Library, name: str, text: str, fault: str) -> None:
    with pytest.raises(UsageError, match=f"{name}.* must not contain .*{fault}"):
        ASKED[name](library, text)


@pytest.mark.parametrize("name", ASKED)
def test_a_text_that_is_too_long(library: Library, name: str) -> None:
    most = {"pattern": LONGEST_PATTERN, "quotations": 5000, "term": LONGEST_TERM}.get(name, LONGEST_TEXT)
    with pytest.raises(UsageError, match=f"at most {most:,} "):
        ASKED[name](library, "a" * (most + 1))
    try:
        ASKED[name](library, "a" * most)
    except LoccitError as error:
        assert f"at most {most:,} " not in str(error)


def test_very_many_filters_values_and_quotations(library: Library) -> None:
    with pytest.raises(UsageError, match=f"filters must have at most {MOST_FILTERS} names, not 51"):
        library.search("vessel", filters={f"name{number}": "x" for number in range(51)})
    values = list(map(str, range(MOST_VALUES + 1)))
    for name in ("tags", "type", "language", "anything"):
        with pytest.raises(UsageError, match=f"at most {MOST_VALUES:,} values in all, not 10,001"):
            library.documents({name: values})
    with pytest.raises(UsageError, match=f"at most {MOST_VALUES:,} values in all"):
        library.documents({"tags": values[:6000], "keywords": values[:6000]})
    for number in (0, MOST_QUOTATIONS + 1):
        with pytest.raises(UsageError, match=f"1 to {MOST_QUOTATIONS:,} quotations"):
            library.verify_quotes(["the vessel lies"] * number)


# -- what takes time with the square of its length, or worse ---------------------------------------------------


@pytest.mark.parametrize(
    "word", ["x" * 10_000, "第" * 10_000, "aB" * 5000, "a_" * 5000, "a1" * 5000, "A" * 200]
)
def test_an_endless_word_is_no_identifier(library: Library, word: str) -> None:
    assert query_code(word).names == ()
    assert query_code(f"{word} getUser()").names
    assert library.search(word).mode == "hybrid"


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"[\d\D]{1000}", "(a|b){1000}", ".{1000}.{1000}", "(?s).{1000}", "(.{1,100}){10}", "." * 1000),
        *(
            r"\w{501}",
            "(?:[a-z]|[^a-z]){400}",
            "(?s)(a|b).{0,900}q",
            "((x.){30}){20}",
            r"\d{501,}",
        ),
    ],
)
def test_an_expression_that_repeats_too_much_is_refused(library: Library, pattern: str) -> None:
    with pytest.raises(UsageError, match=r"pattern repeats too much: .* at most 500 are allowed"):
        library.find_all(pattern, kind="regex")


@pytest.mark.parametrize(
    "pattern",
    [r"vessel.{0,200}tide", r"(\w+\s+){1,100}anchor", r"[a-z]{2,20}", "vessel " * 90, r"\Q{1000}\E|tide"],
)
def test_an_expression_may_repeat_as_people_do(library: Library, pattern: str) -> None:
    assert library.find_all(pattern, kind="regex").complete


def test_an_expression_of_groups_in_groups(library: Library) -> None:
    assert library.find_all("(" * 400 + "vessel" + ")" * 400, kind="regex").total


def test_counting_that_takes_too_long_says_that_there_may_be_more(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = library.find_all("v.ss.l.", kind="regex")
    monkeypatch.setattr(patterns, "_SECONDS", 0.0)
    found = library.find_all("v.ss.l.", kind="regex")
    assert found.total < whole.total and not found.complete and not found.cursor
    assert "There may be more" in found.note


@pytest.mark.parametrize("text", ["next section after " * 500 + "Section 1", "parent of " * 900 + "1"])
def test_steps_upon_steps_are_refused(library: Library, text: str) -> None:
    for ask in (library.sections, library.references):
        with pytest.raises(UsageError, match="At most 3 steps can be taken at once"):
            ask(text)


def test_spaces_in_a_reference_do_not_count(library: Library) -> None:
    assert library.section("Section" + " " * 9000 + "1").section_label == "Section 1"
    with pytest.raises(NotFoundError, match="'a b'"):
        library.section("a" + " " * 9000 + "b")
