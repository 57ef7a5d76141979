"""Agent files written for HoloDeck: what Loccit has under another name, and what it leaves to HoloDeck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loccit.agent.faults import Place
from loccit.agent.yaml_source import YamlSourceError, read_file, read_yaml

# What HoloDeck does with an agent and Loccit does not, and what to do about it.
_HERE = "is HoloDeck's and has no effect here:"
_LIMITS = f"{_HERE} loccit chat has --max-tool-calls and --timeout"
_TESTS = f"{_HERE} holodeck test runs it; loccit eval measures the search"
_AGENT_FIELDS = {
    "author": "",  # says nothing that could be acted on
    "claude": _LIMITS,
    "openai": _LIMITS,
    "execution": _LIMITS,
    "response_format": f"{_HERE} loccit chat answers in words, with citations",
    "evaluations": _TESTS,
    "test_cases": _TESTS,
    "test_cases_file": _TESTS,
    "observability": f"{_HERE} see docs/observability.md for how to collect spans",
    "deployment": f"{_HERE} loccit serve and loccit mcp need none",
}
_TOOL_FIELDS = {
    "document_domain": "has no effect: the numbering below headings is found in every document; leave it out",
    "max_subsection_depth": "has no effect: the numbering below headings is found at every depth; leave it out",
}
_NO_KEY = "has no effect here, Loccit needs a key: set ANTHROPIC_API_KEY, or api_key"
_NOT_OF_EMBEDDING = "has no effect on an embedding model: leave it out"


@dataclass(slots=True)
class Translated:
    """What was done to the values of a file.

    ``notes`` is what cannot be honoured, and what to do instead. What stood at places that were ``left_out`` does not
    matter any more. ``moved`` leads from where values are now to where they are in the file.
    """

    notes: list[tuple[Place, str]] = field(default_factory=list)
    left_out: list[Place] = field(default_factory=list)
    moved: dict[Place, Place] = field(default_factory=dict)

    def leave_out(self, block: dict[str, Any], place: Place, note: str) -> None:
        """Take the last part of a place out of the block that has it; without a value nothing is lost."""
        if block.pop(str(place[-1])) is not None and note:
            self.notes.append((place, note))
        self.left_out.append(place)

    def origin(self, place: Place) -> Place:
        """Return where the file has what is at a place now."""
        for now, before in self.moved.items():
            if place[: len(now)] == now:
                return (*before, *place[len(now) :])
        return place


def translate(data: dict[str, Any]) -> Translated:
    """Put what HoloDeck writes into the words of Loccit, in place; a file without it stays as it is."""
    done = Translated()
    for name in [name for name in _AGENT_FIELDS if name in data]:
        done.leave_out(data, (name,), _AGENT_FIELDS[name])
    _embedding(data, done)
    tools = data.get("tools")
    document_tools: list[tuple[Place, dict[str, Any]]] = [
        (("tools", number), tool)
        for number, tool in enumerate(tools if isinstance(tools, list) else ())
        if isinstance(tool, dict) and tool.get("type", "hierarchical_document") == "hierarchical_document"
    ]
    for place, tool in document_tools:
        for name in [name for name in _TOOL_FIELDS if name in tool]:
            done.leave_out(tool, (*place, name), "" if tool[name] == "none" else _TOOL_FIELDS[name])
        _keyword_index(tool, (*place, "keyword_index"), done)
    for place, model in _models(data, document_tools):
        if "top_p" in model:
            done.leave_out(model, (*place, "top_p"), "has no effect here: set temperature, or leave it out")
        if "auth_provider" in model:
            done.leave_out(
                model, (*place, "auth_provider"), "" if model["auth_provider"] == "api_key" else _NO_KEY
            )
    if done.left_out or done.moved:
        for _, tool in document_tools:
            # There, contexts are written by a model unless this is off: say so, that it is missed here.
            tool.setdefault("contextual_embeddings", True)
    return done


def _embedding(data: dict[str, Any], done: Translated) -> None:
    """``embedding_provider`` is a language model's block; here it is ``embedding``, without what is not for vectors."""
    place: Place = ("embedding_provider",)
    block = data.get("embedding_provider")
    if "embedding_provider" not in data:
        return
    if "embedding" in data:
        done.leave_out(data, place, "has no effect beside embedding: leave one of them out")
        return
    if isinstance(block, dict):
        for name in [
            name for name in ("temperature", "max_tokens", "top_p", "auth_provider") if name in block
        ]:
            done.leave_out(block, (*place, name), _NOT_OF_EMBEDDING)
    data["embedding"] = data.pop("embedding_provider")
    done.moved[("embedding",)] = place


def _keyword_index(tool: dict[str, Any], place: Place, done: Translated) -> None:
    """There the field says which engine keeps the keyword index; here it is a switch, and the index has its own."""
    block = tool.get("keyword_index")
    if isinstance(block, dict):
        note = ""
        if block.get("provider", "in-memory") != "in-memory":
            note = (
                f"is not used for keyword search: the index does that itself. Write keyword_index: true; to keep the "
                f"library in {block['provider']}, name it under database"
            )
        done.leave_out(tool, place, note)


def _models(
    data: dict[str, Any], document_tools: list[tuple[Place, dict[str, Any]]]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    blocks: list[tuple[Place, Any]] = [(("model",), data.get("model"))]
    blocks += [((*place, name), tool.get(name)) for place, tool in document_tools for name in _MODEL_FIELDS]
    for place, block in blocks:
        if isinstance(block, dict):
            yield place, block


_MODEL_FIELDS = ("context_model", "reranker_model")


# Read where a file names no key.
_KEY_VARIABLES = {
    "openai": "${OPENAI_API_KEY}",
    "azure_openai": "${AZURE_OPENAI_API_KEY}",
    "anthropic": "${ANTHROPIC_API_KEY}",
}


def missed_from_project(folder: Path, model: object) -> list[str]:
    """Return what HoloDeck would take for a model from ``config.yaml`` beside its file, and Loccit does not."""
    if not isinstance(model, dict):
        return []
    try:
        source = read_yaml(read_file(folder / "config.yaml"), {})
    except YamlSourceError:
        return []
    providers = source.data.get("providers") if isinstance(source.data, dict) else None
    provider = model.get("provider")
    block = providers.get(provider) if isinstance(providers, dict) else None
    if not isinstance(block, dict):
        return []
    missed = [name for name in ("endpoint", "api_key", "api_version") if name in block and name not in model]
    written = source.written.get(("providers", str(provider), "api_key"))
    if "api_key" in missed and written == _KEY_VARIABLES.get(str(provider)):
        missed.remove("api_key")
    return missed
