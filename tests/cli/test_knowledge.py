from __future__ import annotations

import json

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


def test_define_says_where_a_definition_goes_on_and_prints_no_false_exception(index: list[str]) -> None:
    shown = runner.invoke(app, ["define", "hull", *index]).output
    assert "goes on below line 7" in shown and "except" not in shown
    data = json.loads(runner.invoke(app, ["define", "hull", *index, "--json"]).stdout)
    definition = data["definitions"][0]["definition"]
    assert definition["goes_on"] is True and definition["exceptions"] == []


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
