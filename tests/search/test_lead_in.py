"""An item of a list is read together with the words that introduce the list."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app

POLICY = """# Policy

## Section 4 Closing

(1) The office closes at once if one of the following occurs:

(a) the roof leaks;

(b) the lamp fails.

(2) The keeper reports each week.

## Section 5 Opening

The office opens in a day if:

1. the roof holds; or

2. the lamp is lit.

It opens within five days where

1. a guest asks;

2. the mayor asks.
"""
CLOSES = "The office closes at once if one of the following occurs:"


def test_an_item_shows_what_introduces_its_list(tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text(POLICY)
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "policy.md"], embed=False)
        view = library.section("Section 4(1)(b)")
        assert (view.text, view.lead_in) == ("(b) the lamp fails.", CLOSES)
        assert library.section("Section 4(2)").lead_in == "", "a sentence of its own"
        assert library.section("Section 4").lead_in == ""
        first = library.search("Section 4(1)(b)").results[0]
        assert (first.content, first.lead_in) == ("(b) the lamp fails.", CLOSES)
        assert CLOSES in first.format()


def test_each_list_of_a_section_has_its_own_introduction(tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text(POLICY)
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "policy.md"], embed=False)
        assert library.section("sec_5_2").lead_in == "The office opens in a day if:"
        assert library.section("sec_5_2").text == "2. the lamp is lit."
        assert library.section("sec_5_1__2").lead_in == "It opens within five days where"
    shown = CliRunner().invoke(app, ["section", "sec_5_2", "--index", str(tmp_path / "index")])
    assert "The office opens in a day if:" in shown.output
