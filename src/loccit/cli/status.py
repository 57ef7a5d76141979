"""``loccit status``: what the index holds and how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loccit.cli.folder import open_library
from loccit.cli.options import IndexOption, JsonOption
from loccit.cli.output import age, display_path, one_line, plural, print_json, show, size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import Failure, Status


_MOST_DOUBTFUL = 10


def status(index: IndexOption = None, as_json: JsonOption = False) -> None:
    """Show what the index contains, what could not be read, and who is writing to it.

    [bold]Examples[/bold]
    $ loccit status
    $ loccit status --json --index ~/notes/.loccit
    """
    with open_library(index) as library:
        state = library.status()
    if as_json:
        print_json(state.to_dict())
    else:
        show(_summary(state), *failure_lines(state.failures))


def _summary(state: Status) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("index", Text(display_path(state.path), style="cyan"))
    if state.database:
        grid.add_row("database", Text(one_line(state.database), style="cyan"))
    roots = "\n".join(display_path(root) for root in state.roots)
    grid.add_row("reads", Text(roots or "nothing yet"))
    grid.add_row("documents", Text(f"{state.documents:,}" + _counts(state.file_types)))
    if state.scanned_documents:
        grid.add_row(
            "scans", Text(f"{plural(state.scanned_documents, 'document')} with pages read from images")
        )
    if state.lost:
        grid.add_row("lost", Text(one_line(state.lost), style="yellow"))
    languages = Text(_counts(state.languages).strip(" ()") or "–")
    if state.unspoken:
        languages.append(f"\n{one_line(state.unspoken)}", style="yellow")
    grid.add_row("languages", languages)
    grid.add_row("chunks", Text(f"{state.chunks:,}"))
    passages = Text(f"{state.passages:,}")
    if state.pending_passages:
        waiting = f"  {state.pending_passages:,} have no vector yet; run: loccit index"
        passages.append(waiting, style="yellow")
    if state.unpublished_passages:
        unpublished = f"  {state.unpublished_passages:,} not in the database yet; run: loccit index"
        passages.append(unpublished, style="yellow")
    grid.add_row("passages", passages)
    model = Text(one_line(state.model) or "none")
    grid.add_row(
        "model", model.append(f", {state.dimension} dimensions" if state.dimension else "", style="dim")
    )
    grid.add_row("size", Text(size(state.size_bytes)))
    grid.add_row("updated", Text(age(state.updated_at) if state.updated_at else "never"))
    if state.doubtful:
        listed = "\n".join(display_path(path) for path in state.doubtful[:_MOST_DOUBTFUL])
        more = len(state.doubtful) - _MOST_DOUBTFUL
        told = f"{listed}\nand {more:,} more" if more > 0 else listed
        grid.add_row(
            "uncertain", Text(f"places contradicted by the document itself:\n{told}", style="yellow")
        )
    if state.writer:
        grid.add_row("writing", Text(one_line(state.writer), style="yellow"))
    return grid


def _counts(counts: dict[str, int]) -> str:
    parts = [f"{count:,} {one_line(name) or 'unknown'}" for name, count in counts.items()]
    return f"  ({', '.join(parts)})" if parts else ""


def failure_lines(failures: list[Failure]) -> list[RenderableType]:
    """Return one line for each file that could not be read, with the reason."""
    from rich.text import Text

    if not failures:
        return []
    lines = [Text(f"{plural(len(failures), 'document')} failed", style="bold red")]
    for failure in failures:
        line = Text("  ").append(display_path(failure.path), style="cyan")
        lines.append(line.append(f": {one_line(failure.reason)}"))
    return list(lines)
