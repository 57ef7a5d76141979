"""What no document has is said: names, codes, slips, other languages, and queries of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.search.asking import write

from loccit import Library
from loccit.search.retrieve.missing import names_in

DOCUMENTS = {
    "duties.md": "# Duties\n\n## Notice of a breach\n\nA breach is told to the supervisory authority in three days. "
    "The authority answers, and the breach is recorded in the ledger of the office.\n",
    "modes.md": "# Modes\n\n## Quiet mode\n\nSet `BORG_QUIET_MODE` to keep the supervisory messages away. "
    "The mode is kept by Marvin in Oslo, and a breach of it is rare.\n",
    "guide.md": "# Harbour guide\n\n> All about boats.\n\n## Mooring\n\n[See the tariff](tariff.md)\n\n"
    "### Where to moor\n\nBoats moor at quay three, and the keeper takes the fee in advance for the whole stay.\n",
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(tmp_path_factory.mktemp("office") / "docs", DOCUMENTS)
    with Library(folder.parent / "index") as library:
        library.index([folder])
        yield library


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("BORG_QUANTUM_SAFE_MODE", "BORG_QUANTUM_SAFE_MODE"),
        ("what does BORG_QUANTUM_SAFE_MODE do", "BORG_QUANTUM_SAFE_MODE"),
        ("who keeps the mode in Lisbon", "Lisbon"),
        ("is a breach told under AC-99", "AC-99"),
    ],
)
def test_a_name_that_no_document_has_is_said(office: Library, query: str, name: str) -> None:
    response = office.search(query)
    assert f"No document mentions “{name}”." in response.note
    assert response.confidence <= 0.5


@pytest.mark.parametrize(
    "query", ["what does BORG_QUIET_MODE do", "who keeps the mode in Oslo", "Notice of a breach"]
)
def test_a_name_that_a_document_has_is_not_missed(office: Library, query: str) -> None:
    assert "No document mentions" not in office.search(query).note


def test_three_slips_in_three_words_are_corrected(office: Library) -> None:
    response = office.search("supervisry authorty brech")
    assert response.results[0].heading == "Notice of a breach"
    assert "Also searched for “supervisory” and “authority” and “breach”" in response.note


def test_a_question_in_another_language_is_said_to_be_one(office: Library) -> None:
    note = office.search("Wie lange darf man die Meldung einer Verletzung aufschieben?").note
    assert "The question seems to be in German; the documents are in English." in note
    assert "seems to be in" not in office.search("how long may one put off the notice of a breach?").note


@pytest.mark.parametrize("query", ["the", "of and", "der"])
def test_a_query_of_common_words_is_said_to_be_one(office: Library, query: str) -> None:
    response = office.search(query)
    assert "only words that nearly all texts have" in response.note and response.confidence <= 0.3


@pytest.mark.parametrize(
    "query",
    [
        " ".join(map(str, range(2000))),
        " ".join(f"Section {number}.{number % 7}" for number in range(600)),
        "A_" * 4900,
        "证" * 9900,
        "12345",
        "пароль breach 证书 authority مفتاح",
        "🔑 breach",
    ],
)
def test_any_input_is_answered(office: Library, query: str) -> None:
    response = office.search(query)
    assert 0.0 <= response.confidence < 0.9


@pytest.mark.parametrize("query", ["Harbour guide", "Mooring"])
def test_a_title_shows_more_than_a_tag_line_or_a_link(office: Library, query: str) -> None:
    first = office.search(query).results[0]
    assert first.heading == query
    assert "Boats moor at quay three" in first.content
    text = (Path(first.source_path)).read_text().splitlines()
    assert first.lines and text[first.lines.last - 1].startswith("Boats moor")


def test_names_are_not_what_titles_and_beginnings_have_capitals_for() -> None:
    assert names_in("Does BORG_MODE work in Berlin? And who pays") == ["BORG_MODE", "Berlin"]
    assert names_in("Data Breach Notification Duties") == []
    assert names_in("Wie wird das Amt geleitet", capitals=False) == []
