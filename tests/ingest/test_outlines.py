"""Parts that are counted as I, A, 1: court opinions, old contracts, and what only looks like them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.model import Converted
from loccit.structure import parse
from loccit.structure.places import find_places
from loccit.structure.places.outline import outline_places

TEXT = (
    "     The court granted summary judgment, and the employee appeals from it. We review the\n"
    "ruling afresh and draw all inferences in her favor, as we must at this stage of a case.\n\n"
) * 2

OPINION = f"""\
                 United States Court of Appeals
                      For the First Circuit

No. 08-2327
                        JANE DOE, Appellant,
                                v.
                       SPRINGFIELD, Appellee.

{TEXT}                                  I.

A. Factual Background

{TEXT}                                 -2-
{TEXT}B.        The Transfer

{TEXT}         1. First Transfer

{TEXT}         2. Second Transfer

{TEXT}                                  II. ANALYSIS

{TEXT}§ 757. There was sufficient evidence of that.

{TEXT}                                  III

{TEXT}
     SMITH, Circuit Judge, dissenting.

{TEXT}                                  I

{TEXT}                                  II

{TEXT}"""


def headings(text: str) -> list[tuple[int, str]]:
    parsed = find_places(parse(Converted(text, markdown=False)))
    return [(heading.level, heading.text) for heading in parsed.headings]


def test_the_parts_of_an_opinion_are_places() -> None:
    assert headings(OPINION) == [
        (1, "I"),
        (2, "A. Factual Background"),
        (2, "B. The Transfer"),
        (3, "1. First Transfer"),
        (3, "2. Second Transfer"),
        (1, "II. ANALYSIS"),
        (1, "III"),
        (1, "I"),
        (1, "II"),
    ]


def test_a_part_is_reached_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "doe.txt").write_text(OPINION)
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        view = library.section("Part III", document="doe.txt")
        assert view.lines is not None
        assert OPINION.split("\n")[view.lines.first - 1].strip() == "III"
        (outline,) = library.outline("doe.txt")
        ids = [node.heading for node in outline.nodes]
        assert ids[:2] == ["I", "II. ANALYSIS"]


# As printed with pages: numerals in the middle stand between lines of text, and notes end the pages.
SLIP = "".join(
    f"""\
{page}              {"ASH v. ELM" if page % 2 == 0 else "Opinion of the Court"}

{TEXT.rstrip()}
{numeral}
{TEXT.rstrip()} It was so held below.{page}
——————
  {page} Ash relies on a letter of hers that the clerk received only
later, and on an affidavit.

"""
    for page, numeral in enumerate(
        (" " * 28 + "I", " " * 30 + "A", " " * 29 + "B", " " * 28 + "II", " " * 27 + "III"), 1
    )
)


def test_centred_numerals_are_parts_and_notes_and_page_heads_are_none() -> None:
    assert headings(SLIP) == [(1, "I"), (2, "A"), (2, "B"), (1, "II"), (1, "III")]


def test_a_part_that_two_opinions_have_is_that_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "ash.txt").write_text(f"{SLIP}\n     ELM, J., dissenting.\n\n{SLIP}")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        view = library.section("Section II", document="ash.txt")
        assert view.lines is not None and SLIP.split("\n")[view.lines.first - 1].strip() == "II"
        assert len(view.alternatives) == 1


def test_sections_that_only_have_letters_are_places() -> None:
    text = "DEED OF TRUST\n\n" + "".join(
        f"{letter}. {title}\n\n{TEXT * 2}"
        for letter, title in zip("ABCD", ("Grant", "Trustees", "Powers of Sale", "Release"), strict=True)
    )
    assert [words for _, words in headings(text)] == [
        "A. Grant",
        "B. Trustees",
        "C. Powers of Sale",
        "D. Release",
    ]


def test_initials_pages_and_words_are_no_parts() -> None:
    for text in (
        f"A. Smith, for the appellant.\n\n{TEXT}B. Jones, for the appellee.\n\n{TEXT}",
        f"{TEXT}\n\nI\n\nthink so.\n\n{TEXT}",
        f"{TEXT}\n\niv\n\n{TEXT}\n\n12\n\n{TEXT}",
        "Order\n\nA. Coffee\n\nB. Tea\n\nC. Milk\n\n" + TEXT,
    ):
        assert headings(text) == [], text[:60]


@given(
    st.lists(
        st.sampled_from(
            ["I", "II.", "A. Facts", "A. **", "B. _", "B", "1. One", "2.", "a. small", "text here", "", "\f"]
        ),
        max_size=30,
    )
)
def test_any_order_of_lines_gives_each_place_once(lines: list[str]) -> None:
    found, titles = outline_places("\n" + "\n\n".join(lines) + "\n")
    starts = [line.start for line in found]
    assert starts == sorted(set(starts))
    assert set(titles) <= set(starts)


def test_letters_in_sections_with_a_sign_are_lists_and_numbers_alone_are_pages(tmp_path: Path) -> None:
    text, page = "TOWN CODE\n\nChapter 12\n\n", 0
    for number, title in enumerate(("Definitions", "Permits", "Fees", "Offences"), 1):
        text += f"\x0c12-{(page := page + 1)} \n\nMay 15, 2023 \n\n§ 12-{number}. {title}. \n\n"
        text += "The harbour master may require of any person who moors here: \n\n"
        text += "A. \n\nB. \n\nC. \n\na rope of good quality that holds the boat in a storm of any kind; \n\n"
        text += "a light that is seen from the sea at night and in fog by every other boat; and \n\n"
        text += f"a flag. \n\n\x0c12-{(page := page + 1)} \n\nMay 15, 2023 \n\nThis holds for all boats of the town. \n\n"
    (tmp_path / "code.txt").write_text(text)
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "code.txt"], embed=False)
        (outline,) = library.outline("code.txt")
        assert [node.label for node in outline.nodes] == ["§ 12-1", "§ 12-2", "§ 12-3", "§ 12-4"]
        assert library.section("§ 12-2(B)").text.startswith("B.")
