"""What a model can call of a document tool, in the words of its configuration."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinakes.errors import UsageError
from pinakes.tools.arguments import parameters
from pinakes.tools.normalize import normalize
from pinakes.tools.values import shown

if TYPE_CHECKING:
    from pinakes.config.agent import HierarchicalDocumentToolConfig

# The APIs take names up to this length.
_LONGEST_NAME = 64
_SUFFIXES = {"search_documents": "", "read_section": "_section", "define_term": "_definition"}


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """One function: its name, its description, and which tool of :mod:`pinakes.tools.arguments` it is."""

    name: str
    description: str
    kind: str
    parameters: dict[str, Any]

    def read(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments of a call under their right names; a UsageError says what is wrong with them."""
        try:
            return normalize(self.kind, arguments)
        except UsageError as error:
            raise UsageError(str(error).replace(f"{self.kind}:", f"{self.name}:", 1)) from None


def tool_functions(config: HierarchicalDocumentToolConfig) -> list[ToolFunction]:
    """Return the functions of a tool: ``NAME`` searches, ``NAME_section`` reads, ``NAME_definition`` looks up."""
    described = {
        "search_documents": f"{config.description.strip()}\n\nReturns passages with their citations, best first. Use "
        f"{config.name}_section to read a whole section that a result names.",
        "read_section": f"Read one section or clause in full from the documents of {config.name}, by its number or "
        "heading.",
        "define_term": f"Look up what a term means in the documents of {config.name}.",
    }
    if not config.extract_definitions:
        del described["define_term"]
    functions = []
    for kind, description in described.items():
        name = config.name + _SUFFIXES[kind]
        if len(name) > _LONGEST_NAME:
            raise UsageError(
                f"The tool name {config.name} is too long: with {_SUFFIXES[kind] or 'nothing'} it has {len(name)} "
                f"characters, and models take names of at most {_LONGEST_NAME}."
            )
        functions.append(ToolFunction(name, description, kind, _parameters(kind, config)))
    return functions


def _parameters(kind: str, config: HierarchicalDocumentToolConfig) -> dict[str, Any]:
    """The schema of the arguments, with the defaults of the configuration."""
    schema = parameters(kind)
    defaults = {"top_k": config.top_k, "mode": config.search_mode.value, "token_budget": config.token_budget}
    for name, value in defaults.items():
        if name in schema["properties"] and value is not None:
            schema["properties"][name]["default"] = value
    if "mode" in schema["properties"]:
        modes = [mode for mode in schema["properties"]["mode"]["enum"] if mode in config.search_modes]
        schema["properties"]["mode"]["enum"] = modes
        schema["properties"]["mode"]["description"] = f"How to search: {', '.join(modes)}."
    return schema


def find_function(functions: Sequence[ToolFunction], name: str) -> ToolFunction:
    """Return the function of a name; the general names (``search_documents``, ``get_section``) are known too."""
    general = {"search": "search_documents", "get_section": "read_section", "get_definition": "define_term"}
    kind = general.get(name, name)
    for function in functions:
        if name == function.name:
            return function
    for function in functions:
        if kind == function.kind:
            return function
    names = [function.name for function in functions]
    near = difflib.get_close_matches(str(name)[:_LONGEST_NAME], names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no function {shown(name)}; there are {', '.join(names)}.{hint}")
