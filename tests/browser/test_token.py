"""A server that wants a token: the page asks for it, and keeps it in its tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., str]) -> str:
    return serve(token=TOKEN)


def test_the_token_is_asked_for_and_kept(page: Page, guarded: str) -> None:
    page.goto(guarded)
    dialog = page.get_by_role("dialog", name="Token required")
    field = dialog.get_by_label("Token")
    expect(field).to_be_focused()
    field.fill("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("Wrong token.")
    dialog.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator(".contents a").first).to_be_visible()
    page.reload()
    expect(page.locator(".contents a").first).to_be_visible()
    expect(dialog).to_have_count(0)
    assert TOKEN not in page.url
    assert page.evaluate("Object.values(localStorage)") == []
    other = page.context.new_page()
    other.goto(guarded)
    expect(other.get_by_role("dialog", name="Token required")).to_be_visible()


def test_without_the_token_nothing_is_shown(page: Page, guarded: str) -> None:
    page.goto(f"{guarded}/?q=vessel")
    expect(page.get_by_role("dialog", name="Token required")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#main [role=alert]").first).to_contain_text("token")
    expect(page.locator(".result")).to_have_count(0)


def test_a_question_that_was_declined_comes_again_only_when_somebody_asks(
    page: Page, guarded: str, new_gate: Callable[[Page, str], Any]
) -> None:
    view = new_gate(page, "**/js/search.js")
    view.shut()
    page.goto(f"{guarded}/?q=vessel")
    dialog = page.get_by_role("dialog", name="Token required")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    # The view comes late, and what it asks for is refused; it does not open the question once more.
    view.open()
    again = page.get_by_role("button", name="Try again")
    expect(again.first).to_be_visible()
    expect(dialog).to_have_count(0)
    again.first.click()
    expect(dialog).to_be_visible()
