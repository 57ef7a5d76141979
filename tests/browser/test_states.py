"""What is said when there is nothing to show: in plain words, and no sooner than needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect
from tests.browser.conftest import Gate, Site, look_again, settled
from tests.server.conftest import index_registry, served

from loccit import Library


# Two of the documents define a vessel, and the PDF has none.
@pytest.mark.parametrize(
    ("typed", "note"),
    [
        ('"', "define “vessel” differently"),
        ("*", "define “vessel” differently"),
        ("type:pdf", "Nothing matches"),
    ],
)
def test_a_query_that_only_begins_is_not_scolded(page: Page, site: Site, typed: str, note: str) -> None:
    page.goto(site.search())
    expect(page.locator(".contents a").first).to_be_visible()
    box = page.locator("#query")
    with page.expect_response(lambda response: response.status == 422):
        box.fill(typed)
    settled(page)
    expect(page.locator("[role=alert]")).to_have_count(0)
    expect(page.locator(".contents a").first).to_be_visible()
    box.press("Enter")
    expect(page.locator(".notice")).to_contain_text("at least one word")
    expect(page.locator("[role=alert], .found .button")).to_have_count(0)
    box.press("End")
    box.press_sequentially(' vessel"')
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".notice")).to_contain_text(note)


def test_what_was_found_before_does_not_stand_below_another_query(page: Page, site: Site) -> None:
    page.goto(site.search(q="vessel"))
    expect(page.locator(".result").first).to_be_visible()
    page.locator("#query").fill("type:pdf")
    expect(page.locator(".result")).to_have_count(0)
    expect(page.locator(".notice")).to_contain_text("at least one word")
    expect(page.locator("#live")).to_have_text(
        re.compile(r"^Nothing to search for yet\. The query has only filters")
    )


def test_an_empty_library_says_so_and_how_to_fill_it(page: Page, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "docs")
    with served(index_registry(tmp_path)) as address:
        for path in ("/", "/?q=vessel", "/overview"):
            page.goto(address + path)
            expect(page.get_by_role("heading", name="This library is empty")).to_be_visible()
            expect(page.locator("#main")).to_contain_text("loccit index FOLDER")
            expect(page.locator("#main")).to_contain_text("loccit serve --write")
            expect(page.locator("[role=alert], .index-folder")).to_have_count(0)
            for word in ("never", "Languages", "Nothing found", "No match"):
                expect(page.locator("#main")).not_to_contain_text(word)


@pytest.mark.parametrize("path", ["/", "/?q=vessel", "/map", "/overview"])
def test_a_library_without_an_index_is_empty_and_shows_what_is_indexed(
    page: Page, tmp_path: Path, path: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("# Notes\n\nA vessel lies here.\n", encoding="utf-8")
    page.clock.install()
    with served(index_registry(tmp_path)) as address:
        page.goto(address + path)
        expect(page.get_by_role("heading", name="This library is empty")).to_be_visible()
        expect(page.locator("#main")).to_contain_text("loccit index FOLDER")
        expect(page.get_by_role("alert")).to_have_count(0)
        with Library(tmp_path / ".loccit") as library:
            library.index(tmp_path / "docs")
        # Nobody touches the page.
        look_again(page)
        expect(page.locator("#main")).to_contain_text("Notes")
        expect(page.get_by_role("heading", name="This library is empty")).to_have_count(0)


@pytest.mark.parametrize("path", ["/", "/overview"])
def test_where_the_server_may_write_a_folder_is_read_from_the_page(
    page: Page, tmp_path: Path, path: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("# Notes\n\nA vessel lies here.\n", encoding="utf-8")
    page.clock.install()
    with served(index_registry(tmp_path, write=True)) as address:
        page.goto(address + path)
        field = page.get_by_role("textbox", name="Folder")
        expect(field).to_have_value(str(tmp_path))
        expect(page.locator(".state")).to_contain_text(f"The server can read what is in {tmp_path}.")
        field.fill(str(tmp_path.parent))
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("is not below a folder that this server may read")
        field.fill(str(tmp_path / "docs"))
        page.get_by_role("button", name="Index this folder").click()
        expect(page.get_by_role("link", name="Notes")).to_be_visible()
        # It was this page that changed the library: it is not told so.
        look_again(page)
        expect(page.locator("#changed")).to_be_hidden()


def test_a_page_that_indexes_stays_until_all_is_read(
    page: Page, tmp_path: Path, new_gate: Callable[[Page, str], Gate]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("# Notes\n\nA vessel lies here.\n", encoding="utf-8")
    page.clock.install()
    with served(index_registry(tmp_path, write=True)) as address:
        page.goto(address)
        page.get_by_role("textbox", name="Folder").fill(str(tmp_path / "docs"))
        gate = new_gate(page, "**/api/index")
        gate.shut()
        page.get_by_role("button", name="Index this folder").click()
        with Library(tmp_path / ".loccit") as library:
            library.index(tmp_path / "docs", embed=False)
        look_again(page, times=3)
        expect(page.locator(".indexing[aria-busy=true]")).to_be_visible()
        expect(page.locator("#changed")).to_be_hidden()
        gate.open()
        look_again(page)
        expect(page.get_by_role("link", name="Notes")).to_be_visible()
        expect(page.locator("#changed")).to_be_hidden()


def test_an_answer_that_was_overtaken_is_no_change(page: Page, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("# Notes\n\nA vessel lies here.\n", encoding="utf-8")
    held: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        held.append((route, route.fetch()))

    page.clock.install()
    with served(index_registry(tmp_path, write=True)) as address:
        page.route("**/api/state*", hold, times=1)
        page.goto(address)
        page.get_by_role("textbox", name="Folder").fill(str(tmp_path / "docs"))
        page.get_by_role("button", name="Index this folder").click()
        expect(page.get_by_role("link", name="Notes")).to_be_visible()
        [(route, before)] = held
        route.fulfill(response=before)
        look_again(page, times=2)
        expect(page.locator("#changed")).to_be_hidden()


def test_a_library_that_was_not_ready_has_not_changed(page: Page, site: Site) -> None:
    page.clock.install()
    page.route("**/api/state*", lambda route: route.fulfill(json={"state": ""}), times=1)
    page.goto(site.search())
    expect(page.locator(".contents a").first).to_be_visible()
    look_again(page, times=2)
    expect(page.locator("#changed")).to_be_hidden()


def test_a_library_that_is_being_read_says_so_and_then_shows_itself(
    page: Page, site: Site, new_gate: Callable[[Page, str], Gate]
) -> None:
    words = "The documents of harbour are being read (read 3 of 18). Ask again in a minute."
    reading = {"libraries": [{"name": "library", "problem": words}], "version": "", "write": False}
    page.route("**/api/status", lambda route: route.fulfill(json=reading))
    gate = new_gate(page, "**/api/documents")
    gate.shut()
    page.goto(site.search())
    state = page.get_by_role("alert")
    expect(state).to_contain_text(words)
    expect(state.get_by_role("heading")).to_have_text("Not ready yet")
    expect(state).not_to_contain_text("seconds")
    page.unroute("**/api/status")
    gate.open()
    expect(page.locator(".contents a").first).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("passages")


def test_a_server_that_is_not_ready_is_asked_again(page: Page, site: Site) -> None:
    problem = {"title": "Service Unavailable", "status": 503, "detail": "The documents are being read"}
    page.route(
        "**/api/documents",
        lambda route: route.fulfill(status=503, json=problem, headers={"Retry-After": "1"}),
        times=2,
    )
    page.goto(site.search())
    expect(page.get_by_role("alert")).to_contain_text("are being read. Try again in 1 second.")
    expect(page.locator(".contents a").first).to_be_visible()
