"""Places are cited by the lines of the file, whatever the file was turned into on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare_text
from loccit.model import Lines, ParsedDocument, line_of
from loccit.read import convert


def read(folder: Path, name: str, source: str | bytes) -> ParsedDocument:
    path = folder / name
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    file_type, converted = convert(path)
    return prepare_text(str(path), file_type, converted, IndexSettings(), 256)


def headings(parsed: ParsedDocument) -> list[tuple[int, str]]:
    return [(section.lines.first, section.heading) for section in parsed.places[1:] if section.is_heading]


def lines_with(source: str, *words: str) -> list[tuple[int, str]]:
    """The line of the source on which each of these first stands."""
    lines = source.splitlines()
    return [(next(at for at, line in enumerate(lines, 1) if word in line), word) for word in words]


RST = """\
.. comment

========
Handbook
========

Text::

   # not a heading
   Not one
   -------

.. note:: Hint

   Inside
   ------

Install `tool`_
===============

- Item
------

1. First steps
--------------

.. raw:: html

   <h2>No</h2>

See :ref:`the end <end>` of ``x``
---------------------------------

``~~~`` is no fence.

Last
----
"""


def test_rst(tmp_path: Path) -> None:
    for source in (RST, RST.replace("\n", "\r\n"), "\ufeff" + RST):
        parsed = read(tmp_path, "a.rst", source)
        assert [heading for _, heading in headings(parsed)] == [
            "Handbook",
            "Install tool",
            "1. First steps",
            "See the end of x",
            "Last",
        ]
        expected = lines_with(RST, "Handbook", "Install", "1. First", "See :ref:", "Last")
        assert [line for line, _ in headings(parsed)] == [line for line, _ in expected]


def test_message_header_of_a_pep(tmp_path: Path) -> None:
    source = "PEP: 8\nTitle: Style Guide\nAuthor: Ann\n  Bea\nCreated: 05-Jul-2001\n\nAbstract\n========\n\nText.\n\nWhy\n===\n"
    parsed = read(tmp_path, "pep-0008.rst", source)
    assert parsed.document.title == "PEP 8 – Style Guide"
    assert headings(parsed) == [(7, "Abstract"), (12, "Why")]


ADOC = """\
// comment
= Guide to {product}
Ann Author <ann@example.org>
:product: Pumps

[#install]
== Install {product}

.Listing
[source,python]
----
== not a heading
----

Paragraph
== no heading either

////
== hidden
////

====
=== Inside an example
====

[discrete]
=== Discrete

|===
|== cell
|===

Legacy title
~~~~~~~~~~~~

ifdef::env-github[]
== Only there
endif::[]

=== See <<install,the start>>

* item
+
----
# code
----

== Last
"""


def test_asciidoc(tmp_path: Path) -> None:
    parsed = read(tmp_path, "a.adoc", ADOC)
    words = ("= Guide", "== Install", "Legacy title", "=== See", "== Last")
    assert [line for line, _ in headings(parsed)] == [line for line, _ in lines_with(ADOC, *words)]
    assert [heading for _, heading in headings(parsed)][1:] == [
        "Install Pumps",
        "Legacy title",
        "See the start",
        "Last",
    ]


ORG = """\
#+TITLE: My /notes/
#+TODO: NEXT | DONE

* NEXT [#A] First =code= :tag:
:PROPERTIES:
:ID: 1
:END:
#+BEGIN_SRC org
,* not a heading
#+END_SRC
# comment
Text
----
** COMMENT [[https://example.org][A link]] [1/2]
* Last
"""


def test_org(tmp_path: Path) -> None:
    parsed = read(tmp_path, "a.org", ORG)
    assert parsed.document.title == "My *notes*" or parsed.document.title == "My notes"
    assert headings(parsed) == [(4, "First code"), (14, "A link"), (15, "Last")]
    assert [chunk.lines.first for chunk in parsed.chunks] == [4, 14, 15]


TEX = r"""\documentclass{article}
\newcommand{\mysection}[1]{\section{#1}}
\title[Short]{On {\em Things}
  of Note\thanks{me}}
\begin{document}
\maketitle
% \section{No}
Before. \section{First \& foremost}\label{s} After it.
\begin{verbatim}
\section{Not this}
\end{verbatim}
\subsection[short]{A title of
  two lines with $n$ \texorpdfstring{$x$}{ex}}
Text.
\section*{Last}
\end{document}
\section{No}
"""


def test_tex(tmp_path: Path) -> None:
    parsed = read(tmp_path, "a.tex", TEX)
    assert parsed.document.title == "On Things of Note"
    assert headings(parsed) == [(8, "First & foremost"), (12, "A title of two lines with n ex"), (15, "Last")]
    assert parsed.places[1].lines == Lines(8, 14)
    assert "After it." in parsed.document.text


OWN_COMMANDS = r"""\documentclass{article}
\newcommand{\chapterlike}[1]{\section{#1}}
\newcommand{\newpart}[2][small]{\clearpage\chapterlike{#2}}
\newcommand*\rule[2]{\subsection*{Rule #1: #2}\label{#1}}
\NewDocumentCommand{\point}{m}{\subsubsection{#1}}
\def\tiny#1{\paragraph{#1}}
\newcommand{\sentence}[2]{
  \textbf{#1} #2
}
\begin{document}
\chapterlike{Harbour}
Text.
\rule{1}{Name
and seat} More text.
\point{Flags}
\tiny{Colours} Red.
\sentence{Not}{a heading}
\newpart[large]{Boats}
\end{document}
"""


def test_headings_of_commands_that_a_tex_file_defines(tmp_path: Path) -> None:
    found = read(tmp_path, "own.tex", OWN_COMMANDS)
    assert headings(found) == [
        (11, "Harbour"),
        (13, "Rule 1: Name and seat"),
        (15, "Flags"),
        (16, "Colours"),
        (18, "Boats"),
    ]
    assert [place.level for place in found.places[1:]] == [1, 2, 3, 4, 1]
    assert "More text." in found.document.text and "Red." in found.document.text


def test_a_form_feed_ends_a_line_and_a_page(tmp_path: Path) -> None:
    source = "one\ntwo\fthree\n\f\nfour\n\ffive\n"
    parsed = read(tmp_path, "a.txt", source)
    lines = parsed.document.line_starts
    text = parsed.document.text
    for word in ("one", "two", "three", "four", "five"):
        assert source.splitlines()[line_of(lines, text, 0, 1, text.index(word)) - 1] == word


def test_a_stray_carriage_return_ends_a_line(tmp_path: Path) -> None:
    source = "one \r two\r\r\n\nTitle\n=====\n\ntext\n"
    parsed = read(tmp_path, "a.rst", source.encode())
    assert headings(parsed) == [(source.splitlines().index("Title") + 1, "Title")]


def test_line_ends_that_were_written_twice_are_one(tmp_path: Path) -> None:
    parsed = read(tmp_path, "a.rst", b"one\r\r\n\r\r\nTitle\r\r\n=====\r\r\n\r\r\ntext\r\r\n")
    assert headings(parsed) == [(3, "Title")]


WORDS = st.text(alphabet="abcdé漢 \t#=-~*`<[{}\\%.:|>_+/'\"1(", max_size=12)


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.org", "a.tex", "a.md", "a.txt"])
@given(lines=st.lists(WORDS, max_size=25), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_word_keeps_its_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, lines: list[str], end: str
) -> None:
    """Marks that occur once in the file are on the same line of the file wherever they come through."""
    marked = [f"{line} qz{number}z" for number, line in enumerate(lines, 1)]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes((end.join(marked) + end + "text").encode())
    _, found = convert(path)
    for number in range(1, len(lines) + 1):
        at = found.text.find(f"qz{number}z")
        if at >= 0:
            line = line_of(found.line_starts, found.text, 0, 1, at)
            # A title that goes on over several lines stands where it begins.
            assert line == number or (name in ("a.tex",) and line < number)


PAGE = """\
<!doctype html>
<html>
<head><title>Pumps – Site</title></head>
<body>
<!-- a comment
of two lines -->
<nav>
<h2>Menu</h2>
</nav>
<main>
<h1>
  Pumps
</h1>
<p>The first
line goes on
and on with <b>bold
words</b> in it&#2;.</p>
<table>
<tr>
<th>Name</th>
<th>Speed</th>
</tr>
<tr><td>Little</td>
<td>Fast</td></tr>
</table>
<h2 class="x"><a href="#s">Safety</a><a href="#s">¶</a></h2>
<pre>
def f():
    return 1
</pre>
<ol type="a">
<li>First item</li>
<li>Second
item</li>
</ol>
<h2>Last</h2>
<p>See <a href="https://example.org/">https://example.org/</a></p>
</main>
</body>
</html>
"""


def place(parsed: ParsedDocument, words: str) -> int:
    text = parsed.document.text
    assert words in text
    return line_of(parsed.document.line_starts, text, 0, 1, text.index(words))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_html(tmp_path: Path, end: str) -> None:
    parsed = read(tmp_path, "a.html", PAGE.replace("\n", end))
    assert headings(parsed) == [(12, "Pumps"), (26, "Safety"), (36, "Last")]
    words = ("The first", "line goes", "words", "Little", "Fast", "return 1", "First item", "Second")
    for line, word in lines_with(PAGE, *words):
        assert place(parsed, word) == line
    assert "¶" not in parsed.document.text and "<https://example.org/>" in parsed.document.text
    assert "words** in it." in parsed.document.text
    assert not any(ord(char) >= 0xF0000 for char in parsed.document.text + str(parsed.document.metadata))


def test_notebook(tmp_path: Path) -> None:
    source = """\
{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {"x": "\\"y\\\\"},
   "source": [
    "# Pumps\\n",
    "\\n",
    "Text é.\\n",
    "## Start"
   ]
  },
  {
   "cell_type": "code",
   "outputs": [
    {"output_type": "stream", "text": ["done\\n", "twice\\n"]}
   ],
   "source": [
    "x = 1\\n",
    "start(x)"
   ]
  },
  {"cell_type": "markdown", "source": "### Last\\n\\nOne line."}
 ],
 "metadata": {"language_info": {"name": "python"}}
}
"""
    parsed = read(tmp_path, "a.ipynb", source)
    assert headings(parsed) == [(7, "Pumps"), (10, "Start"), (23, "Last")]
    for line, word in lines_with(source, "x = 1", "start(x)", "done", "Text é"):
        assert place(parsed, word) == line
    doubled = source.replace('"outputs": [', '"outputs": [], "outputs": [')
    assert [heading for _, heading in headings(read(tmp_path, "b.ipynb", doubled))] == [
        "Pumps",
        "Start",
        "Last",
    ]


MAIL = """\
Received: from a
 by b
From: Ann <ann@example.org>
Subject: Pump =?utf-8?q?r=C3=A9port?=
Date: Mon, 2 Jan 2023 10:00:00 +0000
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: {encoding}

{body}"""


def test_mail(tmp_path: Path) -> None:
    body = "Dear Bea,\n\nthe pump\n# 7 runs.\n"
    for end in ("\n", "\r\n"):
        source = MAIL.format(encoding="8bit", body=body).replace("\n", end)
        parsed = read(tmp_path, "a.eml", source)
        assert headings(parsed) == [(4, "Pump réport")]
        assert [place(parsed, words) for words in ("From:", "Dear", "the pump", "# 7")] == [3, 9, 11, 12]
    soft = "Dear Bea,\n\nthe long line goes =\non and=\n on=2E\nLast line =C3=A9\n"
    parsed = read(tmp_path, "b.eml", MAIL.format(encoding="quoted-printable", body=soft))
    assert "the long line goes on and on." in parsed.document.text
    assert [place(parsed, words) for words in ("Dear", "the long", "Last line é")] == [9, 11, 14]
    page = "<html><body>\n<h1>Title</h1>\n<p>Some\ntext</p></body></html>\n"
    source = MAIL.format(encoding="8bit", body=page).replace("text/plain", "text/html")
    parsed = read(tmp_path, "c.eml", source)
    assert [place(parsed, words) for words in ("# Title", "Some")] == [10, 11]
