from __future__ import annotations

from loccit.extract.definitions.terms import normalize_term
from loccit.model import Definition
from loccit.search.resolve.define import Dictionary


def row(path: str, term: str, text: str) -> tuple[str, str, Definition]:
    return path, path.title(), Definition(path, term, normalize_term(term), text, "sec_1")


ROWS = [
    row("act", "Business Day", "“Business Day” means a day other than a Sunday."),
    row("deed", "business day", '"Business   Day" means a day other than a Sunday'),
    row("lease", "Business Day", "“Business Day” means any day."),
    row("gdpr", "personal data", "‘personal data’ means any information"),
    row("gdpr", "personal data breach", "‘personal data breach’ means a breach"),
    row("gdpr", "cross-border processing", "‘cross-border processing’ means either"),
    row("gdpr", "supervisory authority", "‘supervisory authority’ means an authority"),
    row("far", "Activity Address Code (AAC)", "*Activity Address Code (AAC)* means a code"),
    row("far", "the Act", "Tea Duties Act"),
    row("far", "May", "*May* denotes the permissive."),
    row("code", "Gefährliche Güter", "„Gefährliche Güter“ Stoffe"),
    row("code", "Party", "“Party” means one"),
]
INDEX = Dictionary(ROWS)


def terms(query: str) -> list[str]:
    return [definition.term for definition in INDEX.terms_in(query)]


def test_lookup_ignores_case_number_hyphens_articles_and_accents() -> None:
    for asked, term in [
        ("Personal Data", "personal data"),
        ("PERSONAL_DATA", "personal data"),
        ("supervisory authorities", "supervisory authority"),
        ("cross border processing", "cross-border processing"),
        ("Cross‑Border  Processing", "cross-border processing"),
        ("aac", "Activity Address Code (AAC)"),
        ("activity address codes", "Activity Address Code (AAC)"),
        ("act", "the Act"),
        ("the personal data", "personal data"),
        ("gefahrliche guter", "Gefährliche Güter"),
        ("“Parties”", "Party"),
    ]:
        assert [found.term for found in INDEX.lookup(asked)] == [term], asked
    assert INDEX.lookup("tea") == []
    assert INDEX.lookup("") == []


def test_each_document_keeps_its_own_definition() -> None:
    found = INDEX.lookup("business day")
    assert [item.document_title for item in found] == ["Act", "Deed", "Lease"]


def test_conflict_is_a_different_text_in_another_document() -> None:
    act, deed, lease = INDEX.conflicts("Business Days")
    # Quotation marks, case, white space and the full stop make no difference.
    assert [other.document_title for other in act.conflicts] == ["Lease"]
    assert [other.document_title for other in deed.conflicts] == ["Lease"]
    assert [other.document_title for other in lease.conflicts] == ["Act", "Deed"]
    assert INDEX.conflicts("personal data") == []


def test_two_definitions_in_one_document_are_no_conflict() -> None:
    index = Dictionary([row("a", "fee", "one"), row("a", "fee", "two")])
    assert len(index.lookup("fee")) == 2
    assert index.conflicts("fee") == []


def test_near_spellings() -> None:
    assert INDEX.near("personnal data")[0] == "personal data"
    assert INDEX.near("supervisary authority")[0] == "supervisory authority"
    assert "personal data breach" in INDEX.near("breach")
    assert INDEX.near("zzzz") == []
    assert INDEX.near("") == []
    assert len(INDEX.near("personnal data", n=1)) == 1


def test_terms_in_a_query_longest_first() -> None:
    assert terms("who is told of a personal data breach?") == ["personal data breach"]
    assert terms("personal data and a personal data breach") == ["personal data", "personal data breach"]
    assert terms("Which supervisory authorities lead?") == ["supervisory authority"]
    assert terms("cross-border processing, and the AAC's use") == [
        "cross-border processing",
        "Activity Address Code (AAC)",
    ]
    assert terms("within 5 business days") == ["Business Day", "business day", "Business Day"]


def test_terms_in_a_query_keep_word_boundaries() -> None:
    assert terms("impersonal database") == []
    assert terms("personal") == []
    assert terms("") == []


def test_words_of_every_query_are_not_terms_in_it() -> None:
    assert terms("may I pay") == []
    assert [found.term for found in INDEX.lookup("may")] == ["May"]


def test_long_query_is_read_up_to_a_limit() -> None:
    assert terms("word " * 150 + "personal data") == ["personal data"]
    assert terms("word " * 100_000 + "personal data") == []
