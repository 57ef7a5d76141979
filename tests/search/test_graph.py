from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.index.folder.graph_lookup import GraphLookup
from loccit.index.port.edges import Holder, Mention
from loccit.search.candidates import Candidates
from loccit.search.rank import graph as graph_module
from loccit.search.rank.graph import EDGE_WEIGHTS, STRONG_HITS, Graph, Neighbours, lift, strongest
from loccit.search.resolve.reference_graph import ReferenceGraph

ACT = """# Harbour Act

## Part 1 General

In this part, words have their usual meaning.

### Section 1 Scope

This Act applies to every basin. It does not apply to rivers.

### Section 2 Consent

A master needs the consent of the warden, as laid down in Section 4(2).

### Section 3 Fees

## Part 2 Duties

### Section 4 Mooring

(1) Boats shall lie at the quay.

(2) The warden may refuse a berth.

### Section 5 Appeals

Whoever was refused under Section 4(2) may appeal. Paragraph (2) of the previous section does not apply. See the
section "Scope".
"""

FILES = {
    "act.md": ACT,
    "rules.md": "# Port Rules\n\n## 1 Refusals\n\nA berth is refused under section 4 of the Harbour Act.\n",
    "tides.md": "# Tides\n\nHigh water comes twice a day.\n\n## Springs\n\nThe highest of them follow the full moon.\n",
    "mooring.md": "# Mooring\n\nMind the water: [[tides]].\n\n## Lines\n\nTrim the lamp, see [wicks](lamp.md#wicks).\n",
    "lamp.md": "# Lamp\n\nA lamp needs oil.\n\n## Wicks\n\nCut them straight.\n\n## Glass {#pane}\n\nKeep it clean.\n",
    "keeper.md": "# Keeper\n\n![[lamp]]\n\nHe climbs the tower; the [pane](./lamp.md#pane) is his pride.\n",
    "winds.md": "---\nrelated: ['[[tides]]', lamp.md, No Such Note]\n---\n# Winds\n\nThey blow from the west.\n",
    "broken.md": "# Broken\n\nSee [[nowhere]], [gone](gone.md), [web](https://example.org/tides.md) and [[tides#Neap]].\n",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("harbour")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        library.index([folder], embed=False)
        yield library


def chunk(library: Library, words: str) -> int:
    """Return the one chunk that holds some words."""
    rows = library._index.database.rows("SELECT id FROM chunks WHERE instr(content, ?)", (words,))
    assert len(rows) == 1, f"{len(rows)} chunks hold {words!r}"
    return int(rows[0][0])


def around(library: Library, *hits: str, weights: dict[str, float] | None = None) -> Neighbours:
    """Return the neighbours of the chunks that hold some words, each a full hit."""
    found = [(chunk(library, words), 1.0) for words in hits]
    return Graph(library._index).neighbours(found, weights=weights or EDGE_WEIGHTS)


@pytest.mark.parametrize(
    ("hit", "kind", "neighbour"),
    [
        ("needs the consent", "number", "Boats shall lie"),
        ("Whoever was refused", "number", "Boats shall lie"),
        ("Boats shall lie", "cited_by", "needs the consent"),
        ("Whoever was refused", "named", "applies to every basin"),
        ("applies to every basin", "cited_by", "Whoever was refused"),
        ("A berth is refused", "document", "Boats shall lie"),
        ("Boats shall lie", "cited_by", "A berth is refused"),
        ("Mind the water", "wiki", "High water comes"),
        ("High water comes", "backlink", "Mind the water"),
        ("The highest of them", "backlink", "Mind the water"),
        ("Trim the lamp", "link", "Cut them straight"),
        ("Cut them straight", "backlink", "Trim the lamp"),
        ("He climbs the tower", "link", "Keep it clean"),
        ("Keep it clean", "backlink", "He climbs the tower"),
        ("He climbs the tower", "transclusion", "A lamp needs oil"),
        ("A lamp needs oil", "transcluded_by", "He climbs the tower"),
        ("They blow from", "related", "High water comes"),
        ("High water comes", "related", "They blow from"),
        ("They blow from", "related", "A lamp needs oil"),
    ],
)
def test_an_edge_leads_from_one_chunk_to_the_other(
    harbour: Library, hit: str, kind: str, neighbour: str
) -> None:
    found = around(harbour, hit, weights={kind: 0.5})
    assert found.via.get(chunk(harbour, neighbour)) == (kind, chunk(harbour, hit))


@pytest.mark.parametrize(
    ("hit", "kind", "other"),
    [
        # An anchor leads to its own section and concerns no other.
        ("A lamp needs oil", "backlink", "Trim the lamp"),
        ("Trim the lamp", "link", "A lamp needs oil"),
        # The same number in another place is another number.
        ("applies to every basin", "cited_by", "A berth is refused"),
    ],
)
def test_no_edge_leads_where_nothing_points(harbour: Library, hit: str, kind: str, other: str) -> None:
    assert chunk(harbour, other) not in around(harbour, hit, weights={kind: 0.5}).via


def test_the_web_is_not_the_library_whatever_its_files_are_called(harbour: Library) -> None:
    broken = harbour._index.graph.holders([chunk(harbour, "https://example.org/tides.md")]).values()
    written = [link for _, link in harbour._index.links.links_inside(broken)]
    [(link, target, anchor)] = ReferenceGraph(harbour._index).links_from(written)
    assert (link.kind, target.id, anchor) == ("wiki", _document(harbour, "High water"), "Neap")


def test_an_anchor_that_is_not_there_leads_to_the_document(harbour: Library) -> None:
    found = around(harbour, "https://example.org/tides.md", weights={"wiki": 0.5})
    assert list(found.via) == [chunk(harbour, "High water comes")]


def _document(library: Library, words: str) -> int:
    return library._index.lookup.documents_of([chunk(library, words)])[chunk(library, words)]


def test_every_type_of_edge_has_a_weight(harbour: Library) -> None:
    everything = [
        "needs the consent",
        "Whoever was refused",
        "Boats shall lie",
        "A berth is refused",
        "He climbs the tower",
        "A lamp needs oil",
        "They blow from",
        "Mind the water",
        "Trim the lamp",
    ]
    used = {kind for kind, _ in around(harbour, *everything).via.values()}
    assert used <= EDGE_WEIGHTS.keys()
    assert all(0 < weight <= 1 for weight in EDGE_WEIGHTS.values())


def test_a_heading_without_text_is_no_neighbour(small: Library, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, "rules.md", "# Rules\n\nWords first.\n\n## Fees\n\n## Berths\n\nBoats lie at the quay.\n")
    write(docs, "a.md", "# A\n\nWhat it costs: [[rules#Fees]].\n")
    write(docs, "b.md", "# B\n\nWhere to lie: [[rules#Berths]].\n")
    small.index([docs], embed=False)
    weights = {"wiki": 0.5}
    assert chunk(small, "Boats lie") in around(small, "Where to lie", weights=weights).via
    assert not around(small, "What it costs", weights=weights).via, "the section is only a heading"


def test_an_edge_to_a_document_leads_to_what_was_found_in_it(harbour: Library) -> None:
    hit, springs = chunk(harbour, "Mind the water"), chunk(harbour, "The highest of them")
    found = Graph(harbour._index).neighbours([(hit, 0.9), (springs, 0.1)], strong=1)
    assert found.via[springs] == ("wiki", hit)
    assert chunk(harbour, "High water comes") not in found.via


def test_filters_and_exclusions_hold_for_neighbours(harbour: Library) -> None:
    graph = Graph(harbour._index)
    hits = [(chunk(harbour, "He climbs the tower"), 1.0)]
    allowed = {_document(harbour, "He climbs the tower")}
    assert not graph.neighbours(hits, documents=allowed).hits
    pane = chunk(harbour, "Keep it clean")
    assert pane in graph.neighbours(hits).via
    assert pane not in graph.neighbours(hits, passing=lambda owners: owners.keys() - {pane}).via


def test_the_best_neighbours_come_first_and_no_more_than_asked_for(harbour: Library) -> None:
    graph = Graph(harbour._index)
    hits = [(chunk(harbour, "He climbs the tower"), 0.8), (chunk(harbour, "Whoever was refused"), 0.7)]
    whole = graph.neighbours(hits)
    scores = [score for _, score in whole.hits]
    assert scores == sorted(scores, reverse=True) and len(scores) > 3
    assert graph.neighbours(hits, limit=2).hits == whole.hits[:2]
    assert whole.leg.chunks.tolist() == [found for found, _ in whole.hits]


def test_chunks_that_are_gone_and_scores_of_nothing_have_no_neighbours(harbour: Library) -> None:
    graph = Graph(harbour._index)
    assert graph.neighbours([]) == Neighbours()
    assert graph.neighbours([(10**9, 1.0)]) == Neighbours()
    assert graph.neighbours([(chunk(harbour, "Mind the water"), 0.0)]) == Neighbours()


def test_several_hits_that_point_at_one_place_count_together(harbour: Library) -> None:
    weights = {"number": 0.5}
    one = dict(around(harbour, "needs the consent", weights=weights).hits)
    both = dict(around(harbour, "needs the consent", "Whoever was refused", weights=weights).hits)
    berth = chunk(harbour, "Boats shall lie")
    assert one[berth] < both[berth] < 1.0


def test_many_chunks_of_one_note_are_one_witness_for_its_links(harbour: Library) -> None:
    weights = {"related": 0.5}
    one = dict(around(harbour, "High water comes", weights=weights).hits)
    both = dict(around(harbour, "High water comes", "The highest of them", weights=weights).hits)
    winds = chunk(harbour, "They blow from")
    assert one[winds] == both[winds] == 0.5


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_what_everybody_links_to_is_worth_less(small: Library, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, "home.md", "# Home\n\nWelcome ashore.\n")
    write(docs, "rope.md", "# Rope\n\nHemp is best.\n")
    for number in range(30):
        write(docs, f"note{number}.md", f"# Note {number}\n\nBack [[home]], number {number}.\n")
    write(docs, "knots.md", "# Knots\n\nA bowline needs [[rope]]; back [[home]].\n")
    small.index([docs], embed=False)
    found = dict(around(small, "A bowline needs").hits)
    home, rope = found[chunk(small, "Welcome ashore")], found[chunk(small, "Hemp is best")]
    assert home < 0.6 * rope


def test_a_list_of_links_to_everything_is_worth_less(small: Library, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    names = [f"note{number}" for number in range(30)]
    for name in names:
        write(docs, f"{name}.md", f"# The {name}\n\nAbout {name}, and nothing else.\n")
    write(docs, "all.md", "# All\n\n" + "\n".join(f"- [[{name}]]" for name in names) + "\n")
    write(docs, "one.md", "# One\n\nFor once see [[note7]].\n")
    small.index([docs], embed=False)
    found = dict(around(small, "About note7, and").hits)
    assert found[chunk(small, "[[note12]]")] < 0.6 * found[chunk(small, "For once see")]


def test_the_graph_follows_the_library(small: Library, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, "a.md", "# First\n\nSee [[second]].\n")
    small.index([docs], embed=False)
    graph, hits = Graph(small._index), [(chunk(small, "See [[second]]"), 1.0)]
    assert not graph.neighbours(hits).hits
    write(docs, "second.md", "# Second\n\nHere it is.\n")
    small.index([docs], embed=False)
    found = graph.neighbours(hits)
    assert found.via == {chunk(small, "Here it is"): ("wiki", hits[0][0])}


def test_numbers_of_one_document_that_is_named_are_not_taken_for_those_of_another(
    small: Library, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    for name in ("Harbour", "River"):
        write(docs, f"{name}.md", f"# {name} Act\n\n## Section 4 Berths\n\nBerths of the {name}.\n")
    write(docs, "rules.md", "# Rules\n\nAs in section 4 of the River Act.\n")
    small.index([docs], embed=False)
    assert chunk(small, "Berths of the River") in around(small, "As in section 4").via
    assert chunk(small, "Berths of the Harbour") not in around(small, "As in section 4").via
    assert not around(small, "Berths of the Harbour", weights={"cited_by": 0.5}).hits


# -- what the neighbours do to the order ---------------------------------------------------------------------

scores = st.floats(0.0, 1.0, allow_nan=False)
rankings = st.dictionaries(st.integers(1, 40), scores, max_size=20)


def table_of(ranking: dict[int, float]) -> Candidates:
    chunks = sorted(ranking)
    return Candidates(np.array(chunks, np.int64), [], {"fused": np.array([ranking[one] for one in chunks])})


def linked(table: Candidates, near: Neighbours, weight: float) -> Candidates:
    joined = table.joined(near.leg)
    joined.add("linked", lift(joined, near.leg, weight))
    return joined


@given(rankings, rankings, scores)
def test_neighbours_only_ever_rise_and_others_stay(
    ranking: dict[int, float], near: dict[int, float], weight: float
) -> None:
    hits = sorted(near.items(), key=lambda item: -item[1])
    lifted = linked(table_of(ranking), Neighbours(hits, {}), weight)
    after = dict(zip(lifted.chunks.tolist(), lifted.scores.tolist(), strict=True))
    assert sorted(after) == lifted.chunks.tolist()
    for one, score in after.items():
        before = ranking.get(one, 0.0)
        assert before <= score <= 1.0
        if one not in near or weight == 0:
            assert score == before
        assert score <= before + weight * near.get(one, 0.0) * (1 - before) + 1e-12


@given(rankings, st.floats(0.0, 0.5))
def test_a_neighbour_alone_never_passes_a_hit_that_is_stronger_than_the_weight(
    ranking: dict[int, float], weight: float
) -> None:
    lifted = linked(table_of(ranking), Neighbours([(99, 1.0)], {}), weight)
    order = [one for one, _ in strongest(lifted)]
    assert all(
        order.index(one) < order.index(99) for one, score in ranking.items() if score > weight and 99 in order
    )


def test_a_reference_of_a_strong_hit_joins_the_candidates(harbour: Library) -> None:
    consent, berth = chunk(harbour, "needs the consent"), chunk(harbour, "Boats shall lie")
    other = chunk(harbour, "They blow from")
    before = table_of({consent: 0.9, other: 0.5})
    graph = Graph(harbour._index)
    lifted = linked(before, graph.neighbours(strongest(before)), 0.3)
    best = {candidate.chunk: candidate for candidate in lifted.top(10)}
    assert [one for one, _ in strongest(lifted)][:2] == [consent, other]
    assert 0 < best[berth].score < 0.5 and best[berth].ranks["graph"] == 1


def test_edges_are_read_once_for_each_state_of_the_library(
    harbour: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph(harbour._index)
    chunks = [row[0] for row in harbour._index.database.rows("SELECT id FROM chunks ORDER BY id LIMIT 12")]
    asked: list[int] = []
    read = GraphLookup.mentions_inside

    def count(self: GraphLookup, holders: Collection[Holder]) -> list[Mention]:
        asked.extend(holder.id for holder in holders)
        return read(self, holders)

    def near(graph: Graph, found: list[int]) -> Neighbours:
        return graph.neighbours([(one, 1.0 - rank / 100) for rank, one in enumerate(found)])

    monkeypatch.setattr(GraphLookup, "mentions_inside", count)
    first = near(graph, chunks)
    assert first.hits and asked == chunks[:STRONG_HITS]
    assert near(graph, chunks) == first and asked == chunks[:STRONG_HITS]
    # Others among those that are known: only they are read, and the answer is that of a graph that knows nothing.
    mixed = near(graph, chunks[::-1])
    assert asked == [*chunks[:STRONG_HITS], *chunks[: STRONG_HITS - 1 : -1]]
    assert mixed == near(Graph(harbour._index), chunks[::-1])
    # No more are kept than there is room for.
    monkeypatch.setattr(graph_module, "_KEPT_CHUNKS", 0)
    near(graph, chunks)
    assert len(graph._kept[1]) <= STRONG_HITS
