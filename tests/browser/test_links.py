"""Saved addresses: after a document has changed they lead to the same words, or say that these are gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import until
from tests.server.conftest import index_registry, served

from loccit import Library

KEEPERS = """# Keepers Act

## Section 401. Lamps

(a) The keeper lights the lamp at dusk and puts it out at dawn.

(b) A lamp that fails is replaced within one hour.

## Section 402. Inspections

The inspector visits every tower once a year and writes down what is broken.

## Section 403. Release of detained boats

(a) A detained boat is released when the fee has been paid in full.

(b) The fee is the one in the Schedule, and it doubles after thirty days.

## Section 404. Appeals

Whoever is refused may appeal to the board of keepers within two weeks.
"""
SECTION = KEEPERS[KEEPERS.index("## Section 403") : KEEPERS.index("## Section 404")]
SENTENCE = "A detained boat is released when the fee has been paid in full."
QUERY = "when is a detained boat released"


@dataclass
class Shelf:
    """A served library whose documents change."""

    folder: Path
    address: str

    @property
    def act(self) -> Path:
        return self.folder / "docs" / "act.md"

    def index(self) -> None:
        with closing(Library(self.folder / ".loccit")) as library:
            assert not library.index(self.folder / "docs").failed

    def write(self, text: str) -> None:
        self.act.write_text(text, encoding="utf-8")
        self.index()

    def doc(self, name: str = "act.md") -> str:
        found = httpx.get(f"{self.address}/api/documents", timeout=60).json()["documents"]
        return str(next(item["id"] for item in found if item["source_path"].endswith(name)))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    (tmp_path / "docs").mkdir()
    with served(index_registry(tmp_path)) as address:
        shelf = Shelf(tmp_path, address)
        shelf.write(KEEPERS)
        yield shelf


@pytest.fixture
def saved(page: Page, shelf: Shelf) -> str:
    """The address of a result, as somebody keeps it."""
    page.goto(f"{shelf.address}/?q={QUERY}")
    page.locator(".result a.open", has_text="Section 403").click()
    answers(page)
    expect(page.locator(".address-note")).to_be_hidden()
    address = page.url
    page.goto("about:blank")
    return address


def answers(page: Page) -> None:
    """Wait until the sentence is marked; references and terms in it are elements of their own."""
    until(
        page,
        "[...document.querySelectorAll('.answer')].map((part) => part.textContent).join('') === "
        + repr(SENTENCE),
    )


def note(page: Page, words: str) -> None:
    expect(page.locator(".address-note")).to_contain_text(words)


def nothing_is_marked(page: Page) -> None:
    expect(page.locator(".document h2").first).to_be_visible()
    expect(page.locator(".hit, .answer")).to_have_count(0)


def cited(page: Page) -> str:
    """What the reader cites, of the section that is read."""
    page.get_by_role("button", name="Cite", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cite")
    expect(dialog.get_by_role("textbox")).not_to_have_value("")
    text = dialog.get_by_role("textbox").input_value()
    page.keyboard.press("Escape")
    return text


def test_lines_above_it_do_not_matter(page: Page, shelf: Shelf, saved: str) -> None:
    assert "place=" in saved and "text=" in saved
    shelf.write(KEEPERS.replace("## Section 401", "A preamble.\n\nOf two paragraphs.\n\n## Section 401"))
    page.goto(saved)
    answers(page)
    expect(page.locator(".document .answer").first).to_be_in_viewport()
    for text in page.locator(".hit").all_inner_texts():
        assert "inspector" not in text and "appeal" not in text
    note(page, "Its passage is highlighted at its new place")
    assert cited(page) == "Keepers Act, Section 403. Release of detained boats, lines 17–21"
    # The address is that of today: whoever keeps it again is not told of a change.
    page.goto(page.url)
    answers(page)
    expect(page.locator(".address-note")).to_be_hidden()


def test_a_section_that_is_deleted_is_gone(page: Page, shelf: Shelf, saved: str) -> None:
    shelf.write(KEEPERS.replace(SECTION, ""))
    page.goto(saved)
    note(page, "was Section 403 of")
    note(page, "Its text was not found")
    nothing_is_marked(page)


def test_a_section_that_went_to_another_document_is_shown_there(page: Page, shelf: Shelf, saved: str) -> None:
    (shelf.folder / "docs" / "release.md").write_text(f"# Release Order\n\n{SECTION}", encoding="utf-8")
    shelf.write(KEEPERS.replace(SECTION, ""))
    page.goto(saved)
    note(page, "Its text is now in")
    nothing_is_marked(page)
    page.locator(".address-note a").click()
    expect(page.locator(".reader-title")).to_have_text("Release Order")
    expect(page.locator("article.document")).to_contain_text(SENTENCE)


def test_a_file_that_is_renamed_is_found(page: Page, shelf: Shelf, saved: str) -> None:
    shelf.act.rename(shelf.folder / "docs" / "keepers-act-2026.md")
    shelf.index()
    page.goto(saved)
    answers(page)
    expect(page.locator(".document-facts")).to_contain_text("keepers-act-2026.md")
    assert f"doc={shelf.doc('2026.md')}" in page.url


def test_a_file_that_is_removed_is_said_to_be(page: Page, shelf: Shelf, saved: str) -> None:
    (shelf.folder / "docs" / "other.md").write_text("# Other\n\nNothing of that.\n", encoding="utf-8")
    shelf.act.unlink()
    shelf.index()
    page.goto(saved)
    expect(page.get_by_role("alert")).to_contain_text("was Section 403 of")
    expect(page.get_by_role("alert")).to_contain_text("which was removed")


def test_words_that_were_changed_are_not_marked(page: Page, shelf: Shelf, saved: str) -> None:
    shelf.write(KEEPERS.replace("has been paid in full", "has been paid by half"))
    page.goto(saved)
    note(page, "they were changed or removed. Section 403, where it was, is shown.")
    nothing_is_marked(page)
    expect(page.locator(".document h2", has_text="Section 403")).to_be_in_viewport()


def test_a_section_with_another_number_is_found_by_its_text(page: Page, shelf: Shelf) -> None:
    page.goto(f"{shelf.address}/read?doc={shelf.doc()}&section=sec_403")
    expect(page.locator(".target")).to_contain_text("Section 403")
    saved = page.url
    assert "place=" in saved and "text=" in saved
    lit = KEEPERS.replace("Section 404", "Section 405").replace("Section 403", "Section 404")
    shelf.write(
        lit.replace("## Section 404", "## Section 403. Fees\n\nFees are paid in coin.\n\n## Section 404")
    )
    page.goto(saved)
    # The number is part of its first words: the section that bears it now says something else.
    note(page, "no longer in this document")
    nothing_is_marked(page)


def test_lines_without_a_fingerprint_are_not_trusted(page: Page, shelf: Shelf) -> None:
    page.goto(f"{shelf.address}/read?doc={shelf.doc()}&section=sec_403&lines=15-15")
    note(page, "names lines by their numbers only")
    expect(page.locator(".hit")).to_contain_text("A detained boat")
    shelf.write(KEEPERS.replace("## Section 401", "A preamble.\n\n" * 4 + "## Section 401"))
    page.reload()
    note(page, "Lines 15-15 are not in Section 403 any more")
    nothing_is_marked(page)
    expect(page.locator(".document h2", has_text="Section 403")).to_be_in_viewport()


def test_a_tab_that_is_old_cites_what_is_true_or_nothing(page: Page, shelf: Shelf) -> None:
    page.goto(f"{shelf.address}/read?doc={shelf.doc()}&section=sec_403")
    expect(page.locator(".target")).to_contain_text("Section 403")
    assert cited(page).endswith("Release of detained boats, lines 13–17")
    shelf.write(KEEPERS.replace("## Section 401", "A preamble.\n\n## Section 401"))
    assert cited(page).endswith("Release of detained boats, lines 15–19")
    shelf.write(KEEPERS.replace(SENTENCE, "No boat is released."))
    assert "no longer in the document" in cited(page)


def test_the_link_of_a_citation_leads_there(new_page: Callable[..., Page], shelf: Shelf) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{shelf.address}/?q={QUERY}")
    page.locator(".result", has_text="Section 403").get_by_role("button", name="Cite").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.match(rf"{shelf.address}/read\?doc=.*&place=.*&lines=.*&text=", link)
    shelf.write(KEEPERS.replace("## Section 401", "A preamble.\n\n## Section 401"))
    page.goto(link)
    expect(page.locator(".hit", has_text=SENTENCE)).to_be_in_viewport()
    note(page, "highlighted at its new place")
