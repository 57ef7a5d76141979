"""Where a document uses its defined terms."""

from __future__ import annotations

from pathlib import Path

from loccit import Library

TEXT = """# Rules

## Terms

"Pilot Boat" means a boat that carries pilots.

"Boat" means a craft with oars. "harbour dues" means what is paid.

## Use

A pilot boat is no Pilot Boat here. The Boats lie; harbour. Dues are paid. Pilot boats and a boat: harbour
dues, and Pilot Boat again.

## Boat

The Boat 🚤 pays Harbour dues.
"""


def test_each_term_is_marked_once_in_a_section(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text(TEXT, encoding="utf-8")
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "rules.md", embed=False)
        (info,) = library.documents()
        view = library.reader(info.source_path)
        used = view.terms
    text = view.text
    marked = [
        (text[item.start : item.end], used.definitions[item.definition].term)
        for item in used.places
        if item.start > text.index("## Use")
    ]
    assert marked == [
        ("Pilot Boat", "Pilot Boat"),
        ("Boats", "Boat"),
        ("harbour\ndues", "harbour dues"),
        ("Boat", "Boat"),
        ("Harbour dues", "harbour dues"),
    ]
    lines = text.split("\n")
    for definition in used.definitions:
        first, last = definition.lines
        assert f'"{definition.term}"' in "\n".join(lines[first - 1 : last])
