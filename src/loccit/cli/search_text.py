"""Shows the answer to a search: for a reader at a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from loccit.cli.output import console, display_path, one_line, path_text, safe, show
from loccit.cli.snippet import snippet
from loccit.model.document import span

if TYPE_CHECKING:
    from rich.console import Console

    from loccit.model import Definition, SearchResponse, SearchResult

INDENT = 4
ARROW = " › "
SEPARATOR = " · "
FROM_IMAGE = "read from an image"
_BAR = 5
_REFERENCES = 5


def show_response(response: SearchResponse, full: bool = False) -> None:
    """Print an answer: what was asked, each result with its place and the words that were found, notes."""
    out = console()
    show(_headline(response), to=out)
    if response.note:
        show(Text(one_line(response.note), style="yellow"), to=out)
    explained: set[str] = set()
    for result in response.results:
        # A definition is shown once, with the first result that carries it.
        fresh = [item for item in result.definitions_context if item.id not in explained]
        explained.update(item.id for item in fresh)
        show("", *_result_lines(result, fresh, response.query, out, full), to=out)
    if response.truncated:
        show("", Text("Cut to fit the token budget.", style="yellow"), to=out)
    if response.next_offset is not None and out.is_terminal:
        show("", Text(f"Continue with: --offset {response.next_offset}", style="dim"), to=out)
    if response.explanation is not None:
        from loccit.cli.search_explain import explanation

        show("", *explanation(response), to=out)


def _headline(response: SearchResponse) -> Text:
    line = Text(f"{response.counted} for “")
    line.append(one_line(response.query, 200), style="bold").append("”")
    total = response.timings_ms.get("total")
    details = [response.mode, f"confidence {response.confidence:.2f}"]
    if total is not None:
        details.append(f"{total:.0f} ms")
    return line.append(SEPARATOR + SEPARATOR.join(details), style="dim")


def _result_lines(
    result: SearchResult, definitions: Sequence[Definition], query: str, out: Console, full: bool
) -> list[Text]:
    width = out.width - INDENT
    lines = _indented(breadcrumb(result.parent_chain, result.document_title), out)
    lines[0] = Text.assemble((f"{result.rank:>2}. ", "bold green"), lines[0][INDENT:])
    lines += _indented(_place(result, out.is_terminal), out)
    bar = (" " * INDENT + ("│ " if out.is_terminal else "| "), "dim")
    lines += [Text.assemble(bar, line) for line in snippet(result, query, width - 2, full)]
    if result.also_in:
        places = [f"{display_path(place.source_path)} {place.section}".strip() for place in result.also_in]
        lines += _indented(
            Text("also in ", style="dim").append("; ".join(map(one_line, places)), style="dim"), out
        )
    references = list(dict.fromkeys(one_line(ref.text) for ref in result.cross_references if ref.resolved))
    if references:
        more = f" and {len(references) - _REFERENCES} more" if len(references) > _REFERENCES else ""
        text = Text("refers to ", style="dim").append(", ".join(references[:_REFERENCES]) + more, style="dim")
        lines += _indented(text, out)
    for definition in definitions:
        text = Text("where ", style="dim").append(one_line(definition.term), style="italic")
        lines += _indented(text.append(": " + one_line(definition.definition_text, 300)), out)
    return lines


def breadcrumb(chain: list[str], title: str) -> Text:
    """Return the way from the document's title to the heading; the last step stands out."""
    parts = [one_line(part) for part in chain if part.strip()]
    if one_line(title) not in parts[:1]:
        parts.insert(0, one_line(title))
    line = Text(ARROW.join(parts[:-1]), style="dim")
    if len(parts) > 1:
        line.append(ARROW)
    return Text().append_text(line).append(parts[-1], style="bold")


def _place(result: SearchResult, terminal: bool) -> Text:
    line = path_text(result.source_path)
    where = span(result.lines, result.pages, result.source_path, result.cells)
    if where:
        line = Text().append_text(line).append(f", {where}", style="cyan")
    if result.place_id:
        line = Text().append_text(line).append(f" [{result.place_id}]", style="dim")
    label = one_line(result.section_label)
    if label and label.casefold() not in one_line(" ".join(result.parent_chain[-1:])).casefold():
        line.append(SEPARATOR + label)
    if result.from_image:
        line.append(SEPARATOR + FROM_IMAGE, style="yellow")
    if result.matched_by:
        line.append(SEPARATOR + ", ".join(result.matched_by), style="dim")
    line.append(SEPARATOR, style="dim")
    if terminal:
        filled = round(_BAR * min(1.0, max(0.0, result.fused_score)))
        line.append("▰" * filled, style="green").append("▱" * (_BAR - filled) + " ", style="dim")
    return line.append(f"{result.fused_score:.2f}", style="" if terminal else "dim")


def _indented(text: Text, out: Console) -> list[Text]:
    """Wrap a text to the console, each line set in."""
    return [Text(" " * INDENT) + line for line in text.wrap(out, out.width - INDENT)]


def as_markdown(response: SearchResponse) -> str:
    """Return an answer as Markdown: a heading and a quotation for each result."""
    blocks = [f"# {one_line(response.query, 200)}"]
    if response.note:
        blocks.append(f"*{one_line(response.note)}*")
    for result in response.results:
        chain = one_line(" › ".join(result.parent_chain) or result.document_title)
        where = span(result.lines, result.pages, result.source_path, result.cells)
        place = f"`{display_path(result.source_path)}`" + (f", {where}" if where else "")
        place += f" ({FROM_IMAGE})" if result.from_image else ""
        quoted = "\n".join(f"> {line}".rstrip() for line in safe(result.content.strip()).split("\n"))
        blocks += [f"## {result.rank}. {chain}", place, quoted]
    return "\n\n".join(blocks)
