"""``loccit mcp install``: each client gets what it reads, and keeps what it had."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from loccit.answers.verbatim.patterns import KINDS as PATTERNS
from loccit.ask.catalog import TOOLS
from loccit.cli.app import app
from loccit.server.clients import SKILL

KEYS = {
    "claude-code": "mcpServers",
    "claude-desktop": "mcpServers",
    "cursor": "mcpServers",
    "vscode": "servers",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project of their own, so that nothing of the real ones is touched."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "home/.config"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    project = tmp_path / "project"
    (project / ".loccit").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def run(*args: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["mcp", "install", *args])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("client", KEYS)
def test_the_configuration_is_shown_as_the_client_reads_it(home: Path, client: str) -> None:
    shown = json.loads(run("--client", client).stdout)
    assert list(shown) == [KEYS[client]]
    entry = shown[KEYS[client]]["loccit"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--index", str(home / ".loccit"), "--output", "text"]
    assert entry.get("type", "stdio") == "stdio"
    assert not list(home.glob("**/*.json")), "nothing is written without being asked to"


def test_without_a_client_all_are_shown(home: Path) -> None:
    listed = json.loads(run("--json").stdout)
    assert [item["client"] for item in listed] == list(KEYS)
    assert str(home / ".cursor/mcp.json") in [item["path"] for item in listed]


def test_writing_keeps_what_is_there_and_a_copy_of_it(home: Path) -> None:
    file = home / ".mcp.json"
    before = {"mcpServers": {"other": {"command": "other", "env": {"KEY": "ü"}}}, "more": [1, 2]}
    file.write_text(json.dumps(before), encoding="utf-8")
    file.chmod(0o600)
    run("--client", "claude-code", "--write")
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after["mcpServers"].pop("loccit")["args"][0] == "mcp"
    assert after == before
    assert json.loads((home / ".mcp.json.bak").read_text(encoding="utf-8")) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_writing_twice_changes_nothing_and_another_change_keeps_both_copies(home: Path) -> None:
    file = home / ".vscode/mcp.json"
    run("--client", "vscode", "--write")
    first = file.read_text(encoding="utf-8")
    assert "already has it" in run("--client", "vscode", "--write").stderr
    assert list(file.parent.iterdir()) == [file]
    for name in ("one", "two"):
        run("--client", "vscode", "--write", "--command", f"uvx {name}")
    assert json.loads(file.read_text(encoding="utf-8"))["servers"]["loccit"]["command"] == "uvx"
    assert (home / ".vscode/mcp.json.bak").read_text(encoding="utf-8") == first
    assert (home / ".vscode/mcp.json.bak1").exists()


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("claude-desktop", "claude_desktop_config.json"),
        ("vscode", "Code/User/mcp.json"),
    ],
)
def test_a_user_s_own_file_is_written_for_all_projects(home: Path, client: str, file: str) -> None:
    written = json.loads(run("--client", client, "--scope", "user", "--write", "--json").stdout)
    assert written["path"].endswith(file)
    assert Path(written["path"]).is_relative_to(home.parent / "home")
    assert "loccit" in json.loads(Path(written["path"]).read_text(encoding="utf-8"))[KEYS[client]]


def test_a_file_that_is_not_plain_json_is_left_alone(home: Path) -> None:
    file = home / ".vscode/mcp.json"
    file.parent.mkdir()
    for text in ('// a comment\n{"servers": {}}\n', "[]", '{"servers": []}'):
        file.write_text(text, encoding="utf-8")
        run("--client", "vscode", "--write", code=1)
        assert file.read_text(encoding="utf-8") == text
        assert list(file.parent.iterdir()) == [file]


def test_wrong_wishes_are_refused(home: Path) -> None:
    run("--client", "emacs", code=2)
    run("--write", code=2)
    run("--client", "claude-desktop", "--scope", "project", code=2)
    run("--client", "cursor", "--scope", "planet", code=2)
    run("--client", "cursor", "--config", "missing.yaml", code=2)


def test_an_agent_file_is_served_in_place_of_an_index(home: Path) -> None:
    (home / "agent.yaml").write_text("name: x\n", encoding="utf-8")
    shown = json.loads(run("--client", "cursor", "--config", "agent.yaml", "--name", "law").stdout)
    assert shown["mcpServers"]["law"]["args"][-5:-2] == ["mcp", "--config", str(home / "agent.yaml")]


def test_the_skill_names_every_tool_and_only_arguments_that_there_are() -> None:
    text = SKILL.read_text(encoding="utf-8")
    said = set(re.findall(r"`([a-z_]+)`", text))
    arguments = {argument.name for tool in TOOLS.values() for argument in tool.takes}
    assert set(TOOLS) <= said
    assert said - set(TOOLS) <= {*arguments, *PATTERNS}
    for row in re.findall(r"^\| .* \| (`\w+`.*) \|$", text, re.MULTILINE):
        name, *given = re.findall(r"`([a-z_]+)`", row)
        if given and not set(given) & set(TOOLS):
            takes = {argument.name for argument in TOOLS[name].takes}
            assert set(given) <= {*takes, *PATTERNS}, row
    assert len(text.split()) < 450, "every agent reads it"


def test_the_skill_is_shown_and_written_and_what_stood_there_is_kept(home: Path) -> None:
    assert run("--skill").stdout == SKILL.read_text(encoding="utf-8")
    file = home / ".claude/skills/loccit/SKILL.md"
    assert not file.exists()
    run("--skill", "--write")
    head = file.read_text(encoding="utf-8").split("---")[1]
    assert set(yaml.safe_load(head)) == {"name", "description"} and yaml.safe_load(head)["name"] == "loccit"
    assert "already has it" in run("--skill", "--write").stderr
    file.write_text("mine")
    run("--skill", "--write")
    assert file.with_name("SKILL.md.bak").read_text() == "mine"
    run("--skill", "--write", "--scope", "user")
    assert (Path.home() / ".claude/skills/loccit/SKILL.md").exists()
    run("--skill", "--write", "--scope", "galaxy", code=2)


def test_a_plugin_has_a_manifest_the_skill_and_the_server(home: Path) -> None:
    run("--plugin", "plugin")
    manifest = json.loads((home / "plugin/.claude-plugin/plugin.json").read_text())
    assert manifest["name"] == "loccit" and manifest["version"]
    assert (home / "plugin/skills/loccit/SKILL.md").read_text() == SKILL.read_text(encoding="utf-8")
    server = json.loads((home / "plugin/.mcp.json").read_text())["mcpServers"]["loccit"]
    assert server["args"][-5:] == ["mcp", "--index", str(home / ".loccit"), "--output", "text"]
