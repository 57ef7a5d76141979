from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes import Library
from pinakes.errors import UsageError
from pinakes.search.filters import parse_date

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
    [("2024-02-29", "2024-02-29T00:00:00+00:00"), ("2024", "2024-01-01T00:00:00+00:00"), ("nonsense", None)],
)
def test_dates_are_read(text: str, iso: str | None) -> None:
    date = parse_date(text)
    assert (date.isoformat() if date else None) == iso
