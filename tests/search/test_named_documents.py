"""Documents that a query names: their places go first, and nothing of another document is taken for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.asking import files, write
from tests.search.naming import names_of_all

from loccit import Library
from loccit.grammar.labels.names import name_tokens
from loccit.search.understand.names import NameIndex
from loccit.search.understand.query import understand


def agreement(*sections: str) -> str:
    body = "\n\n".join(
        f"## {label}\n\nWhat {label} says about {number}." for number, label in enumerate(sections)
    )
    return f"{body}\n"


DOCUMENTS = {
    "1010612_1998-04-28_CREDIT_AGREEMENT.md": agreement("1. Terms", "4.1 Loans", "4.2 Fees"),
    "1023902_1999-06-11_CREDIT_AGREEMENT.md": agreement("1. Terms", "4.1 Draws", "4.2 Costs", "7.3 Notices"),
    "rfc5246.md": agreement("1. Introduction", "4.2 Alerts", "7.3 Handshake"),
    "de-r-rag_15-index.md": "---\njurabk: RAG 15\n---\n# Fünfzehntes Gesetz über die Anpassung der Renten (RAG 15)\n\n"
    + agreement("§ 1 Anpassung", "§ 2 Ausnahmen"),
    "de-a-altoelv-index.md": "---\njurabk: AltölV\n---\n# Altölverordnung (AltölV)\n\n"
    + agreement("§ 1 Zweck", "§ 3 Vorrang"),
    "es-ar-BOE-A-2012-7257.md": "# Ley 4/2012, de 26 de abril, de medidas urgentes\n\n"
    + agreement("Artículo 1 Objeto", "Artículo 2 Ámbito"),
    "contract_139_TitanWorks_LeaseAgreement.md": agreement("1. Premises", "4.2 Keys"),
    "USC-T15-S77z–2.md": "# § 77z–2. Safe harbor\n\n(a) Applies to issuers.\n\n(b) Excludes offers.\n",
    "lov-1976.md": agreement("§ 2. Vilkår", "§ 2 a. Avtale", "§ 3. Renten"),
    "Part12.md": "# Commercial products\n\n" + agreement("12.101 Policy", "12.102 Scope"),
    "peps/pep-0008.md": "# PEP 8 – Style Guide for Python Code\n\nBe consistent.\n\n## Naming\n\nUse words.\n",
    "notes.md": "# Odds and ends\n\nPEP 8 is quoted often. PEP 8 says to be consistent, see PEP 8.\n\n## More\n\nOf PEP 8.\n",
}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("named") / "docs", DOCUMENTS)
    with Library(folder.parent / "index") as library:
        assert not library.index([folder], embed=False).failed
        yield library


@pytest.mark.parametrize(
    ("query", "file", "label"),
    [
        ("Section 4.2 of 1010612_1998-04-28_CREDIT_AGREEMENT", "1010612_1998-04-28_CREDIT_AGREEMENT", "4.2"),
        (
            "Section 4.2 of 1023902_1999-06-11_CREDIT_AGREEMENT.md",
            "1023902_1999-06-11_CREDIT_AGREEMENT",
            "4.2",
        ),
        ("paragraph 1 of the rfc5246", "rfc5246", "1"),
        ("4.2 of the 1023902 1999-06-11 credit agreement", "1023902_1999-06-11_CREDIT_AGREEMENT", "4.2"),
        ("Section 7.3 of rfc5246", "rfc5246", "7.3"),
        ("RFC 5246 section 7.3", "rfc5246", "7.3"),
        ("§ 1 RAG 15", "de-r-rag_15-index", "§ 1"),
        ("§ 1 of de-r-rag_15-index", "de-r-rag_15-index", "§ 1"),
        ("§ 1 AltölV", "de-a-altoelv-index", "§ 1"),
        ("§ 1 der Altölverordnung", "de-a-altoelv-index", "§ 1"),
        ("Artículo 2 of es-ar-BOE-A-2012-7257", "es-ar-BOE-A-2012-7257", "Artículo 2"),
        ("artículo 1 de la Ley 4/2012", "es-ar-BOE-A-2012-7257", "Artículo 1"),
        ("12.101 of Part12", "Part12", "12.101"),
        ("§ 77z–2(b) of USC-T15-S77z–2", "USC-T15-S77z–2", "§ 77z–2(b)"),
        ("§ 2 a of lov-1976", "lov-1976", "§ 2 a"),
        ("Section 4.2 of the Titan Works lease", "contract_139_TitanWorks_LeaseAgreement", "4.2"),
    ],
)
def test_the_place_of_the_document_that_is_named_goes_first(
    named: Library, query: str, file: str, label: str
) -> None:
    response = named.search(query)
    assert (files(response)[0], response.results[0].section_label) == (file, label)
    assert set(files(response)) == {file}
    assert response.confidence >= 0.8 and "There is no" not in response.note


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("Section 7.3 of 1010612_1998-04-28_CREDIT_AGREEMENT", "1010612_1998-04-28_CREDIT_AGREEMENT"),
        ("§ 3 RAG 15", "de-r-rag_15-index"),
        ("Section 12.101 of rfc5246.md", "rfc5246"),
    ],
)
def test_a_place_that_the_named_document_lacks_is_not_taken_from_another(
    named: Library, query: str, file: str
) -> None:
    response = named.search(query)
    assert re.match(r"(There is no|No) .* in “", response.note)
    assert response.confidence <= 0.3
    assert set(files(response)) <= {file}
    assert all(result.fused_score <= 0.3 for result in response.results)


@pytest.mark.parametrize("query", ["PEP 8", "pep-0008", "what is PEP 8?", "Style Guide for Python Code"])
def test_a_document_goes_before_what_mentions_it(named: Library, query: str) -> None:
    response = named.search(query)
    assert files(response)[0] == "pep-0008" and response.confidence > 0.8


def test_a_designation_that_nothing_has_is_said_to_be_missing(named: Library) -> None:
    response = named.search("PEP 257")
    assert "No passage in the library has “PEP 257”" in response.note and response.confidence <= 0.5


def test_a_number_that_several_documents_have_names_none_of_them(named: Library) -> None:
    response = named.search("Section 4.2")
    assert response.confidence < 0.5
    assert "4 documents have a Section 4.2" in response.note and "name one" in response.note


def test_a_section_is_read_from_the_document_that_the_reference_names(named: Library) -> None:
    assert Path(named.section("Section 4.2 of rfc5246").source_path).stem == "rfc5246"


def test_words_of_several_titles_leave_the_choice_open(named: Library) -> None:
    response = named.search("Section 4.2 of the credit agreement")
    assert {file.partition("_")[2] for file in files(response)} == {
        "1998-04-28_CREDIT_AGREEMENT",
        "1999-06-11_CREDIT_AGREEMENT",
    }
    assert response.confidence < 0.6


def test_a_printed_number_goes_before_one_that_is_put_together(small: Library, tmp_path: Path) -> None:
    texts = {
        "act.md": "# Act\n\n## § 2 Scope\n\n(1) One.\n\n(2) Two.\n",
        "lease.md": "# Lease\n\n## 2. Rent\n\n### 2.2 Due dates\n\nOn Mondays.\n",
    }
    write(tmp_path / "docs", texts)
    small.index([tmp_path / "docs"], embed=False)
    assert files(small.search("Section 2.2"))[0] == "lease"
    assert files(small.search("Section 2(2)"))[0] == "act"


def test_the_named_document_is_found_among_a_thousand_with_the_same_number(
    small: Library, tmp_path: Path
) -> None:
    texts = {f"lease-{number:04}.md": f"## 1. Rent\n\nRent {number}.\n" for number in range(1101)}
    write(tmp_path / "docs", texts)
    small.index([tmp_path / "docs"], embed=False)
    for number in (3, 1099):
        assert files(small.search(f"Section 1 of lease-{number:04}"))[0] == f"lease-{number:04}"
        assert Path(small.section("Section 1", document=f"lease-{number:04}").source_path).stem.endswith(
            str(number)
        )
    response = small.search("Section 1")
    assert "More than 1,000 documents have a Section 1" in response.note and response.confidence < 0.05


def test_a_line_that_bears_the_number_is_shown_instead_of_denied(small: Library, tmp_path: Path) -> None:
    text = "# Manual\n\n## Setup\n\nFirst this.\n\nThe steps follow here; 4.1.2 Press the button twice.\n"
    write(tmp_path / "docs", {"manual.md": text, "other.md": "# Other\n\n## 1. One\n\nText.\n"})
    small.index([tmp_path / "docs"], embed=False)
    response = small.search("Section 4.1.2")
    assert "There is no" not in response.note and "4.1.2" in response.note
    assert "Press the button twice" in response.results[0].content
    assert response.results[0].lines and response.results[0].lines.first == 7
    assert 0.1 < response.confidence < 0.8
    assert "No Section 4.1.3 was found" in small.search("Section 4.1.3").note


def test_a_bare_number_is_no_article_where_articles_are_called_so(small: Library, tmp_path: Path) -> None:
    articles = "\n\n".join(f"## Article {number}\n\nRule {number}." for number in range(1, 6))
    recitals = "\n\n".join(f"({number}) Whereas this and that, {number}." for number in range(1, 10))
    write(tmp_path / "docs", {"act.md": f"# Ferry Act\n\n{recitals}\n\n{articles}\n"})
    small.index([tmp_path / "docs"], embed=False)
    response = small.search("Article 8 of the Ferry Act")
    assert "No place is numbered Article 8" in response.note
    assert response.confidence <= 0.3 and all(result.fused_score <= 0.3 for result in response.results)


def test_a_line_of_another_document_than_the_words_say_is_not_believed(
    small: Library, tmp_path: Path
) -> None:
    table = "# Tariff\n\n| | |\n|---|---|\n| a | b |\n\nText.\n\n999 boats\n"
    write(tmp_path / "docs", {"tariff.md": table, "act.md": "# Ferry Act\n\n## Article 1\n\nBoats sail.\n"})
    small.index([tmp_path / "docs"], embed=False)
    assert small.search("Article 999 of the Constitution of Ruritania").confidence < 0.3


def test_a_number_that_only_places_have_is_missed(small: Library, tmp_path: Path) -> None:
    text = "# Part 13\n\n## 13.201 Buying\n\nBuy.\n\n## 13.202 Paying\n\nPay.\n"
    write(tmp_path / "docs", {"part13.md": text})
    small.index([tmp_path / "docs"], embed=False)
    assert "No 13.999 was found" in small.search("paying 13.999").note
    assert "There is no" not in small.search("paying 3.141").note


@pytest.mark.parametrize("typed", ["Sectoin 4.2", "Secton 4.2", "Secttion 4.2", "Clasue 4.2", "Artcle 4.2"])
def test_a_slip_in_the_word_for_a_place_is_read_as_meant(named: Library, typed: str) -> None:
    response = named.search(f"{typed} of rfc5246")
    assert response.results[0].source_path.endswith("rfc5246.md")
    assert "Alerts" in response.results[0].heading
    assert f"Read “{typed.split()[0]}” as “" in response.note


def test_a_word_that_the_library_has_is_no_slip(small: Library, tmp_path: Path) -> None:
    text = "# Fleet\n\n## Chapter 3 Crew\n\nFour sail.\n\n## Hire\n\nThe chater 3 is hired by the day.\n"
    write(tmp_path / "docs", {"fleet.md": text})
    small.index([tmp_path / "docs"], embed=False)
    assert "Read “" not in small.search("chater 3").note
    assert "Read “chpater” as “chapter”" in small.search("chpater 3").note


def test_short_forms_of_names_do_not_make_numbers_of_them(named: Library) -> None:
    explanation = named.search("Section 4.2 of de-r-rag_15-index", explain=True).explanation
    assert explanation and [item["text"] for item in explanation["references"]] == ["Section 4.2"]


letters = st.text("abcdefgh", min_size=2, max_size=6)
parts = st.lists(letters | st.integers(0, 99999).map(str), min_size=1, max_size=6)


@given(parts, st.sampled_from("-_ ."), st.sampled_from(["Section 4.2 of {}", "{} Section 4.2", "§ 3 {}"]))
def test_any_file_name_is_recognised_and_nothing_of_it_is_a_reference(
    words: list[str], joint: str, form: str
) -> None:
    stem = joint.join(["zz", *words])
    with names_of_all([(7, f"/docs/{stem}.txt", stem)]) as names:
        query = understand(form.format(stem), names=NameIndex(names))
    assert query.named == {7}
    assert [label.key for label in query.references] == ["3" if "§" in form else "4_2"]


@given(st.text(max_size=200))
def test_any_text_is_read_for_names(text: str) -> None:
    with names_of_all([(1, "/docs/lease.txt", "Lease")]) as names:
        for called in NameIndex(names).find(text):
            assert text[called.start : called.end].casefold() == "lease" and called.documents == {1}
    assert all(text[token.start : token.end] for token in name_tokens(text))


def test_a_heading_that_is_asked_for_is_cited_without_what_stands_before_it(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text(
        '<div id="top">\n\n<a name="x"></a>\n\n# Section 1 Scope\n\nOf the plan.\n'
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "plan.md"], embed=False)
        first = library.search("Section 1").results[0]
    assert first.lines is not None
    assert (first.lines.first, first.content.splitlines()[0]) == (5, "# Section 1 Scope")
