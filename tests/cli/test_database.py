"""The library in a database: indexed, connected to, moved and shown from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.forked import loccit, run_forked
from tests.index.providers.postgres_server import PASSWORD, PostgresServer

from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings

from .conftest import write_documents

VARIABLES = ("LOCCIT_DATABASE", "LOCCIT_CONNECTION_STRING", "LOCCIT_DATABASE_API_KEY")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="loccit-cli-"))
    with PostgresServer(folder) as started:
        yield started
    shutil.rmtree(folder)


@pytest.fixture
def place(tmp_path: Path, library_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents and an index of its own."""
    shutil.copytree(library_folder, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents that nobody has indexed."""
    write_documents(tmp_path / "new" / "docs")
    monkeypatch.chdir(tmp_path / "new")
    return tmp_path / "new"


# -- index -----------------------------------------------------------------------------------------------------


def test_the_database_is_named_once(run: Any, empty: Path) -> None:
    done = run("index", "docs", "--database", "faiss", "--collection", "laws", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert "note" not in done.stderr
    assert (empty / ".loccit/faiss").is_dir()
    assert run("index", "--quiet").stdout.startswith("3 unchanged")
    assert "act.md" in run("search", "report a collision", "--mode", "semantic").stdout
    assert json.loads(run("status", "--json").stdout)["database"] == "faiss, collection laws"
    assert "database   faiss, collection laws\n" in run("status").stdout
    assert "ok    database" in run("doctor").stdout
    assert run("forget", "docs/note.md").exit_code == 0
    with load_store(DatabaseSettings("faiss", str(empty / ".loccit/faiss"), "laws")) as store:
        assert {
            point.source_path for batch in store.points() for point in store.fetch([p.id for p in batch])
        } == {str(empty / "docs" / name) for name in ("act.md", "evil.md")}


def test_an_index_of_its_own_names_no_database(run: Any, here: Path) -> None:
    assert "database" not in run("status").stdout
    assert json.loads(run("status", "--json").stdout)["database"] == ""


def test_the_environment_may_name_the_database_of_a_new_index(
    run: Any, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCCIT_DATABASE", "faiss")
    monkeypatch.setenv("LOCCIT_CONNECTION_STRING", str(empty / "kept"))
    assert run("index", "docs", "--quiet").exit_code == 0
    assert (empty / "kept").is_dir()
    monkeypatch.setenv("LOCCIT_DATABASE", "postgres")
    assert run("index", "--quiet").exit_code == 0, "the index has its own already"


def test_another_variable_may_hold_the_address(
    run: Any, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_FILES", str(empty / "kept"))
    args = ("index", "docs", "--quiet", "--database", "faiss", "--connection-env")
    assert run(*args, "SEARCH_FILES").exit_code == 0
    assert (empty / "kept").is_dir()
    assert "act.md" in run("search", "report a collision", "--mode", "semantic").stdout


def test_options_of_the_provider_are_passed_on_and_kept(run: Any, empty: Path) -> None:
    args = ("--database-option", "ef_search=64", "--database-option", "exact_below=10")
    assert run("index", "docs", "--quiet", "--database", "faiss", *args).exit_code == 0
    home = json.loads((empty / ".loccit/database.json").read_text(encoding="utf-8"))
    assert home["options"] == {"ef_search": 64, "exact_below": 10}
    assert run("index", "--quiet", "--database", "faiss").exit_code == 0
    assert json.loads((empty / ".loccit/database.json").read_text(encoding="utf-8")) == home


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--database", "in-memory"), "--database in-memory is for programs: nothing would be left"),
        (
            ("--database", "postgress"),
            "no database provider 'postgress' (did you mean postgres?); available:",
        ),
        (("--database", "postgres"), "LOCCIT_CONNECTION_STRING"),
        (("--database", "postgres", "--connection", "nonsense"), "connection_string"),
        (
            ("--database", "faiss", "--collection", "My Laws"),
            "'My Laws' is not a valid name for a collection",
        ),
        (
            ("--database", "faiss", "--native", "all"),
            "native must be one of none, keyword, hybrid, not 'all'",
        ),
        (("--database", "faiss", "--native", "keyword"), "faiss has no keyword search of its own"),
        (
            ("--database", "faiss", "--connection-env", "NOT_SET"),
            "variable NOT_SET (--connection-env) is not set",
        ),
        (("--database", "faiss", "--connection", "a", "--connection-env", "HOME"), "give only one"),
        (("--database", "faiss", "--database-option", "speed"), "takes NAME=VALUE"),
        (("--database", "faiss", "--database-option", "speed=1"), "Unknown option speed"),
        (("--database", "embedded", "--collection", "laws"), "embedded is the index folder itself"),
        (("--collection", "laws"), "--collection needs --database"),
        (("--connection", "x"), "--connection needs --database"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_leaves_nothing(
    run: Any, empty: Path, args: tuple[str, ...], message: str
) -> None:
    done = run("index", "docs", *args)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (empty / ".loccit").exists()


def test_a_missing_package_is_named(run: Any, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("loccit.index.providers.faiss")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "faiss", None)
    done = run("index", "docs", "--database", "faiss")
    assert done.exit_code == 1
    assert "The database provider faiss needs an optional package" in done.stderr
    assert "pip install 'loccit[faiss]'" in done.stderr


def test_without_paths_the_other_command_is_mentioned(run: Any, empty: Path) -> None:
    done = run("index", "--database", "faiss")
    assert done.exit_code == 2
    assert "loccit connect faiss" in done.stderr


def test_an_index_with_documents_is_not_taken_elsewhere(run: Any, place: Path) -> None:
    done = run("index", "--database", "faiss")
    assert done.exit_code == 2
    assert "belongs to no database, not to the database faiss" in done.stderr
    assert "loccit migrate" in done.stderr


# -- a real server, with a password ----------------------------------------------------------------------------


def command(*args: str, folder: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return run_forked(loccit, *args, folder=folder, env={**os.environ, **(env or {})})


def test_two_machines_share_a_library_and_no_password_is_kept(
    empty: Path, server: PostgresServer, tmp_path: Path
) -> None:
    secrets = (PASSWORD, quote(PASSWORD, safe=""), server.url)
    connection = ("--connection", server.url)
    index = ("index", "docs", "--quiet", "--database", "postgres", "--collection", "shared")
    outputs = [command(*index, *connection, "--debug", folder=empty)]
    assert outputs[0].returncode == 0, outputs[0].stderr
    assert (
        "note: the connection string may contain a password, so the index does not store it"
        in outputs[0].stderr
    )
    assert "LOCCIT_CONNECTION_STRING" in outputs[0].stderr
    # Without it, nothing can be asked; with it in the environment, everything.
    outputs.append(command("search", "report a collision", folder=empty))
    assert outputs[-1].returncode == 2
    assert "LOCCIT_CONNECTION_STRING" in outputs[-1].stderr
    secret = {"LOCCIT_CONNECTION_STRING": server.url}
    outputs.append(command("status", "--debug", folder=empty, env=secret))
    assert "postgres, collection shared" in outputs[-1].stdout
    other = tmp_path / "other"
    other.mkdir()
    outputs.append(command("connect", "postgres", "--collection", "shared", folder=other, env=secret))
    assert outputs[-1].stdout.startswith("Connected to postgres, collection shared · 3 documents · "), (
        outputs[-1].stderr
    )
    outputs.append(command("search", "report a collision", "--mode", "semantic", folder=other, env=secret))
    assert "Section 21. Duty to report occurrences" in outputs[-1].stdout
    outputs.append(
        command(
            "search",
            "report",
            folder=other,
            env={"LOCCIT_CONNECTION_STRING": server.url_for(password="hunter2")},
        )
    )
    assert outputs[-1].returncode == 0
    assert "postgres" in outputs[-1].stdout and "Section 21" in outputs[-1].stdout
    outputs.append(command("migrate", "--to", "embedded", "--json", "--debug", folder=other, env=secret))
    assert json.loads(outputs[-1].stdout)["source"] == "postgres, collection shared"
    assert "act.md" in command("search", "report a collision", folder=other).stdout
    for output in outputs:
        assert not any(word in output.stdout + output.stderr for word in (*secrets, "hunter2"))
    for path in [*empty.rglob("*"), *other.rglob("*")]:
        content = path.read_bytes() if path.is_file() else b""
        assert not any(word.encode() in content for word in secrets), path


# -- connect ---------------------------------------------------------------------------------------------------


def test_a_new_machine_connects_and_searches(
    run: Any, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--connection", str(tmp_path / "kept"))
    assert run("index", "docs", "-q", "--database", "faiss", *where).exit_code == 0
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    done = run("connect", "faiss", "--connection", "../kept", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 3
    assert "act.md" in run("search", "report a collision", "--mode", "semantic").stdout
    (empty / "docs/new.md").write_text("# New\n\nOysters are landed at the old quay.\n", encoding="utf-8")
    assert run("index", "-q", "--index", str(empty / ".loccit")).exit_code == 0
    assert run("connect", "faiss").stdout.startswith("Connected to faiss, collection loccit · 4 documents · ")
    assert "new.md" in run("search", "oysters").stdout


def test_connecting_to_what_is_not_there(run: Any, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("connect", "faiss", "--collection", "laws")
    assert done.exit_code == 4
    assert "There is no library in the database (faiss, collection laws)" in done.stderr
    assert run("connect", "--database", "faiss", "--collection", "laws").exit_code == 4
    for args in ((), ("in-memory",), ("embedded",), ("qdrnt",), ("faiss", "--database", "qdrant")):
        assert run("connect", *args).exit_code == 2
    assert not (empty / ".loccit").exists()
    monkeypatch.setenv("LOCCIT_DATABASE", "faiss")
    assert "loccit connect" in run("search", "anything").stderr
    assert run("connect").exit_code == 4


# -- migrate ---------------------------------------------------------------------------------------------------


def test_a_library_is_moved(run: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run("search", "report a collision", "--format", "paths").stdout
    done = run("migrate", "--to", "faiss", "--collection", "laws")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("Moved from embedded to faiss, collection laws · 3 documents, ")
    assert "The old copy is still there." in done.stdout
    assert run("search", "report a collision", "--format", "paths").stdout == before
    monkeypatch.setenv("ELSEWHERE", str(place / "kept"))
    done = run("migrate", "--to", "faiss", "--connection-env", "ELSEWHERE", "--drop-old", "--json")
    report = json.loads(done.stdout)
    assert (report["source"], report["target"]) == ("faiss, collection laws", "faiss, collection loccit")
    assert report["dropped"] and report["documents"] == 3 and report["warnings"] == []
    assert run("search", "report a collision", "--format", "paths").stdout == before
    assert run("migrate", "--to", "embedded", "--drop-old", "-q").stdout.count("deleted") == 1
    assert run("search", "report a collision", "--format", "paths").stdout == before
    assert run("doctor").exit_code == 0


def test_a_move_onto_another_library_is_refused(run: Any, place: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/only.md").write_text("# Only\n\nText.\n", encoding="utf-8")
    there = ("--connection", str(tmp_path / "kept"))
    index = ("index", str(tmp_path / "one"), "--index", str(tmp_path / "other"), "-q", "--database", "faiss")
    assert run(*index, *there).exit_code == 0
    done = run("migrate", "--to", "faiss", *there)
    assert done.exit_code == 2
    assert "--replace" in done.stderr
    assert json.loads(run("status", "--json").stdout)["database"] == ""
    assert run("migrate", "--to", "faiss", *there, "--replace").exit_code == 0
    assert "act.md" in run("search", "report a collision", "--mode", "semantic").stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "--to"),
        (("--to", "embedded"), "in its folder already"),
        (("--to", "in-memory"), "nothing would be left"),
        (("--to", "nowhere"), "There is no database provider 'nowhere'"),
        (("--to", "faiss", "--api-key-env", "NOT_SET"), "variable NOT_SET (--api-key-env) is not set"),
        (("--to", "postgres"), "connection_string"),
    ],
)
def test_a_move_that_cannot_be_meant(run: Any, here: Path, args: tuple[str, ...], message: str) -> None:
    done = run("migrate", *args)
    assert done.exit_code == 2
    assert message in done.stderr


def test_the_key_of_the_new_database_comes_from_its_own_variable(
    run: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reaches the provider, which refuses to send it in the clear, and does not show it."""
    monkeypatch.setenv("NEW_KEY", "hunter2")
    done = run("migrate", "--to", "qdrant", "--connection", "http://db.example", "--api-key-env", "NEW_KEY")
    assert done.exit_code == 2
    assert "api_key or password unencrypted to another machine" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
