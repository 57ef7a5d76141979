from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library

CONTRACTS = {
    "lease.md": """# Lease

## 4. Rent

### 4.2 Late payment

(a) Interest accrues daily.

(b) The landlord may terminate.

## Chapter II General

### Section 1 Scope

Lease scope.
""",
    "loan.md": """# Loan agreement

## 4. Interest

### 4.2 Default rate

The default rate is five per cent.

## Chapter I Introduction

### Section 1 Parties

The parties to the loan.

## Chapter II Security

### Section 1 Pledge

The pledge secures the loan.

## Appendix B Forms

Form of notice.

## § 17a Costs

Costs are shared.
""",
}


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("contracts")
    for name, text in CONTRACTS.items():
        (folder / name).write_text(text)
    library = Library(folder / ".loccit")
    library.index([folder], embed=False)
    return library


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("§ 4.2 lease", "4.2 Late payment"),
        ("Loan 4.2", "4.2 Default rate"),
        ("clause 4.2(a) of the lease", "4.2 Late payment"),
        ("loan, chapter II section 1", "Section 1 Pledge"),
        ("loan chapter 1, sec. 1", "Section 1 Parties"),
        ("appendix b", "Appendix B Forms"),
        ("§ 17a", "§ 17a Costs"),
        ("Section 17A", "§ 17a Costs"),
        ("Default rate", "4.2 Default rate"),
    ],
)
@pytest.mark.parametrize("mode", ["exact", "hybrid"])
def test_a_reference_goes_first_to_that_very_section(
    contracts: Library, query: str, heading: str, mode: str
) -> None:
    first = contracts.search(query, mode=mode).results[0]
    assert first.heading == heading
    assert first.exact_match and "exact" in first.matched_by


def test_the_same_number_in_two_documents_gives_both(contracts: Library) -> None:
    found = contracts.search("4.2", mode="exact").results[:2]
    assert {Path(result.source_path).name for result in found} == {"lease.md", "loan.md"}


def test_a_place_that_does_not_exist_is_said(contracts: Library) -> None:
    response = contracts.search("Section 999")
    assert "No Section 999 was found" in response.note
    assert response.confidence <= 0.5


def test_a_number_that_is_no_section_number_is_not_missed(contracts: Library) -> None:
    assert "There is no" not in contracts.search("default rate of 3.75 per year").note


RELEASES = {
    "pump.md": """# Pump manual

## 3 Operation

### 3.0 Before the start

Open the valve.

### 3.1 Starting

Press the green button. See 14.204 for the torque.

### A.5 Spares

Nuts.

## 14 Tables

### 14.204 Torque

Forty newton metres.

### 14.204-2 Torque of spares

Thirty.
""",
    "notes.md": """# Notes on releases

## Upgrading

Breaking changes came with the third release: the configuration moved, and tokens are no longer read from the
environment.

## Older

Nothing here.
""",
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("releases")
    for name, text in RELEASES.items():
        (folder / name).write_text(text)
    library = Library(folder / ".loccit")
    library.index([folder])
    return library


@pytest.mark.parametrize(
    "query",
    [
        "breaking changes of 3.9",
        "what is new in 3.9",
        "python 3.9.1 upgrade guide",
        "does it run with TLS 3.9",
    ],
)
def test_a_number_in_a_sentence_that_no_place_has_is_not_missed(releases: Library, query: str) -> None:
    response = releases.search(query)
    assert not any(result.exact_match for result in response.results)
    assert "There is no" not in response.note and "No 3.9" not in response.note


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("3.0", "3.0 Before the start"),
        ("what does 3.0 say?", "3.0 Before the start"),
        ("was steht in 3.0", "3.0 Before the start"),
        ("pump manual 3.0", "3.0 Before the start"),
        ("3.0 of the pump manual", "3.0 Before the start"),
        ("3.0 before the start", "3.0 Before the start"),
        ("starting 3.1", "3.1 Starting"),
        # Whatever word stands before it.
        ("Bylaw 3.0", "3.0 Before the start"),
        ("Requirement 14.204", "14.204 Torque"),
        ("NCAA Rule 14.204-2", "14.204-2 Torque of spares"),
        ("Chapter 3.1", "3.1 Starting"),
        ("Control A.5", "A.5 Spares"),
    ],
)
def test_a_number_and_whatever_word_before_it_ask_for_the_place(
    releases: Library, query: str, heading: str
) -> None:
    first = releases.search(query).results[0]
    assert first.heading == heading and first.exact_match


@pytest.mark.parametrize("query", ["Bylaw 14.209", "Requirement 14.204-9", "NCAA 3.7", "Rule 3.7"])
def test_a_number_that_no_place_has_is_said_whatever_word_stands_before_it(
    releases: Library, query: str
) -> None:
    response = releases.search(query)
    assert "was found in the library" in response.note and response.confidence <= 0.3
    assert not any(result.exact_match for result in response.results)


@pytest.mark.parametrize("number", ["section 3.0", "§ 3.0", "14.204", "14.204-2", "A.5"])
def test_a_place_inside_a_question_is_evidence(releases: Library, number: str) -> None:
    response = releases.search(f"Which breaking changes to tokens came with the release, given {number}?")
    assert response.results[0].heading == "Upgrading"
    label = number.split()[-1]
    assert label in [
        result.section_label.split()[-1] for result in response.results[:3] if result.section_label
    ]
    assert not any(result.exact_match for result in response.results)


def test_the_rest_of_a_question_chooses_among_the_places_of_a_number(contracts: Library) -> None:
    for word, file in (("interest accrue daily", "lease.md"), ("rate is five per cent", "loan.md")):
        response = contracts.search(f"Is it true that the {word}, as said in Section 4.2?")
        assert Path(response.results[0].source_path).name == file
        assert "name one" not in response.note


def test_exact_mode_takes_every_number_for_a_place(releases: Library) -> None:
    first = releases.search("breaking changes of 3.0", mode="exact").results[0]
    assert first.heading == "3.0 Before the start"


@pytest.mark.parametrize(
    ("query", "section"),
    [
        ("Section 403(b)(2)", "Section 403(b)(2)"),
        ("§ 403", "Section 403"),
        ("Sec. 403 of the Harbour Safety Act", "Section 403"),
        ("clause 4.2(a) service agreement", "4.2(a)"),
        ("§ 4 Hafenordnung", "§ 4"),
        ("TITLE IV", "TITLE IV"),
        ("title 4", "TITLE IV"),
        ("6.2 pump manual", "6.2"),
    ],
)
def test_references_to_the_examples(library: Library, query: str, section: str) -> None:
    assert library.search(query).results[0].section_label == section


def test_a_clause_is_shown_alone_with_its_place(library: Library) -> None:
    result = library.search("Section 403(b)(2)").results[0]
    assert result.content.startswith("(2) ")
    assert result.section_id == "sec_403_b_2"
    assert result.parent_chain[-2:] == ["Section 403. Improvement orders and detention", "Section 403(b)(2)"]
    lines = Path(result.source_path).read_text().splitlines()
    assert result.lines and lines[result.lines.first - 1].startswith("(2) ")


def test_a_quoted_phrase_returns_every_occurrence_with_context(library: Library) -> None:
    for mode in ("exact", "hybrid", "keyword"):
        response = library.search('"reasonable best efforts"', mode=mode)
        if mode == "keyword":
            continue
        assert response.total_matches == 3
        assert len(response.results) == 3
        for result in response.results:
            [match] = result.matches
            assert result.content[match.start : match.end].split() == ["reasonable", "best", "efforts"]
            assert "reasonable best efforts" in match.context
            lines = Path(result.source_path).read_text().splitlines()
            assert "reasonable" in lines[match.line - 1]


def test_a_phrase_is_found_across_line_ends_and_markup(small: Library, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.txt").write_text("He kept the lamp\nburning all **night** long.")
    small.index([tmp_path / "docs"], embed=False)
    assert small.search('"lamp burning all night long"', mode="exact").results[0].matches


def test_what_a_long_question_quotes_is_evidence_and_no_command(library: Library) -> None:
    phrase = '"reasonable best efforts"'
    question = (
        "When the crew has taken on fuel and oil has reached the water of the basin, whom must the master of the vessel "
        "tell, how soon, and what must the report contain?"
    )

    def quoting(query: str) -> list[bool]:
        found = library.search(query, top_k=3).results
        return ["reasonable best efforts" in " ".join(result.content.split()) for result in found]

    assert all(quoting(f"the vessel and {phrase}"))
    assert not all(quoting(f"{question} The clause of a colleague says {phrase}."))


def test_a_phrase_that_does_not_occur_is_said(library: Library) -> None:
    response = library.search('"reasonable worst efforts"')
    assert "“reasonable worst efforts”" in response.note


def test_exact_mode_takes_plain_words_as_a_phrase(library: Library) -> None:
    response = library.search("reasonable best efforts", mode="exact")
    assert len(response.results) == 3
    assert not library.search("efforts best reasonable", mode="exact").results


def test_a_decimal_that_is_no_section_is_not_cut_down_to_one(contracts: Library) -> None:
    response = contracts.search("version 4.99 of the software", mode="exact")
    assert not any(result.section_label == "4" for result in response.results)


@pytest.mark.parametrize("query", ["Section 403(b)(9)", "Section 403(zz)"])
def test_a_clause_that_does_not_exist_is_said(library: Library, query: str) -> None:
    response = library.search(query)
    assert f"No {query} was found in the library" in response.note
    assert response.results[0].section_label.startswith("Section 403")
    assert response.confidence <= 0.5


def test_the_note_speaks_of_what_was_searched(library: Library) -> None:
    response = library.search("Section 403", filters={"path": "vault"})
    assert "No Section 403 was found in the documents searched" in response.note


def test_a_number_that_no_document_has_leads_nowhere(library: Library) -> None:
    response = library.search("FAR 52.232-20")
    assert "No 52.232-20 was found" in response.note
    assert response.confidence <= 0.5


def test_zeros_inside_a_number_count(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Part 32\n\n## 32.001 Definitions\n\nOne.\n\n## 32.1 Scope\n\nTwo.\n")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "a.md"], embed=False)
        assert library.search("32.1", mode="exact").results[0].heading == "32.1 Scope"
        assert library.search("32.001", mode="exact").results[0].heading == "32.001 Definitions"


def test_recitals_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Regulation\n\n## Recitals\n\n(1) First thought.\n\n(2) Second thought.\n\n## Article 2\n\nScope.\n"
    )
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / "a.md"], embed=False)
        result = library.search("recital 2").results[0]
        assert (result.section_label, result.content) == ("Recital 2", "(2) Second thought.")
        assert library.section("Recital 1").text == "(1) First thought."


def test_another_kind_of_place_is_not_pinned_beside_the_right_one(contracts: Library) -> None:
    response = contracts.search("chapter II, loan", mode="exact")
    assert [result.heading for result in response.results if result.exact_match] == ["Chapter II Security"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("clause 10.1 of the Gridwatch agreement", ["gridwatch"]),
        ("10.1 of the lease of Unit 1", ["unit-1"]),
        ("clause 10.1 of the lease of the dentist", ["unit-1", "unit-2"]),
        ("what does 10.1 of the cleaning agreement say", ["cleaning"]),
        ("AI 10.1", ["ai"]),
        ("clause 10.1", ["ai", "cleaning", "gridwatch", "unit-1", "unit-2"]),
        ("clause 10.1 of this", ["ai", "cleaning", "gridwatch", "unit-1", "unit-2"]),
    ],
)
def test_the_document_that_is_named_is_meant(
    small: Library, tmp_path: Path, query: str, names: list[str]
) -> None:
    titles = {
        "ai": "AI policy",
        "cleaning": "Cleaning agreement",
        "gridwatch": "Monitoring agreement with Gridwatch",
        "unit-1": "Lease of Unit 1",
        "unit-2": "Lease of Unit 2",
    }
    for name, title in titles.items():
        text = f"# {title}\n\n## 10. End\n\n### 10.1 Break\n\nThe end of {name}.\n"
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    small.index([tmp_path / "docs"], embed=False)
    response = small.search(query)
    shown = [
        Path(result.source_path).stem
        for result in response.results
        if result.section_label == "10.1" and result.exact_match
    ]
    assert shown == names
    assert (response.confidence > 0.8) == (len(names) == 1)


def test_a_section_behind_an_anchor_is_shown_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "session.md").write_text(
        '<a name="sec7"></a>\n\n## 7 Session Management\n\nSessions are started.\n\n### 7.1 Bindings\n\n'
        + "Sessions are bound. " * 30,
        encoding="utf-8",
    )
    library = Library(tmp_path / "index")
    library.index([tmp_path], embed=False)
    first = library.search("Section 7 of session", top_k=1).results[0]
    assert first.lines is not None and first.lines.first == 3
    assert "Sessions are started." in first.content
