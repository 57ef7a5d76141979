"""Take the pictures of the page for the documentation: serve the examples, and look at them with Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from loccit import Library

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
LARGEST = 200_000
QUESTION = "how to appeal against a detention"
BELOW_THE_BAR = "element => scrollBy(0, element.getBoundingClientRect().top - 70)"
WIDE = {"width": 1200, "height": 740}
NARROW = {"width": 390, "height": 780}


def fill(folder: Path) -> None:
    """Index the examples."""
    # A short path without the machine's own folders, as it is seen on the pictures.
    shutil.copytree(
        ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("holodeck", "*.yaml")
    )
    with Library(folder / ".loccit") as library:
        library.index(folder / "examples")


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """Serve a folder; gives the address."""
    command = [sys.executable, "-m", "loccit", "serve", "--port", "0", "--index", str(folder / ".loccit")]
    command += options
    with subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as server:
        try:
            for line in server.stdout or ():
                if found := re.search(r"http://[\w.:]+", line):
                    yield found[0]
                    return
            sys.exit("The server did not start.")
        finally:
            server.terminate()


def look(browser: Browser, **options: Any) -> Page:
    return browser.new_context(reduced_motion="reduce", **options).new_page()


def save(page: Page, name: str) -> None:
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    path = IMAGES / f"page-{name}.png"
    page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)} {size // 1000} KB")
    if size > LARGEST:
        sys.exit(f"{path.name} is larger than {LARGEST // 1000} KB")


def take(browser: Browser, address: str) -> None:
    page = look(browser, viewport=WIDE, color_scheme="light")
    page.goto(f"{address}/?q={quote_plus(QUESTION)}")
    expect(page.locator(".facet").first).to_be_visible()
    save(page, "search")
    page.get_by_role("button", name="Why").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    page.locator("#result-1 .facts").evaluate(BELOW_THE_BAR)
    save(page, "why")
    page.locator("#result-1 a.open").click()
    expect(page.locator(".document .hit").first).to_be_in_viewport()
    page.locator(".hit a.ref", has_text="section 202").hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    save(page, "reader")
    page.goto(f"{address}/map")
    page.get_by_role("link", name="Handbook").or_(page.locator("svg a")).first.wait_for()
    save(page, "map")
    page.goto(f"{address}/overview")
    expect(page.get_by_role("table").first).to_be_visible()
    save(page, "overview")
    page = look(browser, viewport=NARROW, color_scheme="dark", device_scale_factor=1.5)
    page.goto(f"{address}/?q={quote_plus(QUESTION)}")
    expect(page.locator(".result").first).to_be_visible()
    save(page, "search-narrow-dark")


def take_empty(browser: Browser, address: str) -> None:
    def shorten(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "folders": ["/home/ann/harbour"]})

    page = look(browser, viewport={"width": 1200, "height": 420}, color_scheme="light")
    page.route("**/api/status", shorten)
    page.goto(address)
    expect(page.get_by_role("textbox", name="Folder")).to_be_visible()
    save(page, "empty")


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    chromium = (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium")
        or sys.exit("Needs Chromium: apt-get install chromium")
    )
    with (
        tempfile.TemporaryDirectory() as full,
        tempfile.TemporaryDirectory() as empty,
        sync_playwright() as playwright,
    ):
        fill(Path(full))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(Path(full)) as address:
            take(browser, address)
        with served(Path(empty), "--write") as address:
            take_empty(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
