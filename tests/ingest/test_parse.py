"""Parse: headings, blocks and links with their places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare_text
from loccit.model import Converted, Lines, Pages, PageStart
from loccit.structure import Parsed, Positions, html_headings, parse


def read(text: str) -> Parsed:
    return parse(Converted(text))


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(text).headings]


# -- headings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\n## Two ##\n\n### Three {#id .c}\n", [(1, "One"), (2, "Two"), (3, "Three")]),
        ("#No\n\n####### no\n\n\\# no\n", []),
        ("Title\n=====\n\nSub\n---\n", [(1, "Title"), (2, "Sub")]),
        ("Two\nlines\n===\n", [(1, "Two lines")]),
        ("#\n\n## \n\n# #\n\n<h1> </h1>\n\n<h2>&nbsp;</h2>\n", []),
        (
            "# **Bold** `code` [link](u) ![img](i) <b>x</b> &amp; \\*e\\* ~~d~~\n",
            [(1, "Bold code link img x & *e* d")],
        ),
        ("- # In a list\n\n1. ## Numbered\n", [(1, "In a list"), (2, "Numbered")]),
        ("> # no\n\n> <h2>no</h2>\n\n- > # no\n\n# Yes\n", [(1, "Yes")]),
        ("a[^1]\n\n[^1]: # no\n\n# Yes\n", [(1, "Yes")]),
        ("| a |\n|---|\n| # no |\n", []),
        ("# Tabs\tand  spaces\n", [(1, "Tabs and spaces")]),
        ("# One\r\n\r\nText\r\n\r\n<h2>Two</h2>\r\n", [(1, "One"), (2, "Two")]),
        ("\ufeff# One\n", [(1, "One")]),
        ("# עברית 🎉 e\u0301\n", [(1, "עברית 🎉 e\u0301")]),
    ],
)
def test_markdown_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~\n# no\n```\n# no\n~~~\n",
        "````\n```\n# no\n```\n# no\n````\n",
        "```\n# no, and never closed\n",
        "para\n\n    # no\n",
        "- item\n\n  ```\n  # no\n  ```\n",
        "<!--\n# no\n\n<h1>no</h1>\n-->\n",
        "<!-- open\n# no\n\n<h1>no</h1>\n",
        "<pre>\n# no\n\n<h1>no</h1>\n</pre>\n",
        '<script>\n# no\nx = "<h2>no</h2>"\n</script>\n',
        "<style>\n# no\n</style>\n",
        "<textarea>\n<h1>no</h1>\n</textarea>\n",
        "<div>\n<!-- <h1>no</h1> -->\n</div>\n",
        "some <h2>inline</h2> text\n",
        "<header>no</header>\n",
    ],
)
def test_no_headings_in_code_comments_and_scripts(text: str) -> None:
    assert headings(text + "\n\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<h1>One</h1>\n", [(1, "One")]),
        ("<H3 CLASS='a'>Upper</H3>\n", [(3, "Upper")]),
        (
            '<h2 class="a"\n  id="b > c">Two\n lines <b>bo</b>ld &amp; more</h2>\n',
            [(2, "Two lines bold & more")],
        ),
        ("<h1>A</h1><p>x</p><h2>B<br>C</h2>\n<h3>D</h3 >\n", [(1, "A"), (2, "B C"), (3, "D")]),
        ("<div>\n<h2><code>x</code></h2>\n</div>\n", [(2, "x")]),
        ("<h2>A</h3>\n\n<h2>B</h2>\n", [(2, "B")]),
        ("<div>\u2028\x0b\x85\n<h2>Y</h2>\n</div>\n", [(2, "Y")]),
    ],
)
def test_html_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


def test_html_headings_are_where_they_say() -> None:
    text = "é\n\n<div>\u2028\x0b\n  <h2>One</h2> a <h3\n>Two</h3  > b\n</div>\n"
    assert [text[h.start : h.body] for h in read(text).headings] == ["  <h2>One</h2>", "<h3\n>Two</h3  >"]


@given(st.text(alphabet="<>/h12 pre!-'\"a\n", max_size=80))
def test_any_html_gives_headings_in_order(block: str) -> None:
    position = 0
    for level, _, start, end in html_headings(block):
        assert 1 <= level <= 6
        assert position <= start < end <= len(block)
        assert block[start : start + 2].lower() == "<h"
        assert block[end - 1] == ">"
        position = end


def test_heading_offsets_count_characters_not_bytes() -> None:
    text = "é🎉 文\n\n# Ünï 🎉\n\nx\n\nSub ü\n---\ny\n"
    first, second = read(text).headings
    assert text[first.start : first.body] == "# Ünï 🎉\n"
    assert text[second.start : second.body] == "Sub ü\n---\n"


def test_heading_in_a_list_begins_with_its_mark() -> None:
    text = "1. ## Step\n\n   Do it.\n"
    parsed = read(text)
    assert text[parsed.headings[0].start : parsed.headings[0].body] == "1. ## Step\n"
    assert parsed.blocks[0].kind == "heading"


# -- frontmatter and plain text ------------------------------------------------------------------------------


def test_frontmatter_is_metadata_and_not_text() -> None:
    parsed = parse(Converted("---\ntitle: T\n---\n# H\n", metadata={"title": "own", "author": "A"}))
    assert parsed.frontmatter == {"title": "T"}
    assert parsed.metadata == {"title": "T", "author": "A"}
    assert parsed.text[parsed.body_start :] == "# H\n"
    assert [heading.text for heading in parsed.headings] == ["H"]


def test_a_note_of_nothing_but_frontmatter_is_its_own_text() -> None:
    parsed = read("---\ntitle: T\n---\n\n")
    assert parsed.frontmatter == {"title": "T"}
    assert parsed.body_start == 0
    assert parsed.headings == []
    assert "".join(parsed.text[b.start : b.end] for b in parsed.blocks) == parsed.text


def test_unreadable_frontmatter_is_a_warning() -> None:
    parsed = parse(Converted("---\na: [\n---\n# H\n", warnings=("before",)))
    assert parsed.warnings[0] == "before"
    assert "frontmatter" in parsed.warnings[1]
    assert [heading.text for heading in parsed.headings] == ["H"]


def test_plain_text_has_paragraphs_and_no_headings() -> None:
    parsed = parse(Converted("# not a heading\nline\n\n \n---\nmore\n", markdown=False))
    assert parsed.headings == []
    assert parsed.frontmatter == {}
    assert [parsed.text[b.start : b.end] for b in parsed.blocks] == [
        "# not a heading\nline\n\n \n",
        "---\nmore\n",
    ]


def test_half_characters_are_replaced() -> None:
    read_once = prepare_text("a.md", ".md", Converted("# a\ud800b é\n\ntext\udfff"), IndexSettings(), 256)
    assert [place.heading for place in read_once.places[1:]] == ["a?b é"]


# -- blocks --------------------------------------------------------------------------------------------------


def test_blocks_keep_code_and_tables_whole() -> None:
    text = "para\n\n```py\nx = 1\n\ny = 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n"
    parsed = read(text)
    pieces = [(block.kind, text[block.start : block.end]) for block in parsed.blocks]
    assert pieces == [
        ("text", "para\n\n"),
        ("code", "```py\nx = 1\n\ny = 2\n```\n\n"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |\n\n"),
        ("text", "end\n"),
    ]
    table = parsed.blocks[2]
    assert text[table.start : table.header_end] == "| a | b |\n|---|---|\n"


def test_first_row_of_a_table_in_a_list_begins_with_its_line() -> None:
    text = "- item\n\n  | a |\n  |---|\n  | 1 |\n"
    table = next(block for block in read(text).blocks if block.kind == "table")
    assert text[table.start : table.header_end] == "  | a |\n  |---|\n"


_pieces = st.sampled_from(
    [
        "# H\n",
        "## H é\n",
        "Set\n===\n",
        "<h2>x</h2>\n",
        "<div>\n",
        "</div>\n",
        "<!-- c\n",
        "-->\n",
        "<pre>\n",
        "</pre>\n",
    ]
    + [
        "text 🎉\n",
        "- item\n",
        "  - sub\n",
        "1. # n\n",
        "> q\n",
        "> # q\n",
        "```\n",
        "~~~\n",
        "    code\n",
        "| a | b |\n",
    ]
    + [
        "|---|---|\n",
        "\n",
        "---\n",
        "***\n",
        "[l](u) ![i](p)\n",
        "[[w|a]] ![[t]]\n",
        "[^1]: note\n",
        "[r]: /u\n",
        "\t\n",
    ]
    + ["---\na: b\n---\n", "é", " ", "*", "_e_", "`c`", "\x0b", "\u2028", "\r\n"]
)
_documents = st.one_of(st.lists(_pieces, max_size=30).map("".join), st.text(max_size=120))


@settings(deadline=None, max_examples=300)
@given(_documents, st.booleans())
def test_blocks_tile_the_body_and_headings_begin_blocks(text: str, markdown: bool) -> None:
    parsed = parse(Converted(text, markdown=markdown))
    position = parsed.body_start
    for block in parsed.blocks:
        assert block.start == position < block.end
        assert block.header_end == 0 or (
            block.kind == "table" and block.start < block.header_end <= block.end
        )
        position = block.end
    assert position == len(parsed.text)
    starts = {block.start for block in parsed.blocks}
    last = parsed.body_start
    for heading in parsed.headings:
        assert last <= heading.start < heading.body <= len(parsed.text)
        assert heading.start in starts
        assert heading.text == " ".join(heading.text.split())
        assert heading.text
        last = heading.body
    for link in parsed.links:
        assert parsed.body_start <= link.start < link.end <= len(parsed.text)


# -- links ---------------------------------------------------------------------------------------------------


def test_links_have_kind_words_and_place() -> None:
    text = (
        "é 🎉 [a *b* `c`](http://x) <http://auto> [ref][r] ![i](p.png) [[Page#H|al]] ![[Emb]]\n\n"
        "# In [head](h)\n\n| t |\n|---|\n| [cell](c) ![p](q) |\n\n> [quoted](k)\n\n[![badge](b)](o)\n\n[r]: http://r\n"
    )
    found = [(link.kind, link.target, link.text, text[link.start : link.end]) for link in read(text).links]
    assert found == [
        ("markdown", "http://x", "a b c", "[a *b* `c`](http://x)"),
        ("markdown", "http://auto", "http://auto", "<http://auto>"),
        ("markdown", "http://r", "ref", "[ref][r]"),
        ("image", "p.png", "i", "![i](p.png)"),
        ("wiki", "Page#H", "al", "[[Page#H|al]]"),
        ("transclusion", "Emb", "Emb", "![[Emb]]"),
        ("markdown", "h", "head", "[head](h)"),
        ("markdown", "c", "cell", "[cell](c)"),
        ("image", "q", "p", "![p](q)"),
        ("markdown", "k", "quoted", "[quoted](k)"),
        ("image", "b", "badge", "![badge](b)"),
        ("markdown", "o", "badge", "[![badge](b)](o)"),
    ]


def test_no_links_in_code() -> None:
    assert read("`[a](b)`\n\n```\n[a](b) [[w]]\n```\n").links == []


# -- places --------------------------------------------------------------------------------------------------


@given(st.text(alphabet="ab\n \u2028é", max_size=60), st.data())
def test_lines_of_a_span_hold_its_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = Positions(text, ()).lines(start, end)
    assert 1 <= first <= last <= text.count("\n") + 1
    wanted = text[start:end].strip()
    held = "\n".join(text.split("\n")[first - 1 : last])
    assert wanted in held
    if wanted:
        # No line too many on either side.
        assert first == text.count("\n", 0, text.index(wanted, start)) + 1
        assert last - first == wanted.count("\n")


@given(
    st.text(alphabet="ab \n", min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=6), st.data()
)
def test_pages_of_a_span(text: str, offsets: list[int], data: st.DataObject) -> None:
    starts = tuple(PageStart(offset, number) for number, offset in enumerate(sorted(offsets), start=1))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    pages = Positions(text, starts).pages(start, end)
    if not starts:
        assert pages is None
        return
    visible = [at for at in range(start, end) if not text[at].isspace()]
    if visible:
        numbers = [max([page.page for page in starts if page.offset <= at], default=1) for at in visible]
        assert pages == Pages(numbers[0], numbers[-1])


def test_empty_text_has_a_line() -> None:
    assert Positions("", ()).lines(0, 0) == Lines(1, 1)
    assert read("").blocks == []


# -- hostile input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "#" * 1_000_000,
        "# a\n" * 20_000,
        "[" * 100_000,
        "![" * 5_000 + "x" + "](u)" * 5_000,
        "[[" * 50_000 + "a" + "]]" * 50_000,
        ">" * 100_000,
        "- " * 50_000 + "a",
        "".join(" " * (2 * depth) + "- a\n" for depth in range(1_000)),
        "<h1 " * 100_000,
        '<h1 "' * 100_000,
        "<h1>" * 100_000,
        "<div>\n" + "<!--" * 100_000,
        "<div>\n<h1 " + "a" * 1_000_000,
        "<h1>" + "&a" * 100_000 + "</h1>",
        "```\n" * 20_000,
        "|" * 50_000 + "\n" + "|-" * 50_000 + "\n",
        "\n" * 500_000 + "a",
        " " * 1_000_000,
        "a" * 1_000_000,
        "\0# a\n\0",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_is_read_to_the_end(text: str) -> None:
    parsed = read(text)
    assert sum(block.end - block.start for block in parsed.blocks) == len(text)


def test_braces_that_belong_to_a_heading_stay() -> None:
    text = "# GET /jobs/{id}\n\n## Intro {#intro .x}\n\n## Other {key=val}\n\nText.\n"
    assert [heading.text for heading in parse(Converted(text)).headings] == [
        "GET /jobs/{id}",
        "Intro",
        "Other",
    ]
