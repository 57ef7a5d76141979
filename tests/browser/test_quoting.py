"""What is selected on the page and copied with its citation: the document's own words, from the place that is cited."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.answers.shelf import write_shelf
from tests.browser.conftest import Site, until
from tests.effort import tries
from tests.server.conftest import index_registry, served

from loccit import Library

REGULATION = """# Regulation

## Article 6 Lawfulness

1. Processing is lawful only if:

(a) the person has given **consent** to it;

(b) a contract needs it, see Article 8.

(c) the law asks for it &amp; no more.

## Article 7 Consent

The controller shows that there is consent, as Article 6 says.

## Article 8 Children

A child of [16 years](age.md) may consent to what Article 6 allows.[^1]

[^1]: Less in some countries.
"""
# Every text of the article, also of what the page adds to it.
SELECT = """([from, at, length, to]) => {
  const walk = document.createTreeWalker(document.querySelector("article.document .slabs"), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  const first = texts[Math.floor(from * texts.length)];
  const last = texts[Math.min(texts.length - 1, texts.indexOf(first) + length)];
  const start = Math.floor(at * first.length);
  const end = first === last ? Math.min(last.length, start + 1 + Math.floor(to * 3)) : Math.ceil(to * last.length);
  const selection = getSelection();
  selection.setBaseAndExtent(first, start, last, end);
  return selection.toString();
}"""
BETWEEN = """([from, to]) => {
  const walk = document.createTreeWalker(document.querySelector("article.document"), NodeFilter.SHOW_TEXT);
  const found = (words) => {
    while (walk.nextNode()) {
      const at = walk.currentNode.data.indexOf(words);
      if (at >= 0) return [walk.currentNode, at];
    }
  };
  const first = found(from);
  const last = found(to);
  getSelection().setBaseAndExtent(first[0], first[1], last[0], last[1] + to.length);
}"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quoting")
    write_shelf(folder / "docs", large=tries(0, 1) == 1)
    (folder / "docs" / "lawfulness.md").write_text(REGULATION, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        assert not library.index(folder / "docs", embed=False).failed
    return folder


@pytest.fixture(scope="module")
def quoted(shelf: Path) -> Iterator[Site]:
    with served(index_registry(shelf)) as address:
        found = httpx.get(f"{address}/api/documents", timeout=60).json()["documents"]
        yield Site(address, {Path(item["source_path"]).name: item["id"] for item in found})


def open_document(page: Page, site: Site, name: str) -> None:
    page.goto(site.read(name))
    expect(page.locator("article.document")).to_be_visible()
    until(page, "!document.querySelector('.slab:empty')")


def copied(page: Page) -> str:
    bar = page.get_by_role("toolbar", name="Selection")
    bar.get_by_role("button", name="Copy with citation").click()
    expect(bar.get_by_role("button", name="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_selection_over_clauses_has_neither_controls_nor_one_clause_only(
    new_page: Callable[..., Page], quoted: Site, shelf: Path
) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_document(page, quoted, "lawfulness.md")
    page.evaluate(BETWEEN, ["contract needs", "asks for it"])
    quotation, citation, address = copied(page).rsplit("\n", 2)
    assert quotation == "“contract needs it, see Article 8.\n(c) the law asks for it”"
    assert citation == "Regulation, Article 6(1)(b)–(c), lines 9–11"
    assert address.startswith(f"{quoted.address}/read?")
    page.evaluate(BETWEEN, ["Consent", "what"])
    text = copied(page)
    assert "reference" not in text and "#" not in text.split("\n")[0] and "Cite" not in text
    assert "\nRegulation, Articles 7–8, lines 13–19\n" in text
    page.evaluate(BETWEEN, ["asks for it", "no more"])
    assert copied(page).startswith("“asks for it & no more”\nRegulation, Article 6(1)(c), line 11\n")
    with Library(shelf / ".loccit") as library:
        assert library.verify_quotes(text).checks[0].cited_place == "right"


@pytest.mark.randomised
def test_what_is_copied_is_verified(new_page: Callable[..., Page], quoted: Site, shelf: Path) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    chance = random.Random(11)
    made = 0
    with Library(shelf / ".loccit") as library:
        for name in sorted(quoted.docs):
            open_document(page, quoted, name)
            for _ in range(tries(1, 5)):
                selected = select(page, chance)
                copy = copied(page)
                report = library.verify_quotes(copy)
                assert [(check.status, check.cited_place) for check in report.checks] == [
                    ("exact", "right")
                ], copy
                # Nothing but the selected words, and the rest of the first and the last one.
                said = letters(report.checks[0].quotation)
                assert letters(selected) in said and len(said) - len(letters(selected)) < 400, (
                    selected,
                    copy,
                )
                made += 1
    assert made == tries(1, 5) * len(quoted.docs)


def select(page: Page, chance: random.Random) -> str:
    """Select something with words in it, from a character to most of the document."""
    for _ in range(50):
        length = round(math.exp(chance.uniform(0, 6))) - 1
        asked = [chance.random(), chance.random(), length, chance.random()]
        page.evaluate("getSelection().removeAllRanges()")
        selected = str(page.evaluate(SELECT, asked))
        bar = page.get_by_role("toolbar", name="Selection")
        if letters(selected):
            expect(bar.get_by_role("button", name="Copy with citation")).to_be_visible()
            return selected
    raise AssertionError("nothing could be selected")


def letters(text: str) -> str:
    return "".join(re.findall(r"[^\W\d_]+", text)).casefold()
