"""A compound finds what has its parts, and the parts find the compound."""

from __future__ import annotations

from pathlib import Path

from tests.search.asking import files, write

from loccit import Library

FILES = {
    "frist.md": "# Dienst\n\n## § 1 Lösung\n\nDie Frist für die Kündigung beträgt vier Wochen und beginnt am Montag.\n",
    "zeit.md": "# Arbeit\n\n## § 1 Dauer\n\nDie höchste zulässige Arbeitszeit sind acht Stunden an jedem Tag.\n",
    "urlaub.md": "# Urlaub\n\n## § 1 Anspruch\n\nDer Urlaubsanspruch verfällt nach dem Ende des Jahres.\n",
    "sonst.md": "# Sonstiges\n\n## § 1 Urlaub\n\nAuf den Anspruch wird hingewiesen. Der Urlaub ist zu gewähren.\n",
}


def test_compounds_and_parts_find_one_another(small: Library, tmp_path: Path) -> None:
    write(tmp_path / "docs", FILES)
    small.index([tmp_path / "docs"], embed=False)
    assert files(small.search("Kündigungsfrist", mode="keyword"))[:1] == ["frist"]
    assert files(small.search("Höchstarbeitszeit", mode="keyword"))[:1] == ["zeit"]
    assert "urlaub" in files(small.search("Anspruch auf Urlaub", mode="keyword"))[:2]


def test_libraries_in_english_have_no_such_words(small: Library, tmp_path: Path) -> None:
    text = (
        "# Notice\n\nThe notice period is four weeks and begins on the next Monday of the calendar month.\n"
    )
    write(tmp_path / "docs", {"a.md": text})
    small.index([tmp_path / "docs"], embed=False)
    assert not small.search("noticeperiod", mode="keyword").results
