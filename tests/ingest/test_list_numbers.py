"""Clauses written as Markdown lists: they are reached by the numbers that a reader sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library

TERMS = "The party that mends the sails pays for them within the month in which they were mended. " * 4


def agreement(one: str = "1.", two: str = "2.") -> str:
    """An agreement that is one list: its clauses have titles, and lists of their own."""
    return (
        f"# Sailing Agreement\n\n{one} **Repairs**\n    {one} **Sails.** {TERMS}\n    {two} **Ropes.** {TERMS}\n"
        f"        a. old ropes;\n        b. new ropes.\n\n{two} **Payment**\n    {one} **Fees.** {TERMS}\n"
        f"    {two} **Delay.** Section 1.2 applies. {TERMS}\n"
    )


def index(folder: Path, text: str, name: str = "text.md") -> Library:
    (folder / name).write_text(text, encoding="utf-8")
    library = Library(folder / "index")
    library.index([folder / name], embed=False)
    return library


def line(library: Library, reference: str) -> int:
    view = library.section(reference)
    assert view.lines is not None
    return view.lines.first


@pytest.mark.parametrize("markers", [("1.", "2."), ("1.", "1."), ("1)", "2)")])
def test_nested_lists_are_reached_by_the_numbers_around_them(
    tmp_path: Path, markers: tuple[str, str]
) -> None:
    text = agreement(*markers)
    lines = text.split("\n")
    with index(tmp_path, text) as library:
        assert "Ropes" in lines[line(library, "Section 1.2") - 1]
        assert "b. new" in lines[line(library, "Section 1.2(b)") - 1]
        assert "Fees" in lines[line(library, "2.1") - 1]
        assert "Payment" in lines[line(library, "Section 2") - 1]
        (outline,) = library.outline("text.md")
        assert [node.heading[3:] for node in outline.nodes[0].children] == ["Repairs", "Payment"]


def test_spans_around_titles_are_not_part_of_them(tmp_path: Path) -> None:
    text = agreement().replace("**Repairs**", '<span class="head" id="1">Repairs</span>')
    text = text.replace("**Payment**", '<span class="head" id="2">Payment</span>').replace(
        "**Fees.** The party", '<span class="head">Fees.</span> The <span class="link">party</span>'
    )
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.heading for node in outline.nodes[0].children] == ["1. Repairs", "2. Payment"]
        assert line(library, "Payment") == line(library, "Section 2")


def test_a_list_within_a_list_does_not_restart_it(tmp_path: Path) -> None:
    text = (
        "# Statutes\n\n## § 2 Purpose\n\n1. The purposes are:\n\n   1. science,\n   2. youth,\n\n      above all camps.\n\n"
        "   3. sport.\n2. They are reached by:\n   1. meetings,\n   2. books.\n\n   This holds always.\n\n3. Money is not kept.\n"
    )
    with index(tmp_path, text) as library:
        lines = [
            line(library, f"§ 2({reference})")
            for reference in ("1", "1)(2", "1)(3", "2", "2)(1", "2)(2", "3")
        ]
        assert lines == [5, 8, 12, 13, 14, 15, 19]


def test_items_are_counted_as_they_are_shown(tmp_path: Path) -> None:
    text = "# Statutes\n\n## Article 3\n\n1. Anyone may join.\n1. Members pay:\n   - fees,\n   - dues.\n1. They leave.\n7. They return.\n"
    with index(tmp_path, text) as library:
        assert [line(library, f"Article 3({n})") for n in (1, 2, 3, 7)] == [5, 6, 9, 10]


def test_lists_that_restart_below_headings_are_not_what_a_mention_means(tmp_path: Path) -> None:
    door = "the **Door.** It is heavy, and it has to be held while the others walk through."
    steps = f"1. Open {door}\n2. Do as paragraph 1 says.\n3. Close {door}\n\n"
    text = "# Manual\n\n" + "".join(f"## {name}\n\n{steps}" for name in ("Opening", "Closing", "Locking"))
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.heading for node in outline.nodes[0].children] == ["Opening", "Closing", "Locking"]
        assert not any(node.children for node in outline.nodes[0].children)


def test_a_mention_of_another_number_is_no_evidence_for_a_list(tmp_path: Path) -> None:
    text = f"# Parser\n\n{TERMS}\n\n1. Read the address as section 5.1.2 says.\n2. Split it.\n3. Join it.\n4. Sort it.\n5. Stop.\n"
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert not outline.nodes[0].children


LISTS = "## 1. Fees\n\n{said}\n\n1. Members pay.\n2. Guests pay:\n   a. at once,\n   b. in full.\n\n## 2. Term\n\na. It begins.\nb. It ends.\n"


def test_lists_below_numbers_that_the_document_cites_are_clauses(tmp_path: Path) -> None:
    with index(tmp_path, "# Terms\n\n" + LISTS.format(said="Subject to clause 2:")) as library:
        references = ("clause 1(1)", "1.2", "Section 1(2)(b)", "clause 2(b)")
        assert [line(library, reference) for reference in references] == [7, 8, 10, 15]


def test_lists_below_numbers_that_nothing_cites_are_steps(tmp_path: Path) -> None:
    with index(tmp_path, "# Terms\n\n" + LISTS.format(said="Work through this list:")) as library:
        (outline,) = library.outline("text.md", clauses=True)
        assert [len(node.children) for node in outline.nodes[0].children] == [0, 0]


@pytest.mark.parametrize(
    "below",
    [
        "1. One.\n2. Two.\n\nSome text between them.\n\n1. Other.\n2. Another.\n",
        "A. One:\n\n    1. first,\n    2. last.\n\nB. Two.\n\nA. Other.\n",
        "1. One.\n2. Two.\n\n### 1.1 Guests\n\nThey pay.\n\n### 1.2 Members\n\nThey pay.\n",
    ],
    ids=["two lists", "lettered lists", "numbered sections below"],
)
def test_lists_whose_numbers_would_be_ambiguous_are_not_clauses(tmp_path: Path, below: str) -> None:
    text = f"# Terms\n\n## 1. Fees\n\nSubject to clause 2:\n\n{below}\n## 2. Term\n\nIt never ends.\n"
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md", clauses=True)
        assert not [node for node in outline.nodes[0].children[0].children if node.label.startswith("1(")]


def test_a_short_first_paragraph_of_an_article_is_no_section(tmp_path: Path) -> None:
    article = (
        "1. Members pay what article 1 and article 2 say for that year.\n2. Guests pay nothing at all here.\n"
    )
    first = "1. The club has this name: HARBOUR\n2. Its seat is in the town.\n"
    text = f"# Statutes\n\n## Article 1 Name\n\n{first}\n## Article 2 Fees\n\n{article}\n## Article 3 Dues\n\n{article}"
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.label for node in outline.nodes[0].children] == ["Article 1", "Article 2", "Article 3"]
        assert line(library, "Article 1(2)") == 6


def test_a_list_among_numbered_headings_is_no_section(tmp_path: Path) -> None:
    """Requirements: steps go on where the number of a section that comes later would stand."""
    steps = "\n\n".join(
        f"{number}) Mend the sails of boat {number}, one after the other." for number in range(4, 9)
    )
    text = f"# 1. Purpose\n\n{TERMS}\n\n# 2. Duties\n\n{TERMS}\n\n# 3. Steps\n\n{steps}\n\n"
    text += "".join(
        f"# {number}. {name}\n\n{TERMS}\n\n" for number, name in ((4, "Boats"), (5, "Dues"), (6, "Lights"))
    )
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.heading for node in outline.nodes] == [
            "1. Purpose", "2. Duties", "3. Steps", "4. Boats", "5. Dues", "6. Lights",
        ]  # fmt: skip
        assert library.section("Section 5").heading == "5. Dues"


def test_a_paragraph_whose_parent_is_missing_is_like_the_others(tmp_path: Path) -> None:
    """`2.1.1` below a part that has no number of its own is no more a heading than `1.1.1` is."""
    text = "# 1 Sails\n\n"
    for part in (1, 2, 3):
        if part > 1:
            text += f"# {part} Boats of kind {part}\n\n"
        text += "".join(f"{part}.{n} {TERMS}\n\n" for n in (1, 2, 3))
    text += "# 4 Harbours\n\nWhat the harbours have to do is listed.\n\n"
    text += f"4.1.1 {TERMS}\n\n4.1.2 {TERMS}\n\n"
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.label for node in outline.nodes] == ["1", "2", "3", "4"]
        assert not outline.nodes[3].children
        assert "The party" in library.section("4.1.2").text


def test_the_ticks_of_an_axis_are_no_places(tmp_path: Path) -> None:
    ticks = "1.0 2.0\n\n3.0 4.0 5.0 Depth (m)\n\n2.0 2.5 3.0\n\n"
    text = f"# 1 Harbours\n\n{TERMS}\n\n{ticks}# 2 Berths\n\n{TERMS}\n\n{ticks}# 3 Dues\n\n{TERMS}\n"
    with index(tmp_path, text) as library:
        (outline,) = library.outline("text.md")
        assert [node.label for node in outline.nodes] == ["1", "2", "3"]
        assert not any(node.children for node in outline.nodes)


def test_a_list_between_the_items_of_another_is_below_the_one_before_it(tmp_path: Path) -> None:
    page = """<h2>Article 10</h2><ol><li>The board has duties:</li><ol><li>to meet,</li><li>to vote.</li></ol>
    <li>It meets in spring.</li></ol><h2>Article 11</h2><ol><li>Fees are due.</li><li>They are paid.</li></ol>"""
    (tmp_path / "act.html").write_text(f"<html><body><h1>Act</h1>{page}</body></html>")
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "act.html", embed=False)
        assert "in spring" in library.section("Article 10(2)").text
