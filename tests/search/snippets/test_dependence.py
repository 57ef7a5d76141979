"""What is shown of a section holds what it depends on, and says which lines it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.search.asking import write

from loccit import Library

FILLER = (
    "The parties keep records of their dealings and show them to one another when they are asked to do so. "
)
ITEMS = "\n\n".join(
    f"({number}) the base amount of tranche {number}, less what was repaid;" for number in ("i", "ii", "iii")
)
TEXT = f"""# Loan

## 4. Interest

{FILLER * 12}

The applicable margin for dredging vessels shall be equal to the sum of:

{ITEMS}

in each case as of the first day of the quarter.

{FILLER * 12}
"""


EMPTYING = (
    "To empty the bilge of a trawler, see that the trawler lies level, that nobody is below and that the bilge is free of "
    "oil, and give these in the order in which they stand, from the bow of the trawler to its stern:"
)


@pytest.fixture
def loan(small: Library, tmp_path: Path) -> Library:
    write(tmp_path / "docs", {"loan.md": TEXT})
    small.index([tmp_path / "docs"], embed=False)
    return small


def test_a_sentence_is_shown_with_the_list_that_it_announces(loan: Library) -> None:
    content = loan.search("applicable margin for dredging vessels").results[0].content
    assert "sum of" in content and "tranche iii" in content


def test_an_item_is_shown_with_the_words_that_announce_it(loan: Library) -> None:
    content = loan.search("what was repaid of the base amount of tranche ii").results[0].content
    assert "sum of" in content and "tranche ii," in content


@pytest.mark.parametrize(
    "block",
    [
        "```console\n" + "$ valve --check\n" * 12 + "$ valve --drain\n```",
        "| valve | turn |\n|---|---|\n" + "| of the keel | --check |\n" * 12 + "| of the stern | --drain |",
    ],
)
def test_a_sentence_is_shown_with_the_block_that_it_announces(
    small: Library, tmp_path: Path, block: str
) -> None:
    text = f"# Pumps\n\n## Bilge\n\n{FILLER * 12}\n\n{EMPTYING}\n\n{block}\n\n{FILLER * 12}\n"
    write(tmp_path / "docs", {"pumps.md": text})
    small.index([tmp_path / "docs"], embed=False)
    assert "--drain" in small.search("how to empty the bilge of a trawler").results[0].content


def test_a_result_says_which_lines_of_its_section_it_leaves_out(loan: Library, tmp_path: Path) -> None:
    result = loan.search("applicable margin for dredging vessels").results[0]
    lines = (tmp_path / "docs" / "loan.md").read_text().splitlines()
    assert result.lines and result.left_out
    shown = set(range(result.lines.first, result.lines.last + 1))
    hidden = {line for span in result.left_out for line in range(span.first, span.last + 1)}
    assert not shown & hidden
    assert {
        number for number, line in enumerate(lines, 1) if line.startswith("The parties")
    } <= shown | hidden
    first, last = min(shown | hidden), max(shown | hidden)
    assert f" of {first}–{last}\n" in result.format()


def test_an_identifier_in_a_question_puts_the_document_first_that_has_it(
    small: Library, tmp_path: Path
) -> None:
    texts = {
        "pumps.md": "# Pumps\n\n## Fuses\n\nThe fuse of a pump is of ten amperes, and the fuse is changed yearly.\n",
        "list.md": "# List\n\n## Rarities\n\nThe XK-7719 takes another one.\n",
    }
    write(tmp_path / "docs", texts)
    small.index([tmp_path / "docs"], embed=False)
    for query in ("XK-7719", "which fuse does the pump XK-7719 take"):
        assert Path(small.search(query).results[0].source_path).stem == "list"


def test_words_that_stand_there_are_a_match_without_quotation_marks(small: Library, tmp_path: Path) -> None:
    texts = {f"{n}.md": f"# Note {n}\n\nAfter an attack of gout, number {n}, he rested.\n" for n in range(30)}
    texts["law.md"] = "# Cover\n\nLoss by a terrorist attack is not covered.\n"
    write(tmp_path / "docs", texts)
    small.index([tmp_path / "docs"], embed=False)
    response = small.search("terrorist attack")
    assert Path(response.results[0].source_path).stem == "law" and response.confidence > 0.6
