"""Questions that are asked plainly are read without Typer, and as Typer reads them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import typer.main

from loccit.cli.app import app
from loccit.cli.asking import parse
from loccit.cli.questions import COMMANDS

TYPED: Any = typer.main.get_command(app)
PLAIN = (
    "search who must report",
    "search -m keyword --top-k=3 -k 4 collision --json --min-score 0.5",
    "search x -f tags=a -f b=c -p docs -t pdf -t md -l en --after 2025-01-01 --offset 2 --explain",
    "search x --until rank --format llm --set rrf_k=10 --reranker tei:http://x --token-budget 300 --full",
    "grep -E [0-9]+ -c -d act.md -n 7 --cursor abc",
    "grep -w Harbour Master -f type=md -- --not-an-option",
    "section Section 306 -s next -l 1-2 --near -r",
    "section --exact 4.2 --document act.md -i somewhere",
    "define personal data --document act.md",
    "refs Article 6 --json",
    "verify - -d act.md",
    "diff old.md new.md",
    "outline",
    "outline act.md --depth 2 -c",
    "obligations act.md -k duty -b master --text fine -u day -p x --not-understood bearer -n 3 --offset 1",
    "documents --json",
    "ls",
)
# Left to Typer: what is wrong, what only it explains, and ways of writing that few use.
NOT_PLAIN = (
    "search",
    "search x --help",
    "search x -k",
    "search x -k three",
    "search x -k3",
    "search x --offset -1",
    "search x --format html",
    "search x --bogus",
    "search x --debug",
    "grep x -n 0",
    "grep -Ew x",
    "grep x --json=1",
    "grep x -d -y",
    "outline a b",
    "outline --depth 21",
    "diff old.md",
    "verify",
    "documents x",
)


def _plain(line: str) -> dict[str, Any] | None:
    name, *words = line.split()
    return parse(COMMANDS[name].options(), words)


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_read_plainly_is_what_typer_reads(line: str) -> None:
    name, *words = line.split()
    context = TYPED.commands[name].make_context(name, words)
    typed = {
        key: list(value) or None if isinstance(value, tuple) else value
        for key, value in context.params.items()
    }
    assert _plain(line) == typed


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_what_is_not_plainly_right_is_left_to_typer(line: str) -> None:
    assert _plain(line) is None


def test_the_index_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCCIT_INDEX", "elsewhere")
    given = _plain("grep x")
    assert given is not None
    assert str(given["index"]) == "elsewhere"


@pytest.mark.parametrize("line", ["grep master", "define Authority", "documents --json", "outline --json"])
def test_a_plain_question_loads_nothing_that_it_does_not_use(
    spawn: Callable[..., subprocess.CompletedProcess[str]], line: str, library_folder: Any
) -> None:
    code = (
        "import sys\nfrom loccit.cli import main\nsys.argv = ['loccit', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('loaded:', *sorted({'typer', 'pydantic', 'asyncio', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *line.split()],
        cwd=library_folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "loaded:", done.stdout[-300:] + done.stderr
