"""What each tool takes, and what models call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pinakes.config.settings import MODES, setting
from pinakes.errors import UsageError
from pinakes.tools.values import (
    LONGEST_TEXT,
    BadValue,
    as_choice,
    as_filters,
    as_integer,
    as_number,
    as_switch,
    as_text,
)

# Below this, not even the frame of an answer fits.
MIN_TOKEN_BUDGET = 100
MAX_TOKEN_BUDGET = 1_000_000


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool: its name, its JSON type, what it is for, and other names it goes by."""

    name: str
    type: str
    description: str
    aliases: str = ""
    required: bool = False
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a value."""
        schema: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.bounds:
            schema["minimum"], schema["maximum"] = self.bounds
        if self.choices:
            schema["enum"] = list(self.choices)
        return schema

    def read(self, value: object) -> object:
        """Return a value as what it was meant to be; None when nothing was given."""
        if value is None:
            return None
        if self.type == "integer":
            return as_integer(value, self.bounds)
        if self.type == "number":
            return as_number(value, self.bounds)
        if self.type == "boolean":
            return as_switch(value)
        if self.type == "object":
            return as_filters(value) or None
        text = as_choice(value, self.choices) if self.choices else as_text(value)
        if len(text) > LONGEST_TEXT:
            raise BadValue(f"must have at most {LONGEST_TEXT:,} characters, not {len(text):,}")
        return text or None


_DOCUMENT = Argument(
    "document",
    "string",
    "Only in this document: its file name, path or title.",
    aliases="doc file path filename file_name file_path filepath document_name document_path "
    "document_title doc_name doc_id document_id source source_path title in_document uri",
)
_BUDGET = Argument(
    "token_budget",
    "integer",
    "The most tokens that the answer may take.",
    aliases="budget max_tokens tokens token_limit max_token limit_tokens maximum_tokens",
    bounds=(MIN_TOKEN_BUDGET, MAX_TOKEN_BUDGET),
)
_FILTERS = Argument(
    "filters",
    "object",
    "Only documents with these properties: type, language, title, author, after, before, path, or any field of their "
    'metadata. Example: {"type": "pdf", "after": "2024"}.',
    aliases="filter where metadata metadata_filter metadata_filters",
)
_REFERENCE = Argument(
    "reference",
    "string",
    "The section as printed (Article 6(1)(f), 4.2, Annex II), its heading, or its section id.",
    aliases="ref section section_id section_ref section_reference section_name section_label "
    "section_number id name heading label number clause article target citation query q text",
    required=True,
)

TOOLS: dict[str, tuple[Argument, ...]] = {
    "search_documents": (
        Argument(
            "query",
            "string",
            "What to look for: a question, key words, a section number, or a phrase in double quotes.",
            aliases="q question text search search_query query_text query_string input prompt keywords search_term "
            "search_terms queries",
            required=True,
        ),
        Argument(
            "top_k",
            "integer",
            "How many results to return at most.",
            aliases="k limit n max_results num_results n_results number_of_results count max top top_n size "
            "results result_count page_size maximum_results",
            bounds=setting("top_k").bounds,
        ),
        Argument(
            "mode",
            "string",
            "How to search: hybrid (the default), semantic, keyword or exact.",
            aliases="search_mode search_type strategy method",
            choices=MODES,
        ),
        _DOCUMENT,
        _FILTERS,
        Argument(
            "min_score",
            "number",
            "Leave out results that score below this.",
            aliases="threshold score_threshold minimum_score min_similarity cutoff",
            bounds=setting("min_score").bounds,
        ),
        _BUDGET,
    ),
    "read_section": (_REFERENCE, _DOCUMENT, _BUDGET),
    "define_term": (
        Argument(
            "term",
            "string",
            "The term to look up; case and plural do not matter.",
            aliases="word phrase name definition concept expression terms query q text",
            required=True,
        ),
        _DOCUMENT,
        _BUDGET,
    ),
    "list_outline": (
        _DOCUMENT,
        Argument(
            "depth",
            "integer",
            "How many levels of headings to show.",
            aliases="level levels max_depth max_level max_levels",
            bounds=(1, 20),
        ),
        Argument(
            "clauses",
            "boolean",
            "Also show the numbered clauses below the headings.",
            aliases="include_clauses with_clauses numbering",
        ),
        _BUDGET,
    ),
    "follow_references": (_REFERENCE, _DOCUMENT, _BUDGET),
    "list_documents": (_FILTERS, _BUDGET),
    "index_status": (),
}
"""The arguments of each tool, by the tool's name."""

_TOOL_NAMES = {
    "search": "search_documents",
    "get_section": "read_section",
    "section": "read_section",
    "get_definition": "define_term",
    "define": "define_term",
    "outline": "list_outline",
    "get_outline": "list_outline",
    "references": "follow_references",
    "documents": "list_documents",
    "status": "index_status",
}


def arguments_of(tool: str) -> tuple[Argument, ...]:
    """Return what a tool takes; the tool may also go by the name of its method (``get_section``)."""
    name = _TOOL_NAMES.get(tool, tool)
    if name not in TOOLS:
        raise UsageError(f"There is no tool {tool!r}; there are {', '.join(TOOLS)}.")
    return TOOLS[name]


def parameters(tool: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, as function tools and MCP want it."""
    takes = arguments_of(tool)
    return {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in takes},
        "required": [argument.name for argument in takes if argument.required],
        "additionalProperties": False,
    }
