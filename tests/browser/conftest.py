"""A real browser in front of a real server, over the examples and documents that mean harm."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from tests.browser import documents as texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, Route

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = (
    "harbour-safety-act.md",
    "pump-manual.md",
    "hafenordnung.md",
    "lighthouse-diary.txt",
    "annual-report.pdf",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
# How many times slower the browser is to work, to find tests and views that count on being quick.
SLOWED = float(os.environ.get("LOCCIT_BROWSER_SLOWED", "0"))
WIDE = {"width": 1280, "height": 900}
WATCH = """
window.__violations = [];
addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""


def _chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def _missing() -> str:
    """Say what these tests lack here; empty when they can run."""
    for module in ("playwright", "axe_playwright_python", "mcp"):
        if importlib.util.find_spec(module) is None:
            return f"the browser tests need the Python package of {module}: pip install -e '.[dev]'"
    if not _chromium():
        return "the browser tests need Chromium: apt-get install chromium, or its path in CHROMIUM"
    return ""


MISSING = _missing()


class Unavailable(pytest.File):
    """Stands for a module that cannot be imported here, and says why."""

    def collect(self) -> Iterable[pytest.Item]:
        pytest.skip(MISSING, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Skip the folder where there is no browser."""
    return Unavailable.from_parent(parent, path=module_path) if MISSING else None


@dataclass(frozen=True)
class Site:
    """A served library: its address, and the ids of its documents by the names of their files."""

    address: str
    docs: dict[str, str]

    def search(self, **params: str) -> str:
        return self._url("/", params)

    def read(self, name: str, **params: str) -> str:
        return self._url("/read", {"doc": self.docs[name], **params})

    def map(self, **params: str) -> str:
        return self._url("/map", params)

    def overview(self) -> str:
        return self._url("/overview", {})

    def _url(self, path: str, params: dict[str, str]) -> str:
        return f"{self.address}{path}" + (f"?{urlencode(params)}" if params else "")


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of the examples and of documents of our own."""
    from loccit import Library

    folder = tmp_path_factory.mktemp("browser")
    shelf = folder / "documents"
    shelf.mkdir()
    for name in SHOWN:
        shutil.copy(EXAMPLES / name, shelf)
    own = {
        "notes.md": texts.NOTES,
        "hostile.md": texts.HOSTILE,
        "hostile.html": texts.HOSTILE_PAGE,
        texts.HOSTILE_NAME: texts.HOSTILE_TEXT,
    }
    for name, text in own.items():
        (shelf / name).write_text(text, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        assert not library.index(shelf).failed
    return folder


@pytest.fixture(scope="session")
def serve(index: Path) -> Iterator[Callable[..., str]]:
    """Serve the index on a free port of this machine; gives the address."""
    from tests.server.conftest import index_registry, served

    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(served(index_registry(index), **options))


@pytest.fixture(scope="session")
def site(serve: Callable[..., str]) -> Site:
    """The library, without a token."""
    address = serve()
    found = httpx.get(f"{address}/api/documents", timeout=60).json()["documents"]
    return Site(address, {Path(item["source_path"]).name: item["id"] for item in found})


# One for each file: a loop of events runs in this thread for as long as the browser is there, and tests elsewhere run
# their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    # Nothing waits as long as this, except on a machine that is busy with something else.
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page in a profile of its own. It must not fail, leave this machine or break the page's own policy."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def asked(request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.hostname != "127.0.0.1":
            troubles.append(f"asked {request.url}")

    def said(dialog: Dialog) -> None:
        troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def new(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
        context.set_default_timeout(30_000)
        context.add_init_script(WATCH)
        context.on("request", asked)
        contexts.append(context)
        page = context.new_page()
        if SLOWED:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        page.on("pageerror", lambda error: troubles.append(f"error {error}"))
        page.on("dialog", said)
        return page

    yield new
    for context in contexts:
        for page in context.pages:
            troubles += page.evaluate("window.__violations")
            if page.evaluate("typeof window.__hacked") != "undefined":
                troubles.append(f"ran {page.evaluate('window.__hacked')}")
        context.close()
    assert not troubles


def until(page: Page, expression: str, arg: object = None) -> None:
    """Wait until something holds on the page; the waiting of the library itself needs `eval`, which the page forbids."""
    for _ in range(600):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came: {expression}")


def look_again(page: Page, times: int = 1) -> None:
    """Let time pass on the page until it has looked at the library again; its clock must be installed."""
    looks: list[Request] = []

    def asked(request: Request) -> None:
        if urlsplit(request.url).path == "/api/state":
            looks.append(request)

    page.on("request", asked)
    # Another look begins once the page has made what it does of the one before.
    for _ in range(600):
        if len(looks) > times:
            break
        page.clock.fast_forward(1000)
        page.wait_for_timeout(20)
    else:
        raise AssertionError("the page never looked again")
    page.remove_listener("request", asked)


def settled(page: Page) -> None:
    """Wait until the search has answered what is asked now: before, results of fewer letters may stand there."""
    from playwright.sync_api import expect

    expect(page.locator("#main[aria-busy]")).to_have_count(0)


class Gate:
    """Holds back answers of the server for as long as it is shut."""

    def __init__(self, page: Page, address: str) -> None:
        self._waiting: list[Route] | None = None
        page.route(address, self._meet)

    def _meet(self, route: Route) -> None:
        if self._waiting is None:
            route.continue_()
        else:
            self._waiting.append(route)

    def shut(self) -> None:
        self._waiting = []

    def open(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for route in waiting:
            route.continue_()


@pytest.fixture
def new_gate() -> Callable[[Page, str], Gate]:
    return Gate


@pytest.fixture
def gate(page: Page) -> Gate:
    """The gate before the search."""
    return Gate(page, "**/api/search?*")


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A wide page in light colours."""
    return new_page(color_scheme="light")
