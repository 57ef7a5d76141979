"""What surrounds a passage has its say, in hybrid search only, and can be switched off by name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.search.asking import SURROUNDINGS, ask, files, ids, scored, write

from loccit import Library
from loccit.config.settings import STAGES

TODAY = datetime.now(timezone.utc).date().isoformat()
FILES = {
    # Two documents of one kind, one much more about lamps than the other.
    "keeper.md": (
        "# Keeper\n\nThe keeper trims the lamp of the lighthouse at dusk.\n\n"
        "## Oil\n\nThe lamp burns two litres of oil a night; the keeper fills the lamp by hand.\n\n"
        "## Wicks\n\nA wick of the lamp lasts a week, then the keeper cuts a new one for the lamp.\n\n"
        "## Rules\n\nEverything is written into the book before midnight.\n"
    ),
    "galley.md": (
        "# Galley\n\nThe cook keeps a lamp beside the stove.\n\n## Soup\n\nPeas are soaked overnight.\n\n"
        "## Bread\n\nThe dough rests under a cloth.\n\n## Rules\n\nEverything is written into the book before midnight.\n"
    ),
    # What the rules of the lamp lead to shares no word with it.
    "duties.md": "# Duties\n\nWhoever trims the lamp of the lighthouse follows [the code](code.md).\n",
    "code.md": "# Code\n\nNobody sleeps on watch.\n",
    "old.md": "---\ndate: 1999-05-01\n---\n# Visitors\n\nVisitors sign the register at the gate.\n",
    "new.md": f"---\ndate: {TODAY}\n---\n# Visitors\n\nVisitors sign their register at a gate.\n",
    "tide.md": "# Tide\n\nHigh water comes twice a day and follows the moon.\n",
}
QUERY = "who trims the lamp of the lighthouse"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("rank"), FILES)
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


def legs(library: Library, **settings: Any) -> list[Any]:
    explanation = ask(library, QUERY, **settings).explanation
    assert explanation
    return list(explanation["legs"])


@pytest.mark.parametrize(
    ("stage", "without"),
    [
        ("hierarchy", {"document_weight": 0.0, "section_weight": 0.0}),
        ("graph", {"graph_weight": 0.0}),
    ],
)
def test_a_stage_that_is_off_is_as_one_without_weight(
    library: Library, stage: str, without: dict[str, float]
) -> None:
    off = ask(library, QUERY, disabled=(stage,), top_k=50)
    assert scored(off) == scored(ask(library, QUERY, top_k=50, **without))
    assert scored(off) != scored(ask(library, QUERY, top_k=50)), "the stage does something here"


@pytest.mark.parametrize("stage", SURROUNDINGS)
def test_no_stage_changes_what_the_legs_find(library: Library, stage: str) -> None:
    assert legs(library, disabled=(stage,), recency_bias=1.0) == legs(library, recency_bias=1.0)


@pytest.mark.parametrize("disabled", [(), *((stage,) for stage in SURROUNDINGS), SURROUNDINGS])
def test_scores_descend_between_0_and_1_whatever_is_off(library: Library, disabled: tuple[str, ...]) -> None:
    response = ask(library, QUERY, disabled=disabled, recency_bias=1.0, top_k=50)
    scores = [result.fused_score for result in response.results]
    assert scores and all(0.0 <= score <= 1.0 for score in scores)
    assert all(a >= b for a, b in pairwise(scores))
    assert response.explanation and response.explanation["disabled"] == list(disabled)


def test_neighbours_join_only_by_the_graph(library: Library) -> None:
    joined = next(
        r
        for r in ask(library, QUERY, top_k=50, graph_weight=1.0).results
        if r.source_path.endswith("code.md")
    )
    assert joined.explanation and "graph" in joined.explanation["ranks"]
    assert joined.explanation and joined.explanation["edge"] == "link"
    off = ask(library, QUERY, disabled=("graph",), top_k=50)
    assert all("graph" not in result.matched_by for result in off.results)
    before = [result.chunk_id for result in off.results].index(joined.chunk_id)
    assert joined.rank - 1 < before, "a link from the best hit lifts it"


def test_what_is_new_is_first_only_by_recency(library: Library) -> None:
    query = "visitors sign the register at the gate"
    plain = ask(library, query)
    assert files(plain)[0] == "old"
    assert files(ask(library, query, recency_bias=1.0))[0] == "new"
    off = ask(library, query, recency_bias=1.0, disabled=("recency",))
    assert scored(off) == scored(plain)


def test_smoothing_moves_scores_and_loses_nothing(library: Library) -> None:
    on = ask(library, QUERY, top_k=100, disabled=("graph",))
    off = ask(library, QUERY, top_k=100, disabled=("graph", "smoothing"))
    assert sorted(ids(on)) == sorted(ids(off))
    assert dict(scored(on)) != dict(scored(off))
    assert [r.semantic_score for r in sorted(on.results, key=lambda r: r.chunk_id)] == [
        r.semantic_score for r in sorted(off.results, key=lambda r: r.chunk_id)
    ]


@pytest.mark.parametrize("mode", ["semantic", "keyword"])
def test_a_single_mode_stays_bare(library: Library, mode: str) -> None:
    plain = ask(library, QUERY, search_mode=mode, top_k=50)
    loud = ask(
        library,
        QUERY,
        search_mode=mode,
        top_k=50,
        document_weight=10.0,
        section_weight=10.0,
        graph_weight=1.0,
        recency_bias=1.0,
    )
    assert scored(loud) == scored(plain)
    assert scored(ask(library, QUERY, search_mode=mode, top_k=50, disabled=SURROUNDINGS)) == scored(plain)
    assert all(result.matched_by == [mode] for result in plain.results)
    ranks = [result.explanation["ranks"][mode] for result in plain.results if result.explanation]
    assert ranks == sorted(ranks), "the order of the leg"


def test_without_surroundings_hybrid_with_one_weight_is_that_mode(library: Library) -> None:
    bare = ask(
        library,
        QUERY,
        semantic_weight=0.0,
        keyword_weight=1.0,
        exact_weight=0.0,
        code_search_weight=0.0,
        disabled=SURROUNDINGS,
        top_k=50,
    )
    assert ids(bare) == ids(ask(library, QUERY, search_mode="keyword", top_k=50))


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_can_be_switched_off(library: Library, stage: str) -> None:
    response = ask(
        library,
        QUERY,
        disabled=(stage,),
        query_expansion_enabled=True,
        recency_bias=0.5,
        dedup_enabled=True,
        max_chunks_per_doc=3,
        parent_retrieval_enabled=True,
    )
    assert files(response)[0] in ("keeper", "duties")


def test_documents_that_are_gone_leave_no_trace(small: Library, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {name: FILES[name] for name in ("keeper.md", "galley.md", "tide.md")})
    small.index([folder])
    assert "keeper" in files(small.search(QUERY))
    (folder / "keeper.md").unlink()
    small.index()
    assert "keeper" not in files(small.search(QUERY))


@pytest.mark.parametrize("rrf_k", [1, 60, 1000])
def test_a_long_document_does_not_win_by_its_many_weak_hits(
    small: Library, tmp_path: Path, rrf_k: int
) -> None:
    chores = (f"## Chore {n}\n\nThe crew of boat {n} keeps a watch, a log and a kettle.\n" for n in range(40))
    texts = {
        "watch.md": "# Watch\n\nThe night watch rings the bell when fog comes in.\n",
        "chores.md": "# Chores\n\n" + "\n".join(chores),
        "tide.md": FILES["tide.md"],
    }
    small.index([write(tmp_path / "docs", texts)])
    found = ask(small, "when does the watch ring the bell", fusion="rrf", rrf_k=rrf_k)
    assert files(found)[0] == "watch"
    scores = [result.fused_score for result in found.results]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < 0.9 * scores[0]
