"""Read an agent file and say all that is wrong with it, each fault with its line, and what is likely not meant."""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loccit.agent.agent import DOCUMENT_TOOL, AgentConfig, Instructions
from loccit.agent.availability import doubtful, make_models
from loccit.agent.database import check_store
from loccit.agent.document_tool import HierarchicalDocumentToolConfig
from loccit.agent.faults import ConfigError, Fault, Place, explain, field_name
from loccit.agent.holodeck import Translated, missed_from_project, translate
from loccit.agent.lint import quarrels
from loccit.agent.yaml_source import (
    Source,
    YamlSourceError,
    is_number_or_date,
    read_file,
    read_yaml,
)
from loccit.errors import UsageError

logger: logging.Logger = logging.getLogger("loccit")

# Rounds of validation: each finds what the faults of the one before were hiding.
_ROUNDS = 20
_WANTS_TEXT = ("string_type", "block_or_name")


@dataclass(slots=True)
class Checked:
    """What came of reading a file: the agent if nothing is wrong, and what is wrong or doubtful."""

    file: str
    config: AgentConfig | None = None
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the file can be used."""
        return not self.faults


def check_agent(
    path: str | Path, *, variables: Mapping[str, str] | None = None, thorough: bool = True
) -> Checked:
    """Read an agent file; when ``thorough``, also look for its files and for what is likely not meant."""
    check = _Check(Path(path).expanduser(), Checked(str(path)), thorough)
    check.run(os.environ if variables is None else variables)
    return check.checked


def load_agent(path: str | Path, *, variables: Mapping[str, str] | None = None) -> AgentConfig:
    """Read an agent file; raise ``ConfigError`` with every fault of it.

    ``${NAME}`` in values is taken from ``variables``, which is the environment if not given. Sources are looked for
    when a tool is loaded, not here: an agent may be read on a machine that does not have them.
    """
    checked = check_agent(path, variables=variables, thorough=False)
    if checked.config is None:
        raise ConfigError(checked.faults)
    for warning in checked.warnings:
        logger.warning("%s", warning)
    return checked.config


class _Check:
    def __init__(self, path: Path, checked: Checked, thorough: bool) -> None:
        self.path = path
        self.checked = checked
        self.thorough = thorough
        self.source = Source()
        self.translated = Translated()

    def run(self, variables: Mapping[str, str]) -> None:
        checked = self.checked
        try:
            self.source = read_yaml(read_file(self.path), variables)
        except YamlSourceError as error:
            checked.faults.append(Fault(checked.file, error.line, "", str(error)))
            return
        if not isinstance(self.source.data, dict):
            what = "is empty" if self.source.data is None else "is not a block of fields"
            self._add(checked.faults, (), f"{what}: an agent file has fields such as name: and tools:")
            return
        self._translate()
        unread = (self.path.parent / ".env").is_file()
        for place, line, message in self.source.faults:
            if unread and place in self.source.written:
                message += "; .env is not read automatically: set -a; . ./.env; set +a loads its variables"
            checked.faults.append(Fault(checked.file, line, field_name(place), message))
        self._describe_tools()
        config = self._validate()
        if config is not None:
            config.moved_to(self.path.absolute().parent)
            self._find_quarrels(config)
            if self.thorough:
                self._find_files(config)
                self._find_stores(config)
                self._find_models(config)
                self._lint(config)
        checked.warnings = sorted(dict.fromkeys(checked.warnings), key=lambda fault: fault.line)
        checked.faults = sorted(dict.fromkeys(checked.faults), key=lambda fault: fault.line)
        checked.config = config if checked.ok else None

    def _add(self, to: list[Fault], place: Place, message: str) -> None:
        place = self.translated.origin(place)
        to.append(Fault(self.checked.file, self.source.line(place), field_name(place), message))

    def _tools(self) -> Iterator[tuple[Place, dict[str, Any]]]:
        tools = self.source.data.get("tools")
        for number, tool in enumerate(tools if isinstance(tools, list) else ()):
            if isinstance(tool, dict):
                yield ("tools", number), tool

    def _translate(self) -> None:
        """Take a file that was written for HoloDeck as it is meant; variables that are not needed may be unset."""
        self.translated = translate(self.source.data)
        self.source.faults = [
            fault
            for fault in self.source.faults
            if not any(fault[0][: len(place)] == place for place in self.translated.left_out)
        ]
        if not self.thorough:
            return
        for place, note in self.translated.notes:
            self._add(self.checked.warnings, place, note)
        if missed := missed_from_project(self.path.parent, self.source.data.get("model")):
            note = (
                f"HoloDeck would take {' and '.join(missed)} from config.yaml, which is not read here: set it"
            )
            self._add(self.checked.warnings, ("model",), note)

    def _describe_tools(self) -> None:
        """Describe document tools that are not: short examples leave the description out."""
        for place, tool in self._tools():
            if (
                tool.get("type", DOCUMENT_TOOL) != DOCUMENT_TOOL
                or "description" in tool
                or not tool.get("name")
            ):
                continue
            tool["description"] = f"Search the documents of {tool['name']}."
            message = "is missing: describe what the tool is for, because a model chooses its tools by that"
            self._add(self.checked.warnings, (*place, "description"), message)

    def _validate(self) -> AgentConfig | None:
        """Validate; what is wrong is taken out and the rest validated again."""
        data = copy.deepcopy(self.source.data)
        for _ in range(_ROUNDS):
            config = self._try(data)
            if config is not None:
                return config
        return None

    def _try(self, data: Any) -> AgentConfig | None:
        known = {field_name(place) for place, _, _ in self.source.faults}
        try:
            return AgentConfig.model_validate(data, context={"quiet": self.thorough})
        except ValidationError as error:
            # From the end, because what is taken out of a list moves the rest.
            for item in reversed(error.errors(include_url=False)):
                place = _place(item)
                if self._read_as_text(data, place, item):
                    continue
                # A field that was wrong and taken out is missing in the next round.
                missing = item["type"] == "missing" and {fault.field for fault in self.checked.faults}
                in_file = self.translated.origin(place)
                if field_name(in_file) not in (missing or known):
                    written = self.source.written.get(in_file)
                    self._add(self.checked.faults, place, explain(item, place, written))
                take_out(data, place, str(item["type"]))
        return None

    def _read_as_text(self, data: Any, place: Place, error: Mapping[str, Any]) -> bool:
        """Put what is written in place of a number or date that YAML read, where a text is wanted."""
        text = self.source.plain.get(self.translated.origin(place))
        if text is None or error["type"] not in _WANTS_TEXT or not is_number_or_date(error["input"]):
            return False
        put(data, place, text)
        put(self.source.data, place, text)
        return True

    def _find_files(self, config: AgentConfig) -> None:
        names = {tool.name: tool for tool in config.document_tools}
        for place, written in self._tools():
            tool = names.get(str(written.get("name")))
            # Of a tool with other faults only a stand-in is left.
            if tool is None or tool.source != written.get("source"):
                continue
            try:
                tool.check_source()
            except UsageError as error:
                self._add(self.checked.faults, (*place, "source"), str(error))
        if isinstance(config.instructions, Instructions):
            try:
                config.instructions_text()
            except UsageError as error:
                self._add(self.checked.faults, ("instructions", "file"), str(error))

    def _find_stores(self, config: AgentConfig) -> None:
        """Find databases that could not be used: a package that is missing, an address that cannot be one."""
        for number, tool in enumerate(config.tools):
            if not isinstance(tool, HierarchicalDocumentToolConfig):
                continue
            named = isinstance(tool.database, str)
            place: Place = ("databases", str(tool.database)) if named else ("tools", number, "database")
            settings = tool.database_settings()
            if settings is None or any(
                fault.field.startswith(field_name(place)) for fault in self.checked.faults
            ):
                # Of a block with other faults only a part is left.
                continue
            where, problem = check_store(settings, tool.index_path())
            if problem:
                # What is said of the address is said of the url, where the file calls it so.
                if where == "connection_string" and (*place, "url") in self.source.lines:
                    where = "url"
                self._add(self.checked.faults, (*place, where), problem)

    def _find_models(self, config: AgentConfig) -> None:
        """Find models that could not be asked: none of that name, a package or key that is missing, other vectors.

        Of a block with other faults only a part is left, and nothing can be said of it.
        """
        faulty = [fault.field for fault in self.checked.faults]
        made = make_models(config)
        for to, found in (
            (self.checked.faults, made.unavailable),
            (self.checked.warnings, (*doubtful(config), *made.keyless)),
        ):
            for place, message in found:
                name = field_name(self.translated.origin(place))
                if not any(field.startswith(name) for field in faulty):
                    self._add(to, place, message)

    def _find_quarrels(self, config: AgentConfig) -> None:
        places = {tool.name: number for number, tool in enumerate(config.tools)}
        for name, where, message in quarrels(config.document_tools):
            self._add(self.checked.warnings, ("tools", places[name], where), message)

    def _lint(self, config: AgentConfig) -> None:
        for number, tool in enumerate(config.tools):
            for name, message in tool.lint():
                self._add(self.checked.warnings, ("tools", number, *name.split(".")), message)


def _place(error: Mapping[str, Any]) -> Place:
    """Return where an error is; parts in angle brackets are names of alternatives, not of fields."""
    context = error.get("ctx") or {}
    place = (*error["loc"], *context.get("place", ()))
    place = tuple(part for part in place if not (isinstance(part, str) and part.startswith("<")))
    return (*place, "type") if error["type"] == "tool_type" else place


_REQUIRED = ("name", "description", "source")


def take_out(data: Any, place: Place, kind: str) -> None:
    """Remove the value at a place, or put a harmless one there where one is required; ``kind`` is that of the error."""
    if (
        len(place) == 3
        and place[0] == "tools"
        and place[2] in _REQUIRED
        and isinstance(data["tools"][place[1]], dict)
    ):
        data["tools"][place[1]][place[2]] = _harmless(place[1])[str(place[2])]
    elif place[:1] == ("tools",) and len(place) == (3 if kind == "tool_type" else 2):
        data["tools"][place[1]] = _harmless(place[1])
    else:
        # A block that lacks a field is of no use without it.
        _remove(data, place[:-1] if kind == "missing" else place)


def _harmless(number: str | int) -> dict[str, str]:
    return {"name": f"_tool_{number}", "description": ".", "source": "."}


def put(data: Any, place: Place, value: Any) -> None:
    """Put another value at a place, where there is one."""
    holder = _holder(data, place)
    if holder is not None:
        holder[place[-1]] = value


def _remove(data: Any, place: Place) -> None:
    holder = _holder(data, place)
    if holder is not None:
        del holder[place[-1]]


def _holder(data: Any, place: Place) -> Any:
    """Return the mapping or list that has the value at a place, or None where there is no such value."""
    for part in place[:-1]:
        if not _has(data, part):
            return None
        data = data[part]
    return data if place and _has(data, place[-1]) else None


def _has(data: Any, part: str | int) -> bool:
    if isinstance(data, dict):
        return part in data
    return isinstance(data, list) and isinstance(part, int) and part < len(data)
