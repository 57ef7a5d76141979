"""Agent files to read, and a folder of documents for their tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from loccit.agent import Checked, check_agent

Write = Callable[[str], Path]
Check = Callable[[str], Checked]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys for every service, so that none is missed."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-test")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an agent file beside a folder ``docs`` with a document in it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "act.md").write_text(
        "---\nlanguage: en\n---\n\n# Act\n\n## Section 1\n\nThe master reports the arrival.\n",
        encoding="utf-8",
    )

    def write(text: str) -> Path:
        path = tmp_path / "agent.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def check(write: Write, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check a text as an agent file; messages name it ``agent.yaml``."""

    def check(text: str) -> Checked:
        monkeypatch.chdir(write(text).parent)
        return check_agent("agent.yaml")

    return check
