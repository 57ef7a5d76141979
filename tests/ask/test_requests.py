"""An argument is declared once: what is added to a request is in every interface that it has words for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer.main
from typer.testing import CliRunner

from loccit.ask import questions
from loccit.ask.catalog import TOOLS, ToolSpec
from loccit.ask.request import Arg, Request, arguments, told_arguments
from loccit.cli.asking import Command, parse, typed
from loccit.server.api.params import from_query, of


@dataclass(frozen=True, slots=True)
class Moored(Request[str]):
    """Ask who is moored."""

    quay: Annotated[str, Arg(help="The quay.", metavar="QUAY", http="A quay.", brief="By its name.")]
    length: Annotated[
        int | None,
        Arg(
            help="At least so long.",
            flags=("--length", "-l"),
            metavar="M",
            http="Length in metres.",
            http_name="metres",
            brief="",
            aliases="metres size",
            bounds=(1, 400),
            flag_bounds=(1, 400),
        ),
    ] = None
    flags: Annotated[Sequence[str] | None, Arg(brief="Of states.")] = None
    secret: Annotated[bool, Arg(help="Unsaid.", flags=("--secret",))] = False

    def ask(self, library: Any) -> str:
        return f"{self.quay} {self.length} {self.flags} {self.secret}"


class Moor(Command):
    """Show who is moored."""

    request = Moored

    def ask(self, request: Any, given: Any) -> str:
        return str(request.ask(None))

    def show(self, answer: str, given: Any) -> None:
        print(answer)


def test_tools_have_what_models_are_told() -> None:
    tool = ToolSpec("list_moored", "Who is moored.", Moored)
    assert list(tool.parameters()["properties"]) == ["quay", "length", "flags"]
    assert tool.parameters()["properties"]["length"] == {"type": "integer", "minimum": 1, "maximum": 400}
    assert tool.parameters()["required"] == ["quay"]
    assert tool.read({"quay": "North", "metres": "20"}) == {"quay": "North", "length": 20}


def test_http_has_what_it_describes() -> None:
    params = of(Moored)
    assert [(one.name, one.required) for one in params] == [("quay", True), ("metres", False)]
    assert from_query(params, [("quay", "North"), ("metres", "20")]) == {"quay": "North", "metres": 20}


def test_the_command_line_has_what_it_explains() -> None:
    app = typer.Typer()
    app.command()(typed(Moor))
    runner = CliRunner()
    shown = runner.invoke(app, ["--help"]).stdout
    assert "At least so long." in shown
    assert "--secret" in shown
    assert runner.invoke(app, ["North", "-l", "20"]).stdout == "North 20 None False\n"
    assert runner.invoke(app, ["North", "-l", "401"]).exit_code == 2
    given = parse(Moor.options(), ["North", "--secret"])
    assert given is not None
    assert Moor().values(given) == {"quay": "North", "secret": True}
    assert parse(Moor.options(), ["North", "-l", "401"]) is None


REQUESTS = [one for one in vars(questions).values() if isinstance(one, type) and issubclass(one, Request)]


@pytest.mark.parametrize("request_", REQUESTS)
def test_each_argument_has_words_somewhere(request_: Any) -> None:
    for one in arguments(request_) if request_ is not Request else ():
        assert one.brief is not None or one.http or one.flags or one.metavar, one.name


def test_each_question_of_a_tool_is_a_request_of_its_own() -> None:
    assert len({tool.request for tool in TOOLS.values()}) == len(TOOLS)
    for tool in TOOLS.values():
        assert tool.takes == told_arguments(tool.request)
