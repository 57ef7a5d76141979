from __future__ import annotations

import pytest

from pinakes.ingest.clauses import extract_clauses
from pinakes.ingest.labelled import add_labelled_headings
from pinakes.ingest.parse import Parsed, parse
from pinakes.ingest.sections import build_sections
from pinakes.model import Converted

TYPED = """LEASE

ARTICLE I
DEFINITIONS

1.1 "Rent" means the sum due.

ARTICLE II - RENT

2.1 The tenant pays monthly.

2.2 Late rent:

(a) bears interest; and

(b) may end the lease.

EXHIBIT A

A plan of the house.
"""


def read(text: str, markdown: bool = False) -> Parsed:
    return add_labelled_headings(parse(Converted(text, markdown=markdown)))


def test_a_contract_typed_without_styles_has_structure() -> None:
    parsed = read(TYPED)
    sections = build_sections(parsed)
    assert [(s.label, s.level) for s in sections[1:]] == [
        ("ARTICLE I", 2),
        ("ARTICLE II", 2),
        ("EXHIBIT A", 1),
    ]
    labels = [clause.label for clause in extract_clauses(parsed, sections)]
    assert labels == ["1.1", "2.1", "2.2", "2.2(a)", "2.2(b)"]
    assert "".join(TYPED[block.start : block.end] for block in parsed.blocks) == TYPED


def test_bold_numbered_lines_of_a_markdown_file() -> None:
    parsed = read("**1. Definitions.**\n\nText.\n\n**2. Rent.**\n\n2.1 Monthly.\n", markdown=True)
    assert [section.heading for section in build_sections(parsed)[1:]] == ["1. Definitions", "2. Rent"]


@pytest.mark.parametrize(
    "text",
    [
        "Article 5 shall apply to all.\n\nArticle 6 shall not apply.\n",
        "Section 4 of the act was repealed in 1990.\n\nPart of the work is done.\n",
        "1. Turn off the power.\n\n2. Open the case.\n",
        "ARTICLE I\n\nOne label alone is no structure.\n",
        "Chapter 1 was long; chapter 2 was longer,\n\nand so on.\n",
    ],
)
def test_prose_and_steps_are_no_headings(text: str) -> None:
    assert not read(text).headings


def test_real_headings_are_left_alone() -> None:
    parsed = read("# Title\n\nARTICLE I\n\nARTICLE II\n", markdown=True)
    assert [heading.text for heading in parsed.headings] == ["Title"]
