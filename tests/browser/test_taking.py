"""What one takes along: citations and files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.browser.conftest import Site


def test_a_citation_is_copied(new_page: Callable[..., Page], site: Site) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(site.search(q="when may a detained vessel leave"))
    page.locator(".result").first.get_by_role("button", name="Cite").click()
    dialog = page.get_by_role("dialog", name="Cite")
    text = dialog.get_by_role("textbox", name="Citation")
    expect(text).to_have_value(re.compile("Harbour Safety Act 2021"))
    dialog.get_by_role("radio", name="BibTeX").check()
    expect(text).to_have_value(re.compile("^@"))
    dialog.get_by_role("button", name="Copy", exact=True).click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == text.input_value()
    page.keyboard.press("Escape")
    expect(page.locator(".result").first.get_by_role("button", name="Cite")).to_be_focused()


def test_results_are_saved(page: Page, site: Site) -> None:
    page.goto(site.search(q="detained vessel"))
    titles = page.locator(".result a.open")
    expect(titles.first).to_be_visible()
    saved = {}
    for kind, ending in [("CSV", "csv"), ("JSON", "json"), ("Markdown", "md")]:
        page.locator(".menu summary").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind).click()
        assert waiting.value.suggested_filename == f"loccit-results.{ending}"
        saved[kind] = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    shown = titles.count()
    assert len(list(csv.DictReader(saved["CSV"].splitlines(keepends=True)))) == shown
    assert len(json.loads(saved["JSON"])["results"]) == shown
    assert "Harbour Safety Act 2021" in saved["Markdown"]
