"""What the legs are asked, and what they may not bring: exclusions, filters, slips, code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.search.asking import ask, files, ids, write

from loccit import Library
from loccit.config import SearchSettings
from loccit.errors import UsageError
from loccit.search.candidates import RankedList, Scores
from loccit.search.engine import SearchEngine
from loccit.search.rank import ranker
from loccit.search.rank.signal import Asked, Ranked, Signal
from loccit.search.retrieve import legs
from loccit.search.retrieve.leg import Leg, Retrieved

FILES = {
    "plan.md": (
        "---\ntags: [ops]\nauthor: Ada\n---\n# Harbour plan\n\nThe harbour opens at noon.\n\n"
        "## Gates\n\nThe gates of the harbour are painted, see [the draft](draft.md).\n\n"
        "## Old drafts\n\nA draft of the harbour plan is kept for a year.\n"
    ),
    "draft.md": "---\ntags: [draft]\nauthor: Bo\n---\n# Notes\n\nThe harbour opens at dawn in this draft.\n",
    "log.txt": "The harbour was closed during the ceremony, and nobody was authorised to enter.\n",
    "tokens.md": (
        "---\ntags: [code]\n---\n# Sessions\n\n## Fetch\n\n```python\ndef getAuthToken(user):\n"
        "    return store.read(user)\n```\n\n## Renewal\n\nA session of the harbour office is renewed every hour.\n"
    ),
}
MODES = ("hybrid", "semantic", "keyword", "exact")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("retrieve"), FILES)
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


def found(library: Library, query: str, **options: Any) -> set[str]:
    return set(files(library.search(query, top_k=50, **options)))


def leg(library: Library, query: str, name: str, **settings: Any) -> int | None:
    """How much a leg found, None where it was not asked."""
    explanation = ask(library, query, **settings).explanation
    assert explanation
    return next((int(leg["found"]) for leg in explanation["legs"] if leg["name"] == name), None)


# -- what is left out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query", ["harbour -draft", "harbour opens -drafts", '"harbour" -draft', "harbour plan -draft"]
)
def test_excluded_words_never_appear(library: Library, mode: str, query: str) -> None:
    response = library.search(query, mode=mode, top_k=50)
    assert all(
        "draft" not in result.content.lower().replace("draft.md", "") for result in response.results
    ), ids(response)
    if mode != "exact":
        assert response.results, "something else is left"


def test_an_excluded_word_is_excluded_where_only_a_link_leads_to_it(library: Library) -> None:
    assert "draft" in files(ask(library, "painted gates", graph_weight=1.0))
    response = ask(library, "painted gates -dawn", graph_weight=1.0, top_k=50)
    assert "draft" not in files(response)


def test_an_excluded_phrase_is_excluded_as_it_is_written(library: Library) -> None:
    assert "draft" not in found(library, 'harbour -"opens at dawn"')
    assert "plan" in found(library, 'harbour -"opens at dawn"')
    assert "draft" in found(library, 'harbour -"dawn at opens"')


def test_an_excluded_word_is_excluded_from_what_the_query_names(library: Library) -> None:
    assert files(library.search("Old drafts"))[0] == "plan"
    assert "A draft of" not in "".join(r.content for r in library.search("Old drafts -year").results)


def test_excluded_words_do_not_come_back_with_a_parent(library: Library) -> None:
    response = ask(library, "painted gates -year", parent_retrieval_enabled=True)
    assert response.results
    assert all("kept for a year" not in result.content for result in response.results)


def test_a_query_that_only_leaves_out_is_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="add at least one word"):
        library.search("-draft")


# -- where to look -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize(
    ("query", "given", "expected"),
    [
        ("harbour type:md", None, {"plan", "draft", "tokens"}),
        ("harbour type:md", {"author": "Ada"}, {"plan"}),
        ("harbour author:Bo", {"tags": "draft"}, {"draft"}),
        ("harbour author:Bo", {"author": "Ada"}, set()),
        ("harbour -tags:draft", {"type": "md"}, {"plan", "tokens"}),
        ("harbour tags:ops,draft", {"path": "draft.md"}, {"draft"}),
    ],
)
def test_typed_filters_and_given_ones_must_both_hold(
    library: Library, query: str, given: dict[str, object] | None, expected: set[str], mode: str
) -> None:
    assert found(library, query, filters=given, mode=mode) == expected


def test_filters_that_leave_nothing_say_so(library: Library) -> None:
    response = library.search("harbour author:Bo", filters={"author": "Ada"})
    assert not response.results and response.confidence == 0
    assert "filters" in response.note


def test_the_graph_stays_within_the_filters(library: Library) -> None:
    response = ask(library, "painted gates author:Ada", graph_weight=1.0, top_k=50)
    assert set(files(response)) == {"plan"}


def test_what_was_typed_is_explained(library: Library) -> None:
    response = library.search('harbour -draft -"at dawn" type:md', explain=True)
    assert response.query == 'harbour -draft -"at dawn" type:md'
    assert response.explanation
    assert response.explanation["searched_for"] == "harbour"
    assert response.explanation["filters"] == {"type": ["md"]}
    assert response.explanation["excluded"] == ["draft", "at dawn"]


# -- slips ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_slips_are_mended_and_said(library: Library, mode: str) -> None:
    response = ask(library, "harbuor ceremny", search_mode=mode)
    assert ids(response) == ids(ask(library, "harbour ceremony", search_mode=mode)), "as if it were right"
    assert "Also searched for “harbour” and “ceremony” (nothing has “harbuor” or “ceremny”)." in response.note
    assert response.explanation
    assert response.explanation["corrections"] == {"harbuor": "harbour", "ceremny": "ceremony"}
    assert response.query == "harbuor ceremny"


def test_spelling_can_be_switched_off(library: Library) -> None:
    response = ask(library, "harbuor ceremny", search_mode="keyword", disabled=("spelling",))
    assert not response.results
    assert "Also searched" not in response.note


@pytest.mark.parametrize(
    "query", ["harbour ceremony", '"harbuor ceremny"', "`harbuor`", "HARBUOR", "Xu ceremony"]
)
def test_what_is_right_or_literal_is_not_mended(library: Library, query: str) -> None:
    assert "Also searched" not in library.search(query).note


# -- code ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["getAuthToken", "how do I call getAuthToken?", "`getAuthToken`", "get_auth_token"]
)
def test_code_is_found_by_its_whole_name(library: Library, query: str) -> None:
    first = library.search(query).results[0]
    assert "getAuthToken" in first.content and "code" in first.matched_by


@pytest.mark.parametrize("query", ["authToken", "AuthToken of a user", "`token`", "what does `getAuth` do"])
def test_code_is_found_by_a_part_of_its_name(library: Library, query: str) -> None:
    first = library.search(query).results[0]
    assert "getAuthToken" in first.content and "code" in first.matched_by


def test_plain_words_are_no_code(library: Library) -> None:
    assert leg(library, "when does the harbour open", "code") == 0
    assert leg(library, "getAuthToken", "code") == 1


@pytest.mark.parametrize(
    "settings", [{"disabled": ("code",)}, {"code_search_weight": 0.0}, {"search_mode": "keyword"}]
)
def test_code_is_not_asked_where_it_does_not_count(library: Library, settings: dict[str, Any]) -> None:
    assert leg(library, "getAuthToken", "code", **settings) is None
    assert "getAuthToken" in ask(library, "getAuthToken", **settings).results[0].content


def test_code_stays_within_filters_and_exclusions(library: Library) -> None:
    assert "tokens" not in found(library, "getAuthToken -tags:code")
    assert leg(library, "getAuthToken -store", "code") == 0


# -- which legs are asked ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, ["exact", "keyword", "code", "semantic"]),
        ({"search_mode": "keyword"}, ["keyword"]),
        ({"search_mode": "semantic"}, ["semantic"]),
        ({"search_mode": "exact"}, ["exact"]),
        ({"semantic_weight": 0.0, "keyword_weight": 0.8}, ["exact", "keyword", "code"]),
        ({"keyword_weight": 0.0, "semantic_weight": 0.8}, ["exact", "code", "semantic"]),
    ],
)
def test_only_legs_with_a_weight_are_asked(
    library: Library, settings: dict[str, Any], names: list[str]
) -> None:
    response = ask(library, "harbour gates", **settings)
    assert response.explanation
    assert [leg["name"] for leg in response.explanation["legs"]] == names
    assert ("embed" in response.timings_ms) == ("semantic" in names)
    for result in response.results:
        assert set(result.matched_by) <= {*names, "graph"}


def test_without_vectors_the_other_legs_answer(tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", FILES)
    with Library(tmp_path / "index") as library:
        library.index([folder], embed=False)
        response = library.search("harbour ceremony")
        assert files(response)[0] == "log"
        assert "embed" not in response.timings_ms
        assert not library.search("harbour ceremony", mode="semantic").results


# -- what is added -------------------------------------------------------------------------------------------


class _Titles(Leg):
    """Finds one chunk, whatever is asked."""

    name = "titles"

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        return 5.0

    def search(self, asked: Retrieved) -> RankedList:
        [(chunk, _), *_] = self._index.keyword.search("ceremony", languages=["en"], limit=1)
        return RankedList.of(self.name, [(chunk, 1.0)])


class _Upside(Signal):
    """Turns the order round."""

    stage, column = "upside", "turned"

    def scores(self, ranked: Ranked, asked: Asked) -> Scores:
        return 1.0 - ranked.table.scores


def test_a_leg_and_a_signal_are_added_by_a_line_each(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def engine() -> SearchEngine:
        return SearchEngine(library._index, lambda: library.embedder, lambda: library.tokenizer)

    settings = SearchSettings(top_k=50)
    before = engine().search("harbour gates", settings, explain=True)
    assert not before.results[0].source_path.endswith("log.txt")
    monkeypatch.setattr(legs, "LEGS", (*legs.LEGS, _Titles))
    found = engine().search("harbour gates", settings, explain=True)
    assert found.results[0].source_path.endswith("log.txt")
    assert "titles" in found.results[0].matched_by
    assert found.explanation and found.explanation["weights"]["titles"] == 5.0
    monkeypatch.setattr(ranker, "SIGNALS", (*ranker.SIGNALS, _Upside))
    turned = engine().search("harbour gates", settings, until="upside")
    assert turned.explanation
    first = turned.explanation["table"][0]["stages"]
    assert list(first)[-1] == "turned" and first["turned"] == pytest.approx(1 - first["recent"], abs=1e-3)
