"""Narrow screens and dark colours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Site, until

NARROW = {"width": 320, "height": 700}
BRIGHTNESS = """() => {
  const paint = (color) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).reduce((sum, part) => sum + part, 0) / 3;
  };
  return [paint(getComputedStyle(document.documentElement).backgroundColor === "rgba(0, 0, 0, 0)"
    ? getComputedStyle(document.body).backgroundColor : getComputedStyle(document.documentElement).backgroundColor),
    paint(getComputedStyle(document.body).color)];
}"""


def test_the_outline_is_a_drawer_on_a_narrow_screen(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(viewport=NARROW, has_touch=True)
    page.goto(site.read("harbour-safety-act.md"))
    button = page.get_by_role("button", name="Outline", exact=True)
    expect(page.get_by_role("tree")).to_be_hidden()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("tree")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tree")).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    page.get_by_role("treeitem", name="TITLE II ").locator("a.tree-link").first.click()
    expect(page.get_by_role("tree")).to_be_hidden()
    expect(page.locator("h2.heading").filter(has_text="TITLE II ").first).to_be_in_viewport()


@pytest.mark.parametrize("view", ["start", "search", "why", "read", "pdf", "hostile", "map", "overview"])
def test_a_narrow_screen_needs_no_scrolling_sideways(
    new_page: Callable[..., Page], site: Site, view: str
) -> None:
    page = new_page(viewport=NARROW, has_touch=True)
    address, drawn = {
        "start": (site.search(), ".contents a"),
        "search": (site.search(q="vessel", f="type:md"), ".result"),
        "why": (site.search(q="vessel"), ".result"),
        "read": (site.read("harbour-safety-act.md"), ".document p"),
        "pdf": (site.read("annual-report.pdf"), ".document p"),
        "hostile": (site.read("hostile.md"), ".document p"),
        "map": (site.map(doc=site.docs["harbour-safety-act.md"]), ".map-panel h2"),
        "overview": (site.overview(), ".numbers"),
    }[view]
    page.goto(address)
    expect(page.locator(drawn).first).to_be_visible()
    if view == "why":
        page.locator(".result").first.get_by_role("button", name="Why").click()
        expect(page.locator(".verdict").first).to_be_visible()
    if view == "map":
        page.get_by_role("radio", name="Picture").check()
        expect(page.locator(".map-node").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def _until(page: Page, condition: str) -> None:
    """Wait until the colours are so: a change of them takes a frame or two."""
    until(page, f"() => {{ const [ground, ink] = ({BRIGHTNESS})(); return {condition}; }}")


def test_colours_follow_the_system_until_one_chooses(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(color_scheme="dark")
    page.goto(site.overview())
    _until(page, "ground < 80 && ink > 80")
    switch = page.locator("#theme")
    switch.click()
    expect(switch).to_have_attribute("aria-label", "Colours: light")
    _until(page, "ink < 80 && ground > 80")
    page.reload()
    _until(page, "ink < 80 && ground > 80")
