from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loccit.cli.app import app

runner = CliRunner()
ACT = """# Act

## Section 1. Definitions

"vessel" means a ship. The term does not include rafts.

"hull" means a part, including, but not limited to, these:

| part | since |
|------|-------|
| keel | 1924 |

## Section 2. Duties

(a) The master of a vessel shall give notice under section 1.

(b) Subsection (a) does not apply on Sundays. See section 9.
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("act")
    (folder / "act.md").write_text(ACT)
    where = ["--index", str(folder / ".loccit")]
    assert runner.invoke(app, ["index", str(folder / "act.md"), *where, "--no-embed"]).exit_code == 0
    return where


def test_define_shows_the_definition_and_its_exception(index: list[str]) -> None:
    shown = runner.invoke(app, ["define", "vessels", *index])
    assert shown.exit_code == 0
    assert "means a ship" in shown.output and "except: " in shown.output and "act.md#sec_1" in shown.output
    data = json.loads(runner.invoke(app, ["define", "vessel", *index, "--json"]).stdout)
    assert data["definitions"][0]["definition"]["term"] == "vessel" and data["conflict"] is False


def test_define_says_where_a_definition_goes_on_and_prints_no_false_exception(index: list[str]) -> None:
    shown = runner.invoke(app, ["define", "hull", *index]).output
    assert "goes on below line 7" in shown and "except" not in shown
    data = json.loads(runner.invoke(app, ["define", "hull", *index, "--json"]).stdout)
    definition = data["definitions"][0]["definition"]
    assert definition["goes_on"] is True and definition["exceptions"] == []


def test_define_offers_near_spellings(index: list[str]) -> None:
    shown = runner.invoke(app, ["define", "vesel", *index])
    assert shown.exit_code == 4 and "Similar terms: vessel" in shown.output
    assert runner.invoke(app, ["define", "zebra", *index]).exit_code == 4


def test_refs_shows_both_directions_and_what_leads_nowhere(index: list[str]) -> None:
    shown = runner.invoke(app, ["refs", "Section", "2", *index])
    assert shown.exit_code == 0
    assert "Refers to (3)" in shown.output and "sec_2_a" in shown.output and "section 9" in shown.output
    back = runner.invoke(app, ["refs", "Section 1", *index])
    assert "Referred to by (1)" in back.output and "Section 2(a), line 15" in back.output
    both = runner.invoke(app, ["refs", "Sections", "1", "and", "2", *index])
    assert both.exit_code == 0 and both.stdout == f"{back.stdout}\n{shown.stdout}"
    data = json.loads(runner.invoke(app, ["refs", "Section 2(b)", *index, "--json"]).stdout)
    assert data["cites"][0]["reference"]["target_section"] == "sec_2_a"


def test_the_outline_shows_clauses_when_asked_and_in_json(index: list[str]) -> None:
    assert "Section 2(a)" not in runner.invoke(app, ["outline", "act.md", *index]).output
    assert "Section 2(a)" in runner.invoke(app, ["outline", "act.md", "--clauses", *index]).output
    [whole] = json.loads(runner.invoke(app, ["outline", "act.md", *index, "--json"]).stdout)
    assert whole["nodes"][0]["children"][1]["children"][0]["label"] == "Section 2(a)"


def test_a_result_shows_what_it_refers_to_and_what_its_words_mean(index: list[str]) -> None:
    shown = runner.invoke(app, ["search", "notice of a vessel", "--mode", "keyword", *index])
    assert "refers to section 1" in shown.output and "where vessel:" in shown.output


def test_sources_are_named(index: list[str]) -> None:
    path = Path(index[1]).parent / "act.md"
    data = json.loads(runner.invoke(app, ["section", "Section 2(b)", *index, "--json"]).stdout)
    assert data["source_path"] == str(path) and data["text"].startswith("(b) Subsection")
