"""The reader keeps the place: in long documents on small screens, beside page pictures, by keys and on the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate
from tests.browser.conftest import Site, until
from tests.browser.test_reader_moves import lines_of

SENTENCE = (
    "The keeper writes into the book what was seen, at which hour, from where, and by whom it was seen. "
)
SECTIONS = 60


def _act() -> str:
    parts = ["# Buoy Act\n"]
    for number in range(1, SECTIONS + 1):
        also = (
            "Section 3 and section 3 again apply."
            if number == 5
            else "Section 3 applies."
            if number == 7
            else ""
        )
        if number == 2:
            also = 'In this Act, "bell buoy" means a buoy that rings.\n\nEvery bell buoy is looked after.'
        parts.append(f"## Section {number}. Duty of kind {number}\n\n{also}\n")
        parts += [f"Rule {number}.{rule} begins. {SENTENCE * 4}\n" for rule in range(1, 7)]
    return "\n".join(parts)


# Hebrew words in a numbered list and a quotation; notes; a list inside an item to tick.
MARKS = """# Marks

1. שלום לכולם
2. ספינה בנמל

> ים וחוף

The lamp burns[^1] all night[^oil].

[^1]: Since the great storm.
[^oil]: With whale oil.

- [ ] Paint the hull
  - [x] Buy the paint
  - Find a brush

The bell buoy of the [Buoy Act](act.md) lies west of the lamp.
"""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A library with an act of many pages, as text and as PDF, and a page of rare marks."""
    from tests.server.conftest import index_registry, served

    from loccit import Library

    folder = tmp_path_factory.mktemp("places")
    shelf = folder / "documents"
    shelf.mkdir()
    (shelf / "act.md").write_text(_act(), encoding="utf-8")
    (shelf / "marks.md").write_text(MARKS, encoding="utf-8")
    styles = getSampleStyleSheet()
    flow = []
    for number in range(1, 41):
        flow.append(Paragraph(f"{number}. Watch {number}", styles["Heading2"]))
        flow += [
            Paragraph(f"Order {number}.{k} begins. {SENTENCE * 4}", styles["BodyText"]) for k in range(1, 6)
        ]
    SimpleDocTemplate(str(shelf / "orders.pdf"), title="Standing orders").build(flow)
    with Library(folder / ".loccit") as library:
        # These are about places, not about which is found.
        assert not library.index(shelf, embed=False).failed
    with served(index_registry(folder)) as address:
        found = httpx.get(f"{address}/api/documents", timeout=60).json()["documents"]
        yield Site(address, {Path(item["source_path"]).name: item["id"] for item in found})


def free(page: Page, place: Locator) -> None:
    """Wait until a place is on the screen with nothing above it, and stays there."""
    expect(place).to_be_in_viewport()
    place.evaluate("place => (window.place = place)")
    until(
        page,
        """async () => {
          const covers = (e) => getComputedStyle(e).position === "sticky" && e.getClientRects().length;
          const bars = [...document.querySelectorAll(".reader-bar, .pages")].filter(covers);
          const { left, right } = place.getBoundingClientRect();
          const over = bars.map((bar) => bar.getBoundingClientRect()).filter((bar) => bar.left < right && bar.right > left);
          const seen = () => {
            const { top } = place.getBoundingClientRect();
            return place.isConnected && top >= Math.max(0, ...over.map((bar) => bar.bottom)) && top < innerHeight - 20 && top;
          };
          const before = seen();
          await new Promise((done) => setTimeout(done, 300));
          return before !== false && before === seen();
        }""",
    )


@pytest.mark.parametrize("rule", ["8.6", "33.4", "58.6"])
def test_a_link_into_a_long_document_opens_at_its_lines_on_a_small_screen(
    new_page: Callable[..., Page], long: Site, rule: str
) -> None:
    page = new_page(viewport={"width": 320, "height": 640})
    page.goto(long.read("act.md"))
    lines = lines_of(page, f"Rule {rule} begins")
    page.goto(long.read("act.md", lines=lines))
    free(page, page.locator("p.hit", has_text=f"Rule {rule} begins"))


@pytest.mark.parametrize("width", [1200, 1000, 600])
def test_the_page_picture_leaves_the_passage_where_it_can_be_read(
    new_page: Callable[..., Page], long: Site, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 800})
    page.goto(long.read("orders.pdf"))
    page.goto(long.read("orders.pdf", q="order", lines=lines_of(page, "Order 31.2 begins")))
    hit = page.locator(".hit", has_text="Order 31.2 begins")
    free(page, hit)
    button = page.get_by_role("button", name="Page picture", exact=True)
    for _ in range(2):
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        until(page, "document.querySelector('.page-frame img')?.naturalWidth > 0")
        free(page, hit)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
        free(page, hit)


def test_keys_leaf_through_sections_and_keep_the_match(page: Page, long: Site) -> None:
    page.goto(long.read("act.md"))
    lines = lines_of(page, "Rule 20.4 begins")
    page.goto(long.search(q="begins"))
    page.goto(long.read("act.md", section="sec_20", q="keeper", lines=lines))
    hit = page.locator(".hit").first
    free(page, hit)
    length = page.evaluate("history.length")
    where = page.locator(".reader-bar .where")
    for _ in range(3):
        before = where.inner_text()
        page.keyboard.press("n")
        expect(where).not_to_have_text(before)
    before = where.inner_text()
    page.keyboard.press("p")
    expect(where).not_to_have_text(before)
    assert page.evaluate("history.length") == length
    assert "q=keeper" in page.url
    assert f"lines={lines}" in page.url
    until(page, "history.state?.scroll === scrollY")
    here = where.inner_text()
    page.reload()
    expect(where).to_have_text(here)
    page.get_by_role("button", name="Next match").click()
    free(page, page.locator(".hit").first)
    page.go_back()
    expect(page.locator("article.document")).to_have_count(0)


def test_back_from_a_reference_takes_its_mark_along(page: Page, long: Site) -> None:
    page.goto(long.read("act.md", section="sec_5"))
    link = page.locator("a.ref", has_text="Section 3").first
    left = page.locator(".target", has_text="Section 5.")
    expect(left).to_have_count(1)
    link.click()
    expect(page.locator(".target", has_text="Section 3.")).to_have_count(1)
    page.go_back()
    expect(left).to_have_count(1)
    expect(page.locator(".target")).to_have_count(1)


def test_as_many_references_are_counted_as_are_shown(page: Page, long: Site) -> None:
    page.goto(long.read("act.md", section="sec_3"))
    back = page.locator(".with-back", has=page.locator("h2", has_text="Section 3.")).locator("details.back")
    back.locator("summary").click()
    expect(back.locator("li a")).to_have_count(2)
    # One of the two places refers here twice.
    expect(back.locator("li", has_text="2 times")).to_have_count(1)
    expect(back.locator("summary")).to_have_text("← 3 references")


def test_lists_run_in_the_direction_of_their_text(page: Page, long: Site) -> None:
    page.goto(long.read("marks.md"))
    for name in ("ol", "blockquote"):
        expect(page.locator(f".document {name}")).to_have_css("direction", "rtl")
    expect(page.locator(".document .slab > ul")).to_have_css("direction", "ltr")


def test_notes_are_raised_and_lists_in_tasks_set_in(page: Page, long: Site) -> None:
    page.goto(long.read("marks.md"))
    expect(page.locator(".document sup")).to_have_text(["1", "oil", "1", "oil"])
    expect(page.locator(".document p", has_text="whale")).to_have_text("oil With whale oil.")
    expect(page.locator(".document p", has_text="storm")).to_have_text("1 Since the great storm.")
    inner = page.locator(".document li.task li")
    outer = page.locator(".document li.task > .box").first.bounding_box()
    box = inner.locator(".box").bounding_box()
    assert outer and box
    assert box["x"] - outer["x"] > 20


@pytest.mark.parametrize("name", ["act.md", "marks.md"])
def test_a_term_says_where_it_is_defined(page: Page, long: Site, name: str) -> None:
    page.goto(long.read(name, section="sec_2") if name == "act.md" else long.read(name))
    page.locator("a.term", has_text="bell buoy").first.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("a buoy that rings")
    expect(card.locator(".card-head")).to_contain_text("Buoy Act")
    expect(card.locator(".card-head")).to_contain_text("line")
