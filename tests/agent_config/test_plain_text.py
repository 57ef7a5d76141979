"""Text without quotes that YAML takes for a number or a date is text where text is wanted."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from loccit.agent import ModelConfig, check_agent, load_agent

from .conftest import Check, Write

TOOL = "tools:\n  - {name: t, description: d, source: docs"


@pytest.mark.parametrize("version", ("2024-10-21", "2024-10-21-preview", "'2024-10-21'", "2024-13-45", "4"))
def test_the_version_of_an_api_needs_no_quotes(write: Write, version: str) -> None:
    file = write(f"model: {{provider: azure_openai, name: gpt-5, api_version: {version}}}\n")
    model = load_agent(file).model
    assert model is not None and model.api_version == version.strip("'")
    assert model.options()["api_version"] == version.strip("'")


@pytest.mark.parametrize(
    "written", ("4", "4.10", "007", "1_000", "0x1F", "1e3", "2024-10-21", "2024-10-21 10:00:00")
)
def test_a_name_is_what_is_written(write: Write, written: str) -> None:
    agent = load_agent(
        write(
            f"name: {written}\ninstructions: {written}\nmodel: {{provider: ollama, name: {written}, api_key: {written}}}\n"
            f"databases: {{{written}: {{collection: {written}}}}}\n"
            f"{TOOL}, context_model: {written}, database: {written}}}\n"
        )
    )
    assert agent.model is not None
    (tool,) = agent.document_tools
    texts = [
        agent.name,
        agent.instructions,
        agent.model.name,
        agent.model.key,
        tool.context_model,
        tool.database,
    ]
    assert set(texts) == {written}
    assert agent.databases[written].collection == written


def test_a_folder_may_be_called_by_a_number(write: Write, tmp_path: Path) -> None:
    file = write("tools:\n  - {name: 0042, description: 7, source: 02024}\n")
    (fault,) = check_agent(file).faults
    assert fault.message == f"there is no file or folder '02024' (looked for {tmp_path / '02024'})"
    (tmp_path / "02024").mkdir()
    checked = check_agent(file)
    assert checked.config is not None
    (tool,) = checked.config.document_tools
    assert (tool.name, tool.description, tool.source_path()) == ("0042", "7", tmp_path / "02024")


def test_filters_keep_dates_and_numbers(write: Write) -> None:
    (tool,) = load_agent(write(f"{TOOL}, filters: {{after: 2024-01-01, year: 2024}}}}\n")).document_tools
    assert tool.filters == {"after": datetime.date(2024, 1, 1), "year": 2024}


def test_switches_and_blocks_are_still_no_text(check: Check) -> None:
    checked = check("name: yes\nmodel: {provider: openai, name: [4]}\n")
    assert [fault.message for fault in checked.faults] == [
        "must be text, not true: put it in quotes",
        "must be text, not a list",
    ]


def test_in_python_a_text_is_a_text() -> None:
    with pytest.raises(ValueError, match="valid string"):
        ModelConfig(provider="openai", name=4)  # type: ignore[arg-type]
