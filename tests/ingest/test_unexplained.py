"""What looks numbered and is no place: it makes the places of a document doubtful."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library
from loccit.model import Converted, SelfCheck
from loccit.structure import parse
from loccit.structure.places.unexplained import unexplained

SENTENCE = "The keeper of the store enters each delivery in the book and signs for it on the same day. "


def numbered(template: str, count: int = 12) -> str:
    return "\n\n".join(template.format(n=n) + SENTENCE for n in range(1, count + 1))


@pytest.mark.parametrize(
    "template",
    ["MAN-{n} | ", "- [7.{n}](#part) ", "![ok] 3.{n} ", "[Style [Y0{n}](#y)] ", "Dalis {n}. ", "{n}. "],
)
def test_numbered_lines_without_any_place_are_unexplained(template: str) -> None:
    found = unexplained(parse(Converted(numbered(template), markdown=False)), [])
    assert (found.numbered, found.unexplained) == (12, 12)
    assert not found.whole
    assert SelfCheck(numbered=found.numbered, unexplained=found.unexplained).doubtful


@pytest.mark.parametrize(
    "text",
    [
        numbered("On day 7 and {n} more, ", 3),
        numbered("Table {n}. Deliveries. "),
        "\n".join(f"{day}.11.2024 0{day}:15 store opened" for day in range(1, 9)),
        "1. Open the door.\n2. Count the crates.\n3. Sign the book.\n\n" + SENTENCE * 30,
        "".join(f"{n}. Fill in box {n}.\n" for n in range(1, 10)) + SENTENCE * 60,
    ],
)
def test_what_numbers_no_parts_is_not_counted(text: str) -> None:
    assert unexplained(parse(Converted(text, markdown=False)), []).unexplained == 0


def test_references_to_other_acts_do_not_contradict_whole_numbers(tmp_path: Path) -> None:
    others = "Articles 231 à 238 du décret du 4 mai, l'article 88-1 et l'article 90 s'appliquent. "
    articles = "".join(f"##### Article {n}\n\n{SENTENCE}{others}\n\n" for n in range(1, 15))
    (tmp_path / "decret.md").write_text(f"# Décret\n\n{articles}")
    (tmp_path / "troue.md").write_text(
        "# Décret\n\n"
        + "".join(
            f"##### Article {n}\n\nL'article {n + 1} s'applique, et l'article {n + 2} aussi.\n\n"
            for n in (1, 4, 7, 10, 13)
        )
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path], embed=False)
        checks = {Path(info.source_path).name: info.self_check for info in library.documents()}
    assert not checks["decret.md"].doubtful
    assert checks["troue.md"].doubtful
    assert checks["troue.md"].unexplained == 8
