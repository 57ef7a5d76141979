"""Excerpts: the words between two offsets, without markup, and the places, lines and pages that they are on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.answers.shelf import selections, write_shelf
from tests.effort import tries
from typer.testing import CliRunner

from loccit import Library
from loccit.answers.verbatim.quotations import as_quotation
from loccit.cli.app import app
from loccit.errors import UsageError
from loccit.grammar.labels.ranges import range_label
from loccit.model.document import span
from loccit.server.api.citing import cite_place

ACT = """---
title: Act
---
Preamble words.

# Act

## CHAPTER I General

### Article 1 Scope

1. This act covers:

(a) vessels, see [Article 2](#article-2 "there");

(b) **har**bours &amp; caf&eacute;s;

(c) H<sub>2</sub>O of 5\\.2 m<sup>2</sup>.

Point (b) ends in 2030.[^n]

### Article 2 Words

| Word | Meaning |
|------|---------|
| berth | `a place` |

## CHAPTER II Special

### Article 3 Fees

Fees are inter-
national.

### Annex

1. One
2. Two

[^n]: Or later.
"""


@pytest.fixture(scope="module")
def act(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("excerpts")
    (folder / "act.md").write_text(ACT, encoding="utf-8")
    with Library(folder / ".loccit") as library:
        library.index(folder / "act.md", embed=False)
        yield library


@pytest.mark.parametrize(
    ("first", "last", "name", "said"),
    [
        ("This act", "covers", "Article 1(1)", "This act covers"),
        ("(a) vess", "Article 2](", "Article 1(1)(a)", "(a) vessels, see Article 2"),
        ("ssels", "bours", "Article 1(1)(a)–(b)", "vessels, see Article 2;\n(b) harbours"),
        ("(b) **", "(c) H", "Article 1(1)(b)–(c)", "(b) harbours & cafés;\n(c) H2O"),
        ("5\\.2", "m<sup>2", "Article 1(1)(c)", "5.2 m^2"),
        ("Article 1 S", "a place`", "Articles 1–2", None),
        ("Article 2 W", "national.", "Articles 2–3", None),
        ("CHAPTER I G", "national.", "CHAPTER I – Article 3", None),
        ("(b) **", "Fees are", "Articles 1(1)(b)–3", None),
        ("Fees are", "national", "Article 3", "Fees are inter-national"),
        ("berth", "a place`", "Article 2", "berth\ta place"),
        ("1. One", "Two", "1–2", "1. One\n2. Two"),
    ],
)
def test_what_is_said_where(act: Library, first: str, last: str, name: str, said: str | None) -> None:
    start = ACT.index(first)
    excerpt = act.excerpt("act.md", start, ACT.index(last, start) + len(last))
    assert excerpt.place.name == name
    assert said is None or excerpt.quotation == said
    lines = [ACT.count("\n", 0, at) + 1 for at in (excerpt.place.start, excerpt.place.end)]
    assert excerpt.place.lines == tuple(lines)
    assert act.verify_quotes(f"{as_quotation(excerpt.quotation)} (act.md, line {lines[0]}-{lines[1]})").ok


def test_a_range_that_stands_under_no_heading_has_no_name(act: Library) -> None:
    excerpt = act.excerpt("act.md", ACT.index("Preamble"), ACT.index("covers"))
    assert excerpt.place.name in ("", "Act") and excerpt.quotation.startswith("Preamble words.")


def test_a_selection_without_words_is_refused(act: Library) -> None:
    at = ACT.index("|------")
    with pytest.raises(UsageError, match="no words"):
        act.excerpt("act.md", at, at + 5)


@pytest.mark.parametrize(
    ("first", "last", "label"),
    [
        ("Article 6(1)(e)", "Article 6(1)(f)", "Article 6(1)(e)–(f)"),
        ("Article 41", "Article 99", "Articles 41–99"),
        ("Artículo 3", "Artículo 5", "Artículos 3–5"),
        ("Kapitel 3", "Kapitel 5", "Kapitel 3–5"),
        ("§ 3", "§ 5", "§§ 3–5"),
        ("§ 3 Abs. 1", "§ 5", "§ 3 Abs. 1 – § 5"),
        ("第三条", "第五条", "第三条–第五条"),
        ("Статья 3", "Статья 7", "Статья 3 – Статья 7"),
        ("4.2", "4.10", "4.2–4.10"),
        ("Article 1", "Annex II", "Article 1 – Annex II"),
    ],
)
def test_ranges_are_named(first: str, last: str, label: str) -> None:
    assert range_label(first, last) == label


@pytest.mark.slow
@pytest.mark.randomised
def test_every_copy_is_verified_with_its_own_citation(tmp_path: Path) -> None:
    """Selections over ten documents in five scripts: clauses, tables, notes and pages; one character to forty pages."""
    write_shelf(tmp_path / "docs", large=tries(0, 1) == 1)
    copies = []
    with Library(tmp_path / ".loccit") as library:
        assert not library.index(tmp_path / "docs", embed=False).failed
        infos = {info.source_path: info for info in library.documents()}
        views = {path: library.reader(path) for path in infos}
        cited = {path: view.cited for path, view in views.items()}
        texts = {path: view.text for path, view in views.items()}
        for one in selections(texts, tries(60, 500), seed=7):
            try:
                excerpt = cited[one.path].excerpt(one.start, one.end, views[one.path].body_start)
            except UsageError:
                # In the target of a link, which nobody can select.
                assert one.end - one.start < 40
                continue
            where = span(excerpt.place.lines, excerpt.place.pages, one.path)
            citation = cite_place(infos[one.path], excerpt.place.name, where, "plain")
            copies.append(f"{as_quotation(excerpt.quotation)}\n{citation}")
        report = library.verify_quotes("\n\n".join(copies))
        wrong = [
            (check.quotation[:80], check.cited, check.status, check.cited_place)
            for check in report.checks
            if not check.ok or check.cited_place != "right"
        ]
        assert not wrong and len(report.checks) == len(copies) >= tries(55, 490)
    (tmp_path / "copies.md").write_text("\n\n".join(copies), encoding="utf-8")
    found = CliRunner().invoke(
        app, ["verify", str(tmp_path / "copies.md"), "--index", str(tmp_path / ".loccit")]
    )
    assert found.exit_code == 0, found.stderr
