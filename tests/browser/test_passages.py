"""What results show of a document: its text, without the marks that it was written with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import settled
from tests.server.conftest import index_registry, served

from loccit import Library

MARKS = """# Walrus handbook

## *Walrus* care {#walrus-care}

The ~~old~~ walrus&nbsp;pool is kept below 4 degrees &amp; cleaned weekly.

- [ ] weigh the walrus
- [x] feed the walrus

> ## Walrus quoted

## Words

*Walrus keeper* means a person who keeps a walrus, and feeds it, and weighs it once a week on the large scales behind the
pool, and writes down what it weighed, and says so to the harbour master when it weighs less than the week before, and
calls the surgeon when it weighs less than two weeks before, and does not go home before the surgeon has come and gone.
"""
CLAUSES = """# Ibex rules

## Exchanges

(8) Eighth way to count an ibex.

(9) Ninth way to count an ibex.

(f) When an ibex is counted, then—

(1) It is fed; and

(2) It is let go.
"""
RIGHT = """# دليل

- قندس واحد في الميناء
- قندس آخر هناك

| قندس | عدد |
| --- | --- |
| واحد | اثنان |
"""
LONG_NAME = "Quokka_" + "x" * 90


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("passages")
    (folder / "docs").mkdir()
    texts = {"walrus": MARKS, "ibex": CLAUSES, "right": RIGHT, "quokka": f"# {LONG_NAME}\n\nA quokka.\n"}
    for name, text in texts.items():
        (folder / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        assert not library.index(folder / "docs").failed
    with served(index_registry(folder)) as found:
        yield found


def test_marks_of_markdown_are_not_shown(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=walrus+pool")
    passage = page.locator(".passage", has_text="below 4 degrees")
    expect(passage).to_contain_text("The old walrus\u00a0pool is kept below 4 degrees & cleaned weekly.")
    text = passage.inner_text()
    for mark in ("~~", "[ ]", "[x]", "&nbsp;", "{#", "##", "*", "Walrus care"):
        assert mark not in text
    expect(passage.locator(".marker")).to_have_text(["☐", "☑"])


def test_definitions_are_plain_and_leave_room_for_results(
    new_page: Callable[..., Page], address: str
) -> None:
    page = new_page(viewport={"width": 320, "height": 700})
    page.goto(f"{address}/?q=walrus+keeper")
    definition = page.locator(".definitions dd").first
    expect(definition).to_contain_text("means a person who keeps a walrus")
    expect(definition).not_to_contain_text("*")
    more = definition.get_by_role("button", name="More")
    expect(more).to_be_visible()
    expect(page.locator(".result h2").first).to_be_in_viewport()
    # It comes when the text has been laid out, and must not push the results then.
    moved = "more => [true, false].map((hidden) => (more.hidden = hidden, more.closest('dd').offsetHeight))"
    assert len(set(more.evaluate(moved))) == 1
    before = definition.bounding_box()
    more.click()
    expect(definition.get_by_role("button", name="Less")).to_have_attribute("aria-expanded", "true")
    after = definition.bounding_box()
    assert before and after and after["height"] > before["height"] + 50


def test_suggestions_are_plain(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#query").press_sequentially("walrus ke")
    option = page.get_by_role("option", name="term")
    expect(option.first).to_contain_text("means")
    expect(option.first).not_to_contain_text("*")


def test_a_clause_that_goes_on_stands_outside_those_before_it(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=count+an+ibex")
    passage = page.locator(".passage", has_text="Ninth way")
    expect(passage.locator(".marker")).to_have_text(["(8)", "(9)", "(f)", "(1)", "(2)"])
    depths = passage.locator(".item").evaluate_all(
        "all => all.map((item) => item.style.getPropertyValue('--depth'))"
    )
    assert depths == ["1", "1", "0", "1", "1"]


def test_lists_and_tables_that_run_from_right_to_left(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=قندس")
    passage = page.locator(".passage", has_text="قندس واحد")
    sides = (
        "item => item.firstChild.getBoundingClientRect().left > item.lastChild.getBoundingClientRect().left"
    )
    assert passage.locator(".item").first.evaluate(sides)
    cell = page.locator(".passage th, .passage td").first
    assert cell.evaluate("cell => getComputedStyle(cell).direction") == "rtl"


def test_long_names_are_not_cut_off_among_the_filters(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=quokka")
    settled(page)
    name = page.locator(".facet.doc .name", has_text=LONG_NAME)
    expect(name).to_be_visible()
    assert name.evaluate(
        "name => name.getBoundingClientRect().right <= name.closest('.ticks').getBoundingClientRect().right"
    )
