"""Puts a request to Python, the command line, HTTP and MCP, and says of each answer what it amounts to."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import httpx
from tests.requests.questions import BY_NAME, Question
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import LoccitError, NotFoundError, UsageError
from loccit.server.api.operations import document_id
from loccit.server.mcp.calls import reply
from loccit.server.services import LibraryRegistry

ANSWER, REFUSED, MISSING, BROKEN = "answer", "refused", "missing", "broken"
# What nobody is ever told, whatever was asked.
_NEVER = re.compile(
    r"could not be used|should not happen|Traceback|is unusable|the server's log|internal error",
    re.IGNORECASE,
)
BUDGET = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """What an interface said: an answer with its essence, or an error with its message."""

    kind: str
    said: str = ""
    essence: Any = None


def _places(items: list[dict[str, Any]]) -> list[Any]:
    return [item["place_id"] for item in items]


def _listed(data: Any, name: str) -> list[dict[str, Any]]:
    return list(data) if isinstance(data, list) else list(data[name])


# What an answer amounts to, in numbers that must be equal and in lists of which the shorter must begin the longer.
_ESSENCE: dict[str, Callable[[Any], tuple[tuple[Any, ...], list[Any]]]] = {
    "search_documents": lambda data: ((), [(one["place_id"], one["rank"]) for one in data["results"]]),
    "read_section": lambda data: ((), _places(data.get("sections", [data]))),
    "define_term": lambda data: (
        (),
        sorted((one["definition"]["place_id"], one["definition"]["start"]) for one in data["definitions"]),
    ),
    "list_outline": lambda data: ((), [one["title"] for one in _listed(data, "outlines")]),
    "follow_references": lambda data: (
        (data["section"]["place_id"], len(data["cites"]), len(data["cited_by"]), len(data.get("also", []))),
        _places(data["cites"]),
    ),
    "find_all": lambda data: (
        (data["total"], data["documents"], data["complete"]),
        [(one["place_id"], one["line"]) for one in data["hits"]],
    ),
    "verify_quotes": lambda data: (
        (),
        [(one["status"], one.get("cited_place", "not said")) for one in data["checks"]],
    ),
    "compare": lambda data: ((data["same"],), [one["kind"] for one in data["differences"]]),
    "list_obligations": lambda data: (
        (data["total"], data["offset"] if data["rows"] else 0),
        _places(data["rows"]),
    ),
    "list_documents": lambda data: (
        (),
        [PurePath(one["source_path"]).name for one in _listed(data, "documents")],
    ),
    "index_status": lambda data: (
        (),
        [
            one["documents"]
            for one in (
                data.get("libraries") or data.get("indexes") or [data] if isinstance(data, dict) else data
            )
        ],
    ),
    "suggest": lambda data: ((), [one["text"] for one in _listed(data, "suggestions")]),
}


class Interfaces:
    """One library in all its interfaces."""

    def __init__(self, library: Library, client: httpx.Client, registry: LibraryRegistry) -> None:
        self.library = library
        self.client = client
        self.registry = registry
        self.runner = CliRunner()

    def ask(self, question: Question, interface: str, given: dict[str, Any]) -> Outcome | None:
        """Put a request to an interface; None if it cannot express it."""
        takes = question.interfaces[interface].takes
        if not set(given) <= set(takes):
            return None
        try:
            found = getattr(self, f"_{interface}")(question, given)
        except Exception:
            return Outcome(BROKEN, traceback.format_exc())
        if found is not None and found.kind != BROKEN and _NEVER.search(found.said):
            return Outcome(BROKEN, found.said)
        return found  # type: ignore[no-any-return]

    def _answer(self, question: Question, data: Any) -> Outcome:
        said = json.dumps(data, ensure_ascii=False, default=str)
        notes = " ".join(re.findall(r'"(?:note|reason|problem)": "([^"]*)"', said))
        return Outcome(ANSWER, notes, _ESSENCE[question.name](data))

    def _python(self, question: Question, given: dict[str, Any]) -> Outcome | None:
        called, takes = question.interfaces["python"].called, question.interfaces["python"].takes
        if len({takes[name] for name in given}) < len(given):
            return None
        try:
            # Only a person may name any file of the machine.
            found = getattr(self.library, called)(
                **({"files": False} if question.name == "compare" else {}),
                **{takes[name]: value for name, value in given.items()},
            )
        except UsageError as error:
            return Outcome(REFUSED, str(error))
        except NotFoundError as error:
            return Outcome(MISSING, str(error))
        except LoccitError as error:
            return Outcome(BROKEN, f"{type(error).__name__}: {error}")
        except TypeError as error:
            # The program that calls has a required argument wrong.
            required = [name for name, kind in question.kinds.items() if kind.required and name not in given]
            return Outcome(REFUSED if required else BROKEN, f"{error}")
        data = [one.to_dict() for one in found] if isinstance(found, list) else found.to_dict()
        return self._answer(question, data)

    def _http(self, question: Question, given: dict[str, Any]) -> Outcome | None:
        interface = question.interfaces["http"]
        operation = BY_NAME[interface.called]
        values = {interface.takes[name]: value for name, value in given.items()}
        for ours, theirs in interface.takes.items():
            if (theirs == "doc" or question.name == "compare") and ours in given:
                doc = self._doc(given[ours])
                if doc is None:
                    return None
                values[theirs] = doc
        if len(str(values.get("text") or "")) > 20_000:
            # Bodies are short.
            return None
        if operation.in_body:
            answer = self.client.post(
                operation.path,
                content=json.dumps(values).encode(),
                headers={"Content-Type": "application/json"},
            )
        else:
            sent = {
                name: json.dumps(value) if isinstance(value, (dict, bool)) else value
                for name, value in values.items()
                if value is not None
            }
            if any(re.search("[\ud800-\udfff]", str(value)) for value in sent.values()):
                # An address cannot hold it.
                return None
            answer = self.client.get(operation.path, params=sent)
        if answer.status_code == 413:
            return None
        if answer.status_code == 200:
            return self._answer(question, answer.json())
        kinds = {400: REFUSED, 422: REFUSED, 404: MISSING}
        return Outcome(kinds.get(answer.status_code, BROKEN), answer.json()["detail"])

    def _doc(self, name: Any) -> str | None:
        """Return the id of the document that a name means; a text that is no name stays; None if it means several."""
        if not isinstance(name, str):
            return str(name)
        try:
            first, *others = self.library.paths_of(name)
        except LoccitError:
            return name
        return None if others else document_id(first)

    def _cli(self, question: Question, given: dict[str, Any]) -> Outcome | None:
        interface = question.interfaces["cli"]
        options, positional, typed = [interface.called, "--json"], [], None
        for name, value in given.items():
            flag = interface.takes[name]
            if value is None or (isinstance(value, bool) and not value):
                continue
            if question.name == "verify_quotes" and not flag:
                if re.search("[\ud800-\udfff]", value):
                    # Standard input has bytes.
                    return None
                positional, typed = ["-"], value
            elif name == "kind" and flag == "kind":
                if value not in ("phrase", "words", "regex"):
                    return None
                options += [f"--{value}"] * (value != "phrase")
            elif name == "filters":
                several = {key: one if isinstance(one, list) else [one] for key, one in value.items()}
                pairs = [(key, one) for key, values in several.items() for one in values]
                if len(pairs) > 200 or not all(values for values in several.values()):
                    return None
                options += [
                    f"{flag}={key}={str(one).lower() if isinstance(one, bool) else one}" for key, one in pairs
                ]
            elif isinstance(value, list):
                return None
            elif not flag:
                positional.append(str(value))
            else:
                options.append(flag if isinstance(value, bool) else f"{flag}={value}")
        done = self.runner.invoke(
            app, [*options, "--index", str(self.library.path), "--", *positional], input=typed
        )
        if question.name == "compare" and any(Path(one[:60]).exists() for one in positional):
            return None
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        code = done.exit_code
        kinds = {0: ANSWER, 2: REFUSED, 3: ANSWER, 4: MISSING}
        kind = kinds.get(code, BROKEN)
        if kind == BROKEN or not done.stdout.strip():
            return Outcome(kind, done.output)
        data = json.loads(done.stdout)
        if isinstance(data, dict) and "error" in data:
            return Outcome(kind, data["error"]["message"])
        return self._answer(question, data)

    def _mcp(self, question: Question, given: dict[str, Any]) -> Outcome:
        takes = question.interfaces["mcp"].takes
        sent = dict(given)
        if "token_budget" in takes:
            sent.setdefault("token_budget", BUDGET)
        found = reply(self.registry, question.name, sent)
        if found.failed:
            kind = MISSING if found.text.startswith("Not found.") else REFUSED
            return Outcome(kind if re.match(r"Not found\.|Error: ", found.text) else BROKEN, found.text)
        return self._answer(question, found.data)
