"""What is wrong with an agent file, and where, in words that say how to put it right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pydantic import BaseModel

from loccit.agent.agent import AgentConfig, Instructions
from loccit.agent.database import DatabaseConfig
from loccit.agent.document_tool import ELSEWHERE, HierarchicalDocumentToolConfig, RankingConfig
from loccit.agent.services import EmbeddingConfig, ModelConfig, RerankerConfig
from loccit.errors import UsageError

Place: TypeAlias = tuple[str | int, ...]
"""The way to a value in the file: ``("tools", 0, "top_k")``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, or, as a warning, that is likely not meant."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        return where + (f"{self.field}: " if self.field else "") + self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as JSON values."""
        return asdict(self)


class ConfigError(UsageError):
    """An agent file cannot be used; one line for each fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults: list[Fault] = list(faults)


def field_name(place: Place) -> str:
    """Write a place as people do: ``tools[0].top_k``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


_BLOCKS: dict[str, type[BaseModel]] = {
    "model": ModelConfig,
    "context_model": ModelConfig,
    "reranker_model": ModelConfig,
    "embedding": EmbeddingConfig,
    "reranker": RerankerConfig,
    "ranking": RankingConfig,
    "database": DatabaseConfig,
    "instructions": Instructions,
}
_SECRETS = re.compile(r"key|secret|password|token$|connection_string|^url$|^options$", re.IGNORECASE)
_LONGEST_VALUE = 40
_NUMBERS = ("int_type", "int_parsing", "int_from_float", "float_type", "float_parsing", "number_type")
_BOUNDS = ("greater_than_equal", "less_than_equal", "finite_number", "int_parsing_size")


def explain(error: Mapping[str, Any], place: Place, written: str | None) -> str:
    """Return the sentence for one error at a place; ``written`` is what the file has for an expanded value."""
    kind, value, context = str(error["type"]), error.get("input"), error.get("ctx") or {}
    shown = _shown(place, value, written)
    if kind == "missing":
        return f"is required: {_description(place)}"
    if kind == "extra_forbidden":
        return _unknown_field(place)
    if value is None:
        return f"has no value: {_nothing(place)}"
    if kind in ("enum", "literal_error"):
        choices = context.get("known") or _choices(place)
        return f"must be one of {', '.join(choices)}{shown}{_near(value, choices)}"
    if kind in _NUMBERS or kind in _BOUNDS:
        return f"{_wanted(place)}{shown}"
    if kind in ("bool_type", "bool_parsing"):
        return f"must be true or false{shown}"
    if kind == "string_type":
        quotes = ": put it in quotes" if isinstance(value, bool) else ""
        return f"must be text{_instead(place, value, written)}{quotes}"
    if kind == "string_pattern_mismatch":
        plain = re.sub(r"\W+", "_", str(value), flags=re.ASCII).strip("_")
        hint = f"; {plain!r} would do" if plain else ""
        return f"must be letters, digits and underscores only{shown}{hint}"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"must be a block of fields, one per line, indented below{_instead(place, value, written)}"
    if kind == "list_type":
        return "must be a list, with each item on its own line after '- '"
    known = context.get("known")
    message = str(error["msg"])
    if known is not None:
        asked = value.get("type") if isinstance(value, Mapping) else context.get("name", value)
        return f"{message}{_near(str(asked).strip(chr(39)), known)}; available: {', '.join(known) or 'none'}"
    return message


def model_at(place: Place) -> type[BaseModel] | None:
    """Return the model that describes the block at a place."""
    if not place:
        return AgentConfig
    if place[0] == "databases":
        return DatabaseConfig if len(place) == 2 else None
    if place[0] == "tools" and len(place) == 2:
        return HierarchicalDocumentToolConfig
    return _BLOCKS.get(str(place[-1])) if len(place) in (1, 3) else None


def _field(place: Place) -> Any:
    model = model_at(place[:-1])
    return model.model_fields.get(str(place[-1])) if model else None


def _description(place: Place) -> str:
    field = _field(place)
    return (field.description or "").rstrip(".") if field else "give it a value"


def _nothing(place: Place) -> str:
    """Say what to do about a field that has no value."""
    field = _field(place)
    if field is not None and field.is_required():
        return _description(place)
    return f"{_wanted(place) or 'give it one'}, or leave it out"


def _schema(place: Place) -> Mapping[str, Any]:
    """What the JSON Schema says of a field, its definitions followed."""
    model = model_at(place[:-1])
    if model is None:
        return {}
    whole = _schema_of(model)
    found = whole.get("properties", {}).get(str(place[-1]), {})
    merged = dict(found)
    for part in (*found.get("anyOf", ()), *found.get("oneOf", ()), found):
        if "$ref" in part:
            merged |= whole["$defs"][part["$ref"].rpartition("/")[2]]
        elif part.get("type") != "null":
            merged |= part
    return merged


@lru_cache(maxsize=32)
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _choices(place: Place) -> list[str]:
    schema = _schema(place)
    return [str(item) for item in schema.get("enum", [schema["const"]] if "const" in schema else [])]


def _wanted(place: Place) -> str:
    """Say in words what a field takes."""
    schema = _schema(place)
    if choices := _choices(place):
        return f"must be one of {', '.join(choices)}"
    kind = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "a block of fields",
    }.get(schema.get("type", ""), "")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        kind += f" between {low:g} and {high:g}" if high < 10_000 else f" between {low:,} and {high:,}"
    elif low is not None:
        kind += f" of at least {low:g}"
    return f"must be {kind}" if kind else ""


def _shown(place: Place, value: Any, written: str | None) -> str:
    """Say what is there instead, unless it is or may be a secret."""
    if written is not None:
        return f", not the value of {written}"
    if any(_SECRETS.search(str(part)) for part in place) or isinstance(value, (dict, list)):
        return ""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f", not {text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + '…'}"


def _instead(place: Place, value: Any, written: str | None) -> str:
    """Say of what kind the value is, where the kind is what is wrong."""
    names = {"dict": "a block of fields", "list": "a list", "str": "a text"}
    name = names.get(type(value).__name__)
    return f", not {name}" if name else _shown(place, value, written)


def _near(value: Any, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(value).lower().replace("-", "_"), list(known), 1, 0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _unknown_field(place: Place) -> str:
    name, model = str(place[-1]), model_at(place[:-1])
    known = list(model.model_fields) if model else []
    if model is RankingConfig and name in ELSEWHERE:
        return f"belongs to the tool itself, as {ELSEWHERE[name]}"
    if model is HierarchicalDocumentToolConfig and name in RankingConfig.model_fields:
        return "belongs under ranking"
    if model is HierarchicalDocumentToolConfig and name in ELSEWHERE:
        return f"is called {ELSEWHERE[name]} here"
    near = _near(name, known)
    if near:
        return f"unknown field{near}"
    return f"unknown field; available: {', '.join(sorted(known))}"
