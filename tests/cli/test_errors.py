from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loccit.library import Library

Run = Callable[..., Any]


def test_no_index_says_how_to_make_one(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (("search", "x"), ("section", "x"), ("outline",), ("status",), ("doctor",), ("ls",)):
        result = run(*arguments)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "loccit index PATH" in result.stderr
    assert run("search", "x", "--index", str(tmp_path / "gone")).exit_code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("search", "x", "-k", "0"), 2, "UsageError"),
        (("search", "x", "--unknown"), 2, "UsageError"),
        (("section", "Section 99"), 4, "NotFoundError"),
        (("status", "--index", "gone"), 1, "IndexNotFoundError"),
    ],
)
def test_an_error_is_a_json_document_too(
    spawn: Run, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    done = spawn(*arguments, "--json")
    assert done.returncode == code
    error = json.loads(done.stdout)["error"]
    assert error["type"] == kind
    assert error["message"] in done.stderr


def test_an_unexpected_error_is_short_and_points_to_debug(here: Path, run: Run, monkeypatch: Any) -> None:
    def broken(self: Library) -> None:
        raise ZeroDivisionError("so it \x1b[31mgoes")

    monkeypatch.setattr(Library, "status", broken)
    result = run("status")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ZeroDivisionError: so it ␛[31mgoes\n")
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr
    for arguments in (("status", "--debug"), ("--debug", "status")):
        debugged = run(*arguments)
        assert debugged.exit_code == 1
        assert "Traceback" in debugged.stderr


def test_interrupted(here: Path, run: Run, monkeypatch: Any) -> None:
    def interrupted(self: Library) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "status", interrupted)
    result = run("status")
    assert result.exit_code == 130
    assert result.stderr.strip() == "Interrupted. Run the same command again to resume."


def test_warnings_of_the_library_go_to_standard_error(here: Path, run: Run, monkeypatch: Any) -> None:
    import logging

    original = Library.status

    def warns(self: Library) -> Any:
        logging.getLogger("loccit").warning("mind the %s", "gap")
        return original(self)

    monkeypatch.setattr(Library, "status", warns)
    result = run("status", "--json")
    assert result.stderr == "warning: mind the gap\n"
    json.loads(result.stdout)


@pytest.mark.skipif(os.name == "nt", reason="pipes close differently there")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_early_is_no_drama(library_folder: Path, options: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-m", "loccit", "search", "harbour", *options],
        cwd=library_folder,
        env={**os.environ, "PYTHONPATH": source},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1
