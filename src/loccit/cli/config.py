"""``loccit config``: check an agent file, print the schema of agent files, and list what can be set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loccit.cli.errors import WRONG_USAGE
from loccit.cli.options import JsonOption
from loccit.cli.output import message, one_line, plural, print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.agent import AgentConfig, Checked, HierarchicalDocumentToolConfig

config: typer.Typer = typer.Typer(
    help="Check agent files, print their schema, and list all settings.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@config.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The agent file, such as agent.yaml.")],
    as_json: JsonOption = False,
) -> None:
    """Report everything that is wrong with an agent file, with line numbers.

    The exit code is 0 if the file can be used, with or without warnings, and 2 if it cannot.

    [bold]Examples[/bold]
    $ loccit config check agent.yaml
    $ loccit config check agent.yaml --json
    """
    from loccit.agent import check_agent

    checked = check_agent(file)
    if as_json:
        print_json(_as_dict(checked))
    else:
        for fault in checked.faults:
            message(f"error: {fault}")
        for warning in checked.warnings:
            message(f"warning: {warning}")
        show(*_summary(checked))
    if not checked.ok:
        raise typer.Exit(WRONG_USAGE)


@config.command()
def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the JSON Schema of agent files, for completion and checks in an editor.

    [bold]Examples[/bold]
    $ loccit config schema --output agent.schema.json
    """
    from loccit.agent import agent_schema
    from loccit.errors import LoccitError

    if output is None:
        print_json(agent_schema())
        return
    try:
        output.write_text(json.dumps(agent_schema(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise LoccitError(f"Cannot write {output}: {error.strerror or error}") from error
    if as_json:
        print_json({"written": str(output)})
    else:
        show(
            f"Wrote {one_line(str(output))}. Put this at the top of an agent file: "
            f"# yaml-language-server: $schema={output}"
        )


@config.command("settings")
def list_settings(as_json: JsonOption = False) -> None:
    """List the index and search settings, with what each does and its range.

    [bold]Examples[/bold]
    $ loccit config settings
    """
    from loccit.config.settings import IndexSettings, SearchSettings, describe

    groups = {"index": describe(IndexSettings), "search": describe(SearchSettings)}
    if as_json:
        print_json(
            {
                group: {
                    name: {"default": known.default, "range": known.range(), "help": known.help}
                    for name, known in settings.items()
                }
                for group, settings in groups.items()
            }
        )
        return
    from rich.text import Text

    for group, settings in groups.items():
        show(Text(f"{group.capitalize()} settings", style="bold"))
        show(
            *(
                Text(f"  {name}  ", style="cyan").append(known.said(), "default")
                for name, known in settings.items()
            )
        )


def _as_dict(checked: Checked) -> dict[str, Any]:
    return {
        "file": checked.file,
        "ok": checked.ok,
        "faults": [fault.to_dict() for fault in checked.faults],
        "warnings": [warning.to_dict() for warning in checked.warnings],
        "agent": _agent(checked.config) if checked.config else None,
    }


def _agent(config: AgentConfig) -> dict[str, Any]:
    """What the file comes to; no keys and no connection strings."""
    sources = {
        tool.name: {"source": str(tool.source_path()), **_database(tool)} for tool in config.document_tools
    }
    tools = [{"name": tool.name, "type": tool.type, **sources.get(tool.name, {})} for tool in config.tools]
    model = f"{config.model.provider.value}:{config.model.name}" if config.model else None
    return {"name": config.name, "model": model, "tools": tools}


def _database(tool: HierarchicalDocumentToolConfig) -> dict[str, str]:
    settings = tool.database_settings()
    return {"database": f"{settings.provider}, collection {settings.collection}"} if settings else {}


def _summary(checked: Checked) -> list[RenderableType]:
    from rich.text import Text

    if checked.config is None:
        faults = plural(len(checked.faults), "error")
        return [Text(f"{one_line(checked.file)} cannot be used: {faults}.", style="red")]
    agent = _agent(checked.config)
    lines: list[RenderableType] = [Text(f"{one_line(checked.file)} is valid.", style="green")]
    lines.append(f"  agent {one_line(agent['name'])} · model {one_line(agent['model'] or 'none')}")
    lines += [
        f"  tool {tool['name']} · {tool['type']}"
        + (f" · {one_line(tool['source'])}" if "source" in tool else " · not run by Loccit")
        + (f" · {tool['database']}" if "database" in tool else "")
        for tool in agent["tools"]
    ]
    return lines
