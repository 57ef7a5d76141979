"""The database of a tool: what the file says takes effect, what is wrong with it is said, and nothing secret is."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loccit.agent import Checked, DatabaseProvider, agent_schema, check_agent, load_agent
from loccit.agent.database import collection_name
from loccit.cli.app import app
from loccit.index import registry
from loccit.index.providers.memory import MemoryStore
from loccit.index.settings import DatabaseSettings

from .conftest import Check, Write
from .test_faults import TOOL

VARIABLES = ("LOCCIT_CONNECTION_STRING", "LOCCIT_DATABASE", "LOCCIT_DATABASE_API_KEY")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def settings_of(path: Path, variables: dict[str, str] | None = None) -> list[DatabaseSettings | None]:
    agent = load_agent(path, variables=variables or {})
    return [tool.database_settings() for tool in agent.document_tools]


def said(checked: Checked) -> list[str]:
    return [str(fault) for fault in (*checked.faults, *checked.warnings)]


def test_every_field_takes_effect(write: Write) -> None:
    path = write(
        TOOL
        + """\
    database:
      provider: opensearch
      connection_string: https://${USER_NAME}:${PASSWORD}@search.example:9200
      api_key: ${KEY:-none}
      collection: laws
      native: hybrid
      timeout: 5
      options: {shards: 2}
"""
    )
    (settings,) = settings_of(path, {"USER_NAME": "ann", "PASSWORD": "hunter2"})
    assert settings == DatabaseSettings(
        provider="opensearch",
        connection_string="https://ann:hunter2@search.example:9200",
        api_key="none",
        collection="laws",
        native="hybrid",
        timeout=5.0,
        options={"shards": 2},
    )


def test_url_is_another_word_for_the_connection_string(write: Write) -> None:
    path = write(f"{TOOL}    database: {{provider: weaviate, url: 'https://w.example'}}\n")
    (settings,) = settings_of(path)
    assert settings is not None
    assert settings.connection_string == "https://w.example"


@pytest.mark.parametrize(
    "block", ["", "    database: {path: kept}\n", "    database: {provider: in-memory}\n"]
)
def test_a_library_in_its_folder_has_no_database(write: Write, block: str) -> None:
    assert settings_of(write(TOOL + block)) == [None]


def test_a_folder_is_meant_from_the_file(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write(f"{TOOL}    database: {{provider: chromadb, connection_string: vectors}}\n")
    monkeypatch.chdir("/")
    (settings,) = settings_of(path)
    assert settings is not None
    assert settings.connection_string == str(tmp_path / "vectors")


def test_tools_that_share_a_database_have_collections_of_their_own(write: Write) -> None:
    path = write(
        """
        databases:
          main: {provider: qdrant, url: "http://localhost:6333"}
        tools:
          - {name: laws, description: a, source: docs, database: main}
          - {name: Laws, description: b, source: docs, database: main}
          - {name: notes, description: c, source: docs, database: main}
        """
    )
    names = [settings.collection for settings in settings_of(path) if settings]
    assert names[0] == "laws" and names[2] == "notes"
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    "tool", ["a", "Laws", "_x_", "2024", "A__B", "x" * 80, "X" * 80, "laws_", "____", "a" * 48]
)
def test_the_name_of_every_tool_makes_a_collection(tool: str) -> None:
    name = collection_name(tool)
    assert DatabaseSettings(collection=name).collection == name
    others = {f"{tool}x", f"{tool}_", f"_{tool}", tool.swapcase()} - {tool}
    assert name not in {collection_name(other) for other in others}


@pytest.mark.parametrize(
    ("block", "field", "message"),
    [
        ("{provider: postgres}", "connection_string", "needs a connection_string"),
        ("{provider: postgres, connection_string: 'no: way'}", "connection_string", "postgresql://"),
        ("{provider: qdrant, url: 'localhost:6333'}", "url", "without http:// or https://"),
        ("{provider: pinecone}", "api_key", "api_key"),
        ("{provider: faiss, options: {speed: 1}}", "options", "Unknown option speed"),
        ("{provider: faiss, native: keyword}", "native", "faiss has no keyword search of its own"),
    ],
)
def test_what_a_provider_refuses_has_its_line_and_field(
    check: Check, block: str, field: str, message: str
) -> None:
    checked = check(f"{TOOL}    database: {block}\n")
    (fault,) = checked.faults
    assert fault.field == f"tools[0].database.{field}"
    assert fault.line == 5
    assert message in fault.message


def test_a_database_under_its_name_is_faulted_where_it_stands(check: Check) -> None:
    checked = check(
        """\
        databases:
          main:
            provider: qdrant
            url: localhost:6333
        tools:
          - {name: a, description: a, source: docs, database: main}
          - {name: b, description: b, source: docs, database: main}
        """
    )
    assert [(fault.line, fault.field) for fault in checked.faults] == [(4, "databases.main.url")]


def test_a_missing_package_is_named(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.PROVIDERS, "qdrant", ("no_such_client:Store", "qdrant"))
    (fault,) = check(f"{TOOL}    database: {{provider: qdrant, url: 'http://localhost:6333'}}\n").faults
    assert fault.field == "tools[0].database.provider"
    assert "pip install 'loccit[qdrant]'" in fault.message


class TheirStore(MemoryStore):
    """A store that another package brings."""

    provider = "theirs"


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("theirs", f"{__name__}:TheirStore", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: TheirStore)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])


@pytest.mark.usefixtures("theirs")
def test_providers_of_other_packages_are_known(check: Check, tmp_path: Path) -> None:
    checked = check(f"{TOOL}    database: {{provider: theirs, collection: laws}}\n")
    assert checked.ok, said(checked)
    assert checked.config is not None
    settings = checked.config.document_tool().database_settings()
    assert settings is not None and settings.provider == "theirs"
    assert "theirs" in agent_schema()["$defs"]["DatabaseConfig"]["properties"]["provider"]["enum"]
    (fault,) = check(f"{TOOL}    database: {{provider: thiers}}\n").faults
    assert "theirs" in fault.message


def test_every_provider_that_is_built_can_be_named() -> None:
    assert {item.value for item in DatabaseProvider} == set(registry.known_providers())


def test_tools_with_other_models_need_other_collections(check: Check) -> None:
    checked = check(
        """\
        databases:
          main: {provider: faiss, connection_string: vectors, collection: laws}
        tools:
          - {name: a, description: a, source: docs, database: main}
          - {name: b, description: b, source: docs, database: main, embedding_model: openai:text-embedding-3-small}
        """
    )
    (warning,) = checked.warnings
    assert (warning.line, warning.field) == (5, "tools[1].database")
    assert "a has the same collection with another embedding_model" in warning.message


SECRETS = """\
databases:
  one: {provider: postgres, connection_string: "postgresql://ann:hunter2@db.example/x"}
  two: {provider: qdrant, url: "https://ann:hunter2@db.example", api_key: hunter3}
  three: {provider: postgres, connection_string: "hunter2 hunter2"}
  four: {provider: sqlite, connection_string: "hunter2", url: "hunter3", api_key: [hunter2], options: hunter2}
tools:
  - {name: a, description: a, source: docs, database: one}
  - {name: b, description: b, source: docs, database: two}
  - {name: c, description: c, source: docs, database: three}
"""


def test_nothing_secret_is_shown(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LOCCIT_DATABASE_API_KEY", "hunter4")
    shown = []
    good = "".join(f"{line}\n" for line in SECRETS.splitlines() if "three" not in line and "four" not in line)
    good = good.replace("https://ann:hunter2@", "https://")
    for text in (SECRETS, SECRETS.replace("  four: ", "  # "), good):
        path = write(text)
        for args in (["config", "check", str(path)], ["config", "check", str(path), "--json", "--debug"]):
            result = CliRunner().invoke(app, args)
            shown.append(result.output)
        checked = check_agent(path)
        shown += [repr(checked), *said(checked), caplog.text]
        if checked.config is not None:
            shown += [repr(checked.config), checked.config.model_dump_json()]
            shown += [repr(tool.database_settings()) for tool in checked.config.document_tools]
    assert "hunter" not in "".join(shown)
    agent = json.loads(CliRunner().invoke(app, ["config", "check", str(path), "--json"]).stdout)["agent"]
    assert [tool["database"] for tool in agent["tools"]] == [
        f"postgres, collection {collection_name('a')}",
        f"qdrant, collection {collection_name('b')}",
    ]
