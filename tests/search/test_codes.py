from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import NotFoundError
from loccit.search.resolve.numbered_lines import find_codes

STANDARD = """# V3 Web Frontend

Browsers are protected.

## V3.2 Content

Content is interpreted as it was meant.

### V3.2.1 Sandboxes

Sandboxes hold.
"""
CONTROLS = """# Access Control

## AC-2 Account Management

Accounts are managed.

### AC-2(1) Automated Management

By machines.

## AC-20 External Systems

These too.
"""
GUIDE = """# Guide

Use V3.2 of the interface, SHA-256, and AC-2 where UTF-8 is written.
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    for name, text in {"frontend.md": STANDARD, "controls.md": CONTROLS, "guide.md": GUIDE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    library = Library(tmp_path / "index")
    library.index([tmp_path], embed=False)
    return library


@pytest.mark.parametrize(
    ("code", "heading"),
    [
        ("V3", "V3 Web Frontend"),
        ("V3.2", "V3.2 Content"),
        ("v3.2.1", "V3.2.1 Sandboxes"),
        ("AC-2", "AC-2 Account Management"),
        ("AC-2(1)", "AC-2(1) Automated Management"),
        ("AC-20", "AC-20 External Systems"),
    ],
)
def test_a_code_leads_to_the_heading_that_begins_with_it(library: Library, code: str, heading: str) -> None:
    assert library.section(code).heading == heading
    first = library.search(f"{code} of {'frontend' if code[0] in 'Vv' else 'controls'}", top_k=1).results[0]
    assert first.content.lstrip("# ").startswith(heading)


def test_a_code_that_begins_no_heading_is_no_place(library: Library) -> None:
    with pytest.raises(NotFoundError):
        library.section("SHA-256")


def test_numbers_and_words_are_no_codes() -> None:
    assert find_codes("Section 4.2 of the agreement of 2021, page 7") == []
    assert find_codes("a" * 100_000 + "1") == []
    assert find_codes("A-" * 50_000 + "1") == []
