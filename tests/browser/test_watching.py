"""Open tabs notice that the library has changed, and that the server is away and back; nobody is disturbed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.browser.conftest import look_again, until
from tests.server.conftest import index_registry, served

from loccit import Library

RULES = "\n\n".join(
    f"## Rule {number}\n\nRule {number} is about lamp {number} of the pier." for number in range(1, 120)
)
TOP = """() => {
  const bar = document.querySelector(".reader-bar").getBoundingClientRect().bottom;
  const seen = [...document.querySelectorAll(".document p")].find((part) => part.getBoundingClientRect().top > bar);
  return [seen.textContent, Math.round(seen.getBoundingClientRect().top)];
}"""


def _index(folder: Path, text: str) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "rules.md").write_text(text, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        assert not library.index(folder / "docs").failed


def _notice(page: Page) -> None:
    look_again(page)
    expect(page.locator("#changed")).to_contain_text("The library has changed.")


def test_a_reader_is_told_and_keeps_the_place(page: Page, tmp_path: Path) -> None:
    _index(tmp_path, f"# Pier rules\n\n{RULES}")
    page.clock.install()
    with served(index_registry(tmp_path)) as address:
        page.goto(address)
        page.get_by_role("link", name="Pier rules").click()
        expect(page.locator(".document h2").nth(80)).to_be_attached()
        page.locator(".document h2", has_text="Rule 60").evaluate("heading => heading.scrollIntoView()")
        page.evaluate("scrollBy(0, -40)")
        until(page, "history.state?.scroll === scrollY")
        words, top = page.evaluate(TOP)
        _index(tmp_path, f"# Pier rules\n\n{'A new paragraph. ' * 40}\n\n" * 3 + RULES)
        _notice(page)
        assert page.evaluate(TOP) == [words, top]
        page.get_by_role("button", name="Reload").click()
        expect(page.locator("article.document")).to_contain_text("A new paragraph.")
        expect(page.locator("#changed")).to_be_hidden()
        until(page, f"(([words, top]) => words === {words!r} && Math.abs(top - {top}) <= 2)(({TOP})())")


def test_results_are_told_and_keep_the_place(new_page: Callable[..., Page], tmp_path: Path) -> None:
    page = new_page(viewport={"width": 900, "height": 500})
    _index(tmp_path, f"# Pier rules\n\n{RULES}")
    page.clock.install()
    with served(index_registry(tmp_path)) as address:
        page.goto(f"{address}/?q=lamp of the pier")
        expect(page.locator(".result").nth(5)).to_be_attached()
        page.evaluate("scrollTo(0, 400)")
        until(page, "history.state?.scroll === scrollY")
        _index(tmp_path, f"# Pier rules, second edition\n\n{RULES}")
        _notice(page)
        page.get_by_role("button", name="Reload").click()
        expect(page.locator(".result", has_text="second edition").first).to_be_attached()
        # A line more or less above does not matter.
        until(page, "Math.abs(scrollY - 400) < 40")


def test_the_notice_can_be_closed_and_comes_with_the_next_change(page: Page, tmp_path: Path) -> None:
    _index(tmp_path, "# Rules\n\nOne.\n")
    page.clock.install()
    with served(index_registry(tmp_path)) as address:
        page.goto(address)
        expect(page.get_by_role("link", name="Rules")).to_be_visible()
        look_again(page)
        _index(tmp_path, "# Rules\n\nTwo.\n")
        _notice(page)
        page.get_by_role("button", name="Close the notice").click()
        expect(page.locator("#changed")).to_be_hidden()
        _index(tmp_path, "# Rules\n\nThree.\n")
        _notice(page)


def test_a_server_that_is_away_and_back(page: Page, tmp_path: Path) -> None:
    _index(tmp_path, "# Rules\n\nOne.\n")
    page.clock.install()
    with served(index_registry(tmp_path)) as address:
        page.goto(address)
        expect(page.get_by_role("link", name="Rules")).to_be_visible()
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        notice = page.locator("#changed")
        look_again(page)
        expect(notice).to_contain_text("The server cannot be reached.")
        expect(page.get_by_role("link", name="Rules")).to_be_visible()
        page.unroute("**/api/**")
        look_again(page)
        expect(notice).to_be_hidden()
        # A view that could not be shown is shown then.
        page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached")
        page.unroute("**/api/**")
        look_again(page)
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.get_by_role("link", name="Rules")).to_be_visible()
