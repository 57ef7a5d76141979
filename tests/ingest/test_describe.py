"""What a document is called and what it is about."""

from __future__ import annotations

from typing import Any

import pytest

from loccit.ingest.prepare import document_summary, document_title
from loccit.model import Converted
from loccit.structure import parse
from loccit.structure.places.tree import build_sections


def title(text: str, path: str = "docs/my_first-note.md", **metadata: Any) -> str:
    parsed = parse(Converted(text, metadata=metadata))
    return document_title(parsed, build_sections(parsed), path)


def summary(text: str, **metadata: Any) -> str:
    return document_summary(parse(Converted(text, metadata=metadata)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: From  the\n  top\n---\n# Heading\n", "From the top"),
        ("---\ntitle: 1984\n---\n# Heading\n", "1984"),
        ("---\ntitle: true\n---\n# Heading\n", "Heading"),
        ("---\ntitle: [a]\n---\n# Heading\n", "Heading"),
        ("# Heading\n\n## A\n\n## B\n", "Heading"),
        ("badges\n\n## Heading\n\n### A\n", "Heading"),
        ("## A\n\n# Appendix\n", "my first note"),
        ("# A\n\n# B\n", "my first note"),
        ("# The first of my notes\n\n# B\n", "The first of my notes"),
        ("Text\n\n# The first of my notes\n\n# B\n", "my first note"),
        ("Long text. " * 200 + "\n\n## References\n", "my first note"),
        ("no heading\n", "my first note"),
    ],
)
def test_title_of_a_text(text: str, expected: str) -> None:
    assert title(text) == expected


@pytest.mark.parametrize(
    "own", ["Microsoft Word - draft3", "Untitled", "Document1", "PowerPoint Presentation", "x.docx", " "]
)
def test_titles_that_programs_make_up_are_not_used(own: str) -> None:
    assert title("text", title=own) == "my first note"


@pytest.mark.parametrize(
    "own", ["Introduction to Node.js", "Document management", "PowerPoint for lawyers", "Annual report"]
)
def test_title_from_the_properties_of_the_file(own: str) -> None:
    assert title("text", title=own) == own


def test_title_is_never_empty_and_never_endless() -> None:
    assert title("", path="") == ""
    assert title("", path="/-") == "/-"
    assert len(title(f"---\ntitle: {'x' * 5000}\n---\ntext")) == 300


def test_summary_is_what_the_document_says_of_itself() -> None:
    assert (
        summary("Text that is long enough to be a summary of it.", description=" About\nit. ") == "About it."
    )
    assert summary("---\nsummary: Short.\n---\nText") == "Short."
    assert summary("---\ndescription: [a, b]\n---\nText") == ""


def test_summary_is_the_first_paragraph_without_markup() -> None:
    text = (
        "# Heading that is long enough to be taken for a paragraph\n\nShort.\n\n```\ncode that is long enough to be taken\n```\n\n"
        '<div align="center">The **first** real [paragraph](http://x) of this `text`, see [[Page]].</div>\n'
    )
    assert summary(text) == "The first real paragraph of this text , see Page ."


def test_summary_has_a_bounded_length() -> None:
    assert len(summary("word " * 10_000)) <= 300
    assert len(summary("](" * 200_000)) <= 300
