"""The JSON Schema says what the loader says, and the reference page names every field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from loccit.agent import (
    AgentConfig,
    DatabaseConfig,
    EmbeddingConfig,
    HierarchicalDocumentToolConfig,
    Instructions,
    ModelConfig,
    RankingConfig,
    RerankerConfig,
    agent_schema,
    check_agent,
)

from .conftest import Write
from .test_examples import EVERY_FIELD, FRAGMENT, WHOLE_AGENT
from .test_faults import TOOL, TOOL_FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/agent-yaml.md").read_text(encoding="utf-8")
# The sections of the page and the models they describe.
SECTIONS: dict[str, type[BaseModel]] = {
    "The agent": AgentConfig,
    "Document tools": HierarchicalDocumentToolConfig,
    "Ranking": RankingConfig,
    "Models": ModelConfig,
    "Embedding": EmbeddingConfig,
    "Rerankers": RerankerConfig,
    "Databases": DatabaseConfig,
    "Instructions": Instructions,
}


def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(agent_schema())
    return jsonschema.Draft202012Validator(agent_schema())


def properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            yield f"{part['title']}.{name}", field


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path) -> None:
    validator().validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("text", [EVERY_FIELD, WHOLE_AGENT])
def test_what_loads_is_valid(write: Write, text: str) -> None:
    validator().validate(yaml.safe_load(write(text).read_text(encoding="utf-8")))


def test_a_description_that_is_missing_is_marked_by_the_editor_and_warned_of_by_the_loader(
    write: Write,
) -> None:
    path = write(FRAGMENT)
    assert check_agent(path).warnings
    assert not validator().is_valid(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_most_of_what_is_refused_is_marked_by_the_editor(write: Write) -> None:
    """A schema cannot tell what only several fields together, or the machine, make wrong."""
    checker = validator()
    passing = [line for line, _ in TOOL_FAULTS if checker.is_valid(_loaded(write(f"{TOOL}    {line}\n")))]
    beyond = re.compile(
        r"embedding: \{(provider|endpoint)|reranker: \{(provider|name)|enable_reranking: true|database: main"
        r"|context_model: (agent|\{provider: open)|filters: \{|ranking: \{boosts|index: ' '|min_score: .nan"
        r"|database: \{provider: qdrant, (url|collection)"
        r"|\{(chunk_overlap|rrf_k_constant)"
    )
    assert [line for line in passing if not beyond.match(line)] == []


def _loaded(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError:
        return {"not": "valid"}


def test_every_field_has_a_title_and_a_description() -> None:
    schema = agent_schema()
    assert schema["$schema"].startswith("https://json-schema.org/")
    for name, field in properties(schema):
        assert field.get("description"), name
        assert field.get("title") or "$ref" in field or "anyOf" in field or "const" in field, name


def test_an_editor_learns_choices_ranges_and_defaults() -> None:
    fields = dict(properties(agent_schema()))
    top_k = fields["HierarchicalDocumentToolConfig.top_k"]
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 100, 10)
    (score, _) = fields["HierarchicalDocumentToolConfig.min_score"]["anyOf"]
    assert (score["minimum"], score["maximum"]) == (0.0, 1.0)
    assert agent_schema()["$defs"]["SearchMode"]["enum"] == ["hybrid", "semantic", "keyword", "exact"]
    assert fields["HierarchicalDocumentToolConfig.search_mode"]["default"] == "hybrid"
    assert not any("<" in str(name) for name in fields)


def test_unknown_fields_are_refused_by_the_schema_too() -> None:
    for name, part in agent_schema()["$defs"].items():
        if "properties" in part and name != "OtherToolConfig":
            assert part["additionalProperties"] is False, name


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/agent-yaml.md has no section {title}"
    return found[1]


def rows(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", text, re.MULTILINE))


@pytest.mark.parametrize("title", SECTIONS)
def test_the_reference_has_every_field_with_its_default(title: str) -> None:
    model = SECTIONS[title]
    listed = rows(section(title))
    assert set(listed) == set(model.model_fields)
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if field.is_required():
            expected = "required"
        elif default is None or default in ({}, []):
            expected = "none"
        else:
            plain = getattr(default, "value", default)
            expected = f"`{str(plain).lower() if isinstance(plain, bool) else plain}`"
        assert listed[name] == expected, f"{title}: {name}"


@pytest.mark.parametrize("title", SECTIONS)
def test_the_reference_has_the_ranges(title: str) -> None:
    text = section(title)
    for name, field in SECTIONS[title].model_json_schema()["properties"].items():
        numbers = [
            part for part in (field, *field.get("anyOf", ())) if "minimum" in part and "maximum" in part
        ]
        for part in numbers:
            row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
            low, high = (
                f"{part[key]:,g}" if part[key] < 1e6 else f"{part[key]:,}" for key in ("minimum", "maximum")
            )
            assert f"{low} to {high}" in row, f"{title}: {name}"


def test_the_reference_names_every_choice() -> None:
    for name, part in agent_schema()["$defs"].items():
        for value in part.get("enum", ()):
            assert f"`{value}`" in PAGE, f"{name}: {value}"
