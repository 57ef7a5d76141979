"""Headings of Markdown and HTML: are all of them found, at their level?

    python -m benchmarks.markup_headings [--misses]

Reads the Kubernetes documentation. For Markdown the truth is what another CommonMark parser (markdown-it-py) calls a
heading outside quotations; for HTML, the h1 to h6 elements of the same pages rendered by it, every eighth page.
"""

from __future__ import annotations

import argparse
import re
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.common import eval_dir, save
from loccit.grammar.text.keys import title_key
from loccit.model import Converted
from loccit.read.html import convert_html
from loccit.structure import parse
from loccit.structure.frontmatter import split_frontmatter

EVERY = 8
# `{#anchor}` at the end of a heading is an id, which the other parser leaves in the words.
ATTRIBUTES = re.compile(r"\s*\{[^{}]*\}\s*$")


def truth(parser: MarkdownIt, body: str) -> Counter[tuple[int, str]]:
    found: Counter[tuple[int, str]] = Counter()
    quoted = 0
    tokens = parser.parse(body)
    for index, token in enumerate(tokens):
        quoted += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "heading_open" and not quoted:
            words = "".join(
                child.content
                if child.type in ("text", "code_inline")
                else " "
                if "break" in child.type
                else ""
                for child in tokens[index + 1].children or []
            )
            words = ATTRIBUTES.sub("", words)
            if title_key(words):
                found[int(token.tag[1]), title_key(words)] += 1
    return found


def ours(converted: Converted) -> Counter[tuple[int, str]]:
    headings = parse(converted).headings
    return Counter(
        (heading.level, title_key(heading.text)) for heading in headings if title_key(heading.text)
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--misses", action="store_true")
    options = arguments.parse_args()
    parser = MarkdownIt("commonmark").enable("table")
    counts = {"markdown": [0, 0, 0], "html": [0, 0, 0]}
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(eval_dir("k8s_docs.tar.gz")) as tar:
            tar.extractall(scratch, filter="data")
        for number, path in enumerate(sorted(Path(scratch).rglob("*.md"))):
            text = path.read_text(encoding="utf-8")
            body = text[split_frontmatter(text)[1] :]
            pairs = [("markdown", ours(Converted(text)), truth(parser, body))]
            if number % EVERY == 0:
                page = Path(scratch) / "page.html"
                page.write_text(
                    f"<html><body><main>{parser.render(body)}</main></body></html>", encoding="utf-8"
                )
                if truth(parser, body):
                    pairs.append(("html", ours(convert_html(page)), truth(parser, body)))
            for kind, found, expected in pairs:
                counts[kind][0] += expected.total()
                counts[kind][1] += (found & expected).total()
                counts[kind][2] += found.total()
                if options.misses and expected - found:
                    print(kind, path.name, list((expected - found).items())[:3])
    figures = {}
    for kind, (expected_total, right, found_total) in counts.items():
        figures[kind] = {"true": expected_total, "right": right, "found": found_total}
        print(f"{kind:9} {right:,} of {expected_total:,} found at their level; {found_total:,} in all")
    save("markup_headings", figures)


if __name__ == "__main__":
    main()
