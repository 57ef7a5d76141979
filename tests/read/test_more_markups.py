"""Manual pages, Texinfo, MediaWiki, POD, Textile and SGML: headings on their lines, titles, words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.read.test_source_lines import headings, read

from loccit.errors import ConversionError
from loccit.model import line_of
from loccit.read import convert, detect
from loccit.read.sniff import FileType

MAN = r""".\" A comment
.TH PUMP 1 "2 January 2023" "v1" "User Commands"
.SH NAME
pump \- move \fIwater\fP
.SH "SEE ALSO"
.BR valve (1),
.B tap
.SS
Next line
.nf
# not a heading
.fi
.SH EXIT\ STATUS
0
"""
MDOC = r""".Dd January 2, 2023
.Dt PUMP 8
.Os
.Sh NAME
.Nm pump
.Nd moves water
.Sh SYNOPSIS
.Nm
.Op Fl v
.Op Fl s Ar speed
.Sh SEE ALSO
.Xr valve 8
.Ss Sub part
.Bd -literal
# code
.Ed
"""
TEXI = """\
\\input texinfo
@settitle The @code{pump} Manual
@c comment
@node Top
@top Pumps
@menu
* Start:: x
@end menu
@chapter Start it @@ once
Use @code{start} or @xref{Stop}.
@itemize
@item
one
@end itemize
@example
# @var{x}
@end example
@section Last
@bye
"""
WIKI = """\
<!-- == no ==
-->
== First [[page|part]] ==
# one
# two
* '''bold'''
<syntaxhighlight lang="python">
# code
== no ==
</syntaxhighlight>
=== Second ===
"""
POD = """\
=head1 NAME

Pump - moves C<water>

=head2 Methods of B<Pump>

    # code

=over

=item start

=back

=cut

print "== no";

=head1 LAST
"""
TEXTILE = "h1. Title\n\nText\n\nbc. # code\nh1. no\n\nh2(#id). Second @part@\n\n# one\n"
SGML = """\
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook V4.2//EN">
<book>
<bookinfo><title>The Pump Book</title></bookinfo>
<chapter id="a">
<title>First
 Chapter</title>
<para>Text &amp; <emphasis>more</emphasis>.
<table><title>A table</title></table>
<programlisting>
# code
</programlisting>
<sect1><title>Section A</title>
<para>x
</sect1>
</chapter>
<chapter><title>Last</></chapter>
</book>
"""
LINUXDOC = "<!doctype linuxdoc system>\n<article>\n<title>Pump HOWTO\n<sect>Start\n<p>\nText\n<sect1>Sub <tt/part/<p>\nx\n"


def test_headings_and_titles(tmp_path: Path) -> None:
    found = read(tmp_path, "pump.1", MAN)
    assert found.document.title == "pump(1)" and found.document.metadata["date"] == "2 January 2023"
    assert headings(found) == [(3, "NAME"), (5, "SEE ALSO"), (9, "Next line"), (13, "EXIT STATUS")]
    assert "pump - move water" in found.document.text and "valve(1)," in found.document.text
    found = read(tmp_path, "pump.8", MDOC)
    assert found.document.title == "pump(8)"
    assert headings(found) == [(4, "NAME"), (7, "SYNOPSIS"), (11, "SEE ALSO"), (13, "Sub part")]
    assert "[-s speed]" in found.document.text and "valve(8)" in found.document.text
    found = read(tmp_path, "pump.texi", TEXI)
    assert found.document.title == "The pump Manual"
    assert headings(found) == [(5, "Pumps"), (9, "Start it @ once"), (18, "Last")]
    found = read(tmp_path, "pump.wiki", WIKI)
    assert headings(found) == [(3, "First part"), (11, "Second")]
    found = read(tmp_path, "pump.pod", POD)
    assert found.document.title == "Pump - moves water"
    assert headings(found) == [(1, "NAME"), (5, "Methods of Pump"), (19, "LAST")]
    assert headings(read(tmp_path, "pump.textile", TEXTILE)) == [(1, "Title"), (8, "Second part")]
    found = read(tmp_path, "pump.sgml", SGML)
    assert headings(found) == [(3, "The Pump Book"), (5, "First Chapter"), (12, "Section A"), (16, "Last")]
    assert "Text & more." in found.document.text and "```\n# code\n```" in found.document.text
    found = read(tmp_path, "howto.sgml", LINUXDOC)
    assert headings(found) == [(4, "Start"), (7, "Sub part")] and found.document.title == "Pump HOWTO"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "<!doctype html><html><body><p>x</p></body></html>", FileType.HTML),
        ("a.rst", "\n<html><body><p>x</p></body></html>", FileType.HTML),
        ("a.html", "Just words, no tag at all.\n", FileType.TEXT),
        ("a.json", '{"cells": [{"cell_type": "markdown", "source": ["# A"]}]}', FileType.IPYNB),
        ("a.asc", "= Guide\n\n== Part\n", FileType.ASCIIDOC),
        ("a.asc", "Plain words.\n", FileType.TEXT),
        ("a.1", "first line of a log\n", FileType.TEXT),
        ("a.1", ".TH A 1\n.SH NAME\n", FileType.MAN),
        ("README", "Read me.\n", FileType.TEXT),
    ],
)
def test_content_decides(tmp_path: Path, name: str, content: str, expected: FileType) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert detect(path) == expected
    convert(path)


def test_signatures_are_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.asc"
    path.write_text("-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n")
    with pytest.raises(ConversionError, match="PGP"):
        convert(path)


WORDS = st.text(alphabet="abé漢 \t#=-*`<>[]{}\\@.'\"|(/1hH,;!&", max_size=12)
STARTS = st.sampled_from(
    [
        "",
        ".SH ",
        ".nf",
        ".B ",
        ".Op ",
        ".de x",
        "@item ",
        "@section ",
        "@example",
        "@end example",
        "== ",
        "=head1 ",
        "=cut",
    ]
    + [
        "h1. ",
        "bc. ",
        "<pre>",
        "<sect1>",
        "<title>",
        "</title>",
        "<programlisting>",
        "<!--",
        "-->",
        "# ",
        "* ",
        "</>",
    ]
)


@pytest.mark.parametrize("name", ["a.man", "a.texi", "a.wiki", "a.pod", "a.textile", "a.sgml"])
@given(lines=st.lists(st.tuples(STARTS, WORDS), max_size=25))
def test_every_word_keeps_its_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, lines: list[tuple[str, str]]
) -> None:
    marked = [f"{start}{words} qz{number}z" for number, (start, words) in enumerate(lines, 1)]
    path = tmp_path_factory.getbasetemp() / name
    path.write_text("\n".join([*marked, ".SH text", "text\n"]), encoding="utf-8")
    try:
        _, found = convert(path)
    except ConversionError:
        return
    for number in range(1, len(lines) + 1):
        at = found.text.find(f"qz{number}z")
        if at >= 0:
            line = line_of(found.line_starts, found.text, 0, 1, at)
            # A title that goes on over several lines stands where it begins.
            assert line == number or (name == "a.sgml" and line < number)
