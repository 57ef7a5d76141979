"""What a document says about its own numbers is evidence; what it says about other instruments is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.structure.places.mentions import Mentions, read_mentions


def numbers(mentions: Mentions) -> set[str]:
    return {
        f"{kind} {'.'.join(str(part[1]) for part in number)}".strip() for kind, number in mentions.numbers
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paid under Section 4.2 hereof", {"section 4.2"}),
        ("as set out in Sections 4, 5 and 6.2 of this Agreement", {"section 4", "section 5", "section 6.2"}),
        ("for details see 6.3.", {"6.3"}),
        ("nach § 5 dieses Vertrages", {"section 5"}),
        ("under Article III of the Plan", {"article 3"}),
        ("the provisions of Section\n9.1 hereof", {"section 9.1"}),
        ("under Section 409A of the Code", set()),
        ("filed under Section 13(d) of the Exchange Act", set()),
        ("Sections 3 and 11 of the Securities Act of 1933", set()),
        ("section 5 of the 1996 Act", set()),
        ("within Code Section 402", set()),
        ("see 26 U.S.C. § 501", set()),
        ("nach § 5 BGB", set()),
        ("pursuant to Rule 10b-5", set()),
        ("with version 2.1 of Table 4.2", set()),
        ("payable within 30 days", set()),
        # A line that begins with a number cannot speak for itself.
        ("Section 4.2 Fees. The fee is due.\n\n5.1 Term. One year.", set()),
    ],
)
def test_only_numbers_of_the_document_itself_are_mentions(text: str, expected: set[str]) -> None:
    assert numbers(read_mentions(text)) == expected


def test_a_number_that_contradicts_its_name_is_not_borne_out(tmp_path: Path) -> None:
    body = "The parties act in good faith and do what is needed to give effect to this agreement. " * 5
    (tmp_path / "terms.txt").write_text(
        f"TERMS\n\n1. Scope. As Section 2 (Payment) and Section 3 (Term) say. {body}\n\n"
        f"2. Payment. As Section 1 (Scope) says. {body}\n\n3. Liability. None. {body}\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        (outline,) = library.outline("terms.txt")
        assert (outline.self_check.references, outline.self_check.references_found) == (3, 2)


def test_references_to_other_acts_do_not_count_against_a_document(tmp_path: Path) -> None:
    body = "The parties act in good faith and do what is needed to give effect to this agreement. " * 5
    (tmp_path / "plan.txt").write_text(
        f"PLAN\n\n1. Scope. As Section 2 says, and Section 4 of the Code. {body}\n\n2. Term. See Section 1. {body}\n\n"
        f"3. Law. Section 4 of the Exchange Act applies. {body}\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        (outline,) = library.outline("plan.txt")
        assert outline.self_check.references == outline.self_check.references_found == 2


@given(st.text(alphabet='Section §4.2()IVX,and of\nAct"“”', max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    read_mentions(text)


def test_hostile_text_takes_no_time_to_speak_of() -> None:
    for unit in ("Section 1 (", "Section 1, 1, 1 and ", "4.4.4.4.4.4.4.4", " (a)(b)", "of the of the "):
        read_mentions(unit * 60_000)
