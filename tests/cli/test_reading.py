from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_section_as_json(spawn: Run) -> None:
    done = spawn("section", "Section 22", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["heading"] == "Section 22. Closure"


def test_outline_of_one_document_shows_it_whole(here: Path, run: Run) -> None:
    result = run("outline", "act.md")
    assert "Section 22. Closure" in result.stdout
    assert "Queue" not in result.stdout
    assert "Section" not in run("outline", "act.md", "--depth", "1").stdout
    assert run("outline", "../" + here.name + "/docs/act.md").stdout == result.stdout


def test_documents_and_its_short_name(here: Path, run: Run) -> None:
    result = run("documents")
    assert "docs/note.md" in result.stdout
    assert "Queue runbook" in result.stdout
    assert run("ls").stdout == result.stdout
    assert {Path(entry["source_path"]).name for entry in json.loads(run("ls", "--json").stdout)} == {
        "act.md",
        "evil.md",
        "note.md",
    }


def test_status(here: Path, run: Run) -> None:
    result = run("status")
    assert result.exit_code == 0
    assert "documents  3  (3 .md)" in result.stdout
    assert "reads      docs" in result.stdout
    state = json.loads(run("status", "--json").stdout)
    assert state["documents"] == 3
    assert state["failures"] == []


def test_doctor_finds_a_healthy_index(here: Path, run: Run) -> None:
    result = run("doctor", "--check")
    assert result.exit_code == 0
    assert "healthy" in result.stdout
    assert json.loads(run("doctor", "--check", "--json").stdout)["healthy"] is True


def test_doctor_leaves_with_1_when_something_is_wrong(here: Path, run: Run, monkeypatch: Any) -> None:
    from loccit.library import Library
    from loccit.model import Check, DoctorReport

    checks = [Check("record", True), Check("vectors", False, "12 are missing.")]
    monkeypatch.setattr(Library, "doctor", lambda self, repair: DoctorReport(checks))
    result = run("doctor")
    assert result.exit_code == 1
    assert "wrong vectors  12 are missing" in result.stdout


def test_the_index_is_found_from_below_and_by_name(
    here: Path, run: Run, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.chdir(here / "docs")
    assert run("status").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert run("status").exit_code == 1
    assert run("status", "--index", str(here / ".loccit")).exit_code == 0
    assert run("status", "--index", str(here)).exit_code == 0
    assert run("status", env={"LOCCIT_INDEX": str(here / ".loccit")}).exit_code == 0
