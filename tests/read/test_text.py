"""Encodings, line ends, pages, and the headings of other markups."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit.errors import ConversionError
from loccit.model.document import Converted, PageStart
from loccit.read import convert
from loccit.read.text import decode

GERMAN = "Der Käufer zahlt den Kaufpreis in Höhe von 100 €.\nDie Übergabe erfolgt am nächsten Tag.\n"
FRENCH = "Le contrat est conclu à Paris. L’acheteur s’engage à payer « le prix » dès réception.\n"
JAPANESE = "第一条 本契約は、甲と乙との間の取引に適用する。\nこの文章は日本語で書かれています。\n"
RUSSIAN = "Договор купли-продажи недвижимого имущества. Покупатель обязуется уплатить цену.\n"


def converted(tmp_path: Path, name: str, data: bytes | str) -> Converted:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return convert(path)[1]


@pytest.mark.parametrize("text", [GERMAN, FRENCH, JAPANESE, RUSSIAN, "plain\n", "emoji 🙂 and 漢字\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text
    assert found.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_mark(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)).text == GERMAN


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_japanese_utf16_without_a_mark(encoding: str) -> None:
    assert decode((JAPANESE * 5).encode(encoding)).text == JAPANESE * 5


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (GERMAN.replace("€", "EUR"), "latin-1"),
        (FRENCH, "cp1252"),
        ("Café crème à la carte", "latin-1"),
        ("El señor Núñez firmó el contrato.", "latin-1"),
        ("It costs £500 per year", "latin-1"),
        ("Section 4.2 – “personal data”", "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy. Smlouva o dílo se uzavírá.", "cp1250"),
        ("本合同由甲乙双方签订,第五条规定如下。" * 3, "gb18030"),
        ("이 계약은 갑과 을 사이에 체결된다. 제5조에 따라." * 3, "euc_kr"),
    ],
)
def test_legacy_encodings(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text
    assert "not Unicode" in found.warnings[0]


def test_damaged_utf8_stays_utf8() -> None:
    found = decode(RUSSIAN.encode()[:-8] + b"\xff" + RUSSIAN.encode())
    assert found.encoding == "utf-8"
    assert found.text.endswith(RUSSIAN)
    assert "replaced" in found.warnings[0]


def test_a_character_cut_off_at_the_end() -> None:
    assert decode("é".encode() * 30 + b"\xc3").text.startswith("é" * 30)


@pytest.mark.parametrize("data", [bytes(range(1, 32)) * 10, b"\xff\xfe" + b"\x00\xd8" * 50])
def test_not_text_at_all(data: bytes) -> None:
    with pytest.raises(ConversionError, match="encoding"):
        decode(data)


def test_line_ends_and_zeros(tmp_path: Path) -> None:
    data = b"one\r\ntwo\rthree\n\n\tfour " + b"-" * 100 + b"\x00 five\x0b\xc2\xa0 \xe2\x80\xa8six"
    found = converted(tmp_path, "a.txt", data)
    assert found.text == "one\ntwo\nthree\n\n\tfour " + "-" * 100 + " five\x0b\xa0 \u2028six"
    assert not found.markdown


def test_form_feeds_are_pages(tmp_path: Path) -> None:
    found = converted(tmp_path, "a.txt", "page one\n\fpage two\fpage three\n\f")
    assert found.text == "page one\npage two\npage three\n"
    assert found.pages == (PageStart(0, 1), PageStart(9, 2), PageStart(18, 3))
    assert converted(tmp_path, "b.txt", "no pages").pages == ()
    assert converted(tmp_path, "c.txt", "\f\fthird").pages == (
        PageStart(0, 1),
        PageStart(0, 2),
        PageStart(0, 3),
    )


def test_markdown_passes_through(tmp_path: Path) -> None:
    text = "---\ntitle: x\n---\n\n# Title\n\n  kept   as\tis\n"
    for name in ("a.md", "a.mdx", "a.qmd", "a.Rmd"):
        found = converted(tmp_path, name, "\ufeff" + text)
        assert found == Converted(text)


def test_whitespace_only(tmp_path: Path) -> None:
    for name in ("a.md", "a.txt", "a.rst"):
        with pytest.raises(ConversionError, match="no text found in this"):
            converted(tmp_path, name, " \n\t\n\ufeff")


def test_rst(tmp_path: Path) -> None:
    source = """\
=====
Title
=====

Intro::

   # not a heading
   code

Part
====

.. code-block:: python
   :linenos:

   # comment
   x = 1

.. note:: Kept.

Détail
------

~~~~~~

Sub
~~~

Another
=======
"""
    found = converted(tmp_path, "a.rst", source)
    headings = [line for line in found.text.split("\n") if line.startswith("#")]
    assert headings == [
        "# Title",
        "# not a heading",
        "## Part",
        "# comment",
        "### Détail",
        "#### Sub",
        "## Another",
    ]
    assert "Intro:\n```\n# not a heading\ncode\n```" in found.text
    assert "```python\n# comment\nx = 1\n```" in found.text
    assert "~" not in found.text and ".. note:: Kept." in found.text
    assert found.markdown


def test_asciidoc(tmp_path: Path) -> None:
    source = "= Title\n:author: Ann\n:toc:\n\n== Part\n\nText\n\n====\nexample\n====\n"
    source += "\n[source,ruby]\n----\n# x\n----\n"
    found = converted(tmp_path, "a.adoc", source)
    assert found.text == "# Title\n\n\n\n## Part\n\nText\n\n\nexample\n\n\n\n```ruby\n# x\n```\n"
    assert found.metadata == {"author": "Ann"}


def test_org(tmp_path: Path) -> None:
    source = """\
#+TITLE: Notes
# a comment
* TODO [#A] First :tag:
:PROPERTIES:
:ID: 1
:END:
text *bold*
** Second
#+BEGIN_SRC python
# code
#+END_SRC
"""
    found = converted(tmp_path, "a.org", source)
    assert found.metadata == {"title": "Notes"}
    assert (
        "# First\n" in found.text and "## Second\n" in found.text and "```python\n# code\n```" in found.text
    )
    assert "comment" not in found.text and ":ID:" not in found.text and "TODO" not in found.text


def test_tex(tmp_path: Path) -> None:
    source = r"""\documentclass{article}
\title{On \emph{Things}}
\begin{document}
% a comment
\section{First \& foremost}\label{s}
Text at 5\% % rest
\subsection*{Sub}
\begin{verbatim}
% kept
\end{verbatim}
\end{document}
junk"""
    found = converted(tmp_path, "a.tex", source)
    assert found.metadata == {"title": "On Things"}
    assert "# First & foremost\n" in found.text and "\n## Sub\n" in found.text
    assert "```\n% kept\n```" in found.text and "Text at 5\\%" in found.text
    assert "comment" not in found.text and "junk" not in found.text
