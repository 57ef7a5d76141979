from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

COMMANDS = ("search", "section", "outline", "documents", "index", "status", "doctor", "eval")
Run = Callable[..., Any]


def test_help_lists_every_command_and_the_exit_codes(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name in COMMANDS:
        assert name in result.stdout
    assert "nothing found" in " ".join(result.stdout.split())
    assert " ls " not in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_with_examples(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"$ loccit {name}" in result.stdout
    assert ("--index" in result.stdout) == (name != "eval"), "it makes an index of its own"
    assert "--json" in result.stdout
    assert "[bold]" not in result.stdout
    assert run(name, "-h").stdout == result.stdout


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage" in result.output
    assert "error" not in result.stderr


def test_version(run: Run) -> None:
    from loccit.version import __version__

    result = run("--version")
    assert result.stdout.strip() == f"loccit {__version__}"
    assert result.exit_code == 0


def test_help_does_not_load_the_library(spawn: Run) -> None:
    """What makes the first answer slow is loaded by the commands that need it."""
    import sys

    code = (
        "import sys, loccit.cli.app as a\n"
        "try: a.app(['search', '--help'], prog_name='loccit')\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'onnxruntime', 'tantivy', 'loccit.library'} & set(sys.modules)), file=sys.stderr)"
    )
    import os
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_with_source(os.environ)
    )
    assert done.stderr.strip() == "[]"


def _with_source(environment: Any) -> dict[str, str]:
    from pathlib import Path

    return {**environment, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONUTF8": "1"}
