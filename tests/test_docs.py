"""The documentation is true: its commands and programs run, its links lead somewhere, its tables name what exists.

CONTRIBUTING.md ("Examples that run") says how a block is written so that it can be checked here.
"""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import importlib.util
import io
import pkgutil
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import loccit
from loccit.cli.app import app
from loccit.config import IndexSettings, SearchSettings
from loccit.config.settings import STAGES, describe
from loccit.errors import MissingExtraError
from loccit.index.registry import PROVIDERS
from loccit.model import SearchResponse, SearchResult
from loccit.search.rank.graph import EDGE_WEIGHTS

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda page: page.relative_to(ROOT).as_posix()
)
# Commands besides our own that an example may use to set its scene; all others (pip, make, git) are not run.
SCENERY = frozenset({"printf", "mkdir", "touch", "mv", "cp", "rm"})
WILDCARD = "…"


# -- blocks ----------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A fenced block, with the comment before it that says how to check it."""

    page: Path
    line: int
    language: str
    text: str
    note: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def exit_code(self) -> int:
        found = re.search(r"exit (\d+)", self.note)
        return int(found[1]) if found else 0


_FENCE = re.compile(
    r"(?:^<!-- test: (?P<note>[^>]*) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(*languages: str) -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            if match["language"] in languages:
                line = text.count("\n", 0, match.start("language")) + 1
                found.append(Block(page, line, match["language"], match["text"], match["note"] or ""))
    return [block for block in found if "not run" not in block.note]


def by_name(block: Block) -> str:
    return block.name


# -- a folder to run them in -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples with an index, shared by all blocks that do not ask for a fresh one."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    with loccit.Library(folder / ".loccit") as library:
        report = library.index([folder / "examples"])
    assert not report.failed
    return folder


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shelf: Path
) -> Path:
    """The working folder of a block."""
    block: Block = request.getfixturevalue("block")
    folder = shelf
    if "fresh" in block.note:
        folder = tmp_path
        shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("LOCCIT_INDEX", "LOCCIT_DEBUG", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(folder)
    return folder


# -- commands --------------------------------------------------------------------------------------------------


def steps(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block, with the output that is shown below it."""
    command, shown = "", list[str]()
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            assert command, f"{block.name} begins with output: put the command before it"
            shown.append(line)
    if command:
        yield command, shown


def run(command: str) -> tuple[int, str] | None:
    """Run a command of ours, or one that sets the scene; None for all others."""
    given = None
    feed = re.fullmatch(r"echo '([^']*)' \| (loccit .*)", command)
    if feed:
        given, command = feed[1] + "\n", feed[2]
    words = shlex.split(command)
    if words[0] == "loccit":
        result = CliRunner().invoke(app, words[1:], input=given, prog_name="loccit")
        return result.exit_code, result.output
    if words[0] in SCENERY:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    return None


def missing_line(shown: list[str], output: str) -> str | None:
    """Return the first shown line that the output does not have, in order; a line of `…` stands for any lines."""
    real = iter([_squeezed(line) for line in output.splitlines()])
    for line in filter(None, map(_squeezed, shown)):
        if line == WILDCARD:
            continue
        pattern = re.compile(".*".join(map(re.escape, line.split(WILDCARD))))
        if not any(pattern.fullmatch(candidate) for candidate in real):
            return line
    return None


def _squeezed(line: str) -> str:
    return " ".join(line.split())


@pytest.mark.parametrize("block", blocks("console", "sh"), ids=by_name)
def test_commands_do_what_the_page_shows(block: Block, stage: Path) -> None:
    codes = []
    for command, shown in steps(block):
        result = run(command)
        if result is None:
            continue
        code, output = result
        codes.append(code)
        missing = missing_line(shown, output)
        assert missing is None, f"{block.name}: `{command}` does not print\n  {missing}\nbut\n{output}"
    assert codes, f"{block.name} runs nothing; say so with <!-- test: not run -->"
    assert codes == [0] * (len(codes) - 1) + [block.exit_code], block.name


def test_a_shown_line_must_be_printed_in_order() -> None:
    output = "18 added · 259 chunks\n\n  one\n  two\n"
    assert missing_line(["18 added · …", "one", "…", "two"], output) is None
    assert missing_line(["two", "one"], output) == "one"
    assert missing_line(["19 added · …"], output) == "19 added · …"


# -- programs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("python"), ids=by_name)
def test_programs_print_what_their_comments_say(block: Block, stage: Path) -> None:
    shown = re.findall(r"# → (.*)", block.text)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            exec(compile(block.text, block.name, "exec"), {"__name__": "__main__"})
    except (MissingExtraError, ModuleNotFoundError) as error:
        # Some packages do not exist for every version of Python.
        pytest.skip(str(error))
    missing = missing_line(shown, printed.getvalue())
    assert missing is None, f"{block.name} does not print\n  {missing}\nbut\n{printed.getvalue()}"


def modules_with_examples() -> list[str]:
    names = ["loccit", *(info.name for info in pkgutil.walk_packages(loccit.__path__, "loccit."))]
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin and ">>> " in Path(spec.origin).read_text(encoding="utf-8"):
            found.append(name)
    return found


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed


# -- links -----------------------------------------------------------------------------------------------------

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code, where brackets mean other things."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}, which does not exist"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}: no such heading"


# -- references ------------------------------------------------------------------------------------------------


def test_every_command_and_option_is_described() -> None:
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    command: Any = get_command(app)
    for name, sub in command.commands.items():
        if sub.hidden:
            continue
        assert f"\n## {name}\n" in page, name
        for option in (
            option for parameter in sub.params for option in (*parameter.opts, *parameter.secondary_opts)
        ):
            if option.startswith("-") and option not in ("-h", "--help"):
                assert f"`{option}" in page, f"{name} {option}"


def written(value: object) -> str:
    if value in ("", None, {}, ()):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


@pytest.mark.parametrize("kind", [IndexSettings, SearchSettings])
def test_every_setting_is_described_with_its_default_and_range(kind: type[Any]) -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    for name, known in describe(kind).items():
        row = f"\n| `{name}` | {written(known.default)} |"
        if known.bounds:
            row += f" {known.range()} |"
        elif known.is_switch or known.choices:
            row += f" {', '.join(f'`{word}`' for word in known.range().split(', '))} |"
        assert row in page, row


@pytest.mark.parametrize("name", ["index", "search"])
def test_options_have_the_ranges_of_their_settings(name: str) -> None:
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    command: Any = get_command(app)
    every = [*describe(IndexSettings).values(), *describe(SearchSettings).values()]
    for option in command.commands[name].params:
        for known in every:
            if known.bounds and (getattr(option, "help", "") or "").startswith(known.said()):
                (row,) = re.findall(rf"^\| `{option.opts[0]} .*$", page, re.MULTILINE)
                assert known.range() in row, row
                assert known.default is None or f"; {known.written()} by default" in row, row


def test_every_stage_that_can_be_switched_off_is_described() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (?:on|off) \|", page, re.MULTILINE)
    assert tuple(listed) == STAGES


@pytest.mark.parametrize("kind", [SearchResult, SearchResponse])
def test_every_field_of_an_answer_is_described(kind: type[Any]) -> None:
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for item in dataclasses.fields(kind):
        assert f"`{item.name}`" in page or f".{item.name}`" in page, f"{kind.__name__}.{item.name}"


def test_what_a_search_counts_and_explains_is_described(shelf: Path) -> None:
    page = (ROOT / "docs/ranking.md").read_text(encoding="utf-8")
    with loccit.Library(shelf / ".loccit") as library:
        response = library.search("dry running", explain=True)
    for name in (*response.compression_stats, *(response.explanation or {})):
        assert f"`{name}`" in page, name


def test_the_edges_of_the_graph_have_the_weights_of_the_page() -> None:
    page = (ROOT / "docs/graph.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d.]+) \|", page, re.MULTILINE)
    listed = {name: float(weight) for names, weight in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed == EDGE_WEIGHTS


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_every_database_and_its_options_are_described(provider: str) -> None:
    page = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")
    assert f"| `{provider}` |" in page
    place, _, name = PROVIDERS[provider][0].partition(":")
    options = getattr(importlib.import_module(place), name).known_options
    part = page.split(f"\n### {provider}\n")[-1].split("\n### ")[0] if options else ""
    assert {option for option in options if f"| `{option}` | {options[option]}" not in part} == set()


def test_decisions_are_listed() -> None:
    folder = ROOT / "docs/decisions"
    listing = (folder / "README.md").read_text(encoding="utf-8")
    for record in folder.glob("[0-9]*.md"):
        assert f"]({record.name})" in listing
        text = record.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(record.name[:4])}. ")
        for heading in ("Context", "Decision", "Measurement", "Consequences"):
            assert f"\n## {heading}\n" in text, f"{record.name} has no {heading}"


# -- requirements ----------------------------------------------------------------------------------------------

REQUIREMENTS = (
    *(f"FR-{number:03}" for number in range(1, 27)),
    "FR-018a",
    *(f"SC-{number:03}" for number in range(1, 9)),
    *(f"US{story}.{scenario}" for story in range(1, 9) for scenario in range(1, 4)),
    *(f"E{number}" for number in range(1, 6)),
    *(f"A-{number:03}" for number in range(1, 7)),
    *(f"V{number}" for number in range(1, 11)),
    *(f"P{number}" for number in range(1, 14)),
)


def test_every_requirement_has_one_row() -> None:
    page = (ROOT / "docs/internals/requirements.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]+-?\d+(?:\.\d)?a?) \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(REQUIREMENTS)


def test_what_the_requirements_name_exists() -> None:
    page = (ROOT / "docs/internals/requirements.md").read_text(encoding="utf-8")
    for code in re.findall(r"`([^`\n]+)`", page):
        path, _, name = code.partition("::")
        if path.startswith(("tests/", "benchmarks/", "docs/", "scripts/", "src/", "examples/")):
            file = ROOT / path
        elif re.fullmatch(r"[\w/]+\.py|[a-z_]+/[\w/]*", path):
            file = ROOT / "src/loccit" / path
        else:
            continue
        assert file.exists(), f"docs/internals/requirements.md names {code}"
        if name:
            source = file.read_text(encoding="utf-8")
            assert re.search(rf"^ *(?:async )?def {re.escape(name)}\(", source, re.MULTILINE), code


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
