"""A YAML file as plain values, with the line of each: what an error message needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from loccit.agent.faults import Place

# ``$${`` is how ``${`` itself is written.
_REFERENCE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_INSIDE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


class VariableError(ValueError):
    """A reference to the environment that has no value; the message says why."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with its references replaced by what the environment has.

    >>> expand("${HOST:-localhost}:${PORT}", {"PORT": "80"})
    'localhost:80'
    """

    def value(found: re.Match[str]) -> str:
        if found.group() == "$${":
            return "${"
        inside = _INSIDE.fullmatch(found.group(1)) if found.group(1) is not None else None
        if inside is None:
            raise VariableError(
                "an environment variable is written ${NAME} or ${NAME:-default}, and a plain ${ as $${"
            )
        name, default = inside.groups()
        if default is not None:
            return variables.get(name) or default
        if name not in variables:
            raise VariableError(
                f"the environment variable {name} is not set: set it, or give a default as in ${{{name}:-default}}"
            )
        return variables[name]

    return _REFERENCE.sub(value, text)


def refers(text: str) -> bool:
    """Whether a text has anything to be replaced."""
    return "${" in text


# An agent file has some hundred values. Aliases of aliases can make billions of a few lines.
_MOST_VALUES = 20_000
_DEEPEST = 50
_LARGEST_FILE = 250_000
_MERGE = "tag:yaml.org,2002:merge"
_CORE = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp")}


class YamlSourceError(ValueError):
    """A file that is not usable YAML."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class Source:
    """The values of a file, the line of each, what was written where the environment had a say, and faults.

    ``plain`` has how numbers and dates are written: they may be meant as text.
    """

    data: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    written: dict[Place, str] = field(default_factory=dict)
    plain: dict[Place, str] = field(default_factory=dict)
    faults: list[tuple[Place, int, str]] = field(default_factory=list)

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the nearest place around it that is in the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_file(path: Path) -> str:
    """Return the text of a file; raise ``YamlSourceError`` when it has none."""
    try:
        if path.is_dir():
            raise YamlSourceError("is a folder: name the file in it, such as agent.yaml")
        if path.stat().st_size > _LARGEST_FILE:
            raise YamlSourceError(f"is larger than {_LARGEST_FILE:,} bytes: not an agent file")
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise YamlSourceError("there is no such file") from error
    except OSError as error:
        raise YamlSourceError(f"cannot be read: {error.strerror or error}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlSourceError("is not UTF-8 text", content.count(b"\n", 0, error.start) + 1) from error
    if "\0" in text:
        raise YamlSourceError("is not text: it contains zero bytes")
    return text


def read_yaml(text: str, variables: Mapping[str, str]) -> Source:
    """Read one YAML document; raise ``YamlSourceError`` when it is not one."""
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlSourceError(
            f"the character with the code {error.character!r} is not allowed in YAML", line
        ) from error
    try:
        root = loader.get_single_node()
        source = Source()
        if root is not None:
            source.lines[()] = _line(root)
            source.data = _Reader(loader, source, variables).value(root, ())
        return source
    except yaml.MarkedYAMLError as error:
        raise _explained(error, text) from error
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """Stops where values are nested too deeply: the time that the scanner takes grows with the square of the depth."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803
        self._check_depth(self.flow_level)
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column: int) -> bool:
        self._check_depth(len(self.indents))
        return bool(super().add_indent(column))

    def _check_depth(self, depth: int) -> None:
        if depth >= _DEEPEST:
            raise YamlSourceError(f"values are nested more than {_DEEPEST} deep", self.line + 1)


class _Reader:
    """Turns nodes into values, and remembers where they stood."""

    def __init__(self, loader: yaml.SafeLoader, source: Source, variables: Mapping[str, str]) -> None:
        self._loader = loader
        self._source = source
        self._variables = variables
        self._count = 0

    def value(self, node: Node, place: Place) -> Any:
        self._count += 1
        line = _line(node)
        if self._count > _MOST_VALUES:
            raise YamlSourceError(f"the file has more than {_MOST_VALUES:,} values, counting aliases", line)
        if len(place) > _DEEPEST:
            raise YamlSourceError(
                f"values are nested more than {_DEEPEST} deep, or an alias contains itself", line
            )
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            self._plain(node, "seq", line)
            self._source.lines |= {(*place, number): _line(item) for number, item in enumerate(node.value)}
            return [self.value(item, (*place, number)) for number, item in enumerate(node.value)]
        return self._scalar(node, place, line)

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Any]:
        self._plain(node, "map", _line(node))
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = {**self._merged(value, place), **merged}
        values: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, ScalarNode):
                raise YamlSourceError("a field name must be a word", _line(key))
            here = (*place, str(key.value))
            if key.value in values:
                first = self._source.lines[here]
                self._source.faults.append((here, _line(key), f"is a duplicate, first on line {first}"))
                continue
            self._source.lines[here] = _line(key)
            values[key.value] = self.value(value, here)
        return {**merged, **values}

    def _merged(self, node: Node, place: Place) -> dict[str, Any]:
        """What ``<<`` takes over from other mappings; what a mapping says itself counts more."""
        found: dict[str, Any] = {}
        for part in node.value if isinstance(node, SequenceNode) else [node]:
            if not isinstance(part, MappingNode):
                raise YamlSourceError("<< must be followed by an alias of a mapping", _line(part))
            found = {**self.value(part, place), **found}
        return found

    def _scalar(self, node: Node, place: Place, line: int) -> Any:
        if node.tag not in _CORE:
            raise YamlSourceError(f"the tag {node.tag} is not allowed here", line)
        text = str(node.value)
        if refers(text):
            self._source.written[place] = text
            try:
                return expand(text, self._variables)
            except VariableError as error:
                self._source.faults.append((place, line, str(error)))
                return None
        try:
            value = self._loader.construct_object(node, deep=True)
        except ValueError:  # a date that does not exist, a number of thousands of digits
            return text
        if is_number_or_date(value):
            self._source.plain[place] = text
        return value

    def _plain(self, node: Node, kind: str, line: int) -> None:
        if node.tag != f"tag:yaml.org,2002:{kind}":
            raise YamlSourceError(f"the tag {node.tag} is not allowed here", line)


def is_number_or_date(value: object) -> bool:
    """Whether YAML made of a word what its writer may have meant as text: ``2024-10-21``, ``4``, ``007``."""
    return isinstance(value, (int, float, date)) and not isinstance(value, bool)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _explained(error: yaml.MarkedYAMLError, text: str) -> YamlSourceError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 0
    problem = str(error.problem or error.context or "is not YAML")
    written = text.splitlines()[line - 1] if mark and 0 < line <= len(text.splitlines()) else ""
    indentation = written[: len(written) - len(written.lstrip())]
    if "\t" in indentation or "'\\t'" in problem:
        return YamlSourceError("a tab where spaces are expected: YAML is indented with spaces only", line)
    if "expected a single document" in str(error.context):
        return YamlSourceError("a second document begins here (---): an agent file has one", line)
    if "undefined alias" in problem:
        return YamlSourceError(f"{problem}: no value before it is marked with & and this name", line)
    if "mapping values are not allowed" in problem:
        problem += ": is the line above indented right, and a text with ': ' in quotes?"
    elif "${" in written and "expected ','" in problem:
        problem += ": inside [ ] and { } put ${NAME} in quotes"
    elif "could not find expected ':'" in problem:
        problem += ": a field is written name: value"
    elif "expected <block end>" in problem:
        problem += ": is this line indented like its neighbours?"
    return YamlSourceError(f"not valid YAML: {problem}", line)
