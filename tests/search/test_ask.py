from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import IndexSettings, Library, Settings
from loccit.errors import NotFoundError, UsageError
from loccit.model import Citation

DOCUMENTS = {
    "lease.md": """# Lease

## 1. Definitions

"Rent" means the sum in section 2.1, except that it does not include heating.

## 2. Payment

2.1 The tenant shall pay the Rent monthly.

2.2 Late Rent bears interest under section 9.9 and under Section 2 of the Loan Agreement.
""",
    "loan.md": """# Loan Agreement

## 1. Definitions

"Rent" means interest on the loan.

## Section 2 Interest

(a) Interest is due yearly. See [the lease](lease.md#2-payment).

(b) Subsection (a) does not apply to [[lease]] or to [nothing](gone.md).
""",
}


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("contracts")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    with Library(folder / ".loccit") as library:
        library.index([folder], embed=False)
        yield library


def by_text(citations: list[Citation], text: str) -> Citation:
    return next(citation for citation in citations if text in citation.reference.text)


def test_a_term_is_defined_with_its_exceptions_and_conflicts(contracts: Library) -> None:
    answer = contracts.define("rents")
    assert {item.document_title for item in answer.definitions} == {"Lease", "Loan Agreement"}
    assert answer.conflict
    lease = next(item for item in answer.definitions if item.document_title == "Lease")
    assert lease.definition.definition_text.startswith('"Rent" means the sum')
    assert any("does not include heating" in text for text in lease.definition.exceptions)
    assert lease.conflicts_with == ["Loan Agreement"]
    assert lease.definition.source_section == "sec_1"
    assert lease.definition.lines == (5, 5)
    assert lease.definition.location == f"{lease.definition.source_path}, line 5"


def test_one_document_can_be_asked(contracts: Library) -> None:
    [item] = contracts.define("Rent", document="loan.md").definitions
    assert item.document_title == "Loan Agreement"


def test_near_spellings_are_offered(contracts: Library) -> None:
    answer = contracts.define("rennt")
    assert not answer.definitions and answer.near == ["Rent"]


@pytest.mark.parametrize(
    ("term", "error"), [("zebra", NotFoundError), ("", UsageError), ("x" * 300, UsageError)]
)
def test_terms_that_cannot_be_answered(contracts: Library, term: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        contracts.define(term)


def test_a_query_with_a_defined_term_carries_the_definition(contracts: Library) -> None:
    for result in contracts.search("when is the rent due", mode="keyword").results:
        [definition] = result.definitions_context
        assert definition.term == "Rent"
        # Each document has its own meaning of the word.
        assert definition.source_path == result.source_path
        # And each can be cited.
        assert definition.lines == (5, 5)


def test_references_lead_to_the_section_and_the_chunk(contracts: Library) -> None:
    answer = contracts.references("Section 1", document="lease.md")
    citation = by_text(answer.cites, "section 2.1")
    assert citation.reference.target_section == "sec_2_1"
    assert citation.reference.target_chunk.startswith(citation.source_path)
    assert citation.line == 5


def test_references_to_another_document_of_the_library(contracts: Library) -> None:
    answer = contracts.references("2.2", document="lease.md")
    elsewhere = by_text(answer.cites, "Loan Agreement").reference
    assert Path(elsewhere.target_path).name == "loan.md" and elsewhere.target_section == "sec_2"
    missing = by_text(answer.cites, "9.9").reference
    assert not missing.resolved and "9.9" in missing.reason


def test_what_cites_a_section(contracts: Library) -> None:
    cited = contracts.references("Section 2", document="loan.md").cited_by
    assert [(Path(item.source_path).name, item.section_label) for item in cited] == [("lease.md", "2.2")]
    lease = contracts.references("2", document="lease.md").cited_by
    assert {Path(item.source_path).name for item in lease} == {"lease.md", "loan.md"}


def test_what_cites_a_chapter_is_told_of_its_sections(tmp_path: Path) -> None:
    (tmp_path / "act.md").write_text(
        "# Act\n\n## Chapter I Rights\n\n### Article 1 Erasure\n\n1. All may ask. This Chapter binds all.\n\n"
        "### Article 2 Notice\n\nWhoever acts under Article 1 shall say so.\n\n"
        "## Chapter II Limits\n\n### Article 3 Press\n\nThe press is free. Chapter I does not apply to the press, "
        "which has rules of its own. It is bound by them.\n"
    )
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "act.md"], embed=False)
        article = library.references("Article 1")
        assert [(item.section_label, item.words) for item in article.cited_by] == [
            ("Article 2", "Whoever acts under Article 1 shall say so.")
        ]
        words = "Chapter I does not apply to the press, which has rules of its own."
        assert [(item.section_label, item.words) for item in article.around] == [("Article 3", words)]
        clause = library.references("Article 1(1)")
        assert [item.section_label for item in clause.around] == ["Article 2", "Article 3"]
        (cited,) = library.references("Article 2").cites
        assert cited.target == "Article 1 Erasure"
        assert not library.references("Chapter I").around


def test_relative_references_and_links(contracts: Library) -> None:
    cites = contracts.references("Section 2", document="loan.md").cites
    assert by_text(cites, "Subsection (a)").reference.target_section == "sec_2_a"
    link = by_text(cites, "the lease").reference
    assert Path(link.target_path).name == "lease.md" and link.target_section == "sec_2"
    wiki = by_text(cites, "[[lease]]").reference
    assert Path(wiki.target_path).name == "lease.md" and wiki.target_chunk
    gone = by_text(cites, "nothing").reference
    assert not gone.resolved and "gone.md" in gone.reason


def test_results_carry_their_references(contracts: Library) -> None:
    [result] = [r for r in contracts.search("late interest", mode="keyword").results if "Late" in r.content][
        :1
    ]
    assert any(reference.resolved for reference in result.cross_references)
    assert any(reference.reason for reference in result.cross_references)


def test_chunks_know_what_they_are(contracts: Library) -> None:
    types = {
        (Path(result.source_path).name, result.heading): result.chunk_type
        for result in contracts.search("rent interest loan", mode="keyword", top_k=50).results
    }
    assert types["lease.md", "1. Definitions"] == "definition"
    assert types["lease.md", "2. Payment"] == "requirement"
    # More than half of it leads elsewhere.
    assert types["loan.md", "Section 2 Interest"] == "reference"


def test_extraction_can_be_turned_off(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(DOCUMENTS["lease.md"])
    settings = Settings(index=IndexSettings(extract_definitions=False, extract_cross_references=False))
    with Library(tmp_path / ".loccit", settings=settings) as library:
        library.index([tmp_path / "a.md"], embed=False)
        with pytest.raises(NotFoundError):
            library.define("Rent")
        assert library.references("2.2").cites == []


def test_a_loop_of_references_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "## Section 1\n\nSee Section 2.\n\n## Section 2\n\nSee Section 1 and Section 2.\n"
    )
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "a.md"], embed=False)
        answer = library.references("Section 1")
        assert [item.reference.target_section for item in answer.cites] == ["sec_2"]
        assert [item.section_label for item in answer.cited_by] == ["Section 2"]


def test_repeated_numbering_is_unique_and_warned_of(tmp_path: Path) -> None:
    text = "## Section 1\n\nA means\n\n(1) x;\n\n(2) y.\n\nB means\n\n(1) z;\n\n(2) w.\n"
    (tmp_path / "a.md").write_text(text)
    with Library(tmp_path / ".loccit") as library:
        report = library.index([tmp_path / "a.md"], embed=False)
        assert any("repeats itself" in warning for warning in report.warnings)
        assert library.section("sec_1_1__2").text == "(1) z;"


def test_a_document_that_does_not_define_a_term_says_which_does(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(DOCUMENTS["lease.md"])
    (tmp_path / "rider.md").write_text("# Rider\n\n## 1. Scope\n\nIt adds to Section 2 of the Lease.\n")
    (tmp_path / "other.md").write_text("# Other\n\nNothing is defined here.")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path], embed=False)
        place = library.define("rent").definitions[0].definition.place_id
        with pytest.raises(NotFoundError) as named:
            library.define("rent", document="rider.md")
        with pytest.raises(NotFoundError) as foreign:
            library.define("rent", document="other.md")
    assert str(named.value).startswith("rider.md does not define 'rent'. ")
    assert f"Lease (line 5) [{place}], to which it refers, defines Rent: " in str(named.value)
    assert '"Rent" means the sum' in str(named.value)
    # What another instrument means by it is not what this one means.
    assert f"Lease (line 5) [{place}] defines Rent for itself." in str(foreign.value)
    assert "means the sum" not in str(foreign.value)


def test_a_part_of_a_work_says_what_another_part_defines(tmp_path: Path) -> None:
    (tmp_path / "Part2.md").write_text(
        '# Part 2\n\n## 2.101 Definitions\n\n"Claim" means a written demand.\n'
    )
    (tmp_path / "Part33.md").write_text("# Part 33\n\n## 33.101 Disputes\n\nA claim is decided at once.\n")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path], embed=False)
        place = library.section("2.101").place_id
        with pytest.raises(NotFoundError) as error:
            library.define("claim", document="Part33.md")
    assert str(error.value) == (
        f"Part33.md does not define 'claim'. Part 2 (line 5) [{place}], a part of the same work, defines Claim: "
        '"Claim" means a written demand.'
    )


def test_a_word_means_what_its_own_document_says(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('# Act\n\n## 1. Definitions\n\n"authority" means the harbour office.\n')
    (tmp_path / "b.md").write_text("# Rules\n\n## 1. Duties\n\nTell the authority at once.\n")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "a.md", tmp_path / "b.md"], embed=False)
        both = library.search("authority", mode="keyword").results
        carried = {Path(result.source_path).name: len(result.definitions_context) for result in both}
        assert carried == {"a.md": 1, "b.md": 0}
        [alone] = library.search("authority", mode="keyword", filters={"path": "b.md"}).results
        assert not alone.definitions_context


def test_a_definition_in_a_pdf_has_its_page(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "rules.pdf"))
    for title, text in (
        ("1. Scope", "These rules hold in the outer harbour."),
        ("2. Definitions", '"Buoy" means a float that marks a channel.'),
    ):
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(72, 720, title)
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 690, text)
        canvas.showPage()
    canvas.save()
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "rules.pdf"], embed=False)
        [item] = library.define("buoy").definitions
    assert item.definition.pages == (2, 2)
    assert item.definition.location.endswith("rules.pdf, p. 2")


def test_a_document_named_alone_lists_what_leads_both_ways(tmp_path: Path) -> None:
    (tmp_path / "eip-12.md").write_text(
        "---\neip: 12\ntitle: Lamps\nrequires: 3, 99\n---\n\n# Lamps\n\nA wick burns. EIP-3 says how.\n"
    )
    (tmp_path / "eip-3.md").write_text("---\neip: 3\ntitle: Wicks\n---\n\n# Wicks\n\nA wick is a cord.\n")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path], embed=False)
        answer = library.references("eip-12.md")
        leads = {item.reference.text: Path(item.reference.target_path).name for item in answer.cites}
        assert leads == {"3": "eip-3.md", "99": "", "EIP-3": "eip-3.md"}
        missing = by_text(answer.cites, "99").reference
        assert "EIP-99" in missing.reason and not missing.resolved
        back = library.references("eip-3.md")
        assert back.document_citations == 2
        assert {item.words for item in back.document_cited_by} == {"requires: 3, 99", "EIP-3 says how."}
