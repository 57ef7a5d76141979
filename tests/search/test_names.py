"""Names of code as evidence: how sure an answer is that has the name which was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import ask, write

from loccit import Library
from loccit.grammar.text.code_terms import code_tokens
from loccit.search.retrieve.code import has_names
from loccit.search.select.calibrate import Evidence, probability

DOCUMENTS = {
    "auth.md": (
        "# Access\n\nWhoever signs in is given leave to stay for an hour.\n\n## Fetch\n\n```python\n"
        "def getAuthToken(account):\n    return parse_json_data(account)\n```\n\n## Refresh\n\n"
        "The service renews what has run out.\n"
    ),
    "parts.md": (
        "# Signing\n\n## Steps\n\n```python\nclient = connect(auth)\nrefresh(client)\ntoken = client.read()\n```\n"
    ),
    "boats.md": "# Boats\n\n## Mooring\n\nBoats are moored at the quay.\n\n## Fees\n\nFees are due each month.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("names") / "docs", DOCUMENTS)
    with Library(folder.parent / "index") as library:
        assert not library.index([folder]).failed
        yield library


@pytest.mark.parametrize("query", ["authToken", "auth_token", "`authToken`", "AuthToken", "authToken()"])
def test_a_name_that_is_a_part_of_another_finds_it_surely(library: Library, query: str) -> None:
    response = library.search(query)
    first = response.results[0]
    assert first.heading == "Fetch" and first.exact_match
    assert response.confidence >= 0.6
    assert "Nothing matches well" not in response.note


@pytest.mark.parametrize("query", ["get_auth_token", "parseJsonData"])
def test_a_name_in_another_style_is_that_name(library: Library, query: str) -> None:
    response = library.search(query)
    assert response.results[0].heading == "Fetch"
    assert response.confidence >= 0.6


@pytest.mark.parametrize("query", ["refreshToken", "tokenClient", "authJson"])
def test_words_that_stand_apart_are_not_the_name(library: Library, query: str) -> None:
    response = library.search(query)
    assert not any(result.exact_match for result in response.results)
    assert response.confidence < 0.6


def test_the_very_name_goes_before_longer_ones(small: Library, tmp_path: Path) -> None:
    longer = "# A\n\n```py\ngetAuthToken(1)\ngetAuthToken(2)\ngetAuthToken(3)\n```\n"
    write(tmp_path / "docs", {"a.md": longer, "b.md": "# B\n\n```py\nx = authToken\n```\n"})
    small.index([tmp_path / "docs"], embed=False)
    response = small.search("authToken")
    assert [Path(result.source_path).stem for result in response.results if result.exact_match] == ["b"]
    assert response.results[0].heading == "B"


@pytest.mark.parametrize("query", ["where is getAuthToken called", "what becomes of get_auth_token"])
def test_a_name_in_a_question_makes_surer_of_the_code_that_has_it(library: Library, query: str) -> None:
    with_code, without = ask(library, query), ask(library, query, disabled=("code",))
    assert with_code.results[0].heading == without.results[0].heading == "Fetch"
    assert with_code.explanation and with_code.explanation["evidence"]["code"] > 0.3
    assert without.explanation and without.explanation["evidence"]["code"] == 0.0
    assert with_code.confidence > without.confidence + 0.02
    assert "Nothing matches well" not in with_code.note


def test_a_question_without_names_has_no_code_for_evidence(library: Library) -> None:
    response = ask(library, "when are the fees of a boat due")
    assert response.explanation and response.explanation["evidence"]["code"] == 0.0


shares = st.floats(0, 1)


@given(shares, shares, shares, shares, st.booleans())
def test_more_evidence_never_makes_less_sure(
    meaning: float, words: float, code: float, more: float, agree: bool
) -> None:
    before = probability(Evidence(meaning, words, agree, code))
    assert 0.0 <= before <= 1.0
    assert probability(Evidence(meaning, words, agree, max(code, more))) >= before
    assert probability(Evidence(meaning, max(words, more), agree, code)) >= before
    assert probability(Evidence(max(meaning, more), words, agree, code)) >= before


words_of_names = st.lists(
    st.sampled_from(["get", "auth", "token", "user", "by", "id"]), min_size=1, max_size=5
)


def camel(words: list[str]) -> str:
    return words[0] + "".join(word.title() for word in words[1:])


@given(words_of_names, words_of_names, words_of_names)
def test_a_name_is_in_longer_ones_in_any_style(before: list[str], name: list[str], after: list[str]) -> None:
    wanted = list(code_tokens("_".join(name)))
    assert has_names(f"x = {camel([*before, *name, *after])}(1)", wanted)
    assert has_names(f"x.{'_'.join([*name, *after])}", wanted)
    assert has_names(f"({camel(name)})", wanted)
    if len(name) > 1:
        assert not has_names(" ".join(name), wanted), "words by themselves are no name"
