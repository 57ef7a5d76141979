"""Text from Word that looks like Markdown stays text."""

from __future__ import annotations

import pyromark
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loccit.read.docx.markdown import Span, block, heading, inline

STRUCTURE = ("<h", "<pre", "<blockquote", "<table")


@pytest.mark.parametrize(
    "text",
    [
        "# not a heading", "###### six", "#", "---", "- - -", "***", "* * *", "___", "a\n---", "a\n===",
        "a\n-", "> quote", "```", "```python", "~~~", "<h1>Big</h1>", "<!-- no -->", "</div>", "* star",
        "+ plus", "a | b\n--- | ---", "a|b\n|---|---|", "a|b\n:-|-:", "1. # heading", "- > quote",
        "1. 2. # deep", "- ---", "[Reserved]: nothing", "mid <b>bold</b> text",
    ],
)  # fmt: skip
def test_lookalikes_are_escaped(text: str) -> None:
    written = block(inline([Span(text)]))
    html = pyromark.html(written, options=pyromark.Options.ENABLE_TABLES)
    assert not any(tag in html for tag in (*STRUCTURE, "<b>", "<div", "<!--", "<em>", "<strong>")), html
    letters = "".join(c for c in text if c.isalpha())
    assert not letters or letters[0] in html, "the text is still there"


@pytest.mark.parametrize(
    "text",
    [
        "(a) The Supplier", "1. Scope", "1.1 Scope", "#hashtag", "5 * 3", "a_b_c", "50 < 60 > 40",
        "[Reserved]", "see [1] and (2)", "C:\\path", "- typed dash", "§ 4", "a - b",
        "Name: ______ Date: ______", "a | b", "`x`", "=5+3", "-5 degrees", "1986. A great year",
    ],
)  # fmt: skip
def test_nothing_else_is_touched(text: str) -> None:
    assert block(inline([Span(text)])) == text


SPANS = st.builds(Span, st.text("#>-=*_+`~|: \n\t<h1/!a[]", max_size=12), st.booleans(), st.booleans())


@example([Span("-\t>")])
@given(st.lists(SPANS, max_size=4))
def test_no_text_becomes_structure(spans: list[Span]) -> None:
    html = pyromark.html(block(inline(spans)), options=pyromark.Options.ENABLE_TABLES)
    assert not any(tag in html for tag in STRUCTURE), html


def test_leading_space_makes_no_code() -> None:
    assert block(inline([Span("      indented"), Span("\n      more")])) == "indented\nmore"


def test_headings_keep_trailing_hashes() -> None:
    assert heading(2, "Language C#") == "## Language C#"
    assert heading(2, "Number #") == "## Number \\#"
