"""Documents that mean harm are text. What they tried is checked again for every page when it is closed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Site, settled
from tests.browser.documents import HOSTILE_NAME

TOUCH = """(elements) => elements.forEach((element) => {
  for (const name of ["pointerover", "mouseover", "focus", "click"]) {
    element.dispatchEvent(new MouseEvent(name, { bubbles: name !== "focus", cancelable: true }));
  }
})"""
# What no document may bring onto the page.
FORBIDDEN = "script:not([src^='/static/']), iframe, object, embed, base, form:not(.ask), main style, main link, main img, meta[http-equiv]"
HANDLERS = """() => [...document.querySelectorAll("*")].flatMap((element) =>
  [...element.attributes].filter(({ name, value }) => name.startsWith("on") || /^\\s*javascript:|evil\\.example/i.test(
    ["href", "src", "action", "formaction", "srcdoc", "style", "xlink:href"].includes(name) ? value : ""))
    .map(({ name, value }) => `${element.tagName} ${name}=${value}`))"""


def _is_inert(page: Page) -> None:
    expect(page.locator(FORBIDDEN)).to_have_count(0)
    assert page.evaluate(HANDLERS) == []
    assert page.evaluate("[typeof window.__hacked, ...window.__violations]") == ["undefined"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hostile.md", "west of the zebra buoy"),
        ("hostile.html", "giraffe crates"),
        (HOSTILE_NAME, "okapi stable"),
    ],
)
def test_it_is_read_as_text(page: Page, site: Site, name: str, text: str) -> None:
    page.goto(site.read(name))
    expect(page.locator("article.document")).to_contain_text(text)
    _is_inert(page)
    # Everything is pointed at and clicked, and leads nowhere else.
    page.locator("article.document *").evaluate_all(TOUCH)
    assert page.url.startswith(site.address)
    assert len(page.context.pages) == 1
    _is_inert(page)


def test_it_cannot_hide_the_page_or_cover_it(page: Page, site: Site) -> None:
    page.goto(site.read("hostile.md"))
    expect(page.locator("article.document")).to_contain_text("The quarantine flag is yellow.")
    expect(page.get_by_role("banner")).to_be_visible()
    assert page.locator("article.document [style*=fixed]").count() == 0
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


@pytest.mark.parametrize(
    "query",
    ["quarantine", "giraffe crates inspection", "okapi stable", "<img src=x onerror=window.__hacked=1>"],
)
def test_it_is_found_as_text(page: Page, site: Site, query: str) -> None:
    page.goto(site.search())
    page.get_by_role("combobox").press_sequentially(query)
    first = page.locator(".result").first
    expect(first).to_be_visible()
    settled(page)
    _is_inert(page)
    first.get_by_role("button", name="Why").click()
    expect(first.locator(".verdict")).to_be_visible()
    first.get_by_role("button", name="Cite").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True)).to_be_enabled()
    _is_inert_beside_dialog(page)


def _is_inert_beside_dialog(page: Page) -> None:
    assert page.evaluate(HANDLERS) == []
    expect(page.locator("dialog img, dialog script, dialog iframe")).to_have_count(0)


def test_names_are_text_in_the_map_and_the_overview(page: Page, site: Site) -> None:
    for address in (
        site.map(doc=site.docs["hostile.md"]),
        site.map(doc=site.docs[HOSTILE_NAME]),
        site.overview(),
    ):
        page.goto(address)
        expect(page.locator("#main h1").first).to_be_visible()
        expect(page.locator("#main")).to_contain_text("Quarantine")
        _is_inert(page)


def test_parameters_are_text(page: Page, site: Site) -> None:
    harm = "<img src=x onerror=window.__hacked='address'>"
    for address in (
        site.search(q=harm, mode=harm, f=f"type:{harm},doc:{harm}", k=harm),
        site.read("hostile.md", section=harm, q=harm, lines=harm, chunk=harm),
        f"{site.address}/read?doc=javascript:window.__hacked='doc'",
        f"{site.address}/overview?library=%3Cscript%3Ewindow.__hacked%3D1%3C/script%3E",
    ):
        page.goto(address)
        expect(page.locator("#main h1, #main h2").first).to_be_attached()
        _is_inert(page)
