"""``loccit section``: read one section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.options import DocumentOption, IndexOption, JsonOption, open_library
from loccit.cli.output import console, display_path, one_line, path_text, print_json, safe, show
from loccit.model.document import span

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import SectionView


def section(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="REF", help="The section: its label, its heading, or the id of the place; or several."
        ),
    ],
    document: DocumentOption = None,
    step: Annotated[
        str | None, typer.Option("--step", "-s", metavar="STEP", help="The next, previous or parent one.")
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", "-l", metavar="FIRST-LAST", help="Only these lines of it.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact/--near", help="With --near, a number of no place leads to the nearest line that has it."
        ),
    ] = True,
    with_references: Annotated[
        bool, typer.Option("--with-references", "-r", help="Also show what it refers to.")
    ] = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a section, or several, by label, heading or id.

    [bold]Examples[/bold]
    $ loccit section Section 306
    $ loccit section "Article 6(1)(f)"
    $ loccit section 4.2 --document service-agreement.docx
    $ loccit section Sections 402 to 404
    $ loccit section next section after 403
    """
    with open_library(index) as library:
        found = library.sections(
            " ".join(words),
            document=document,
            step=step,
            lines=lines,
            exact=exact,
            with_references=with_references,
        )
    if as_json:
        print_json(found.sections[0].to_dict() if found.single else found.to_dict())
        return
    for number, view in enumerate(found.sections):
        show_section(view, apart=bool(number))
    for item in found.cited:
        show("", f"Cited as “{one_line(item.text)}”{f': {one_line(item.reason)}' if item.reason else ''}")
        if item.section is not None:
            show_section(item.section)


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
