from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from loccit.cli.app import app

runner = CliRunner()


def test_a_folder_that_is_gone_can_be_forgotten(tmp_path: Path) -> None:
    index = ["--index", str(tmp_path / "index")]
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\n\nlamp")
    paths = [str(tmp_path / "old"), str(tmp_path / "new")]
    assert runner.invoke(app, ["index", *paths, *index, "--no-embed"]).exit_code == 0
    (tmp_path / "old" / "a.md").unlink()
    (tmp_path / "old").rmdir()
    kept = runner.invoke(app, ["index", *index, "--no-embed"])
    assert kept.exit_code in (0, 3) and "old" in kept.output + kept.stderr
    done = runner.invoke(app, ["forget", str(tmp_path / "old"), *index, "--json"])
    assert json.loads(done.stdout)["removed"] == [str(tmp_path / "old" / "a.md")]
    found = runner.invoke(app, ["search", "lamp", *index, "--mode", "keyword", "--json"])
    sources = [result["source_path"] for result in json.loads(found.stdout)["results"]]
    assert sources == [str(tmp_path / "new" / "a.md")]
    again = runner.invoke(app, ["forget", str(tmp_path / "old"), *index])
    assert again.exit_code == 4
