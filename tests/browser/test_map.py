"""The map: every document has a name to be seen by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Site, until

OVERLAPS = """() => {
  const seen = [...document.querySelectorAll(".map-node:not(.unnamed) text")].map((text) => text.getBoundingClientRect());
  const apart = (a, b) => a.left >= b.right || b.left >= a.right || a.top >= b.bottom - 2 || b.top >= a.bottom - 2;
  return seen.flatMap((a, n) => seen.slice(n + 1).filter((b) => !apart(a, b))).length;
}"""


def _crowd(number: int, alone: int) -> dict[str, Any]:
    """Return a map of documents that refer to each other in a row, and of others with long names that do not."""
    names = [f"Handbook {n}" for n in range(number)] + [
        f"Annual report of cooperative {n}" for n in range(alone)
    ]
    documents = [
        {"doc": f"d{n}", "title": name, "chunks": 40 - n, "sections": 3, "file_type": ".md"}
        for n, name in enumerate(names)
    ]
    links = [{"from": f"d{n}", "to": f"d{n + 1}", "count": 1} for n in range(number - 1)]
    return {"documents": documents, "links": links}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_document_has_a_name_where_there_is_room(
    new_page: Callable[..., Page], site: Site, scheme: str
) -> None:
    page = new_page(viewport={"width": 1200, "height": 740}, color_scheme=scheme)
    page.route("**/api/map", lambda route: route.fulfill(json=_crowd(14, 8)))
    page.goto(site.map())
    expect(page.locator(".map-node[transform]")).to_have_count(22)
    expect(page.locator(".map-node.unnamed")).to_have_count(0)
    until(page, f"() => !({OVERLAPS})()")


def test_a_name_without_room_is_shown_to_who_asks(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(viewport={"width": 320, "height": 640})
    page.goto(site.map())
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(len(site.docs) + 1)
    page.get_by_role("radio", name="Picture").check()
    hidden = page.locator(".map-node.unnamed")
    expect(page.locator(".map-node[transform]")).to_have_count(len(site.docs))
    expect(hidden.first).to_be_attached()
    until(page, f"() => !({OVERLAPS})()")
    hidden.first.hover()
    until(page, "getComputedStyle(document.querySelector('.map-node.unnamed text')).opacity === '1'")


def test_keys_lead_over_the_map(page: Page, site: Site) -> None:
    page.goto(site.map())
    nodes = page.locator(".map-node")
    expect(nodes).to_have_count(len(site.docs))
    page.locator(".map-node[tabindex='0']").focus()
    before = page.evaluate("document.activeElement.dataset.doc")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.dataset.doc") != before:
            break
    assert page.evaluate("document.activeElement.dataset.doc") != before
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator(".map-panel h2")).to_be_visible()
    expect(page.locator(".map-panel h2")).to_be_focused()
