"""Moving about in a document that is open: other lines, items of lists, cards that need room."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Site, until

ACT = "harbour-safety-act.md"


def lines_of(page: Page, words: str) -> str:
    """Return the line of the open document that has some words."""
    line = page.evaluate(
        """async (words) => {
          const doc = new URLSearchParams(location.search).get("doc");
          const { text } = await (await fetch(`/api/document?doc=${doc}`)).json();
          return text.slice(0, text.indexOf(words)).split("\\n").length;
        }""",
        words,
    )
    return f"{line}-{line}"


def go(page: Page, address: str) -> None:
    """Follow an address as a link of the page does."""
    page.evaluate(
        """(address) => {
          const link = document.createElement("a");
          link.href = address;
          document.getElementById("main").append(link);
          link.click();
          link.remove();
        }""",
        address,
    )


def test_other_lines_of_an_open_document_are_shown_and_gone_to(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_101"))
    expect(page.locator("article.document")).to_be_visible()
    page.evaluate("document.querySelector('.reader').id = 'the-same'")
    pilot, master = "person who holds a licence", "having command or charge"
    for words in (pilot, master):
        go(page, site.read(ACT, section="sec_102", lines=lines_of(page, words)))
        expect(page.locator("p.hit")).to_have_count(1)
        expect(page.locator("p.hit")).to_contain_text(words)
        expect(page.locator("p.hit")).to_be_in_viewport()
    page.go_back()
    expect(page.locator("p.hit")).to_contain_text(pilot)
    go(page, site.read(ACT, section="sec_305"))
    expect(page.get_by_role("heading", name="Section 305")).to_be_in_viewport()
    expect(page.locator(".hit")).to_have_count(0)
    # All that without reading the document anew.
    expect(page.locator("#the-same")).to_be_visible()


def test_the_match_is_still_found_after_other_lines(page: Page, site: Site) -> None:
    page.goto(site.search(q="when may a detained vessel leave"))
    page.locator(".result a.open").first.click()
    word = page.locator(".document .hit mark.word").first
    expect(word).to_be_in_viewport()
    go(page, site.read(ACT, section="sec_102", lines=lines_of(page, "person who holds a licence")))
    expect(page.locator("p.hit")).to_contain_text("person who holds a licence")
    expect(word).to_have_count(0)
    page.get_by_role("button", name="Next match").click()
    expect(word).to_be_in_viewport()


def test_back_leads_to_where_a_link_was_followed_while_scrolling(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_201"))
    expect(page.locator(".document h4", has_text="Section 410")).to_be_attached()
    # Where the page rests is kept; from there somebody goes further, and at once follows a link.
    until(page, "history.state?.scroll > 0 && history.state.scroll === scrollY")
    words = page.evaluate(
        """async () => {
          const frame = () => new Promise(requestAnimationFrame);
          const headings = [...document.querySelectorAll(".document h4")];
          const heading = headings.find((node) => node.textContent.includes("Section 305"));
          heading.scrollIntoView();
          scrollBy(0, -150);
          await frame();
          await frame();
          document.querySelector("[role=treeitem] a").click();
          return heading.textContent;
        }"""
    )
    until(page, "!location.search.includes('sec_201')")
    page.go_back()
    expect(page.locator(".document h4", has_text=words)).to_be_in_viewport()
    expect(page.locator(".document h4", has_text="Section 201")).not_to_be_in_viewport()


def test_of_a_list_only_the_items_are_marked(page: Page, site: Site) -> None:
    page.goto(site.read("pump-manual.md"))
    items = page.locator(".document :is(ul, ol) > li")
    expect(items.first).to_be_attached()
    words = items.nth(1).inner_text().strip().split("\n")[0][:40]
    page.goto(site.read("pump-manual.md", lines=lines_of(page, words)))
    expect(page.locator("li.hit")).to_have_count(1)
    expect(page.locator("li.hit")).to_contain_text(words)
    expect(page.locator(".document :is(ul, ol).hit")).to_have_count(0)


def test_a_card_without_room_stays_on_the_screen_and_scrolls(
    new_page: Callable[..., Page], site: Site
) -> None:
    page = new_page(viewport={"width": 700, "height": 340})
    page.goto(site.read(ACT, section="sec_104"))
    term = page.locator("a.term.conflict", has_text="vessel").first
    expect(term).to_be_visible()
    page.keyboard.press("Tab")
    term.focus()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("a boat with a mast")
    # The focus has scrolled there; that does not take the card away.
    page.evaluate("scrollBy({ top: 1, behavior: 'instant' })")
    page.wait_for_timeout(100)
    expect(card).to_be_visible()
    box = card.bounding_box()
    assert box and box["y"] >= 0 and box["y"] + box["height"] <= 340
    words = term.bounding_box()
    assert words and (box["y"] + box["height"] <= words["y"] or box["y"] >= words["y"] + words["height"])
    assert card.evaluate("card => card.scrollHeight > card.clientHeight")
    last = card.get_by_text("a boat with a mast")
    expect(last).not_to_be_in_viewport()
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    expect(last).to_be_in_viewport()
    expect(term).to_be_focused()


def test_the_text_is_there_before_its_terms(page: Page, site: Site) -> None:
    held: list[Route] = []
    page.route("**/api/terms?*", lambda route: held.append(route))
    page.goto(site.read(ACT, section="sec_104_a"))
    paragraph = page.locator("p.target", has_text="This Act applies to every harbour")
    expect(paragraph).to_be_in_viewport()
    expect(page.locator("a.term")).to_have_count(0)
    top = paragraph.bounding_box()
    held.pop().continue_()
    expect(paragraph.locator("a.term", has_text="vessel")).to_be_visible()
    # The place is still marked, and nothing has moved.
    assert paragraph.bounding_box() == top
    page.locator("a.marker", has_text="(a)").first.wait_for()
    expect(page.locator(".document h4", has_text="Section 410")).to_be_attached()


def test_a_document_can_be_read_without_its_terms(page: Page, site: Site) -> None:
    page.route("**/api/terms?*", lambda route: route.abort())
    page.goto(site.read(ACT))
    # Also what stands far below is filled in.
    expect(page.locator(".document h4", has_text="Section 410")).to_be_attached()
    expect(page.locator("a.term")).to_have_count(0)
