"""HTML: structure kept, site left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit.read import convert
from loccit.read.html import html_to_markdown


def markdown(body: str) -> str:
    return html_to_markdown(f"<!doctype html><html><body>{body}</body></html>")[0]


PAGE = """<!doctype html><html lang="en-GB"><head><meta charset="utf-8"><title>The
  Act</title><meta name="description" content="About it"><meta name="author" content="A. Writer">
<meta property="article:published_time" content="2020-01-02"><script>var x = "<h1>script</h1>"</script></head>
<body><a class="skip" href="#m">Skip to main content</a>
<header><nav><h2>Menu</h2><ul><li><a href="/">Home</a></ul></nav><p>Logo</p></header>
<div id="cookie-banner"><h2>We use cookies</h2></div>
<div class="sidebar"><h3>Related</h3></div>
<main id="m"><h1>Act 2020 <a class="headerlink" href="#x">¶</a></h1><p>The main text of the page stands here
and is longer than the rest of it.</p>
<h2 id="s1"><a href="#s1">Section 1</a></h2><p>More text.</p>
<aside><h2>Advertisement</h2></aside><div style="display: none">secret</div><p hidden>hidden</p>
<nav><h2>On this page</h2></nav></main>
<footer><h2>Contact</h2><p>Copyright</p></footer></body></html>"""


def test_the_site_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    file_type, found = convert(path)
    assert file_type == ".html"
    assert [line for line in found.text.split("\n") if line.startswith("#")] == ["# Act 2020", "## Section 1"]
    for gone in (
        "Menu",
        "Logo",
        "cookies",
        "Related",
        "Advert",
        "secret",
        "hidden",
        "page\n#",
        "Contact",
        "Skip",
    ):
        assert gone not in found.text
    assert found.metadata == {
        "title": "The Act",
        "description": "About it",
        "author": "A. Writer",
        "date": "2020-01-02",
        "language": "en-GB",
    }


def test_a_title_in_the_header_of_the_page_is_kept() -> None:
    text = markdown(
        "<header><nav>Menu</nav><h1>Title</h1></header><main><h2>Part</h2><p>Long text</p></main>"
    )
    assert text == "# Title\n\n## Part\n\nLong text\n"
    text = markdown(
        "<div><h1>Title</h1>rest</div><main><h2>Part</h2><p>Long text that is most of it</p></main>"
    )
    assert text.startswith("# Title\n\n## Part")


def test_article_headers_and_footers_stay() -> None:
    text = markdown(
        "<article><header><h1>T</h1><p>By X</p></header><p>Text</p><footer>Note 1</footer></article>"
    )
    assert text == "# T\n\nBy X\n\nText\n\nNote 1\n"


def test_a_small_main_does_not_hide_the_document() -> None:
    assert "The text" in markdown("<main><p>x</p></main><div><p>The text of the page is here.</p></div>")


def test_most_of_the_text_in_a_sidebar_stays() -> None:
    assert "all of it" in markdown('<div class="sidebar"><p>all of it is here</p></div><p>x</p>')


def test_all_levels_of_headings() -> None:
    text = markdown("".join(f"<h{n}>Level {n}</h{n}>" for n in range(1, 7)))
    assert text == "\n\n".join(f"{'#' * n} Level {n}" for n in range(1, 7)) + "\n"


def test_headings_in_odd_places() -> None:
    assert markdown('<a href="/x"><h3>Linked</h3><p>text</p></a>') == "### Linked\n\ntext\n"
    assert (
        markdown("<h3><button>Accordion</button></h3><button>Go</button><p>x</p>") == "### Accordion\n\nx\n"
    )
    assert markdown('<div role="heading" aria-level="4">Role</div><p>x</p>') == "#### Role\n\nx\n"
    assert markdown("<h2></h2><h2>A<br>B</h2><p>x</p>") == "## A B\n\nx\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p># no heading</p>", "\\# no heading\n"),
        ("<p>Line<br>-----</p>", "Line  \n\\-----\n"),
        ("<p>&lt;h1&gt;x&lt;/h1&gt; a &lt; b</p>", "\\<h1>x\\</h1> a < b\n"),
        ("<p>two\n   lines\n# three</p>", "two lines # three\n"),
        ("<p>snake_case 2*3*4</p>", "snake_case 2*3*4\n"),
        ("<p>word<sup><a href='#f'>1</a></sup></p>", "word[1]\n"),
        ("<p>a <b>bold</b> <em>em</em> <code>a_b &lt;i&gt;</code></p>", "a **bold** *em* `a_b <i>`\n"),
        ('<p><a href="https://x.org/a b">link</a></p>', "[link](https://x.org/a%20b)\n"),
        ('<p><a href="javascript:x()">js</a></p>', "js\n"),
        ('<p>a<img src="x.png"><img src="y.png" alt="Chart"></p>', "a![Chart](y.png)\n"),
    ],
)
def test_text_stays_text(source: str, expected: str) -> None:
    assert markdown(source) == expected


def test_lists() -> None:
    assert markdown("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul>") == "- a\n  - b\n- c\n"
    assert markdown('<ol start="3"><li>x<li>y</ol>') == "3. x\n4. y\n"
    assert markdown('<ol type="a"><li>x<li><p>y</p></ol>') == "- (a) x\n- (b) y\n"
    assert markdown('<ol type="I" start="4"><li>x<li>y</ol>') == "- (IV) x\n- (V) y\n"
    assert markdown('<ol style="list-style-type: lower-roman"><li>x<li>y</ol>') == "- (i) x\n- (ii) y\n"


def test_a_number_that_links_to_its_own_place_is_plain_text() -> None:
    found = markdown(
        '<ul><li id="n9"><a class="no" href="#n9" title="9.01 - link">9.01</a> <b>Files</b>: see <a href="#n9">9.01</a>'
        '<ul><li><a name="n10"></a><a href="#n10">(a)</a> the right to read them</li>'
        '<li id="n11"><a href="#n9">9.01</a> applies</li></ul></li></ul><h2>4.4 <u>Orientation</u></h2>'
    )
    assert "- 9.01 **Files**: see [9.01](#n9)" in found
    assert "- (a) the right" in found
    assert "## 4.4 Orientation" in found
    assert "- [9.01](#n9) applies" in found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<h2><span class="n">1.2</span><span>Scope</span></h2>', "## 1.2 Scope"),
        ('<h2><a href="#s"><span>A.3</span>Scope</a></h2>', "## A.3 Scope"),
        ("<p><b>4.</b>Fees are due.</p>", "**4.** Fees are due."),
        ("<p><b>1</b>st of May, <b>4</b>x faster</p>", "**1**st of May, **4**x faster"),
        ("<p>in section <b>4</b>A</p>", "in section **4**A"),
    ],
)
def test_a_number_set_apart_by_its_style_is_apart_from_what_follows(source: str, expected: str) -> None:
    assert markdown(source).strip() == expected


def test_long_lists_keep_their_numbers() -> None:
    text = markdown("<ol>" + "".join(f"<li>item {n}</li>" for n in range(1, 1001)) + "</ol>")
    assert "\n200. item 200\n" in text and "\n201. item 201\n" in text and text.endswith("1000. item 1000\n")


def test_code_blocks() -> None:
    text = markdown('<pre><code class="language-python">def f():\n    # x\n    return "&lt;"\n</code></pre>')
    assert text == '```python\ndef f():\n    # x\n    return "<"\n```\n'
    assert markdown('<div class="highlight-bash"><div><pre># x</pre></div></div>') == "```bash\n# x\n```\n"
    inner = markdown("<pre>```\n# heading?\n```</pre><p>after</p>")
    assert inner.count("\n```") == 1 and inner.startswith("```\n")


def test_tables() -> None:
    text = markdown(
        "<table><caption>Fees</caption><colgroup><col></colgroup>"
        "<thead><tr><th>A</th><th colspan=2>B</th></tr></thead>"
        "<tbody><tr><td rowspan=2>1 | 2</td><td>x</td><td><ul><li>p<li>q</ul></td></tr>"
        "<tr><td>y</td><td><pre>a\nb</pre></td></tr></tbody></table>"
    )
    assert text == (
        "Fees\n\n| A | B |  |\n| --- | --- | --- |\n| 1 \\| 2 | x | • p • q |\n|  | y | `a b` |\n"
    )
    assert markdown("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>") == (
        "| a | b |\n| --- | --- |\n| c |  |\n"
    )


def test_a_label_and_its_text_in_two_cells_are_one_item() -> None:
    point = "<table><tr><td><p>({})</p></td><td><p>{}</p>{}</td></tr></table>"
    inner = point.format("i", "carry goods; or", "") + point.format("ii", "carry persons.", "")
    found = markdown(
        "<p>2. This applies to:</p>"
        + point.format("a", "ships;", "")
        + point.format("b", "boats that:", inner)
    )
    assert found.split("\n\n") == [
        "2. This applies to:",
        "(a) ships;",
        "(b) boats that:",
        "(i) carry goods; or",
        "(ii) carry persons.\n",
    ]
    prices = "<table><tr><th>No</th><th>Goods</th></tr><tr><td>1.</td><td>Rope</td></tr></table>"
    assert "| 1. | Rope |" in markdown(prices)
    assert "| 12 | 4.5 |" in markdown(
        "<table><tr><td>11</td><td>3.5</td></tr><tr><td>12</td><td>4.5</td></tr></table>"
    )


def test_layout_tables_are_opened() -> None:
    text = markdown(
        "<table><tr><td><h2>Part</h2><p>text</p></td><td>"
        "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table></td></tr></table>"
    )
    assert text.startswith("## Part\n\ntext\n\n")
    assert text.endswith("| a | b |\n| --- | --- |\n| c | d |\n")


def test_absurd_spans() -> None:
    text = markdown(
        '<table><tr><td colspan="99999" rowspan="99999">a</td></tr><tr><td>b</td><td>c</td></tr></table>'
    )
    assert "a" in text and "b" in text and "c" in text
    assert len(text) < 5000


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("iso-8859-1", "cp1252"), ("windows-1251", "cp1251"), ("shift_jis", "shift_jis"), ("utf-8", "utf-8")],
)
def test_declared_encodings(declared: str, encoding: str) -> None:
    words = {"cp1252": "naïve “x” €", "cp1251": "Договор", "shift_jis": "契約", "utf-8": "Größe 契約"}[
        encoding
    ]
    page = f'<html><head><meta http-equiv="x" content="text/html; charset={declared}"></head><p>{words}'
    text, _, warnings, _ = html_to_markdown(page.encode(encoding))
    assert text == words + "\n"
    assert warnings == ()


def test_xhtml_with_a_declaration() -> None:
    page = '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><h1>é</h1></body></html>'
    assert html_to_markdown(page)[0] == html_to_markdown(page.encode())[0] == "# é\n"


def test_a_comment_beside_the_page_is_no_element() -> None:
    page = "<!DOCTYPE html><html><!-- made by hand --><head></head><body><p><a href='#x'>Start</a></p></body></html>"
    assert "Start" in html_to_markdown(page).text


def test_fragments_and_tag_soup() -> None:
    assert html_to_markdown("just words")[0] == "just words\n"
    assert html_to_markdown("<p>a<p>b</i></div>")[0] == "a\n\nb\n"
    assert html_to_markdown("<!-- nothing -->")[0] == ""
