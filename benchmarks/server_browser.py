"""What a person at the page waits for, measured inside Chromium: results while typing, and a long document.

Times come from the page's own clock and end when the browser has painted. There is no screen: pictures are drawn by the
processor, the same that serves and searches.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from benchmarks.common import eval_dir, percentile
from benchmarks.search_speed import QUERIES
from loccit import Library

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("LOCCIT_CHROMIUM", "/usr/bin/chromium")
_KEY_MS = 80  # between keys: a quick typist
_TYPED = 10
_PAGES, _PAGE = 500, 3000  # characters

# The last key and the first paint of results that belong to the words as they are then.
_WATCH_TYPING = """
(() => {
  const painted = (act) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = act;
    channel.port2.postMessage(0);
  });
  window.bench = { key: 0, placed: 0, shown: 0 };
  const pressed = (event) => { bench = { key: event.timeStamp, placed: 0, shown: 0 }; };
  document.addEventListener("keydown", pressed, true);
  new MutationObserver(() => {
    const wanted = document.querySelector("#query")?.value;
    const link = document.querySelector(".results .open");
    if (bench.placed || !bench.key || !link || new URL(link.href).searchParams.get("q") !== wanted) return;
    bench.placed = performance.now();
    const key = bench.key;
    painted(() => { if (bench.key === key) bench.shown = performance.now(); });
  }).observe(document, { childList: true, subtree: true });
})();
"""

# Where the time went: until the page asked, until it had the answer, until the results stood there and were painted.
_SPANS = """
() => {
  const asked = performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/api/search")).pop();
  performance.clearResourceTimings();
  return {
    all: bench.shown - bench.key,
    asked: asked.startTime - bench.key,
    answered: asked.responseEnd - asked.startTime,
    drawn: bench.placed - asked.responseEnd,
    painted: bench.shown - bench.placed,
  };
}
"""

# When the wanted section stands on the screen, counted from the moment the address was opened.
_WATCH_OPENING = """
(() => {
  window.bench = { shown: 0 };
  const id = "s-" + new URLSearchParams(location.search).get("section");
  const look = () => {
    const top = document.getElementById(id)?.getBoundingClientRect().top;
    if (top === undefined || top < 0 || top > innerHeight / 2) return requestAnimationFrame(look);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { bench.shown = performance.now(); };
    channel.port2.postMessage(0);
  };
  requestAnimationFrame(look);
})();
"""

# The page allows no code made of strings, so that Playwright's own way of waiting is closed.
_UNTIL_SHOWN = """
() => new Promise((done, fail) => {
  setTimeout(() => fail(new Error("nothing was shown for 30 seconds")), 30000);
  const look = () => (bench.shown ? done() : setTimeout(look, 5));
  look();
})
"""

_SCROLL = """
([step, frames]) => new Promise((done) => {
  const times = [];
  let last = 0;
  const next = (now) => {
    if (last) times.push(now - last);
    last = now;
    if (times.length >= frames) return done(times);
    window.scrollBy({ top: step, behavior: "instant" });
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})
"""

_STILL = """
(frames) => new Promise((done) => {
  const times = [];
  let last = 0;
  const next = (now) => {
    if (last) times.push(now - last);
    last = now;
    return times.length >= frames ? done(times) : requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})
"""


def in_browser(
    url: str, scratch: Path, served: Callable[[Path], AbstractContextManager[Any]]
) -> dict[str, Any]:
    """Return the figures of the page; nothing where there is no browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("playwright is not installed: pip install playwright to measure the page")
        return {}
    if not Path(CHROMIUM).exists():
        print(f"there is no browser at {CHROMIUM} (set LOCCIT_CHROMIUM)")
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        figures: dict[str, Any] = {"typing": typing(browser, url)}
        index = scratch / "long" / "index"
        length = long_document(index)
        with served(index) as server:
            figures["reading"] = {
                "characters": length,
                **reading(browser, f"http://127.0.0.1:{server.port}"),
            }
        browser.close()
    return figures


def typing(browser: Browser, url: str) -> dict[str, Any]:
    """Type queries as a person does; return the time from the last key until their results are on the page."""
    load = os.getloadavg()[0]
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(_WATCH_TYPING)
    page.goto(url)
    measured = []
    for query in [QUERIES[-1], *QUERIES[:_TYPED]]:
        page.fill("#query", "")
        page.wait_for_timeout(250)
        page.locator("#query").press_sequentially(query, delay=_KEY_MS)
        page.evaluate(_UNTIL_SHOWN)
        measured.append(page.evaluate(_SPANS))
    page.close()
    # The first is to warm up.
    spans = {name: [spans[name] for spans in measured[1:]] for name in measured[0]}
    return {
        "p50_ms": percentile(spans["all"], 0.5),
        "p95_ms": percentile(spans["all"], 0.95),
        "best_ms": min(spans["all"]),
        "parts_p50_ms": {name: percentile(times, 0.5) for name, times in spans.items() if name != "all"},
        "still_frame_ms": still_frame(browser),
        "load_before": load,
    }


def still_frame(browser: Browser) -> float:
    """Return the time between frames of an empty page: what the machine gives at best now."""
    page = browser.new_page()
    times: list[float] = page.evaluate(_STILL, 60)
    page.close()
    return percentile(times, 0.95)


def long_document(index: Path) -> int:
    """Index one text of 500 pages, made of the largest parts of the regulation; return its length."""
    parts = sorted(eval_dir("far").glob("docs/*.docx"), key=lambda path: -path.stat().st_size)
    text = ""
    with Library(index.parent / "parts") as library:
        for part in parts:
            library.index([part], embed=False)
            text += library.document(part.name).text + "\n\n"
            if len(text) >= _PAGES * _PAGE:
                break
    text = text[: _PAGES * _PAGE]
    path = index.parent / "long.md"
    path.write_text(text, encoding="utf-8")
    with Library(index) as library:
        library.index([path], embed=False)
    return len(text)


def reading(browser: Browser, url: str) -> dict[str, Any]:
    """Open the document at a section in its middle, several times with nothing kept, and scroll through it.

    The first time is counted apart: the server has not read the document yet.
    """
    load = os.getloadavg()[0]
    with urlopen(f"{url}/api/documents") as answer:
        doc = json.load(answer)["documents"][0]["id"]
    with urlopen(f"{url}/api/outline?doc={doc}") as answer:
        sections = section_ids(json.load(answer)["outlines"][0]["nodes"])
    places = [sections[len(sections) * part // 10] for part in (3, 5, 9, 2, 7, 4)]
    opened = []
    for place in places:
        page = opened_at(browser, f"{url}/read?doc={doc}&section={place}")
        opened.append(page.evaluate("bench.shown"))
        if place != places[-1]:
            page.context.close()
    figures: dict[str, Any] = {
        "sections": len(sections),
        "open_first_ms": opened[0],
        "open_ms": percentile(opened[1:], 0.5),
        "open_slowest_ms": max(opened),
    }
    for name, path in (
        ("answer", "document?offsets=utf16&without_terms=1&"),
        ("terms", "terms?offsets=utf16&"),
    ):
        start = time.perf_counter()
        with urlopen(f"{url}/api/{path}doc={doc}") as answer:
            figures[f"{name}_mb"] = len(answer.read()) / 1e6
        figures[f"{name}_ms"] = (time.perf_counter() - start) * 1000
    # The rest of the document is still being filled in during the first of these.
    for name, step in (("reading", 60), ("leafing", 1500)):
        times = page.evaluate(_SCROLL, [step, 240])
        figures[f"{name}_frame_p50_ms"] = percentile(times, 0.5)
        figures[f"{name}_frame_p95_ms"] = percentile(times, 0.95)
        figures[f"{name}_frames_over_50_ms"] = sum(took > 50 for took in times) / len(times)
    page.context.close()
    return {**figures, "still_frame_ms": still_frame(browser), "load_before": load}


def section_ids(nodes: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the headings of an outline, in order."""
    return [name for node in nodes for name in (node["section_id"], *section_ids(node["children"]))]


def opened_at(browser: Browser, address: str) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(_WATCH_OPENING)
    page.goto(address)
    page.evaluate(_UNTIL_SHOWN)
    return page
