"""Several libraries on one server: whichever is chosen stays chosen, wherever one goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import settled
from tests.server.conftest import served, write_documents

from loccit.cli.mcp import make_registry

AGENT = """
name: harbour-desk
tools:
  - name: pumps
    description: How the pump works.
    type: hierarchical_document
    source: pumps
    defer_loading: false
  - name: harbour
    description: The law of the harbour.
    type: hierarchical_document
    source: docs
    defer_loading: false
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where two libraries are served; the second has the law."""
    folder = tmp_path_factory.mktemp("libraries")
    write_documents(folder / "docs")
    (folder / "pumps").mkdir()
    (folder / "docs" / "manual.md").rename(folder / "pumps" / "manual.md")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    made = make_registry(None, folder / "agent.yaml", write=True, token_budget=None, output="both")
    made.warm().join()
    with served(made) as address:
        yield address


def test_a_library_is_chosen_searched_and_read(page: Page, desk: str) -> None:
    page.goto(desk)
    expect(page.locator(".contents a")).to_have_text(["Pump manual"])
    choice = page.get_by_role("combobox", name="Library")
    expect(choice).to_have_value("pumps")
    choice.select_option("harbour")
    expect(page.locator(".contents a", has_text="Harbour Act")).to_be_visible()
    expect(page.locator(".contents a", has_text="Pump")).to_have_count(0)
    page.locator("#query").press_sequentially("collision")
    settled(page)
    expect(page.locator(".result").first).to_contain_text("report a collision")
    assert "library=harbour" in page.url
    page.reload()
    expect(page.locator(".result").first).to_contain_text("report a collision")
    expect(choice).to_have_value("harbour")
    page.locator(".result a.open").first.click()
    expect(page.locator("article.document h1")).to_contain_text("Harbour Act")
    assert "library=harbour" in page.url
    page.reload()
    expect(page.locator("article.document h1")).to_contain_text("Harbour Act")
    page.go_back()
    expect(page.locator(".result").first).to_contain_text("report a collision")


def test_going_back_to_another_library_shows_it_as_chosen(page: Page, desk: str) -> None:
    page.goto(desk)
    choice = page.get_by_role("combobox", name="Library")
    choice.select_option("harbour")
    expect(page.locator(".contents a", has_text="Harbour Act")).to_be_visible()
    page.go_back()
    expect(page.locator(".contents a")).to_have_text(["Pump manual"])
    expect(choice).to_have_value("pumps")


def test_overview_and_map_are_of_the_chosen_library(page: Page, desk: str) -> None:
    page.goto(f"{desk}/overview?library=harbour")
    expect(page.get_by_role("heading", name="harbour", exact=True)).to_be_visible()
    expect(page.locator(".documents tbody th")).to_have_count(2)
    page.get_by_role("link", name="Map").click()
    expect(page.locator(".map-node", has_text="Harbour Act")).to_have_count(1)
    expect(page.locator(".map-node", has_text="Pump manual")).to_have_count(0)
    page.reload()
    expect(page.locator(".map-node", has_text="Harbour Act")).to_have_count(1)


def test_the_chosen_library_is_brought_up_to_date(page: Page, desk: str) -> None:
    page.goto(f"{desk}/overview?library=harbour")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Update the index").click()
    expect(page.locator(".indexing-now")).to_contain_text("2 unchanged")
    assert sent.value.post_data_json == {"library": "harbour"}
