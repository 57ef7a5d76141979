"""The whole of an agent file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PrivateAttr, Tag, model_validator
from pydantic_core import PydanticCustomError

from loccit.agent.base import BLOCK, NAME, BlockOrName, Part, Surroundings, Text
from loccit.agent.database import DatabaseConfig
from loccit.agent.document_tool import HierarchicalDocumentToolConfig
from loccit.agent.services import EmbeddingConfig, ModelConfig

DOCUMENT_TOOL = "hierarchical_document"
OTHER_TOOLS = ("vectorstore", "function", "mcp", "prompt")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENT, _OTHER = "<document>", "<other>"


class OtherToolConfig(BaseModel):
    """A tool of another kind: kept as it is written, for those who run it; Loccit does not."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    name: str = Field(
        pattern=r"^[0-9A-Za-z_]+$", description="Name of the tool: letters, digits and underscores."
    )
    type: Literal["vectorstore", "function", "mcp", "prompt"] = Field(description="Kind of the tool.")
    description: str | None = Field(default=None, description="What the tool is for.")

    def lint(self) -> list[tuple[str, str]]:
        """Loccit does not run the tool; documents it could search, if it were told to."""
        if self.type != "vectorstore":
            return []
        same = "the same name, description and source"
        return [("type", f"is not run by Loccit: {DOCUMENT_TOOL} with {same} searches these documents")]


class Instructions(Part):
    """What the model is told before the conversation: the text itself, or the file that has it."""

    inline: Text | None = Field(default=None, description="The text.")
    file: Text | None = Field(default=None, description="A file with the text, relative to this file.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Instructions:
        if (self.inline is None) == (self.file is None):
            raise PydanticCustomError("instructions", "give either inline or file")
        return self


def _kind(tool: Any) -> str | None:
    if isinstance(tool, BaseModel):
        return _DOCUMENT if isinstance(tool, HierarchicalDocumentToolConfig) else _OTHER
    kind = tool.get("type", DOCUMENT_TOOL) if isinstance(tool, dict) else DOCUMENT_TOOL
    if kind == DOCUMENT_TOOL:
        return _DOCUMENT
    return _OTHER if kind in OTHER_TOOLS else None


ToolConfig = Annotated[
    Annotated[HierarchicalDocumentToolConfig, Tag(_DOCUMENT)] | Annotated[OtherToolConfig, Tag(_OTHER)],
    Discriminator(
        _kind,
        custom_error_type="tool_type",
        custom_error_message="unknown type of tool",
        custom_error_context={"known": [DOCUMENT_TOOL, *OTHER_TOOLS]},
    ),
]


class AgentConfig(Part):
    """An agent: its model, what it is told, and the tools it holds."""

    name: Text = Field(default="agent", description="Name of the agent.")
    description: str | None = Field(default=None, description="What the agent is for.")
    model: ModelConfig | None = Field(default=None, description="The agent's language model.")
    instructions: (
        Annotated[Annotated[Instructions, Tag(BLOCK)] | Annotated[Text, Tag(NAME)], BlockOrName] | None
    ) = Field(default=None, description="Instructions for the model: a text, or inline or file.")
    databases: dict[str, DatabaseConfig] = Field(
        default_factory=dict, description="Databases by name, for the tools to refer to."
    )
    embedding: EmbeddingConfig | None = Field(
        default=None, description="The embedding model of all tools that have none of their own."
    )
    tools: list[ToolConfig] = Field(default_factory=list, description="The tools of the agent.")

    _base_dir: Path = PrivateAttr(default_factory=Path.cwd)

    @model_validator(mode="after")
    def _names_are_known_and_unique(self) -> AgentConfig:
        seen: set[str] = set()
        for place, tool in enumerate(self.tools):
            if tool.name in seen:
                raise PydanticCustomError(
                    "same_name",
                    "two tools are called {name}: names must be unique",
                    {"name": tool.name, "place": ("tools", place, "name")},
                )
            seen.add(tool.name)
        for place, tool in enumerate(self.tools):
            if not isinstance(tool, HierarchicalDocumentToolConfig):
                continue
            if isinstance(tool.database, str) and tool.database not in self.databases:
                raise PydanticCustomError(
                    "no_database",
                    "no database is called {name}",
                    {
                        "name": repr(tool.database),
                        "known": sorted(self.databases),
                        "place": ("tools", place, "database"),
                    },
                )
            if tool.context_model == "agent" and self.model is None:
                raise PydanticCustomError(
                    "no_model",
                    "the agent has no model: set model, or name a model here",
                    {"place": ("tools", place, "context_model")},
                )
        self._surround()
        return self

    @property
    def base_dir(self) -> Path:
        """The folder of the file; relative paths are meant from it."""
        return self._base_dir

    def moved_to(self, base_dir: str | Path) -> AgentConfig:
        """Set the folder that relative paths are meant from, and return the agent."""
        self._base_dir = Path(base_dir).absolute()
        self._surround()
        return self

    def _surround(self) -> None:
        around = Surroundings(self._base_dir, self.model, self.embedding, self.databases)
        for tool in self.document_tools:
            tool._around = around

    @property
    def document_tools(self) -> list[HierarchicalDocumentToolConfig]:
        """The tools that search documents."""
        return [tool for tool in self.tools if isinstance(tool, HierarchicalDocumentToolConfig)]

    def document_tool(self, name: str | None = None) -> HierarchicalDocumentToolConfig:
        """Return the document tool of a name; without a name, the only one there is."""
        from loccit.errors import UsageError

        tools = {tool.name: tool for tool in self.document_tools}
        if not tools:
            raise UsageError(f"The agent has no tool of type {DOCUMENT_TOOL}.")
        if name is None and len(tools) == 1:
            return next(iter(tools.values()))
        if name is None:
            raise UsageError(f"The agent has several document tools: name one of {', '.join(tools)}.")
        if name not in tools:
            raise UsageError(f"The agent has no document tool {name!r}; it has {', '.join(tools)}.")
        return tools[name]

    def instructions_text(self) -> str:
        """Return what the model is told, read from its file where it has one."""
        from loccit.errors import UsageError

        if not isinstance(self.instructions, Instructions):
            return self.instructions or ""
        if self.instructions.file is None:
            return self.instructions.inline or ""
        path = self._base_dir / Path(self.instructions.file).expanduser()
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"Cannot read the instructions {path}: {error}") from error


def agent_schema() -> dict[str, Any]:
    """Return the JSON Schema of an agent file, for editors, generated from the models."""
    return {"$schema": _DIALECT, **AgentConfig.model_json_schema(), "title": "Loccit agent"}
