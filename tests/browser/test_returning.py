"""Coming back, and answers that come late: nobody loses the place, or what is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Gate, Site, until

QUESTION = "when may a detained vessel leave"
# Where the page stands is kept once it rests.
KEPT = "history.state?.scroll === scrollY && scrollY > 0"


def _open(page: Page, number: int) -> float:
    """Scroll to a result, open it, and return where it stood on the screen."""
    link = page.locator(".result a.open").nth(number)
    link.scroll_into_view_if_needed()
    until(page, KEPT)
    top = _top(page, number)
    link.click()
    expect(page.locator("article.document")).to_be_visible()
    return top


def _top(page: Page, number: int) -> float:
    top: float = page.locator(".result a.open").nth(number).evaluate("e => e.getBoundingClientRect().top")
    return top


def test_the_back_button_restores_results_and_scroll(page: Page, site: Site) -> None:
    page.goto(site.search(q=QUESTION))
    link = page.locator(".result a.open").nth(6)
    title = link.inner_text()
    top = _open(page, 6)
    page.go_back()
    expect(link).to_have_text(title)
    expect(link).to_be_focused()
    assert abs(_top(page, 6) - top) < 2
    page.go_forward()
    expect(page.locator("article.document")).to_be_visible()


@pytest.mark.parametrize("asked", [{"q": QUESTION}, {"q": "vessel", "k": "50"}], ids=["short", "long"])
def test_an_answer_that_comes_late_still_leads_back(
    page: Page, site: Site, gate: Gate, asked: dict[str, str]
) -> None:
    page.goto(site.search(**asked))
    expect(page.locator(".result").nth(6)).to_be_attached()
    number = page.locator(".result").count() - 2
    top = _open(page, number)
    kept = page.evaluate("scrollY")
    gate.shut()
    page.go_back()
    expect(page.locator("#main[aria-busy]")).to_have_count(1)
    # Longer than any place is kept for, and than it takes to notice a page that has become short.
    page.wait_for_timeout(2000)
    assert page.evaluate("history.state.scroll") > 0
    assert page.evaluate("scrollY") < kept or kept == 0
    gate.open()
    expect(page.locator(".result a.open").nth(number)).to_be_focused()
    assert abs(_top(page, number) - top) < 2


def test_what_was_open_above_does_not_move_the_place(page: Page, site: Site) -> None:
    page.goto(site.search(q=QUESTION))
    page.locator(".result").first.get_by_role("button", name="Why").click()
    expect(page.locator(".verdict")).to_be_visible()
    top = _open(page, 5)
    page.go_back()
    expect(page.locator(".result a.open").nth(5)).to_be_focused()
    assert abs(_top(page, 5) - top) < 2


def test_back_to_an_earlier_search_and_after_loading_again(page: Page, site: Site) -> None:
    page.goto(site.search(q=QUESTION))
    page.locator(".result").nth(6).scroll_into_view_if_needed()
    until(page, KEPT)
    kept = page.evaluate("scrollY")
    title = page.locator(".result h2").first.inner_text()
    # Without going up to it, as somebody who speaks to the computer does.
    page.get_by_role("radio", name="Words").evaluate("radio => radio.click()")
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")
    page.go_back()
    expect(page.get_by_role("radio", name="All")).to_be_checked()
    until(page, "kept => Math.abs(scrollY - kept) < 2", kept)
    expect(page.locator(".result h2").first).to_have_text(title, use_inner_text=True)
    page.reload()
    until(page, "kept => Math.abs(scrollY - kept) < 2", kept)


def test_whoever_scrolls_is_not_pulled_back(page: Page, site: Site, gate: Gate) -> None:
    page.goto(site.search(q=QUESTION))
    _open(page, 6)
    gate.shut()
    page.go_back()
    expect(page.locator("#main[aria-busy]")).to_have_count(1)
    page.mouse.move(400, 500)
    page.mouse.wheel(0, 5)
    gate.open()
    expect(page.locator(".result").nth(6)).to_be_attached()
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    assert page.evaluate("scrollY") < 50


def test_a_document_that_comes_late_does_not_cover_the_next_view(
    page: Page, site: Site, new_gate: Callable[[Page, str], Gate]
) -> None:
    page.goto(site.search(q=QUESTION))
    gate = new_gate(page, "**/api/document?*")
    gate.shut()
    page.locator(".result a.open").first.click()
    expect(page.locator(".reader-wait")).to_be_visible()
    page.go_back()
    expect(page.locator(".result").first).to_be_visible()
    with page.expect_response("**/api/document?*"):
        gate.open()
    page.wait_for_timeout(300)
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator("article.document")).to_have_count(0)
    assert page.title().startswith(QUESTION)


def test_an_equal_answer_leaves_what_is_open(page: Page, site: Site, gate: Gate) -> None:
    page.goto(site.search(q=QUESTION))
    first = page.locator(".result").first
    first.get_by_role("button", name="Why").click()
    expect(first.locator(".verdict")).to_be_visible()
    first.evaluate("node => (node.mine = true)")
    gate.shut()
    # A space more asks the same.
    box = page.get_by_role("combobox")
    box.press("End")
    box.press("Space")
    first.get_by_role("button", name="Cite").focus()
    gate.open()
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    assert first.evaluate("node => node.mine")
    expect(first.locator(".verdict")).to_be_visible()
    expect(first.get_by_role("button", name="Cite")).to_be_focused()


def test_results_that_stay_keep_what_is_open(page: Page, site: Site, gate: Gate) -> None:
    page.goto(site.search(q="improvement order detention"))
    first = page.locator(".result").first
    title = first.locator("h2").inner_text()
    first.get_by_role("button", name="Why").click()
    expect(first.locator(".verdict")).to_be_visible()
    more = first.locator(".more")
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    gate.shut()
    box = page.get_by_role("combobox")
    box.press("End")
    box.press_sequentially(" repair")
    first.get_by_role("button", name="Why").focus()
    # What is open is explained anew.
    with page.expect_request(lambda request: "explain=1" in request.url and "repair" in request.url):
        gate.open()
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    expect(first.locator("h2")).to_have_text(title, use_inner_text=True)
    expect(first.locator(".passage mark", has_text="repair")).not_to_have_count(0)
    expect(more).to_have_attribute("aria-expanded", "true")
    why = first.get_by_role("button", name="Why")
    expect(why).to_be_focused()
    expect(why).to_have_attribute("aria-expanded", "true")
    expect(first.locator(".verdict")).to_be_visible()


def test_nobody_is_told_about_a_word_that_is_being_written(page: Page, site: Site) -> None:
    page.clock.install(time="2030-01-01T10:00:00")
    page.goto(site.search())
    expect(page.locator(".contents a").first).to_be_visible()
    # From here on time passes on the page only when it is told to.
    page.clock.pause_at("2030-01-01T12:00:00")
    notice = page.locator(".found > .notice")
    box = page.get_by_role("combobox")
    box.press_sequentially("detaned")
    page.clock.run_for(300)
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    expect(notice).to_be_hidden()
    page.clock.run_for(1000)
    expect(notice).to_contain_text("detained")
    box.press_sequentially(" vesel")
    page.clock.run_for(300)
    expect(page.locator("#main[aria-busy]")).to_have_count(0)
    expect(notice).to_be_hidden()
    box.press("Enter")
    expect(notice).to_contain_text("vessel")
    expect(page.locator("#live")).to_contain_text("vessel")
