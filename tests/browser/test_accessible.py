"""Every view in both colours before axe: nothing serious, nothing critical."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Site, look_again, until

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
# What differs between light and dark; all else is the same page.
COLOURS = ["color-contrast", "link-in-text-block"]
# Greyed while a search runs, and on the way between two colours: only what is left afterwards is judged.
RESTS = """() => !document.querySelector("[aria-busy=true]") && document.getAnimations().every(
  (animation) => animation.playState !== "running")"""
ACT = "harbour-safety-act.md"


def _serious(page: Page, rules: list[str] | None = None) -> list[str]:
    """Return what axe finds that is serious or critical."""
    until(page, RESTS)
    only = {"runOnly": rules} if rules else {}
    answer: dict[str, Any] = page.evaluate(
        "options => axe.run(document, options)", {"resultTypes": ["violations"], **only}
    )
    return [
        f"{found['id']}: {node['html'][:160]} {node['failureSummary']}"
        for found in answer["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


def _judge(page: Page, site: Site, view: Callable[[Page, Site], None]) -> None:
    view(page, site)
    page.evaluate(AXE)
    assert _serious(page) == []
    # Opened anew: what is far from the screen keeps the colours that it was first laid out with.
    page.emulate_media(color_scheme="dark")
    view(page, site)
    page.evaluate(AXE)
    assert _serious(page, COLOURS) == []


def _start(page: Page, site: Site) -> None:
    page.goto(site.search())
    expect(page.locator(".contents a").first).to_be_visible()


def _results(page: Page, site: Site) -> None:
    page.goto(site.search(q="vessel", f="type:md"))
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".facet").first).to_be_visible()


def _suggestions(page: Page, site: Site) -> None:
    page.goto(site.search())
    page.get_by_role("combobox").press_sequentially("vess")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")


def _why(page: Page, site: Site) -> None:
    page.goto(site.search(q="detained vessel"))
    page.locator(".result").first.get_by_role("button", name="Why").click()
    expect(page.locator(".verdict")).to_be_visible()


def _nothing(page: Page, site: Site) -> None:
    page.goto(site.search(q="zzzz", mode="exact"))
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


def _reader(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_102", q="vessel"))
    expect(page.locator(".hit").first).to_be_visible()
    page.locator("a.term, a.ref").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()


def _pdf(page: Page, site: Site) -> None:
    page.goto(site.read("annual-report.pdf"))
    page.get_by_role("button", name="Page picture", exact=True).click()
    expect(page.locator(".page-frame img")).to_be_visible()


def _hostile(page: Page, site: Site) -> None:
    page.goto(site.read("hostile.md"))
    expect(page.locator("article.document")).to_contain_text("zebra buoy")


def _map(page: Page, site: Site) -> None:
    page.goto(site.map(doc=site.docs[ACT]))
    expect(page.locator(".map-panel h2")).to_be_visible()


def _map_table(page: Page, site: Site) -> None:
    page.goto(site.map())
    page.get_by_role("radio", name="Table").check()
    expect(page.get_by_role("table")).to_be_visible()


def _overview(page: Page, site: Site) -> None:
    page.goto(site.overview())
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def _help(page: Page, site: Site) -> None:
    _overview(page, site)
    page.get_by_role("button", name="Help and keys").click()
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()


def _cite(page: Page, site: Site) -> None:
    page.goto(site.search(q="detained vessel"))
    page.locator(".result").first.get_by_role("button", name="Cite").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True)).to_be_enabled()


def _unknown(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/read?doc=0000000000000000")
    expect(page.get_by_role("alert")).to_be_visible()


def _match(page: Page, site: Site) -> None:
    page.goto(site.search(q="when may a detained vessel leave"))
    page.locator(".result a.open").first.click()
    expect(page.locator(".document .answer").first).to_be_visible()
    expect(page.get_by_role("button", name="Next match")).to_be_visible()


def _old_link(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_102", lines="41-45"))
    expect(page.locator(".address-note")).to_be_visible()


def _empty(page: Page, site: Site) -> None:
    library = {"name": "library", "description": "", "problem": "There is no index yet.", "missing": True}
    status = {"libraries": [library], "version": "", "write": True, "folders": ["/home/ann/harbour"]}
    page.route("**/api/status", lambda route: route.fulfill(json=status))
    page.route("**/api/documents", lambda route: route.fulfill(status=503, json={"title": "Not yet"}))
    page.goto(site.search())
    expect(page.get_by_role("textbox", name="Folder")).to_be_focused()


def _changed(page: Page, site: Site) -> None:
    # By what has been seen and not by counting: a page that is about to be left may ask once more.
    state = "one"
    page.route("**/api/state", lambda route: route.fulfill(json={"state": state}))
    page.clock.install()
    page.goto(site.search(q="detained vessel"))
    look_again(page)
    state = "two"
    look_again(page)
    expect(page.get_by_role("button", name="Reload")).to_be_visible()


VIEWS = [
    _match,
    _old_link,
    _empty,
    _changed,
    _start,
    _results,
    _suggestions,
    _why,
    _nothing,
    _reader,
    _pdf,
    _hostile,
    _map,
    _map_table,
    _overview,
    _help,
    _cite,
    _unknown,
]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__.strip("_"))
def test_nothing_serious(page: Page, site: Site, view: Callable[[Page, Site], None]) -> None:
    _judge(page, site, view)


@pytest.mark.parametrize(
    "view",
    [_why, _reader, _match, _old_link, _empty, _changed, _map_table],
    ids=lambda view: view.__name__.strip("_"),
)
def test_nothing_serious_on_a_narrow_screen(
    new_page: Callable[..., Page], site: Site, view: Callable[[Page, Site], None]
) -> None:
    page = new_page(viewport={"width": 390, "height": 800}, color_scheme="light")
    _judge(page, site, view)
