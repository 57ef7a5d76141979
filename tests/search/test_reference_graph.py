"""What leads to a document is exactly what other documents lead to, however it is called there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.search.naming import names_of_all

from loccit import Library
from loccit.index.port.names import MOST, Entry
from loccit.model import Reference
from loccit.search.resolve.reference_graph import ReferenceGraph
from loccit.search.understand.names import NameIndex

NAMES = (
    "section 1 of the Harbour Act",
    "the Loan Agreement",
    "section 2 of the Loan Agreement",
    "Section 1 of [RFC4321]",
    "FEES 32.101",
    "section 32.101",
    "32.101",
    "the Rope Rules",
)
LINKS = (
    "[a](act.md)",
    "[b](../act.md#section-1)",
    "[c](/docs/notes/)",
    "[d](./)",
    "[[act]]",
    "[[notes/act#Section 2]]",
    "[[HA]]",
    "![[readme]]",
    "[e](part32)",
    "[f](../fees/part7.html)",
    "[g](https://example.org/act.md)",
)
FILES = {
    "act.md": "# Harbour Act (HA)\n\n## Section 1\n\nFees.\n\n## Section 2\n\nDues.\n",
    "x/loan.md": "# Loan Agreement\n\n## 1. Interest\n\nIt is owed.\n\n## 2. Term\n\nA year.\n",
    "y/loan.md": "# Loan Agreement\n\n## 1. Interest\n\nNone.\n\n## 2. Term\n\nTwo years.\n",
    "x/rfc4321.txt": "RFC 4321 - Dues\n\nSection 1\n\nDues are owed.\n",
    "notes/README.md": "---\naliases: [Rope Rules]\n---\n# Notes\n\nTie them.\n",
    **{f"fees/part{n}.md": f"# Part {n}\n\n## {n}.101 Dues\n\nThey are due.\n" for n in (7, 32, 41)},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    root = tmp_path_factory.mktemp("leading") / "docs"
    documents = dict(FILES)
    for folder in ("", "x/", "y/", "notes/", "fees/"):
        lines = [f"This is under {name} and more." for name in NAMES] + [
            f"See {link} for it." for link in LINKS
        ]
        documents[f"{folder}own.md"] = "# Own\n\n## 9. All\n\n" + "\n\n".join(lines) + "\n"
        documents[f"{folder}act2.md"] = f"# Harbour Act\n\n## Section 1\n\nAgain{folder}, see {NAMES[0]}.\n"
    for name, text in documents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with Library(root.parent / "index") as made:
        made.index([root], embed=False)
        yield made


def everything(library: Library) -> set[tuple[int, Reference]]:
    """All references that lead to a document, with the one they stand in, read from where they stand."""
    graph = ReferenceGraph(library._index)
    return {
        (entry.id, reference)
        for entry in library._index.names.first()
        for reference in graph.in_span(entry.id, 0, 1 << 40)
        if reference.target_path
    }


def test_what_leads_to_a_document_is_what_others_lead_to(library: Library) -> None:
    leading = set()
    for entry in library._index.names.first():
        found = ReferenceGraph(library._index).leading_to(entry.id)
        assert len(found) == len({(source.id, reference) for source, reference in found})
        leading |= {(source.id, reference) for source, reference in found}
    assert leading == everything(library)
    assert {reference.kind for _, reference in leading} >= {"link", "wiki", "transclusion", "number"}
    assert len(leading) > 50


def test_what_leads_to_a_place_is_a_part_of_it(library: Library) -> None:
    expected = everything(library)
    for entry in library._index.names.first():
        for place in library._index.lookup.places_of_document(entry.id):
            if place.section_id:
                found = ReferenceGraph(library._index).leading_to(entry.id, [place])
                assert {(source.id, reference) for source, reference in found} == {
                    item
                    for item in expected
                    if (item[1].target_path, item[1].target_section) == (entry.source_path, place.section_id)
                }


def test_the_map_counts_the_same(library: Library) -> None:
    paths = {entry.id: entry.source_path for entry in library._index.names.first()}
    between = [(paths[source], reference.target_path) for source, reference in everything(library)]
    assert library.map().links == {pair: between.count(pair) for pair in between if pair[0] != pair[1]}
    for path in paths.values():
        assert library.map_of(path).links.total() == sum(source == path for source, _ in between)


def test_a_name_that_very_many_documents_have_means_the_one_beside() -> None:
    documents = [(n, f"/d{n}/supply.md", "Supply of Tar") for n in range(1, MOST + 100)]
    with names_of_all(documents) as names:
        named = NameIndex(names)
        assert not named.find("section 3 of the Supply of Tar")
        own = Entry(MOST + 200, f"/d{MOST + 50}/own.md", "Own")
        meant = named.named("Supply of Tar", own).entry
        assert meant is not None and meant.id == MOST + 50
        elsewhere = named.named("Supply of Tar", Entry(MOST + 201, "/else/own.md", "Own"))
        assert elsewhere.entry is None and "more than 1,000 documents" in elsewhere.reason


def test_common_words_of_names_are_tested_on_what_rarer_ones_found() -> None:
    documents = [
        (n, f"/d/{n}.md", f"Supply Agreement {n} of {'Leith' if n % 7 else 'Oban'}") for n in range(1, 1301)
    ]
    with names_of_all(documents) as names:
        named = NameIndex(names)
        assert named.with_all(["agreement", "oban", "63"]) == {63}
        assert not named.with_all(["supply", "agreement"]), "1,300 documents: that names none of them"
        assert named.fitting(["agreement", "63"]) == {63: 1.0}
        assert set(named.fitting(["agreement", "supply"]).values()) == {1.0}
        beside = named.named("Supply Agreement 63 of Oban", Entry(5, "/d/5.md", ""))
        assert beside.entry is not None and beside.entry.id == 63
