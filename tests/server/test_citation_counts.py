"""Who cites a place: one number, whatever interface tells it, for every place of the documents here and of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.server.citation_counts import compare, counted_by_hand

from loccit import Library
from loccit.server.http import build_app
from loccit.server.mcp.calls import call
from loccit.server.services import IndexService, LibraryRegistry

EXAMPLES = Path(__file__).parents[2] / "examples"

REGULATION = """# Lighthouse Regulation (LR)

## Chapter I General

### Article 1 Scope

This Regulation applies to keepers. Article 3 remains unaffected.

### Article 2 Terms

1. A keeper is whoever keeps a light, subject to paragraph 2 and to Article 3(1)(b).

2. A light is what can be seen.

## Chapter II Duties

### Article 3 Watch

1. The keeper shall:

(a) light the lamp;

(b) keep a log, as Article 1 of this Regulation requires.

2. Paragraph 1 and point (a) of paragraph 1 do not apply in daylight.

### Article 4 Fines

Whoever infringes Articles 1 to 3, Article 3(1)(a) or Chapter II shall be fined. Article 4 applies to attempts too.
"""
STATUTE = """# Leuchtturmordnung

## § 1 Anwendung

Es gilt § 3 Absatz 2. Die §§ 2 bis 4 gelten auch nachts.

## § 2 Wache

(1) Der Wärter wacht.

(2) Absatz 1 gilt nicht am Tag.

## § 3 Buch

(1) Das Buch wird nach § 2 Absatz 1 geführt.

(2) Näheres regelt § 4.

## § 4 Strafe

Wer gegen § 2 Abs. 1 oder § 3 verstößt, wird bestraft.
"""
LAW = """# 灯台法

## 第一条

灯台を守る。第三条を準用する。

## 第二条

1 第一条の規定による。

2 前項の規定は、昼間には適用しない。

## 第三条

第一条及び第二条に違反した者を罰する。
"""
NOTES = """# Notes

Article 3(1) of the Lighthouse Regulation is strict, and so is Article 3 of the LR; see [[regulation]].

The Lighthouse Regulation is old. [Fines](regulation.md#article-4-fines) and [all of it](regulation.md), and
[a note](#to-do). Articles 2 to 4 of the Lighthouse Regulation apply.

## To do

Read the Lighthouse Regulation again, and [these notes](notes.md#to-do).
"""
PLAIN = """Remarks without any heading. Article 3(1)(a) of the Lighthouse Regulation was discussed on Monday.

The Lighthouse Regulation was praised.
"""
DOCUMENTS = {
    "regulation.md": REGULATION,
    "leuchtturmordnung.md": STATUTE,
    "law.md": LAW,
    "notes.md": NOTES,
    "remarks.txt": PLAIN,
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cited")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Library(folder / "index") as library:
        library.index([folder / name for name in DOCUMENTS], embed=False)
    return folder / "index"


@pytest.fixture(scope="module")
def library(index: Path) -> Iterator[Library]:
    with Library(index, create=False) as opened:
        yield opened


def test_every_interface_has_the_number_that_reading_everything_gives(index: Path) -> None:
    places, wrong = compare(index)
    assert places > 30
    assert not wrong


@pytest.mark.slow
def test_so_it_is_in_the_examples(tmp_path: Path) -> None:
    with Library(tmp_path / "index") as library:
        library.index([EXAMPLES], embed=False)
    places, wrong = compare(tmp_path / "index")
    assert places > 500
    assert not wrong


def test_parts_count_for_what_holds_them_and_what_stands_inside_does_not(library: Library) -> None:
    def citations(reference: str) -> list[tuple[str, str]]:
        found = library.references(reference, document="regulation.md").cited_by
        assert len({(item.source_path, item.reference.start) for item in found}) == len(found)
        assert all(item.reference.text in item.words for item in found)
        return sorted(
            (item.section_label or Path(item.source_path).stem, item.reference.text) for item in found
        )

    article = citations("Article 3")
    assert ("Article 1", "Article 3") in article and ("Article 4", "Article 3(1)(a)") in article
    assert not any(place.startswith("Article 3") for place, _ in article)
    # From inside, paragraph 2 cites paragraph 1 and point (a) of it.
    inside = [item for item in citations("Article 3(1)") if item[0].startswith("Article 3(2)")]
    assert len(inside) == 2
    # A range is one citation of the chapter that holds two of its articles.
    assert [place for place, _ in citations("Chapter I")].count("Article 4") == 1


def test_the_document_as_a_whole_is_counted_apart(library: Library) -> None:
    whole = {
        library.references(reference, document="regulation.md").document_citations
        for reference in ("Article 1", "Article 3(1)(b)", "Chapter II", "Lighthouse Regulation (LR)")
    }
    title = library.references("Lighthouse Regulation (LR)", document="regulation.md")
    assert whole == {len(title.document_cited_by)}
    texts = [(Path(item.source_path).name, item.reference.text) for item in title.document_cited_by]
    assert ("notes.md", "[[regulation]]") in texts and ("notes.md", "[all of it](regulation.md)") in texts
    assert {name for name, _ in texts} <= {"notes.md", "remarks.txt"}
    spots = {(item.source_path, item.reference.start) for item in title.document_cited_by}
    assert not spots & {(item.source_path, item.reference.start) for item in title.cited_by}
    assert not library.references("Article 1", document="regulation.md").document_cited_by


def test_a_document_that_names_itself_cites_its_own_places(library: Library) -> None:
    found = library.references("To do", document="notes.md")
    assert [item.reference.text for item in found.cited_by] == ["[a note](#to-do)"]
    regulation = library.references("Article 1", document="regulation.md")
    assert "Article 1 of this Regulation" in [item.reference.text for item in regulation.cited_by]


def test_a_part_of_a_library_counts_its_own(library: Library) -> None:
    part = library.scoped({"path": "*regulation.md"})
    found = part.references("Article 3", document="regulation.md")
    assert {Path(item.source_path).name for item in found.cited_by} == {"regulation.md"}
    assert (
        found.document_citations
        == 0
        < library.references("Article 3", document="regulation.md").document_citations
    )
    path = found.section.source_path
    assert {item.from_path for item in part.reader(path).back_references} == {path}
    (section,) = [one for one in part.map_of(path).sections if one.label == "Article 3"]
    assert part.map_of(path).cited_by[section.ordinal] == found.citations
    assert part.map_of(path).whole == 0


def test_a_number_is_whole_where_the_list_is_cut(index: Path, library: Library) -> None:
    registry = LibraryRegistry([IndexService(lambda: index)])
    place = library.references("Article 3", document="regulation.md")
    given = {"reference": "Article 3", "document": "regulation.md", "token_budget": 300}
    data = call(registry, "follow_references", given).data
    assert data["truncated"] and len(data["cited_by"]) < data["citations"] == place.citations
    registry.close()


def test_more_citations_than_names_may_mean_are_all_counted(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rule.md").write_text("# Rope Act\n\n## Section 1\n\nTie the rope.\n")
    lines = [f"Line {number} follows section 1 of the Rope Act." for number in range(1, 1301)]
    (tmp_path / "docs" / "log.md").write_text("# Log\n\n" + "\n\n".join(lines) + "\n")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "docs"], embed=False)
        expected = counted_by_hand(library)
        found = library.references("Section 1", document="rule.md")
        assert found.citations == expected[found.section.place_id][0] == 1300
        path = found.section.source_path
        assert len(library.reader(path).back_references) == 1300
        assert sum(count for (_, to), count in library.map().links.items() if to == path) == 1300


def test_the_map_leads_from_heading_to_heading(index: Path) -> None:
    registry = LibraryRegistry([IndexService(lambda: index)])
    with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
        documents = client.get("/api/documents").json()["documents"]
        (doc,) = [info["id"] for info in documents if info["source_path"].endswith("regulation.md")]
        found = client.get("/api/map", params={"doc": doc}).json()
    headings = {section["section_id"] for section in found["sections"]}
    own = [link for link in found["links"] if link["to_doc"] == doc]
    assert own and all(link["to_section"] in headings for link in own)
    registry.close()
