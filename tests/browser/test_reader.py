"""Reading: the passage that was found, references, terms, pages, and what is not there."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import Site, until

ACT = "harbour-safety-act.md"


def test_a_result_opens_at_its_passage(page: Page, site: Site) -> None:
    page.goto(site.search(q="when may a detained vessel leave"))
    link = page.locator(".result a.open").first
    title = link.inner_text()
    link.click()
    hits = page.locator(".document .hit")
    expect(hits.first).to_be_visible()
    expect(page.locator(".document .hit mark.word").first).to_be_in_viewport()
    expect(page.locator(".reader-bar .where")).to_contain_text(title.split(".")[0])
    expect(page.get_by_role("treeitem", selected=True)).to_have_attribute("aria-label", title)
    page.get_by_role("link", name="Results").click()
    expect(page.locator(".result a.open").first).to_have_text(title)


def test_the_matches_of_a_document_follow_each_other(page: Page, site: Site) -> None:
    page.goto(site.search(q="when may a detained vessel leave"))
    page.locator(".result a.open").first.click()
    shown = page.locator(".match-count")
    expect(shown).to_have_text(re.compile(r"^\d+ of ([2-9]|1\d|20)$"))
    first = shown.inner_text()
    answer = page.locator(".document .answer")
    expect(answer.first).to_be_in_viewport()
    words = answer.all_inner_texts()
    here = page.url
    page.keyboard.press("m")
    expect(shown).not_to_have_text(first)
    expect(page.locator(".document .hit").first).to_be_in_viewport()
    assert page.url != here
    page.keyboard.press("Shift+M")
    expect(shown).to_have_text(first)
    expect(answer.first).to_be_in_viewport()
    assert answer.all_inner_texts() == words
    # The address is the same again, and leads to the same.
    assert page.url == here
    page.get_by_role("button", name="Next match").click()
    expect(shown).not_to_have_text(first)


def test_the_name_and_the_way_back_are_always_in_view(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(viewport={"width": 390, "height": 700})
    page.goto(site.search(q="detained vessel", mode="keyword"))
    page.locator(".result a.open", has_text="Section").first.click()
    name = page.locator(".reader-title")
    expect(name).to_have_text("Harbour Safety Act 2021")
    # A click waits for a place that is still being drawn.
    page.locator("article.document a.ref").first.click()
    for where in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {where})")
        expect(name).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("link", name="Results")).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="Results").click()
    expect(page).to_have_url(site.search(q="detained vessel", mode="keyword"))


def test_a_reference_shows_what_it_leads_to_and_leads_there(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_102"))
    link = page.locator("a.ref", has_text="section 105").first
    link.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("The Harbour Authority")
    expect(link).to_have_attribute("aria-describedby", "reader-card")
    link.click()
    expect(card).to_be_hidden()
    expect(page.locator("h4", has_text="Section 105").first).to_be_in_viewport()
    expect(page.locator("h4", has_text="Section 105").first).to_be_focused()
    here = page.url
    page.go_back()
    expect(link).to_be_in_viewport()
    assert page.url != here


def test_a_preview_comes_with_the_focus_and_goes_with_escape(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_102"))
    link = page.locator("a.ref", has_text="section 105").first
    expect(link).to_be_visible()
    # The keyboard was used last, as for somebody who came here by the tab key.
    page.keyboard.press("Tab")
    link.focus()
    card = page.get_by_role("tooltip")
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(link).to_be_focused()


def test_a_section_says_what_refers_to_it(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_109"))
    back = page.locator(".with-back", has=page.locator("h4", has_text="Section 109")).locator("details.back")
    back.locator("summary").click()
    expect(back.get_by_role("link", name="102").first).to_be_visible()
    back.get_by_role("link", name="102").first.click()
    expect(page.locator("p", has_text="Schedule of Harbours kept under").first).to_be_in_viewport()


def test_a_defined_term_says_what_it_means_and_that_others_differ(page: Page, site: Site) -> None:
    page.goto(site.read(ACT, section="sec_104"))
    term = page.locator("a.term.conflict", has_text="vessel").first
    term.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("every description of craft")
    expect(card).to_contain_text("Defined differently elsewhere")
    expect(card).to_contain_text("a boat with a mast")
    term.click()
    # The section has eleven definitions: what leads to one leads to its clause.
    meant = page.locator("p.hit", has_text="every description of craft")
    expect(meant).to_be_in_viewport()
    expect(meant).to_be_focused()
    expect(card).to_be_hidden()
    expect(page.locator(".hit", has_text="working day")).to_have_count(0)
    page.go_back()
    expect(term).to_be_in_viewport()
    expect(page.locator(".hit")).to_have_count(0)


def test_a_link_leads_into_another_document(page: Page, site: Site) -> None:
    page.goto(site.read("notes.md"))
    page.get_by_role("link", name="the pump manual").click()
    expect(page.locator("article.document")).to_contain_text("Tarn 400")
    page.go_back()
    expect(page.get_by_role("heading", name="Moorings")).to_be_visible()


def test_the_page_of_a_pdf_stands_beside_its_text(page: Page, site: Site) -> None:
    page.goto(site.read("annual-report.pdf"))
    button = page.get_by_role("button", name="Page picture", exact=True)
    button.click()
    picture = page.locator(".page-frame img")
    expect(picture).to_have_attribute("alt", "Page 1 of " + page.title().removesuffix(" · Loccit"))
    until(page, "document.querySelector('.page-frame img').naturalWidth >= 900")
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".page-caption")).to_contain_text("Page 2")
    expect(picture).to_have_attribute("alt", "Page 2 of " + page.title().removesuffix(" · Loccit"))
    button.click()
    expect(page.get_by_role("complementary", name="Page")).to_be_hidden()


def test_what_is_not_there_is_said_in_plain_words(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/read?doc=0000000000000000")
    expect(page.get_by_role("alert")).to_contain_text("document")
    expect(page.get_by_role("alert").get_by_role("link", name="Search")).to_be_visible()
    page.goto(f"{site.address}/map?doc=0000000000000000")
    expect(page.get_by_role("alert")).to_contain_text("not in the library")
    page.goto(site.read(ACT, section="nowhere"))
    expect(page.locator(".address-note")).to_contain_text("There is no section “nowhere”")
    expect(page.locator("article.document h1")).to_be_visible()
