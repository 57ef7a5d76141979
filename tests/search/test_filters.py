from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.errors import UsageError
from loccit.index.folder.database import Database
from loccit.index.folder.fields import EmbeddedFilter, write_fields
from loccit.index.folder.lookup import Lookup
from loccit.index.port.filters import PathTest, Predicate, document_date
from loccit.index.port.values import date_span, field_value, parse_date, wanted_value
from loccit.search.understand import filters as filters_module
from loccit.search.understand.filters import FEW_DOCUMENTS, FilterHelp, compile_filters

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
    with Library(folder / ".loccit") as library:
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
MTIME = int(datetime(2020, 5, 5, tzinfo=timezone.utc).timestamp() * 1e9)


def record(folder: Path, documents: Sequence[tuple[str, str, dict[str, Any]]]) -> Database:
    """A record that has nothing but documents with a path, a title and frontmatter."""
    database = Database(folder / "record.sqlite3", create=True)
    with database.transaction() as connection:
        connection.executemany(
            "INSERT INTO documents (source_path, title, file_type, language, doc_summary, metadata, body_start, pages, "
            "warnings, mtime_ns, size, content_hash, settings, total_chunks, ingested_at, text) "
            "VALUES (?, ?, ?, 'en', '', ?, 0, '[]', '[]', ?, 0, '', '', 0, '', '')",
            [
                (path, title, Path(path).suffix, json.dumps(metadata), MTIME)
                for path, title, metadata in documents
            ],
        )
        for (document,) in connection.execute("SELECT id FROM documents").fetchall():
            write_fields(connection, document)
    return database


class NoCode:
    """An index without code; or with documents of no language but one."""

    def documents_with_code(self, languages: Sequence[str]) -> set[int]:
        return set()

    def code_languages(self) -> dict[str, int]:
        return {}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    vault = [
        (f"/v/{name}{'.pdf' if name == 'f' else '.md'}", f"Title {name}", metadata)
        for name, metadata in VAULT.items()
    ]
    database = record(tmp_path_factory.mktemp("vault"), vault)
    yield database
    database.close()


def stems(database: Database, documents: Sequence[int] | set[int]) -> str:
    return "".join(sorted(Path(path).stem for path in Lookup(database).paths(documents).values()))


def passing(rows: Database, filters: dict[str, object], excluded: dict[str, object] | None = None) -> str:
    fields, every = EmbeddedFilter(rows), [row[0] for row in rows.rows("SELECT id FROM documents")]
    predicate = compile_filters([filters], excluded, Lookup(rows).languages).documents
    listed = stems(rows, fields.matching(predicate))
    assert stems(rows, fields.passing(predicate, every)) == listed, "asked about all, it answers the same"
    assert len(fields.matching(predicate, 2)) == min(2, len(listed))
    return listed


def explain(
    rows: Database, filters: dict[str, object], excluded: dict[str, object] | None = None, code: Any = None
) -> str:
    return FilterHelp(EmbeddedFilter(rows), Lookup(rows), code or NoCode()).explain_empty(filters, excluded)


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
def test_frontmatter_is_filtered(rows: Database, filters: dict[str, object], expected: str) -> None:
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
    rows: Database, filters: dict[str, object], excluded: dict[str, object], expected: str
) -> None:
    assert passing(rows, filters, excluded) == expected


@pytest.mark.parametrize(
    "filters", [{"created": "soon"}, {"date": "3 o'clock"}, {"modified": ">=later"}, {"tags": [""]}]
)
def test_values_that_mean_nothing_are_refused(rows: Database, filters: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        compile_filters([filters])
    with pytest.raises(UsageError):
        compile_filters([], filters)


def test_a_document_has_the_date_it_gives_itself(rows: Database) -> None:
    found = EmbeddedFilter(rows).dates_of(range(1, 7))
    dates = [
        datetime.fromtimestamp(found[number], timezone.utc).strftime("%Y-%m-%d") for number in range(1, 7)
    ]
    assert dates == [document_date(metadata, MTIME).strftime("%Y-%m-%d") for metadata in VAULT.values()]
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
        ({"code": "python"}, {}, "No document has code in a known language."),
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
    rows: Database, filters: dict[str, object], excluded: dict[str, object], said: str
) -> None:
    if "code" not in filters:
        assert passing(rows, filters, excluded) == ""
    assert said in explain(rows, filters, excluded)


def test_nothing_is_said_when_something_passes(rows: Database, tmp_path: Path) -> None:
    assert explain(rows, {"author": "Ada"}, {"tags": "gamma"}) == ""
    empty = record(tmp_path, [])
    assert explain(empty, {"author": "Ada"}) == "There are no documents."
    empty.close()


def test_near_names_and_languages_of_code_are_shown(rows: Database) -> None:
    class Code(NoCode):
        def code_languages(self) -> dict[str, int]:
            return {"python": 3, "go": 1}

    assert "fields here: priority, " in explain(rows, {"prioritty": "1"})
    here = explain(rows, {"code": "cobol"}, code=Code())
    assert here == "No document has code in cobol; languages here: python, go."


def test_a_file_that_was_touched_has_the_new_date(notes: Library) -> None:
    path = next(info.source_path for info in notes.documents() if info.source_path.endswith("c.txt"))
    assert not notes.documents({"modified": "2031"})
    before = notes._index.database.value("SELECT mtime_ns FROM documents WHERE source_path = ?", (path,))
    notes._index.record.touch(path, int(datetime(2031, 2, 3, tzinfo=timezone.utc).timestamp() * 1e9))
    assert [info.source_path for info in notes.documents({"modified": "2031"})] == [path]
    notes._index.record.touch(path, before)


# Many documents, many values

MANY = FEW_DOCUMENTS + 500


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("many")
    documents = [
        (f"/lib/{n % 10}/{n}.md", f"Report {n}", {"number": n, "tags": ["even" if n % 2 == 0 else "odd"]})
        for n in range(MANY)
    ]
    database = record(folder, documents)
    yield database
    database.close()


def test_more_documents_than_can_be_named_are_asked_about_one_by_one(many: Database) -> None:
    fields = EmbeddedFilter(many)
    allowed = filters_module.allowed_documents(
        fields, compile_filters([{"number": f"<{MANY - 100}"}]).documents
    )
    assert not isinstance(allowed, set) and allowed is not None
    assert allowed.among(range(1, 4)) == {1, 2, 3}
    assert 1 in allowed and MANY not in allowed
    assert {1, MANY} & allowed == {1}
    assert len(allowed.listed()) == len(allowed) == MANY - 100
    few = filters_module.allowed_documents(fields, compile_filters([{"path": "/lib/3"}]).documents)
    assert isinstance(few, set) and len(few) == MANY / 10


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"path": [f"/lib/{n % 10}/{n}.md" for n in range(0, MANY, 3)]}, MANY // 3),
        ({"path": [f"{n}.md" for n in range(1200)]}, 1200),
        ({"number": list(range(2000, 7000))}, 0),
        ({"number": [*range(5), "9999..10000"]}, 5),
        ({"path": [f"/lib/{n % 10}/[[]{n}].md" for n in range(5000)]}, 0),
        ({"tags": ["odd", *(f"x{n}" for n in range(5000))]}, MANY / 2),
        ({"tags": "even", "number": ">=1400", "path": "/lib/2"}, 10),
        ({"title": "report 149"}, 11),
        ({"path": "*9.md"}, MANY / 10),
        ({"path": "lib/[!0-8]/*"}, MANY / 10),
    ],
)
def test_thousands_of_values_are_right(many: Database, filters: dict[str, object], count: int) -> None:
    fields, predicate = EmbeddedFilter(many), compile_filters([filters]).documents
    assert len(fields.matching(predicate)) == count
    assert len(fields.passing(predicate, range(MANY + 1))) == count


@pytest.mark.parametrize(
    "filters",
    [{"tags": ["x"] * 20_000}, {"number": [f"{n}..{n + 1}" for n in range(500)]}, {"path": ["*x"] * 300}],
)
def test_too_many_values_are_refused(filters: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="at most"):
        compile_filters([filters])


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(UsageError, match="mapping"):
        compile_filters(["type=pdf"])  # type: ignore[list-item]


def test_counts_beyond_what_is_looked_at_say_so(many: Database) -> None:
    said = explain(many, {"type": "md", "number": "<3", "tags": "odd", "title": "report 2"})
    assert "type=md (more than 1,000 documents), number=<3 (3 documents)" in said


def test_frontmatter_without_end_is_cut(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"leaf": "x"}
    for _ in range(60):
        deep = {"in": deep}
    metadata = {"tags": ", ".join(f"t{n}" for n in range(50_000)), "deep": deep, "long": "y" * 1_000_000}
    database = record(tmp_path, [("/v/a.md", "A", metadata), ("/v/b.md", "B", {"long": "y" * 1_000_000})])
    assert passing(database, {"tags": "t7"}) == "a"
    assert passing(database, {"deep": "x"}) == "a"
    assert passing(database, {"long": "y" * 1_000_000}) == "ab"
    assert database.value("SELECT COUNT(*) FROM document_fields") < 5000
    database.close()


_part = st.sampled_from(["a", "b", "a.md", "x[1]", "*", "a*", "[!a]", "?", "ö", "..", "."])
_name = st.sampled_from(["a", "b", "a.md", "x[1]", "x1", "[!a]", "ö", "Ab"])


@given(
    st.lists(st.lists(_name, min_size=1, max_size=3), max_size=5),
    st.lists(_part, min_size=1, max_size=3),
    st.booleans(),
)
def test_paths_are_found_by_index_as_they_are_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, paths: list[list[str]], pattern: list[str], absolute: bool
) -> None:
    named = {"/r/" + "/".join(path) for path in paths}
    wanted = ("/r/" if absolute else "") + "/".join(pattern)
    database = record(tmp_path_factory.mktemp("paths"), [(path, "T", {}) for path in sorted(named)])
    try:
        (test,) = compile_filters([{"path": wanted}]).documents.all_of
        assert isinstance(test, PathTest)
        found = EmbeddedFilter(database).matching(Predicate((test,)))
        assert set(Lookup(database).paths(found).values()) == {path for path in named if test(path)}
    finally:
        database.close()


# Values


def matches(wanted: str, value: object) -> bool:
    """What comparing a stored value with a compiled one comes to."""
    have, want = field_value(value), wanted_value(wanted)
    if have.text == want.text:
        return True
    if have.number is not None and want.numbers:
        return want.numbers[0] <= have.number < want.numbers[1]
    if have.moment is None or want.moments is None:
        return False
    return want.moments[0] <= have.moment < want.moments[1]


_values = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from(
        ["draft", "2024", "2024-03-09", "20240309", 2024, 2024.5, "#Draft", "1e999", "", "[[Draft]]"]
    ),
)
_wanted = st.sampled_from(
    ["1", "2024", "2024-03", "draft", ">=1", "<2024-06", "2023..2025", "..0", "20240309", "true", ">1e400"]
)


@given(st.lists(_values, min_size=1, max_size=6), _wanted)
def test_the_index_compares_as_values_are_compared(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], wanted: str
) -> None:
    database = record(
        tmp_path_factory.mktemp("values"),
        [(f"/{n}", "T", {"field": value}) for n, value in enumerate(values)],
    )
    try:
        found = EmbeddedFilter(database).matching(compile_filters([{"field": wanted}]).documents)
        assert set(found) == {n for n, value in enumerate(values, 1) if matches(wanted, value)}
    finally:
        database.close()


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


def test_a_threshold_that_leaves_nothing_is_named(notes: Library) -> None:
    response = notes.search("lamp", mode="keyword", min_score=1.0)
    assert not response.results
    assert "passages were found, but below min_score=1." in response.note
    assert "below" not in notes.search("lamp", mode="keyword").note
