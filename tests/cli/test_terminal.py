"""What reaches a terminal: nothing a document or a query could steer it with, and colours only where wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loccit.cli.output import json_safe, one_line, safe

Run = Callable[..., Any]
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SEQUENCES = re.compile("\x1b\\[[0-9;]*m|\x1b\\]8;[^\x1b]*\x1b\\\\")
COLOURS = re.compile("\x1b\\[(?:[0-9]+;)*(?:3[0-7]|4[0-7]|9[0-7]|38|48)[;m]")
COMMANDS = (
    ("search", "xylophone"),
    ("search", "xylophone", "--full", "--explain"),
    ("search", "xylophone", "--json"),
    ("search", "xylophone", "--format", "markdown"),
    ("search", "xylophone", "--format", "llm"),
    ("search", "xylophone \x1b[31m \x9b2J \u202e", "--full"),
    ("section", "Xylophones", "--document", "evil.md"),
    ("outline",),
    ("outline", "--json"),
    ("documents",),
    ("status",),
    ("section", "\x1b[31mnowhere\x07"),
    ("outline", "\x1b]0;x\x07"),
    ("nothing\x1b[31m",),
)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_escape_sequences_in_documents_and_queries_are_inert(
    here: Path, run: Run, arguments: tuple[str, ...]
) -> None:
    result = run(*arguments)
    assert not CONTROLS.search(result.stdout)
    assert not CONTROLS.search(result.stderr)


@pytest.mark.parametrize(
    "arguments", [("search", "xylophone"), ("section", "Xylophones", "-d", "evil.md"), ("outline",)]
)
def test_on_a_terminal_only_our_own_sequences_remain(spawn: Run, arguments: tuple[str, ...]) -> None:
    done = spawn(*arguments, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert "\x1b[" in done.stdout
    rest = SEQUENCES.sub("", done.stdout)
    assert not CONTROLS.search(rest)
    assert "evil.example" not in "".join(re.findall("\x1b\\]8;[^\x1b]*", done.stdout))


def test_what_looks_like_markup_is_shown_as_it_is(here: Path, run: Run) -> None:
    assert "[bold]stays[/bold] :smile:" in " ".join(
        run("search", "xylophone", "-k", "1").stdout.split()
    ).replace("| ", "")


def test_json_keeps_what_the_document_says(here: Path, run: Run) -> None:
    found = json.loads(run("search", "xylophone", "-k", "1", "--json").stdout)["results"][0]["content"]
    assert "\x1b[31mis red" in found


def test_colours_and_links_on_a_terminal(spawn: Run) -> None:
    done = spawn("search", "collision", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert COLOURS.search(done.stdout)
    assert "file:///" in done.stdout


def test_no_color_is_honoured(spawn: Run) -> None:
    done = spawn("search", "collision", env={"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"})
    assert not COLOURS.search(done.stdout)


def test_elsewhere_text_is_plain(here: Path, run: Run) -> None:
    for arguments in (("search", "collision"), ("outline",), ("section", "Section 21"), ("status",), ("ls",)):
        done = run(*arguments)
        assert "\x1b" not in done.stdout
        assert not re.search(r"[ \t]$", done.stdout, re.MULTILINE)


def test_the_width_is_kept(here: Path, run: Run) -> None:
    done = run("search", "collision", env={"COLUMNS": "50"})
    assert max(map(len, done.stdout.splitlines()[1:])) <= 50


def test_an_ascii_terminal_gets_ascii(spawn: Run) -> None:
    done = spawn("search", "collision", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert done.stdout.isascii()
    as_json = spawn("outline", "--json", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert "CHAPTER 1 — Officers" in str(json.loads(as_json.stdout))


def test_safe() -> None:
    assert safe("a\r\nb\tc") == "a\nb\tc"
    assert safe("\x1b[0m\x7f\x9b\ud800") == "␛[0m␡\ufffd\ufffd"
    assert safe("a\u202eb\u2066c") == "abc"
    assert one_line(" a\n b\x00 ", 0) == "a b␀"
    assert one_line("word " * 100, 10) == "word word…"
    assert json_safe('"\x9b\u202e\ud800é"') == '"\\u009b\\u202e\\ud800é"'
