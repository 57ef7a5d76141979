"""``pinakes mcp install``: each client gets what it reads, and keeps what it had."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pinakes.cli.app import app

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
    (project / ".pinakes").mkdir(parents=True)
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
    entry = shown[KEYS[client]]["pinakes"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--index", str(home / ".pinakes"), "--output", "text"]
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
    assert after["mcpServers"].pop("pinakes")["args"][0] == "mcp"
    assert after == before
    assert json.loads((home / ".mcp.json.bak").read_text(encoding="utf-8")) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_writing_twice_changes_nothing_and_another_change_keeps_both_copies(home: Path) -> None:
    file = home / ".vscode/mcp.json"
    run("--client", "vscode", "--write")
    first = file.read_text(encoding="utf-8")
    assert "has it already" in run("--client", "vscode", "--write").stderr
    assert list(file.parent.iterdir()) == [file]
    for name in ("one", "two"):
        run("--client", "vscode", "--write", "--command", f"uvx {name}")
    assert json.loads(file.read_text(encoding="utf-8"))["servers"]["pinakes"]["command"] == "uvx"
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
    assert "pinakes" in json.loads(Path(written["path"]).read_text(encoding="utf-8"))[KEYS[client]]


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
