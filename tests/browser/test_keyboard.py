"""Everything without a mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from tests.browser.conftest import Site


def test_from_the_start_to_a_section(page: Page, site: Site) -> None:
    page.goto(site.search())
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("detained vessel")
    expect(page.locator(".result").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#result-1 a.open")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#result-2 a.open")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#result-1 a.open")).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#result-1 .verdict")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".document .hit").first).to_be_in_viewport()
    page.keyboard.press("o")
    item = page.locator("[role=treeitem]:focus")
    expect(item).to_have_count(1)
    page.keyboard.press("Home")
    expect(item).to_contain_text("Harbour Safety Act 2021")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("article.document [tabindex='-1']:focus")).to_be_in_viewport()
    assert "place=" in page.url


def test_tab_reaches_the_content_first(page: Page, site: Site) -> None:
    page.goto(site.overview())
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_letter_right_after_loading_is_no_second_key(page: Page, site: Site) -> None:
    key = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'm', bubbles: true}))"
    page.add_init_script(f"addEventListener('DOMContentLoaded', () => {key})")
    page.goto(site.overview())
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.url == site.overview()


def test_letters_lead_through_the_views_and_can_be_switched_off(page: Page, site: Site) -> None:
    page.goto(site.overview())
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    # The second key counts for a second after the first; a busy machine may be slower than that.
    for _ in range(5):
        page.keyboard.press("g")
        page.keyboard.press("m")
        if page.evaluate("location.pathname") == "/map":
            break
    expect(page.get_by_role("heading", name="Map", exact=True)).to_be_visible()
    page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="Help")
    # The keys of every view are there.
    for view in ("Everywhere", "Search", "Reader", "Map"):
        expect(help_.get_by_role("heading", name=view, exact=True)).to_be_visible()
    help_.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    expect(help_).to_have_count(0)
    page.keyboard.press("?")
    page.keyboard.press("/")
    expect(help_).to_have_count(0)
    assert page.url == site.map()
