from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes import Library
from pinakes.errors import UsageError
from pinakes.search.filter_help import explain_empty
from pinakes.search.filter_values import date_span, matches
from pinakes.search.filters import allowed_documents, document_date, parse_date

NOTES = {
    "work/a.md": "---\ntags: [alpha, Beta]\nauthor: Ada\ndate: 2024-03-01\ndraft: true\n---\n# Lamp\n\nlamp one",
    "work/b.md": "---\ntags: gamma\nauthor: Bob\nmodified: 2025-06-30T12:00:00Z\n---\n# Lamp\n\nlamp two",
    "home/c.txt": "The lamp at home, and the keeper who lights it every evening of the year.",
    "home/d.md": "# Lampe\n\nDie Lampe brennt, und der Wärter zündet sie jeden Abend an, das ganze Jahr. lamp",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with Library(folder / ".pinakes") as library:
        library.index([folder])
        yield library


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"path": "work"}, "ab"),
        ({"path": "*.txt"}, "c"),
        ({"path": "home/*.md"}, "d"),
        ({"path": ["work/a.md", "home"]}, "acd"),
        ({"path": "wor"}, ""),
        ({"type": "md"}, "abd"),
        ({"type": ".TXT"}, "c"),
        ({"language": "de"}, "d"),
        ({"tags": "beta"}, "a"),
        ({"tags": ["gamma", "alpha"]}, "ab"),
        ({"author": "ada", "tags": "alpha"}, "a"),
        ({"author": "Ada", "tags": "gamma"}, ""),
        ({"draft": "true"}, "a"),
        ({"after": "2025-01-01", "path": "work"}, "b"),
        ({"before": "2025-01-01"}, "a"),
        ({"before": "2025"}, "a"),
        ({"no_such_field": "x"}, ""),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "exact"])
def test_filters_hold_in_every_mode(
    notes: Library, filters: dict[str, object], expected: str, mode: str
) -> None:
    response = notes.search("lamp", mode=mode, filters=filters)
    found = {Path(result.source_path).stem for result in response.results}
    assert found == set(expected)
    assert {Path(info.source_path).stem for info in notes.documents(filters)} == set(expected)
    if not expected:
        assert "filters" in response.note


@pytest.mark.parametrize("filters", [{"after": "soon"}, {"path": ""}, {"tags": []}])
def test_a_filter_that_means_nothing_is_refused(notes: Library, filters: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        notes.search("lamp", filters=filters)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-02-29", "2024-02-29T00:00:00+00:00"),
        ("2024", "2024-01-01T00:00:00+00:00"),
        ("2024-3", "2024-03-01T00:00:00+00:00"),
        ("2024/03/09", "2024-03-09T00:00:00+00:00"),
        ("2024-03-09T10:00:00Z", "2024-03-09T10:00:00+00:00"),
        ("9 March 2024", "2024-03-09T00:00:00+00:00"),
        ("March 9, 2024", "2024-03-09T00:00:00+00:00"),
        ("09.03.2024", "2024-03-09T00:00:00+00:00"),
        ("2024-13", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_dates_are_read(text: str, iso: str | None) -> None:
    date = parse_date(text)
    assert (date.isoformat() if date else None) == iso


# Frontmatter of every shape, without an index around it

VAULT: dict[str, dict[str, Any]] = {
    "a": {"Author": "Ada Lovelace", "tags": ["project/alpha", "Beta"], "category": "Guide", "priority": 1},
    "b": {
        "authors": [{"name": "Bob Stone"}, "Ada King"],
        "tags": "beta, gamma",
        "type": "guide",
        "priority": 2.5,
    },
    "c": {
        "keywords": "x, y",
        "aliases": ["The C"],
        "draft": True,
        "created": "2024-03-09",
        "priority": "high",
    },
    "d": {
        "keyword": "z",
        "review": {"by": ["Eve"], "Due Date": "2025-02-01"},
        "modified": "2025-06-30T12:00:00Z",
    },
    "e": {"date": "2023", "year": 2021, "categories": ["Note", "Guide"], "draft": False},
    "f": {},
}
_COLUMNS = "id, source_path, title, file_type, language, metadata, mtime_ns"


@pytest.fixture(scope="module")
def rows() -> list[sqlite3.Row]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute(f"CREATE TABLE documents ({_COLUMNS})")
    mtime = int(parse_date("2020-05-05").timestamp() * 1e9)  # type: ignore[union-attr]
    for number, (name, metadata) in enumerate(VAULT.items(), 1):
        kind = ".pdf" if name == "f" else ".md"
        values = (number, f"/v/{name}{kind}", f"Title {name}", kind, "en", json.dumps(metadata), mtime)
        connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    return connection.execute("SELECT * FROM documents").fetchall()


def passing(
    rows: list[sqlite3.Row], filters: dict[str, object], excluded: dict[str, object] | None = None
) -> str:
    allowed = allowed_documents(rows, filters, excluded)
    return "".join(Path(row["source_path"]).stem for row in rows if row["id"] in allowed)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "lovelace"}, "a"),
        ({"authors": "Ada"}, "ab"),
        ({"author": "bob stone"}, "b"),
        ({"author": "Stone Bobby"}, ""),
        ({"tags": "BETA"}, "ab"),
        ({"tag": "project"}, "a"),
        ({"tags": "#gamma"}, "b"),
        ({"tags": "proj"}, ""),
        ({"category": "guide"}, "abe"),
        ({"category": ["note", "nothing"]}, "e"),
        ({"keywords": "y"}, "c"),
        ({"keywords": "z"}, "d"),
        ({"aliases": "the c"}, "c"),
        ({"draft": True}, "c"),
        ({"draft": "false"}, "e"),
        ({"priority": 1}, "a"),
        ({"priority": "1.0"}, "a"),
        ({"priority": ">1"}, "b"),
        ({"priority": "1..2.5"}, "ab"),
        ({"priority": "<=1"}, "a"),
        ({"priority": "high"}, "c"),
        ({"year": "2020..2022"}, "e"),
        ({"year": "<2021"}, ""),
        ({"review.by": "eve"}, "d"),
        ({"review.due date": ">=2025"}, "d"),
        ({"review": "eve"}, "d"),
        ({"created": "2024-03"}, "c"),
        ({"created": "2023..2024"}, "ce"),
        ({"created": ">2024-03"}, ""),
        ({"modified": "2025-06-30"}, "d"),
        ({"updated": "2020"}, "abcef"),  # the date of the file
        ({"date": "2020-05"}, "abf"),
        ({"date": ">=2024-03-09"}, "cd"),
        ({"date": "..2023"}, "abef"),
        ({"after": "2024"}, "cd"),
        ({"before": "2021", "type": "markdown"}, "ab"),
        ({"language": "English", "type": "pdf"}, "f"),
        ({"title": "TITLE B"}, "b"),
        ({}, "abcdef"),
    ],
)
def test_frontmatter_is_filtered(rows: list[sqlite3.Row], filters: dict[str, object], expected: str) -> None:
    assert passing(rows, filters) == expected


@pytest.mark.parametrize(
    ("filters", "excluded", "expected"),
    [
        ({}, {"tags": "beta"}, "cdef"),
        ({"category": "guide"}, {"author": ["Bob", "Nobody"]}, "ae"),
        ({}, {"draft": "true", "type": "pdf"}, "abde"),
        ({"tags": "beta"}, {"priority": ">=2"}, "a"),
        ({"tags": "beta"}, {"tags": "beta"}, ""),
        ({}, {"no_such_field": "x"}, "abcdef"),
    ],
)
def test_filters_can_exclude(
    rows: list[sqlite3.Row], filters: dict[str, object], excluded: dict[str, object], expected: str
) -> None:
    assert passing(rows, filters, excluded) == expected


@pytest.mark.parametrize(
    "filters", [{"created": "soon"}, {"date": "3 o'clock"}, {"modified": ">=later"}, {"tags": [""]}]
)
def test_values_that_mean_nothing_are_refused(rows: list[sqlite3.Row], filters: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        allowed_documents(rows, filters)
    with pytest.raises(UsageError):
        allowed_documents(rows, {}, filters)


def test_a_document_has_the_date_it_gives_itself(rows: list[sqlite3.Row]) -> None:
    dates = [document_date(row).strftime("%Y-%m-%d") for row in rows]
    assert dates == ["2020-05-05", "2020-05-05", "2024-03-09", "2025-06-30", "2023-01-01", "2020-05-05"]


# Why nothing passes


@pytest.mark.parametrize(
    ("filters", "excluded", "said"),
    [
        ({"tags": "bta"}, {}, "No document has tags=bta; values here: Beta, "),
        ({"colour": "red"}, {}, "No document has a field 'colour'; fields here: "),
        ({"type": "docx"}, {}, "No document has type=docx; types here: md, pdf."),
        ({"language": "german"}, {}, "No document has language=german; languages here: en."),
        ({"path": "attic"}, {}, "No document has a path that matches attic."),
        ({"after": "2030"}, {}, "their dates go from 2020-05-05 to 2025-06-30."),
        ({"code": "python"}, {}, "No document has code in a language that is named."),
        (
            {"author": "Ada", "draft": True},
            {},
            "No document passes all filters at once: author=Ada (2 documents), draft=True (1 document).",
        ),
        (
            {"draft": ["true", "false"]},
            {"priority": "high", "date": "2023"},
            "Every document that passes the other filters is left out by -date=2023.",
        ),
        ({}, {"language": "en"}, "Every document is left out by -language=en."),
    ],
)
def test_it_is_said_why_nothing_passes(
    rows: list[sqlite3.Row], filters: dict[str, object], excluded: dict[str, object], said: str
) -> None:
    assert passing(rows, filters, excluded) == ""
    assert said in explain_empty(rows, filters, excluded)


def test_nothing_is_said_when_something_passes(rows: list[sqlite3.Row]) -> None:
    assert explain_empty(rows, {"author": "Ada"}, {"tags": "gamma"}) == ""
    assert explain_empty([], {"author": "Ada"}) == "There are no documents."


def test_near_names_and_languages_of_code_are_shown(rows: list[sqlite3.Row]) -> None:
    assert "fields here: priority, " in explain_empty(rows, {"prioritty": "1"})
    here = explain_empty(
        rows, {"code": "cobol"}, code=lambda languages: set(), code_languages={"python": 3, "go": 1}
    )
    assert here == "No document has code in cobol; languages here: python, go."


# Values


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_ranges_of_numbers_hold_their_ends(low: float, high: float, value: float) -> None:
    low, high, value = (round(number, 3) for number in (low, high, value))
    assert matches(f"{low}..{high}", value) == (low <= value <= high)
    assert matches(f">={low}", value) == (value >= low)
    assert matches(f"<{high}", value) == (value < high)
    assert matches(str(value), value)


@given(st.dates(), st.dates())
def test_ranges_of_dates_hold_their_ends(one: Any, other: Any) -> None:
    if max(one.year, other.year) > 9990 or min(one.year, other.year) < 1000:
        return
    assert matches(f">={one.isoformat()}", other.isoformat()) == (other >= one)
    assert matches(f"<={one.isoformat()}", other.isoformat()) == (other <= one)
    assert matches(f"{one:%Y-%m}", other.isoformat()) == ((one.year, one.month) == (other.year, other.month))
    span = date_span(f"{one:%Y}")
    assert span
    assert (span[1].year, span[1].month, span[1].day) == (one.year + 1, 1, 1)


@given(
    st.text(max_size=20),
    st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.booleans(), st.none()),
)
def test_any_value_can_be_compared(wanted: str, value: object) -> None:
    assert matches(wanted, value) in (True, False)
