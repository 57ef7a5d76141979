"""Searching as a person does it: typing, choosing, narrowing."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect
from tests.browser.conftest import Gate, Site

QUESTION = "when may a detained vessel leave"


def test_results_come_as_one_types(page: Page, site: Site) -> None:
    page.goto(site.search())
    box = page.get_by_role("combobox", name="Search the documents")
    expect(box).to_be_focused()
    expect(page.locator(".contents a", has_text="Harbour Safety Act 2021")).to_be_visible()
    box.press_sequentially("detained vess")
    first = page.locator(".result").first
    expect(first).to_contain_text("Harbour Safety Act 2021")
    expect(first.locator("mark").first).to_be_visible()
    expect(first.locator(".where")).to_contain_text("line")
    expect(first.locator(".leg").first).to_be_visible()
    expect(page).to_have_url(site.search(q="detained vess"))
    expect(page.locator("#live")).to_have_text(re.compile(r"^Best 10 of \d+ passages\. "))


def test_all_places_of_a_quotation_are_counted(page: Page, site: Site) -> None:
    page.goto(site.search(q='"Harbour Master"'))
    expect(page.locator(".count")).to_have_text("10 of 19 results")
    page.get_by_role("button", name="More results").click()
    expect(page.locator(".count")).to_have_text("19 results")
    expect(page.locator(".result")).to_have_count(19)
    expect(page.get_by_role("button", name="More results")).to_have_count(0)


def test_suggestions_by_keyboard(page: Page, site: Site) -> None:
    page.goto(site.search())
    box = page.get_by_role("combobox")
    with page.expect_response("**/api/suggest?q=vess&*"):
        box.press_sequentially("vess")
    options = page.get_by_role("option")
    expect(options.filter(has_text="term").first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "suggestion-0")
    box.press("ArrowUp")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(0)
    box.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_value("vess")


def test_a_chosen_suggestion_stays_chosen_when_suggestions_come_late(page: Page, site: Site) -> None:
    page.goto(site.search())
    box = page.get_by_role("combobox")
    with page.expect_response("**/api/suggest?q=Harbou&*"):
        box.press_sequentially("Harbou")
    expect(page.get_by_role("option").first).to_be_visible()
    gate = Gate(page, "**/api/suggest?*")
    gate.shut()
    with page.expect_request("**/api/suggest?q=Harbour&*"):
        box.press("r")
    box.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    text = chosen.inner_text()
    with page.expect_response("**/api/suggest?q=Harbour&*"):
        gate.open()
    expect(page.locator(".suggestion mark", has_text="Harbour").first).to_be_visible()
    expect(chosen).to_have_text(text, use_inner_text=True)


def test_a_suggested_section_opens(page: Page, site: Site) -> None:
    page.goto(site.search())
    box = page.get_by_role("combobox")
    with page.expect_response("**/api/suggest?q=Tarn+4&*"):
        box.press_sequentially("Tarn 4")
    expect(page.get_by_role("option").first).to_contain_text("document")
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.locator("article.document h1")).to_contain_text("ump")
    assert f"doc={site.docs['pump-manual.md']}" in page.url


def test_a_filter_narrows_and_goes_again(page: Page, site: Site) -> None:
    page.goto(site.search(q="harbour"))
    expect(page.locator(".result").first).to_be_visible()
    page.locator(".facet.type label.tick", has_text="pdf").click()
    trails = page.locator(".result .trail")
    expect(page.locator(".chip")).to_have_count(1)
    expect(page).to_have_url(site.search(q="harbour", f="type:pdf"))
    expect(page.locator(".result .where").first).to_contain_text("p.")
    expect(trails.filter(has_text="Harbour Safety Act")).to_have_count(0)
    page.get_by_role("button", name="Remove the filter Type: pdf").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(trails.filter(has_text="Harbour Safety Act").first).to_be_visible()


def test_the_mode_decides_what_is_found(page: Page, site: Site) -> None:
    page.goto(site.search(q="seagoing ships that are being held back"))
    expect(page.locator(".result").first).to_be_visible()
    page.get_by_role("radio", name="Exact").check()
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    assert "mode=exact" in page.url
    page.get_by_role("button", name="together").click()
    expect(page.locator(".result").first).to_be_visible()
    assert "mode=" not in page.url
    page.get_by_role("radio", name="Words").check()
    expect(page.locator(".result .leg.semantic")).to_have_count(0)


def test_why_a_result_was_found(page: Page, site: Site) -> None:
    page.goto(site.search(q=QUESTION, f="type:md"))
    first = page.locator(".result").first
    why = first.get_by_role("button", name="Why")
    why.click()
    expect(why).to_have_attribute("aria-expanded", "true")
    panel = first.locator(".why")
    expect(panel.locator(".verdict")).to_contain_text("it comes first")
    expect(panel.get_by_role("row", name="meaning")).to_be_visible()
    expect(panel.get_by_role("row", name="together")).to_be_visible()
    why.click()
    expect(panel).to_be_hidden()


def test_a_definition_leads_to_the_lines_that_say_so(page: Page, site: Site) -> None:
    page.goto(site.search(q="what is a pilot"))
    definition = page.locator(".definitions dd", has_text="person who holds a licence")
    definition.get_by_role("link").click()
    hit = page.locator("p.hit")
    expect(hit).to_have_count(1)
    expect(hit).to_contain_text("person who holds a licence")
    expect(hit).to_be_in_viewport()


def test_marks_stand_at_their_words_also_after_wide_characters(page: Page, site: Site) -> None:
    page.goto(site.search(q='"looked over every"'))
    expect(page.locator(".result mark.exact").first).to_have_text("looked over every")


def test_a_word_that_must_not_be_there_is_not_marked_in_the_document(page: Page, site: Site) -> None:
    page.goto(site.read("harbour-safety-act.md", q="vessel -master type:md"))
    marked = page.locator(".document mark.word")
    expect(marked.filter(has_text="essel").first).to_be_attached()
    expect(page.locator(".document h4", has_text="Section 410")).to_be_attached()
    expect(marked.filter(has_text="aster")).to_have_count(0)


def test_more_results(page: Page, site: Site) -> None:
    page.goto(site.search(q="harbour master vessel"))
    expect(page.locator(".result")).to_have_count(10)
    page.get_by_role("button", name="More results").click()
    expect(page.locator(".result").nth(10)).to_be_visible()
    expect(page.locator("#result-11 a.open")).to_be_focused()
    assert "k=20" in page.url


def test_the_address_holds_the_state(page: Page, site: Site) -> None:
    page.goto(site.search(q="vessel", mode="keyword", f="type:md"))
    expect(page.locator(".result").first).to_be_visible()
    before = page.locator(".result h2").all_inner_texts()
    page.reload()
    expect(page.get_by_role("combobox")).to_have_value("vessel")
    expect(page.get_by_role("radio", name="Words")).to_be_checked()
    expect(page.locator(".facet.type").get_by_role("checkbox", name="md")).to_be_checked()
    expect(page.locator(".result h2")).to_have_text(before, use_inner_text=True)
