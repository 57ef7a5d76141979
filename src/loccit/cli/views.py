"""How answers look on a terminal, question by question; searches are shown by ``search_text``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loccit.cli.output import console, display_path, one_line, path_text, safe, show
from loccit.model.document import IMAGE_PAGES, span

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from loccit.model import (
        Citation,
        DefineResponse,
        DocumentInfo,
        ObligationsResponse,
        Outline,
        OutlineNode,
        ReferencesResponse,
        SectionView,
        TermDefinition,
    )

# What leads here from elsewhere says so only where there is doubt.
_DOUBTFUL = 0.8


# -- sections --------------------------------------------------------------------------------------------------


def _rendered(text: str) -> RenderableType:
    """Return Markdown as it looks. It is made safe afterwards as well: entities can stand for any character."""
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown
    from rich.segment import Segment

    class Rendered:
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            # Links are written out: a document must not choose what a click on its words opens.
            for segment in console.render(Markdown(safe(text), hyperlinks=False), options):
                yield Segment(safe(segment.text), segment.style, segment.control)

    return Rendered()


def show_section(view: SectionView, *, apart: bool = False) -> None:
    """Print a section with its place, what stands below it, and what else goes by its name."""
    from rich.text import Text

    from loccit.cli.search_text import FROM_IMAGE, SEPARATOR, breadcrumb

    out = console()
    place = Text().append_text(path_text(view.source_path))
    where = span(view.lines, view.pages, view.source_path)
    place.append(f", {where}" if where else "", style="cyan")
    place.append(f" [{view.place_id}]", style="dim")
    if view.section_label:
        place.append(SEPARATOR + one_line(view.section_label))
    if view.from_image:
        place.append(SEPARATOR + FROM_IMAGE, style="yellow")
    if view.whole_lines is not None:
        whole = span(view.whole_lines, None, view.source_path)
        place.append(f"{SEPARATOR}of {whole}", style="yellow")
    show(*([""] if apart else []), breadcrumb(view.parent_chain, view.document_title), place, to=out)
    if view.doubt:
        show(Text(one_line(view.doubt), style="yellow"), to=out)
    if view.lead_in:
        show("", Text(one_line(view.lead_in, 600), style="dim"), to=out)
    show("", to=out)
    show(_rendered(view.text) if out.is_terminal else safe(view.text).strip("\n"), to=out)
    if view.children:
        show("", Text("Below it", style="bold"), to=out)
        for child in view.children:
            below = Text("  " + one_line(child.label if child.heading in child.label else child.heading))
            at = span(child.lines, child.pages, view.source_path)
            show(below.append(f"  {at}  [{child.place_id}]", style="dim"), to=out)
    if view.alternatives:
        show("", Text("The same name also matches", style="bold"), to=out)
        for other in view.alternatives:
            path, mark, section_id = other.rpartition("#")
            show("  " + (display_path(path) + mark + one_line(section_id)), to=out)


# -- outlines --------------------------------------------------------------------------------------------------


def outline_tree(entry: Outline, depth: int | None) -> Tree:
    """Return the tree of the headings of a document."""

    from rich.text import Text
    from rich.tree import Tree

    nodes = entry.nodes
    if len(nodes) == 1 and nodes[0].heading.strip() == entry.title.strip():
        nodes = nodes[0].children  # the heading that is the title would only say it again
    title = Text(one_line(entry.title) or "(no title)", style="bold").append("  ")
    title.append_text(path_text(entry.source_path))
    if checked := str(entry.self_check):
        borne_out = f"  confirmed: {checked}"
        title.append(borne_out, style="yellow" if entry.self_check.doubtful else "dim")
    tree = Tree(title, guide_style="dim")
    _grow(tree, nodes, depth, entry.source_path)
    return tree


def _grow(tree: Tree, nodes: Sequence[OutlineNode], depth: int | None, path: str) -> None:
    if depth == 0:
        return
    below = None if depth is None else depth - 1
    for node in nodes:
        _grow(tree.add(_outline_line(node, path, cut=below == 0)), node.children, below, path)


def _outline_line(node: OutlineNode, path: str, cut: bool) -> Text:
    from rich.text import Text

    heading, label = one_line(node.heading), one_line(node.label)
    line = Text()
    if heading and label.endswith(heading):
        # A clause: its label says its marker.
        heading, label = label, ""
    if label and not heading.casefold().startswith(label.casefold()):
        line.append(f"{label}  ", style="green")
    where = span(node.lines, node.pages, path)
    line.append(heading or "(no heading)").append(f"  {where}  [{node.place_id}]", style="dim")
    hidden = _count(node.children) if cut else 0
    return line.append(f"  +{hidden}", style="dim") if hidden else line


def _count(nodes: Sequence[OutlineNode]) -> int:
    return sum(1 + _count(node.children) for node in nodes)


# -- documents -------------------------------------------------------------------------------------------------


def _title(entry: DocumentInfo) -> Text:
    from rich.text import Text

    title = Text(one_line(entry.title))
    if pages := entry.metadata.get(IMAGE_PAGES):
        title.append(f"\nread from images: p. {one_line(str(pages))}", style="yellow")
    return title


def document_table(entries: list[DocumentInfo]) -> Table:
    """Return a table of documents."""

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False)
    table.add_column("document", overflow="fold")
    table.add_column("title", overflow="fold", ratio=1)
    table.add_column("language")
    table.add_column("pages", justify="right")
    table.add_column("chunks", justify="right")
    table.add_column("modified", no_wrap=True)
    for entry in entries:
        table.add_row(
            path_text(entry.source_path),
            _title(entry),
            one_line(entry.language),
            str(entry.pages or ""),
            str(entry.total_chunks),
            one_line(entry.modified)[:10],
        )
    return table


# -- definitions -----------------------------------------------------------------------------------------------


def definition_lines(answer: DefineResponse) -> list[RenderableType]:
    """Return the definitions of a term, each with its place."""

    from rich.text import Text

    if not answer.definitions:
        near = ", ".join(one_line(term) for term in answer.near)
        return [Text(f"No document defines “{one_line(answer.term)}”. Similar terms: {near}", style="yellow")]
    lines: list[RenderableType] = []
    if answer.conflict:
        lines += [Text("The documents do not agree on this term.", style="yellow"), ""]
    for item in answer.definitions:
        lines += _definition(item)
    return lines[:-1]


def _definition(item: TermDefinition) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    definition = item.definition
    head = Text(one_line(definition.term), style="bold").append(
        f"  {one_line(item.document_title)}", style="dim"
    )
    place = Text().append_text(path_text(definition.source_path))
    place.append(f"#{one_line(definition.source_section)}" if definition.source_section else "", style="cyan")
    where = span(definition.lines, definition.pages, definition.source_path)
    place.append(f", {where}" if where else "", style="dim")
    place.append(f" [{definition.place_id}]" if definition.place_id else "", style="dim")
    lines: list[RenderableType] = [head, place]
    lines.append(Padding(Text(one_line(definition.definition_text)), (0, 0, 0, 4)))
    if definition.goes_on:
        below = f"goes on below {where}" if where else "goes on below"
        lines.append(Padding(Text(below, style="yellow"), (0, 0, 0, 4)))
    lines += [
        Padding(Text(f"except: {one_line(exception)}", style="yellow"), (0, 0, 0, 4))
        for exception in definition.exceptions
    ]
    if item.conflicts_with:
        others = ", ".join(dict.fromkeys(one_line(title) for title in item.conflicts_with))
        lines.append(Padding(Text(f"defined differently in: {others}", style="yellow"), (0, 0, 0, 4)))
    return [*lines, ""]


# -- references ------------------------------------------------------------------------------------------------


def show_references(answer: ReferencesResponse, *, apart: bool) -> None:
    """Print what a section refers to, and what refers to it."""

    from loccit.cli.search_text import breadcrumb

    show(
        *([""] if apart else []),
        breadcrumb(answer.section.parent_chain, answer.section.document_title),
        "",
        *_citations("Refers to", answer.cites, outgoing=True),
        "",
        *_citations("Referred to by", answer.cited_by, outgoing=False),
        *(
            ["", *_citations("What contains it is referred to by", answer.around, outgoing=False)]
            if answer.around
            else []
        ),
        *_of_document(answer),
    )


def _of_document(answer: ReferencesResponse) -> list[RenderableType]:
    """What other documents say of the document as a whole; of a part of it, only how much that is."""
    from rich.text import Text

    title, count = "The document as a whole is referred to by", answer.document_citations
    if not count:
        return []
    if answer.document_cited_by:
        return ["", *_citations(title, answer.document_cited_by, outgoing=False)]
    return ["", Text(f"{title} ({count})", style="bold")]


def _citations(title: str, citations: Sequence[Citation], *, outgoing: bool) -> list[RenderableType]:
    from rich.text import Text

    from loccit.model.document import line_word
    from loccit.model.place_ids import with_place_id

    lines: list[RenderableType] = [Text(f"{title} ({len(citations)})", style="bold")]
    for citation in citations:
        reference = citation.reference
        line = Text("  ").append(one_line(reference.text), style="cyan" if reference.resolved else "yellow")
        if not outgoing:
            # The head of a document has no heading.
            place = one_line(citation.section_label or citation.heading) or "the head"
            line.append(f"  in {place}, {line_word(citation.source_path)} {citation.line}  ").append(
                f"{display_path(citation.source_path)}  [{citation.place_id}]", style="dim"
            )
        elif reference.resolved:
            target = with_place_id(reference.target_section or "the document", reference.target_place_id)
            elsewhere = reference.target_path != citation.source_path
            where = f"  {display_path(reference.target_path)}" if elsewhere else ""
            line.append(f"  {one_line(target)}{where}", style="dim")
        if reference.resolved and (outgoing or reference.sure < _DOUBTFUL):
            line.append(f"  sure: {reference.sure:.2f}", style="dim")
        if reference.reason or not reference.resolved:
            line.append(f"  {one_line(reference.reason or 'not in the library')}", style="yellow")
        lines.append(line)
    return lines if citations else [*lines, Text("  nothing", style="dim")]


# -- obligations -----------------------------------------------------------------------------------------------


def obligation_lines(answer: ObligationsResponse) -> list[RenderableType]:
    """Return the rows under their documents, and the counts."""

    from rich.text import Text

    from loccit.model.obligation import GAPS, row_line

    lines: list[RenderableType] = []
    path = ""
    for row in answer.rows:
        if row.source_path != path:
            path = row.source_path
            lines += (
                ["", Text(display_path(path), style="cyan")]
                if lines
                else [Text(display_path(path), style="cyan")]
            )
        lines.append(Text(f"  {one_line(row_line(row))}"))
    first, last = answer.offset + 1, answer.offset + len(answer.rows)
    shown = f"{first}–{last} of {answer.total}" if answer.rows else f"0 of {answer.total}"
    kinds = ", ".join(f"{name} {count}" for name, count in answer.kinds.items() if count)
    lines += [""] if lines else []
    lines.append(Text(f"{shown} · {kinds or 'nothing'}", style="dim"))
    for name, count in answer.gaps.items():
        if count:
            said = name if name == "inherited" else f"not understood: {name}"
            lines.append(Text(f"{said} ({count}): {GAPS[name]}", style="yellow"))
    if answer.unread_documents:
        lines.append(
            Text(
                f"{answer.unread_documents} of {answer.documents} documents are in languages without rules.",
                style="yellow",
            )
        )
    if answer.note:
        lines.append(Text(answer.note, style="dim"))
    if answer.next_offset is not None:
        lines.append(Text(f"More with --offset {answer.next_offset}", style="dim"))
    return lines
