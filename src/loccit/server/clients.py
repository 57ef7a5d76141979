"""MCP clients: where each keeps its configuration, and the format it expects."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loccit.errors import LoccitError, UsageError
from loccit.version import __version__

SCOPES = ("project", "user")


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its name, the key for servers in its configuration, and its project and user files."""

    name: str
    title: str
    key: str
    project_file: str | None
    typed: bool

    def path(self, scope: str | None, folder: Path) -> Path:
        """Return the file to write to."""
        wanted = scope or ("project" if self.project_file else "user")
        if wanted not in SCOPES:
            raise UsageError(f"--scope must be one of {', '.join(SCOPES)}, not {wanted!r}.")
        if wanted == "user":
            return _user_file(self.name)
        if self.project_file is None:
            raise UsageError(f"{self.title} has no project configuration; use --scope user.")
        return folder / self.project_file

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the client's configuration entry for a server that it starts."""
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": command[0], "args": list(command[1:])}

    def configuration(self, server: str, command: Sequence[str]) -> dict[str, Any]:
        """Return the whole configuration file with only this server in it."""
        return {self.key: {server: self.entry(command)}}


CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", "Claude Code", "mcpServers", ".mcp.json", typed=True),
        Client("claude-desktop", "Claude Desktop", "mcpServers", None, typed=False),
        Client("cursor", "Cursor", "mcpServers", ".cursor/mcp.json", typed=True),
        Client("vscode", "VS Code", "servers", ".vscode/mcp.json", typed=True),
    )
}


def _user_file(client: str) -> Path:
    home = Path.home()
    if client == "claude-code":
        return home / ".claude.json"
    if client == "cursor":
        return home / ".cursor" / "mcp.json"
    if client == "vscode":
        return _application_folder() / "Code" / "User" / "mcp.json"
    return _application_folder() / "Claude" / "claude_desktop_config.json"


def _application_folder() -> Path:
    """Where desktop applications keep their settings on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def own_command() -> list[str]:
    """Return a command that starts Loccit from anywhere: clients do not have a terminal's PATH."""
    beside = Path(sys.executable).parent / ("loccit.exe" if sys.platform == "win32" else "loccit")
    if beside.exists():
        return [str(beside)]
    found = shutil.which("loccit")
    return [found] if found else [sys.executable, "-m", "loccit"]


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing a configuration file: whether it changed, and where the backup is."""

    path: Path
    changed: bool
    backup: Path | None = None


SKILL = Path(__file__).with_name("SKILL.md")
"""The skill that teaches an agent the tools."""


def skill_file(scope: str | None, folder: Path) -> Path:
    """Return where Claude Code looks for the skill."""
    wanted = scope or "project"
    if wanted not in SCOPES:
        raise UsageError(f"--scope must be one of {', '.join(SCOPES)}, not {wanted!r}.")
    return (Path.home() if wanted == "user" else folder) / ".claude" / "skills" / "loccit" / "SKILL.md"


def write_skill(path: Path) -> Written:
    """Write the skill; an existing different text is backed up."""
    return _write_whole(path.resolve(), SKILL.read_text(encoding="utf-8"))


def write_plugin(folder: Path, server: str, command: Sequence[str]) -> list[Written]:
    """Write a Claude Code plugin: its manifest, the skill, and how to start the server."""
    manifest = {
        "name": server,
        "version": __version__,
        "description": "Find, read, quote and cite passages of your documents.",
        "license": "Apache-2.0",
    }
    servers = CLIENTS["claude-code"].configuration(server, command)
    root = folder.resolve()
    return [
        _write_whole(root / ".claude-plugin" / "plugin.json", _as_json(manifest)),
        _write_whole(root / "skills" / "loccit" / "SKILL.md", SKILL.read_text(encoding="utf-8")),
        _write_whole(root / ".mcp.json", _as_json(servers)),
    ]


def _write_whole(path: Path, text: str) -> Written:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return Written(path, changed=False)
    backup = _back_up(path) if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, text)
    return Written(path, changed=True, backup=backup)


def _as_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def write_configuration(client: Client, path: Path, server: str, command: Sequence[str]) -> Written:
    """Add the server to a configuration file, and leave everything else in it unchanged.

    The previous text is backed up. A file that cannot be parsed is not touched.
    """
    path = path.resolve()
    data = _read(path)
    servers = data.setdefault(client.key, {})
    if not isinstance(servers, dict):
        raise LoccitError(f"{path} has {client.key!r}, but not as an object. Fix that first.")
    entry = client.entry(command)
    if servers.get(server) == entry:
        return Written(path, changed=False)
    servers[server] = entry
    return _write_whole(path, _as_json(data))


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LoccitError(
            f"{path} is not plain JSON ({error}), so it is left as it is. Without --write the lines to add are shown."
        ) from error
    if not isinstance(data, dict):
        raise LoccitError(f"{path} is not a JSON object, so it is left as it is.")
    return data


def _back_up(path: Path) -> Path:
    """Copy a file to the first free backup name, so that no earlier backup is lost."""
    number = 0
    while True:
        backup = path.with_name(f"{path.name}.bak{number or ''}")
        if not backup.exists():
            shutil.copy2(path, backup)
            return backup
        number += 1


def _replace(path: Path, text: str) -> None:
    """Replace a file atomically, keeping its permissions."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        if path.exists():
            shutil.copymode(path, name)
        else:
            # The permissions of any new file, which a temporary one does not have.
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
