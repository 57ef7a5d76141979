from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from tests.search.asking import SURROUNDINGS, ask, ids

from loccit import Library
from loccit.errors import UsageError
from loccit.model import SearchResponse


def names(response: SearchResponse) -> list[str]:
    return [Path(result.source_path).name for result in response.results]


def test_meaning_is_found_without_shared_words(library: Library) -> None:
    first = library.search("may we quit the contract before it ends", mode="semantic").results[0]
    assert first.heading.endswith("Leaving early")
    assert first.matched_by == ["semantic"] and first.semantic_score is not None


def test_hybrid_is_not_led_astray_by_a_word_in_another_sense(library: Library) -> None:
    first = library.search("when must the captain report an accident").results[0]
    assert first.section_label == "Section 306"


def test_a_word_that_only_one_leg_knows_comes_first(library: Library) -> None:
    first = library.search("E17").results[0]
    assert "E17" in first.content


@pytest.mark.parametrize("query", ["getAuthToken", "parse_json_data", "setFlowRate", "max_pressure_kpa"])
def test_identifiers_are_found_whole(library: Library, query: str) -> None:
    for mode in ("keyword", "hybrid"):
        assert query in library.search(query, mode=mode).results[0].content


def test_identifiers_are_found_by_part(library: Library) -> None:
    contents = [result.content for result in library.search("auth token", mode="keyword", top_k=3).results]
    assert any("getAuthToken" in content for content in contents)


def test_another_language_is_found(library: Library) -> None:
    for mode in ("keyword", "hybrid"):
        assert names(library.search("Liegeplätze anmelden", mode=mode))[0] == "hafenordnung.md"
    assert names(library.search("liegeplatze", mode="keyword"))[0] == "hafenordnung.md"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("個人情報の保護に関する法律は、個人の権利利益を保護する。", "個人情報"),
        ("合同自签订之日起生效，双方应当遵守。", "合同"),
        ("이 계약은 서명한 날부터 효력이 있다.", "계약"),
        ("Настоящий договор вступает в силу.", "договора"),
        ("تسري أحكام هذا العقد", "العقد"),
    ],
)
def test_scripts_without_spaces_and_other_alphabets(
    small: Library, tmp_path: Path, text: str, query: str
) -> None:
    (tmp_path / "docs" / "a.md").write_text(text)
    (tmp_path / "docs" / "b.md").write_text("Something else entirely.")
    small.index([tmp_path / "docs"], embed=False)
    assert names(small.search(query, mode="keyword")) == ["a.md"]
    assert names(small.search(f'"{query}"', mode="exact"))[:1] in (["a.md"], [])


def test_results_are_ranked_scored_and_placed(library: Library) -> None:
    response = library.search("duties of the harbour master")
    assert len(response.results) == 10
    assert [result.rank for result in response.results] == list(range(1, 11))
    scores = [result.fused_score for result in response.results]
    assert all(0 <= score <= 1 for score in scores)
    assert all(a >= b for a, b in itertools.pairwise(scores))
    for result in response.results:
        assert result.matched_by and set(result.matched_by) <= {
            "exact",
            "semantic",
            "keyword",
            "code",
            "graph",
        }
        assert result.chunk_id.startswith(f"{result.source_path}_chunk_")
        assert Path(result.source_path).is_file()
        assert result.lines or result.pages
        assert result.document_title
        if result.source_path.endswith(".md"):
            assert result.lines
            source = Path(result.source_path).read_text().splitlines()
            quoted = " ".join(source[result.lines.first - 1 : result.lines.last])
            assert " ".join(result.content.split())[:60] in " ".join(quoted.split())


def test_pdf_results_name_their_page(library: Library) -> None:
    result = next(
        r
        for r in library.search("salmon counted at the fish ladder").results
        if r.source_path.endswith(".pdf")
    )
    assert result.pages and result.pages.first == 4


def test_an_off_topic_question_is_admitted(library: Library) -> None:
    sure = library.search("duty to make occurrences known to the harbour office").confidence
    response = library.search("best pizza in Naples")
    assert response.confidence < 0.3 < sure
    assert "Nothing matches well" in response.note


def test_weights_are_respected(library: Library) -> None:
    query = "when must the captain report an accident"
    weights = {"semantic_weight": 0.0, "keyword_weight": 1.0, "exact_weight": 0.0}
    only_words = ask(library, query, **weights)
    assert all(set(result.matched_by) <= {"keyword", "graph"} for result in only_words.results)
    bare = ask(library, query, disabled=SURROUNDINGS, **weights)
    assert all(result.matched_by == ["keyword"] for result in bare.results)
    assert ids(bare) == ids(library.search(query, mode="keyword"))


@pytest.mark.parametrize("top_k", [0, -1, 101])
def test_top_k_out_of_range_is_refused(library: Library, top_k: int) -> None:
    with pytest.raises(UsageError, match="top_k must be between 1 and 100"):
        library.search("vessel", top_k=top_k)


def test_top_k_is_respected(library: Library) -> None:
    assert len(library.search("vessel", top_k=1).results) == 1
    assert len(library.search("vessel", top_k=100).results) > 10


def test_an_unknown_mode_is_refused_with_the_known_ones(library: Library) -> None:
    with pytest.raises(UsageError, match="hybrid, semantic, keyword, exact"):
        library.search("vessel", mode="fuzzy")


def test_min_score_leaves_out_what_is_below(library: Library) -> None:
    results = library.search("vessel", min_score=0.5).results
    assert results and all(result.fused_score >= 0.5 for result in results)
    assert not library.search("best pizza in Naples", mode="keyword", min_score=1.0).results[1:]


def test_an_empty_library_answers_that_there_is_nothing(small: Library) -> None:
    for mode in ("hybrid", "semantic", "keyword", "exact"):
        response = small.search("anything", mode=mode)
        assert not response.results and response.confidence == 0
        assert "No match" in response.note


def test_explain_shows_the_legs(library: Library) -> None:
    response = library.search("notice of arrival", explain=True)
    assert response.explanation
    assert {leg["name"] for leg in response.explanation["legs"]} == {"exact", "keyword", "code", "semantic"}
    assert response.results[0].explanation and response.results[0].explanation["ranks"]
    assert set(response.timings_ms) >= {
        *(
            "understand",
            "spelling",
            "exact",
            "keyword",
            "code",
            "embed",
            "semantic",
            "rank",
            "refine",
            "focus",
        ),
        *("enrich", "respond", "total"),
    }


@pytest.mark.parametrize("budget", [60, 200, 1000])
def test_a_token_budget_is_kept(library: Library, budget: int) -> None:
    response = library.search("duties of the master of a vessel", token_budget=budget)
    assert response.truncated
    assert len(library.tokenizer.offsets(response.format())) <= budget
    # Also for whoever writes the results down one by one.
    assert sum(len(library.tokenizer.offsets(result.format())) for result in response.results) <= budget


def test_a_large_budget_cuts_nothing(library: Library) -> None:
    response = library.search("vessel", token_budget=100_000)
    assert not response.truncated and len(response.results) == 10


def test_missing_vectors_are_said(small: Library, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe lamp burns.")
    small.index([tmp_path / "docs"], embed=False)
    response = small.search("lamp")
    assert response.results and "no vectors yet" in response.note
    small.index()
    assert "no vectors" not in small.search("lamp").note


def test_identical_text_ranks_by_its_context(small: Library, tmp_path: Path) -> None:
    text = "The interval is thirty days unless agreed otherwise."
    (tmp_path / "docs" / "a.md").write_text(f"# Handbook\n\n## Password rotation\n\n{text}\n")
    (tmp_path / "docs" / "b.md").write_text(f"# Handbook\n\n## Boiler maintenance\n\n{text}\n")
    small.index([tmp_path / "docs"])
    assert names(small.search("how often must the heating be serviced"))[0] == "b.md"
    assert names(small.search("how often must credentials be changed"))[0] == "a.md"


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_identical_text_in_one_document_ranks_by_its_section(
    small: Library, tmp_path: Path, mode: str
) -> None:
    text = "Report it to the person in charge without delay, and write down when you did."
    sections = ("Fire", "Theft", "Flooding", "Illness of staff")
    (tmp_path / "docs" / "a.md").write_text(
        "# Handbook\n\n" + "".join(f"## {name}\n\n{text}\n\n" for name in sections)
    )
    small.index([tmp_path / "docs"])
    for query, heading in (
        ("what to do when something was stolen", "Theft"),
        ("what to do when a colleague is sick", "Illness of staff"),
        ("what to do when there is water in the building", "Flooding"),
        ("what to do when the house burns", "Fire"),
    ):
        first = ask(small, query, search_mode=mode).results[0]
        assert first.heading == heading
        assert {place.section for place in first.also_in} <= set(sections) - {heading}


def test_a_budget_too_small_for_one_result_is_said(library: Library) -> None:
    response = library.search("vessel", token_budget=5)
    assert not response.results and response.truncated
    assert "none fits into a budget of 5 tokens" in response.note


@pytest.mark.parametrize(
    "options",
    [{"query": None}, {"query": 5}, {"query": ["a"]}, {"top_k": 2.5}, {"top_k": "5"}, {"filters": ["a"]}],
)
def test_wrong_types_get_a_clear_error(library: Library, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        library.search(**{"query": "vessel", **options})  # type: ignore[arg-type]
